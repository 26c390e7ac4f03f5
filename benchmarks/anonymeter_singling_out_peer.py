"""Time anonymeter's singling-out attack and write its hits as JSON; run by a Python that has anonymeter 1.1.0.

    PEER/bin/python benchmarks/anonymeter_singling_out_peer.py ORIGINAL RELEASED [--control FILE] --size 3 --guesses 500

The package needs an older numpy, so it lives in an environment of its own, and this file imports nothing of unveil.
A seed decides its guesses about several columns, as it does in `SinglingOutEvaluator` of unveil.
"""

import argparse
import json
import sys
from importlib.metadata import version
from time import process_time
from typing import Any

import pandas as pd
from anonymeter.evaluators import SinglingOutEvaluator  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    settings = _settings()
    original, released = pd.read_csv(settings.original), pd.read_csv(settings.released)
    control = None if settings.control is None else pd.read_csv(settings.control)
    # Everything is loaded before the clock starts, by a run on a few rows.
    _attack(original.head(50), released.head(50), None if control is None else control.head(20), settings, 5)
    begin = process_time()
    evaluator = _attack(original, released, control, settings, settings.guesses)
    seconds = process_time() - begin
    risk = evaluator.risk()
    answer = {
        "anonymeter": version("anonymeter"),
        "seconds": seconds,
        "hits": evaluator._n_success,
        "control": evaluator._n_control,
        "risk": [risk.value, *risk.ci],
    }
    json.dump(answer, sys.stdout)


def _settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time anonymeter's singling-out attack and print its hits as JSON.")
    parser.add_argument("original")
    parser.add_argument("released")
    parser.add_argument("--control")
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--guesses", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _attack(original: Any, released: Any, control: Any, settings: argparse.Namespace, guesses: int) -> Any:
    evaluator = SinglingOutEvaluator(
        ori=original, syn=released, control=control, n_attacks=guesses, n_cols=settings.size, seed=settings.seed
    )
    return evaluator.evaluate(mode="univariate" if settings.size == 1 else "multivariate")


if __name__ == "__main__":
    main()

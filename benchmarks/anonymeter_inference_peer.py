"""Time anonymeter's inference attack, column by column, and write what it counts as right as JSON.

    PEER/bin/python benchmarks/anonymeter_inference_peer.py ORIGINAL RELEASED CONTROL --secrets A B C

The package needs an older numpy, so it lives in an environment of its own, and this file imports nothing of unveil. All
other columns are known. Targets are drawn after ``numpy.random.seed``, as `InferenceEvaluator` of unveil does.
"""

import argparse
import json
import sys
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from anonymeter.evaluators import inference_evaluator as package  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    settings = _settings()
    frames = [pd.read_csv(path) for path in (settings.original, settings.released, settings.control)]
    # Compiled before the clock starts, on a few rows of the same types.
    _attack([frame.head(20) for frame in frames], settings.secrets[0], 5)
    answer = {}
    for secret in settings.secrets:
        np.random.seed(settings.seed)  # noqa: NPY002 (the package draws from the old generator)
        begin = process_time()
        evaluator = _attack(frames, secret, settings.targets)
        seconds = process_time() - begin
        answer[secret] = {
            "seconds": seconds,
            "attack": _right(evaluator._guesses_success, frames[0][secret]),
            "control": _right(evaluator._guesses_control, frames[2][secret]),
        }
    json.dump(answer, sys.stdout)


def _settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time anonymeter's inference attack and print its verdicts as JSON.")
    for name in ("original", "released", "control"):
        parser.add_argument(name)
    parser.add_argument("--secrets", nargs="+", required=True, metavar="COLUMN")
    parser.add_argument("--targets", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _attack(frames: list[Any], secret: str, targets: int) -> Any:
    original, released, control = frames
    known = [name for name in original.columns if name != secret]
    evaluator = package.InferenceEvaluator(
        original, released, known, secret, regression=_is_number(original[secret]), n_attacks=targets, control=control
    )
    return evaluator.evaluate(n_jobs=1)


def _is_number(cells: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(cells))


def _right(guesses: Any, truth: Any) -> list[int]:
    """Return the positions, in the order of the draw, of the guesses that count as right."""
    found = package.evaluate_inference_guesses(guesses, truth.loc[guesses.index], _is_number(truth))
    return [place for place, hit in enumerate(found) if hit]


if __name__ == "__main__":
    main()

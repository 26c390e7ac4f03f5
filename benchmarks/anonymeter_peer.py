"""Time anonymeter's linkability attack and write its links as JSON; run by a Python that has anonymeter 1.1.0.

    PEER/bin/python benchmarks/anonymeter_peer.py ORIGINAL RELEASED [--control FILE] --first A B --second C D

The package needs an older numpy, so it lives in an environment of its own, and this file imports nothing of unveil.
Targets are drawn from numpy's old generator after ``numpy.random.seed``, as `LinkabilityEvaluator` of unveil does.
"""

import argparse
import json
import sys
from importlib.metadata import version
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from anonymeter.evaluators import LinkabilityEvaluator  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    settings = _settings()
    original, released = pd.read_csv(settings.original), pd.read_csv(settings.released)
    control = None if settings.control is None else pd.read_csv(settings.control)
    groups = (settings.first, settings.second)
    # Compiled before the clock starts, on a few rows of the same types.
    few = (original.head(20), released.head(20), None if control is None else control.head(20))
    _attack(*few, groups, 5, 2)
    np.random.seed(settings.seed)  # noqa: NPY002 (the package draws from the old generator)
    begin = process_time()
    evaluator = _attack(original, released, control, groups, settings.targets, settings.neighbours)
    seconds = process_time() - begin
    answer = {
        "anonymeter": version("anonymeter"),
        "seconds": seconds,
        "targets": settings.targets,
        "neighbours": settings.neighbours,
        "seed": settings.seed,
        "first": settings.first,
        "second": settings.second,
        "attack": _links(evaluator._attack_links, settings.neighbours),
        "control": None if control is None else _links(evaluator._control_links, settings.neighbours),
    }
    json.dump(answer, sys.stdout)


def _settings() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time anonymeter's linkability attack and print its links as JSON.")
    parser.add_argument("original")
    parser.add_argument("released")
    parser.add_argument("--control")
    parser.add_argument("--first", nargs="+", required=True, metavar="COLUMN")
    parser.add_argument("--second", nargs="+", required=True, metavar="COLUMN")
    parser.add_argument("--targets", type=int, default=500)
    parser.add_argument("--neighbours", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _attack(original: Any, released: Any, control: Any, groups: Any, targets: int, neighbours: int) -> Any:
    evaluator = LinkabilityEvaluator(
        ori=original, syn=released, control=control, aux_cols=groups, n_attacks=targets, n_neighbors=neighbours
    )
    return evaluator.evaluate(n_jobs=1)


def _links(indexes: Any, neighbours: int) -> list[int]:
    """Return the positions, in the order of the draw, of the targets that were linked."""
    return sorted(indexes.find_links(n_neighbors=neighbours))


if __name__ == "__main__":
    main()

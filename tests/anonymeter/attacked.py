"""Which rows of the original the evaluators succeed on, where all of them are attacked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.anonymeter import InferenceEvaluator, LinkabilityEvaluator


def linked(ori: Any, syn: Any, first: Sequence[str], second: Sequence[str], k: int) -> list[int]:
    evaluator = LinkabilityEvaluator(ori, syn, (first, second), None, min(k, len(syn))).evaluate()
    (links,) = evaluator._links[min(k, len(syn))]
    return sorted(evaluator._rows[0][links].tolist())


def guessed(ori: Any, syn: Any, known: Sequence[str], secret: str, regression: bool | None = False) -> list[int]:
    evaluator = InferenceEvaluator(ori, syn, known, secret, regression, n_attacks=np.inf).evaluate()
    return sorted(evaluator._rows[0][evaluator._right[0]].tolist())

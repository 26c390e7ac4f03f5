"""What explains the scores: the factors of each, with the statistics of the data as far as these can be opened."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unveil.grade.factors import Factors, explain, statistics_of, types_of
from unveil.grade.grades import Grades
from unveil.study import Results

#: With fewer scores, nothing is said about what explains them.
_FEWEST_SCORES = 20


def factors_of(
    grades: Grades, studies: Sequence[Results], *, rng: np.random.Generator
) -> tuple[tuple[Factors, ...], tuple[str, ...]]:
    """Return what explains each of the three scores, and notes; nothing where too few scores differ."""
    scores = grades.scores
    wanted = {
        "monotonicity": scores.monotonicity.score,
        "evenness": scores.evenness,
        "shared_range": scores.shared_range,
    }
    varied = {name: score for name, score in wanted.items() if _varied(score)}
    if not varied:
        return (), ("Too few scores differ to tell what explains them.",)
    statistics: dict[str, dict[str, float]] = {}
    notes: list[str] = []
    for each in studies:
        own, said = statistics_of(each, rng=rng)
        statistics |= own
        notes += _shortened(said)
    types = {name: label for each in studies for name, label in types_of(each.study).items()}
    factors = tuple(explain(score, grades.values, statistics, types, response=name) for name, score in varied.items())
    return factors, tuple(dict.fromkeys([*notes, *(note for each in factors for note in each.notes)]))


def _shortened(said: Sequence[str]) -> list[str]:
    """Return the first of several sentences of the same kind, and how many more there are."""
    more = f" The same holds for {len(said) - 1} more of its data sets." if len(said) > 1 else ""
    return [f"{said[0]}{more}"] if said else []


def _varied(score: NDArray[np.float64]) -> bool:
    known = score[np.isfinite(score)]
    return known.size >= _FEWEST_SCORES and bool(np.ptp(known) > 0)

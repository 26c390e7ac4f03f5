"""Candidates from pair scores, shared by attacks that weigh all pairs."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from unveil._kernels.neighbours.nearest import IntegerGrid, content_rank
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table, agree
from unveil.data.table.encode import encode
from unveil.errors import InputError, share
from unveil.guesses.candidates import Candidates

#: Candidates of all targets together, at most: they take 12 bytes each.
MOST_ENTRIES = 50_000_000
# Up to this many pairs every candidate is kept, however unlikely.
_ALL_KEPT = 2**22
_LEAST = 1e-9


class ScoredPairs(NamedTuple):
    """Pairs (target, candidate), ascending, with the log weight of each."""

    target: IntArray
    candidate: IntArray
    score: FloatArray


def drawn_rows(rows: IntArray, size: int | None, rng: np.random.Generator) -> IntArray:
    """Return sorted indices of a content-determined row sample.

    >>> drawn_rows(np.array([[3], [3], [1]]), None, np.random.default_rng(1))
    array([0, 1, 2])
    """
    if size is None or size >= len(rows):
        return np.arange(len(rows))
    grid = IntegerGrid(rows, np.empty((len(rows), 0), np.int32), np.ones(rows.shape[1], np.int64), 1)
    order = np.argsort(content_rank(grid), kind="stable")
    return np.sort(order[rng.choice(order.size, size, replace=False)])


def least_kept(at_least: float | None, pairs: int) -> float:
    """Return the share of the largest weight that keeps a candidate.

    >>> least_kept(None, 10**9), least_kept(None, 100), least_kept(0.5, 100)
    (1e-09, 0.0, 0.5)
    """
    return at_least if at_least is not None else (_LEAST if pairs > _ALL_KEPT else 0.0)


def check_share(name: str, value: float | None) -> None:
    """Refuse a share that is not at least 0 and below 1."""
    if value is not None:
        share(value, name, one=False)


def check_mechanism(mechanism: object) -> None:
    """Validate the mechanism."""
    if mechanism is not None and not callable(getattr(mechanism, "log_likelihood", None)):
        raise InputError(
            f"the mechanism is a {type(mechanism).__name__} without the method log_likelihood. Pass release.mechanism"
        )


def candidates_of_scores(
    parts: Iterable[ScoredPairs], size: int, *, at_least: float, lowest: float = -np.inf, targets: IntArray | None
) -> Candidates:
    """Return candidates with probability proportional to the exponential score.

    Parameters
    ----------
    parts
        Pairs and their scores; the targets of a part come after those of the parts before.
    size
        How many targets there are; one without a pair was not attempted.
    at_least
        A candidate whose weight is less than this share of the target's largest is left out.
    lowest
        A target whose largest score is below this is given up.
    targets
        The row numbers of the targets, where only some were drawn.

    Examples
    --------
    >>> pairs = ScoredPairs(np.array([0, 0, 1]), np.array([3, 5, 5]), np.log([3.0, 1.0, 0.1]))
    >>> candidates_of_scores([pairs], 2, at_least=0.0, targets=None).probability
    array([0.75, 0.25, 1.  ])
    """
    count, candidates, probabilities = np.zeros(size, np.int64), [np.empty(0, np.int32)], [np.empty(0)]
    for part in parts:
        if not part.target.size:
            continue
        begin = np.flatnonzero(np.diff(part.target, prepend=-1))
        each = np.diff(np.append(begin, part.target.size))
        best = np.maximum.reduceat(part.score, begin)
        weight = np.exp(part.score - np.repeat(best, each))
        kept = np.repeat(best >= lowest, each) & (weight >= at_least)
        weight[~kept] = 0
        total = np.add.reduceat(weight, begin)
        count += np.bincount(part.target[kept], minlength=size)
        candidates.append(part.candidate[kept].astype(np.int32))
        probabilities.append(weight[kept] / np.repeat(total, each)[kept])
        _check_room(int(count.sum()))
    start = np.concatenate([[0], np.cumsum(count)])
    return Candidates(start, np.concatenate(candidates), np.concatenate(probabilities), targets=targets)


def _check_room(entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise InputError(
            f"the candidates of all targets exceed the maximum of {MOST_ENTRIES:,}. Attack fewer "
            "targets, or leave out unlikely candidates with least=0.001 or more"
        )


def shared_columns(original: Table, released: Table, columns: tuple[str, ...] | None) -> tuple[Table, Table]:
    """Return both tables with the given columns (default: all shared)."""
    if columns is not None:
        for table in (original, released):
            for name in columns:
                table.column(name)
        original, released = original.select(columns), released.select(columns)
    one, other = agree(original, released)
    return one, other


def drawn_tables(released: Table, size: int | None, rng: np.random.Generator) -> tuple[Table, IntArray | None]:
    """Return a row sample and its positions; None for all rows."""
    if size is None or size >= released.rows:
        return released, None
    encoded = encode([released], released.column_names)[0]
    drawn = drawn_rows(np.column_stack([encoded.numbers, encoded.codes]), size, rng)
    return released.take(drawn), drawn

"""Probabilities over candidates per target, and the candidate chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._kernels.candidates import find_entries, first_fault, summarize, with_others
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.errors import InputError
from unveil.guesses._entries import entries_of_matrix, entries_of_table, frozen

#: The truth: one candidate number per target, or a mapping from target name to candidate name.
Truth = ArrayLike | Mapping[Any, Any]

# Rounding to six digits takes a sum of probabilities this far from 1, and half as far again with each entry.
TOLERANCE = 1e-6
#: The truth of a target without a true match (a pseudo node): no candidate is correct.
NOBODY = -1
#: The choice for a target that the attacker did not attempt, or gave up on.
NOT_ATTEMPTED = -1


class CandidateSummary(NamedTuple):
    """Summaries per target for the metrics without truth."""

    support: IntArray
    entropy: FloatArray
    squares: FloatArray
    spread: FloatArray
    largest: FloatArray
    ties: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """A sparse distribution over candidates per target.

    A target is a released record or node, a candidate an original one. An entry with probability 0 is a candidate that
    was considered and excluded; a candidate without an entry was not considered. A target without entries, or with the
    choice -1, was not attempted: its metrics are undefined.

    Attributes
    ----------
    start
        The entries of target ``i`` are ``start[i]`` to ``start[i + 1] - 1``; read-only, like all others.
    candidate, probability
        The number of the candidate (ascending within a target) and its probability (summing to 1 within a target).
    chosen
        The candidate that the attacker settled on, not necessarily the most likely one; -1 = not attempted. None means
        the most likely one, and where several are, each of them with equal chance: success is then an expectation.
    targets, candidates
        Their names, or None where they are known by number alone.
    elsewhere, pool
        How much probability of each target lies on candidates that are not listed, shared evenly by all members of
        ``pool`` (the numbers of the candidates that there are, ascending) without an entry; then entries and
        ``elsewhere`` together sum to 1. A target that has all of it elsewhere has no entry: the attacker gave up on
        it, but knows that it is one of the pool. None, as usual, where nothing lies elsewhere.

    Examples
    --------
    >>> guess = Candidates([0, 4, 5], [0, 1, 2, 3, 9], [0.25] * 4 + [1.0])
    >>> guess.target_count, guess.summary.entropy
    (2, array([2., 0.]))
    """

    start: IntArray
    candidate: Int32Array
    probability: FloatArray
    chosen: Int32Array | None = None
    targets: NDArray[Any] | None = None
    candidates: NDArray[Any] | None = None
    elsewhere: FloatArray | None = None
    pool: Int32Array | None = None

    def __post_init__(self) -> None:
        for name, dtype in _DTYPES.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), dtype, what=name))
        self._check_shape()
        self._check_elsewhere()
        self._check_rows()

    def _check_shape(self) -> None:
        start, entries = self.start, self.candidate.size
        if start.size < 2 or start[0] != 0 or start[-1] != entries or (np.diff(start) < 0).any():
            raise InputError(
                f"start must rise from 0 to the number of entries, {entries}, with one step per target. "
                "Build the guess with from_matrix, from_scores or from_table"
            )
        if self.probability.size != entries:
            raise InputError(
                f"there are {self.probability.size} probabilities for {entries} candidates. Pass one for each"
            )
        if entries and self.candidate.min() < 0:
            raise InputError("Some candidate numbers are negative. Number the candidates from 0")
        if self.chosen is not None and self.chosen.size != self.target_count:
            raise InputError(
                f"there are {self.chosen.size} choices for {self.target_count} targets. Pass one for each, -1 for none"
            )
        if self.targets is not None and self.targets.size != self.target_count:
            raise InputError(f"there are {self.targets.size} names for {self.target_count} targets. Pass one for each")
        highest = int(self.candidate.max(initial=-1))
        if self.candidates is not None and highest >= self.candidates.size:
            raise InputError(
                f"candidate number {highest} has no name: there are {self.candidates.size} names. Pass one for each"
            )

    def _check_elsewhere(self) -> None:
        if (self.elsewhere is None) != (self.pool is None):
            raise InputError("Only one of elsewhere and pool was given. Pass both or neither")
        if self.elsewhere is None or self.pool is None:
            return
        away, pool, listed = self.elsewhere, self.pool, self.considered
        if away.size != self.target_count or not ((away >= 0) & (away <= 1)).all():
            raise InputError(
                f"elsewhere must be a probability for each of the {self.target_count} targets. Pass as many"
            )
        if (np.diff(pool) <= 0).any() or not np.isin(self.candidate, pool).all():
            raise InputError("The candidates of the pool are not distinct and ascending. List each once, ascending")
        if ((away == 1) & (listed > 0)).any() or ((away > 0) & (listed >= pool.size)).any():
            raise InputError(
                "Some targets have a probability elsewhere, but no listed candidate, or no unlisted candidate in the "
                "pool. Leave out such targets, or set elsewhere to 0"
            )

    def _check_rows(self) -> None:
        probability = self.probability
        if self.elsewhere is not None:  # what is listed must sum to the rest
            probability = probability / np.repeat(np.where(self.elsewhere < 1, 1 - self.elsewhere, 1), self.considered)
        row, kind = first_fault(self.start, self.candidate, probability, TOLERANCE)
        if row >= 0:
            what, cure = _FAULTS[kind]
            raise InputError(f"the candidates of target {row} (counted from 0) {what}. {cure}")
        self._make_exact()
        if self.chosen is not None:
            stray = int(((self.chosen != NOT_ATTEMPTED) & (self.entry_of(self.chosen) < 0)).sum())
            if stray:
                raise InputError(
                    f"{stray} choices are not among the target's candidates. "
                    "Add them as candidates, or write -1 for a target that was not attempted"
                )

    def _make_exact(self) -> None:
        """Renormalize after rounding, so that identities between metrics hold."""
        filled = np.flatnonzero(self.considered)
        if filled.size == 0:
            return
        sums = np.add.reduceat(self.probability, self.start[filled])
        if self.elsewhere is not None:
            sums = sums / (1 - self.elsewhere[filled])
        if (np.abs(sums - 1) > 1e-12).any():
            exact = self.probability / np.repeat(sums, self.considered[filled])
            exact.flags.writeable = False
            object.__setattr__(self, "probability", exact)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        normalize: bool = False,
        chosen: Any = None,
        targets: Any = None,
        candidates: Any = None,
    ) -> "Candidates":
        """Return the guess of a dense or sparse matrix, targets by candidates.

        All columns of a dense matrix were considered; of a sparse one those that are stored. With ``normalize`` each
        row is divided by its sum, and a row that sums to 0 was not attempted.

        >>> Candidates.from_matrix([[3, 1], [0, 0]], normalize=True).attempted
        array([ True, False])
        """
        start, candidate, probability = entries_of_matrix(matrix, normalize=normalize)
        return cls(start, candidate, probability, chosen, targets, candidates)

    @classmethod
    def from_scores(
        cls, scores: Any, *, chosen: Any = None, targets: Any = None, candidates: Any = None
    ) -> "Candidates":
        """Return the guess with probabilities proportional to nonnegative scores.

        >>> Candidates.from_scores([[3, 1]]).probability
        array([0.75, 0.25])
        """
        return cls.from_matrix(scores, normalize=True, chosen=chosen, targets=targets, candidates=candidates)

    @classmethod
    def from_table(
        cls, target: Any, candidate: Any, probability: Any, *, normalize: bool = False, chosen: Any = None
    ) -> "Candidates":
        """Return the guess of a long table, one row per pair.

        ``target`` and ``candidate`` are names (sequences or DataFrame columns); ``chosen`` maps target names to the
        chosen candidate's name (None for not attempted). With ``normalize`` the probabilities of each target are
        divided by their sum.

        >>> guess = Candidates.from_table(["t", "t", "u"], ["b", "a", "b"], [0.25, 0.75, 1])
        >>> guess.targets, guess.candidate, guess.probability
        (array(['t', 'u'], dtype=object), array([0, 1, 1], dtype=int32), array([0.75, 0.25, 1.  ]))
        """
        start, number, values, targets, names = entries_of_table(target, candidate, probability, normalize=normalize)
        guess = cls(start, number, values, None, targets, names)
        if chosen is None:
            return guess
        return replace(guess, chosen=guess._numbers(chosen, what="choice").astype(np.int32))

    @property
    def target_count(self) -> int:
        """The number of targets, attempted or not."""
        return int(self.start.size - 1)

    @cached_property
    def attempted(self) -> BoolArray:
        """Whether each target was attempted."""
        tried = (np.diff(self.start) > 0) | (self.others > 0)
        return tried if self.chosen is None else tried & (self.chosen != NOT_ATTEMPTED)

    @cached_property
    def believed(self) -> BoolArray:
        """Whether each target has probabilities, listed or elsewhere."""
        return self.attempted | (self.others > 0)

    @cached_property
    def others(self) -> IntArray:
        """Number of unlisted candidates that share the remaining probability."""
        if self.elsewhere is None or self.pool is None:
            return np.zeros(self.target_count, np.int64)
        return np.where(self.elsewhere > 0, self.pool.size - self.considered, 0)

    @cached_property
    def each_other(self) -> FloatArray:
        """Probability of each unlisted candidate."""
        if self.elsewhere is None:
            return np.zeros(self.target_count)
        return self.elsewhere / np.maximum(self.others, 1)

    @cached_property
    def considered(self) -> IntArray:
        """Number of candidates listed per target, including probability 0."""
        return np.diff(self.start)

    @cached_property
    def summary(self) -> CandidateSummary:
        """Summaries for the metrics without truth."""
        if self.elsewhere is None:
            return CandidateSummary(*summarize(self.start, self.probability))
        return CandidateSummary(*with_others(self.start, self.probability, self.others, self.each_other))

    def entry_of(self, candidate: ArrayLike) -> IntArray:
        """Return the position of each target's given candidate, or -1."""
        return find_entries(self.start, self.candidate, np.asarray(candidate, np.int64))

    def is_other(self, candidate: ArrayLike) -> BoolArray:
        """Return whether each target's given candidate is unlisted but possible."""
        if self.pool is None:
            return np.zeros(self.target_count, np.bool_)
        wanted = np.asarray(candidate, np.int64)
        return (self.others > 0) & np.isin(wanted, self.pool) & (self.entry_of(wanted) < 0)

    def written_out(self) -> "Candidates":
        """Return the same guess with every possible candidate listed.

        >>> Candidates([0, 1], [1], [0.5], elsewhere=[0.5], pool=[0, 1, 2]).written_out().probability
        array([0.25, 0.5 , 0.25])
        """
        if self.elsewhere is None or self.pool is None:
            return self
        spread = self.others > 0
        row = np.concatenate(
            [np.repeat(np.flatnonzero(spread), self.pool.size), np.repeat(np.arange(spread.size), self.considered)]
        )
        number = np.concatenate([np.tile(self.pool, int(spread.sum())), self.candidate]).astype(np.int64)
        value = np.concatenate([np.repeat(self.each_other[spread], self.pool.size), self.probability])
        # An entry comes after the share that its candidate would have otherwise, and is the one that is kept.
        order = np.lexsort((np.arange(row.size), number, row))
        row, number, value = row[order], number[order], value[order]
        last = np.append((np.diff(row) != 0) | (np.diff(number) != 0), True)[: row.size]
        start = np.concatenate([[0], np.cumsum(np.bincount(row[last], minlength=spread.size))])
        return Candidates(start, number[last], value[last], self.chosen, self.targets, self.candidates)

    def only(self, targets: ArrayLike) -> "Candidates":
        """Return the guess about some targets, in the order given.

        >>> Candidates.from_matrix([[1.0, 0.0], [0.5, 0.5]]).only([1]).probability
        array([0.5, 0.5])
        """
        kept = np.asarray(targets, np.int64)
        number = self.considered[kept]
        start = np.concatenate([[0], np.cumsum(number)])
        entry = np.repeat(self.start[kept] - start[:-1], number) + np.arange(start[-1])
        return Candidates(
            start,
            self.candidate[entry],
            self.probability[entry],
            None if self.chosen is None else self.chosen[kept],
            None if self.targets is None else self.targets[kept],
            self.candidates,
            None if self.elsewhere is None else self.elsewhere[kept],
            self.pool,
        )

    def truth_from(self, truth: Truth) -> IntArray:
        """Return each target's true candidate number, -1 for none.

        ``truth`` is one number per target, or a mapping from target name to candidate name (None for no match). A true
        candidate that no target was ever given gets a number of its own: it was not considered.
        """
        rule = f"one candidate number for each of the {self.target_count} targets, -1 for none"
        if isinstance(truth, Mapping):
            return self._numbers(truth, what="truth")
        numbers = frozen(truth, np.int64, what=f"the truth ({rule})")
        if numbers.size != self.target_count or numbers.min() < NOBODY:
            raise InputError(f"the truth must be {rule}. Pass as many whole numbers")
        return numbers

    def _numbers(self, named: Mapping[Any, Any], *, what: str) -> IntArray:
        """Return the candidate number per target, -1 for None."""
        targets = range(self.target_count) if self.targets is None else self.targets.tolist()
        missing = sum(target not in named for target in targets)
        if missing:
            raise InputError(
                f"the {what} lacks {missing} of {self.target_count} targets. "
                f"Add them, with None for those that {'were not attempted' if what == 'choice' else 'have no match'}"
            )
        names = [named[target] for target in targets]
        if self.candidates is None:
            return frozen([NOBODY if name is None else name for name in names], np.int64, what=what)
        number = {name: k for k, name in enumerate(self.candidates.tolist())}
        if len(number) != self.candidates.size:
            raise InputError("candidates cannot be found by name where names are repeated. Give each a name of its own")
        return np.array([NOBODY if name is None else number.setdefault(name, len(number)) for name in names], np.int64)

    def __repr__(self) -> str:
        return f"Candidates({self.target_count} targets, {self.candidate.size} entries)"


_DTYPES: dict[str, Any] = {
    "start": np.int64,
    "candidate": np.int32,
    "probability": np.float64,
    "chosen": np.int32,
    "targets": None,
    "candidates": None,
    "elsewhere": np.float64,
    "pool": np.int32,
}
_FAULTS = {
    1: ("have probabilities that are not finite", "Replace missing and infinite values"),
    2: ("have negative probabilities", "Replace negative values"),
    3: ("are not distinct and ascending", "Keep one row per target and candidate, or build with from_table"),
    4: ("have probabilities that do not sum to 1", "Divide each by their sum, or pass normalize=True"),
}

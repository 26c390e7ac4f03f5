"""Probability distributions over matchings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses._entries import frozen
from unveil.guesses._pairing import Names, distinct_names, of_file

if TYPE_CHECKING:
    import os

    from unveil.guesses.matching import Matching


# Rounding to six digits takes a sum of probabilities this far from 1, and half as far again with each matching.
TOLERANCE = 1e-6
_MOST = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class MatchingDistribution:
    """Matchings of items and pseudonyms, with any probabilities.

    A matrix of weights (:class:`~unveil.guesses.matching.Matching`) describes few distributions only. Matchings are
    sorted, those given twice are one with the sum of their probabilities, and those with probability 0 are left out, so
    that two objects with the same meaning are the same.

    Attributes
    ----------
    matchings
        One row per matching: the number of the pseudonym (from 0) of each item; read-only.
    probability
        How likely each matching is; they sum to 1; read-only.
    items, pseudonyms
        Their names, each once, or None where they are known by number alone.

    Examples
    --------
    >>> guess = MatchingDistribution([[0, 1, 2], [1, 0, 2]], [0.25, 0.75])
    >>> guess.count, guess.marginals[0]
    (2, array([0.25, 0.75, 0.  ]))
    """

    matchings: IntArray
    probability: FloatArray
    items: Names | None = None
    pseudonyms: Names | None = None

    def __post_init__(self) -> None:
        matchings = _permutations(self.matchings)
        probability = frozen(self.probability, np.float64, what="probability")
        _refuse_probabilities(probability, len(matchings))
        matchings, place = np.unique(matchings[probability > 0], axis=0, return_inverse=True)
        total = np.bincount(place.ravel(), probability[probability > 0]).astype(np.float64)
        total = total / total.sum()
        for array in (matchings, total):
            array.flags.writeable = False
        n = matchings.shape[1]
        object.__setattr__(self, "matchings", matchings)
        object.__setattr__(self, "probability", total)
        object.__setattr__(self, "items", distinct_names(self.items, n, what="items"))
        object.__setattr__(self, "pseudonyms", distinct_names(self.pseudonyms, n, what="pseudonyms"))

    @classmethod
    def read(cls, path: "str | os.PathLike[str]") -> "MatchingDistribution":
        """Return the matchings of a file, one per row (:func:`~unveil.data.matrices.matchings.read_matchings`)."""
        from unveil.data.matrices.matchings import read_matchings

        file = read_matchings(path)
        with of_file(path):
            return cls(*file)

    @classmethod
    def from_matching(cls, matching: "Matching", *, at_most: int = _MOST) -> "MatchingDistribution":
        """Return every possible matching, weighted by the product of elements.

        Parameters
        ----------
        matching
            The matrix. A full one with n rows has n! matchings, so this is for small ones.
        at_most
            More matchings than this are refused.

        Examples
        --------
        >>> from unveil.guesses.matching import Matching
        >>> MatchingDistribution.from_matching(Matching([[1, 1], [3, 1]])).probability
        array([0.25, 0.75])
        """
        edges, n = matching.edges, matching.n
        found = np.array(list(_each_matching(matching, at_most)))
        # Places are ascending, and each pair of a matching is among them.
        have = edges.row.astype(np.int64) * n + edges.column
        weight = np.log(edges.weight)[np.searchsorted(have, np.arange(n) * n + found)].sum(axis=1)
        chance = np.exp(weight - weight.max())
        return cls(found, chance / chance.sum(), matching.items, matching.pseudonyms)

    def combined(self, *others: "MatchingDistribution") -> "MatchingDistribution":
        """Return the product distribution of several releases.

        As in :meth:`Matching.combined <unveil.guesses.matching.Matching.combined>`, releases must tell by themselves,
        and the attacker must have held all matchings equally likely before.

        >>> one, two = MatchingDistribution([[0, 1], [1, 0]], [0.5, 0.5]), MatchingDistribution([[1, 0]], [1.0])
        >>> one.combined(two).matchings
        array([[1, 0]])
        """
        from unveil.guesses._pairing import order_of

        chance = {tuple(row): p for row, p in zip(self.matchings.tolist(), self.probability.tolist(), strict=True)}
        for number, other in enumerate(others, start=2):
            rows = order_of(self.items, other.items, self.n, other.n, number, "items")
            columns = np.argsort(order_of(self.pseudonyms, other.pseudonyms, self.n, other.n, number, "pseudonyms"))
            theirs = map(tuple, columns[other.matchings[:, rows]].tolist())
            have = dict(zip(theirs, other.probability.tolist(), strict=True))
            chance = {row: p * have[row] for row, p in chance.items() if row in have}
            if not chance:
                raise InputError(
                    f"No matching of the first releases is possible in release "
                    f"{number}. Check that they hold the same data under the same pseudonyms"
                )
            total = sum(chance.values())
            chance = {row: p / total for row, p in chance.items()}
        return MatchingDistribution(
            np.array(list(chance)), np.array(list(chance.values())), self.items, self.pseudonyms
        )

    @property
    def n(self) -> int:
        """Number of items, equal to the number of pseudonyms."""
        return int(self.matchings.shape[1])

    @property
    def count(self) -> int:
        """The number of matchings with positive probability."""
        return int(self.matchings.shape[0])

    @cached_property
    def marginals(self) -> FloatArray:
        """Probability of each pseudonym (column) per item (row), read-only."""
        n = self.n
        place = np.arange(n) * n + self.matchings
        chance = np.bincount(place.ravel(), np.repeat(self.probability, n), n * n)
        marginals = chance.astype(np.float64, copy=False).reshape(n, n)
        marginals.flags.writeable = False
        return marginals

    def __repr__(self) -> str:
        return f"MatchingDistribution({self.count} matchings of {self.n} items and pseudonyms)"


def _permutations(matchings: Any) -> IntArray:
    """Return the matchings as rows; raise InputError on bad ones."""
    rule = "matchings must be rows of whole numbers, all of one length: the pseudonym (from 0) of each item"
    try:
        array = np.asarray(matchings)
    except ValueError:
        raise InputError(f"{rule}. Correct the rows that differ") from None
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"{rule}, and at least one. Pass a list of rows")
    if array.dtype.kind not in "iu":
        raise InputError(f"{rule}, but some are not whole numbers. Number the pseudonyms from 0")
    rows = array.astype(np.int64)
    wrong = np.flatnonzero((np.sort(rows, axis=1) != np.arange(rows.shape[1])).any(axis=1))
    if wrong.size:
        raise InputError(
            f"Matching {wrong[0] + 1} (counted from 1) does not have each pseudonym from 0 to {rows.shape[1] - 1} "
            f"once; such matchings: {wrong.size}. Give each item a different pseudonym"
        )
    return rows


def _refuse_probabilities(probability: FloatArray, count: int) -> None:
    if probability.size != count:
        raise InputError(f"there are {probability.size} probabilities for {count} matchings. Pass one for each")
    wrong = np.flatnonzero(~((probability >= 0) & np.isfinite(probability)))
    if wrong.size:
        raise InputError(
            f"The probability of matching {wrong[0] + 1} (counted from 1) is negative or not finite; "
            f"such matchings: {wrong.size}. Change them"
        )
    with np.errstate(over="ignore"):
        total = float(probability.sum())
    if not abs(total - 1) <= TOLERANCE * (1 + 0.5 * count):
        raise InputError(
            f"The probabilities of the matchings sum to {total:.6g}, not 1. Add the missing matchings, "
            "or divide by the sum"
        )


def _each_matching(matching: "Matching", at_most: int) -> Iterator[Sequence[int]]:
    """Yield the possible matchings, item by item."""
    from unveil._kernels.matching.blocks import decompose

    edges, n = matching.edges, matching.n
    useful = np.zeros(edges.column.size, np.bool_)
    for block in decompose(edges):
        useful[block.place] = True
    ahead = [edges.column[a:b][useful[a:b]].tolist() for a, b in zip(edges.start[:-1], edges.start[1:], strict=True)]
    taken, pseudonyms, waiting = set[int](), list[int](), [iter(ahead[0])]
    found = steps = 0
    while waiting:
        if len(pseudonyms) == len(waiting):
            taken.remove(pseudonyms.pop())
        pseudonym = next((each for each in waiting[-1] if each not in taken), None)
        steps += 1
        if found > at_most or steps > 100 * (at_most + n):
            raise InputError(
                f"at most {at_most:,} matchings can be listed, but the matrix of {n} rows has more, or too many dead "
                "ends. Measure the matrix itself, which needs no list"
            )
        if pseudonym is None:
            waiting.pop()
            continue
        pseudonyms.append(pseudonym)
        taken.add(pseudonym)
        if len(pseudonyms) == n:
            found += 1
            yield tuple(pseudonyms)
        else:
            waiting.append(iter(ahead[len(pseudonyms)]))

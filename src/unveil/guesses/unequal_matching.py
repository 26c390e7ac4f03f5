"""Matching attacks with unmatched items or pseudonyms."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.matrices.square_matrix import SquareMatrix, square_matrix
from unveil.errors import InputError, whole_number
from unveil.guesses._pairing import Names, distinct_names, of_file, unequal_truth
from unveil.guesses.matching import Matching, ranges_matrix

if TYPE_CHECKING:
    import os

__all__ = ["UnequalMatching", "unequal_truth"]


@dataclass(frozen=True, eq=False, repr=False)
class UnequalMatching:
    """A weight matrix with unequal or incomplete items and pseudonyms.

    A suppressed item has no pseudonym; a pseudonym may stand for an item that the attacker has never heard of. The
    attacker pairs ``pairs`` items with pseudonyms and leaves the others alone, and holds that to be likely in
    proportion to the product of the weights of the pairs. Unlike in a square matrix, a row that is multiplied by a
    number changes what is said: weights of 1 are neither for nor against a pair, 2 makes it twice as likely as to leave
    both alone.

    Attributes
    ----------
    matrix
        A dense array, or a csr_array where a sparse matrix of scipy was given; read-only.
    items, pseudonyms
        The names of rows and columns, each once, or None where they are known by number alone.
    pairs
        How many items have a pseudonym, as the attacker holds it; as many as can be by default.

    Examples
    --------
    >>> guess = UnequalMatching([[1, 1], [1, 0], [0, 1]], items=["Flu", "Cold", "Asthma"])
    >>> guess.n, guess.pseudonym_count, guess.pairs
    (3, 2, 2)
    """

    matrix: SquareMatrix
    items: Names | None = None
    pseudonyms: Names | None = None
    pairs: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", square_matrix(self.matrix, square=False))
        object.__setattr__(self, "items", distinct_names(self.items, self.n, what="items"))
        object.__setattr__(self, "pseudonyms", distinct_names(self.pseudonyms, self.pseudonym_count, what="pseudonyms"))
        most = min(self.n, self.pseudonym_count)
        if self.pairs is None:
            object.__setattr__(self, "pairs", most)
        whole_number(self.pairs, "pairs")
        if self.pair_count > most:
            raise InputError(
                f"pairs is {self.pair_count}, above {most}, the smaller of {self.n} items and {self.pseudonym_count} "
                "pseudonyms. Leave it out to match as many as possible"
            )
        self._refuse_too_few()

    @classmethod
    def read(cls, path: "str | os.PathLike[str]", *, pairs: int | None = None) -> "UnequalMatching":
        """Return the attack in a CSV, NPY, NPZ, or Matrix Market file."""
        from unveil.data.matrices.matchings import read_matrix

        file = read_matrix(path, square=False)
        with of_file(path):
            return cls(*file, pairs)

    @classmethod
    def from_ranges(
        cls,
        low: ArrayLike,
        high: ArrayLike,
        frequency: ArrayLike,
        *,
        items: Sequence[Any] | None = None,
        pseudonyms: Sequence[Any] | None = None,
        pairs: int | None = None,
    ) -> "UnequalMatching":
        """Return the 0/1 attack of frequency ranges, as :meth:`Matching.from_ranges`.

        >>> UnequalMatching.from_ranges([0.4, 0.1, 0.1], [0.9, 0.6, 0.2], [0.2, 0.4]).matrix.tolist()
        [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
        """
        return cls(ranges_matrix(low, high, frequency, square=False), items, pseudonyms, pairs)  # type: ignore[arg-type]

    def combined(self, *others: "UnequalMatching") -> "UnequalMatching":
        """Return the attack on several releases, as :meth:`Matching.combined`.

        Weights are divided by the largest of each release first, which changes nothing where the number of pairs is
        known. All releases have the same pairs, so they must agree on how many.
        """
        from unveil.guesses._pairing import combined

        if any(other.pair_count != self.pair_count for other in others):
            raise InputError(
                "the releases have different numbers of pairs, although they use the same pseudonyms. "
                "Pass the same pairs to each"
            )
        return UnequalMatching(*combined([self, *others]), self.pairs)

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.matrix.shape[0])

    @property
    def pseudonym_count(self) -> int:
        """Number of pseudonyms."""
        return int(self.matrix.shape[1])

    @property
    def pair_count(self) -> int:
        """Number of items with a pseudonym."""
        return int(self.pairs or 0)

    @property
    def spare_pseudonyms(self) -> int:
        """Number of padding columns: items without a pseudonym."""
        return self.n - self.pair_count

    @property
    def spare_items(self) -> int:
        """Number of padding rows: pseudonyms without a known item."""
        return self.pseudonym_count - self.pair_count

    @cached_property
    def padded(self) -> Matching:
        """The equivalent square matrix, padded for unmatched items and pseudonyms.

        Every pairing is there as often as the added rows and columns can be exchanged among themselves.
        """
        from scipy.sparse import block_array, csr_array

        beside, below = np.ones((self.n, self.spare_pseudonyms)), np.ones((self.spare_items, self.pseudonym_count))
        if isinstance(self.matrix, np.ndarray):
            whole = np.zeros((self.n + self.spare_items, self.pseudonym_count + self.spare_pseudonyms))
            whole[: self.n, : self.pseudonym_count] = self.matrix
            whole[: self.n, self.pseudonym_count :] = beside
            whole[self.n :, : self.pseudonym_count] = below
            return Matching(whole)
        parts: list[list[Any]] = [[self.matrix]]
        if self.spare_pseudonyms:
            parts[0].append(csr_array(beside))
        if self.spare_items:
            parts.append([csr_array(below)] + ([None] if self.spare_pseudonyms else []))
        return Matching(block_array(parts, format="csr"))

    @property
    def log_repeats(self) -> float:
        """Logarithm of each pairing's multiplicity among matchings of ``padded``."""
        return lgamma(self.spare_pseudonyms + 1) + lgamma(self.spare_items + 1)

    @property
    def log_all(self) -> float:
        """Logarithm of the number of pairings if all are possible."""
        pairs = self.pair_count
        chosen = lgamma(self.n + 1) - lgamma(self.n - pairs + 1) + lgamma(self.pseudonym_count + 1)
        return chosen - lgamma(self.pseudonym_count - pairs + 1) - lgamma(pairs + 1)

    def real(self) -> BoolArray:
        """Return which edges of ``padded`` pair an item and a pseudonym."""
        edges = self.padded.edges
        return np.asarray((edges.row < self.n) & (edges.column < self.pseudonym_count))

    def _refuse_too_few(self) -> None:
        from unveil._kernels.matching.edges import edges_of
        from unveil._kernels.matching.hall import maximum_matching

        places = np.nonzero(self.matrix) if isinstance(self.matrix, np.ndarray) else self.matrix.nonzero()
        size = max(self.matrix.shape)
        edges = edges_of(places[0], places[1], np.ones(places[0].size), size)
        most = int((maximum_matching(edges) >= 0).sum()) if places[0].size else 0
        if most < self.pair_count:
            fewer = f", or match fewer items (pairs={most})" if most else ""
            raise InputError(
                f"only {most} of {self.pair_count} items can have a pseudonym at once: too many "
                f"of the {self.n} items share too few of the {self.pseudonym_count} pseudonyms. Allow more pairs"
                f"{fewer}"
            )

    def __repr__(self) -> str:
        return f"UnequalMatching({self.n} items, {self.pseudonym_count} pseudonyms, {self.pair_count} pairs)"


def truth_of(guess: Any, truth: Any) -> IntArray:
    """Return each item's true pseudonym, -1 for none, for any attack."""
    from unveil.guesses._pairing import matching_truth

    if isinstance(guess, UnequalMatching):
        return unequal_truth(guess, truth)
    return matching_truth(guess, truth)

"""Names of items and pseudonyms, and which pseudonym belongs to which item."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.data.matrices.square_matrix import SquareMatrix
from unveil.errors import InputError
from unveil.guesses._entries import frozen

Names = tuple[str, ...]


class PairedNames(Protocol):
    """Items and pseudonyms with optional names, in equal numbers."""

    @property
    def n(self) -> int:
        """The number of items."""
        ...

    @property
    def items(self) -> Names | None:
        """The names of items."""
        ...

    @property
    def pseudonyms(self) -> Names | None:
        """The names of pseudonyms."""
        ...


def distinct_names(names: Sequence[Any] | None, n: int, *, what: str) -> Names | None:
    """Return the names of ``n`` items or pseudonyms, or None.

    >>> distinct_names(["Flu", 7], 2, what="items")
    ('Flu', '7')
    """
    if names is None:
        return None
    found = tuple(str(name) for name in names)
    if len(found) != n:
        raise InputError(f"there are {len(found)} names for {n} {what}. Pass one for each")
    if len(set(found)) != n:
        first: dict[str, int] = {}
        again, before = next((k, first[name]) for k, name in enumerate(found) if first.setdefault(name, k) != k)
        raise InputError(
            f"the names of {what} must differ, but number {again + 1} has that of number {before + 1} (counted from 1; "
            f"such names: {n - len(set(found))}). Rename or remove one of them"
        )
    return found


def matching_truth(matching: PairedNames, pairs: Any) -> IntArray:
    """Return the true pseudonym of each item, from 0, one to one.

    Parameters
    ----------
    matching
        A Matching or a MatchingDistribution.
    pairs
        One pseudonym number per item, or a mapping from item name to pseudonym name, or a sequence of such pairs. Where
        the matching has no names, numbers from 0 take their place.

    Raises
    ------
    InputError
        If an item lacks a pseudonym, a name is unknown, or an item or a pseudonym comes twice.

    Examples
    --------
    >>> from unveil.guesses.matching import Matching
    >>> guess = Matching([[1, 1], [1, 1]], items=["Flu", "Cold"], pseudonyms=["u", "v"])
    >>> matching_truth(guess, {"Cold": "u", "Flu": "v"})
    array([1, 0])
    """
    n = matching.n
    couples = _couples(pairs)
    if couples is None:
        truth = frozen(pairs, np.int64, what="the truth").copy()
        refuse_count(truth.size, n)
    else:
        refuse_count(len(couples), n)
        item = _positions([one for one, _ in couples], matching.items, n, "item")
        truth = np.empty(n, np.int64)
        truth[item] = _positions([other for _, other in couples], matching.pseudonyms, n, "pseudonym")
    refuse_no_bijection(truth, n, "pseudonym")
    truth.flags.writeable = False
    return truth


class UnpairedNames(PairedNames, Protocol):
    """Different numbers of items and pseudonyms: an UnequalMatching."""

    @property
    def pseudonym_count(self) -> int:
        """The number of pseudonyms."""
        ...


def unequal_truth(matching: UnpairedNames, pairs: Any) -> IntArray:
    """Return the true pseudonym of each item, -1 for none.

    ``pairs`` is one number per item, or a mapping or pairs of names in which items without pseudonym are left out or
    have None.

    >>> from unveil.guesses.unequal_matching import UnequalMatching
    >>> guess = UnequalMatching([[1, 1], [1, 1], [1, 1]], items=["Flu", "Cold", "Asthma"], pseudonyms=["u", "v"])
    >>> unequal_truth(guess, {"Cold": "u", "Flu": "v"})
    array([ 1,  0, -1])
    """
    n, m = matching.n, matching.pseudonym_count
    couples = _couples(pairs)
    if couples is None:
        truth = frozen(pairs, np.int64, what="the truth").copy()
        if truth.size != n:
            raise InputError(
                f"The truth has {truth.size} values for {n} items. Pass one pseudonym for each item, or -1 for none"
            )
    else:
        couples = [(one, other) for one, other in couples if other is not None]
        item = _known([one for one, _ in couples], matching.items, n, "item")
        truth = np.full(n, -1, np.int64)
        truth[item] = _known([other for _, other in couples], matching.pseudonyms, m, "pseudonym")
    if ((truth < -1) | (truth >= m)).any():
        raise InputError(
            f"Some pseudonyms of the truth are not numbers from 0 to {m - 1}, or -1 for none. Number them from 0"
        )
    _refuse_twice(truth[truth >= 0], "pseudonym")
    truth.flags.writeable = False
    return truth


def refuse_count(count: int, n: int) -> None:
    """Raise the error for a truth with too few or many pairs."""
    if count != n:
        raise InputError(f"The truth has {count} pairs for {n} items. Pass one pair for each item")


def refuse_no_bijection(numbers: IntArray, n: int, word: str) -> None:
    """Raise the error for ``n`` numbers that are no permutation."""
    if ((numbers < 0) | (numbers >= n)).any():
        raise InputError(f"Some {word}s of the truth are not numbers from 0 to {n - 1}. Number them from 0")
    _refuse_twice(numbers, word)


def _couples(pairs: Any) -> list[tuple[Any, Any]] | None:
    """Return pairs of names, or None where the truth is plain numbers."""
    if isinstance(pairs, Mapping):
        return list(pairs.items())
    if isinstance(pairs, (list, tuple)) and any(isinstance(pair, (tuple, list)) for pair in pairs):
        try:
            return [(item, pseudonym) for item, pseudonym in pairs]
        except (TypeError, ValueError):
            raise InputError("Some rows of the truth are not pairs. Each pair has an item and a pseudonym") from None
    return None


def _positions(names: list[Any], known: Names | None, n: int, word: str) -> IntArray:
    """Return the number behind each name, each of all once."""
    numbers = _numbered(names, known, word)
    refuse_no_bijection(numbers, n, word)
    return numbers


def _known(names: list[Any], known: Names | None, n: int, word: str) -> IntArray:
    """Return the number behind each name, none twice."""
    numbers = _numbered(names, known, word)
    if ((numbers < 0) | (numbers >= n)).any():
        raise InputError(f"Some {word}s of the truth are not numbers from 0 to {n - 1}. Number them from 0")
    _refuse_twice(numbers, word)
    return numbers


def _refuse_twice(numbers: IntArray, word: str) -> None:
    repeated = numbers.size - np.unique(numbers).size
    if repeated:
        raise InputError(
            f"The truth is not one to one: {repeated} of {numbers.size} pairs share the {word} of another pair. "
            f"Give each pair a different {word}"
        )


def _numbered(names: list[Any], known: Names | None, word: str) -> IntArray:
    """Return the number behind each name."""
    if known is None:
        numbers = frozen(names, np.int64, what=f"each {word} of the truth")
    else:
        number = {name: k for k, name in enumerate(known)}
        numbers = np.array([number.get(str(name), -1) for name in names], np.int64)
        strange = np.flatnonzero(numbers < 0)
        if strange.size:
            raise InputError(
                f"Pair {strange[0] + 1} of the truth (counted from 1) names an unknown {word}; such pairs: "
                f"{strange.size}. Check the spelling, and that both files match"
            )
    return np.asarray(numbers, np.int64)


@contextmanager
def of_file(path: "str | os.PathLike[str]", part: str = "") -> Iterator[None]:
    """Add the file, and its part, to errors raised inside."""
    try:
        yield
    except InputError as error:
        raise InputError(f"the file {shown(Path(path))} cannot be used{part}: {error}") from error


# What an attacker holds who has several releases under the same pseudonyms.


class _Attack(Protocol):
    @property
    def matrix(self) -> SquareMatrix: ...
    @property
    def items(self) -> Names | None: ...
    @property
    def pseudonyms(self) -> Names | None: ...


def combined(attacks: Sequence[_Attack]) -> tuple[Any, Names | None, Names | None]:
    """Return the product of matrices in the first order, with names.

    Every matrix is first divided by its largest number, so that products of many stay in range.
    """
    first = attacks[0]
    product: Any = first.matrix / first.matrix.max()
    for number, other in enumerate(attacks[1:], start=2):
        rows = order_of(first.items, other.items, first.matrix.shape[0], other.matrix.shape[0], number, "items")
        columns = order_of(
            first.pseudonyms, other.pseudonyms, first.matrix.shape[1], other.matrix.shape[1], number, "pseudonyms"
        )
        matrix: Any = other.matrix[rows][:, columns]
        matrix = matrix / matrix.max()
        if isinstance(product, np.ndarray):
            product = product * (matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
        else:
            product = product.multiply(matrix).tocsr()
    if not product.max() > 0:
        raise InputError(
            "No pair of item and pseudonym is possible in all releases. Check that they hold the same data under "
            "the same pseudonyms"
        )
    return product, first.items, first.pseudonyms


def order_of(ours: Names | None, theirs: Names | None, n: int, m: int, number: int, what: str) -> Any:
    """Return where each of our names is among theirs."""
    if n != m:
        raise InputError(
            f"The releases differ in {what}: the first has {n}, release {number} has {m}. Give each matrix "
            f"the same rows and columns, with 1 everywhere for unknown {what}"
        )
    if (ours is None) != (theirs is None):
        raise InputError(
            f"Only one of the first release and release {number} names its {what}. Name the {what} in both, or in "
            "neither"
        )
    if ours is None or theirs is None:
        return np.arange(n)
    place = {name: k for k, name in enumerate(theirs)}
    strange = sum(name not in place for name in ours)
    if strange:
        raise InputError(
            f"Release {number} lacks {strange} of the {n} {what} of the first release. Check the spelling, and "
            f"that both use the same pseudonyms"
        )
    return np.array([place[name] for name in ours])

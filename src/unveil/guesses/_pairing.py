"""Names of entries and tokens, and which token belongs to which entry."""

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
        """The number of entries."""
        ...

    @property
    def entries(self) -> Names | None:
        """The names of entries."""
        ...

    @property
    def tokens(self) -> Names | None:
        """The names of tokens."""
        ...


def distinct_names(names: Sequence[Any] | None, n: int, *, what: str) -> Names | None:
    """Return the names of ``n`` items or pseudonyms, or None.

    >>> distinct_names(["Flu", 7], 2, what="entries")
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
        One token number per entry, or a mapping from entry name to token name, or a sequence of such pairs. Where the
        matching has no names, numbers from 0 take their place.

    Raises
    ------
    InputError
        If an entry lacks a token, a name is unknown, or an entry or a token comes twice.

    Examples
    --------
    >>> from unveil.guesses.matching import Matching
    >>> guess = Matching([[1, 1], [1, 1]], entries=["Flu", "Cold"], tokens=["u", "v"])
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
        entry = _positions([one for one, _ in couples], matching.entries, n, "entry")
        truth = np.empty(n, np.int64)
        truth[entry] = _positions([other for _, other in couples], matching.tokens, n, "token")
    refuse_no_bijection(truth, n, "token")
    truth.flags.writeable = False
    return truth


class UnpairedNames(PairedNames, Protocol):
    """Different numbers of entries and tokens: an UnequalMatching."""

    @property
    def token_count(self) -> int:
        """The number of tokens."""
        ...


def unequal_truth(matching: UnpairedNames, pairs: Any) -> IntArray:
    """Return the true pseudonym of each item, -1 for none.

    ``pairs`` is one number per entry, or a mapping or pairs of names in which entries without token are left out or
    have None.

    >>> from unveil.guesses.unequal_matching import UnequalMatching
    >>> guess = UnequalMatching([[1, 1], [1, 1], [1, 1]], entries=["Flu", "Cold", "Asthma"], tokens=["u", "v"])
    >>> unequal_truth(guess, {"Cold": "u", "Flu": "v"})
    array([ 1,  0, -1])
    """
    n, m = matching.n, matching.token_count
    couples = _couples(pairs)
    if couples is None:
        truth = frozen(pairs, np.int64, what="the truth").copy()
        if truth.size != n:
            raise InputError(
                f"the truth must have one token for each of the {n} entries, -1 where there is none, but has "
                f"{truth.size}. Add or remove some"
            )
    else:
        couples = [(one, other) for one, other in couples if other is not None]
        entry = _known([one for one, _ in couples], matching.entries, n, "entry")
        truth = np.full(n, -1, np.int64)
        truth[entry] = _known([other for _, other in couples], matching.tokens, m, "token")
    if ((truth < -1) | (truth >= m)).any():
        raise InputError(
            f"each token of the truth must be a number from 0 to {m - 1}, or -1 for none, but some are not. Number "
            "them anew"
        )
    _refuse_twice(truth[truth >= 0], "token")
    truth.flags.writeable = False
    return truth


def refuse_count(count: int, n: int) -> None:
    """Raise the error for a truth with too few or many pairs."""
    if count != n:
        raise InputError(
            f"the truth must have one token for each of the {n} entries, but has {count}. Add or remove pairs"
        )


def refuse_no_bijection(numbers: IntArray, n: int, word: str) -> None:
    """Raise the error for ``n`` numbers that are no permutation."""
    if ((numbers < 0) | (numbers >= n)).any():
        raise InputError(
            f"each {word} of the truth must be a number from 0 to {n - 1}, but some are not. Number them anew"
        )
    _refuse_twice(numbers, word)


def _couples(pairs: Any) -> list[tuple[Any, Any]] | None:
    """Return pairs of names, or None where the truth is plain numbers."""
    if isinstance(pairs, Mapping):
        return list(pairs.items())
    if isinstance(pairs, (list, tuple)) and any(isinstance(pair, (tuple, list)) for pair in pairs):
        try:
            return [(entry, token) for entry, token in pairs]
        except (TypeError, ValueError):
            raise InputError("each pair of the truth must be an entry and a token. Correct those that differ") from None
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
        raise InputError(
            f"each {word} of the truth must be a number from 0 to {n - 1}, but some are not. Number them anew"
        )
    _refuse_twice(numbers, word)
    return numbers


def _refuse_twice(numbers: IntArray, word: str) -> None:
    repeated = numbers.size - np.unique(numbers).size
    if repeated:
        raise InputError(
            f"the truth must be one to one, but {repeated} of {numbers.size} pairs have the {word} of another pair. "
            f"Give each pair {'an' if word == 'entry' else 'a'} {word} of its own"
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
                f"each {word} of the truth must be one that the matrix has, but that of pair {strange[0] + 1} (counted "
                f"from 1) is not; such pairs: {strange.size}. Check the spelling, and that both belong together"
            )
    return np.asarray(numbers, np.int64)


@contextmanager
def of_file(path: "str | os.PathLike[str]", part: str = "") -> Iterator[None]:
    """Add the file, and its part, to errors raised inside."""
    try:
        yield
    except InputError as error:
        raise InputError(f"the file {shown(Path(path))} cannot be used{part}: {error}") from error


# What an adversary holds who has several releases under the same tokens.


class _Attack(Protocol):
    @property
    def matrix(self) -> SquareMatrix: ...
    @property
    def entries(self) -> Names | None: ...
    @property
    def tokens(self) -> Names | None: ...


def combined(attacks: Sequence[_Attack]) -> tuple[Any, Names | None, Names | None]:
    """Return the product of matrices in the first order, with names.

    Every matrix is first divided by its largest number, so that products of many stay in range.
    """
    first = attacks[0]
    product: Any = first.matrix / first.matrix.max()
    for number, other in enumerate(attacks[1:], start=2):
        rows = order_of(first.entries, other.entries, first.matrix.shape[0], other.matrix.shape[0], number, "entries")
        columns = order_of(first.tokens, other.tokens, first.matrix.shape[1], other.matrix.shape[1], number, "tokens")
        matrix: Any = other.matrix[rows][:, columns]
        matrix = matrix / matrix.max()
        if isinstance(product, np.ndarray):
            product = product * (matrix if isinstance(matrix, np.ndarray) else matrix.toarray())
        else:
            product = product.multiply(matrix).tocsr()
    if not product.max() > 0:
        raise InputError(
            "the releases must have a pair of an entry and a token that all of them allow, but have none. Check that "
            "they are of the same data under the same tokens"
        )
    return product, first.entries, first.tokens


def order_of(ours: Names | None, theirs: Names | None, n: int, m: int, number: int, what: str) -> Any:
    """Return where each of our names is among theirs."""
    if n != m:
        raise InputError(
            f"all releases must have the same {what}, but the first has {n} and release {number} has {m}. Give each "
            f"the rows and columns of the others: 1 everywhere for {what} it says nothing of"
        )
    if (ours is None) != (theirs is None):
        raise InputError(
            f"all releases must name their {what}, or none, but of the first and release {number} one does and one "
            "does not. Name them in both"
        )
    if ours is None or theirs is None:
        return np.arange(n)
    place = {name: k for k, name in enumerate(theirs)}
    strange = sum(name not in place for name in ours)
    if strange:
        raise InputError(
            f"all releases must have the same {what}, but {strange} of the {n} of the first are not in release "
            f"{number}. Check the spelling, and that both are under the same tokens"
        )
    return np.array([place[name] for name in ours])

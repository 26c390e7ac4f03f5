"""What an adversary holds who has several releases under the same tokens."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from unveil.data.matrices.square_matrix import SquareMatrix
from unveil.errors import InputError
from unveil.guesses._pairing import Names


class _Attack(Protocol):
    @property
    def matrix(self) -> SquareMatrix: ...
    @property
    def entries(self) -> Names | None: ...
    @property
    def tokens(self) -> Names | None: ...


def combined(attacks: Sequence[_Attack]) -> tuple[Any, Names | None, Names | None]:
    """Return the product of all matrices, with rows and columns in the order of the first, and its names.

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

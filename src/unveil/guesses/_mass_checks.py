"""What must hold of frames, sets, masses and probabilities, and the sentences that say so."""

from collections.abc import Iterable
from itertools import chain
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.mass.masses import transformed
from unveil._kernels.mass.sets import SetRows
from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError, whole_number
from unveil.guesses._entries import frozen

#: Elements of the frame in any order, as any sequence or set of whole numbers.
Elements = Iterable[int] | IntArray
#: A probability for each element of the frame, or the elements that have one and their probabilities.
Probability = ArrayLike | tuple[ArrayLike, ArrayLike]
Quantity = Literal["mass", "belief", "plausibility", "commonality"]

#: Masses may sum to 1 within this plus half of it for each set, as far as rounding to six digits takes them.
TOLERANCE = 1e-6
#: Masses and beliefs that a computation leaves this little below 0 or above a bound are rounding.
ROUNDING = 1e-9


def checked_size(size: int) -> int:
    """Return the size of a frame, which must have an element."""
    return whole_number(size, "the size of a frame")


def checked_probability(size: int, probability: Probability) -> tuple[IntArray, FloatArray]:
    """Return the elements with a probability above 0, ascending, and their probabilities, which sum to 1.

    >>> checked_probability(3, [0.5, 0, 0.5])
    (array([0, 2]), array([0.5, 0.5]))
    """
    pair = isinstance(probability, tuple) and len(probability) == 2 and all(np.ndim(part) == 1 for part in probability)
    if pair:
        first, second = cast("tuple[Any, Any]", probability)
        elements, values = as_elements(first), frozen(second, np.float64, what="a probability")
        check_range(elements, checked_size(size))
    else:
        elements, values = np.arange(checked_size(size)), frozen(probability, np.float64, what="a probability")
    if elements.size != values.size:
        raise InputError(f"there are {values.size} probabilities for {elements.size} elements. Pass one for each")
    if np.unique(elements).size != elements.size:
        raise InputError("an element can have only one probability, but some are given twice. Keep one of them")
    check_masses(values, "probabilities")
    order = np.argsort(elements)[values[np.argsort(elements)] > 0]
    return elements[order], values[order] / values.sum()


def masses_behind(values: FloatArray, what: Quantity) -> FloatArray:
    """Return the masses that lead to the values, exactly 0 where rounding left next to nothing."""
    if what == "mass":
        masses = values.copy()
    elif what == "commonality":
        masses = transformed(values, "supersets", back=True)
    else:
        beliefs = values if what == "belief" else 1.0 - values[::-1]
        masses = transformed(beliefs, "subsets", back=True)
    total = float(np.abs(masses).sum())
    if not np.isfinite(total) or masses.min() < -ROUNDING or abs(masses[0]) > ROUNDING or abs(total - 1) > TOLERANCE:
        raise InputError(
            f"the values are no {what} that a mass function leads to: masses must be at least 0, 0 for the empty set "
            "and sum to 1. Correct the values"
        )
    masses[np.abs(masses) <= 1e-15] = 0.0
    return np.maximum(masses, 0.0)


def as_elements(elements: Elements) -> IntArray:
    """Return the elements as an array of whole numbers, in the order given.

    >>> as_elements((4, 1))
    array([4, 1])
    """
    values = elements if isinstance(elements, np.ndarray) else list(elements)
    if isinstance(values, list) and not values:
        return np.zeros(0, np.int64)
    return frozen(values, np.int64, what="the elements of a set")


def check_range(elements: IntArray, size: int) -> None:
    """Refuse elements that the frame does not have."""
    outside = int(((elements < 0) | (elements >= size)).sum())
    if outside:
        raise InputError(
            f"the elements of a frame of {size} are numbered from 0 to {size - 1}, but {outside} of those given are "
            "outside. Correct them, or the size of the frame"
        )


def check_masses(values: FloatArray, what: str) -> None:
    """Refuse masses or probabilities below 0, and those that do not sum to 1."""
    if not np.isfinite(values).all() or (values < 0).any():
        wrong = int((~np.isfinite(values) | (values < 0)).sum())
        raise InputError(f"{what} must be numbers of at least 0, but {wrong} are not. Correct them")
    total = float(values.sum())
    if abs(total - 1) > TOLERANCE * (1 + 0.5 * values.size):
        raise InputError(f"{what} must sum to 1, but they sum to {total:.9g}. Divide each by their sum")


def checked_rows(sets: Iterable[Elements], size: int) -> SetRows:
    """Return the sets as rows of ascending distinct elements."""
    given = [one if isinstance(one, np.ndarray) else list(one) for one in sets]
    lengths = np.array([len(one) for one in given], np.int64)
    empty = int((lengths == 0).sum())
    if empty:
        raise InputError(
            f"the empty set can have no mass, but {empty} of the sets are empty: the target is somebody. "
            "Leave them out and divide the other masses by their sum"
        )
    if not given:
        raise InputError("there must be at least one set with a mass. Use MassFunction.vacuous for total ignorance")
    if any(isinstance(one, np.ndarray) for one in given):
        element = np.concatenate([as_elements(one) for one in given])
    else:
        # Checked all at once: for a thousand small sets that is ten times faster than one by one.
        element = as_elements(list(chain.from_iterable(given)))
    rows = _ascending(element, lengths)
    check_range(rows.element, size)
    return rows


def _ascending(element: IntArray, lengths: IntArray) -> SetRows:
    """Return the rows with the elements of each in ascending order, each once."""
    start = np.concatenate([[0], np.cumsum(lengths)])
    rises = element[1:] > element[:-1]
    rises[start[1:-1] - 1] = True
    if rises.all():
        return SetRows(start, element)
    row = np.repeat(np.arange(lengths.size), lengths)
    order = np.lexsort((element, row))
    element, row = element[order], row[order]
    new = np.concatenate([[True], (element[1:] != element[:-1]) | (row[1:] != row[:-1])])
    return SetRows(np.concatenate([[0], np.cumsum(np.bincount(row[new]))]), element[new])

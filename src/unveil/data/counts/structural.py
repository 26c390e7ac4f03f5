"""Structural zeros: combinations of codes that cannot occur, read from a file."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.counts.codes import CountVariable
from unveil.data.counts.reading import frame_of
from unveil.data.table._cell_texts import folded
from unveil.errors import InputError, did_you_mean, shortened


def read_structural(table: Any, variables: Sequence[CountVariable]) -> IntArray:
    """Return each impossible combination as code numbers; 0 means any code.

    The table has a column for each variable that matters and a combination in each row; an empty cell means any code.

    >>> from unveil.data.counts.codes import variable_of
    >>> sex, state = variable_of("sex", ["f", "m"]), variable_of("state", ["pregnant", "not"])
    >>> read_structural({"state": ["pregnant"], "sex": ["m"]}, [sex, state]).tolist()
    [[2, 1]]
    """
    frame = frame_of(table, None)
    place = {folded(variable.name): at for at, variable in enumerate(variables)}
    for name in frame.columns:
        if folded(name) not in place:
            raise InputError(
                f"impossible combinations must be of variables of the tables, but {shortened(name)} is none."
                f"{did_you_mean(name, [each.name for each in variables])} Rename or remove the column"
            )
    found = np.zeros((frame.height, len(variables)), np.int64)
    for name in frame.columns:
        variable = variables[place[folded(name)]]
        number = {folded(code): at for at, code in reversed(list(enumerate(variable.codes))) if at} | {"": 0}
        for row, text in enumerate(frame[name].to_list()):
            if folded(text) not in number:
                raise InputError(
                    f"column {name!r} of impossible combinations must hold codes of the tables, but does not in row "
                    f"{row + 1} (counted from 1 below the header).{did_you_mean(text, variable.codes[1:])} Write the "
                    "code as the tables do, or leave it empty for any"
                )
            found[row, place[folded(name)]] = number[folded(text)]
    empty = np.flatnonzero(~found.any(axis=1))
    if empty.size:
        raise InputError(
            f"each impossible combination must name a code, but row {int(empty[0]) + 1} names none (counted from 1 "
            "below the header). Remove it"
        )
    return found


def covered_by(combinations: IntArray, codes: IntArray, variables: Sequence[CountVariable]) -> BoolArray:
    """Return the cells that lie within a combination of codes.

    >>> from unveil.data.counts.codes import variable_of
    >>> sex = variable_of("sex", ["f", "m"])
    >>> covered_by(np.array([[2]]), np.array([[0], [1], [2]]), [sex]).tolist()
    [False, False, True]
    """
    found = np.zeros(codes.shape[0], np.bool_)
    for combination in combinations:
        inside = np.ones(codes.shape[0], np.bool_)
        for at in np.flatnonzero(combination).tolist():
            leaves = variables[at].leaves
            within = np.array([own & ~leaves[combination[at]] == 0 for own in leaves], np.bool_)
            inside &= within[codes[:, at]]
        found |= inside
    return found

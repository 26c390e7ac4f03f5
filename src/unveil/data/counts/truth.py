"""Records behind published counts: how many people are in each cell in truth."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.counts.codes import CountVariable, band_of
from unveil.data.counts.published_counts import POPULATION
from unveil.data.counts.reading import frame_of
from unveil.data.counts.system import CountSystem
from unveil.data.table._cell_texts import folded
from unveil.errors import InputError, did_you_mean, shortened

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class TrueCounts:
    """True count of each cell, with notes on the records."""

    counts: IntArray = field(repr=False)
    notes: tuple[str, ...] = ()

    def outside(self, low: IntArray, high: IntArray) -> BoolArray:
        """Return which cells lie outside of these ranges."""
        return (self.counts < low) | (self.counts > high)


def true_counts(records: Any, system: CountSystem) -> TrueCounts:
    """Return how many records are in each cell of published tables.

    Raises InputError if a variable is missing, or a record has a code that no table knows.

    >>> import polars as pl
    >>> from unveil.data.counts import read_counts
    >>> from unveil.data.counts.system import system_of
    >>> system = system_of(read_counts([{"ward": ["N", "S", "Total"], "count": ["*", "2", "3"]}]))
    >>> true_counts(pl.DataFrame({"ward": ["N", "S", "S"]}), system).counts.tolist()
    [3, 1, 2]
    """
    frame = frame_of(records, None)
    variables = system.released.variables
    if any(variable.name == POPULATION and POPULATION not in frame.columns for variable in variables):
        raise InputError(
            f"records behind nested populations must say in a column {POPULATION!r} who is in which, but have none. "
            "Add it with the codes of the report, or leave the truth out"
        )
    leaf = np.column_stack([_leaves(variable, frame) for variable in variables])
    counts = np.zeros(system.number, np.int64)
    for clique, numbers in zip(system.arrays.cliques, system.arrays.numbers, strict=True):
        shape = [variables[at].leaves[0].bit_length() for at in clique]
        flat = np.ravel_multi_index(tuple(leaf[:, at] for at in clique), shape)
        table = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
        for axis, at in enumerate(clique):
            own = variables[at]
            inside = np.array([[code >> bit & 1 for bit in range(shape[axis])] for code in own.leaves], np.int64)
            table = np.moveaxis(np.tensordot(inside, table, axes=(1, axis)), 0, axis)
        counts[numbers.ravel()] = table.ravel()
    return TrueCounts(counts)


def _leaves(variable: CountVariable, frame: "pl.DataFrame") -> IntArray:
    """Return the leaf of each record, by code or number band."""
    name = next((each for each in frame.columns if folded(each) == folded(variable.name)), None)
    if name is None:
        raise InputError(
            f"the records must have every variable of the tables, but lack {shortened(variable.name)}."
            f"{did_you_mean(variable.name, frame.columns)} Add or rename the column"
        )
    known = {
        folded(code): own.bit_length() - 1
        for code, own in zip(variable.codes, variable.leaves, strict=True)
        if own.bit_count() == 1
    }
    bands = [
        (band, own.bit_length() - 1)
        for code, own in zip(variable.codes, variable.leaves, strict=True)
        if own.bit_count() == 1 and (band := band_of(code)) is not None
    ]
    place = {}
    for text in frame[name].unique().to_list():
        leaf = known.get(folded(text))
        if leaf is None and (own := band_of(text)) is not None:
            leaf = next((at for band, at in bands if band[0] <= own[0] and own[1] <= band[1]), None)
        if leaf is None:
            row = int((frame[name] == text).arg_true()[0]) + 1
            raise InputError(
                f"column {name!r} of the records must hold codes of the tables, but does not in row {row} (counted "
                "from 1 below the header). Recode the records as the tables are"
            )
        place[text] = leaf
    return np.asarray(frame[name].replace_strict(place).to_numpy(), np.int64)

"""Items or subjects that a merge mixes in.

The paper counts items of other subjects; the alternative counts the other subjects.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.partitions.crowds import by_column, crowd_gains
from unveil._kernels.types import FloatArray, IntArray
from unveil.metrics.partitions._contingency import Contingency
from unveil.metrics.partitions._tally import Tally, Wholes

#: What the mixed graph is a share of: items of other subjects, other subjects, or other subjects as far as they are
#: even.
Mixing = Literal["items", "others", "even"]
MIXINGS: tuple[Mixing, ...] = ("items", "others", "even")


def gains(tally: Tally, order: IntArray, mixing: Mixing) -> NDArray[Any]:
    """Return the amount that the merge of each cell mixes in."""
    if mixing == "items":
        return tally.foreign
    return crowds(tally, order)[0 if mixing == "others" else 1]


def crowds(tally: Tally, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return other subjects added per merge, and the effective change.

    Clusters that tie in cost, foreign and missed items are in no order, so both are means over all their orders, and no
    name of a cluster matters.
    """
    table = tally.table
    subjects = table.row_total.size // table.guesses
    column_start, cell = by_column(table.column, table.column_total.size)
    subject = table.row[cell] if table.guesses == 1 else table.row[cell] % np.int32(subjects)
    by = (column_start, subject, table.count[cell])
    return crowd_gains(table.row_start, order, table.column, tally.own, tally.foreign, *by, subjects)


def crowd_work(table: Contingency) -> int:
    """Return the number of cells to visit for the subjects mixed in."""
    cells = np.bincount(table.column, minlength=table.column_total.size)
    return int((cells * cells).sum())


def mixed_wholes(whole: Wholes, mixing: Mixing) -> Wholes:
    """Return the totals behind the mixed shares, for items or subjects."""
    if mixing == "items":
        return whole
    return whole._replace(foreign=np.full(whole.own.size, float(whole.own.size - 1)))

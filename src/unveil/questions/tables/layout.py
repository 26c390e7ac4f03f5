"""Layout of the most disclosive table as a grid."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks.counts.solve_counts import SolvedCounts
from unveil.data.counts.system import CountSystem
from unveil.questions.tables.findings import GridFindings

#: The most rows and columns of the picture: it stands beside the headline.
MOST_ROWS, MOST_COLUMNS = 25, 12


def grid_of(system: CountSystem, solved: SolvedCounts, minimum: int, values: int) -> GridFindings | None:
    """Return the most disclosive table as a grid, worst rows first."""
    ranges, released = solved.ranges, system.released
    level = _levels(system, solved, minimum, values)
    best, worst = None, (-1, -1, -1)
    for at, table in enumerate(released.tables):
        own = np.zeros(system.number, np.bool_)
        own[system.cell[released.table == at]] = True
        small = own & (level == 3) & (ranges.low >= 1) & (ranges.low < minimum)
        weight = (int(small.sum()), int((own & (level > 0)).sum()), int(own.sum()))
        if weight > worst:
            best, worst = table, weight
    if best is None:
        return None
    rows, columns, numbers = _laid_out(system, best.variables, level)
    there = np.where(numbers >= 0, level[numbers], -1)
    striking = (there == 3).sum(axis=1) * 1000 + (there == 2).sum(axis=1)
    keep = np.arange(len(rows))
    if keep.size > MOST_ROWS:
        keep = np.sort(np.argsort(-striking, kind="stable")[:MOST_ROWS])
    across = np.arange(len(columns))
    if across.size > MOST_COLUMNS:
        across = np.sort(np.argsort(-(there[keep] == 3).sum(axis=0), kind="stable")[:MOST_COLUMNS])
    part = numbers[np.ix_(keep, across)]
    names = [released.variables[at].name for at in best.variables]
    return GridFindings(
        table=", ".join(table.name for table in released.tables if table.variables == best.variables),
        rows=tuple(rows[at] for at in keep),
        columns=tuple(columns[at] for at in across),
        row_label=", ".join(names[:-1]) if len(names) > 1 else names[0],
        column_label=names[-1] if len(names) > 1 else "",
        level=np.where(part >= 0, level[part], -1),
        low=ranges.low[part],
        high=ranges.high[part],
        left_out=int((numbers >= 0).sum() - (part >= 0).sum()),
    )


def _levels(system: CountSystem, solved: SolvedCounts, minimum: int, values: int) -> IntArray:
    """Return cell levels: 0 shown, 1 suppressed, 2 approximate, 3 recovered, -1 none."""
    ranges = solved.ranges
    level = np.full(system.number, -1, np.int64)
    level[system.cell] = 0
    level[ranges.is_hidden] = 1
    level[ranges.is_hidden & (ranges.values <= values)] = 2
    level[ranges.is_recovered] = 3
    small = ranges.is_unlisted & (ranges.low == ranges.high) & (ranges.low >= 1) & (ranges.low < minimum)
    level[small] = 3
    return level


def _laid_out(system: CountSystem, variables: Sequence[int], level: IntArray) -> tuple[list[str], list[str], IntArray]:
    """Return row names, column names, and the cell of each pair.

    The last variable goes across, all others down; totals come last.
    """
    released = system.released
    own = list(variables)
    codes = system.arrays.codes
    others = [at for at in range(codes.shape[1]) if at not in own]
    cells = np.flatnonzero((codes[:, others] == 0).all(axis=1) & (level >= 0))
    last = own[-1] if len(own) > 1 else None
    down = own[:-1] if last is not None else own
    # The total is code 0: put behind all others.
    sizes = [len(variable.codes) for variable in released.variables]
    placed = np.where(codes == 0, np.array(sizes), codes)[cells]
    lines, line = np.unique(placed[:, down], axis=0, return_inverse=True)
    ends, end = (np.unique(placed[:, last], return_inverse=True)) if last is not None else (np.zeros(1), 0 * line)
    numbers = np.full((lines.shape[0], ends.size), -1, np.int64)
    numbers[line.ravel(), np.asarray(end).ravel()] = cells
    rows = [
        ", ".join(released.variables[at].codes[code % sizes[at]] for at, code in zip(down, each, strict=True))
        for each in lines.tolist()
    ]
    columns = ["count"] if last is None else [released.variables[last].codes[int(code) % sizes[last]] for code in ends]
    return rows, columns, numbers

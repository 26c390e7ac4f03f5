"""The guess that a mean field leaves: the likely pairs, and a mapping in which nobody is taken twice."""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.graph.mean_field import Field
from unveil._kernels.graph.sparse_field import SparseField
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates

#: Candidates with a smaller chance are left out, unless they are chosen.
LEAST_CHANCE = 1e-4


def guess_of_field(field: Field, rows: IntArray, columns: IntArray, nodes: int) -> Candidates:
    """Return the guess of a whole matrix, of which these are the rows and columns; they must be in an order by lot.

    The mapping has the largest product of chances; a row that is more likely nobody than whom it was mapped to is not
    attempted.
    """
    from scipy.optimize import linear_sum_assignment

    one, other = linear_sum_assignment(-field.logs.astype(np.float64))
    sure = field.chances[one, other] >= field.nobody[one]
    one, other = one[sure], other[sure]
    chosen = np.full(nodes, NOT_ATTEMPTED, np.int64)
    chosen[rows[one]] = columns[other]
    kept = np.zeros(field.chances.shape, np.bool_)
    kept[one] = field.chances[one] >= np.minimum(LEAST_CHANCE, field.chances[one].max(axis=1))[:, None]
    kept[one, other] = True
    row, column = np.nonzero(kept)
    return _guess(rows[row], columns[column], field.chances[kept].astype(np.float64), chosen)


def guess_of_sparse_field(
    field: SparseField,
    free: BoolArray,
    free_columns: BoolArray,
    rows: IntArray,
    columns: IntArray,
    rng: np.random.Generator,
) -> Candidates:
    """Return the guess of a few candidates for each row; the likeliest pair is mapped first, ties by lot.

    ``free`` rows and columns are not known, ``rows`` and ``columns`` are the numbers that the nodes have outside. What
    chances leave to candidates that were not kept lies elsewhere, evenly on all of them.
    """
    row, place = np.nonzero((field.candidate >= 0) & free[:, None])
    column, chance = field.candidate[row, place], field.chance[row, place]
    order = np.lexsort((rng.permutation(row.size), -chance))
    order = order[chance[order] >= field.nobody[row[order]]]
    partner, taken = np.full(rows.size, NOT_ATTEMPTED, np.int64), np.zeros(columns.size, np.bool_)
    _map_in_order(row[order], column[order], partner, taken)
    likeliest = np.zeros(rows.size)
    np.maximum.at(likeliest, row, chance)
    kept = (chance >= np.minimum(LEAST_CHANCE, likeliest[row])) | (partner[row] == column)
    kept &= partner[row] >= 0
    chosen, away = np.full(rows.size, NOT_ATTEMPTED, np.int64), np.zeros(rows.size)
    chosen[rows] = np.where(partner >= 0, columns[partner], NOT_ATTEMPTED)
    row, column, chance = row[kept], column[kept], chance[kept]
    away[rows] = 1 - field.nobody - np.bincount(row, chance, rows.size)
    return _guess(rows[row], columns[column], chance, chosen, away, np.sort(columns[free_columns]))


@kernel("i8[], i8[], i8[], b1[]")
def _map_in_order(row: IntArray, column: IntArray, partner: IntArray, taken: BoolArray) -> None:
    for place in range(row.size):
        if partner[row[place]] < 0 and not taken[column[place]]:
            partner[row[place]] = column[place]
            taken[column[place]] = True


def _guess(
    row: IntArray,
    column: IntArray,
    chance: FloatArray,
    chosen: IntArray,
    away: FloatArray | None = None,
    pool: IntArray | None = None,
) -> Candidates:
    """Return the guess with these entries, in any order, and with what lies ``away`` of them in each row.

    What is left to 1 is shared in proportion, since that is nobody, or was left out.
    """
    order = np.lexsort((column, row))
    row, column, chance = row[order], column[order], chance[order]
    start = np.zeros(chosen.size + 1, np.int64)
    listed = np.bincount(row, minlength=chosen.size)
    np.cumsum(listed, out=start[1:])
    total = np.bincount(row, chance, chosen.size)
    elsewhere = None
    if away is not None and pool is not None:
        elsewhere = np.where((listed > 0) & (listed < pool.size), np.maximum(away, 0.0), 0.0)
        total = total + elsewhere
        elsewhere /= np.where(total > 0, total, 1.0)
    probability = chance / np.where(total > 0, total, 1.0)[row]
    return Candidates(
        start,
        column.astype(np.int32),
        probability,
        chosen.astype(np.int32),
        elsewhere=elsewhere,
        pool=None if pool is None else pool.astype(np.int32),
    )

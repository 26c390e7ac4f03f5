"""The true probability of who is behind a released row, as the masking method itself implies it."""

import numpy as np
from numpy.typing import NDArray

from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guess.candidates import Candidates

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# So many chances at once take some 30 megabytes.
_AT_ONCE = 4_000_000


def record_level_truth(
    mechanism: Mechanism, original: Table, released: Table, *, most_entries: int = 20_000_000, least: float = 0.0
) -> Candidates:
    """Return for each released row the probability that it was made from each original row.

    By Bayes' rule, with every original row as likely beforehand: proportional to the chance, or density, with which
    the mask makes this released row from that original one. Each released row is judged alone (the record level); that
    no two of them can come from one person is not used.

    Parameters
    ----------
    mechanism
        What the mask says about its own output: ``release.mechanism``.
    original, released
        The tables before and after. With some of the columns only (`Table.select`), the probability is that of an
        adversary who sees no others.
    most_entries
        How many probabilities above 0 may be kept in all; some 12 bytes each.
    least
        Probabilities below this share of a row's largest are left out, and the others made to sum to 1. 0 keeps all.

    Raises
    ------
    InputError
        If a released row cannot have been made from any original one, or more entries are needed than allowed.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.mechanism import Mechanism
    >>> class Same:
    ...     def log_likelihood(self, original, released, rows):
    ...         after, before = (table.frame["age"].to_numpy() for table in (released, original))
    ...         with np.errstate(divide="ignore"):
    ...             return np.log(after[rows][:, None] == before)
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 31, 30]}))
    >>> record_level_truth(Same(), people, people).probability
    array([0.5, 0.5, 1. , 0.5, 0.5])
    """
    if not 0 <= least < 1:
        raise InputError(f"least must be from 0 to below 1, but is {least}. It is a share of the largest probability")
    # Rows that look alike have the same probabilities, which are computed once.
    alike, first = _alike(released)
    per_kind = np.bincount(alike)
    step = max(1, _AT_ONCE // original.rows)
    sizes, candidates, probabilities = [], [], []
    entries = 0
    for begin in range(0, first.size, step):
        rows = first[begin : begin + step]
        kind, candidate, probability = _posterior(mechanism, original, released, rows, least)
        count = np.bincount(kind, minlength=rows.size)
        entries += int((count * per_kind[begin : begin + rows.size]).sum())
        if entries > most_entries:
            raise InputError(
                f"the true probabilities of {released.rows} rows must have at most {most_entries:,} entries, but have "
                "more. Take fewer rows, raise most_entries, or leave out small ones with least=1e-6"
            )
        sizes.append(count)
        candidates.append(candidate)
        probabilities.append(probability)
    return _spread(alike, np.concatenate(sizes), np.concatenate(candidates), np.concatenate(probabilities))


def _alike(released: Table) -> tuple[Integers, Integers]:
    """Return a number for each row, the same for equal rows, and the first row of each number."""
    import polars as pl

    plain = pl.DataFrame({str(place): column for place, column in enumerate(released.frame)})
    number = plain.select(pl.struct(pl.all()).alias("row")).to_series()
    marked = number.to_frame().with_row_index("at")
    found = marked.with_columns(pl.col("at").min().over("row").alias("first"))["first"].to_numpy().astype(np.int64)
    first, alike = np.unique(found, return_inverse=True)
    return alike.astype(np.int64), first


def _posterior(
    mechanism: Mechanism, original: Table, released: Table, rows: Integers, least: float
) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Return the probabilities above 0 of some released rows: which of the rows, the candidate, the probability."""
    logs = np.asarray(mechanism.log_likelihood(original, released, rows), np.float64)
    if logs.shape != (rows.size, original.rows):
        raise InputError(
            f"the mechanism must give one line for each of {rows.size} released rows and one column for each of "
            f"{original.rows} original rows, but gave an array of shape {logs.shape}. Correct its log_likelihood"
        )
    largest = logs.max(axis=1)
    wrong = np.flatnonzero(~np.isfinite(largest))
    if wrong.size:
        raise InputError(
            f"every released row must be possible for one of the original rows, but {wrong.size} are not, the first of "
            f"them row {int(rows[wrong[0]]) + 1} (counted from 1 below the header). Pass the tables and the mechanism "
            "of one release"
        )
    weight = np.exp(logs - largest[:, None])
    if least:
        weight[weight < least] = 0.0
    kind, candidate = np.nonzero(weight)
    weight /= weight.sum(axis=1, keepdims=True)
    return kind, candidate.astype(np.int32), weight[kind, candidate]


def _spread(alike: Integers, sizes: Integers, candidate: NDArray[np.int32], probability: Floats) -> Candidates:
    """Return the probabilities of all rows from those of the rows that differ."""
    start = np.concatenate([[0], np.cumsum(sizes[alike])])
    begins = np.concatenate([[0], np.cumsum(sizes)])[alike]
    entry = np.arange(start[-1]) + np.repeat(begins - start[:-1], sizes[alike])
    return Candidates(start, candidate[entry], probability[entry])

"""True probabilities of original rows, as the masking method implies."""

import numpy as np

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.errors import InputError, share
from unveil.guesses.candidates import Candidates

# This many chances at once take some 30 megabytes.
_AT_ONCE = 4_000_000


def record_level_truth(
    mechanism: Mechanism, original: Table, released: Table, *, most_entries: int = 20_000_000, at_least: float = 0.0
) -> Candidates:
    """Return the probability of each original row per released row.

    By Bayes' rule, with every original row as likely beforehand: proportional to the chance, or density, with which
    the mask makes this released row from that original one. Each released row is judged alone (the record level); that
    no two of them can come from one person is not used.

    Parameters
    ----------
    mechanism
        What the mask says about its own output: ``release.mechanism``.
    original, released
        The tables before and after. With some of the columns only (`Table.select`), the probability is that of an
        attacker who sees no others.
    most_entries
        How many probabilities above 0 may be kept in all; some 12 bytes each.
    at_least
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
    share(at_least, "least", one=False, advice="It is a share of the largest probability, such as 0.001")
    # Rows that look alike have the same probabilities, which are computed once.
    alike, first = _alike(released)
    sparse = getattr(mechanism, "likely_pairs", None)
    pairs = None if sparse is None else sparse(original, released, first, most_entries)
    if pairs is not None:
        kind, candidate, logs = pairs
        parts = [_normalized(kind, candidate, logs, first, at_least)]
    else:
        step = max(1, _AT_ONCE // original.rows)
        parts = []
        left = most_entries
        for begin in range(0, first.size, step):
            rows = first[begin : begin + step]
            kind, candidate, logs = _all_pairs(mechanism, original, released, rows)
            parts.append(_normalized(kind, candidate, logs, rows, at_least))
            left -= parts[-1][1].size
            if left < 0:
                raise _too_many(released, most_entries)
    sizes, candidates, probabilities = (np.concatenate(part) for part in zip(*parts, strict=True))
    if int(sizes[alike].sum()) > most_entries:
        raise _too_many(released, most_entries)
    return _spread(alike, sizes, candidates, probabilities)


def likelihood_of(mechanism: Mechanism, original: Table, released: Table, rows: IntArray) -> FloatArray:
    """Return the log-likelihood of some released rows given each original row, checked.

    Raises
    ------
    InputError
        If it is not one number, or minus infinity, for each pair of rows.
    """
    logs = np.asarray(mechanism.log_likelihood(original, released, rows), np.float64)
    if logs.shape != (rows.size, original.rows):
        raise InputError(
            f"the mechanism gave an array of shape {logs.shape} for {rows.size} released and {original.rows} original "
            "rows. Correct its log_likelihood: one line per released, one column per original row"
        )
    if not (logs < np.inf).all():
        raise InputError(
            "the mechanism gave NaN or infinity. Correct its log_likelihood: it returns numbers, or minus infinity for "
            "an impossible pair"
        )
    return logs


def _too_many(released: Table, most_entries: int) -> InputError:
    return InputError(
        f"the true probabilities of {released.rows} rows exceed the maximum of {most_entries:,} elements. "
        "Take fewer rows, raise most_entries, or leave out small ones with least=1e-6"
    )


def _alike(released: Table) -> tuple[IntArray, IntArray]:
    """Return a number per row, equal for equal rows, and representatives."""
    import polars as pl

    plain = pl.DataFrame({str(place): column for place, column in enumerate(released.frame)})
    number = plain.select(pl.struct(pl.all()).alias("row")).to_series()
    marked = number.to_frame().with_row_index("at")
    found = marked.with_columns(pl.col("at").min().over("row").alias("first"))["first"].to_numpy().astype(np.int64)
    first, alike = np.unique(found, return_inverse=True)
    return alike.astype(np.int64), first


def _all_pairs(
    mechanism: Mechanism, original: Table, released: Table, rows: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return possible pairs of rows, and their log-probabilities."""
    logs = likelihood_of(mechanism, original, released, rows)
    kind, candidate = np.nonzero(logs > -np.inf)
    return kind, candidate, logs[kind, candidate]


def _normalized(
    kind: IntArray, candidate: IntArray, logs: FloatArray, rows: IntArray, at_least: float
) -> tuple[IntArray, Int32Array, FloatArray]:
    """Return candidate numbers, candidates, and probabilities; pairs sorted by row."""
    count = np.bincount(kind, minlength=rows.size)
    wrong = np.flatnonzero(count == 0)
    if wrong.size:
        raise InputError(
            f"{wrong.size} released rows are impossible for every original row, the first "
            f"is row {int(rows[wrong[0]]) + 1} (counted from 1 below the header). Pass the tables and the mechanism "
            "of one release"
        )
    start = np.cumsum(count) - count
    weight = np.exp(logs - np.maximum.reduceat(logs, start)[kind])
    kept = weight > at_least if at_least == 0 else weight >= at_least
    kind, candidate, weight = kind[kept], candidate[kept], weight[kept]
    count = np.bincount(kind, minlength=rows.size)
    total = np.add.reduceat(weight, np.cumsum(count) - count)
    return count, candidate.astype(np.int32), weight / total[kind]


def _spread(alike: IntArray, sizes: IntArray, candidate: Int32Array, probability: FloatArray) -> Candidates:
    """Return the probabilities of all rows from the distinct ones."""
    start = np.concatenate([[0], np.cumsum(sizes[alike])])
    begins = np.concatenate([[0], np.cumsum(sizes)])[alike]
    entry = np.arange(start[-1]) + np.repeat(begins - start[:-1], sizes[alike])
    return Candidates(start, candidate[entry], probability[entry])

"""Read matrices, frequencies, matchings, and truths of matching attacks."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.files.read import read_table, refuse_cells, refuse_repeats
from unveil.data.files.source import shown
from unveil.data.matrices._matrix_files import matrix_of
from unveil.data.matrices.csv_matrix import written_numbers
from unveil.data.matrices.square_matrix import MatrixFile, Names
from unveil.errors import InputError, shortened

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]

_A_NUMBER = "hold a number such as 0.25, 25% or 1/4"


class FrequencyRanges(NamedTuple):
    """Known frequency range of each item, ends included."""

    items: Names
    low: FloatArray
    high: FloatArray


class Frequencies(NamedTuple):
    """Frequency of each pseudonym, with notes on the counting."""

    pseudonyms: Names
    frequency: FloatArray
    notes: tuple[str, ...] = ()


class MatchingsFile(NamedTuple):
    """Matchings as rows of pseudonym numbers, with probabilities and names."""

    matchings: IntArray
    probability: FloatArray
    items: Names
    pseudonyms: Names


class _NamedPairs(Protocol):
    @property
    def n(self) -> int: ...
    @property
    def items(self) -> Names | None: ...
    @property
    def pseudonyms(self) -> Names | None: ...


def read_matrix(path: PathLike, *, square: bool = True) -> MatrixFile:
    r"""Return the matrix of a file: items as rows, pseudonyms as columns.

    ``Matching(*read_matrix(path))`` is the attack; ``Matching.read(path)`` says the file's name in every error.

    Parameters
    ----------
    path
        The first bytes tell the kind. CSV, also compressed with gzip, with cells such as 0.25, 25% or 1/4, and with
        names in the first row, the first column, both or neither; where both, the cell in the corner is empty or a
        word and names may be numbers, else names must be words. NPY. NPZ with one array (and ``items`` and
        ``pseudonyms``, arrays of text, if wanted) or as ``scipy.sparse.save_npz`` writes it. Matrix Market, also
        compressed with gzip. Nothing is ever unpickled.
    square
        Whether there must be as many rows as columns. Where not, a file whose corner is empty or a word has names on
        both sides.

    Raises
    ------
    InputError
        If the file cannot be read, or the matrix is empty, not square, too large, negative or not finite somewhere
        (with the row and the column), or a name is missing or comes twice.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "matrix.csv")
    ...     _ = file.write_text("item,u,v\nFlu,1/3,2/3\nCold,2/3,1/3\n")
    ...     read_matrix(file).pseudonyms
    ('u', 'v')
    """
    return matrix_of(path, square=square)


def read_truth(path: PathLike, matching: _NamedPairs) -> IntArray:
    """Return the true pseudonym number of each item, from 0.

    Parameters
    ----------
    path
        CSV or Parquet with one row per item, in any order. Where the attack has another number of pseudonyms than of
        items (an UnequalMatching), items without pseudonym have no row or an empty pseudonym, and are -1.
    matching
        The attack, whose names the file must use. Without names, items and pseudonyms are the numbers of rows and
        columns, counted from 1.

    Raises
    ------
    InputError
        With the row, if a name is empty, unknown or comes twice; or if items are missing.

    Examples
    --------
    >>> from unveil.data import samples
    >>> from unveil.guesses.matching import Matching
    >>> read_truth(samples.path("matching_truth.csv"), Matching.read(samples.path("matching_matrix.csv")))
    array([2, 3, 4, 0, 1])
    """
    pseudonym_count = getattr(matching, "pseudonym_count", None)
    complete = ["item", "pseudonym"] if pseudonym_count is None else ["item"]
    frame = read_table(path, {"item": "item", "pseudonym": "pseudonym"}, complete=complete)
    if pseudonym_count is not None:
        refuse_repeats(frame, path, ["item"])
        frame = frame.filter(frame["pseudonym"].is_not_null())
    columns = []
    counts = matching.n, matching.n if pseudonym_count is None else int(pseudonym_count)
    for name, known, n in zip(("item", "pseudonym"), (matching.items, matching.pseudonyms), counts, strict=True):
        refuse_repeats(frame, path, [name])
        numbers = _numbers_of(frame[name], known, n)
        what = f"an {name}" if name == "item" else f"a {name}"
        must = f"name {what} of the attack" if known else f"hold a whole number from 1 to {n}"
        refuse_cells(numbers.is_null(), path, name, must)
        columns.append(numbers.to_numpy().astype(np.int64))
    lacking = matching.n - frame.height
    if lacking and pseudonym_count is None:
        raise InputError(
            f"{shown(Path(path))} lacks the pseudonym of {lacking} of {matching.n} items. Add a row for each"
        )
    truth = np.full(matching.n, -1, np.int64)
    truth[columns[0]] = columns[1]
    truth.flags.writeable = False
    return truth


def read_ranges(path: PathLike) -> FrequencyRanges:
    """Return the frequency range of each item, from ``low`` and ``high``.

    Cells are such as 0.25, 25% or 1/4; the unit is that of the frequencies. Raises InputError with the row where a cell
    is empty or no number, an item comes twice, or ``low`` is above ``high``.

    >>> from unveil.data import samples
    >>> read_ranges(samples.path("matching_ranges.csv")).low
    array([0.4 , 0.35, 0.3 , 0.1 , 0.2 ])
    """
    names = ("item", "low", "high")
    frame = read_table(path, {name: name for name in names}, complete=names, numbers=["low", "high"])
    refuse_repeats(frame, path, ["item"])
    low, high = (column_of_numbers(frame, path, name) for name in ("low", "high"))
    refuse_cells(low > high, path, "low", "be at most 'high'")
    return FrequencyRanges(tuple(frame["item"]), low.to_numpy(), high.to_numpy())


def read_frequencies(path: PathLike) -> Frequencies:
    """Return the frequency of each pseudonym, at least 0, in any unit.

    Raises InputError with the row where a pseudonym comes twice or lacks a frequency.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "frequencies.csv")
    ...     _ = file.write_text("pseudonym,frequency" + chr(10) + "u,20%" + chr(10))
    ...     read_frequencies(file)
    Frequencies(pseudonyms=('u',), frequency=array([0.2]), notes=())
    """
    columns = {name: name for name in ("pseudonym", "frequency")}
    frame = read_table(path, columns, complete=list(columns), numbers=["frequency"])
    refuse_repeats(frame, path, ["pseudonym"])
    frequency = column_of_numbers(frame, path, "frequency")
    refuse_cells(frequency < 0, path, "frequency", "hold numbers of at least 0")
    return Frequencies(tuple(frame["pseudonym"]), frequency.to_numpy())


def read_transactions(path: PathLike) -> Frequencies:
    """Return the share of released transactions with each pseudonym.

    A transaction is a set: a row that repeats a pseudonym of its transaction is left out, with a note. A transaction
    without pseudonyms has one row with an empty pseudonym; it counts as a transaction. Pseudonyms are in the
    order of their names. Pseudonyms without a transaction are missing: give frequencies instead.

    >>> from unveil.data import samples
    >>> read_transactions(samples.path("matching_transactions.csv"))[:2]
    (('u', 'v', 'x', 'y', 'z'), array([0.2, 0.3, 0.4, 0.6, 0.8]))
    """
    import polars as pl

    frame = read_table(path, {"transaction": "transaction", "pseudonym": "pseudonym"}, complete=["transaction"])
    blank = frame["pseudonym"].is_null()
    several = frame.select(pl.col("pseudonym").is_null() & (pl.len().over("transaction") > 1)).to_series()
    refuse_cells(several, path, "pseudonym", "be filled in where a transaction has other rows")
    count = frame["transaction"].n_unique()
    once = frame.filter(~blank).unique()
    pseudonyms = once.group_by("pseudonym").len().sort("pseudonym")
    if pseudonyms.height == 0:
        raise InputError(f"no transaction of {shown(Path(path))} has a pseudonym. Fill in the pseudonyms")
    notes = []
    if repeats := frame.height - int(blank.sum()) - once.height:
        notes.append(
            f"Rows of {shown(Path(path))} that repeat a pseudonym of the same transaction were left out: {repeats}."
        )
    if idle := int(blank.sum()):
        notes.append(f"Transactions of {shown(Path(path))} without pseudonyms count among all {count}: {idle}.")
    return Frequencies(tuple(pseudonyms["pseudonym"]), pseudonyms["len"].to_numpy() / count, tuple(notes))


def read_matchings(path: PathLike, *, probability: str = "probability") -> MatchingsFile:
    """Return explicit matchings: probability and one pseudonym per item.

    ``probability`` is what the column of probabilities is called; every other column is an item. Pseudonyms are in the
    order of their names. Raises InputError with the row where a cell is empty, a probability is not a number of at
    least 0, or the pseudonyms are not each there once, the same ones as in the first row.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "matchings.csv")
    ...     _ = file.write_text("Flu,Cold,probability" + chr(10) + "u,v,0.25" + chr(10) + "v,u,0.75" + chr(10))
    ...     read_matchings(file).matchings.tolist()
    [[0, 1], [1, 0]]
    """
    frame = read_table(path, numbers=[probability])
    items = tuple(name for name in frame.columns if name != probability)
    if probability not in frame.columns or not items:
        raise InputError(
            f"{shown(Path(path))} must have the column {shortened(probability)} and one column per item, but has not. "
            "Rename the column of probabilities"
        )
    for name in frame.columns:
        refuse_cells(frame[name].is_null(), path, name, "have a value in every row")
    chance = column_of_numbers(frame, path, probability)
    refuse_cells(chance < 0, path, probability, "hold numbers of at least 0")
    pseudonyms = tuple(sorted(set(frame.select(items).row(0))))
    numbers = np.column_stack(
        [_numbers_of(frame[name], pseudonyms, len(pseudonyms)).fill_null(-1).to_numpy() for name in items]
    )
    wrong = np.flatnonzero((np.sort(numbers, axis=1) != np.arange(len(items))).any(axis=1))
    if wrong.size:
        raise InputError(
            f"each row of {shown(Path(path))} must hold every pseudonym once, the same ones as row 1, but row "
            f"{wrong[0] + 1} (counted from 1 below the header; such rows: {wrong.size}) does not. Write it so"
        )
    return MatchingsFile(numbers, chance.to_numpy(), items, pseudonyms)


def column_of_numbers(frame: "pl.DataFrame", path: PathLike, name: str) -> "pl.Series":
    """Return a column as finite numbers, or report the first invalid row."""
    numbers = written_numbers(frame[name])
    refuse_cells(~numbers.is_finite().fill_null(value=False), path, name, _A_NUMBER)
    return numbers.alias(name)


def _numbers_of(cells: "pl.Series", known: Names | None, n: int) -> "pl.Series":
    """Return the number behind each name, null where it is unknown."""
    import polars as pl

    if known is None:
        number = cells.str.strip_chars().cast(pl.Int64, strict=False)
        return number.set(~number.is_between(1, n), None) - 1
    names = pl.DataFrame({"name": pl.Series(known, dtype=pl.String), "number": np.arange(len(known))})
    return cells.alias("name").to_frame().join(names, on="name", how="left", maintain_order="left")["number"]

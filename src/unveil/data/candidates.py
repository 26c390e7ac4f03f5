"""Read what an adversary believes about each target, and the truth about the same targets, from files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.data.files.read import read_table, refuse_cells, refuse_repeats
from unveil.data.files.source import shown
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]

_OPTIONS = {"target": "--target", "candidate": "--candidate", "probability": "--probability"}


def read_candidates(
    path: PathLike,
    *,
    target: str = "target",
    candidate: str = "candidate",
    probability: str = "probability",
    tolerance: float | None = 1e-6,
) -> "pl.DataFrame":
    r"""Return each target's candidates and their probabilities: text columns ``target`` and ``candidate``, and numbers.

    Targets and candidates are names: ``01`` and ``1`` differ. The order is that of the file.

    Parameters
    ----------
    path
        CSV or Parquet with one row per target and candidate.
    target, candidate, probability
        What the columns are called in the file.
    tolerance
        How far from 1 the probabilities of a target may sum, and by half of it more for each candidate; None allows
        every sum, for scores yet to be divided by it.

    Raises
    ------
    InputError
        With the file, the column and the row, if a cell is empty, a probability is not a number of at least 0, a target
        has a candidate twice, or the probabilities of a target do not sum to 1.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "guess.csv")
    ...     _ = file.write_text("target,candidate,probability\nrecord 7,Ann,0.75\nrecord 7,Bea,0.25\n")
    ...     read_candidates(file).rows()
    [('record 7', 'Ann', 0.75), ('record 7', 'Bea', 0.25)]
    """
    import polars as pl

    columns = {"target": target, "candidate": candidate, "probability": probability}
    frame = read_table(path, columns, complete=list(columns), numbers=["probability"], options=_OPTIONS)
    numbers = frame["probability"].str.strip_chars().cast(pl.Float64, strict=False)
    refuse_cells(~numbers.is_finite().fill_null(value=False), path, probability, "hold a number such as 0.25")
    refuse_cells(numbers < 0, path, probability, "hold numbers of at least 0")
    frame = frame.with_columns(numbers)
    refuse_repeats(frame, path, ["target", "candidate"])
    if tolerance is not None:
        _refuse_sums(frame, path, tolerance)
    return frame


def read_truth(path: PathLike, *, target: str = "target", candidate: str = "candidate") -> "pl.DataFrame":
    r"""Return the true candidate of each target, as text columns; null for a target that stands for nobody.

    Raises
    ------
    InputError
        If the file cannot be read, a target has no name, or a target comes twice; with the rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "truth.csv")
    ...     _ = file.write_text("target,candidate\nrecord 7,Ann\nrecord 8,\n")
    ...     read_truth(file).rows()
    [('record 7', 'Ann'), ('record 8', None)]
    """
    frame = read_table(path, {"target": target, "candidate": candidate}, complete=["target"], options=_OPTIONS)
    refuse_repeats(frame, path, ["target"])
    return frame


def _refuse_sums(frame: "pl.DataFrame", path: PathLike, tolerance: float) -> None:
    import polars as pl

    sums = (
        frame.lazy()
        .with_row_index("row", offset=1)
        .group_by("target")
        .agg(pl.col("row").first(), pl.col("probability").sum().alias("sum"), pl.len().alias("entries"))
        .drop("target")
        .collect()
    )
    # The rule of Candidates, which would refuse these too, but knows neither the file nor the row.
    wrong = sums.filter((pl.col("sum") - 1).abs() > tolerance * (1 + 0.5 * pl.col("entries")))
    if wrong.height == 0:
        return
    zero = wrong.filter(pl.col("sum") == 0).height
    idle = f" (a target with nothing but 0, as {zero} here, then counts as not attempted)" if zero else ""
    raise InputError(
        f"the probabilities of each target of {shown(Path(path))} must sum to 1, but do not for {wrong.height} of "
        f"{sums.height} targets, the first of them in row {wrong['row'].sort()[0]} (counted from 1 below the "
        f"header). Correct them, or pass --normalise to divide them by their sum{idle}"
    )

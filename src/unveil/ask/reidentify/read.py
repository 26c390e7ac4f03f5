"""The question about re-identification asked of files: the original, perhaps a release, and whose each row is."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil.ask.reidentify.answer import ReidentifyAnswer, reidentify
from unveil.data._header import Header
from unveil.data._source import shown
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guess.candidates import NOBODY
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    import polars as pl

Integers = NDArray[np.int64]
PathLike = str | Path

#: What is done with the example inside unveil: the protection, an attack that is valid, and two that are not.
SAMPLE_PROTECT = "rank-swapping:p=10"
SAMPLE_ATTACKS = ("intersection", "intersection:p=5", "nearest")
_SAMPLE_ROWS = 120
_SAMPLE_SEED = 1996


def reidentify_files(
    original: PathLike,
    released: PathLike | None = None,
    *,
    truth: PathLike | None = None,
    identifier: str | None = None,
    missing: Sequence[str] = (),
    header: Header = "detect",
    rng: np.random.Generator,
    progress: Progress = silent,
    **settings: Any,
) -> ReidentifyAnswer:
    """Return how far attacks on a release get, and which of them are valid.

    Parameters
    ----------
    original, released
        CSV or Parquet files with one row per person; without ``released``, ``protect`` makes the release.
    truth
        CSV or Parquet with the columns ``released`` and ``original``: for each row of the release the row of the
        original it was made from, both counted from 1 below the header; empty for a row that comes from nobody.
    identifier
        Instead of ``truth``, a column of both files that names each person once. No attack sees it.
    missing
        Texts that stand for a missing value, such as "?".
    header
        Whether the first line of the tables names the columns ("yes"), is data ("no"), or has to be looked at
        ("detect").
    rng, progress, **settings
        As in :func:`unveil.ask.reidentify.answer.reidentify`.
    """
    if released is not None and (truth is None) == (identifier is None):
        seen = "neither was" if truth is None else "both were"
        raise InputError(
            f"either the truth or a column that names people must tell whose each released row is, but {seen} given. "
            "Pass --truth FILE or --id COLUMN"
        )
    if released is None and truth is not None:
        raise InputError("a truth belongs to a release made elsewhere, but no released file was named. Name it")
    progress("reading", 0.0)
    people = _read(original, "original", identifier, missing, header)
    if released is None:
        return reidentify(people, rng=rng, progress=progress, **settings)
    progress("reading", 0.5)
    table = _read(released, "release", identifier, missing, header)
    if identifier is not None:
        numbers = _by_identifier(original, released, identifier, header)
    elif truth is not None:
        numbers = read_truth(truth, released=table.rows, originals=people.rows)
    return reidentify(people, table, truth=numbers, rng=rng, progress=progress, **settings)


def _read(path: PathLike, name: str, identifier: str | None, missing: Sequence[str], header: Header) -> Table:
    table = Table.read(path, name=name, missing=missing, header=header)
    if identifier is None:
        return table
    table.column(identifier)
    told = (
        replace(each, role="identifier", role_told=True) if each.name == identifier else each for each in table.columns
    )
    return replace(table, columns=tuple(told))


def _by_identifier(original: PathLike, released: PathLike, identifier: str, header: Header) -> Integers:
    """Return the original row of each released one by a column that names each person once in both files."""
    import polars as pl

    from unveil.data.read import read_table, refuse_cells, refuse_repeats

    frames = []
    for path in (original, released):
        frame = read_table(path, {identifier: identifier}, complete=[identifier], header=header)
        refuse_repeats(frame, path, [identifier])
        frames.append(pl.DataFrame({"name": frame.get_column(identifier)}))
    people, rows = frames
    found = rows.join(people.with_row_index("place"), on="name", how="left", maintain_order="left")["place"]
    refuse_cells(found.is_null(), released, identifier, f"name a person of {shown(Path(original))}")
    return found.cast(pl.Int64).to_numpy().astype(np.int64)


def read_truth(path: PathLike, *, released: int, originals: int) -> Integers:
    """Return the original row of each released one, counted from 0, from the columns ``released`` and ``original``.

    In the file rows are counted from 1; an empty ``original`` is a released row that comes from nobody, -1 here.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "truth.csv")
    ...     _ = file.write_text("released,original" + chr(10) + "2,1" + chr(10) + "1,3" + chr(10))
    ...     read_truth(file, released=2, originals=3)
    array([2, 0])
    """
    from unveil.data.read import read_table, refuse_repeats

    frame = read_table(path, {"released": "released", "original": "original"}, complete=["released"])
    numbers = {
        name: _numbers(frame[name], path, most) for name, most in (("released", released), ("original", originals))
    }
    refuse_repeats(frame, path, ["released"])
    refuse_repeats(frame.filter(frame["original"].is_not_null()), path, ["original"])
    if frame.height < released:
        raise InputError(
            f"{shown(Path(path))} must say of each of the {released} released rows which original row it was made "
            f"from, but lacks {released - frame.height}. Add them, with an empty original for a row that comes "
            "from nobody"
        )
    truth = np.full(released, NOBODY)
    truth[numbers["released"]] = numbers["original"]
    return truth


def _numbers(cells: "pl.Series", path: PathLike, most: int) -> Integers:
    """Return row numbers counted from 0, -1 for an empty cell."""
    import polars as pl

    from unveil.data.read import refuse_cells

    plain = cells.str.strip_chars().str.contains(r"^0*[1-9][0-9]{0,15}$")
    found = cells.str.strip_chars().cast(pl.Int64, strict=False)
    wrong = cells.is_not_null() & ~(plain & (found <= most)).fill_null(False)
    refuse_cells(wrong, path, cells.name, f"hold a row number from 1 to {most}")
    return (found.fill_null(NOBODY + 1) - 1).to_numpy().astype(np.int64)


def reidentify_sample() -> Table:
    """Return the people of the example: 120 of the election study inside unveil, drawn once whatever they answered.

    >>> reidentify_sample().rows
    120
    """
    from unveil.data.samples import audit_sample

    people, _ = audit_sample()
    drawn = np.random.default_rng(_SAMPLE_SEED).choice(people.rows, _SAMPLE_ROWS, replace=False)
    return replace(people.take(np.sort(drawn)), name="original")

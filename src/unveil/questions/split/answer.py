"""Set a control group aside: draw people at random, write both parts, and state what to keep."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.files._spreadsheet import formula_warning
from unveil.data.files.read import read_as_written
from unveil.data.files.settings import FileSettings
from unveil.data.files.write import write_text
from unveil.data.table import Table
from unveil.data.table.repeated_people import repeated_people
from unveil.errors import InputError
from unveil.protections.generators.generator import SourceTable
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.result import Result
from unveil.questions.settings import takes_settings
from unveil.questions.split.findings import SplitFindings, TablePart
from unveil.questions.split.settings import SplitSettings
from unveil.questions.split.view import VIEW
from unveil.report.text import count

#: The ID that states that each row is another person, as in audits.
ONE_ROW_EACH = "none"
#: The fewest people in the control group, and among those who are released, that an audit tests.
FEWEST_PEOPLE = 20


@dataclass(frozen=True, eq=False, repr=False)
class SplitResult(Result[SplitFindings]):
    """The split of a table, with both parts as tables of the library that was passed in."""

    release_part: Any = None
    control: Any = None
    #: The content of the file of each part.
    contents: tuple[bytes, bytes] = (b"", b"")


@takes_settings(SplitSettings)
def split(
    table: Any,
    share: Any = None,
    household: str | None = None,
    id: str | None = None,  # noqa: A002
    seed: int | None = None,
    settings: SplitSettings | None = None,
    **changes: Any,
) -> SplitResult:
    """Return a table in two parts: people to release, and a control group drawn at random.

    Parameters
    ----------
    table
        Any DataFrame, list of dicts or mapping of columns, a Table, or a path.
    share
        The share of people, or of households, in the control group; 0.2 unless given.
    household
        The column that identifies households: their people stay together.
    id
        The column that identifies people: their rows stay together.
    seed
        The random seed; secret unless given.
    settings
        The settings as one object; keywords change single ones.

    Examples
    --------
    >>> import polars as pl
    >>> parts = split(pl.DataFrame({"age": range(100)}))
    >>> parts.release_part.height, parts.control.height
    (80, 20)
    """
    given = {"share": share, "household": household, "id": id, "seed": seed}
    changes |= {name: value for name, value in given.items() if value is not None}
    return _split(table, SplitSettings.merge(settings, changes))


def ask(request: Request) -> Response:
    """Return the answer to a request, with both parts as files."""
    from unveil.data.samples import path as sample_path

    settings = SplitSettings.of_request(request)
    source = sample_path("anes96.csv") if settings.file is None else settings.file
    answer = _split(source, settings, request.names.get(source, source.name))
    parts = (
        ("control", answer.contents[1], answer.control, "The control group is in {}: keep this file internal"),
        ("out", answer.contents[0], answer.release_part, "The people to release are in {}: protect this file"),
    )
    outputs = {}
    for name, content, frame, said in parts:
        part = answer.findings.control if name == "control" else answer.findings.release_part
        outputs[name] = OutputFile(
            write=_writer(content), name=part.file, said=said, is_release=True, warning=formula_warning(frame)
        )
    return Response(answer=answer, outputs=outputs)


def _writer(content: bytes) -> Callable[..., object]:
    return lambda path, **_: write_text(path, content)


def _split(given: Any, settings: SplitSettings, name: str = "") -> SplitResult:
    """Return the parts of a table; see :func:`unveil.split`."""
    if not 0 < settings.share < 1:
        raise InputError(f"share is {float(settings.share):g}; it must be in (0, 1). For 20%, write 0.2")
    source = _source(given, settings.files, name)
    table = source.table
    column = None if settings.id == ONE_ROW_EACH else settings.id
    _refuse_repeated(table, settings)
    person, person_notes = _units(table, column, "person")
    household, household_notes = (
        (None, ()) if settings.household is None else _units(table, settings.household, "household")
    )
    unit = person if household is None else linked(person, household)
    aside = drawn(unit, settings.share, rng=np.random.default_rng(settings.seed))
    _refuse_few(person, aside, settings.share)
    rows = np.flatnonzero(~aside), np.flatnonzero(aside)
    files = [
        getattr(settings, each.name) or Path(each.default) for each in SplitSettings.table() if each.kind == "output"
    ]
    contents = [replace(source, suffix=file.suffix).content(each) for each, file in zip(rows, files, strict=True)]
    parts = [
        TablePart(
            file=file.name,
            rows=each.size,
            people=np.unique(person[each]).size,
            households=None if household is None else np.unique(household[each]).size,
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for each, file, content in zip(rows, files, contents, strict=True)
    ]
    people = [part.people for part in parts]
    findings = SplitFindings(
        table=table.name,
        sha256=table.sha256,
        date=date.today().isoformat(),
        share=float(settings.share),
        unit="household" if settings.household is not None else "row" if column is None else "person",
        control_share=people[1] / sum(people),
        release_part=parts[0],
        control=parts[1],
        notes=(*table.notes, *person_notes, *household_notes),
        control_people=people[1],
    )
    release_part, control = (source.some(each) for each in rows)
    return SplitResult(findings, VIEW, release_part=release_part, control=control, contents=(contents[0], contents[1]))


def _source(given: Any, files: FileSettings, name: str) -> SourceTable:
    """Return the table as it is read, with its rows as they are written."""
    if isinstance(given, Table):
        return SourceTable(given, given.frame)
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        path = Path(given)
        # Once: a pipe cannot be read again.
        written = read_as_written(path, files)
        table = Table.from_frame(written.frame, name=name or path.name)
        return SourceTable(replace(table, sha256=_digest(path)), **written._asdict())
    return SourceTable(Table.from_frame(given), given)


def _digest(path: Path) -> str | None:
    """Return the SHA-256 of a file; None for a pipe."""
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _refuse_repeated(table: Table, settings: SplitSettings) -> None:
    """Refuse rows that look like several per person where no column identifies people."""
    ignored = () if settings.household is None else (settings.household,)
    found = None if settings.id else repeated_people(table, ignore=ignored)
    if found is not None:
        raise InputError(
            f"Column {found.column!r} of {table.name} seems to identify people with several rows: it has "
            f"{found.people:,} values in {found.rows:,} rows. State it as id, or state id={ONE_ROW_EACH} if each row "
            "is another person"
        )


def _units(table: Table, column: str | None, what: str) -> tuple[IntArray, tuple[str, ...]]:
    """Return the number of each row's person or household; a row without one is a unit of its own."""
    if column is None:
        return np.arange(table.rows), ()
    table.column(column)
    number = table.series(column).rank("dense").fill_null(0).to_numpy().astype(np.int64)
    alone = number == 0
    number[alone] = number.max() + 1 + np.arange(alone.sum())
    return number, (
        (f"{count(int(alone.sum()), 'row has', 'rows have')} no {column!r}: each is a {what} of its own.",)
        if alone.any()
        else ()
    )


def linked(person: IntArray, household: IntArray) -> IntArray:
    """Return the number of each row's group: people and households that share a row stay together.

    >>> linked(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7])).tolist()
    [0, 0, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    people, homes = np.unique(person, return_inverse=True)[1], np.unique(household, return_inverse=True)[1]
    size = int(people.max()) + 1 + int(homes.max()) + 1
    edges = coo_array((np.ones(people.size, np.int8), (people, people.max() + 1 + homes)), shape=(size, size))
    groups: IntArray = connected_components(edges, directed=False)[1][people].astype(np.int64)
    return groups


def drawn(unit: IntArray, share: Fraction, *, rng: np.random.Generator) -> BoolArray:
    """Return whether each row is set aside: a simple random sample of the units, with all their rows.

    >>> drawn(np.array([0, 0, 1, 1]), Fraction(1, 2), rng=np.random.default_rng(1)).sum()
    np.int64(2)
    """
    units = np.unique(unit)
    return np.isin(unit, rng.permutation(units)[: round(share * units.size)])


def _refuse_few(person: IntArray, aside: BoolArray, share: Fraction) -> None:
    """Refuse parts with too few people for an audit."""
    people = np.unique(person).size
    control = np.unique(person[aside]).size
    if min(control, people - control) < FEWEST_PEOPLE:
        raise InputError(
            f"share is {float(share):g}: of {count(people, 'person', 'people')}, {people - control} are left to "
            f"release and {control} are the control group. An audit needs {FEWEST_PEOPLE} in each. "
            "Change the share, or add people"
        )

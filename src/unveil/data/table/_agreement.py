"""Bring one column of several tables to one type and role.

The released cells are read beside the people then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from unveil.data.files.column_store import arrays_on_disk
from unveil.data.table._cell_columns import PeopleValues
from unveil.data.table._cell_reading import exact_values, read_texts, read_values, taken_out, with_intervals
from unveil.data.table._rounding import recognize
from unveil.data.table.cells import NOBODY, SHOWN, Cells, CodeColumn, texts_of
from unveil.data.table.coded_columns import CellColumn, cells_of, words_of
from unveil.data.table.forms import DeclaredKind, normal, refuse_lost, text_of, without_blanks
from unveil.data.table.kinds import read_as, without
from unveil.data.table.markers import Marker
from unveil.data.table.rules import in_order, lower_end
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.column import Column
    from unveil.data.table.table import Table

#: Who is believed first; all guesses are alike, and there the original is.
_AUTHORITY = ("given", "dictionary", "labels")
_NOTED = 0.95
_LEAST_READ = 0.5
_MEANS = {
    "number": "numbers",
    "ordered": "values with an order",
    "date": "dates",
    "boolean": "two values, one for no and one for yes",
}
_UNREADABLE = Marker("", "unreadable")
_WORDS = ("category", "text")


class AgreedColumn(NamedTuple):
    """Column of one table after agreement, with cell markers and a note.

    ``cells`` are what the cells of a release stand for, where some are coarse.
    """

    column: "Column"
    values: CellColumn
    marked: "pl.Series | None"
    note: str = ""
    cells: Cells | None = None

    @property
    def series(self) -> "pl.Series":
        """Its values in memory."""
        return cells_of(self.values).alias(self.column.name)

    @property
    def held(self) -> CodeColumn:
        """Content of the column."""
        return CodeColumn(self.series, self.marked, self.column.markers)


def one_kind(tables: Sequence["Table"], name: str, *, masked: bool) -> list[AgreedColumn]:
    """Return the column of each table with a common type and role.

    The kind is the one that was told, else that of a dictionary, else that of labels in a file, else that of the first
    table with a value; the role is the one that was told, else that of the first table. The second table is the
    released one: its cells are read as sets of the values that the others have, unless they have been.
    """
    columns = [table.column(name) for table in tables]
    leader = _leader(tables, columns)
    lead = columns[leader]
    role = next((each for each in columns if each.role_told), columns[0])
    values = [table.content.cells[name] for table in tables]
    form: DeclaredKind = lead.kind
    if lead.kind == "ordered":
        form = _common_levels(values, values[leader], lead, name) or lead.kind
    unread = len(tables) > 1 and tables[1].cells is None
    parts, written, raw = [], values[0], values[0]
    for place, (table, column, cells) in enumerate(zip(tables, columns, values, strict=True)):
        part, before = AgreedColumn(column, cells, table.marked.get(name)), cells
        if place == 1 and not unread:
            pass  # what has been read stays as it was written
        elif place != leader and not _follows(part, lead):
            part, before, cells = _followed(table, part, lead, values[leader], form)
        elif not isinstance(form, str) and _levels(cells) != list(form):
            part = part._replace(values=read_as(part.series, form, ()).values)
        if place == 1:
            written, raw = before, cells
        elif part.values is not before and place == 0:
            why = f"its kind is {lead.kind} in another table"
            refuse_lost(cells_of(before).alias(name), part.series, form, why, table.name)
        elif part.values is not before:
            part = _with_unreadable(table, part, before, lead)
        reason = part.column.reason
        if (column.kind, column.role) != (lead.kind, role.role):
            whose = tables[leader].name, tables[columns.index(role)].name
            reason = f"{lead.kind}: as in the {whose[0]}; {role.role}: as in the {whose[1]}"
        settled = replace(part.column, kind=lead.kind, confidence=lead.confidence, role=role.role, reason=reason)
        parts.append(part._replace(column=replace(settled, follows=column.follows or place != leader)))
    if unread:
        parts[1] = _read(tables[1], parts, written, raw, masked=masked)
    return _with_common_markers(parts, lead)


def _follows(part: AgreedColumn, lead: "Column") -> bool:
    """Return whether a column has been read like the leading one already."""
    import polars as pl

    column = part.column
    same = column.follows and column.kind == lead.kind and column.markers == lead.markers
    return same and (lead.kind in _WORDS or part.values.dtype != pl.String)


def _read(
    table: "Table", parts: Sequence[AgreedColumn], written: CellColumn, raw: CellColumn, *, masked: bool
) -> AgreedColumn:
    """Return the released column, with cell meanings for generalized cells.

    ``raw`` are the cells as they were written, and ``written`` the same without markers.
    """
    part, original, kind = parts[1], parts[0].column, parts[1].column.kind
    persons = [each for place, each in enumerate(parts) if place != 1]
    known = _are_known(persons, part) if kind in _WORDS else part.values.null_count() == written.null_count()
    gaps = part.held.gaps() if part.values.null_count() else {}
    if not known:
        series = cells_of(written).alias(part.column.name)
        texts, people = texts_of(series), PeopleValues([each.held for each in persons])
        cells = read_texts(people, part.held._replace(values=texts), kind, original.hierarchy, masked=masked)
        if cells.coarse:
            shown, note = raw if raw.dtype == texts.dtype else texts, _said_of_unread(table, part.column, cells)
            part = part._replace(values=shown, cells=cells, note=note)
        else:
            part = part._replace(values=exact_values(cells, series))
            part = part if kind in _WORDS else _with_unreadable(table, part, texts, part.column)
    elif any(map(part.held.hides, gaps)) or (gaps and masked and taken_out(persons[0].held, part.held)):
        people = PeopleValues([each.held for each in persons])
        part = part._replace(cells=read_values(people, part.held, kind, masked=masked))
    if masked and kind == "number" and original.role in ("known", "sensitive") and not original.exact:
        part = _with_rounding(table, part, [each.held for each in persons])
    return part._replace(column=replace(part.column, missing=part.values.null_count()))


def _with_rounding(table: "Table", part: AgreedColumn, persons: Sequence[CodeColumn]) -> AgreedColumn:
    """Return released numbers as intervals if rounded or truncated."""
    shown = part.series if part.cells is None else _single_numbers(part.cells)
    found = None if shown is None else recognize(persons[0].values, shown)
    if found is None:
        return part
    people = PeopleValues(persons)
    cells = part.cells or read_values(people, part.held, part.column.kind, masked=False)
    name = part.column.name
    note = (
        f"column {name!r} of the {table.name} is read as {found.said}. If that is wrong, declare it as exact "
        f"(exact: {name})"
    )
    said = ". ".join(filter(None, (part.note, note)))
    return part._replace(cells=with_intervals(cells, found.intervals, people), note=said)


def _are_known(people: Sequence[AgreedColumn], released: AgreedColumn) -> bool:
    """Return whether people have all words of a released column."""
    import polars as pl

    have = pl.concat([words_of(part.values) for part in people])
    return bool(words_of(released.values).is_in(have.implode()).all())


def _single_numbers(cells: Cells) -> "pl.Series | None":
    """Return the numbers by row, or None if any cell is an interval."""
    shown = cells.state == SHOWN
    if not shown.any() or not cells.single[shown].all():
        return None
    return cells.ranges.low.gather(cells.of_row[shown[cells.of_row]])


def _said_of_unread(table: "Table", column: "Column", cells: Cells) -> str:
    """Return a note on unreadable cells, or reject a mostly unreadable column."""
    if column.kind in _WORDS:
        return ""
    return _unreadable(table, column, int((cells.state[cells.of_row] == NOBODY).sum()), "such values, ranges or stars")


def with_shares(tables: Sequence["Table"], cells: Mapping[str, Cells | None]) -> dict[str, Cells]:
    """Return cells weighted by the people in each, if any are generalized."""
    if not any(cells.values()):
        return {}
    people = (tables[0], *tables[2:])
    return {
        name: each
        or kept_cells(
            tables[1],
            read_values(
                PeopleValues([table.held(name) for table in people]),
                tables[1].held(name),
                tables[1].column(name).kind,
                masked=False,
            ),
        )
        for name, each in cells.items()
    }


def kept_cells(table: "Table", cells: Cells) -> Cells:
    """Return the cell meanings of a table, with cell numbers on disk."""
    return replace(cells, of_row=arrays_on_disk(cells.of_row, table.store))


def _leader(tables: Sequence["Table"], columns: Sequence["Column"]) -> int:
    """Return the position of the table that determines the type."""
    told = [position for position, column in enumerate(columns) if column.kind_told and not column.follows]
    kinds = {columns[position].kind for position in told}
    if "ordered" in kinds and kinds <= {"ordered", "category", "text"}:
        return next(position for position in told if columns[position].kind == "ordered")
    for position in told:
        one, other = columns[told[0]].kind, columns[position].kind
        if other != one and {one, other} != {"category", "text"}:
            name = columns[position].name
            raise InputError(
                f"column {name!r} must have one type in all tables, but is declared {one} in the "
                f"{tables[told[0]].name} and {other} in the {tables[position].name}. Declare the same type for both"
            )
    # A column without a value can be of any kind.
    filled = [position for position, table in enumerate(tables) if columns[position].missing < table.rows]
    ranks = {
        position: _AUTHORITY.index(columns[position].confidence)
        for position in filled
        if columns[position].confidence in _AUTHORITY
    }
    best = min(ranks.values(), default=0)
    return next((place for place in ranks if ranks[place] == best), next(iter(told or filled), 0))


def _followed(
    table: "Table", part: AgreedColumn, lead: "Column", leading: CellColumn, form: DeclaredKind
) -> tuple[AgreedColumn, CellColumn, CellColumn]:
    """Return the column of another table, read with the leading type.

    A cell that is in the second and null in the first cannot be read so.
    """
    column = part.column
    words = lead.kind in _WORDS
    same_form = column.kind == lead.kind and part.values.dtype == leading.dtype and isinstance(form, str)
    if column.kind == lead.kind == "date" and same_form and _day_and_month_exchanged(column, lead):
        part = part._replace(values=_exchanged(part.series))
    if same_form and not column.markers and not lead.markers:
        part = part._replace(values=_matched(part.values, leading)) if words else part
        return part, part.values, part.values
    raw = _as_written(part, column, to_boolean=lead.kind == "boolean")
    if words:
        raw = cells_of(_matched(text_of(raw), leading))
    elif not isinstance(form, str):
        raw = cells_of(_matched(text_of(raw), leading.dtype.categories))  # type: ignore[attr-defined]
    raw = without_blanks(normal(raw, table.name))
    told = [marker for marker in column.markers if marker.told and marker not in lead.markers]
    settled = read_as(raw, form, (*lead.markers, *told))
    before = without(raw, settled.marked) if not words else settled.values
    column = replace(column, markers=settled.markers, missing=settled.values.null_count())
    return AgreedColumn(column, settled.values, settled.marked), before, raw


def _as_written(part: AgreedColumn, column: "Column", *, to_boolean: bool) -> "pl.Series":
    """Return the cells as originally written, with markers as texts."""
    import polars as pl

    values = part.series
    if values.dtype == pl.Boolean and not to_boolean and len(column.written) == 2:
        words = {"false": column.written[0], "true": column.written[1]}
        values = values.cast(pl.String).replace_strict(words, return_dtype=pl.String)
    if part.marked is None or not column.markers or not values.null_count():
        return values
    return CodeColumn(values, part.marked, column.markers).texts()


def _with_unreadable(table: "Table", part: AgreedColumn, before: CellColumn, lead: "Column") -> AgreedColumn:
    """Return the column with markers for invalid cells, or reject it."""
    import polars as pl

    lost = part.series.is_null() & cells_of(before).is_not_null()
    if not lost.any():
        return part
    note = _unreadable(table, lead, int(lost.sum()), "such values")
    marked = part.marked if part.marked is not None else pl.repeat(0, lost.len(), dtype=pl.UInt8, eager=True)
    markers = (*part.column.markers, _UNREADABLE)
    return part._replace(column=replace(part.column, markers=markers), marked=marked.set(lost, len(markers)), note=note)


def _unreadable(table: "Table", column: "Column", count: int, expected: str) -> str:
    """Return a note on N unreadable cells, or reject the column."""
    means, name, rows = _MEANS[column.kind], column.name, table.rows
    if count > (1 - _LEAST_READ) * rows:
        raise InputError(
            f"column {name!r} holds {means} in the original, but {count / rows:.0%} of the cells of the {table.name} "
            f"are no {expected}. Tell its kind with kinds={{{name!r}: 'category'}} (or another), or name the texts "
            f"that stand for no value with missing={{{name!r}: ['…']}}".replace("%", " %")
        )
    if not count:
        return ""
    warning = "" if count <= (1 - _NOTED) * rows else "Warning: "
    return (
        f"{warning}{count} of {rows} cells of {name!r} in the {table.name} are not {means} as in the original: "
        "they match no person"
    )


def _with_common_markers(parts: Sequence[AgreedColumn], lead: "Column") -> list[AgreedColumn]:
    """Return the columns with one list of markers, those of the leading table first."""
    import polars as pl

    place = {marker.key: (at, marker) for at, marker in enumerate(lead.markers, 1)}
    for part in parts:
        for marker in part.column.markers:
            place.setdefault(marker.key, (len(place) + 1, marker))
    markers = tuple(marker for _, marker in place.values())
    common = []
    for part in parts:
        marked = part.marked
        if marked is not None and part.column.markers != markers:
            new = pl.Series([0, *(place[marker.key][0] for marker in part.column.markers)], dtype=pl.UInt8)
            marked = new.gather(marked.cast(pl.UInt32)).alias(marked.name)
        common.append(part._replace(column=replace(part.column, markers=markers), marked=marked))
    return common


def _matched(values: CellColumn, leading: CellColumn) -> CellColumn:
    """Return words in the leading spelling, ignoring case, blanks, and zeros."""
    own, other = words_of(leading), words_of(values)
    odd = other.filter(~other.is_in(own.implode())).to_list()
    if not odd or len(odd) == other.len() > 1_000:
        return values
    plain: dict[str, set[str]] = {}
    for word in own.to_list():
        plain.setdefault(Marker(word, "missing").key, set()).add(word)
    found = {word: plain.get(Marker(word, "missing").key, set()) for word in odd}
    exchange = {word: next(iter(words)) for word, words in found.items() if len(words) == 1}
    return cells_of(values).replace(exchange) if exchange else values


def _day_and_month_exchanged(column: "Column", lead: "Column") -> bool:
    ways = {"day/month/year", "month/day/year"}
    return column.confidence == "uncertain" and set(column.written) | set(lead.written) == ways


def _exchanged(moments: "pl.Series") -> "pl.Series":
    import polars as pl

    parts = {"year": moments.dt.year(), "month": moments.dt.day(), "day": moments.dt.month()}
    made = pl.DataFrame(parts).select(pl.datetime("year", "month", "day", time_unit="us")).to_series()
    return made.alias(moments.name)


def _levels(values: CellColumn) -> list[str] | None:
    import polars as pl

    return values.dtype.categories.to_list() if isinstance(values.dtype, pl.Enum) else None


def _common_levels(values: Sequence[CellColumn], leading: CellColumn, lead: "Column", name: str) -> list[str] | None:
    """Return the common levels of all tables, or None.

    Others must have one longest list that holds all others in the same order.
    """
    import polars as pl

    every = [levels for series in values if (levels := _levels(series)) is not None]
    if _levels(leading) is None:
        return None
    if lead.confidence == "likely":
        # Few bands of a release may not look like bands by themselves.
        words = [words_of(each).to_list() for each in values if each.dtype == pl.String]
        bands = [word for part in words for word in part if lower_end(word) is not None]
        return in_order(list({*(level for levels in every for level in levels), *bands}))
    longest = max(every, key=len)
    for levels in every:
        if [level for level in longest if level in set(levels)] != levels:
            raise InputError(
                f"column {name!r} must have one list of levels that holds for all tables, but its levels differ. "
                f"Tell them with kinds={{{name!r}: ['…', '…']}}, from the lowest to the highest"
            )
    return longest

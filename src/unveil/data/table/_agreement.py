"""Bring one column of several tables to one kind and role: that of the original, unless somebody knows better."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from unveil.data.table.bands import in_order, lower_end
from unveil.data.table.forms import ToldKind, normal, refuse_lost, text_of, without_blanks
from unveil.data.table.kinds import Settled, read_as, without
from unveil.data.table.markers import Marker
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.table import Column, Table

#: Who is believed first; all guesses are alike, and there the original is.
_AUTHORITY = ("told", "dictionary", "labels")
_NOTED = 0.95
_LEAST_READ = 0.5
_MEANS = {
    "number": "numbers",
    "ordered": "values with an order",
    "date": "dates",
    "boolean": "two values, one for no and one for yes",
}
_UNREADABLE = Marker("", "unreadable")


class Part(NamedTuple):
    """A column of one table as it agrees with the others, which marker each cell holds, and what must be said."""

    column: "Column"
    values: "pl.Series"
    marked: "pl.Series | None"
    note: str = ""


def one_kind(tables: Sequence["Table"], name: str) -> list[Part]:
    """Return the column of each table, all of one kind and role.

    The kind is the one that was told, else that of a dictionary, else that of labels in a file, else that of the first
    table with a value; the role is the one that was told, else that of the first table.
    """
    columns = [table.column(name) for table in tables]
    leader = _leader(tables, columns)
    lead = columns[leader]
    role = next((each for each in columns if each.role_told), columns[0])
    values = [table.frame.get_column(name) for table in tables]
    form: ToldKind = lead.kind
    if lead.kind == "ordered":
        form = _common_levels(values, values[leader], lead, name) or lead.kind
    parts = []
    for place, (table, column, cells) in enumerate(zip(tables, columns, values, strict=True)):
        part = Part(column, cells, table.marked.get(name))
        if place != leader and not (column.follows and column.kind == lead.kind and column.markers == lead.markers):
            part = _following(table, part, lead, values[leader], form, strict=place == 0)
        elif not isinstance(form, str) and _levels(cells) != list(form):
            part = part._replace(values=read_as(cells, form, (), table=table.name).values)
        reason = part.column.reason
        if (column.kind, column.role) != (lead.kind, role.role):
            whose = tables[leader].name, tables[columns.index(role)].name
            reason = f"{lead.kind}: as in the {whose[0]}; {role.role}: as in the {whose[1]}"
        settled = replace(part.column, kind=lead.kind, confidence=lead.confidence, role=role.role, reason=reason)
        parts.append(part._replace(column=replace(settled, follows=column.follows or place != leader)))
    return _with_common_markers(parts, lead)


def _leader(tables: Sequence["Table"], columns: Sequence["Column"]) -> int:
    """Return the position of the table whose kind of the column counts for all."""
    told = [position for position, column in enumerate(columns) if column.kind_told and not column.follows]
    kinds = {columns[position].kind for position in told}
    if "ordered" in kinds and kinds <= {"ordered", "category", "text"}:
        return next(position for position in told if columns[position].kind == "ordered")
    for position in told:
        one, other = columns[told[0]].kind, columns[position].kind
        if other != one and {one, other} != {"category", "text"}:
            name = columns[position].name
            raise InputError(
                f"column {name!r} must be of one kind in all tables, but was told to be {one} in the "
                f"{tables[told[0]].name} and {other} in the {tables[position].name}. Tell the same kind for both"
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


def _following(
    table: "Table", part: Part, lead: "Column", leading: "pl.Series", form: ToldKind, *, strict: bool
) -> Part:
    """Return the column of another table read as that of the leading one; cells that cannot be are marked as such."""
    column = part.column
    if column.kind == lead.kind == "date" and _day_and_month_exchanged(column, lead):
        part = part._replace(values=_exchanged(part.values))
    same_form = column.kind == lead.kind and part.values.dtype == leading.dtype and isinstance(form, str)
    words = lead.kind in ("category", "text")
    if same_form and not column.markers and not lead.markers:
        return part._replace(values=_matched(part.values, leading)) if words else part
    raw = _as_written(part, column, to_boolean=lead.kind == "boolean")
    if words:
        raw = _matched(text_of(raw), leading)
    elif not isinstance(form, str):
        raw = _matched(text_of(raw), leading.dtype.categories)  # type: ignore[attr-defined]
    raw = without_blanks(normal(raw, table.name))
    told = [marker for marker in column.markers if marker.told and marker not in lead.markers]
    settled = read_as(raw, form, (*lead.markers, *told), table=table.name)
    before = without(raw, settled.marked) if not words else settled.values
    if strict:
        why = f"its kind is {lead.kind} in another table"
        refuse_lost(before, settled.values, form, why, table.name)
    return _with_unreadable(table, column, before, settled, lead)


def _as_written(part: Part, column: "Column", *, to_boolean: bool) -> "pl.Series":
    """Return the cells as they were written, as far as that is known: markers as their texts, truth values as words."""
    import polars as pl

    values = part.values
    if values.dtype == pl.Boolean and not to_boolean and len(column.written) == 2:
        words = {"false": column.written[0], "true": column.written[1]}
        values = values.cast(pl.String).replace_strict(words, return_dtype=pl.String)
    if part.marked is None or not column.markers:
        return values
    texts = pl.Series([None, *(marker.text for marker in column.markers)], dtype=pl.String)
    held = texts.gather(part.marked.cast(pl.UInt32))
    return text_of(values).zip_with(values.is_not_null(), held).alias(values.name)


def _with_unreadable(table: "Table", column: "Column", before: "pl.Series", settled: Settled, lead: "Column") -> Part:
    """Return the column with a marker for cells that are none of the kind, or refuse it if they are most of it."""
    lost = settled.values.is_null() & before.is_not_null()
    part = Part(
        replace(column, markers=settled.markers, missing=settled.values.null_count()), settled.values, settled.marked
    )
    count, rows = int(lost.sum()), lost.len()
    if not count:
        return part
    means, name = _MEANS[lead.kind], column.name
    if count > (1 - _LEAST_READ) * rows:
        raise InputError(
            f"column {name!r} holds {means} in the original, but {count / rows:.0%} of the cells of the {table.name} "
            f"are no such values. Tell its kind with kinds={{{name!r}: 'category'}} (or another), or name the texts "
            f"that stand for no value with missing={{{name!r}: ['…']}}".replace("%", " %")
        )
    import polars as pl

    warning = "" if count <= (1 - _NOTED) * rows else "Warning: "
    note = (
        f"{warning}{count} of {rows} cells of {name!r} in the {table.name} are no {means} as in the original: "
        "they fit nobody"
    )
    marked = part.marked if part.marked is not None else pl.repeat(0, rows, dtype=pl.UInt8, eager=True)
    markers = (*settled.markers, _UNREADABLE)
    return Part(replace(part.column, markers=markers), part.values, marked.set(lost, len(markers)), note)


def _with_common_markers(parts: Sequence[Part], lead: "Column") -> list[Part]:
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


def _matched(values: "pl.Series", leading: "pl.Series") -> "pl.Series":
    """Return words as the leading table writes them, where they differ by case, outer blanks or as 1, 1.0 and 01 do."""
    own = leading.drop_nulls().unique()
    other = values.drop_nulls().unique()
    odd = other.filter(~other.is_in(own.implode())).to_list()
    if not odd or len(odd) == other.len() > 1_000:
        return values
    plain: dict[str, set[str]] = {}
    for word in own.to_list():
        plain.setdefault(Marker(word, "missing").key, set()).add(word)
    found = {word: plain.get(Marker(word, "missing").key, set()) for word in odd}
    exchange = {word: next(iter(words)) for word, words in found.items() if len(words) == 1}
    return values.replace(exchange) if exchange else values


def _day_and_month_exchanged(column: "Column", lead: "Column") -> bool:
    ways = {"day/month/year", "month/day/year"}
    return column.confidence == "unsure" and set(column.written) | set(lead.written) == ways


def _exchanged(moments: "pl.Series") -> "pl.Series":
    import polars as pl

    parts = {"year": moments.dt.year(), "month": moments.dt.day(), "day": moments.dt.month()}
    made = pl.DataFrame(parts).select(pl.datetime("year", "month", "day", time_unit="us")).to_series()
    return made.alias(moments.name)


def _levels(values: "pl.Series") -> list[str] | None:
    import polars as pl

    return values.dtype.categories.to_list() if isinstance(values.dtype, pl.Enum) else None


def _common_levels(values: Sequence["pl.Series"], leading: "pl.Series", lead: "Column", name: str) -> list[str] | None:
    """Return the levels for all tables, None if there are none: bands by their lower ends, others as they were given.

    Others must have one longest list that holds all others in the same order.
    """
    import polars as pl

    every = [levels for series in values if (levels := _levels(series)) is not None]
    if _levels(leading) is None:
        return None
    if lead.confidence == "likely":
        # Few bands of a release may not look like bands by themselves.
        words = [series.drop_nulls().unique().to_list() for series in values if series.dtype == pl.String]
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

"""Join child tables to one row per person, and check their keys."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unveil.data.table import Hierarchy, Role, Table
from unveil.data.table.child_keys import PeopleKeys, key_texts, people_keys, time_column
from unveil.data.table.child_summaries import Summary, sorted_rows, summaries, with_summaries
from unveil.data.table.child_tables import ChildRelease, ChildTable
from unveil.data.table.column import listed
from unveil.errors import InputError
from unveil.questions.audit.children.findings import PeopleTables, TableFacts
from unveil.questions.audit.children.settings import ChildSource
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.audit.settings import AuditSettings

#: What the only table of an audit is called, where its rows are those of several people.
RECORDS = "records"
#: The three groups of people, as messages call them.
_ORIGINAL, _RELEASE, _CONTROL = "original", "release", "control group"


@dataclass(frozen=True, kw_only=True, eq=False)
class JoinedTables:
    """Tables with one row per person, the child tables, and settings that name their columns."""

    original: Table
    released: Table
    control: Table | None
    children: tuple[ChildRelease, ...]
    finding: PeopleTables
    settings: AuditSettings
    #: All tables as they were read.
    released_tables: tuple[Table, ...] = field(repr=False)
    original_tables: tuple[Table, ...] = field(repr=False)
    notes: tuple[str, ...] = ()


def join_people(
    original: Table | None,
    released: Table | None,
    control: Table | None,
    sources: Sequence[ChildSource],
    settings: AuditSettings,
    *,
    masked: bool = False,
) -> JoinedTables:
    """Return one row per person: the columns of the people tables, and summaries of the child tables.

    The people tables may be missing; the tables of ``sources`` are read. Orphans of the release are left out and
    counted, those of the original and of the control group are refused.
    """
    key = settings.person_key
    if key is None:
        raise InputError("Child tables need the person key, a column of every table. Set id to it")
    _refuse_uneven(original, released, control, sources)
    parents = {_ORIGINAL: original, _RELEASE: released, _CONTROL: control}
    own = {where: _tables(sources, where) for where in parents}
    keys = {where: people_keys(parents[where], tables, key, where=where) for where, tables in own.items() if tables}
    for where, found in keys.items():
        if where != _RELEASE:
            found.refuse_problems(where)
    made = [_child(source, own, keys, key, settings, masked) for source in sources]
    children = tuple(child for child, _ in made)
    flat: dict[str, Table] = {}
    several: dict[str, list[Summary]] = {}
    shared = int(keys[_RELEASE].keys.is_in(keys[_ORIGINAL].keys.implode()).sum())
    for where, found in keys.items():
        several[where] = [each for child in children for each in _summaries(child, where, found.people)]
        # Keys of a masked release say whose a row is, where they are still those of people.
        kept = where != _RELEASE or (masked and shared > 0)
        flat[where] = with_summaries(
            parents[where],
            several[where],
            name=where if where != _CONTROL else "control",
            without=() if kept else (key,),
            keys=found.keys.alias(key) if kept else None,
        )
    return JoinedTables(
        original=flat[_ORIGINAL],
        released=flat[_RELEASE],
        control=flat.get(_CONTROL),
        children=tuple(_summarized(child, several[_ORIGINAL]) for child in children),
        finding=PeopleTables(
            key=key,
            has_parent=original is not None,
            people=keys[_ORIGINAL].people,
            released_people=keys[_RELEASE].people,
            shared_keys=shared,
            tables=tuple(_facts(source, child, keys) for source, child in zip(sources, children, strict=True)),
            sources=_sources(children, several[_ORIGINAL]),
        ),
        settings=_with_summaries_named(settings, flat[_ORIGINAL], several[_ORIGINAL]),
        released_tables=(*(() if released is None else (released,)), *own[_RELEASE].values()),
        original_tables=(*(() if original is None else (original,)), *own[_ORIGINAL].values()),
        notes=tuple(note for _, note in made if note),
    )


def repeated_source(original: Any, released: Any, control: Any, settings: AuditSettings) -> ChildSource | None:
    """Return a single table with several rows per person as a child table without a people table.

    It is one where the release has the person key too, so that its people have several rows as well.
    """
    tables = (original, released, *(() if control is None else (control,)))
    key = settings.person_key
    if key is None or not all(isinstance(each, Table) for each in tables):
        return None
    if not all(key in each.column_names for each in tables):
        return None
    if not any(each.is_used and each.name not in settings.identifiers for each in original.columns):
        return None
    repeats = (key_texts(each, key) for each in (original, released))
    if any(each.null_count() or each.n_unique() == each.len() for each in repeats):
        return None
    return ChildSource(
        name=RECORDS, original=original, released=released, control=control, time=settings.times.get(RECORDS)
    )


def _tables(sources: Sequence[ChildSource], where: str) -> dict[str, Table]:
    at = {_ORIGINAL: "original", _RELEASE: "released", _CONTROL: "control"}[where]
    return {each.name: getattr(each, at) for each in sources if getattr(each, at) is not None}


def _refuse_uneven(
    original: Table | None, released: Table | None, control: Table | None, sources: Sequence[ChildSource]
) -> None:
    """Refuse tables of which one has a release or a control group, and another one does not."""
    if (original is None) != (released is None):
        raise InputError("The people table is given without its release. Pass both, or only child tables")
    has = [(each.name, each.control is not None) for each in sources]
    have = {control is not None, *(each for _, each in has)} if original is not None else {each for _, each in has}
    if original is None and control is not None:
        raise InputError("A control group of people is given without a people table. Pass the original of it too")
    if len(have) == 1:
        return
    lacking = next((repr(name) for name, each in has if not each), "the people table")
    raise InputError(
        f"Some tables have a control group, but {lacking} has none. The control group needs all tables: add "
        "it to each, or to none"
    )


def _child(
    source: ChildSource,
    own: Mapping[str, Mapping[str, Table]],
    keys: Mapping[str, PeopleKeys],
    key: str,
    settings: AuditSettings,
    masked: bool,
) -> tuple[ChildRelease, str]:
    """Return a child table with agreed columns, its rows by person and time; and a note on its time column."""
    raw = {where: own[where][source.name] for where in keys}
    first = _with_roles(raw[_ORIGINAL], source.name, settings)
    note, time = "", source.time
    if time is None:
        time, times = time_column(first, ignore=[key])
        if len(times) > 1:
            note = (
                f"The rows of {source.name!r} have no order: {listed(times)} are all points in time. Name one as the "
                "time column."
            )
    else:
        first.column(time)
    raw[_ORIGINAL] = first
    bare = {where: _without_key(table, key, source.name) for where, table in raw.items()}
    tables = {}
    for where, found in keys.items():
        order = time if time in bare[where].column_names else None
        rows, person = sorted_rows(bare[where], found.persons[source.name], order)
        tables[where] = ChildTable(source.name, rows, person, found.people, time)
    child = ChildRelease.of(tables[_ORIGINAL], tables[_RELEASE], tables.get(_CONTROL), masked=masked)
    if time is not None and time not in child.release.original.column_names:
        child = replace(child, time=None)
        note = f"The rows of {source.name!r} have no order: not all its tables have the column {time!r}."
    return child, note


def _without_key(table: Table, key: str, name: str) -> Table:
    """Return a child table without its key; refuse one of keys alone."""
    kept = [each for each in table.column_names if each != key]
    if not kept:
        raise InputError(f"The table {name!r} has no column besides the person key. Add its columns, or leave it out")
    return table.select(kept)


def _summaries(child: ChildRelease, where: str, people: int) -> Iterable[Summary]:
    release = child.release
    rows, person = {
        _ORIGINAL: (release.original, child.person),
        _RELEASE: (release.released, child.released_person),
        _CONTROL: (release.control, child.control_person),
    }[where]
    if rows is None or person is None:
        return ()
    return summaries(ChildTable(child.name, rows, person, people, child.time))


def _summarized(child: ChildRelease, made: Iterable[Summary]) -> ChildRelease:
    names = (each.column.name for each in made)
    return replace(child, summaries=tuple(name for name in names if name.startswith(f"{child.name}: ")))


def _sources(children: Iterable[ChildRelease], made: Iterable[Summary]) -> dict[str, str]:
    """Return in words what each summary is made of."""
    names = [child.name for child in children]
    table = {each.column.name: next(n for n in names if each.column.name.startswith(f"{n}: ")) for each in made}
    return {
        each.column.name: f"{each.source} of {table[each.column.name]}"
        if each.source
        else f"rows per person in {table[each.column.name]}"
        for each in made
    }


def _facts(source: ChildSource, child: ChildRelease, keys: Mapping[str, PeopleKeys]) -> TableFacts:
    name, original, released = child.name, keys[_ORIGINAL], keys[_RELEASE]
    with_rows = np.bincount(child.person), np.bincount(child.released_person)
    mean = [float(each[each > 0].mean()) for each in with_rows]
    return TableFacts(
        name=name,
        time=child.time or "",
        rows=source.original.rows,
        released_rows=source.released.rows,
        control_rows=None if source.control is None else source.control.rows,
        people=original.with_rows(name),
        released_people=released.with_rows(name),
        rows_per_person=mean[0],
        released_rows_per_person=mean[1],
        orphans=released.orphans[name],
        empty_keys=released.empty[name],
        digests=tuple(each.sha256 for each in source.every),
    )


def _with_roles(table: Table, name: str, settings: AuditSettings) -> Table:
    """Return a child table with the roles and readings of its columns that settings give."""

    def names(stated: Iterable[str], column: str) -> bool:
        ends = (f" {column}", f" {column} in days")
        return any(each == column or (each.startswith(f"{name}: ") and each.endswith(ends)) for each in stated)

    columns = []
    for column in table.columns:
        role: Role | None = None
        if names(settings.sensitive, column.name):
            role = "sensitive"
        elif column.name in settings.identifiers:
            role = "identifier"
        elif names(settings.quasi_identifiers, column.name):
            role = "known"
        elif settings.quasi_identifiers and column.role == "known":
            role = "ignored"
        columns.append(column if role is None else replace(column, role=role, role_told=True))
    there = set(table.column_names)
    hierarchies = {
        each: held if isinstance(held, Hierarchy) else Hierarchy.read(held)
        for each, held in settings.hierarchies.items()
        if each in there
    }
    read = replace(table, columns=tuple(columns))
    return read.with_readings(hierarchies=hierarchies, exact=[each for each in settings.exact if each in there])


def _with_summaries_named(settings: AuditSettings, flat: Table, made: Sequence[Summary]) -> AuditSettings:
    """Return settings in which summaries stand for the columns of child tables that they are made of."""
    own = set(flat.column_names)
    of: dict[str, list[str]] = {}
    for each in made:
        of.setdefault(each.source, []).append(each.column.name)

    def meant(names: Iterable[str]) -> tuple[str, ...]:
        found: list[str] = []
        for name in names:
            found += [*([name] if name in own or name not in of else []), *of.get(name, [])]
        return tuple(dict.fromkeys(found))

    def scenario(each: AttackScenario) -> AttackScenario:
        return replace(each, first=meant(each.first), second=meant(each.second))

    by = settings.group_by
    children = {name for name in of if name not in own}
    return replace(
        settings,
        # They stand in the release.
        tables=(),
        sensitive=meant(settings.sensitive),
        quasi_identifiers=meant(settings.quasi_identifiers),
        identifiers=tuple(each for each in settings.identifiers if each in own),
        scenarios=None if settings.scenarios is None else tuple(scenario(each) for each in settings.scenarios),
        group_by=by if by is None or by in own else meant([by])[0],
        exact=tuple(each for each in settings.exact if each not in children),
        hierarchies={each: held for each, held in settings.hierarchies.items() if each not in children},
    )

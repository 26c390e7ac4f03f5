"""Settings of an audit for child tables: several rows per person."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError, did_you_mean
from unveil.questions.settings import Settings, setting

if TYPE_CHECKING:
    from unveil.data.files.column_store import ColumnStore
    from unveil.data.table import Table
    from unveil.questions.reading import TableReading

_FORM = "NAME=ORIGINAL:RELEASED or NAME=ORIGINAL:RELEASED:CONTROL"
#: A part that is the letter of a drive, before a part that is its path, and the start of an address.
_DRIVE, _ADDRESS = re.compile(r"(^|:)[A-Za-z]:[\\/]"), re.compile(r"\w+://")
_KEYS = ("name", "original", "released", "control", "time", "id")


@dataclass(frozen=True, kw_only=True, eq=False)
class ChildSource:
    """One child table of an audit: paths, frames or tables of the original, the release, and the control group.

    ``time`` is the column that orders the rows of a person, and ``key`` the name of its person key where it has
    another one than the people table.
    """

    name: str
    original: Any = field(repr=False)
    released: Any = field(repr=False)
    control: Any = field(repr=False, default=None)
    time: str | None = None
    key: str | None = None

    @property
    def every(self) -> tuple[Any, ...]:
        """The original, the release, and the control group if there is one."""
        return (self.original, self.released, *(() if self.control is None else (self.control,)))

    def absolute(self) -> "ChildSource":
        """Return the same files relative to another working folder."""
        return self._each(lambda given: Path(given).absolute())

    def stored(self, store: "ColumnStore") -> "ChildSource":
        """Return the same tables with their columns on disk."""
        return self._each(lambda table: table.stored(store))

    def read(self, reading: "TableReading", key: str | None, *, store: "ColumnStore | None" = None) -> "ChildSource":
        """Return the tables of the files or frames; their person key is called ``key``."""
        if self.key is not None and key is not None and self.key != key:
            reading = replace(reading, rename={**reading.rename, self.key: key})

        def table(given: Any, what: str, *, released: bool = False) -> "Table":
            called = f"table {self.name!r} of the {what}"
            if isinstance(given, str | os.PathLike):
                return reading.file(given, called, released=released, store=store)
            return reading.frame(given, called, released=released)

        return replace(
            self,
            original=table(self.original, "original"),
            released=table(self.released, "release", released=True),
            control=None if self.control is None else table(self.control, "control group"),
        )

    def _each(self, change: Any) -> "ChildSource":
        control = None if self.control is None else change(self.control)
        return replace(self, original=change(self.original), released=change(self.released), control=control)


@dataclass(frozen=True, kw_only=True)
class ChildSettings(Settings):
    """Child tables, and the columns that order their rows."""

    tables: tuple[Any, ...] = setting(
        (),
        "Child table: several rows per person",
        "Needs the person key in every table. ORIGINAL, RELEASED and CONTROL have one row per person, or are left out. "
        "In Python: a mapping from name to a tuple of two or three tables.",
        help="Rows of people: ORIGINAL:RELEASED[:CONTROL]",
        kind="texts",
        objects=True,
        names_files=True,
        only="command line",
        option="--table",
        metavar="NAME=FILES",
        group="Input",
    )
    times: Mapping[str, str] = setting(
        (),
        "Time column of a child table (default: its only date)",
        help="Time column of such a table",
        form="NAME=COLUMN, as in visits=date",
        only="command line",
        option="--time",
        metavar="NAME=COLUMN",
        group="Columns",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        sources = read_children(self.tables)
        names = [each.name for each in sources]
        for name in self.times:
            if sources and name not in names:
                hint = did_you_mean(name, names) or f" Available: {', '.join(names)}."
                raise InputError(f"A time column is given for {name!r}, which is not a child table.{hint}")
        sources = tuple(replace(each, time=self.times.get(each.name, each.time)) for each in sources)
        object.__setattr__(self, "tables", sources)


def read_children(given: Any) -> tuple[ChildSource, ...]:
    """Return child tables from texts, tables of a settings file, or a mapping from name to tables.

    >>> [(each.name, str(each.released), each.control) for each in read_children(["visits=a.csv:b.csv"])]
    [('visits', 'b.csv', None)]
    >>> read_children({"visits": ("a.csv", "b.csv", "c.csv")})[0].control
    'c.csv'
    """
    if isinstance(given, Mapping):
        read = [_from_tables(str(name), each) for name, each in given.items()]
    else:
        several: Iterable[Any] = (given,) if isinstance(given, str) else given or ()
        read = [each if isinstance(each, ChildSource) else _from_text(str(each)) for each in several]
    names = [each.name for each in read]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"Two child tables are called {twice!r}. Rename one")
    _refuse_shared(read)
    return tuple(read)


def child_in_file(each: Any, folder: Path, file: str) -> ChildSource:
    """Return the child table of a ``[[table]]`` in a settings file; its paths start from the folder of the file."""
    if isinstance(each, dict) and "parent" in each:
        raise InputError(
            f"A [[table]] in the settings {file} names a parent, but unveil audits two levels: people, and tables of "
            "their rows. Give the table the person key, and leave out parent"
        )
    if not isinstance(each, dict) or not {"name", "original", "released"} <= set(each) or set(each) - set(_KEYS):
        raise InputError(
            f"A [[table]] in the settings {file} is not valid. Give each one a name, original and released, and "
            "optionally control, time and id"
        )
    paths = {what: folder / str(each[what]) for what in ("original", "released", "control") if what in each}
    time, key = (str(each[name]) if name in each else None for name in ("time", "id"))
    return ChildSource(name=_named(str(each["name"])), **paths, time=time, key=key)


def _from_text(text: str) -> ChildSource:
    name, equals, written = text.partition("=")
    parts = [part.strip() for part in written.split(":")]
    if _DRIVE.search(written) or _ADDRESS.search(written) or len(parts) > 3:
        raise InputError(
            f"The paths of the child table {name.strip()!r} contain colons, which also separate them. Write a "
            "[[table]] with name, original and released in a settings file (--config)"
        )
    if not equals or len(parts) == 1 or not all(parts):
        raise InputError(f"A child table is not written as {_FORM}. Write visits=visits.csv:released-visits.csv")
    control = Path(parts[2]) if len(parts) > 2 else None
    return ChildSource(name=_named(name), original=Path(parts[0]), released=Path(parts[1]), control=control)


def _from_tables(name: str, given: Any) -> ChildSource:
    if isinstance(given, ChildSource):
        return replace(given, name=_named(name))
    if isinstance(given, Mapping) and {"original", "released"} <= set(given) <= {*_KEYS}:
        further = {each: given.get(each) for each in ("original", "released", "control", "time")}
        return ChildSource(name=_named(name), key=given.get("id"), **further)
    if isinstance(given, list | tuple) and len(given) in (2, 3):
        return ChildSource(name=_named(name), original=given[0], released=given[1], control=(*given, None)[2])
    raise InputError(
        f"The child table {name!r} is not given as its tables. Pass (original, released) or (original, released, "
        "control)"
    )


def _named(name: str) -> str:
    name = name.strip()
    if not name or {",", ":", "="} & set(name):
        raise InputError(
            "A child table has no name, or a name with a comma, a colon or the sign =. Choose a short name, such "
            "as visits"
        )
    return name


def _refuse_shared(sources: Iterable[ChildSource]) -> None:
    """Refuse a file that is given twice: then a table would be its own original, release or control group."""
    seen: dict[Path, str] = {}
    for source in sources:
        for path in (Path(each) for each in source.every if isinstance(each, str | os.PathLike)):
            if path in seen:
                raise InputError(
                    f"The child tables {seen[path]!r} and {source.name!r} name the same file. Give each file once"
                    if seen[path] != source.name
                    else f"The child table {source.name!r} names one file twice. Give original, release and control"
                )
            seen[path] = source.name

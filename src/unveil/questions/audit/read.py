"""Read the files of an audit: original, releases, control, and settings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from unveil.data.files.column_store import ColumnStore
from unveil.data.files.source import changed_while_read, shown
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.questions.audit.children.settings import ChildSource, child_in_file
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.audit.reference.read import ReferenceFiles, ReferenceTables, is_path, reference_tables
from unveil.questions.audit.settings import AuditSettings
from unveil.questions.config import texts_in, with_config
from unveil.questions.reading import TableReading
from unveil.questions.request import Request
from unveil.report.progress import Progress, silent

#: What a file of settings may hold beside the settings of the question, and what each must be.
_TABLES: Mapping[str, tuple[type, ...]] = {
    "technique": (dict,),
    "techniques": (dict,),
    "context": (dict,),
    "kinds": (dict,),
    "markers": (dict,),
    "scenario": (list,),
    "release": (list,),
    "table": (list,),
}
#: Settings that say where an answer goes, or what a page alone can say.
_NOT_IN_A_FILE = ("compare", "redacted", "sign_off", "show_records", "column_splits", "scenarios", "edition", "columns")


class AuditTables(NamedTuple):
    """What the files of an audit hold: the releases by name."""

    original: Table | None
    released: dict[str, Table]
    control: Table | None
    reference: ReferenceTables = ReferenceTables()
    children: tuple[ChildSource, ...] = ()

    @property
    def every(self) -> tuple[Table, ...]:
        """All tables, in the order of the files."""
        original, control = (() if each is None else (each,) for each in (self.original, self.control))
        children = (table for child in self.children for table in child.every)
        return (*original, *self.released.values(), *control, *self.reference.every, *children)

    @property
    def store(self) -> ColumnStore | None:
        """The place of the tables on disk; None is memory."""
        return self.every[0].store

    @property
    def digests(self) -> tuple[str | None, ...]:
        """Hash of each file; None for a pipe."""
        return tuple(each.sha256 for each in self.every)

    def stored(self, store: ColumnStore) -> "AuditTables":
        """Return the same tables with their columns on disk."""
        return AuditTables(
            None if self.original is None else self.original.stored(store),
            {name: each.stored(store) for name, each in self.released.items()},
            None if self.control is None else self.control.stored(store),
            self.reference.stored(store),
            tuple(each.stored(store) for each in self.children),
        )


@dataclass(frozen=True, kw_only=True)
class AuditFiles:
    """Files of an audit and their reading options, for any process.

    Attributes
    ----------
    original, released, control
        Where the tables are; no original where there are only child tables.
    reading
        How the tables are to be read, where that is not to be found out.
    names, release_types
        What a release is called (its file name unless told), and whether it is masked or synthetic, by its path.
    reference
        Where siblings and a population file are.
    children, key
        Where child tables are, and the person key of all tables.
    """

    original: Path | None
    released: tuple[Path, ...]
    control: Path | None = None
    reading: TableReading = field(default_factory=TableReading)
    names: Mapping[Path, str] = field(default_factory=dict)
    release_types: Mapping[Path, str] = field(default_factory=dict)
    reference: ReferenceFiles = field(default_factory=ReferenceFiles)
    children: tuple[ChildSource, ...] = ()
    key: str | None = None

    def __post_init__(self) -> None:
        people = {path.absolute() for path in (self.original, self.control, *self.released) if path is not None}
        for child in self.children:
            if not people.isdisjoint(Path(path).absolute() for path in child.every):
                raise InputError(
                    f"The child table {child.name!r} is the people table itself. Pass another file, or leave out the "
                    "people table"
                )

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        original, control = (() if each is None else (each,) for each in (self.original, self.control))
        children = (Path(path) for child in self.children for path in child.every)
        return (*original, *self.released, *control, *self.reference.paths, *children)

    @property
    def kinds(self) -> dict[str, Any]:
        """The given type of each release, by its name."""
        called = _names(self.released, self.names)
        return {called[path]: kind for path, kind in self.release_types.items() if path in called}

    def absolute(self) -> "AuditFiles":
        """Return the same files relative to another working folder."""
        called = _names(self.released, self.names)
        return replace(
            self,
            original=None if self.original is None else self.original.absolute(),
            released=tuple(path.absolute() for path in self.released),
            control=None if self.control is None else self.control.absolute(),
            names={path.absolute(): name for path, name in called.items()},
            release_types={path.absolute(): kind for path, kind in self.release_types.items()},
            reference=self.reference.absolute(),
            children=tuple(each.absolute() for each in self.children),
        )

    def read(self, progress: Progress = silent, *, store: ColumnStore | None = None) -> AuditTables:
        """Return the contents of the files; refuse files that changed."""
        before = {path: _state(path) for path in self.paths}
        progress("reading", 0.0)
        table = None if self.original is None else self.reading.file(self.original, "original", store=store)
        outside = None if self.control is None else self.reading.file(self.control, "control", store=store)
        called = _names(self.released, self.names)
        tables = {}
        for number, path in enumerate(self.released):
            progress("reading", (number + 1) / (len(self.released) + 1))
            tables[called[path]] = self.reading.file(path, called[path], released=True, store=store)
        reference = self.reference.read(self.reading, store=store)
        children = tuple(each.read(self.reading, self.key, store=store) for each in self.children)
        read = AuditTables(table, tables, outside, reference, children)
        if not children:
            self.reading.check(each for each in (table, *tables.values(), outside) if each is not None)
        for path, state in before.items():
            if _state(path) != state:
                raise changed_while_read(path)
        return read


def files_or_tables(
    original: Any, released: Any, control: Any, settings: AuditSettings
) -> tuple[Any, Any, Any, ReferenceTables, tuple[ChildSource, ...]]:
    """Return the arguments of `audit`, with mixed paths read as tables."""
    several = released if isinstance(released, list | tuple) else () if released is None else (released,)
    named = dict(released) if isinstance(released, Mapping) and any(map(is_path, released.values())) else {}
    every = [each for each in (original, *(named.values() or several), control) if each is not None]
    further = [*settings.sibling, *settings.sibling_people]
    further += [] if settings.population is None else [settings.population]
    sources, key = settings.tables, settings.person_key
    inner = [each for source in sources for each in source.every]
    if not any(map(is_path, every or inner)):
        children = tuple(each.read(settings.reading, key) for each in sources)
        return original, released, control, reference_tables(settings), children
    further += inner
    if not all(map(is_path, [*every, *further])):
        reading = settings.reading
        read = {
            name: reading.file(each, name, released=True) if is_path(each) else each for name, each in named.items()
        }
        listed = [reading.file(each, Path(each).name, released=True) if is_path(each) else each for each in several]
        return (
            None if original is None else reading.table(original, "original"),
            read or (listed if isinstance(released, list | tuple) else listed[0] if listed else None),
            None if control is None else reading.table(control, "control"),
            reference_tables(settings),
            tuple(each.read(reading, key) for each in sources),
        )
    files = AuditFiles(
        original=None if original is None else Path(original),
        released=tuple(Path(each) for each in named.values() or several),
        control=None if control is None else Path(control),
        reading=settings.reading,
        names={Path(path): str(name) for name, path in named.items()},
        reference=ReferenceFiles.of(settings),
        children=sources,
        key=key,
    )
    return files, None, None, ReferenceTables(), ()


def _state(path: Path) -> tuple[int, int] | None:
    """Return a file's size and time of change; None for pipes."""
    try:
        about = path.stat()
    except (OSError, ValueError):
        return None  # reading says why
    return (about.st_size, about.st_mtime_ns) if S_ISREG(about.st_mode) else None


def _names(paths: Sequence[Path], given_names: Mapping[Path, str]) -> dict[Path, str]:
    """Return unique release names: given ones, or from file names."""
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise InputError(f"The release {shown(twice)} is given twice. Give each release once")
    # Folders may say more than a report should: files of the same name are told apart by their number.
    called, seen = {}, Counter[str]()
    repeated = {file for file, times in Counter(path.name for path in paths).items() if times > 1}
    for path in paths:
        seen[path.name] += 1
        own = f"{path.name} ({seen[path.name]})" if path.name in repeated else path.name
        called[path] = given_names.get(path) or own
    return called


def with_settings(request: Request) -> Request:
    """Return a request with what its TOML file says.

    A scenario is written ``[[scenario]]`` with ``name``, ``columns`` (or ``first`` and ``second``) and ``reason``; a
    release either in ``released = ["a.csv"]`` or as ``[[release]]`` with ``file``, ``name`` and ``release_type``.
    """
    whole, content = with_config(request, own=_TABLES, types={"targets": (int, str)}, without=_NOT_IN_A_FILE)
    path = request.required_path("config")
    named = {
        path.parent / str(each["file"]): each for each in (_release(each, path) for each in content.get("release", ()))
    }
    files = dict(whole.files)
    if named and not request.files.get("released"):
        files["released"] = (*files.get("released", ()), *named)
    values = dict(whole.values)
    for name in ("techniques", "context"):
        key = "technique" if "technique" in content and name == "techniques" else name
        written = (f"{each}={text}" for each, text in content.get(key, {}).items())
        values[name] = (*written, *request.values[name])
    explicit = whole.explicit
    if not request.values["column_splits"] and "scenarios" not in request.explicit:
        values["scenarios"] = tuple(_scenario(each, path) for each in content.get("scenario", ()))
        explicit |= {"scenarios"}
    children = tuple(child_in_file(each, path.parent, shown(path)) for each in content.get("table", ()))
    if children and not request.values["tables"]:
        values["tables"] = children
        explicit |= {"tables"}
        values["identifiers"] = values["identifiers"] or tuple(sorted({each.key for each in children if each.key}))[:1]
    values |= {
        "column_kinds": content.get("kinds"),
        "markers": content.get("markers", {}),
        "names": {file: str(each["name"]) for file, each in named.items() if "name" in each},
        "kinds_of_releases": {
            file: str(each["release_type"]) for file, each in named.items() if "release_type" in each
        },
    }
    sample = whole.sample and not children
    return replace(whole, files=files, values=values, explicit=explicit, sample=sample)


def _release(each: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(each, dict) or "file" not in each or set(each) - {"file", "name", "release_type"}:
        raise InputError(
            f"A [[release]] in the settings {shown(path)} is not valid. Give each one a file, and optionally name and "
            "release_type"
        )
    return each


def _scenario(each: Any, path: Path) -> AttackScenario:
    allowed = {"name", "columns", "first", "second", "reason"}
    if (
        not isinstance(each, dict)
        or "name" not in each
        or set(each) - allowed
        or ("columns" in each) == ("first" in each)
    ):
        raise InputError(
            f"A [[scenario]] in the settings {shown(path)} is not valid. Give each one a name and columns (or first "
            "and second), and optionally a reason"
        )
    first, second = texts_in(each.get("columns", each.get("first", ()))), texts_in(each.get("second", ()))
    reason = str(each.get("reason", "")) or f"named in {path.name} without a reason"
    return AttackScenario(name=str(each["name"]), first=tuple(first), second=tuple(second), reason=reason)

"""Reading of tables: file formats, column types, names and missing values, from any front end."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unveil.data.files.column_store import ColumnStore
from unveil.data.files.settings import FileSettings
from unveil.data.table import KINDS, DeclaredKind, Dictionary, Table, kinds_of_release, read_dictionary
from unveil.data.table.markers import DeclaredMarkers
from unveil.errors import InputError, did_you_mean
from unveil.questions.request import SettingError
from unveil.questions.roles import TableColumnSettings
from unveil.questions.settings import TextFileSettings


@dataclass(frozen=True, kw_only=True)
class TableReading:
    """Settings for reading several tables: each takes those for its own columns.

    The fields are the settings of :meth:`unveil.data.table.Table.from_frame`, and ``files`` says how text is read.
    """

    kinds: Mapping[str, DeclaredKind] = field(default_factory=dict)
    missing: Collection[str] | Mapping[str, Collection[str]] = ()
    markers: DeclaredMarkers = field(default_factory=dict)
    dictionary: Dictionary | str | os.PathLike[str] | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    #: Whether uncertain column types are refused.
    strict: bool = False
    files: FileSettings = field(default_factory=FileSettings)

    def __post_init__(self) -> None:
        # Once, and not for every table.
        if self.dictionary is not None and not isinstance(self.dictionary, Dictionary):
            object.__setattr__(self, "dictionary", read_dictionary(self.dictionary))
        if isinstance(self.dictionary, Dictionary):
            missing = {name: dict.fromkeys(texts, "missing") for name, texts in self.dictionary.missing.items()}
            object.__setattr__(self, "rename", {**self.dictionary.rename, **self.rename})
            object.__setattr__(self, "markers", {**missing, **self.markers})

    def file(
        self, path: str | os.PathLike[str], name: str, *, released: bool = False, store: ColumnStore | None = None
    ) -> Table:
        """Read a table; a released one may have generalized values."""
        return Table.read(path, name=name, store=store, **self._of_columns(released), **vars(self.files))

    def table(self, given: Any, name: str = "") -> Table:
        """Return the table of a path or a frame; a table stays as it is."""
        if isinstance(given, str | os.PathLike):
            return self.file(given, name or Path(given).name)
        return self.frame(given, name or "table")

    def frame(self, given: Any, name: str, *, released: bool = False) -> Table:
        """Return a frame as a table; a table stays as it is."""
        return given if isinstance(given, Table) else Table.from_frame(given, name=name, **self._of_columns(released))

    def made(self, given: Any) -> Table:
        """Return what a generator made: the file that it wrote, or the frame that it returned."""
        if not isinstance(given, os.PathLike):
            return self.frame(given, "release", released=True)
        # Whoever gives names gets names back.
        files = replace(self.files, header="yes") if self.files.header == "detect" else self.files
        return replace(self, files=files).file(given, "release", released=True)

    def _of_columns(self, released: bool) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("kinds", "missing", "markers", "dictionary", "rename")}
        if released:  # its kinds are those of the original, beside which ranges, stars and sets can be read
            told |= {"kinds": kinds_of_release(self.kinds), "dictionary": None}
        return {**told, "elsewhere": True}

    def check(self, tables: Iterable[Table]) -> None:
        """Refuse settings for unknown columns, and uncertain types of the first table where these are rejected."""
        tables = list(tables)
        have = dict.fromkeys(name for table in tables for name in table.column_names)
        called = {column.called for table in tables for column in table.columns}
        missing = self.missing if isinstance(self.missing, Mapping) else ()
        markers = [key for key, told in self.markers.items() if not isinstance(told, str)]
        told = (
            ("type", self.kinds),
            ("missing value", missing),
            ("marker", markers),
            ("new name", [old for old in self.rename if old not in called]),
        )
        for what, named in told:
            unknown = next((name for name in named if name not in have), None)
            if unknown is not None:
                raise InputError(
                    f"Unknown column {unknown!r} with a {what}.{did_you_mean(unknown, have)} Correct the name, or "
                    "remove it"
                )
        if self.strict:
            refuse_unsure(tables[0])


def refuse_unsure(table: Table) -> None:
    """Refuse a table with a used column of uncertain type."""
    unsure = [each.name for each in table.columns if each.is_used and each.confidence == "uncertain"]
    if unsure:
        names = ", ".join(map(repr, unsure))
        raise InputError(
            f"The type of these columns of the {table.name} is uncertain: {names}. State it in a dictionary "
            f'(type = "category"), or accept uncertain types'
        )


def reading_of(
    settings: TableColumnSettings, *, kinds: Mapping[str, Any] | None = None, markers: DeclaredMarkers | None = None
) -> TableReading:
    """Return the reading by these settings, and by types and markers from elsewhere."""
    own = {column: _kind(column, kind) if isinstance(kind, str) else kind for column, kind in settings.kinds.items()}
    missing: Any = settings.missing if isinstance(settings.missing, Mapping) else ()
    texts = () if isinstance(settings.missing, Mapping) else settings.missing
    every: dict[str, Any] = dict.fromkeys((text for text in texts if "=" not in text), "missing")
    for column, text in (each.split("=", 1) for each in texts if "=" in each):
        every.setdefault(column.strip(), {})[text.strip()] = "missing"
    return TableReading(
        kinds={**(kinds or {}), **own},
        missing=missing,
        markers={**every, **(markers or {})},
        dictionary=settings.dictionary,
        rename=settings.rename,
        strict=settings.strict_types,
        files=settings.files if isinstance(settings, TextFileSettings) else FileSettings(),
    )


def _kind(column: str, text: str) -> DeclaredKind:
    """Return a kind, or the levels of an ordered column from the lowest to the highest, with < between them."""
    if "<" in text:
        return [level.strip() for level in text.split("<")]
    for kind in KINDS:
        if kind == text:
            return kind
    raise SettingError(
        f"Unknown type of column {column!r}.{did_you_mean(text, KINDS)} Available: {', '.join(KINDS)}, or levels such "
        "as low<high",
        "kinds",
    )

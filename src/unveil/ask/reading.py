"""How the tables of a question are read: what was told of files, columns and cells, through whichever door."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from unveil.ask.settings import READING
from unveil.ask.told import AskedError, Told
from unveil.data.files.settings import FileSettings
from unveil.data.table import KINDS, Dictionary, Hierarchy, Table, ToldKind, kinds_of_release, read_dictionary
from unveil.data.table.markers import ToldMarkers
from unveil.errors import InputError, did_you_mean


@dataclass(frozen=True, kw_only=True)
class TableReading:
    """What was told of several tables at once: each takes of it what is about its own columns.

    The fields are the settings of :meth:`unveil.data.table.Table.from_frame`, and ``files`` says how text is read.
    """

    kinds: Mapping[str, ToldKind] = field(default_factory=dict)
    missing: Collection[str] | Mapping[str, Collection[str]] = ()
    markers: ToldMarkers = field(default_factory=dict)
    dictionary: Dictionary | str | os.PathLike[str] | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    #: What is told of released cells: hierarchies by column, and columns whose numbers are as they seem.
    hierarchies: Mapping[str, Hierarchy | str | os.PathLike[str]] = field(default_factory=dict)
    exact: Collection[str] = ()
    #: Whether a kind that nothing tells for sure is refused.
    strict: bool = False
    files: FileSettings = field(default_factory=FileSettings)

    def __post_init__(self) -> None:
        # Once, and not for every table.
        if self.dictionary is not None and not isinstance(self.dictionary, Dictionary):
            object.__setattr__(self, "dictionary", read_dictionary(self.dictionary))

    @property
    def of_release(self) -> "TableReading":
        """How a release is read: markers are told for it too, but of kinds only words, the others being the original's.

        So ranges, stars and sets are no faults: they are read beside the original.
        """
        dictionary = self.dictionary
        if isinstance(dictionary, Dictionary):
            dictionary = dictionary.of_release()
        return replace(self, kinds=kinds_of_release(self.kinds), dictionary=dictionary)

    def with_cells(self, original: Table) -> Table:
        """Return the original with what is told of the cells of its releases."""
        told = self.hierarchies.items()
        read = {name: each if isinstance(each, Hierarchy) else Hierarchy.read(each) for name, each in told}
        return original.with_readings(hierarchies=read, exact=self.exact)

    def file(self, path: str | os.PathLike[str], name: str) -> Table:
        """Return the table in a file."""
        return Table.read(path, name=name, **self._of_columns(), **vars(self.files))

    def frame(self, given: Any, name: str) -> Table:
        """Return a frame, or whatever else is one, as a table; what is one already stays as it is."""
        return given if isinstance(given, Table) else Table.from_frame(given, name=name, **self._of_columns())

    def _of_columns(self) -> dict[str, Any]:
        names = ("kinds", "missing", "markers", "dictionary", "rename")
        return {**{name: getattr(self, name) for name in names}, "elsewhere": True}

    def check(self, tables: Iterable[Table]) -> None:
        """Refuse what is told of a column that none of the tables has, and unsure kinds where they are to be refused.

        The first table is the one whose kinds count.
        """
        tables = list(tables)
        have = dict.fromkeys(name for table in tables for name in table.column_names)
        called = {column.called for table in tables for column in table.columns}
        missing = self.missing if isinstance(self.missing, Mapping) else ()
        markers = [key for key, told in self.markers.items() if not isinstance(told, str)]
        told = (
            ("a kind", self.kinds),
            ("a missing value", missing),
            ("a marker", markers),
            ("a new name", [old for old in self.rename if old not in called]),
        )
        for what, named in told:
            unknown = next((name for name in named if name not in have), None)
            if unknown is not None:
                raise InputError(
                    f"{what} is told for column {unknown!r}, which no table has.{did_you_mean(unknown, have)} "
                    "Correct the name, or leave it out"
                )
        if self.strict:
            refuse_unsure(tables[0])


def refuse_unsure(table: Table) -> None:
    """Refuse a table with a column in use whose kind nothing tells for sure."""
    unsure = [each.name for each in table.columns if each.is_used and each.confidence == "unsure"]
    if unsure:
        names = ", ".join(map(repr, unsure))
        raise InputError(
            f"the kind of every column that is used must be sure, but nothing in the {table.name} tells that of "
            f"{names}. Tell it (--kinds {unsure[0]}=category), pass a dictionary, or do without --strict-kinds"
        )


def reading_of(told: Told, *, kinds: Mapping[str, Any] | None = None) -> TableReading:
    """Return how tables are read by what was told, with the kinds that were told elsewhere."""
    values = told.values
    own = {column: _kind(column, text) for column, text in _pairs(values["kinds"], "kinds", "COLUMN=KIND").items()}
    everywhere = [text for text in values["missing"] if "=" not in text]
    markers: dict[str, Any] = dict.fromkeys(everywhere, "missing")
    for column, text in (each.split("=", 1) for each in values["missing"] if "=" in each):
        markers.setdefault(column.strip(), {})[text.strip()] = "missing"
    return TableReading(
        kinds={**(kinds or {}), **own},
        markers={**markers, **values.get("markers", {})},
        dictionary=told.path("dictionary"),
        rename=_pairs(values["rename"], "rename", "OLD=NEW"),
        hierarchies=_pairs(values.get("hierarchies", ()), "hierarchies", "COLUMN=FILE"),
        exact=values.get("exact", ()),
        strict=values["strict_kinds"],
        files=FileSettings(**told.named(*READING)),
    )


def _pairs(written: Iterable[str], setting: str, pattern: str) -> dict[str, str]:
    pairs = {}
    for text in written:
        column, equals, said = (part.strip() for part in text.rpartition("="))
        if not (column and equals and said):
            raise AskedError(f"each of these must be written {pattern}, but one is not. Write it so", setting)
        pairs[column] = said
    return pairs


def _kind(column: str, text: str) -> ToldKind:
    """Return a kind, or the levels of an ordered column from the lowest to the highest, with < between them."""
    if "<" in text:
        return [level.strip() for level in text.split("<")]
    for kind in KINDS:
        if kind == text:
            return kind
    raise AskedError(
        f"the kind of column {column!r} must be one of {', '.join(KINDS)}, or its levels with < between them, as in "
        f"{column}=low<high.{did_you_mean(text, KINDS)} Choose one of these",
        "kinds",
    )

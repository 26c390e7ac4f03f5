"""Read and check sibling releases, their people, and a population file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil._kernels.types import BoolArray
from unveil.data.files.column_store import ColumnStore
from unveil.data.files.source import shown
from unveil.data.table import Kind, Table, agree
from unveil.data.table.cells import OrderedCells
from unveil.errors import InputError
from unveil.questions.audit.reference.settings import ReferenceSettings
from unveil.questions.reading import TableReading

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.release import Release
    from unveil.questions.audit.settings import AuditSettings

#: The numbers of rows of a sibling and of the release differ at most by this factor.
MOST_APART = 1.1
_ADVICE = "Pass one for each, in the same order"
#: Columns that a message lists.
_LISTED = 8


@dataclass(frozen=True, kw_only=True)
class ReferenceTables:
    """Sibling releases, the people of each in the same order, and a population file."""

    siblings: tuple[Table, ...] = ()
    people: tuple[Table, ...] = ()
    population: Table | None = None

    def __post_init__(self) -> None:
        check_number(len(self.siblings), len(self.people))

    @property
    def every(self) -> tuple[Table, ...]:
        """All tables, in the order of their files."""
        return (*self.siblings, *self.people, *(() if self.population is None else (self.population,)))

    def stored(self, store: ColumnStore) -> "ReferenceTables":
        """Return the same tables with their columns on disk."""
        return ReferenceTables(
            siblings=tuple(each.stored(store) for each in self.siblings),
            people=tuple(each.stored(store) for each in self.people),
            population=None if self.population is None else self.population.stored(store),
        )


def check_number(siblings: int, people: int) -> None:
    """Refuse files of people that are not one for each sibling."""
    if people and people != siblings:
        number, whose = ("1 sibling", "its") if siblings == 1 else (f"{siblings} siblings", "their")
        files = "1 file" if people == 1 else f"{people} files"
        raise InputError(f"{number} but {files} of {whose} people. {_ADVICE}")


@dataclass(frozen=True, kw_only=True)
class ReferenceFiles:
    """Files of siblings, of their people, and of the population; a folder stands for its files."""

    siblings: tuple[Path, ...] = ()
    people: tuple[Path, ...] = ()
    population: Path | None = None
    #: The owner's names of files that are stored under other names.
    names: Mapping[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: ReferenceSettings, names: Mapping[Path, str] | None = None) -> "ReferenceFiles":
        """Return the files that settings name; refuse numbers that do not match."""
        siblings, people = (
            tuple(path for each in given for path in files_in(Path(each)))
            for given in (settings.sibling, settings.sibling_people)
        )
        check_number(len(siblings), len(people))
        population = None if settings.population is None else Path(settings.population)
        return cls(siblings=siblings, people=people, population=population, names=names or {})

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files."""
        return (*self.siblings, *self.people, *(() if self.population is None else (self.population,)))

    def absolute(self) -> "ReferenceFiles":
        """Return the same files relative to another working folder."""
        return ReferenceFiles(
            siblings=tuple(path.absolute() for path in self.siblings),
            people=tuple(path.absolute() for path in self.people),
            population=None if self.population is None else self.population.absolute(),
            names={path.absolute(): name for path, name in self.names.items()},
        )

    def read(self, reading: TableReading, *, store: ColumnStore | None = None) -> ReferenceTables:
        """Return the tables of the files."""

        def table(path: Path, *, released: bool = False) -> Table:
            return reading.file(path, self.names.get(path, path.name), released=released, store=store)

        return ReferenceTables(
            siblings=tuple(table(path, released=True) for path in self.siblings),
            people=tuple(map(table, self.people)),
            population=None if self.population is None else table(self.population),
        )


def files_in(path: Path) -> tuple[Path, ...]:
    """Return a file, or the files of a folder by name; hidden ones are left out."""
    if not path.is_dir():
        return (path,)
    found = tuple(sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith(".")))
    if not found:
        raise InputError(f"The folder {shown(path)} holds no file. Name a folder with one table per file")
    return found


def reference_tables(settings: "AuditSettings") -> ReferenceTables:
    """Return the tables that settings hold as paths or frames."""
    reading = settings.reading

    def expanded(given: Sequence[Any]) -> list[Any]:
        return [one for each in given for one in (files_in(Path(each)) if is_path(each) else (each,))]

    def table(given: Any, name: str, *, released: bool = False) -> Table:
        if is_path(given):
            return reading.file(given, Path(given).name, released=released)
        return reading.frame(given, name, released=released)

    siblings, people = expanded(settings.sibling), expanded(settings.sibling_people)
    check_number(len(siblings), len(people))
    return ReferenceTables(
        siblings=tuple(table(each, f"sibling {at}", released=True) for at, each in enumerate(siblings, 1)),
        people=tuple(table(each, f"people of sibling {at}") for at, each in enumerate(people, 1)),
        population=None if settings.population is None else table(settings.population, "population"),
    )


def is_path(given: Any) -> bool:
    """Return whether a table is given as a path."""
    return isinstance(given, str | os.PathLike)


def identifier_keys(tables: Sequence[Table], identifier: str) -> "list[pl.Series]":
    """Return the identifiers of several tables so that equal ones compare equal, however each file was read."""
    import polars as pl

    found = [table.series(identifier) for table in tables]
    is_numeric = all(each.dtype.is_numeric() for each in found)
    return [each.cast(pl.Float64 if is_numeric else pl.String) for each in found]


def are_in(keys: "pl.Series", others: "pl.Series", *, missing: bool = False) -> BoolArray:
    """Return which keys occur in another table, and ``missing`` for those that are missing."""
    found: BoolArray = keys.is_in(others.drop_nulls().unique().implode()).fill_null(missing).to_numpy()
    return found


def check_siblings(release: "Release", columns: Sequence[str], reference: ReferenceTables) -> None:
    """Refuse siblings that cannot be compared with the release.

    ``columns`` are those in which people are compared.
    """
    for sibling in reference.siblings:
        _refuse_lacking(
            f"Sibling {sibling.name!r} lacks", sibling, columns, "All siblings must have the columns of the release"
        )
        rows = sorted((sibling.rows, release.released.rows))
        if rows[1] > MOST_APART * rows[0]:
            raise InputError(
                f"Sibling {sibling.name!r} has {sibling.rows:,} rows and the release {release.released.rows:,}. "
                "Distances depend on the number of rows: pass siblings of the same size"
            )
    for table, sibling in zip(reference.people, reference.siblings, strict=bool(reference.people)):
        _refuse_lacking(
            f"The people of sibling {sibling.name!r} lack", table, columns, "They need the columns of the release"
        )
    releases = [release.released, *reference.siblings]
    if release.kind == "masked":
        releases = as_written(releases, columns)
    own = [("the release", releases[0]), ("the original", release.original)]
    names = [f"{each.name!r}" for each in reference.siblings]
    siblings = list(zip(names, releases[1:], strict=True))
    people = [(f"{each.name!r}", each) for each in reference.people]
    if (same := _first_same([*own[:1], *siblings], columns)) is not None:
        which = (
            f"Siblings {same[0]} and {same[1]}" if same[0] != "the release" else f"Sibling {same[1]} and the release"
        )
        raise InputError(f"{which} hold the same rows. Pass each release once")
    if release.kind != "masked" and (same := _first_same([own[1], *siblings], columns, first=True)) is not None:
        raise InputError(f"Sibling {same[1]} holds the rows of the original. Pass releases, not the original")
    if (same := _first_same([own[1], *people], columns)) is not None:
        if same[0] == "the original":
            raise InputError(
                f"The people file {same[1]} is the original. Pass the people behind each sibling, who differ from "
                "those behind the release"
            )
        raise InputError(f"People files {same[0]} and {same[1]} hold the same rows. {_ADVICE}")


def as_written(releases: Sequence[Table], columns: Sequence[str]) -> list[Table]:
    """Return masked releases with the texts of their cells: bands and sets of several releases have no common reading.

    >>> one, other = (Table.from_frame({"age": each}) for each in (["20-29", "*"], [25, 26]))
    >>> [(each.columns[0].kind, each.series("age").to_list()) for each in as_written([one, other], ["age"])]
    [('category', ['20-29', None]), ('category', ['25', '26'])]
    """
    import polars as pl

    kinds: dict[str, Kind] = dict.fromkeys(columns, "category")
    return [
        Table.from_frame(pl.DataFrame({name: table.series(name).cast(pl.String) for name in columns}), kinds=kinds)
        for table in releases
    ]


def as_middles(original: Table, releases: Sequence[Table], columns: Sequence[str]) -> list[Table]:
    """Return masked releases with the middles of bands, and the texts of other cells.

    Each release may have bands of its own, so that their texts are not those of another population.

    >>> people = Table.from_frame({"age": [20, 27, 24, 31]})
    >>> (found,) = as_middles(people, [Table.from_frame({"age": ["20-30", "31"]})], ["age"])
    >>> found.series("age").to_list()
    [25.0, 31.0]
    """
    import polars as pl

    people, names = original.select(list(columns)), list(columns)
    read = [agree(people, release.select(names), masked=True)[1] for release in releases]
    written = as_written(releases, columns)
    made: list[dict[str, pl.Series]] = [{} for _ in releases]
    for name in names:
        middles = [_middles(table, name) for table in read]
        known = [each for each in middles if each is not None]
        texts = [each.series(name) for each in written]
        for own, each in zip(made, known if len(known) == len(read) else texts, strict=True):
            own[name] = each
    kinds: list[dict[str, Kind]] = [
        {name: "number" if each.dtype == pl.Float64 else "category" for name, each in own.items()} for own in made
    ]
    return [Table.from_frame(pl.DataFrame(own), kinds=kind) for own, kind in zip(made, kinds, strict=True)]


def _middles(table: Table, name: str) -> "pl.Series | None":
    """Return the middle of each cell of a column with an order, or None for other columns."""
    import polars as pl

    cells = (table.cells or {}).get(name)
    if cells is not None and isinstance(holds := cells.holds, OrderedCells):
        middle = (holds.low.cast(pl.Float64) + holds.high.cast(pl.Float64)) / 2
        return middle.gather(cells.of_row).alias(name)
    values = table.series(name)
    return values.cast(pl.Float64) if values.dtype.is_numeric() else None


def check_population(original: Table, population: Table) -> None:
    """Refuse a population file that is the original."""
    shared = [name for name in original.column_names if name in population.column_names]
    if shared and _first_same([("", original), ("", population)], shared) is not None:
        raise InputError(
            f"{population.name!r} is the original: every person would be compared with themselves. Pass people from "
            "another source"
        )


def _refuse_lacking(what: str, table: Table, columns: Sequence[str], fix: str) -> None:
    lacking = [name for name in columns if name not in table.column_names]
    if lacking:
        more = f" and {len(lacking) - _LISTED} more" if len(lacking) > _LISTED else ""
        word = "column" if len(lacking) == 1 else "columns"
        raise InputError(f"{what} the {word} {', '.join(lacking[:_LISTED])}{more}. {fix}")


def _first_same(
    named: Sequence[tuple[str, Table]], columns: Sequence[str], *, first: bool = False
) -> tuple[str, str] | None:
    """Return the names of the first two tables with the same rows in any order; ``first`` looks at one alone."""
    names, tables = [name for name, _ in named], [table for _, table in named]
    if len({table.rows for table in tables}) == len(tables):
        return None
    agreed = agree(*(replace(table, cells=None).select(list(columns)) for table in tables))
    seen: dict[tuple[int, bytes], str] = {}
    for place, (name, table) in enumerate(zip(names, agreed, strict=True)):
        key = table.rows, table.content.hash_rows(0).sort().to_numpy().tobytes()
        if key in seen and (not first or seen[key] == names[0]):
            return seen[key], name
        if not first or place == 0:
            seen.setdefault(key, name)
    return None

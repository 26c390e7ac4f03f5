"""Records of people over time: tables and settings to checked inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.histories import History, Lifetime
from unveil.data.table import Table
from unveil.errors import InputError, did_you_mean, shortened
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings
from unveil.questions.link.settings import LinkSettings
from unveil.questions.reading import reading_of
from unveil.report.text import count

#: Linking without periods compares all pairs of so many pseudonyms at most.
MOST_PSEUDONYMS = 4_000
#: Time steps of unicity unless others are given.
_TIME_STEPS = ("1h", "6h", "1d", "7d")


@dataclass(frozen=True)
class LinkInputs:
    """Checked tables and settings; every part of the answer starts from them."""

    tables: tuple[Table, ...]
    settings: LinkSettings
    #: The lifetimes, from the shortest; empty where another rule holds.
    lifetimes: tuple[str, ...]
    #: The lifetime that is analyzed in full.
    at: str
    points: tuple[int, ...]
    #: Steps of unicity by column; the time is called ``time``.
    steps: dict[str, tuple[str, ...]]
    #: Where the randomness of all parts starts.
    entropy: int
    notes: tuple[str, ...] = ()

    def rng(self, part: str) -> np.random.Generator:
        """Return the source of randomness of one part, wherever it is computed."""
        return np.random.default_rng([self.entropy, *part.encode()])

    def history(self, lifetime: str = "") -> History:
        """Return records and truth under pseudonyms of a lifetime."""
        asked = self.settings
        common: dict[str, Any] = {
            "person": asked.person,
            "time": asked.time,
            "columns": asked.columns,
            "keep_identifiers": asked.keep_identifiers,
        }
        if len(self.tables) > 1:
            made = History.from_tables(self.tables, **common)
        else:
            made = History.from_table(
                self.tables[0], period=asked.period, pseudonym=asked.pseudonym, lifetime=lifetime, **common
            )
        if not made.separate:
            made = _fewer(made, self.rng("fewer"))
        if asked.shuffle:
            made = made.exchanged(self.stratum(made), rng=self.rng(f"shuffle {lifetime}"))
        return made

    def stratum(self, history: History) -> IntArray | None:
        """Return the group of each item that the attacker knows already, if any."""
        return history.stratum(*self.settings.within) if self.settings.within else None

    @property
    def policy(self) -> UnlinkabilitySettings:
        """The settings of unlinkability."""
        return {"alpha": self.settings.alpha, "beta": self.settings.beta}


def read(given: Sequence[Any], settings: LinkSettings, *, names: Sequence[str] = (), entropy: int) -> LinkInputs:
    """Return what the tables hold, checked."""
    if not given:
        raise InputError("No table was given. Pass one with several records per person, or several")
    if not settings.person:
        raise InputError("The column that identifies a person is missing. Name it with person")
    reading = reading_of(settings)
    called = [*names, *[""] * len(given)]
    tables = [reading.table(each, name) for each, name in zip(given, called, strict=False)]
    tables = _apart(tables)
    reading.check(tables)
    for name in (*settings.within, *settings.group_by, *settings.columns):
        for table in tables:
            table.column(name)
    if len(tables) > 1 and (settings.lifetime or settings.period):
        stated = "lifetime" if settings.lifetime else "period"
        raise InputError(f"Each table is a period, so {stated} does not apply. Pass one table, or remove it")
    written = (part.strip() for each in settings.lifetime for part in each.split(","))
    lifetimes = tuple(sorted(dict.fromkeys(part for part in written if part), key=_length))
    at = settings.at or (lifetimes[-1] if lifetimes else "")
    if at and at not in lifetimes:
        stated = ", ".join(lifetimes) or "none"
        raise InputError(f"The lifetime {at!r} is not among those compared: {stated}. Add it to lifetime")
    rng = np.random.default_rng([entropy, *b"people"])
    tables, notes = _some_people(tables, settings, rng)
    return LinkInputs(
        tables=tuple(tables),
        settings=settings,
        lifetimes=lifetimes,
        at=at,
        points=_points(settings.points),
        steps=_steps(settings, tables[0]),
        entropy=entropy,
        notes=tuple(notes),
    )


def _apart(tables: list[Table]) -> list[Table]:
    """Return tables with different names, because they are names of periods."""
    from dataclasses import replace

    names = [table.name for table in tables]
    if len(set(names)) == len(names):
        return tables
    return [replace(table, name=f"table {place}") for place, table in enumerate(tables, 1)]


def _length(text: str) -> tuple[float, float]:
    lifetime = Lifetime.of(text)
    return lifetime.days, lifetime.records


def _points(written: Any) -> tuple[int, ...]:
    found = []
    several = written if isinstance(written, list | tuple) else [written]
    for text in (part for each in several for part in str(each).split(",")):
        if not text.strip().isdecimal() or not 1 <= int(text) <= 20:
            raise InputError("points holds a value that is no whole number from 1 to 20. Write 1,2,4")
        found.append(int(text))
    return tuple(sorted(set(found)))


def _steps(settings: LinkSettings, table: Table) -> dict[str, tuple[str, ...]]:
    steps: dict[str, tuple[str, ...]] = {}
    for text in settings.generalize:
        column, colon, written = (part.strip() for part in text.rpartition(":"))
        several = tuple(part.strip() for part in written.split(",") if part.strip())
        if not colon or not column or not several:
            raise InputError(
                "generalize is not in the required form. Write COLUMN:STEP,STEP such as stop:2digits,3digits"
            )
        if column != settings.time:
            table.column(column)
        if column in steps:
            raise InputError(f"generalize names the column {column!r} twice. Put all its steps behind one colon")
        steps[column] = several
    others = [column for column in steps if column != settings.time]
    if len(others) > 1:
        raise InputError(
            f"generalize names {len(others)} columns besides the time, but one is compared with it. Name one column"
        )
    if settings.time:
        steps["time"] = steps.pop(settings.time, _TIME_STEPS)
    return steps


def _some_people(
    tables: list[Table], settings: LinkSettings, rng: np.random.Generator
) -> tuple[list[Table], list[str]]:
    """Return the records of at most the stated number of people, drawn at random."""
    import polars as pl

    if any(settings.person not in table.column_names for table in tables):
        shared = [name for name in tables[0].column_names if all(name in table.column_names for table in tables)]
        columns = ", ".join(map(shortened, shared[:12])) or "none"
        hint = did_you_mean(settings.person, shared) or f" Shared columns: {columns}"
        raise InputError(f"There is no column {settings.person!r} for the person.{hint}")
    owners = [table.series(settings.person).cast(pl.String) for table in tables]
    everyone = pl.concat(owners).drop_nulls().unique().sort()
    if everyone.len() <= settings.people:
        return tables, []
    drawn = everyone.gather(np.sort(rng.choice(everyone.len(), settings.people, replace=False)))
    rows = [np.flatnonzero(each.is_in(drawn.implode()).fill_null(value=False).to_numpy()) for each in owners]
    if any(each.size == 0 for each in rows):
        raise InputError("Some table has no record of the people drawn. Raise the number of people")
    note = (
        f"{count(settings.people)} of {count(everyone.len())} people were drawn at random. Fewer people are easier to "
        "link, so results for all people would be lower."
    )
    from dataclasses import replace

    return [replace(table.take(each), name=table.name) for table, each in zip(tables, rows, strict=True)], [note]


def _fewer(history: History, rng: np.random.Generator) -> History:
    """Return the records of fewer people, so that all pairs of their pseudonyms can be compared."""
    if history.released.items <= MOST_PSEUDONYMS:
        return history
    order = rng.permutation(history.people)
    own = np.bincount(history.item_person, minlength=history.people)[order]
    number = int(np.searchsorted(np.cumsum(own), MOST_PSEUDONYMS, side="right"))
    if number < 2:
        raise InputError(
            f"A person has more than {MOST_PSEUDONYMS} pseudonyms. Choose longer lifetimes, so that they have fewer"
        )
    return history.of_people(order[:number])


def identifiers_of(history: History, roles: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that have one value per person and one person per value."""
    found = []
    for name in history.records.column_names:
        values = history.records.series(name)
        if name in roles or not values.null_count() < len(values):
            continue
        codes = values.cast(str).rank("dense").fill_null(0).to_numpy().astype(np.int64)
        seen = codes > 0
        pairs = np.unique(codes[seen] * history.people + history.person[seen]).size
        if pairs == np.unique(codes[seen]).size == np.unique(history.person[seen]).size < seen.sum():
            found.append(name)
    return tuple(found)

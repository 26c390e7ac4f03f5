"""Records of people over time, under pseudonyms that change."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.pseudonyms import Lifetime as Lifetime
from unveil.data.pseudonyms import PseudonymRule, check_rule, codes_of, items_by_rule, joint, of_items
from unveil.data.table.column import listed
from unveil.data.table.table import Table
from unveil.errors import InputError, column_names

if TYPE_CHECKING:
    import polars as pl

#: The compared column that is the time from the end of one pseudonym to the start of the next.
GAP = "time gap"
#: Numbers with at most this many distinct values are compared as values.
FEW_VALUES = 30
#: So many whole numbers that are all different hardly are a coincidence.
_MANY_RECORDS = 1_000
#: A refusal gives this many reasons at most.
_SHOWN_REASONS = 3
_MICROSECONDS_A_DAY = 86_400e6


class HistoryColumn(NamedTuple):
    """One compared column: codes of values, -1 if missing, or numbers, NaN if missing.

    ``days`` are the times of records whose gaps between pseudonyms are compared.
    """

    name: str
    codes: Int32Array | None = None
    numbers: FloatArray | None = None
    days: FloatArray | None = None

    def take(self, rows: IntArray) -> "HistoryColumn":
        """Return the column of some records."""
        codes = None if self.codes is None else self.codes[rows]
        numbers, days = (None if each is None else each[rows] for each in (self.numbers, self.days))
        return HistoryColumn(self.name, codes, numbers, days)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedHistory:
    """What the attacker gets: records by pseudonym and period, without persons.

    An item is a pseudonym with all its records. Where ``separate``, two items of one period belong to two people.

    Attributes
    ----------
    columns
        The compared columns, one entry per record.
    item
        The item of each record, numbered from 0.
    period
        The period of each item; all 0 where there are no periods.
    periods
        The names of the periods, in order.
    """

    columns: tuple[HistoryColumn, ...] = field(repr=False)
    item: IntArray = field(repr=False)
    period: IntArray = field(repr=False)
    periods: tuple[str, ...]
    separate: bool = True

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.period.size)

    @property
    def days(self) -> FloatArray | None:
        """The time of each record, where gaps between pseudonyms are compared."""
        return next((each.days for each in self.columns if each.days is not None), None)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of records of each item."""
        return np.bincount(self.item, minlength=self.items)

    def items_of(self, period: int) -> IntArray:
        """Return the items of a period, ascending."""
        return np.flatnonzero(self.period == period)

    def only(self, columns: Sequence[str]) -> "ReleasedHistory":
        """Return the release with these compared columns alone."""
        missing = set(columns) - {each.name for each in self.columns}
        if missing or not columns:
            raise InputError(
                f"the release is compared by {listed([each.name for each in self.columns])}. Name some of these columns"
            )
        return replace(self, columns=tuple(each for each in self.columns if each.name in columns))


@dataclass(frozen=True, eq=False)
class History:
    """Records with their persons, periods, and pseudonyms: release and truth.

    Made by `History.from_table` and `History.from_tables`. Attacks take ``released``, which has no person.

    Attributes
    ----------
    records
        The compared columns.
    person, period, pseudonym
        The person, the period and the item of each record, each numbered from 0.
    time
        Days since the first record, or None where no time is known.
    periods
        The names of the periods.
    separate
        Whether no person has two items in a period, by the pseudonym rule.
    compared
        The compared columns as codes or numbers.
    notes
        What was left out, and why.

    Examples
    --------
    >>> visits = Table.from_frame({"card": [7, 7, 9, 9], "day": [1, 9, 2, 8], "place": ["a", "b", "b", "b"]})
    >>> history = History.from_table(visits, person="card", time="day", lifetime="7d")
    >>> history.periods, history.item_person, history.released.period
    (('0d', '7d'), array([0, 1, 0, 1]), array([0, 0, 1, 1]))
    """

    records: Table
    person: IntArray = field(repr=False)
    period: IntArray = field(repr=False)
    pseudonym: IntArray = field(repr=False)
    time: FloatArray | None = field(default=None, repr=False)
    periods: tuple[str, ...] = ("all",)
    separate: bool = True
    compared: tuple[HistoryColumn, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def from_table(
        cls,
        table: Table,
        *,
        person: str,
        time: str = "",
        period: str = "",
        pseudonym: str = "",
        lifetime: str = "",
        columns: Sequence[str] = (),
        keep_identifiers: bool = False,
    ) -> "History":
        """Return the history in a table with several records per person.

        Parameters
        ----------
        table
            One row per record.
        person
            The column that says whose a record is. Attacks never see it.
        time
            The column of times: dates (in UTC where they state a zone), or numbers that count days.
        period
            The column of periods (wave, year). A person has one pseudonym in each.
        pseudonym
            The column of released pseudonyms, where the data have one.
        lifetime
            How long a pseudonym lives: ``7d`` (all change at the same moment), ``5 records`` of a person, or ``none``
            for one record. One of ``period``, ``pseudonym`` and ``lifetime`` is needed.
        columns
            The columns to compare; empty for all but those above, free text, and identifiers.
        keep_identifiers
            Whether columns are compared that tell a person's records by one value.
        """
        return _built([table], person, time, period, pseudonym, lifetime, columns, keep_identifiers)

    @classmethod
    def from_tables(
        cls,
        tables: Sequence[Table],
        *,
        person: str,
        time: str = "",
        columns: Sequence[str] = (),
        keep_identifiers: bool = False,
    ) -> "History":
        """Return the history of several tables: each is a period of its own."""
        if len(tables) < 2:
            raise InputError("Only one table was given, but each table is a period. Pass two, or use from_table")
        return _built(list(tables), person, time, "", "", "", columns, keep_identifiers)

    @cached_property
    def released(self) -> ReleasedHistory:
        """What the attacker gets."""
        return ReleasedHistory(
            columns=self.compared,
            item=self.pseudonym,
            period=of_items(self.pseudonym, self.period),
            periods=self.periods,
            separate=self.separate,
        )

    @cached_property
    def item_person(self) -> IntArray:
        """The person of each item: the truth, as labels for `Partition.from_labels`."""
        return of_items(self.pseudonym, self.person)

    @property
    def people(self) -> int:
        """Number of people."""
        return int(self.person.max()) + 1

    @property
    def sizes(self) -> IntArray:
        """Number of records of each item: the weights of items."""
        return self.released.sizes

    def partners(self, earlier: int = 0, later: int = 1) -> IntArray:
        """Return for each item of the later period its place among the earlier ones.

        -1 for people who are in the later period alone. This is the truth for the candidates of two periods.
        """
        ones, others = (self.released.items_of(period) for period in (earlier, later))
        place = np.full(self.people, -1, np.int64)
        place[self.item_person[ones]] = np.arange(ones.size)
        return place[self.item_person[others]]

    def stratum(self, *columns: str) -> IntArray:
        """Return a group for each item, by the most frequent values of columns."""
        groups = np.zeros(self.released.items, np.int64)
        for name in columns:
            codes = codes_of(self.records.series(self.records.column(name).name))
            count = np.zeros((groups.size, int(codes.max(initial=0)) + 2), np.int64)
            np.add.at(count, (self.pseudonym, codes + 1), 1)
            groups = np.unique(groups * count.shape[1] + count.argmax(axis=1), return_inverse=True)[1]
        return groups

    def of_people(self, people: IntArray) -> "History":
        """Return the records of some people, numbered from 0."""
        return self.of_records(np.isin(self.person, people))

    def of_periods(self, *periods: int) -> "History":
        """Return the records of some periods, in the order of all."""
        return self.of_records(np.isin(self.period, periods))

    def of_records(self, kept: BoolArray) -> "History":
        """Return some records, with persons, periods and items numbered from 0."""
        if not kept.any():
            raise InputError("No record is left of these people and periods. Choose different ones")
        number = [np.unique(each[kept], return_inverse=True) for each in (self.person, self.period, self.pseudonym)]
        rows = np.flatnonzero(kept)
        return replace(
            self,
            records=self.records.take(rows),
            person=number[0][1],
            period=number[1][1],
            pseudonym=number[2][1],
            time=None if self.time is None else self.time[rows],
            periods=tuple(self.periods[each] for each in number[1][0]),
            compared=tuple(column.take(rows) for column in self.compared),
        )

    def exchanged(self, stratum: IntArray | None = None, *, rng: np.random.Generator) -> "History":
        """Return the history with items exchanged between people at random.

        Items are exchanged within their period, and within their stratum where one is given. The release stays the
        same, so that only who is who is lost.
        """
        group = self.released.period if stratum is None else self.released.period * (stratum.max() + 1) + stratum
        owner = self.item_person.copy()
        for each in np.unique(group):
            items = np.flatnonzero(group == each)
            owner[items] = owner[rng.permutation(items)]
        return replace(self, person=owner[self.pseudonym])


def _built(
    tables: list[Table],
    person: str,
    time: str,
    period: str,
    pseudonym: str,
    lifetime: str,
    columns: Sequence[str],
    keep_identifiers: bool,
) -> History:
    check_rule(len(tables), time, period, pseudonym, lifetime)
    names = _common_columns(tables, [each for each in (person, time, period, pseudonym) if each])
    records = _stacked(tables, names)
    table_of = np.repeat(np.arange(len(tables)), [each.rows for each in tables])
    notes: list[str] = []
    owners = records.series(person)
    blank = owners.is_null().to_numpy()
    if blank.any():
        notes.append(f"{int(blank.sum())} records without a person were left out.")
        if blank.all():
            raise InputError(f"The column {person!r} is empty, so no record has a person. Name another column")
        records, table_of = records.take(np.flatnonzero(~blank)), table_of[~blank]
    who = codes_of(records.series(person)).astype(np.int64)
    _check_people(who, person)
    moment = _days(records, time) if time else None
    rule = items_by_rule(records, who, table_of, [each.name for each in tables], moment, period, pseudonym, lifetime)
    notes += rule.notes
    wanted = list(column_names(columns, "columns")) if columns else []
    for name in wanted:
        if records.column(name).name in (person, period, pseudonym):
            raise InputError(f"The column {name!r} is among the compared columns. Remove it from columns")
    candidates = wanted or [name for name in names if name not in (person, time, period, pseudonym)]
    compared: list[HistoryColumn] = []
    left_out: list[tuple[str, str]] = []
    for name in candidates:
        column, why = _column(records, name, who, rule, bool(wanted), keep_identifiers)
        if column is not None:
            compared.append(column)
            if column.numbers is not None and _numbers_records(column.numbers):
                notes.append(f"The column {name!r} has another number in each record. Remove it if it numbers records.")
        else:
            left_out.append((name, why))
    if time and not wanted and records.column(time).kind == "date":
        compared += _clock(records.series(time), rule)
    if moment is not None and not wanted and GAP not in names:
        compared += _gap(moment, who, rule)
    if not compared:
        reasons = "; ".join(f"{name!r}: {why}" for name, why in left_out[:_SHOWN_REASONS])
        why = f" ({reasons})" if reasons else ""
        raise InputError(f"No column is left to compare the records by{why}. Add columns with values that recur")
    notes += [f"The column {name!r} is not compared: {why}." for name, why in left_out]
    shown = records.select(names) if names else records
    return History(
        shown, who, rule.period, rule.item, moment, rule.periods, rule.separate, tuple(compared), tuple(notes)
    )


def _common_columns(tables: list[Table], needed: list[str]) -> list[str]:
    for table in tables:
        for name in needed:
            table.column(name)
    common = [name for name in tables[0].column_names if all(name in table.column_names for table in tables)]
    if not set(common) - set(needed):
        raise InputError("The tables have no common column to compare. Give common columns the same name")
    return common


def _stacked(tables: list[Table], names: list[str]) -> Table:
    if len(tables) == 1:
        return tables[0].select(names)
    import polars as pl

    frames = [table.select(names).frame for table in tables]
    columns = {}
    for name in names:
        parts = [frame[name] for frame in frames]
        alike = len({part.dtype for part in parts}) == 1 or all(part.dtype.is_numeric() for part in parts)
        same = [pl.DataFrame({name: part if alike else part.cast(pl.String)}) for part in parts]
        columns[name] = pl.concat(same, how="vertical_relaxed")[name]
    sorted_rows = [frame.select(pl.struct(pl.all().cast(pl.String)).hash().sort()) for frame in frames]
    if any(one.equals(other) for one, other in combinations(sorted_rows, 2)):
        raise InputError("Two tables have the same rows, so row equality links them. Pass tables of two periods")
    kinds = {column.name: column.kind for column in tables[0].columns if column.name in names}
    ordered = [name for name, kind in kinds.items() if kind == "ordered"]
    declared: dict[str, Any] = {name: "category" if name in ordered else kind for name, kind in kinds.items()}
    try:
        return Table.from_frame(pl.DataFrame(columns), name="history", kinds=declared)
    except InputError:  # a column that is a number in one table and text in another
        return Table.from_frame(pl.DataFrame(columns), name="history")


def _check_people(who: IntArray, person: str) -> None:
    records = np.bincount(who)
    if records.size == 1:
        raise InputError(f"The column {person!r} has one person only, so every record is linked. Name another column")
    if records.max() == 1:
        raise InputError(
            f"No person in {person!r} has two records, so there is nothing to link. Use unveil audit instead"
        )


def _days(records: Table, time: str) -> FloatArray:
    """Return the time of each record in days since the first one."""
    column = records.column(time)
    if column.kind not in ("date", "number"):
        raise InputError(
            f"The time column {time!r} was read as {column.kind}. Write ISO dates in one time zone, or numbers of days"
        )
    values = records.series(time)
    if values.null_count():
        raise InputError(
            f"The time column {time!r} has {values.null_count()} missing cells. Fill in or remove these rows"
        )
    if column.kind == "number":
        days = values.to_numpy().astype(np.float64)
    else:
        days = values.dt.epoch("us").to_numpy() / _MICROSECONDS_A_DAY
    return np.asarray(days - np.floor(days.min()), np.float64)


def _column(
    records: Table, name: str, who: IntArray, rule: PseudonymRule, asked: bool, keep_identifiers: bool
) -> tuple[HistoryColumn | None, str]:
    """Return a column in compared form, or None with the reason."""
    kind, values = records.column(name).kind, records.series(name)
    if kind == "text" and not asked:
        return None, "it is free text"
    codes = codes_of(values)
    seen = codes >= 0
    distinct = int(codes.max(initial=-1)) + 1
    if distinct < 2:
        return None, "it has no value" if distinct == 0 else "it has one value only"
    if not keep_identifiers:
        pairs = int(np.unique(joint(codes[seen], who[seen])).size)
        if pairs == distinct == np.unique(who[seen]).size < seen.sum():
            return None, "it identifies each person and links every record"
    is_number = kind in ("number", "date") and distinct > FEW_VALUES
    if not is_number and distinct == seen.sum():
        return None, "all its values are distinct"
    if len(rule.periods) > 1 and np.unique(joint(codes[seen], rule.period[seen])).size <= np.unique(rule.period).size:
        return None, "it has one value in each period"
    if not is_number:
        return HistoryColumn(name, codes=codes), ""
    if kind == "date":
        values = values.dt.epoch("us")
    return HistoryColumn(name, numbers=values.fill_null(float("nan")).to_numpy().astype(np.float64)), ""


def _numbers_records(numbers: FloatArray) -> bool:
    """Return whether many records all have whole numbers of their own."""
    is_whole = numbers.size >= _MANY_RECORDS and bool((numbers == np.floor(numbers)).all())
    return is_whole and np.unique(numbers).size == numbers.size


def _clock(moments: "pl.Series", rule: PseudonymRule) -> list[HistoryColumn]:
    """Return hour and weekday, unless a period fixes them."""
    hours = moments.dt.hour().to_numpy().astype(np.int32)
    weekdays = (moments.dt.weekday().to_numpy() - 1).astype(np.int32)
    found = []
    if hours.any() and (rule.days == 0 or rule.days >= 1):
        found.append(HistoryColumn("hour", codes=hours))
    if np.unique(weekdays).size > 1 and (rule.days == 0 or rule.days >= 7):
        found.append(HistoryColumn("weekday", codes=weekdays))
    return found


def _gap(moment: FloatArray, who: IntArray, rule: PseudonymRule) -> list[HistoryColumn]:
    """Return the times of records, where each person has one pseudonym at a time and changes it at an own time."""
    if len(rule.periods) > 1 or 2 * (rule.item.max() + 1) > rule.item.size:
        return []
    first, last = span_of_items(rule.item, moment)
    owner = of_items(rule.item, who)
    order = np.lexsort((first, owner))
    same = owner[order][1:] == owner[order][:-1]
    overlaps = (first[order][1:] < last[order][:-1]) & same
    return [] if overlaps.any() else [HistoryColumn(GAP, days=moment)]


def span_of_items(item: IntArray, moment: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first and the last time of each item."""
    items = int(item.max()) + 1
    first, last = np.full(items, np.inf), np.full(items, -np.inf)
    np.minimum.at(first, item, moment)
    np.maximum.at(last, item, moment)
    return first, last

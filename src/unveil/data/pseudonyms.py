"""Pseudonym rules: which records have one pseudonym, and in which period."""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.table.table import Table
from unveil.errors import InputError, whole_number

if TYPE_CHECKING:
    import polars as pl

_DAYS = {"min": 1 / 1440, "h": 1 / 24, "d": 1.0, "w": 7.0}


class Lifetime(NamedTuple):
    """How long a pseudonym lives: days, a number of records, or one record."""

    days: float = 0.0
    records: int = 0

    @classmethod
    def of(cls, text: str) -> "Lifetime":
        """Return the lifetime that the text states.

        >>> Lifetime.of("7d").days, Lifetime.of("12h").days, Lifetime.of("5 records").records, Lifetime.of("none")
        (7.0, 0.5, 5, Lifetime(days=0.0, records=1))
        """
        if text.strip() == "none":
            return cls(records=1)
        found = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*(min|h|d|w|records?)\s*", text)
        if found is None:
            raise InputError(
                f"The lifetime {text!r} has no known unit. Write a number with min, h, d, w or records, such as 7d, "
                "or none for a new pseudonym with each record"
            )
        amount, unit = float(found[1]), found[2]
        if amount <= 0:
            raise InputError(f"The lifetime {text!r} is not above 0. Write a longer one, such as 1d")
        if unit.startswith("record"):
            return cls(records=whole_number(int(amount) if amount.is_integer() else amount, "the number of records"))
        return cls(days=amount * _DAYS[unit])


def check_rule(tables: int, time: str, period: str, pseudonym: str, lifetime: str) -> None:
    """Refuse settings that do not say how long a pseudonym lives."""
    stated = [name for name, value in (("period", period), ("pseudonym", pseudonym), ("lifetime", lifetime)) if value]
    if tables == 1 and not stated:
        raise InputError(
            "Nothing says how long a pseudonym lives. State a period column, a pseudonym column, or a lifetime (7d)"
        )
    if lifetime and len(stated) > 1:
        raise InputError(f"Both lifetime and {stated[0]} say how long a pseudonym lives. State one of them")
    if lifetime and Lifetime.of(lifetime).days and not time:
        raise InputError(
            f"The lifetime {lifetime!r} is a length of time, but no time column is named. Name it with time"
        )


class PseudonymRule(NamedTuple):
    """Items and periods of all records, by the pseudonym rule."""

    item: IntArray
    period: IntArray
    periods: tuple[str, ...]
    separate: bool
    notes: tuple[str, ...] = ()
    days: float = 0.0


def items_by_rule(
    records: Table,
    who: IntArray,
    table_of: IntArray,
    tables: list[str],
    moment: FloatArray | None,
    period: str,
    pseudonym: str,
    lifetime: str,
) -> PseudonymRule:
    """Return item and period of each record by the stated rule."""
    none = np.zeros(who.size, np.int64)
    if lifetime:
        return _by_lifetime(Lifetime.of(lifetime), lifetime, who, moment)
    if period:
        wave, names = _ordered(records.series(period), period)
    elif len(tables) > 1:
        wave, names = table_of, tuple(tables)
    else:
        wave, names = none, ("all",)
    if not pseudonym:
        return _by_period(who, wave, names)
    label = codes_of(records.series(pseudonym))
    if label.min() < 0:
        raise InputError(
            f"The pseudonym column {pseudonym!r} has {int((label < 0).sum())} missing cells. Remove these rows"
        )
    item = joint(label, wave)
    if joint(item, who).max() > item.max():
        raise InputError(
            f"Some pseudonyms of {pseudonym!r} belong to two persons, so the truth is wrong. Correct the person column"
        )
    owner, when = of_items(item, who), of_items(item, wave)
    _check_change(pseudonym, of_items(item, label.astype(np.int64)), owner, period or "the table")
    if len(names) == 1:
        return PseudonymRule(_numbered(item, wave), wave, names, False)
    twice = np.unique(joint(owner, when)).size < owner.size
    note = ("Some people have two pseudonyms in one period, so items of one period may be linked.",) if twice else ()
    return PseudonymRule(_numbered(item, wave), wave, names, not twice, note)


def _check_change(pseudonym: str, label: IntArray, owner: IntArray, period: str) -> None:
    """Refuse pseudonyms that never change: they link records by themselves."""
    if np.unique(owner).size == owner.size:
        raise InputError(
            f"Each person has one pseudonym in {pseudonym!r}, which links all their records by itself. Release "
            "pseudonyms that change, or name another column"
        )
    several = np.bincount(label)[label] > 1
    if several.any() and np.unique(joint(label[several], owner[several])).size == np.unique(label[several]).size:
        raise InputError(
            f"Pseudonyms in {pseudonym!r} stay the same when {period!r} changes, and link these records by themselves. "
            "State the pseudonym column alone"
        )


def _by_lifetime(lifetime: Lifetime, text: str, who: IntArray, moment: FloatArray | None) -> PseudonymRule:
    none = np.zeros(who.size, np.int64)
    if lifetime.records or moment is None:
        order = np.lexsort((none if moment is None else moment, who))
        first = np.searchsorted(who[order], np.arange(who.max() + 1))
        place = np.empty_like(who)
        place[order] = np.arange(who.size) - np.repeat(first, np.bincount(who))
        return PseudonymRule(_numbered(joint(who, place // lifetime.records), none), none, ("all",), False)
    wave = np.floor(moment / lifetime.days).astype(np.int64)
    if wave.max() == 0:
        raise InputError(
            f"The lifetime {text!r} is longer than the data, which span {moment.max():.3g} days. Write a shorter one"
        )
    used, wave = np.unique(wave, return_inverse=True)
    names = tuple(f"{each * lifetime.days:g}d" for each in used)
    return _by_period(who, wave, names)._replace(days=lifetime.days)


def _by_period(who: IntArray, wave: IntArray, names: tuple[str, ...]) -> PseudonymRule:
    if len(names) < 2:
        raise InputError(
            "All records are of one period, so nothing can be linked over time. Name another period column"
        )
    item = _numbered(joint(who, wave), wave)
    lonely = np.flatnonzero(np.bincount(of_items(item, wave)) == 1)
    if lonely.size:
        raise InputError(
            f"{lonely.size} of {len(names)} periods have one person only, so there is nothing to attack in them. "
            "Merge or remove them"
        )
    return PseudonymRule(item, wave, names, True)


def codes_of(values: "pl.Series") -> Int32Array:
    """Return numbers of values in their order, -1 for missing ones."""
    import polars as pl

    ranks = values.cast(pl.String).rank("dense") if values.dtype == pl.Boolean else values.rank("dense")
    return (ranks.cast(pl.Int64).fill_null(0).to_numpy() - 1).astype(np.int32)


def _ordered(values: "pl.Series", name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Return each record's period and the names of all, in order."""
    if values.null_count():
        raise InputError(f"The period column {name!r} has {values.null_count()} missing cells. Remove these rows")
    codes = codes_of(values).astype(np.int64)
    first = np.unique(codes, return_index=True)[1]
    return codes, tuple(str(values[int(row)]) for row in first)


def joint(one: "np.ndarray[Any, Any]", other: "np.ndarray[Any, Any]") -> IntArray:
    """Return a number for each distinct pair, from 0."""
    return np.unique(one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other, return_inverse=True)[1]


def _numbered(item: IntArray, wave: IntArray) -> IntArray:
    """Return item numbers that ascend with the period."""
    return joint(wave, item)


def of_items(item: IntArray, of_record: IntArray) -> IntArray:
    """Return the value of each item from one of its records."""
    result = np.zeros(int(item.max()) + 1, np.int64)
    result[item] = of_record
    return result

"""Detect direct identifiers: names, numbers, and texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from unveil._figure import figure
from unveil._kernels.threads import in_threads, worth
from unveil.data.identifiers import patterns
from unveil.data.identifiers._shapes import LOOKS, PLAUSIBLE, LooksLike, ValueShape
from unveil.data.identifiers._values import ColumnSample
from unveil.data.table import Column, Table

__all__ = ["Flag", "FlagCertainty", "LooksLike", "direct_identifiers"]

#: So many cells are held at a time, as their different values.
_TOGETHER = 2**20

FlagCertainty = Literal["by name and content", "by content", "by name"]


@dataclass(frozen=True, kw_only=True)
class Flag:
    """Column that looks like a direct identifier, with the reason."""

    COUNTS = "statistic"

    column: str = figure("The name of the column.")
    looks_like: LooksLike = figure("Apparent type of its values.")
    sure: FlagCertainty = figure("Evidence: the column name, its values, or both.")
    share: float = figure(
        "Share of distinct values with this shape, from 0 (only the name matches) to 1 (all of them)."
    )
    reason: str = figure("Reason, in one sentence.")


def direct_identifiers(table: Table) -> tuple[Flag, ...]:
    """Return at most one flag per column for direct identifiers.

    Names of columns are read by their words (English, German, French, Spanish, Italian, Dutch), values by their shape,
    their check digits and how they differ. A value counts once, however often it occurs; of more than 4000 different
    ones those evenly spaced in their order are looked at, so that the order of rows plays no part. A column without
    any value, and truth values, are never flagged. That nothing is flagged does not mean that nothing is there.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"contact": ["ann@example.org", "bea@example.org"], "age": [31, 40]})
    >>> (flag,) = direct_identifiers(Table.from_frame(people))
    >>> flag.column, flag.looks_like, flag.sure, flag.share
    ('contact', 'email', 'by content', 1.0)
    >>> flag.reason
    'All of the different values hold an @ between two parts, as email addresses do.'
    """
    many = max(1, _TOGETHER // max(table.rows, 1))
    parts = [table.columns[first : first + many] for first in range(0, len(table.columns), many)]
    flags = in_threads(lambda part: _flags(part, table), parts, threads=worth(table.rows))
    return tuple(flag for part in flags for flag in part)


def _flags(columns: Sequence[Column], table: Table) -> list[Flag]:
    everyone = (ColumnSample(column, table.content.cells[column.name]) for column in columns)
    filled = [seen for seen in everyone if seen.filled and seen.kind != "boolean"]
    # Every column before the next look: patterns are slow to compile, and too many to stay compiled.
    looks = [[_judged(seen, kind, look) for seen in filled] for kind, look in LOOKS.items()]
    return [flag for flag in map(_clearest, zip(*looks, strict=True)) if flag is not None]


def _clearest(flags: Sequence[Flag | None]) -> Flag | None:
    """Return the strongest flag of one column, or None."""
    # A shape that few values have says less than any that most have; a mere name says least.
    found = [flag for flag in flags if flag is not None]
    return min(found, key=lambda flag: (flag.sure == "by name", flag.share < 0.5), default=None)


def _judged(sample: ColumnSample, kind: LooksLike, look: Callable[[ColumnSample], ValueShape]) -> Flag | None:
    terms = sample.runs & patterns.TERMS[kind]
    named = bool(terms) and _meant(sample, kind, terms)
    seems = look(sample)
    sure: FlagCertainty
    if named and seems.if_named:
        sure, reason = "by name and content", f"The column name suggests it, and {seems.says}."
    elif seems.alone:
        sure, reason = "by content", f"{seems.says[:1].upper()}{seems.says[1:]}."
    elif named and not terms <= patterns.AMBIGUOUS and PLAUSIBLE[kind](sample):
        sure, reason = "by name", _BY_NAME
    else:
        return None
    return Flag(column=sample.name, looks_like=kind, reason=reason, sure=sure, share=seems.share)


_BY_NAME = "The column name suggests it, and its values vary enough, but they match no known shape."


def _meant(sample: ColumnSample, kind: LooksLike, terms: frozenset[str]) -> bool:
    """Return whether the other words of the name leave room for that meaning."""
    others = {word for word in sample.words if not word.isdigit()}
    if kind == "name" and terms <= patterns.GENERIC:
        return others - patterns.GENERIC <= patterns.PERSONS
    if kind == "address":
        return not others & patterns.NOT_STREETS
    return True

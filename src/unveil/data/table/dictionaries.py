"""Data dictionaries, and the column types they imply."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unveil.data.table.forms import DeclaredKind, Kind, text_of
from unveil.data.table.kinds import Role, TypedColumn, settle
from unveil.data.table.markers import number_of
from unveil.data.table.rules import MOST_CODES, Confidence
from unveil.data.table.words import MarkerKind, marker_of_label, telling_word
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_NUMBERED = 0.8
_FEW_LABELS = 0.5
_UNEXPLAINED = 0.01
_SHOWN = 10
_NUMBER = re.compile(r"-?[0-9][0-9,]*(?:\.[0-9]+)?")


@dataclass(frozen=True, kw_only=True)
class DictionaryEntry:
    """Entry of a data dictionary for one column.

    Attributes
    ----------
    kind
        Its kind, or "coded" where it says which codes there are but not whether they have an order, or None.
    levels
        The values of an ordered column from the lowest to the highest, where they are listed.
    labels
        What each code means.
    markers
        Texts that stand for no value, with their classes.
    missing_ranges
        Ranges of numbers that stand for a missing value, both ends included.
    low, high
        The range of its numbers, where it is known.
    role
        Its role, where it is known.
    description
        What the column is, in words.
    """

    kind: Kind | Literal["coded"] | None = None
    levels: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    markers: Mapping[str, MarkerKind] = field(default_factory=dict)
    missing_ranges: tuple[tuple[float, float], ...] = ()
    low: float | None = None
    high: float | None = None
    role: Role | None = None
    description: str = ""


@dataclass(frozen=True)
class Dictionary:
    """Data dictionary: entries by column name.

    ``name`` is how messages call it, and ``confidence`` how far it is trusted: "dictionary", or "labels" for what the
    file of the table itself says. The last four are settings for reading every table: new names of columns, texts that
    stand for a missing value, columns whose released numbers are exact, and files with hierarchies.
    """

    name: str
    columns: Mapping[str, DictionaryEntry]
    confidence: Confidence = "dictionary"
    rename: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exact: tuple[str, ...] = ()
    hierarchies: Mapping[str, Path] = field(default_factory=dict)

    def notes_on(self, names: Sequence[str], table: str) -> list[str]:
        """Return the note on entries without a matching column."""
        unknown = [name for name in self.columns if name not in set(names)]
        if not unknown:
            return []
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        listed = ", ".join(map(repr, unknown[:_SHOWN])) + more
        return [f"{self.name} names {len(unknown)} columns that the {table} has not: {listed}"]


def dictionary_of_labels(
    labels: Mapping[str, Mapping[Any, str]],
    measures: Mapping[str, str] | None = None,
    missing: Mapping[str, Sequence[Any]] | None = None,
    *,
    name: str = "the labels in the file",
) -> Dictionary:
    """Return the dictionary in the metadata of a file.

    Parameters
    ----------
    labels
        For each column with labels what each code means.
    measures
        For each column "nominal", "ordinal" or "scale"; anything else says nothing.
    missing
        For each column the codes that stand for a missing value; a range is a pair of numbers or a mapping with "lo"
        and "hi", both ends included.
    name
        How messages call it.

    Examples
    --------
    >>> told = dictionary_of_labels({"q1": {1.0: "never", 2.0: "often", 9.0: "Refused"}}, {"q1": "ordinal"})
    >>> told.columns["q1"].kind, told.columns["q1"].markers
    ('ordered', {'9': 'missing'})
    """
    kinds: dict[str, Kind] = {"nominal": "category", "ordinal": "ordered", "scale": "number"}
    entries = {}
    for column in dict.fromkeys([*labels, *(measures or {}), *(missing or {})]):
        meanings = {code_text(code): str(label) for code, label in labels.get(column, {}).items()}
        codes, ranges = _missing_codes(column, (missing or {}).get(column, ()), name)
        told: dict[str, MarkerKind] = {code: marker_of_label(meanings.get(code, "")) or "missing" for code in codes}
        kind: Kind | Literal["coded"] | None = kinds.get((measures or {}).get(column, ""))
        entries[column] = DictionaryEntry(
            kind=kind or ("coded" if meanings else None),
            labels=meanings,
            markers=markers_of_labels(meanings) | told,
            missing_ranges=ranges,
        )
    return Dictionary(name, entries, "labels")


def code_text(code: Any) -> str:
    """Return a code as cells are written: whole numbers without decimals.

    >>> code_text(1.0), code_text(2), code_text(".a")
    ('1', '2', '.a')
    """
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def markers_of_labels(labels: Mapping[str, str]) -> dict[str, MarkerKind]:
    """Return the codes whose labels mean a missing value."""
    return {code: kind for code, label in labels.items() if (kind := marker_of_label(label)) is not None}


def checked_range(low: Any, high: Any, column: str, name: str) -> tuple[float, float]:
    """Return both ends of a range, or reject an invalid one."""
    ends = [number_of(str(end)) for end in (low, high)]
    if ends[0] is None or ends[1] is None or ends[0] > ends[1]:
        raise InputError(
            f"a range of column {column!r} in {name} must be two numbers, the lower one first, but is not. "
            "Exchange its ends, or write numbers"
        )
    return ends[0], ends[1]


def _missing_codes(column: str, codes: Sequence[Any], name: str) -> tuple[list[str], tuple[tuple[float, float], ...]]:
    single, ranges = [], []
    for code in codes:
        if isinstance(code, Mapping):
            code = code.get("lo"), code.get("hi")
        if isinstance(code, (tuple, list)) and len(code) == 2:
            low, high = checked_range(code[0], code[1], column, name)
            if low < high:
                ranges.append((low, high))
                continue
            code = low
        single.append(code_text(code))
    return single, tuple(ranges)


def settled_by(
    entry: DictionaryEntry, series: "pl.Series", declared: Mapping[str, MarkerKind], dictionary: Dictionary, table: str
) -> tuple[TypedColumn, list[str]]:
    """Return the column as declared in the dictionary, with notes.

    Raises
    ------
    InputError
        If cells do not fit the kind that the dictionary says.
    """
    markers: dict[str, MarkerKind] = {**_ranged(entry, series), **entry.markers, **declared}
    guess = settle(series, markers=markers, table=table)
    kind, reason, sure = _kind_by(entry, guess, dictionary)
    if kind is None:
        return guess, []
    why = f"by {dictionary.name}"
    settled = settle(series, declared=kind, markers=markers, why=why, table=table)
    settled = replace(settled, reason=reason, confidence=dictionary.confidence if sure else "uncertain")
    if not sure:
        settled = replace(settled, codes=guess.codes)
    if settled.kind == "category" and all(marker.told or number_of(marker.text) is None for marker in guess.markers):
        settled = replace(settled, markers=guess.markers, marked=guess.marked)
    return settled, _unexplained(entry, settled, dictionary)


def _ranged(entry: DictionaryEntry, series: "pl.Series") -> dict[str, MarkerKind]:
    """Return the numbers of the column that lie in a range of missing values."""
    if not entry.missing_ranges:
        return {}
    texts = text_of(series.drop_nulls().unique()).to_list()
    numbers = {text.strip(): number for text in texts if (number := number_of(text)) is not None}
    return {
        text: "missing"
        for text, number in sorted(numbers.items())
        if any(low <= number <= high for low, high in entry.missing_ranges)
    }


def _kind_by(
    entry: DictionaryEntry, guess: TypedColumn, dictionary: Dictionary
) -> tuple[DeclaredKind | None, str, bool]:
    """Return the declared type, the reason, and whether it is final."""
    says = f"as {dictionary.name} says"
    if entry.levels:
        return entry.levels, says, True
    if entry.kind != "coded":
        return entry.kind, says, True
    codes = [code for code in entry.labels if code not in entry.markers]
    different = guess.values.drop_nulls().n_unique()
    if guess.kind == "number" and different > MOST_CODES and len(codes) < _FEW_LABELS * different:
        return "number", f"{says}, which labels few of its many values", True
    if len(codes) <= 2:
        return "category", f"{says}: two codes", True
    if rank := _numbered(codes, entry.labels):
        return _ordered(rank), f"{says}: the labels of its codes are numbers that go one way", True
    for text in (guess.values.name, entry.description):
        word = telling_word(text)
        if word is not None:
            group = word[0] == "group"
            kind: DeclaredKind = "category" if group else _ordered(codes)
            return (
                kind,
                f"{says}: codes, and {word[1]!r} says that they {'are groups' if group else 'have an order'}",
                True,
            )
    return "category", f"{says}: codes, and nothing tells whether they have an order", False


def _ordered(codes: Sequence[str]) -> DeclaredKind:
    """Return the levels of an ordered column, as numbers if possible."""
    return "ordered" if all(number_of(code) is not None for code in codes) else tuple(codes)


def _numbered(codes: Sequence[str], labels: Mapping[str, str]) -> list[str] | None:
    """Return the codes in the order of numbers in their labels, or None."""
    if all(number_of(code) is not None for code in codes):
        codes = sorted(codes, key=lambda code: number_of(code) or 0.0)
    found = [(code, match) for code in codes if (match := _NUMBER.search(labels[code]))]
    numbers = [float(match[0].replace(",", "")) for _, match in found]
    steps = [after - before for before, after in pairwise(numbers)]
    one_way = bool(steps) and (all(step > 0 for step in steps) or all(step < 0 for step in steps))
    return list(codes) if one_way and len(found) >= _NUMBERED * len(codes) else None


def _unexplained(entry: DictionaryEntry, settled: TypedColumn, dictionary: Dictionary) -> list[str]:
    """Return notes on unlabeled codes and out-of-range numbers."""
    import polars as pl

    values = settled.values
    filled = values.drop_nulls()
    if filled.is_empty():
        return []
    if entry.kind == "coded" and settled.kind != "number":
        texts = text_of(filled.cast(pl.String) if filled.dtype == pl.Enum else filled)
        odd = int((~texts.str.strip_chars().is_in([*entry.labels, *entry.markers])).sum())
        seen = "codes that it does not explain"
    elif settled.kind == "number" and entry.low is not None and entry.high is not None:
        labelled = [number for code in entry.labels if (number := number_of(code)) is not None]
        odd = int((((filled < entry.low) | (filled > entry.high)) & ~filled.cast(pl.Float64).is_in(labelled)).sum())
        seen = "numbers out of the range that it gives"
    else:
        return []
    if odd <= _UNEXPLAINED * values.len():
        return []
    share = f"{100 * odd / values.len():.1f} % of the rows have {seen}"
    return [f"{share} in {values.name!r}; check that {dictionary.name} belongs to this table"]

"""k-anonymity: equivalence classes, diversity, uniques, and population models."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isnan, nan

import numpy as np

from unveil.metrics.releases.disclosure import Disclosure
from unveil.questions.audit.findings import Audit, AuditedRelease
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.results import charted
from unveil.questions.audit.words import listed, percent
from unveil.report.blocks import Chart, Section, Series, Side, Style, TableBlock
from unveil.report.editions import people
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import about, count, decimal, name
from unveil.report.text import percent as decimal_percent

#: The bins: their names, and the size from which each begins.
BINS = (("1", 1), ("2", 2), ("3–4", 3), ("5–10", 5), ("11–19", 11), ("20+", 20))
_WIDTH = 0.4
_SIDES: tuple[tuple[str, Style], ...] = (("original records", "fifth"), ("released records", "first"))


def class_size_charts(audit: Audit, *, only: Collection[str] = ()) -> tuple[Chart, ...]:
    """Return equivalence class sizes of each masked release."""
    return tuple(
        _chart(release.disclosure, f": {name(release.name, _LONGEST_NAME)}" if len(audit.releases) > 1 else "", audit)
        for release in audit.releases
        if release.disclosure is not None
        and not class_size_remark(release, audit.minimum_cell)
        and release.name in (only or (release.name,))
    )


def class_size_remark(release: AuditedRelease, minimum: int = 1) -> str:
    """Return why a release has no chart of classes, or ""."""
    if release.kind == "synthetic":
        return "Synthetic records belong to no person, so the size of their equivalence classes protects no one."
    if release.disclosure is None:
        return "Equivalence classes were not measured."
    return "" if _is_drawn(release.disclosure, minimum) else "There are too few records to show their classes."


def _chart(disclosure: "Disclosure", label: str, audit: Audit) -> Chart:
    shares = [_shares(below) for below in (disclosure.original_below or {}, disclosure.below)]
    smallest = [audit.minimum_cell / rows for rows in (audit.rows, disclosure.rows)]
    series = [
        _bars(*side, own, lowest, offset)
        for side, own, lowest, offset in zip(_SIDES, shares, smallest, (-_WIDTH, 0.0), strict=True)
        if own
    ]
    k = disclosure.k_anonymity
    return Chart(
        title=f"Equivalence class sizes{label}",
        x_label="records in the equivalence class",
        y_label="share of records",
        series=tuple(series),
        caption=f"{_finding(disclosure)} {'k is' if isinstance(k, SuppressedNumber) else 'k ='} {count(k)}.",
        x_range=(-0.5, len(BINS) - 0.5),
        y_range=(0.0, min(1.1 * max(float(np.nanmax(each.y)) for each in series), 1.0)),
        x_names=tuple((float(place), text) for place, (text, _) in enumerate(BINS)),
        hatched=f"known to within {audit.minimum_cell} records",
    )


def _shares(below: Mapping[int, float]) -> list[tuple[float, bool]]:
    """Return each bin's share of records and its exactness."""
    if not below:
        return []
    shares: list[tuple[float, bool]] = []
    last, is_open = 0.0, False
    for _, start in BINS[1:]:
        share = below.get(start, nan)
        if isinstance(share, SuppressedNumber) and share.least > last:
            # All but a few are below this size, and those few may be in any of the next bins.
            shares.append((nan, False) if is_open else (share.least - last, False))
            last, is_open = share.least, True
        elif isinstance(share, SuppressedNumber) or isnan(share):
            shares.append((nan, False))
        else:
            shares.append((nan, False) if is_open and share > last else (share - last, True))
            last, is_open = share, False
    return [*shares, (nan, False) if is_open else (1.0 - last, True)]


def _is_drawn(disclosure: "Disclosure", minimum: int) -> bool:
    """Return whether there are enough records for bounded bars."""
    shares = [*(disclosure.original_below or {}).values(), *disclosure.below.values()]
    return disclosure.rows >= 2 * minimum or not any(isinstance(each, SuppressedNumber) for each in shares)


def _bars(label: str, style: Style, shares: list[tuple[float, bool]], lowest: float, offset: float) -> Series:
    """Return bars, with unknown shares at the smallest shown size."""
    share, exact = (np.array(each) for each in zip(*shares, strict=True))
    return Series(
        name=label,
        x=np.arange(len(BINS), dtype=np.float64) + offset,
        y=np.where(np.isnan(share), lowest, share),
        style=style,
        kind="bars",
        width=_WIDTH,
        hatched=None if exact.all() else ~exact,
    )


def _finding(disclosure: "Disclosure") -> str:
    below, before = disclosure.below, disclosure.original_below or {}
    share = below.get(11, nan)
    if isinstance(share, SuppressedNumber) or isnan(share):
        return "Few released records are in equivalence classes of at most 10."
    compared = before.get(11, nan)
    original = "" if isinstance(compared, SuppressedNumber) or isnan(compared) else f" (original: {about(compared)})"
    return f"{about(share)} of released records{original} are in classes of fewer than 11 records."


def class_size_table(audit: Audit) -> TableBlock | None:
    """Return the share of records by class size, original and released."""
    rows = list(_size_rows(audit))
    if not rows:
        return None
    return TableBlock(
        caption="Share of records by size of their equivalence class",
        columns=("Records", *(text for text, _ in BINS)),
        rows=tuple(rows),
        align=("left", *(_RIGHT for _ in BINS)),
        note=f"–: fewer than {audit.minimum_cell} records; the next share includes them.",
    )


def _size_rows(audit: Audit) -> Iterator[tuple[str, ...]]:
    for release in audit.releases:
        disclosure = release.disclosure
        if disclosure is None or class_size_remark(release, audit.minimum_cell):
            continue
        label = f"{name(release.name, _LONGEST_NAME)}: " if len(audit.releases) > 1 else ""
        for which, below in (("original", disclosure.original_below or {}), ("released", disclosure.below)):
            if below:
                yield (f"{label}{which}", *(_cell(share, is_exact=exact) for share, exact in _shares(below)))


def _cell(share: float, *, is_exact: bool) -> str:
    if isnan(share):
        return "–"
    return decimal_percent(max(share, 0.0)) if is_exact else f"≥ {decimal_percent(share)}"


#: What each release is called, and what it discloses by itself.
NamedDisclosures = Sequence[tuple[str, Disclosure]]

_LONGEST_NAME = 40
_NONE = "–"
_LEFT: Side = "left"
_RIGHT: Side = "right"
_MODELS = {
    "weights": "weights (Benedetti & Franconi)",
    "pitman": "Pitman model (Hoshino)",
    "poisson": "log-linear model (Skinner & Shlomo)",
}


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return k-anonymity, l-diversity, t-closeness, uniques and population risk; None if not measured."""
    found = [(release.name, release.disclosure) for release in audit.releases if release.disclosure is not None]
    if not found:
        return None
    lead = " ".join(class_sentence(label, each, several=len(found) > 1) for label, each in found[:3])
    if audit.before is not None and audit.before.disclosure is not None:
        found.insert(0, (audit.before.name, audit.before.disclosure))
    tables = (class_table, diversity_table, special_unique_table, population_table, household_table)
    return Section(
        heading="k-anonymity",
        question="How distinct are records?",
        lead=lead,
        blocks=class_size_charts(audit, only=charted(audit)),
        data=(
            *(table for make in tables if (table := make(found)) is not None),
            *([] if (sizes := class_size_table(audit)) is None else [sizes]),
        ),
    )


def class_sentence(label: str, disclosure: Disclosure, *, several: bool) -> str:
    """Return the smallest class size and the share of uniques."""
    where = f"{name(label, _LONGEST_NAME)}: " if several else ""
    columns = "" if several else f" on {listed(disclosure.columns)}"
    k = disclosure.k_anonymity
    size = f"k {'is' if isinstance(k, SuppressedNumber) else '='} {count(k)}{columns}"
    said = f"{where}{size}; {percent(disclosure.sample_uniqueness)} of released records are unique."
    return said if several else f"{said} {disclosure.misleading}".rstrip()


def class_table(releases: NamedDisclosures) -> TableBlock:
    """Return k, prosecutor and marketer risk, and small-class shares."""
    sizes = sorted({size for _, found in releases for size in found.below if size > 2})
    said = [(label, text) for label, found in releases for text in found.notes if text]
    notes = dict.fromkeys(f"{name(label, 30)}: {text[:1].upper()}{text[1:].rstrip('.')}." for label, text in said)
    return TableBlock(
        caption="Equivalence classes",
        columns=(
            *("Release", "k", "Prosecutor risk", "Marketer risk", "Sample unique"),
            *(f"Class below {size}" for size in sizes),
        ),
        rows=tuple(
            (
                name(label, _LONGEST_NAME),
                count(found.k_anonymity),
                decimal(found.highest_risk),
                decimal(found.average_risk),
                percent(found.sample_uniqueness),
                *(percent(found.below[size]) if size in found.below else _NONE for size in sizes),
            )
            for label, found in releases
        ),
        align=(_LEFT, *(_RIGHT for _ in range(4 + len(sizes)))),
        note=" ".join(notes),
    )


def diversity_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return l-diversity and t-closeness; None without sensitive columns."""
    rows = [
        (
            name(label, _LONGEST_NAME),
            name(each.column, _LONGEST_NAME),
            count(each.distinct),
            decimal(each.entropy),
            count(each.recursive),
            decimal(each.closeness),
            percent(each.classes_of_one_value),
        )
        for label, found in releases
        for each in found.diversity
    ]
    if not rows:
        return None
    c = next(each.c for _, found in releases for each in found.diversity)
    return TableBlock(
        caption="l-diversity and t-closeness",
        columns=("Release", "Column", "Distinct l", "Entropy l", f"Recursive l (c = {c:g})", "t", "Disclosed"),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, *(_RIGHT for _ in range(5))),
        note=(
            "Each value is that of the worst equivalence class. Effective number of values in a class (l): 1 "
            "discloses the value. Distance of a class from the release (t): 0 to 1. Disclosed: share of rows in "
            "classes with a single value."
        ),
    )


def special_unique_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return special uniques by number of columns; None if not searched."""
    searched = [(label, found.special_uniques) for label, found in releases if found.special_uniques is not None]
    if not searched:
        return None
    most = max(special.size for _, special in searched)
    rows = [
        (
            name(label, _LONGEST_NAME),
            *(_rows(special.rows_by_size[size]) if size < special.size else _NONE for size in range(most)),
            listed(_telling(special.columns, special.by_column)) if special.special else _NONE,
        )
        for label, special in searched
    ]
    return TableBlock(
        caption="Special uniques (SUDA)",
        columns=(
            "Release",
            *(f"On {count(size, 'column', 'columns')}" for size in range(1, most + 1)),
            "Most often on",
        ),
        rows=tuple(rows),
        align=(_LEFT, *(_RIGHT for _ in range(most)), _LEFT),
        note="Rows that are unique on this number of columns. Fewer columns are easier to match with other data.",
    )


def _rows(number: float) -> str:
    return _NONE if math.isnan(number) else people(int(number))


def _telling(columns: Sequence[str], times: Sequence[int]) -> list[str]:
    order = sorted(range(len(columns)), key=lambda at: (-times[at], columns[at]))
    return [columns[at] for at in order[:3] if times[at]]


def population_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return model estimates of population risk, or None."""
    rows = [
        (
            name(label, _LONGEST_NAME),
            _MODELS.get(each.method, each.method),
            _share(each.uniqueness),
            _NONE
            if math.isnan(each.expected_reidentifications)
            else decimal(each.expected_reidentifications, places=1),
            _share(each.expected_share),
            _share(each.below),
        )
        for label, found in releases
        for each in found.population
        if not each.why
    ]
    if not rows:
        return None
    ks = {each.k for _, found in releases for each in found.population if each.k is not None}
    below = f"Below {ks.pop()} people" if len(ks) == 1 else "Below the minimum"
    return TableBlock(
        caption="Population risk",
        columns=("Release", "Model", "Population unique", "Expected re-identifications", "Per row", below),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, *(_RIGHT for _ in range(4))),
        note=(
            "Model estimates. Population unique: released rows that are unique in the population. Expected "
            "re-identifications: correct matches if an attacker picks one matching person for each row."
            f"{_without(releases)}"
        ),
    )


def _without(releases: NamedDisclosures) -> str:
    """Return why some models have no estimates."""
    reasons = {
        f"{_MODELS.get(each.method, each.method)}: {each.why}"
        for _, found in releases
        for each in found.population
        if each.why
    }
    return f" Not estimated: {'; '.join(sorted(reasons))}." if reasons else ""


def household_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return household re-identification risk; None without a household column."""
    found = [(label, each.household) for label, each in releases if each.household is not None]
    if not found:
        return None
    return TableBlock(
        caption="Household risk",
        columns=("Release", "Households", "Largest risk", "Mean risk", "Expected people re-identified"),
        rows=tuple(
            (
                name(label, _LONGEST_NAME),
                people(house.households),
                _share(house.highest),
                _share(house.average),
                _expected(house.expected_people),
            )
            for label, house in found
        ),
        align=(_LEFT, *(_RIGHT for _ in range(4))),
        note="Risk of a person: 1 / class size. Risk of a household: at least one member is re-identified.",
    )


def _share(value: float) -> str:
    return _NONE if math.isnan(value) else percent(value)


def _expected(number: float) -> str:
    return _NONE if math.isnan(number) else decimal(number, places=1)

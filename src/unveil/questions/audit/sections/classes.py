"""k-anonymity: equivalence classes, the sensitive values in them, uniques, and the population behind the release."""

import math
from collections.abc import Sequence

from unveil.metrics.releases.disclosure import Disclosure
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.class_sizes import class_size_charts, class_size_table
from unveil.questions.audit.sections.results import charted
from unveil.questions.audit.words import listed, percent
from unveil.report.blocks import Section, Side, TableBlock
from unveil.report.editions import people
from unveil.report.text import count, decimal, name

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
    tables = (class_table, diversity_table, unique_table, population_table, household_table)
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
    """Return the size of the smallest equivalence class, and the share of unique records."""
    where = f"{name(label, _LONGEST_NAME)}: " if several else ""
    columns = "" if several else f" on {listed(disclosure.columns)}"
    k = count(disclosure.k_anonymity)
    said = f"{where}k = {k}{columns}; {percent(disclosure.sample_uniqueness)} of released records are unique."
    return said if several else f"{said} {disclosure.misleading}".rstrip()


def class_table(releases: NamedDisclosures) -> TableBlock:
    """Return k, prosecutor and marketer risk, and the share of records in small classes of each release."""
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
            "Each value is of the worst equivalence class. l: effective number of values in a class; 1 discloses the "
            "value. t: distance of a class from the whole release, 0 to 1. Disclosed: share of rows in classes where "
            "all have the same value."
        ),
    )


def unique_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return on how few columns rows are unique; None where that was not searched."""
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
    """Return model estimates of population risk; None where nothing is known about the population."""
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
    """Return the risk that a member of a household is re-identified; None without a household column."""
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

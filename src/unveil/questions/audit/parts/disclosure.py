"""How many released rows look alike, and what that says: classes, sensitive values in them, the population behind."""

import math
from collections.abc import Sequence

import numpy as np

from unveil.metrics.releases.disclosure import Disclosure
from unveil.questions.audit.words import listed, percent
from unveil.report.blocks import Block, Chart, Number, Section, Series, Side, Style, TableBlock
from unveil.report.editions import people
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, decimal, name

#: What each release is called, and what it discloses by itself.
NamedDisclosures = Sequence[tuple[str, Disclosure]]

_LONGEST_NAME = 40
_NONE = "–"
_LEFT: Side = "left"
_RIGHT: Side = "right"
_LEAD = (
    "Rows that are equal in all columns that an adversary may know hide in one another. Nothing is attacked here: "
    "these are figures of the released table itself, as rules on the smallest group ask for them."
)
_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")
_METHODS = {
    "weights": "weights (Benedetti & Franconi)",
    "pitman": "Pitman model (Hoshino)",
    "poisson": "log-linear model (Skinner & Shlomo)",
}


def disclosure_section(releases: NamedDisclosures) -> Section:
    """Return the part of the report on how many rows look alike in each release."""
    blocks: list[Block] = []
    if len(releases) == 1:
        blocks += _numbers(releases[0][1])
    blocks += [class_chart(releases), class_table(releases)]
    blocks += [table for table in (diversity_table(releases), unique_table(releases)) if table is not None]
    blocks += [table for table in (population_table(releases), household_table(releases)) if table is not None]
    return Section(heading="How many look alike?", lead=_LEAD, blocks=tuple(blocks))


def _numbers(disclosure: Disclosure) -> list[Number]:
    k = disclosure.k_anonymity
    alike = "Somebody is the only one of their kind." if k == 1 else f"Everybody looks like at least {k - 1} others."
    if isinstance(k, SuppressedNumber):
        alike = f"For somebody so many rows look alike: {count(k)}."
    return [
        Number(
            label="Fewest rows that look alike (k-anonymity)",
            value=count(k),
            meaning=f"{alike} Compared in {listed(disclosure.columns)}. {disclosure.misleading}".rstrip(),
        ),
        Number(
            label="Unique rows",
            value=percent(disclosure.sample_uniqueness),
            meaning="The share of released rows that no other row equals in the columns that may be known.",
        ),
    ]


def class_chart(releases: NamedDisclosures) -> Chart:
    """Return for each release the share of rows in groups below the usual sizes."""
    shown = releases[: len(_STYLES)]
    cut = (
        f" The first {len(shown)} of {len(releases)} are drawn; the table has all."
        if len(releases) > len(shown)
        else ""
    )
    sizes = sorted({size for _, found in shown for size in found.below})
    return Chart(
        title="Rows in groups that are too small",
        x_label="share of released rows",
        y_label="",
        series=tuple(
            Series(
                name=name(label, _LONGEST_NAME) if len(releases) > 1 else "released rows",
                x=np.array([_drawn(found.below.get(size, math.nan)) for size in sizes]),
                y=np.arange(len(sizes), dtype=np.float64),
                style=style,
                kind="points",
            )
            for (label, found), style in zip(shown, _STYLES, strict=False)
        ),
        caption=(
            "A row is in a group of fewer than 5 when fewer than 5 rows, itself included, are equal in all columns "
            "that may be known. Which size is too small is for whoever is responsible to say."
            f"{cut}"
        ),
        x_range=(0.0, 1.0),
        x_kind="share",
        rows=tuple("unique rows" if size == 2 else f"fewer than {size} alike" for size in sizes),
    )


def _drawn(share: float) -> float:
    # What is told by its bounds has no place of its own.
    return math.nan if isinstance(share, SuppressedNumber) else share


def class_table(releases: NamedDisclosures) -> TableBlock:
    """Return the class figures of each release."""
    sizes = sorted({size for _, found in releases for size in found.below if size > 2})
    said = [(label, text) for label, found in releases for text in (found.misleading, *found.notes) if text]
    notes = dict.fromkeys(f"{name(label, 30)}: {text[:1].upper()}{text[1:].rstrip('.')}." for label, text in said)
    return TableBlock(
        caption="Groups of rows that look alike",
        columns=("Release", "Fewest (k)", "Highest 1/k", "Mean 1/k", "Unique", *(f"Below {size}" for size in sizes)),
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
    """Return how different the sensitive values are among rows that look alike, or None where none is sensitive."""
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
        caption="Sensitive values among rows that look alike",
        columns=("Release", "Column", "Distinct l", "Entropy l", f"Recursive l (c = {c:g})", "t", "Give it away"),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, *(_RIGHT for _ in range(5))),
        note=(
            "Each is of the worst group. l: how many values, in effect, a group holds; 1 means that whoever is in it "
            "is found out. t: how far a group's values are from everybody's, 0 to 1. Give it away: the share of rows "
            "in groups where all have the same value."
        ),
    )


def unique_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return how few columns are enough to make rows unique, or None where that could not be searched."""
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
        caption="Special uniques: how few columns are enough",
        columns=("Release", *(f"By {count(size, 'column', 'columns')}" for size in range(1, most + 1)), "Mostly by"),
        rows=tuple(rows),
        align=(_LEFT, *(_RIGHT for _ in range(most)), _LEFT),
        note="Rows that so few columns make the only one of their kind: the fewer, the easier to find in other data.",
    )


def _rows(number: float) -> str:
    return _NONE if math.isnan(number) else people(int(number))


def _telling(columns: Sequence[str], times: Sequence[int]) -> list[str]:
    order = sorted(range(len(columns)), key=lambda at: (-times[at], columns[at]))
    return [columns[at] for at in order[:3] if times[at]]


def population_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return what models say about the people behind the release, or None where nothing is known about these."""
    rows = [
        (
            name(label, _LONGEST_NAME),
            _METHODS.get(each.method, each.method),
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
        caption="Among the people they were drawn from",
        columns=("Release", "Model", "Unique there", "Expected hits", "Per row", below),
        rows=tuple(rows),
        align=(_LEFT, _LEFT, *(_RIGHT for _ in range(4))),
        note=(
            "Estimates, each as good as its model. Unique there: released rows that are the only one of their kind in "
            "the whole population. Expected hits: what somebody gets right who names for each row one person who fits."
            f"{_without(releases)}"
        ),
    )


def _without(releases: NamedDisclosures) -> str:
    """Return why some models have no figures."""
    reasons = {
        f"{_METHODS.get(each.method, each.method)}: {each.why}"
        for _, found in releases
        for each in found.population
        if each.why
    }
    return f" Without figures: {'; '.join(sorted(reasons))}." if reasons else ""


def household_table(releases: NamedDisclosures) -> TableBlock | None:
    """Return the chance that somebody of a household is found, or None where no household is told."""
    found = [(label, each.household) for label, each in releases if each.household is not None]
    if not found:
        return None
    return TableBlock(
        caption="Households: one member found is all found",
        columns=("Release", "Households", "Highest chance", "Mean chance", "People in those found"),
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
        note="The chance of a person is 1 / rows that look alike; that of a household is that any of them is found.",
    )


def _share(value: float) -> str:
    return _NONE if math.isnan(value) else percent(value)


def _expected(number: float) -> str:
    return _NONE if math.isnan(number) else decimal(number, places=1)

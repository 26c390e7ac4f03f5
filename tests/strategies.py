"""Hypothesis strategies shared by all tests: small partitions, exact parameters, weights and views."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

from hypothesis import strategies as st

Labels = list[str]

#: Values where ties, breaches and flat pieces of a graph are likely.
SPECIAL = [Fraction(a, b) for b in (1, 2, 3, 4, 5, 10) for a in range(b + 1)]


def labels(n: int, *, most: int = 5) -> st.SearchStrategy[Labels]:
    """Return partitions of ``n`` items, as one label per item."""
    return st.lists(st.sampled_from([f"c{k}" for k in range(most)]), min_size=n, max_size=n)


def unit_fractions() -> st.SearchStrategy[Fraction]:
    """Return fractions from 0 to 1, most of them simple."""
    return st.one_of(st.sampled_from(SPECIAL), st.fractions(0, 1, max_denominator=50))


def decimal_weights() -> st.SearchStrategy[Fraction]:
    """Return weights from 0 to 1 on a decimal grid, with many zeros and ones."""
    ends = st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2)])
    grids = st.sampled_from([10, 100, 10**6])
    return st.one_of(ends, grids.flatmap(lambda grid: st.integers(0, grid).map(lambda k: Fraction(k, grid))))


def probabilities(count: int) -> st.SearchStrategy[list[Fraction]]:
    """Return ``count`` probabilities above 0 that sum to exactly 1: simple, or with all the digits of a float."""

    def cut(marks: set[int], offset: Fraction) -> list[Fraction]:
        inside = [Fraction(mark, 60) + offset for mark in sorted(marks)]
        return [high - low for low, high in pairwise([Fraction(0), *inside, Fraction(1)])]

    marks = st.sets(st.integers(1, 58), min_size=count - 1, max_size=count - 1)
    offsets = st.sampled_from([Fraction(0), Fraction(1234567890123457, 10**17)])
    return st.builds(cut, marks, offsets)


@st.composite
def views(draw: st.DrawFn, n: int, *, most_partitions: int = 3) -> list[tuple[Labels, Fraction]]:
    """Return the partitions of a view of ``n`` items, each with its probability; often a view of just one."""
    count = draw(st.integers(1, most_partitions))
    return list(zip([draw(labels(n)) for _ in range(count)], draw(probabilities(count)), strict=True))


def per_subject(subjects: Sequence[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Return one value per subject; often the same for all."""
    same = values.map(lambda value: [value] * len(subjects))
    return st.one_of(same, st.lists(values, min_size=len(subjects), max_size=len(subjects)))


@dataclass(frozen=True, kw_only=True)
class Case:
    """One input of ``unlinkability``, as plain and exact data; parameters are in the sorted order of the subjects."""

    truth: Labels
    guesses: list[tuple[Labels, Fraction]]
    alpha: list[Fraction]
    beta: list[Fraction]
    contamination: list[bool]
    item_weights: dict[int, Fraction]
    own_weights: dict[tuple[str, int], Fraction]
    norm: Literal["weight", "literal"]
    at_breach: Literal["nan", "limit"]
    overall_alpha: Fraction | None = None
    overall_beta: Fraction | None = None

    @property
    def n(self) -> int:
        return len(self.truth)

    @property
    def subjects(self) -> list[str]:
        return sorted(set(self.truth))

    def but(self, **changes: Any) -> "Case":
        return replace(self, **changes)


@st.composite
def cases(draw: st.DrawFn, *, most_items: int = 12) -> Case:
    """Return an input with any combination of the options."""
    n = draw(st.integers(1, most_items))
    truth = draw(labels(n))
    subjects = sorted(set(truth))
    items = st.integers(0, n - 1)
    weighting = draw(st.sampled_from(["none", "items", "own"]))
    by_item = st.dictionaries(items, decimal_weights(), min_size=1)
    by_subject = st.dictionaries(st.tuples(st.sampled_from(subjects), items), decimal_weights(), min_size=1)
    return Case(
        truth=truth,
        guesses=draw(views(n)),
        alpha=draw(per_subject(subjects, unit_fractions())),
        beta=draw(per_subject(subjects, unit_fractions())),
        contamination=draw(per_subject(subjects, st.booleans())),
        item_weights=draw(by_item) if weighting == "items" else {},
        own_weights=draw(by_subject) if weighting == "own" else {},
        norm=draw(st.sampled_from(["weight", "literal"])),
        at_breach=draw(st.sampled_from(["nan", "limit"])),
        overall_alpha=draw(st.none() | unit_fractions()),
        overall_beta=draw(st.none() | unit_fractions()),
    )

"""Rarity of released people in their population, by three published models.

A row that is alone in the release may have many doubles outside it. How many cannot be counted from the release, only
estimated, and every estimate rests on a model. Three of them stand side by side, because they fail in different places;
their errors below were found on simulated populations of 20,000 to 100,000 people with samples of 2 to 10 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum, inf, nan
from typing import Any, get_args

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray, Int32Array
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError, whole_number
from unveil.metrics._listing import metric
from unveil.metrics.releases._classes import RowClasses, column_codes, group, quasi_identifiers, released_table
from unveil.metrics.releases._population_models import POSTERIORS, Method, Weights, checked_size, checked_weights

METHODS: tuple[Method, ...] = get_args(Method)
SOURCES: dict[Method, str] = {
    "weights": "Benedetti and Franconi (1998)",
    "pitman": "Pitman (1995); Hoshino (2001)",
    "poisson": "Skinner and Holmes (1998), main effects only",
}
#: What each model takes for granted, and where it is wrong: for pages that show its values.
ASSUMPTIONS: dict[Method, str] = {
    "weights": (
        "The population class of a row is as large as the sum of its class's weights, and is negative binomial. The "
        "error is within 0.09 (0.17 for k-map) where less than half of the rows are sample unique. Elsewhere it is "
        "far too low, by up to 0.8: a weight of 50 counts the people that a row represents, not those with equal "
        "values."
    ),
    "pitman": (
        "Classes follow Pitman's random partition, whose two parameters are fitted to the class sizes. "
        "It is mostly too high: by up to 0.32 for uniqueness and 0.21 for the rest where most rows are sample unique. "
        "The error is up to 0.11 where less than half are."
    ),
    "poisson": (
        "Columns are independent of one another, and counts are Poisson. Then the error is within 0.05. Where columns "
        "are strongly dependent, it is mostly too high, by up to 0.14 (0.2 for k-map)."
    ),
}
FACTS: dict[str, Any] = {
    "category": "disclosure",
    "per": "release",
    "more_means": "less private",
    "source": "; ".join(SOURCES.values()),
}
NO_SIZE = "neither weights nor the population size are given, so the population risk is unknown"
NO_WEIGHTS = "there are no weights"
ALL_ALONE = "every row is unique, so the class sizes do not show how rare people are"
ALL_ALIKE = "all rows are in one class, so the model cannot be fitted"


@dataclass(frozen=True, kw_only=True, eq=False)
class PopulationRisk:
    """Population risk by one model; NaN with ``why``."""

    COUNTS = "statistic"

    method: Method = figure('Model of the population: "weights", "pitman" or "poisson".')
    source: str = figure("Literature source of the model.")
    assumption: str = figure("Assumptions of the model.")
    rows: int = figure("Number of released rows.")
    population: float = figure("Population size (default: the sum of the weights).")
    uniqueness: float = figure("Expected share of released rows that are population unique.")
    expected_reidentifications: float = figure(
        "Expected correct re-identifications, if the attacker picks one fitting person: the sum over rows of the "
        "mean of 1 / F. F is the size of the row's population class."
    )
    expected_share: float = figure("Expected correct re-identifications per row, from 0 to 1.")
    k: int | None = figure("Size of a population class to compare with; null without one.")
    below: float = figure(
        "Expected share of rows whose population class has fewer than `k` people, from 0 to 1; null without a `k`."
    )
    #: The mean of 1 / F for each row; private, as it is about people.
    risk: FloatArray = field(repr=False)
    why: str = figure("Reason for missing values; else empty.", default="")
    notes: tuple[str, ...] = figure("Notes on implausible weights.", default=())


@metric(bounds=(0, 1), **FACTS)
def population_uniqueness(
    release: Release | Table,
    *,
    method: Method,
    columns: Sequence[str] | None = None,
    weights: Weights | None = None,
    population_size: float | None = None,
) -> float:
    """Return the expected share of population-unique rows, 0 to 1.

    Formula: ``sum(P(F = 1 | f)) / rows``, f being the rows of a released class and F the people of the same values in
    the population. Method "weights": ``F - f`` is negative binomial with ``p = f / sum of weights``, so the chance is p
    where f = 1. Method "pitman": ``F - f`` is beta-binomial with ``a = f - alpha``, ``b = theta + rows - a`` and
    ``population - rows`` tries, alpha and theta being the likeliest for the class sizes. Method "poisson": ``F - f`` is
    Poisson with the count to expect outside if columns were independent. 0 means that no person is unique, 1 that all
    are. NaN where the method has no weights or no size of the population, and for "pitman" where all rows are alone or
    all in one class. See ``ASSUMPTIONS`` for how far each was off in simulations.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 52], "weight": [5.0, 5.0, 10.0, 4.0]}))
    >>> round(population_uniqueness(people, method="weights", columns=["age"], weights="weight"), 4)
    0.0875
    """
    found = population_risk(release, method=method, columns=columns, weights=weights, population_size=population_size)
    return found.uniqueness


@metric(bounds=(0, inf), **FACTS)
def expected_reidentifications(
    release: Release | Table,
    *,
    method: Method,
    columns: Sequence[str] | None = None,
    weights: Weights | None = None,
    population_size: float | None = None,
) -> float:
    """Return the expected number of correct re-identifications.

    Formula: ``sum(E(1 / F | f))`` over the rows, with the distribution of F as in :func:`population_uniqueness`. For
    "weights" and f = 1 that is ``(p / (1 - p)) log(1 / p)``, the individual risk of mu-Argus. The attacker names one
    fitting person of the population for each row. 0 means none, the number of rows that every row is unique in the
    population. NaN where :func:`population_uniqueness` is.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 52], "weight": [5.0, 5.0, 10.0, 4.0]}))
    >>> round(expected_reidentifications(people, method="weights", columns=["age"], weights="weight"), 4)
    1.0168
    """
    found = population_risk(release, method=method, columns=columns, weights=weights, population_size=population_size)
    return found.expected_reidentifications


@metric(bounds=(0, 1), **FACTS)
def k_map_risk(
    release: Release | Table,
    *,
    k: int,
    method: Method,
    columns: Sequence[str] | None = None,
    weights: Weights | None = None,
    population_size: float | None = None,
) -> float:
    """Return the expected share of rows below k people, 0 to 1.

    Formula: ``sum(P(F < k | f)) / rows``, with the distribution of F as in :func:`population_uniqueness`, which is this
    for k = 2. 0 means that the release is a k-map of the population as far as the model can tell, 1 that no row is
    protected by k people. NaN where :func:`population_uniqueness` is.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 52], "weight": [5.0, 5.0, 10.0, 4.0]}))
    >>> round(k_map_risk(people, k=3, method="weights", columns=["age"], weights="weight"), 4)
    0.1769
    """
    found = population_risk(
        release, method=method, columns=columns, weights=weights, population_size=population_size, k=k
    )
    return found.below


def population_risk(
    release: Release | Table,
    *,
    method: Method,
    columns: Sequence[str] | None = None,
    weights: Weights | None = None,
    population_size: float | None = None,
    k: int | None = None,
) -> PopulationRisk:
    """Return all population risks of one model, with its assumptions.

    Parameters
    ----------
    release
        A table, or a release, of which the released table is taken: a sample of the population.
    method
        "weights", "pitman" or "poisson".
    columns
        The quasi-identifiers; by default all columns with the role "known" except that of the weights.
    weights
        How many people of the population each row stands for: the name of a column, or one number per row.
    population_size
        The number of people in the population; the sum of the weights by default.
    k
        Also count rows whose population class has fewer than k people.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 52]}))
    >>> found = population_risk(people, method="pitman", population_size=40)
    >>> round(found.uniqueness, 3), found.why
    (0.079, '')
    """
    if method not in METHODS:
        raise InputError(f"Unknown method {method!r}. Use one of: {', '.join(METHODS)}")
    if k is not None:
        whole_number(k, "k", advice="Write k=5")
    table = released_table(release)
    apart = {weights: "the weights"} if isinstance(weights, str) else {}
    codes = column_codes(table, quasi_identifiers(table, columns, apart=apart))
    people = checked_weights(table, weights), checked_size(table, population_size)
    return risk_of(codes, group(codes), *people, method, k)


def risk_of(
    codes: Int32Array,
    classes: RowClasses,
    weights: FloatArray | None,
    size: float | None,
    method: Method,
    k: int | None,
) -> PopulationRisk:
    """Return the population risks for coded columns and checked weights."""
    rows = len(codes)
    total = fsum(weights) if weights is not None else nan
    people = max(total, rows) if size is None else size
    why = _why_not(method, weights, people, classes)
    risk = unique = below = np.full(rows, nan)
    if not why:
        posterior = POSTERIORS[method](codes, classes, np.ones(rows) if weights is None else weights, round(people))
        risk, unique = posterior.reciprocal(), posterior.below(2)
        below = np.full(rows, nan) if k is None else posterior.below(k)
    return PopulationRisk(
        method=method,
        source=SOURCES[method],
        assumption=ASSUMPTIONS[method],
        rows=rows,
        population=people,
        uniqueness=fsum(unique) / rows,
        expected_reidentifications=fsum(risk),
        expected_share=fsum(risk) / rows,
        k=k,
        below=fsum(below) / rows,
        risk=risk,
        why=why,
        notes=_notes(weights, total, size),
    )


def _why_not(method: Method, weights: FloatArray | None, people: float, classes: RowClasses) -> str:
    if np.isnan(people):
        return NO_SIZE
    if method == "weights":
        return NO_WEIGHTS if weights is None else ""
    if method == "pitman" and round(people) > int(classes.size.sum()):
        return ALL_ALONE if int(classes.size.max()) == 1 else ALL_ALIKE if classes.size.size == 1 else ""
    return ""


def _notes(weights: FloatArray | None, total: float, size: float | None) -> tuple[str, ...]:
    if weights is None:
        return ()
    notes = []
    light = int(np.count_nonzero(weights < 1))
    if light:
        notes.append(
            f"{light} weights are below 1, although every row represents at least one person; a class whose weights "
            "sum to less than its rows counts as complete"
        )
    if size is not None and abs(total - size) > 0.05 * size:
        notes.append(
            f"the weights sum to {total:.6g} people, but the population size is {size:.6g}; the method "
            "'weights' uses the former, all other methods the latter"
        )
    return tuple(notes)

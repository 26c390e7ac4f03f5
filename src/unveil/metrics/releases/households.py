"""Household risk: finding one member finds all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum, inf, nan
from typing import Literal, get_args

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError, share
from unveil.metrics._listing import metric
from unveil.metrics.releases._classes import column_codes, group, quasi_identifiers, released_table, values_and_gaps
from unveil.metrics.releases._population_models import Method, Weights
from unveil.metrics.releases.population import population_risk

PersonRisk = Literal["sample", Method]
PERSON_RISKS: tuple[str, ...] = ("sample", *get_args(Method))


@dataclass(frozen=True, kw_only=True, eq=False)
class HouseholdRisk:
    """Probability that a household member is found; NaN with ``why``."""

    COUNTS = "statistic"

    method: str = figure('Source of the person risk: "sample" (1 / class size) or a population model.')
    households: int = figure("Number of households.", counts="people")
    largest: int = figure("Largest number of rows in one household.", counts="people")
    apart: int = figure("Number of rows without a household; each counts as one.", counts="people")
    expected: float = figure("Expected number of households found.")
    average: float = figure("Expected share of households found, from 0 to 1.")
    highest: float = figure("Highest probability of any household, from 0 to 1.")
    limit: float | None = figure("Probability above which a household is counted; null without one.")
    share_above: float = figure(
        "Share of households with a probability above `limit`, from 0 to 1; null without a limit."
    )
    expected_people: float = figure(
        "Expected number of people in households found: the sum over rows of their household's probability."
    )
    #: For each row the chance of its household; private, as it is about people.
    risk: FloatArray = field(repr=False)
    why: str = figure("Reason for missing values; else empty.", default="")


@metric(
    category="disclosure",
    per="release",
    more_means="less private",
    bounds=(0, inf),
    source="Hundepool et al. (2012), Statistical Disclosure Control, hierarchical risk",
)
def household_risk(
    release: Release | Table,
    *,
    household: str,
    columns: Sequence[str] | None = None,
    method: PersonRisk = "sample",
    weights: Weights | None = None,
    population_size: float | None = None,
    limit: float | None = None,
) -> HouseholdRisk:
    """Return the household risk, for all households.

    Formula: ``1 - product(1 - r)`` over the members of a household, r being 1 / the number of rows that are equal
    (``method="sample"``) or the mean of 1 / F as in :func:`expected_reidentifications` by the method named; the
    expected number is the sum over households. 0 means that no person is ever found, the number of households that each
    has a member who surely is. Members are taken to be found independently of one another, and columns that all members
    share still count for each, so that the value is a cautious one. A row without a household is one of its own. NaN
    where the method of the population has no answer.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 41], "home": ["a", "a", "b", "c"]}))
    >>> found = household_risk(people, household="home", columns=["age"])
    >>> found.households, found.expected, found.highest
    (3, 1.75, 0.75)
    """
    table = released_table(release)
    if method not in PERSON_RISKS:
        raise InputError(f"Unknown method {method!r}. Use one of: {', '.join(PERSON_RISKS)}")
    if limit is not None:
        share(limit, "the limit", advice="Write limit=0.2")
    apart = {household: "the household"}
    apart |= {weights: "the weights"} if isinstance(weights, str) else {}
    names = quasi_identifiers(table, columns, apart=apart)
    if method == "sample":
        classes = group(column_codes(table, names))
        return households_of(table, household, 1 / classes.size[classes.of_row], "sample", limit)
    population = population_risk(table, method=method, columns=names, weights=weights, population_size=population_size)
    return households_of(table, household, population.risk, method, limit, why=population.why)


def households_of(
    table: Table, household: str, risk: FloatArray, method: str, limit: float | None, why: str = ""
) -> HouseholdRisk:
    """Return the household risk for known person risks."""
    code = values_and_gaps(table, household)[0]
    nobody = code == 0
    code[nobody] = code.max() + 1 + np.arange(int(nobody.sum()))
    # Members sorted by risk: the product is then rounded the same way whatever the order of rows.
    order = np.lexsort((risk, code))
    start = np.flatnonzero(np.diff(code[order], prepend=-1))
    members = np.diff(start, append=code.size)
    found = 1 - np.multiply.reduceat(1 - risk[order], start)
    of_row = np.empty(code.size)
    of_row[order] = np.repeat(found, members)
    return HouseholdRisk(
        method=method,
        households=start.size,
        largest=int(members.max()),
        apart=int(nobody.sum()),
        expected=fsum(found),
        average=fsum(found) / start.size,
        highest=float(found.max()),
        limit=limit,
        share_above=nan if limit is None or why else float(np.mean(found > limit)),
        expected_people=fsum(of_row),
        risk=of_row,
        why=why,
    )

"""Disclosure measures of a release: small classes, uniform classes, rare people.

These values look at the released table alone. They say how far people hide among one another in the columns an attacker
may know; they do not say whether the released values are true, so they fit masked releases. In a synthetic release rows
are no person's: a unique row is no danger by itself, and a large class is no shelter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

from unveil._figure import figure
from unveil._kernels.types import Int32Array
from unveil.data.table import Table
from unveil.data.table.cells import SUPPRESSED
from unveil.data.table.release import Release, ReleaseKind
from unveil.errors import InputError, share, whole_number
from unveil.metrics._listing import metric
from unveil.metrics.releases._classes import (
    EquivalenceClasses,
    Missing,
    column_codes,
    equivalence_classes,
    group,
    matching_rows,
    quasi_identifiers,
    released_table,
)
from unveil.metrics.releases._population_models import Weights, checked_size, checked_weights
from unveil.metrics.releases.diversity import C, Diversity, diversity
from unveil.metrics.releases.households import HouseholdRisk, households_of
from unveil.metrics.releases.population import METHODS, PopulationRisk, risk_of
from unveil.metrics.releases.special_uniques import SIZE, SpecialUniques, affordable_size, uniques_of

FACTS: dict[str, Any] = {"category": "disclosure", "per": "release"}
SWEENEY = "Samarati and Sweeney (1998), k-anonymity"
EL_EMAM = "El Emam and Dankar (2008), prosecutor risk; so named in ARX"

#: Class sizes below which the summary counts rows; sizes that regimes ask for are among them.
SIZES = (2, 3, 5, 11, 20)
MISLEADING = (
    "The release is synthetic: its rows belong to no person, so class sizes do not measure risk. "
    "Read the attack results instead"
)
NO_CELL = "no minimum cell size is given"
NOTHING_SENSITIVE = "no sensitive attribute is given"
NO_HOUSEHOLD = "no household column is given"
_MOST_VISITS = 5 * 10**7


@dataclass(frozen=True, kw_only=True, eq=False)
class Disclosure:
    """All disclosure measures of a release; ``why`` explains missing ones."""

    COUNTS = "statistic"

    rows: int = figure("Number of released rows.")
    columns: tuple[str, ...] = figure("Quasi-identifiers: the columns that define equivalence classes.")
    kind: ReleaseKind | None = figure("Whether the release is masked or synthetic; null where unknown.")
    classes: EquivalenceClasses = figure("Equivalence classes: sizes and rows of each, for a chart.")
    k_anonymity: int = figure(
        "k-anonymity: size of the smallest equivalence class; 1 where a row is unique.",
        limit="disclosure.k_anonymity",
        limit_meaning="size of the smallest equivalence class",
        worse="less",
    )
    highest_risk: float = figure(
        "Maximum prosecutor risk: 1 / size of the smallest class, from 0 to 1.",
        limit="disclosure.highest_risk",
        limit_meaning="1 / size of the smallest equivalence class",
    )
    average_risk: float = figure(
        "Mean over rows of 1 / size of their class, from 0 to 1.",
        limit="disclosure.average_risk",
        limit_meaning="mean over released rows of 1 / size of their equivalence class",
    )
    sample_uniqueness: float = figure(
        "Share of unique rows (alone in their class), from 0 to 1.",
        limit="disclosure.sample_uniqueness",
        limit_meaning="share of released rows that are unique",
    )
    below: dict[int, float] = figure(
        "Share of rows in classes of fewer than k rows, for each k of `SIZES` and the minimum cell size."
    )
    minimum_cell: int | None = figure("Minimum cell size; null without one.")
    records_at_risk: float = figure(
        "Share of rows in classes smaller than the minimum cell, from 0 to 1; null without one."
    )
    diversity: tuple[Diversity, ...] = figure("One entry per sensitive attribute.")
    special_uniques: SpecialUniques | None = figure(
        "Special uniques: rows unique on few columns; null if there are too many columns."
    )
    population: tuple[PopulationRisk, ...] = figure("One entry per model; an entry without values says why.")
    household: HouseholdRisk | None = figure(
        "Probability of finding a household through any member; null if no household column is given."
    )
    misleading: str = figure("Warning that these measures mislead, or empty.")
    why: dict[str, str] = figure(
        "Reason for each part above that is null or empty. The entries of `population` have their own."
    )
    notes: tuple[str, ...] = figure("Notes for the reader.")
    #: The same as ``below`` of the original in the same columns; None where that was not asked for.
    original_below: dict[int, float] | None = None


@metric(more_means="more private", bounds=(1, inf), source=SWEENEY, **FACTS)
def k_anonymity(release: Release | Table, *, columns: Sequence[str] | None = None, missing: Missing = "own") -> int:
    """Return the number of rows in the smallest equivalence class.

    Formula: ``min over rows of #{rows with the same values in the columns}``, itself included. 1 means that a person is
    alone in the release; k means that everyone hides among at least k rows. With ``missing="any"`` a missing value
    matches every value, as for suppressed cells; by default it is a value of its own. It is never undefined, and says
    nothing about people outside the release, about sensitive values, or about synthetic rows.

    >>> import polars as pl
    >>> k_anonymity(Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 41, 41]})))
    2
    """
    return equivalence_classes(release, columns=columns, missing=missing).smallest


@metric(more_means="less private", bounds=(0, 1), source=EL_EMAM, **FACTS)
def highest_risk(release: Release | Table, *, columns: Sequence[str] | None = None, missing: Missing = "own") -> float:
    """Return the maximum prosecutor risk, 0 to 1.

    Formula: ``1 / k``, k being :func:`k_anonymity`. 1 means that a person is alone; 0 cannot be reached. It is never
    undefined.

    >>> import polars as pl
    >>> highest_risk(Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 41, 41]})))
    0.5
    """
    return 1 / equivalence_classes(release, columns=columns, missing=missing).smallest


@metric(more_means="less private", bounds=(0, 1), source=EL_EMAM, **FACTS)
def average_risk(release: Release | Table, *, columns: Sequence[str] | None = None, missing: Missing = "own") -> float:
    """Return the average prosecutor risk (marketer risk), 0 to 1.

    Formula: ``mean over rows of 1 / #{rows with the same values}``, which is the number of classes over the number of
    rows. 1 means that everyone is alone; ``1 / rows`` means that all rows are equal. It is never undefined.

    >>> import polars as pl
    >>> average_risk(Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 41, 41]})))
    0.4
    """
    return equivalence_classes(release, columns=columns, missing=missing).average_risk


@metric(more_means="less private", bounds=(0, 1), source=EL_EMAM, **FACTS)
def records_at_risk(
    release: Release | Table, *, limit: float, columns: Sequence[str] | None = None, missing: Missing = "own"
) -> float:
    """Return the share of rows with risk above a threshold, 0 to 1.

    Formula: ``#{rows with 1 / #{rows with the same values} > limit} / rows``. 0 means that no row is above the limit, 1
    that all are. A limit of 0.2 asks for classes of 5, one of 0.09 for classes of 12, because 1 / 11 is above 0.09. It
    is never undefined.

    >>> import polars as pl
    >>> records_at_risk(Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 41, 41]})), limit=0.4)
    0.4
    """
    share(limit, "the limit", advice="Write limit=0.2 for classes of 5")
    return equivalence_classes(release, columns=columns, missing=missing).share_above(limit)


@metric(more_means="less private", bounds=(0, 1), source="Skinner et al. (1994), sample uniques", **FACTS)
def sample_uniqueness(
    release: Release | Table, *, columns: Sequence[str] | None = None, missing: Missing = "own"
) -> float:
    """Return the share of rows that are alone in the release.

    Formula: ``#{rows that no other row equals in the columns} / rows``. 0 means that no person is alone, 1 that
    everyone is. Whoever is alone in a sample may still have doubles in the population: see
    :func:`population_uniqueness`. It is never undefined.

    >>> import polars as pl
    >>> sample_uniqueness(Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 52]})))
    0.5
    """
    return equivalence_classes(release, columns=columns, missing=missing).share_below(2)


def disclosure(
    release: Release | Table,
    *,
    columns: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    weights: Weights | None = None,
    household: str | None = None,
    population_size: float | None = None,
    minimum_cell: int | None = None,
    missing: Missing = "own",
    c: float = C,
) -> Disclosure:
    """Return everything that a released table discloses by itself.

    Parameters
    ----------
    release
        A table, or a release, of which the released table is taken.
    columns
        The quasi-identifiers; by default all columns with the role "known" that are none of the following.
    sensitive
        The sensitive columns; by default all with the role "sensitive" that are no quasi-identifiers.
    weights, population_size
        How many people each row stands for (a column, or one number per row), and the size of the population: at least
        one of them is needed for values about the population.
    household
        The column that says who lives together.
    minimum_cell
        The size that no class may stay below, by whatever rules apply; there is no default.
    missing
        "own" or "any" for the class sizes, as in :func:`equivalence_classes`; all else takes missing for a value of its
        own.
    c
        That of recursive diversity.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 30, 41, 41, 41], "ill": ["flu", "flu", "flu", "gout", "cold"]})
    >>> found = disclosure(Table.from_frame(people), sensitive=["ill"], minimum_cell=3)
    >>> found.k_anonymity, found.records_at_risk, found.diversity[0].distinct, found.population[0].why[:23]
    (2, 0.4, 1, 'neither weights nor the')
    """
    if minimum_cell is not None:
        whole_number(minimum_cell, "the minimum cell size", advice="Write minimum_cell=5")
    table = released_table(release)
    if isinstance(sensitive, str):
        raise InputError("sensitive is not a list of names. Write sensitive=['…']")
    told = [column.name for column in table.columns if column.role == "sensitive"] if sensitive is None else sensitive
    names = quasi_identifiers(table, columns, apart=_apart(() if sensitive is None else told, weights, household))
    secrets = [name for name in told if name not in names]
    codes = column_codes(table, names)
    own = group(codes)
    if missing == "own":
        classes = matching_rows(names, missing, codes, own)
    else:
        classes = equivalence_classes(table, columns=names, missing=missing)
    special, short = _special(codes, names)
    checked, size = checked_weights(table, weights), checked_size(table, population_size)
    population = tuple(risk_of(codes, own, checked, size, method, minimum_cell) for method in METHODS)
    limit = None if minimum_cell is None else 1 / minimum_cell
    kind = release.kind if isinstance(release, Release) else None
    sizes = sorted({*SIZES, *([] if minimum_cell is None else [minimum_cell])})
    return Disclosure(
        rows=table.rows,
        columns=names,
        kind=kind,
        classes=classes,
        k_anonymity=classes.smallest,
        highest_risk=1 / classes.smallest,
        average_risk=classes.average_risk,
        sample_uniqueness=classes.share_below(2),
        below={k: classes.share_below(k) for k in sizes},
        minimum_cell=minimum_cell,
        records_at_risk=nan if minimum_cell is None else classes.share_below(minimum_cell),
        diversity=tuple(diversity(table, sensitive=name, columns=names, c=c, classes=own) for name in secrets),
        special_uniques=special,
        population=population,
        household=None if household is None else households_of(table, household, 1 / classes.of_row, "sample", limit),
        misleading=MISLEADING if kind == "synthetic" else "",
        why=_why(minimum_cell, secrets, household, "" if special else short),
        notes=(*([short] if special and short else []), *population[0].notes, *_suppressed(table, names, missing)),
    )


def _suppressed(table: Table, names: Sequence[str], missing: Missing) -> tuple[str, ...]:
    """Return a note on the treatment of suppressed cells, if any."""
    other: Missing = "any" if missing == "own" else "own"
    cells = table.cells or {}
    if not any((cells[name].state == SUPPRESSED).any() for name in table.coarse(names)):
        return ()
    try:
        k = equivalence_classes(table, columns=names, missing=other).smallest
    except InputError:
        return ("k is unknown if suppressed cells match every value: there are too many patterns of them",)
    ways = {"own": "is a separate value", "any": "matches every value"}
    return (f"if a suppressed cell {ways[other]}, the smallest class has {k} rows; here it {ways[missing]}",)


def _apart(sensitive: Sequence[str], weights: Weights | None, household: str | None) -> dict[str, str]:
    """Return the columns that are not quasi-identifiers, with their role."""
    apart = dict.fromkeys(sensitive, "a sensitive column")
    if isinstance(weights, str):
        apart[weights] = "the weights"
    if household is not None:
        apart[household] = "the household"
    return apart


def _special(codes: Int32Array, names: tuple[str, ...]) -> tuple[SpecialUniques | None, str]:
    """Return special uniques up to an affordable size, with a note."""
    size = affordable_size(len(codes), len(names), at_most=_MOST_VISITS)
    if not size:
        return None, f"{len(names)} columns in {len(codes)} rows are too many to search for special uniques"
    found = uniques_of(codes, names, size)
    short = f"special uniques were searched in sets of up to {size} columns only, to save time"
    return found, short if size < min(SIZE, len(names)) else ""


def _why(minimum_cell: int | None, secrets: Sequence[str], household: str | None, special: str) -> dict[str, str]:
    reasons = {
        "records_at_risk": NO_CELL if minimum_cell is None else "",
        "diversity": "" if secrets else NOTHING_SENSITIVE,
        "household": NO_HOUSEHOLD if household is None else "",
        "special_uniques": special,
    }
    return {part: reason for part, reason in reasons.items() if reason}

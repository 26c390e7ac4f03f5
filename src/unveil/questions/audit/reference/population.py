"""Compare a release with a population file, and take the control group from it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table, agree, stacked
from unveil.data.table.column import listed
from unveil.errors import InputError
from unveil.metrics.releases.population_risk import PopulationIs, RegisterRisk, register_risk
from unveil.questions.audit.people import LEAST_OUTSIDE, draw_people
from unveil.questions.audit.reference.findings import PopulationFinding
from unveil.questions.audit.reference.read import ReferenceTables, are_in, check_population, identifier_keys
from unveil.questions.request import SettingError
from unveil.report.editions import people as people_text

if TYPE_CHECKING:
    from unveil.data.table.release import Release

#: More people of a population file are not compared with; some are drawn at random.
MOST_REFERENCE = 20_000


def population_finding(
    release: "Release",
    original: Table,
    population: Table,
    *,
    stated: tuple[str, ...],
    population_is: PopulationIs,
    threshold: float,
    control_people: int,
) -> PopulationFinding:
    """Return the risk against a population file; refuse a register that does not contain the data.

    ``stated`` are the stated quasi-identifiers; without any, all columns count that an attacker may know. Records with
    a risk above ``threshold`` are counted.
    """
    check_population(original, population)
    is_masked = release.kind == "masked"
    table = release.released if is_masked else release.original
    columns = _keys(release, population, stated)
    risk = register_risk(
        table.select(columns), population.select(columns), columns, population_is=population_is, threshold=threshold
    )
    if population_is == "register" and not risk.is_register:
        raise SettingError(_contradicted(risk, population, "release" if is_masked else "original"), "population_is")
    return PopulationFinding(of="release" if is_masked else "original", risk=risk, control_people=control_people)


def _contradicted(risk: RegisterRisk, population: Table, of: str) -> str:
    number = risk.contradictions
    classes = "1 class of the {} has" if number == 1 else f"{number:,} classes of the {{}} have"
    return (
        f"{classes.format(of)} fewer people in {population.name!r} than in the {of}, so it does not contain them all. "
        "State that it is a sample"
    )


def _keys(release: "Release", population: Table, stated: tuple[str, ...]) -> list[str]:
    """Return the quasi-identifiers that both tables have."""
    known = [each.name for each in release.original.columns if each.role == "known"]
    lacking = [name for name in stated if name not in population.column_names]
    if lacking:
        raise InputError(
            f"The population file {population.name!r} lacks the quasi-identifiers {', '.join(lacking)}. Add them, or "
            "state quasi-identifiers that it has"
        )
    columns = [name for name in known if name in population.column_names]
    if not columns:
        shared = [name for name in release.original.column_names if name in population.column_names]
        but = f" but {listed(shared)}" if shared else ""
        raise InputError(
            f"The population file {population.name!r} shares no column with the release{but}. An attacker needs "
            f"columns to recognize people by: {listed(known)}"
        )
    return columns


def control_from(original: Table, reference: ReferenceTables, identifier: str | None) -> tuple[Table | None, list[str]]:
    """Return the control group from the people of siblings or from a population file, with notes.

    Without identifier the population file never is one: people who look different may be in the data, and removing
    those who equal a record would leave a control group without coincidences.
    """
    used = [each.name for each in original.columns if each.is_used]
    if reference.people:
        return _from_people(original, reference.people, identifier)
    population = reference.population
    if population is None or identifier is None or identifier not in population.column_names:
        return None, []
    if identifier not in original.column_names:
        return None, []
    lacking = [name for name in used if name not in population.column_names]
    if lacking:
        return None, [f"The population file is not the control group: it lacks {listed(lacking)}."]
    rest = _without(original, population, identifier)
    if not rest.rows:
        return None, ["The population file is not the control group: all its people are in the data."]
    pattern = f"The control group is {{}} of the population file whose {identifier!r} is not in the original."
    return rest, [people_text(rest.rows, "row", "rows", pattern=pattern)]


def reference_set(
    tables: Sequence[Table],
    population: Table,
    columns: Sequence[str],
    *,
    identifier: str | None,
    rng: np.random.Generator,
) -> tuple[Table | None, str]:
    """Return people of a population file who are in neither table, and why there are none.

    ``tables`` are the original and the control group. Their people are left out by identifier; without one, a row is
    left out for each equal person, or people would be hidden behind themselves. It does not matter which of the two
    tables a person is in, so the rows that are left tell nothing about it. Of many people some are drawn at random.

    Examples
    --------
    >>> one, other, file = (Table.from_frame({"age": each}) for each in ([20, 30], [40], [20, 30, 30, 40] + [50] * 60))
    >>> found, why = reference_set([one, other], file, ["age"], identifier=None, rng=np.random.default_rng(0))
    >>> found.series("age").to_list()[:2], found.rows
    ([30, 50], 61)
    """
    lacking = [name for name in columns if name not in population.column_names]
    if lacking:
        return None, f"The population file is not the reference set of membership scores: it lacks {listed(lacking)}."
    if identifier is not None and all(identifier in each.column_names for each in (*tables, population)):
        rest = population
        for table in tables:
            rest = _without(table, rest, identifier)
    else:
        rest = population.take(_unmatched(tables, population, columns))
    if rest.rows < LEAST_OUTSIDE:
        few = people_text(rest.rows, "row", "rows", pattern="{} of other people")
        return None, f"The population file is not the reference set of membership scores: it has only {few}."
    drawn = draw_people(rest.select(list(columns)), rng=rng).rows
    return replace(rest.take(np.sort(drawn[:MOST_REFERENCE])), name="population"), ""


def _unmatched(tables: Sequence[Table], population: Table, columns: Sequence[str]) -> IntArray:
    """Return the rows of a population without one for each equal person."""
    import polars as pl

    agreed = agree(*(replace(each, cells=None).select(list(columns)) for each in (*tables, population)))
    *known, rows = (each.content.hash_rows(0).rename("content").to_frame() for each in agreed)
    owners = pl.concat(known).group_by("content").len("owners")
    # Equal rows are interchangeable: the first ones are left out.
    place = rows.with_row_index("row").with_columns(place=pl.int_range(pl.len()).over("content"))
    joined = place.join(owners, on="content", how="left")
    kept = joined.filter(pl.col("place") >= pl.col("owners").fill_null(0))["row"]
    return np.sort(kept.to_numpy().astype(np.int64))


def _from_people(original: Table, people: tuple[Table, ...], identifier: str | None) -> tuple[Table, list[str]]:
    names = [name for name in original.column_names if all(name in each.column_names for each in people)]
    tables = agree(original.select(names), *(each.select(names) for each in people))[1:]
    rest = stacked(tables, names) if len(tables) > 1 else tables[0]
    notes = ["The control group is the people of the siblings."]
    if identifier is not None and identifier in names:
        before, rest = rest.rows, _without(original, rest, identifier)
        if before > rest.rows:
            pattern = "The control group is the people of the siblings, without {} of people who are in the data."
            notes = [people_text(before - rest.rows, "row", "rows", pattern=pattern)]
    return rest, notes


def _without(original: Table, table: Table, identifier: str) -> Table:
    """Return the rows whose identifier is not in the original; those without one cannot be checked and are left out."""
    own, theirs = identifier_keys([original, table], identifier)
    is_in = are_in(theirs, own, missing=True)
    return table.take(np.flatnonzero(~is_in))

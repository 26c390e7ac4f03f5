"""Compare a release with a population file, and take the control group from it."""

from typing import TYPE_CHECKING

import numpy as np

from unveil.data.table import Table, agree, stacked
from unveil.data.table.column import listed
from unveil.errors import InputError
from unveil.metrics.releases.population_risk import PopulationIs, RegisterRisk, register_risk
from unveil.questions.audit.reference.findings import PopulationFinding
from unveil.questions.audit.reference.read import ReferenceTables, are_in, check_population, identifier_keys
from unveil.questions.request import SettingError
from unveil.report.editions import people as people_text

if TYPE_CHECKING:
    from unveil.data.table.release import Release


def population_finding(
    release: "Release",
    original: Table,
    population: Table,
    *,
    stated: tuple[str, ...],
    population_is: PopulationIs,
    control_people: int,
) -> PopulationFinding:
    """Return the risk against a population file; refuse a register that does not contain the data.

    ``stated`` are the stated quasi-identifiers; without any, all columns count that an attacker may know.
    """
    check_population(original, population)
    is_masked = release.kind == "masked"
    table = release.released if is_masked else release.original
    columns = _keys(release, population, stated)
    risk = register_risk(table.select(columns), population.select(columns), columns, population_is=population_is)
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

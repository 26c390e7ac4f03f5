"""Re-identification risk against a register of the population: prosecutor, journalist, marketer, presence."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, nan
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.table import Table, agree
from unveil.errors import InputError
from unveil.metrics.releases._classes import column_codes, group, quasi_identifiers
from unveil.metrics.releases.truthful import HeldValues, cells_of, compatible_rows

#: What a population file is: everybody in the data is in it, or not; "auto" decides by the data.
PopulationIs = Literal["auto", "register", "sample"]
#: Records with a risk above this are counted, unless another one is stated.
RISK_ABOVE = 0.2


@dataclass(frozen=True, kw_only=True)
class RegisterRisk:
    """Risk of a table against a register; values that need a register are NaN without one.

    f is the number of records in an equivalence class, F the number of people in it.
    """

    COUNTS = "statistic"

    columns: tuple[str, ...] = figure("The quasi-identifiers that form the classes.")
    records: int = figure("Number of records.", counts="rows")
    people: int = figure("Number of people in the population file.", counts="people")
    threshold: float = figure("Risks above this are counted.")
    is_register: bool = figure("Whether the population file contains all people in the data.")
    contradictions: int = figure("Classes with more records than people in the population file.")
    prosecutor_max: float = figure("Largest 1 / f.")
    prosecutor_mean: float = figure("Mean of 1 / f over records.")
    prosecutor_above: float = figure("Share of records with 1 / f above the threshold.")
    journalist_max: float = figure(
        "Largest 1 / F over the classes of the release.",
        default=nan,
        limit="journalist_max",
        limit_meaning="largest journalist risk, 1/F, with a population register",
    )
    journalist_above: float = figure("Share of records with 1 / F above the threshold.", default=nan)
    k_map: float = figure("Smallest F over the classes of the release.", counts="people", default=nan)
    marketer: float = figure(
        "Mean of 1 / F over records: the expected share that is re-identified.",
        default=nan,
        limit="marketer",
        limit_meaning="marketer risk, the mean of 1/F, with a population register",
    )
    sample_uniques: int = figure("Classes of one record.", counts="rows")
    population_uniques: float = figure("Classes of one record and one person.", counts="people", default=nan)
    population_uniqueness: float = figure("Share of sample uniques that are population unique.", default=nan)
    unique_match_correct: float = figure(
        "Probability that a match with a sample unique is correct (Skinner and Elliot).", default=nan
    )
    delta_max: float = figure(
        "Largest f / F: how likely a person of a class is in the data.",
        default=nan,
        limit="delta_max",
        limit_meaning="largest presence risk, f/F, with a population register",
    )
    delta_min: float = figure("Smallest f / F over all people; 0 if a class has no record.", default=nan)
    delta_above: float = figure("Share of people with f / F above the threshold.", default=nan)


def register_risk(
    released: Table,
    population: Table,
    columns: Sequence[str] | None = None,
    *,
    population_is: PopulationIs = "auto",
    threshold: float = RISK_ABOVE,
) -> RegisterRisk:
    """Return the risk of a table against a population file, per equivalence class.

    A person belongs to a class if all released cells are compatible with the person's values: bands, sets and
    suppressed cells stand for several values, so that classes may overlap. A class with more records than people
    contradicts a register of everybody; then no figure that needs one is computed.

    Parameters
    ----------
    released
        The masked release; for a synthetic one the original, whose release is the baseline.
    population
        People whom an attacker may know from elsewhere.
    columns
        The quasi-identifiers; by default the columns with the role "known" that both tables have.
    population_is
        "register" if it contains everybody in the data, "sample" if not. "auto" takes it for a register if no class
        contradicts that and it has at least as many people as there are records.
    threshold
        Count records and people with a risk above this.

    Examples
    --------
    >>> import polars as pl
    >>> register = Table.from_frame(pl.DataFrame({"town": ["Ulm", "Ulm", "Bonn", "Kiel"]}))
    >>> found = register_risk(Table.from_frame(pl.DataFrame({"town": ["Ulm", "Bonn"]})), register)
    >>> found.journalist_max, found.marketer, found.delta_min
    (1.0, 0.75, 0.0)
    """
    if population_is not in get_args(PopulationIs):
        raise InputError(f"Unknown value {population_is!r} of population_is. Use auto, register or sample")
    people, table = agree(population, released, masked=True)
    if columns is None:
        columns = [each.name for each in table.columns if each.role == "known"]
    names = quasi_identifiers(table, columns)
    classes = _classes(people, table, names)
    records, size = classes.records, classes.people
    contradictions = int((size < records).sum())
    fits = contradictions == 0 and (population_is == "register" or people.rows >= table.rows)
    is_register = population_is != "sample" and fits
    rows, unique = int(records.sum()), records == 1
    known: dict[str, Any] = {
        "columns": names,
        "records": rows,
        "people": people.rows,
        "threshold": threshold,
        "is_register": is_register,
        "contradictions": contradictions,
        "prosecutor_max": 1 / int(records.min()),
        "prosecutor_mean": records.size / rows,
        "prosecutor_above": _share(records, 1 / records > threshold),
        "sample_uniques": int(unique.sum()),
    }
    if not is_register:
        return RegisterRisk(**known)
    delta = records / size
    population_uniques = int((unique & (size == 1)).sum())
    return RegisterRisk(
        **known,
        journalist_max=1 / int(size.min()),
        journalist_above=_share(records, 1 / size > threshold),
        k_map=int(size.min()),
        marketer=fsum(delta) / rows,
        population_uniques=population_uniques,
        population_uniqueness=population_uniques / int(unique.sum()) if unique.any() else nan,
        unique_match_correct=int(unique.sum()) / int(size[unique].sum()) if unique.any() else nan,
        delta_max=float(delta.max()),
        delta_min=0.0 if classes.presence.min() < 0 else float(delta.min()),
        delta_above=float((classes.presence > threshold).mean()),
    )


class _PopulationClasses(NamedTuple):
    """Records and people of each class; for each person the largest f / F of its classes, -1 without one."""

    records: IntArray
    people: IntArray
    presence: FloatArray


def _classes(people: Table, table: Table, names: Sequence[str]) -> _PopulationClasses:
    """Return the classes of the released table with their people."""
    found = group(column_codes(table, names))
    held = [HeldValues.of(cells_of([people], table, name)) for name in names]
    places = [each.cells.places(people.held(name)) for each, name in zip(held, names, strict=True)]
    _, first = np.unique(found.of_row, return_index=True)
    boxes = np.column_stack([each.cells.of_row for each in held])[first]
    size, presence = np.zeros(found.size.size, np.int64), np.full(people.rows, -1.0)
    plain = np.all([_is_one_value(each)[box] for each, box in zip(held, boxes.T, strict=True)], axis=0)
    if plain.any():
        wanted = np.column_stack([each.first[box] for each, box in zip(held, boxes[plain].T, strict=True)])
        own = group(np.vstack([np.column_stack(places), wanted]).astype(np.int32)).of_row
        number = np.bincount(own[: people.rows], minlength=int(own.max()) + 1)
        size[plain] = number[own[people.rows :]]
        delta = np.full(number.size, -1.0)
        # Released classes of the same values differ by a marker only: none is divided by no people.
        np.maximum.at(delta, own[people.rows :], found.size[plain] / np.maximum(size[plain], 1))
        presence = delta[own[: people.rows]]
    for each, rows in zip(
        np.flatnonzero(~plain), compatible_rows(held, places, boxes[~plain], people.rows + 1), strict=True
    ):
        if rows is not None and rows.size:
            size[each] = rows.size
            presence[rows] = np.maximum(presence[rows], found.size[each] / rows.size)
    return _PopulationClasses(found.size, size, presence)


def _is_one_value(held: HeldValues) -> BoolArray:
    return np.asarray((held.first == held.last) & ~held.has_gaps)


def _share(records: IntArray, counted: BoolArray) -> float:
    return int(records[counted].sum()) / int(records.sum())

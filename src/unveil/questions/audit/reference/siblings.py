"""Compare a release with sibling releases: how close each is to the people behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks.table.sibling_calibration import COPY, calibrate, nearness_to_releases
from unveil.data.table import Table, agree
from unveil.data.table.release import Release
from unveil.metrics.trials.membership import area_under_curve
from unveil.metrics.trials.risk import Rate, clopper_pearson
from unveil.metrics.verdict.effects import FEWEST_ATTEMPTS, EffectSize
from unveil.metrics.verdict.siblings import (
    FEWEST_OF_ASSIGNMENT,
    FEWEST_OF_TEST,
    FIGURES,
    SiblingTest,
    assignment_test,
    population_check,
    sibling_effect,
    sibling_figures,
    sibling_test,
    smallest_assignment_p,
)
from unveil.questions.audit.people import draw_people
from unveil.questions.audit.reference.calibration import z_of_people
from unveil.questions.audit.reference.findings import (
    SiblingCheck,
    SiblingFinding,
    SiblingStatistic,
    SiblingTestName,
)
from unveil.questions.audit.reference.read import ReferenceTables, are_in, as_middles, identifier_keys

if TYPE_CHECKING:
    import polars as pl

#: Of more people than this share, whom a sibling saw too, nothing is tested.
MOST_SHARED = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class SiblingCase:
    """A release with its siblings, and the people who are compared.

    ``rows`` are those of the original, ``control_rows`` those of the control group where it can be used.
    ``of_other_people`` says that the people of the siblings are from another population.
    """

    release: Release
    original: Table
    control: Table | None
    reference: ReferenceTables
    rows: IntArray
    control_rows: IntArray
    identifier: str | None
    of_other_people: bool
    rng: np.random.Generator

    @property
    def releases(self) -> list[Table]:
        """The release, then its siblings."""
        return [self.release.released, *self.reference.siblings]

    @property
    def columns(self) -> list[str]:
        """The columns in which people are compared."""
        return compared_columns(self.release)

    def nearness(self, people: Table) -> FloatArray:
        """Return how close each release is to each person, at [person, release]."""
        is_masked = self.release.kind == "masked"
        return nearness_to_releases(self.releases, people, self.columns, ranks=[1], masked=is_masked)[:, :, 0]

    def keys(self, tables: Sequence[Table]) -> "list[pl.Series]":
        """Return what tells the people of several tables apart: their identifier, else their records."""
        told = self.identifier
        if told is not None and all(told in table.column_names for table in tables):
            return identifier_keys(tables, told)
        shared = agree(*(table.select(self.columns) for table in tables))
        return [table.content.hash_rows(0) for table in shared]


def compared_columns(release: Release) -> list[str]:
    """Return the columns in which people are compared with releases."""
    return [each.name for each in release.original.columns if each.role in ("known", "sensitive")]


def sibling_finding(case: SiblingCase) -> SiblingFinding:
    """Return how close the release is to its people, compared with its siblings."""
    siblings, people = case.reference.siblings, case.reference.people
    releases = case.releases
    if case.release.kind == "masked":
        releases = as_middles(case.release.original, releases, case.columns)
    number, same = len(siblings), population_check(releases, case.columns)
    keys = case.keys([case.original, *people]) if people else []
    seen = np.column_stack([are_in(keys[0][case.rows], each) for each in keys[1:]]) if people else None
    is_left_out = np.zeros(case.rows.size, np.bool_) if seen is None else seen.any(axis=1)
    check: SiblingCheck = "usable"
    if same.differs or case.of_other_people:
        check = "siblings_differ"
    elif is_left_out.mean() > MOST_SHARED:
        check = "siblings_overlap"
    test: SiblingTestName = "none"
    if check == "usable":
        is_of_way = bool(people) and number + 1 >= FEWEST_OF_ASSIGNMENT
        test = "release" if number >= FEWEST_OF_TEST else "assignment" if is_of_way else "none"
        check = "too_few" if test == "none" else check
    own = case.nearness(case.original.take(case.rows))
    left, p, finding = own[~is_left_out], nan, None
    if test == "release":
        finding = sibling_test(sibling_figures(left, left == COPY))
        p = finding.p
    elif test == "assignment" and (assigned := _assigned(case, keys, own)) is not None:
        left, p = assigned
    elif test == "assignment":
        test, check = "none", "siblings_overlap"
    auc = nan, nan
    people_z: tuple[tuple[int, float], ...] = ()
    if check != "siblings_differ":
        auc = _areas(case, keys, own, seen)
        people_z = z_of_people(case.rows, own[:, 0], own[:, 1:], seen, rng=case.rng)
    return SiblingFinding(
        number=number,
        check=check,
        column=same.column if same.differs else "",
        test=test,
        smallest_p=_smallest_p(test, number),
        p=p,
        people=case.rows.size,
        left_out=int(is_left_out.sum()),
        statistics=() if finding is None else _statistics(finding),
        auc=auc[0],
        auc_calibrated=auc[1],
        people_z=people_z,
        **_effect(left, case.rng),
    )


def _effect(scores: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    """Return the rates at which the release, and a sibling, is the nearest to a person."""
    if len(scores) < FEWEST_ATTEMPTS:
        why = f"fewer than {FEWEST_ATTEMPTS} people"
        unknown = Rate(nan, nan, nan, why=why)
        excess = EffectSize(nan, nan, nan, why_not_tested=why)
        return {"attack_rate": unknown, "baseline_rate": unknown, "excess_risk": excess}
    finding, siblings = sibling_effect(scores, rng=rng), scores.shape[1] - 1
    attack = clopper_pearson(finding.attack_rate * len(scores), len(scores))
    low, high = ((1 - each) / siblings for each in (attack.high, attack.low))
    rates = sibling_figures(scores)[1:, 1]
    return {
        "attack_rate": attack,
        "baseline_rate": Rate(finding.baseline_rate, low, high),
        "excess_risk": EffectSize(*finding.difference, attack_rate=finding.attack_rate, baseline=finding.baseline_rate),
        "normalized_excess": finding.excess_risk[0],
        "sibling_rates": tuple(np.sort(rates).tolist()),
    }


def _statistics(finding: SiblingTest) -> tuple[SiblingStatistic, ...]:
    each = zip(FIGURES, finding.z.tolist(), finding.adjusted.tolist(), strict=True)
    return tuple(SiblingStatistic(name=name, z=z, p_adjusted=p) for name, z, p in each)


def _smallest_p(test: SiblingTestName, siblings: int) -> float:
    """Return the smallest p of a test.

    >>> _smallest_p("release", 22), _smallest_p("assignment", 3) * 24, _smallest_p("none", 5)
    (0.043478260869565216, 1.0, nan)
    """
    if test == "assignment":
        return smallest_assignment_p(siblings + 1)
    return 1 / (siblings + 1) if test == "release" else nan


def _assigned(case: SiblingCase, keys: "Sequence[pl.Series]", own: FloatArray) -> tuple[FloatArray, float] | None:
    """Return the DCR scores of all people, their own release first, and the p of their assignment.

    People who are behind two releases are left out of both; None where too few are left.
    """
    tables, nearness, turned = [case.original, *case.reference.people], list[FloatArray](), list[FloatArray]()
    for place, table in enumerate(tables):
        rows = case.rows
        if place:
            drawn = draw_people(table, rng=case.rng)
            rows = drawn.split(min(rows.size, drawn.people))[0].rows
        others = [those for other, those in enumerate(keys) if other != place]
        is_shared = np.column_stack([are_in(keys[place][rows], those) for those in others]).any(axis=1)
        scores = own if place == 0 else case.nearness(table.take(rows))
        scores = scores[np.flatnonzero(~is_shared)]
        if len(scores) < max(FEWEST_ATTEMPTS, (1 - MOST_SHARED) * rows.size):
            return None
        nearness.append(scores.mean(axis=0))
        turned.append(np.roll(scores, -place, axis=1))
    return np.concatenate(turned), assignment_test(np.array(nearness), rng=case.rng)


def _areas(
    case: SiblingCase, keys: "Sequence[pl.Series]", own: FloatArray, seen: BoolArray | None
) -> tuple[float, float]:
    """Return the AUC of the DCR score, raw and calibrated, of people in the data against the control group."""
    if case.control is None or not case.control_rows.size:
        return nan, nan
    people = case.control.take(case.control_rows)
    others, number = case.nearness(people), len(case.reference.siblings)
    seen_others = np.zeros((len(others), number), np.bool_)
    if keys:
        of_control = case.keys([people, *case.reference.people])
        seen_others = np.column_stack([are_in(of_control[0], each) for each in of_control[1:]])
    both = np.concatenate([own, others])
    saw = np.concatenate([np.zeros((len(own), number), np.bool_) if seen is None else seen, seen_others])
    # Everybody is compared with equally many siblings: people whom all of them saw cannot be.
    kept = np.flatnonzero(np.count_nonzero(saw, axis=1) < number)
    both, saw, members = both[kept], saw[kept], int((kept < len(own)).sum())
    if min(members, len(both) - members) < FEWEST_ATTEMPTS:
        return nan, nan
    finding = calibrate(both[:, 0], both[:, 1:], seen=saw, rng=case.rng).difference
    raw, calibrated = (area_under_curve(each[:members], each[members:]).value for each in (both[:, 0], finding))
    return raw, calibrated

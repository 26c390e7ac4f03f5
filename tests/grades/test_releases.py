"""Figures that order releases, against pairs that are counted one by one."""

from itertools import combinations
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest

from tests.studies.given import index, study_file
from tests.studies.small import small_study
from unveil.errors import InputError
from unveil.grades.releases import FigureGrade, GradedRelease, Order, grade_releases, order_of, releases_of
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.studies import Results, Study, run_study
from unveil.studies.audit_columns import COLUMNS, COPIED


def release(name: str, epsilon: float, value: float, *, technique: str = "noise", copied: float = nan) -> GradedRelease:
    return GradedRelease(
        name=name,
        original="people",
        technique=technique,
        library="",
        epsilon=epsilon,
        features="all",
        figures={"figure": value, COLUMNS: 3.0, COPIED: copied},
    )


def order(releases: list[GradedRelease]) -> Order:
    return order_of(
        releases,
        lambda each: each.figures["figure"],
        lambda each: each.epsilon,
        lambda each: (each.technique,),
        rng=np.random.default_rng(1),
    )


def test_pairs_are_counted_within_their_group_alone() -> None:
    rng = np.random.default_rng(3)
    releases = [
        release(str(at), float(rng.choice([1, 5, 10])), float(rng.integers(0, 4)), technique=str(rng.integers(0, 3)))
        for at in range(30)
    ]
    right = []
    for a, b in combinations(releases, 2):
        if a.technique == b.technique and a.epsilon != b.epsilon:
            more, stronger = a.figures["figure"] - b.figures["figure"], a.epsilon - b.epsilon
            right.append(0.5 if more == 0 else float((more > 0) == (stronger > 0)))
    found = order(releases)
    assert found.pairs == len(right)
    assert found.share == pytest.approx(np.mean(right))
    assert found.groups == 3
    assert found.low <= found.share <= found.high


def test_nobody_can_be_ordered_without_two_epsilons() -> None:
    found = order([release("a", 1, 0.1), release("b", 1, 0.2), release("c", nan, 0.3), release("d", 5, nan)])
    assert isnan(found.share)
    assert (found.pairs, found.groups) == (0, 0)


@pytest.mark.parametrize(
    ("epsilon", "copied", "verdict"),
    [
        ((0.9, 0.8, 1.0, 20, 8), (0.8, 0.6, 0.9, 20, 8), "use"),
        ((0.9, 0.8, 1.0, 20, 8), (0.7, 0.4, 0.9, 20, 8), "with care"),
        ((0.9, 0.8, 1.0, 20, 8), (0.4, 0.2, 0.6, 20, 8), "do not rank by it"),
        ((0.9, 0.8, 1.0, 20, 8), (nan, nan, nan, 0, 0), "use"),
        ((0.9, 0.8, 1.0, 20, 3), (0.8, 0.6, 0.9, 20, 8), "no grade"),
    ],
)
def test_a_figure_must_beat_a_coin_in_both_orders(
    epsilon: tuple[float, ...], copied: tuple[float, ...], verdict: str
) -> None:
    names = ("share", "low", "high", "pairs", "groups")
    orders = [Order(**dict(zip(names, each, strict=True))) for each in (epsilon, copied)]  # type: ignore[arg-type]
    grade = FigureGrade(figure="figure", epsilon=orders[0], copied=orders[1])
    assert grade.verdict == verdict
    assert grade.reason


def test_a_study_of_releases_is_graded(tmp_path: Path) -> None:
    index(tmp_path)
    run_study(Study.read(study_file(tmp_path)), tmp_path / "out", workers=0)
    results = Results.read(tmp_path / "out")
    assert [each.epsilon for each in releases_of(results)][1:] == [1.0, 10.0]
    assert grade_releases(results, rng=np.random.default_rng(1)).figures == ()
    grades = grade_releases(results, rng=np.random.default_rng(1), figures={"released": True})
    assert [each.figure for each in grades.figures] == ["released"]
    # Both releases have as many rows: a tie counts half.
    assert grades.figures[0].epsilon.share == 0.5
    assert grades.to_shipped().metrics["released"].verdict == "no grade"


def test_a_study_that_makes_its_own_releases_is_refused(tmp_path: Path) -> None:
    run_study(small_study(tmp_path), tmp_path / "out", workers=0)
    with pytest.raises(InputError, match="but this study makes its own"):
        grade_releases(Results.read(tmp_path / "out"), rng=np.random.default_rng(1))


def test_given_releases_have_no_adversary_of_growing_strength(tmp_path: Path) -> None:
    index(tmp_path)
    run_study(Study.read(study_file(tmp_path)), tmp_path / "out", workers=0)
    with pytest.raises(InputError, match="the study 'given' is of given releases and has none"):
        ReplicatedMetrics.of(Results.read(tmp_path / "out"))

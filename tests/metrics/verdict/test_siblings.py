"""Tests with sibling releases: the definitions, exactness on exchangeable releases, and clear cases."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.oracles import siblings as oracle
from unveil._kernels.types import FloatArray
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.verdict.siblings import (
    FEWEST_OF_TEST,
    LEVEL,
    assignment_test,
    population_check,
    release_margins,
    sibling_effect,
    sibling_figures,
    sibling_test,
)

#: Whole numbers, so that ties are frequent.
few = st.integers(-4, 4).map(float)


@given(arrays.arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(1, 4)), elements=few))
def test_step_down_by_the_largest_z(figures: FloatArray) -> None:
    found = sibling_test(figures)
    p, adjusted = oracle.sibling_test(figures.tolist())
    assert found.p == p
    assert found.adjusted.tolist() == adjusted
    assert found.z == pytest.approx([oracle.z_of(figures.tolist(), 0, f) for f in range(figures.shape[1])])
    assert found.p == found.adjusted.min()


@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(2, 6)), elements=few))
def test_figures_of_every_release(scores: FloatArray) -> None:
    copies = scores > 2
    found = sibling_figures(scores, copies)
    for b in range(scores.shape[1]):
        assert found[b, 0] == pytest.approx(oracle.mean_rank(scores.tolist(), b))
        assert found[b, 1] == pytest.approx(oracle.first_share(scores.tolist(), b))
        assert found[b, 2] == copies[:, b].sum()
    # Ranks and shares of all releases together are the same, whatever the scores.
    assert found[:, 0].mean() == pytest.approx((scores.shape[1] + 1) / 2)
    assert found[:, 1].sum() == pytest.approx(1)


def test_the_largest_of_enough_siblings_is_significant_and_of_fewer_is_not() -> None:
    rng = np.random.default_rng(1)
    for siblings, significant in ((FEWEST_OF_TEST, True), (FEWEST_OF_TEST - 1, False)):
        figures = np.vstack([[9.0, 0.0], rng.normal(size=(siblings, 2))])
        found = sibling_test(figures)
        assert found.p == 1 / (siblings + 1)
        assert (found.p <= LEVEL) == significant


@pytest.mark.unwatched
def test_exchangeable_releases_are_significant_at_most_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(2)
    figures = rng.normal(size=(1000, 23, 1)) + rng.gamma(0.3, size=(1000, 23, 3))
    rejected = sum(sibling_test(each).p <= LEVEL for each in figures)
    # Exactly 1 in 23 in the mean: 43.5 of 1,000, with a standard deviation of 6.4.
    assert abs(rejected - 1000 / 23) < 3.5 * 6.4


@given(arrays.arrays(np.float64, st.integers(2, 5).map(lambda size: (size, size)), elements=few), st.integers(0, 99))
def test_every_assignment_of_few_releases(nearness: FloatArray, seed: int) -> None:
    p = assignment_test(nearness, rng=np.random.default_rng(seed))
    assert p == pytest.approx(oracle.assignment_p(nearness.tolist()))
    # What is typical of people or of releases cancels.
    shifted = nearness + np.arange(len(nearness)) + np.arange(len(nearness))[:, None] * 3
    assert assignment_test(shifted, rng=np.random.default_rng(seed)) == pytest.approx(p)


def test_many_releases_are_assigned_at_random() -> None:
    rng = np.random.default_rng(3)
    assert assignment_test(np.eye(9), rng=rng) == 1 / 10_001
    nearness = rng.normal(size=(8, 8))
    drawn = assignment_test(nearness, rng=rng)
    assert drawn == pytest.approx(oracle.assignment_p(nearness.tolist()), abs=4 * 0.005)


def test_the_smallest_p_of_assignments() -> None:
    rng = np.random.default_rng(4)
    assert [round(1 / assignment_test(np.eye(size), rng=rng)) for size in (3, 4)] == [6, 24]
    with pytest.raises(InputError, match="data sets"):
        assignment_test(np.ones((3, 4)), rng=rng)
    with pytest.raises(InputError, match="at least one sibling"):
        sibling_test(np.ones((1, 2)))


def people(rng: np.random.Generator, rows: int, older: float = 0.0) -> Table:
    age = rng.integers(20, 70, rows) + older
    town = rng.choice(["Ulm", "Bonn", "Kiel"], rows, p=[0.5, 0.3, 0.2])
    return Table.from_frame(pl.DataFrame({"age": age, "town": town}))


def test_another_population_is_seen_and_the_same_is_not() -> None:
    rng = np.random.default_rng(5)
    siblings = [people(rng, 200) for _ in range(FEWEST_OF_TEST)]
    found = population_check([people(rng, 200, older=15), *siblings], ["town", "age"])
    assert (found.differs, found.p, found.column) == (True, 1 / (FEWEST_OF_TEST + 1), "age")
    checks = [population_check([people(rng, 200), *siblings[:10]], ["age", "town"]) for _ in range(5)]
    assert not any(each.differs for each in checks)
    # A few siblings can be alike by chance.
    checks = [population_check([people(rng, 200) for _ in range(few + 1)], ["age", "town"]) for few in [1, 2, 3] * 5]
    assert not any(each.differs for each in checks)
    assert all(
        population_check([people(rng, 200, older=40), *siblings[:few]], ["age", "town"]).differs for few in (1, 2, 3)
    )
    # With few siblings a margin must be beyond all doubt.
    assert population_check([people(rng, 200, older=15), *siblings[:10]], ["age", "town"]).differs


def test_margins_are_those_of_all_releases_together_and_of_any_order() -> None:
    tables = [
        Table.from_frame({"town": each}) for each in (["a"] * 3 + ["b"], ["b"] * 3 + ["c"], ["c", "b", None, "d"])
    ]
    margins, errors, of_column = release_margins(tables, ["town"])
    # b 5, a 3; c 2, d 1 and missing 1 are rarer than once in each release.
    assert margins.tolist()[0] == [0.25, 0.75]
    assert margins.shape == (3, 2)
    assert errors[1] == pytest.approx((0.25 * 0.75 / 4) ** 0.5)
    assert set(of_column.tolist()) == {0}
    again, _, _ = release_margins([each.take(np.arange(4)[::-1]) for each in tables], ["town"])
    assert again.tolist() == margins.tolist()


def test_the_effect_is_that_of_the_nearest_release() -> None:
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(400, 11))
    scores[:100, 0] += 9
    found = sibling_effect(scores, rng=rng)
    figures = sibling_figures(scores)
    assert found.attack_rate == pytest.approx(figures[0, 1])
    assert found.baseline_rate == pytest.approx(figures[1:, 1].mean())
    excess, low, high = found.excess_risk
    assert excess == pytest.approx((found.attack_rate - found.baseline_rate) / (1 - found.baseline_rate))
    assert low < 0.25 < high
    assert low < excess < high

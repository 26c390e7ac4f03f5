"""The official score of MIDST, its draws, and who is scored on the second set."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.midst import COLUMNS, curve, drawn_weights, measures
from benchmarks.midst_second import SMALL, points, samples

people = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=60).filter(
    lambda drawn: len({member for _, member in drawn}) == 2
)


@given(people)
def test_the_measures_are_those_of_all_thresholds_and_pairs(drawn: list[tuple[int, bool]]) -> None:
    inside, outside = ([score for score, member in drawn if member == side] for side in (True, False))

    def rate(scores: list[int], least: int) -> float:
        return sum(score >= least for score in scores) / len(scores)

    wanted = [
        max([0.0, *(rate(inside, least) for least in range(7) if rate(outside, least) < level)])
        for level in (0.1, 0.01)
    ]
    pairs = [(a > b) + (a == b) / 2 for a in inside for b in outside]
    scores, member = (np.array(each) for each in zip(*drawn, strict=True))
    assert measures(*curve(scores.astype(float), member)) == pytest.approx([*wanted, np.mean(pairs)])


def test_weights_are_worth_as_many_people_and_keep_models_whole() -> None:
    rng = np.random.default_rng(1)
    model, scores, member = np.repeat([4, 7, 9], 20), rng.integers(0, 9, 60).astype(float), rng.random(60) < 0.5
    weight = drawn_weights(model, rng)
    assert weight.sum() == 60
    assert all(weight[model == each].sum() % 20 == 0 for each in (4, 7, 9))
    many = np.repeat(np.arange(60), weight.astype(int))
    assert measures(*curve(scores, member, weight)) == pytest.approx(measures(*curve(scores[many], member[many])))


def test_members_of_the_second_set_were_used_for_their_release_alone() -> None:
    plan = replace(SMALL, rows=100, scored=20, teaching=30)
    everybody = samples(pl.DataFrame({name: np.arange(700) for name in COLUMNS}), plan)
    assert everybody["bank"].n_unique() == plan.rows * plan.releases
    found = points(everybody, plan)
    saw = dict(zip(everybody["bank"].to_list(), everybody["trained_on"].list.first().to_list(), strict=True))
    used = np.array([saw[int(each)] for each in found.rows["bank"].to_list()])
    np.testing.assert_array_equal(used == found.model, found.member)
    np.testing.assert_array_equal(found.seen, used[:, None] == np.arange(plan.releases))
    assert [int((found.model == each).sum()) for each in range(6)] == [40, 40, 40, 60, 60, 60]

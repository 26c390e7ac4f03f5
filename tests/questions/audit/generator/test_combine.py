from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.folds import p_of_folds, singled_out_over_runs, sum_over_runs
from unveil.metrics.verdict.family import FittedGuesses
from unveil.metrics.verdict.pool import Pool
from unveil.questions.audit.generator.combine import JointDraws, draw_folds, draw_pools, units_by_size


@given(st.data())
def test_what_was_seen_is_the_sum_over_runs_of_those_who_were_given(data: Any) -> None:
    people, folds, times = (data.draw(st.integers(*ends)) for ends in ((2, 9), (2, 4), (1, 2)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    fold = rng.integers(0, folds, (times, people))
    held_out = [divmod(each, folds) for each in range(folds * times)]
    scores = rng.integers(0, 3, (people, len(held_out))) / 2
    fits = [[np.flatnonzero(rng.random(people) < 0.4) for _ in range(3)] for _ in held_out]
    joint = JointDraws(draw_folds(fold, held_out, [np.arange(people)[:, None]], seed=1))
    by_score = joint.add(list(scores.T))
    by_guess = joint.add(
        [
            FittedGuesses(np.cumsum([0, *map(len, guesses)]), np.concatenate(guesses).astype(np.int64))
            for guesses in fits
        ]
    )
    unused = np.random.default_rng(0)
    assert by_score.draw(5, unused)[0] == sum_over_runs(scores, fold.tolist(), held_out)
    assert by_guess.draw(5, unused)[0] == singled_out_over_runs(fits, fold.tolist(), held_out)


def test_draws_of_folds_give_the_p_of_all_orders() -> None:
    rng = np.random.default_rng(4)
    fold, held_out = np.array([[0, 0, 1, 1, 2, 2]]), [(0, 0), (0, 1), (0, 2)]
    for _ in range(3):
        scores = rng.integers(0, 3, (6, 3)).astype(float)
        joint = JointDraws(draw_folds(fold, held_out, [np.arange(6)[:, None]], seed=int(rng.integers(100))))
        drawn = joint.add(list(scores.T)).draw(20_000, rng)
        p = np.mean(drawn[1:] >= drawn[0] - 1e-9)
        assert abs(p - p_of_folds(scores, fold.tolist(), held_out)) < 0.015


def test_rounds_are_drawn_independently() -> None:
    fold, held_out = np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), [(0, 0), (0, 1), (1, 0), (1, 1)]
    scores = np.array([[1.0, 0, 0, 2], [0, 3, 1, 0], [2, 0, 0, 1], [0, 0, 4, 0]])
    joint = JointDraws(draw_folds(fold, held_out, [np.arange(4)[:, None]], seed=3))
    drawn = joint.add(list(scores.T)).draw(20_000, np.random.default_rng(1))
    p = np.mean(drawn[1:] >= drawn[0] - 1e-9)
    assert abs(p - p_of_folds(scores, fold.tolist(), held_out)) < 0.015


def test_folds_stay_as_many_in_every_stratum() -> None:
    fold = np.array([[0, 1, 0, 1, 1, 0, 0, 0]])
    strata = [np.array([[0], [2], [4]]), np.array([[1], [3], [5], [6], [7]])]
    blocks = list(draw_folds(fold, [(0, 0), (0, 1)], strata, seed=3)(1_200))
    assert sum(len(block[0]) for block in blocks) == 1_201
    for block in blocks:
        for run in block:
            for people in strata:
                assert len(set(run[:, people].sum(axis=(1, 2)).tolist())) == 1


def test_people_of_a_household_stay_in_one_fold() -> None:
    unit = np.array([0, 0, 1, 2, 2, 3, 4, 4])
    fold = np.array([[0, 0, 1, 1, 1, 0, 1, 1]])
    strata = units_by_size(unit, np.ones(8, np.bool_))
    assert [each.tolist() for each in strata] == [[[2], [5]], [[0, 1], [3, 4], [6, 7]]]
    seen = set()
    for (run,) in draw_folds(fold, [(0, 0)], strata, seed=4)(500):
        for drawn in run:
            assert all(len(set(drawn[unit == each].tolist())) == 1 for each in range(5))
            assert drawn.sum() == 5
            seen.add(tuple(drawn.tolist()))
    # One of two single people, and one of three pairs, is held out.
    assert len(seen) == 6


def test_all_figures_have_the_same_draws() -> None:
    joint = JointDraws(draw_folds(np.arange(12)[None] % 3, [(0, 0), (0, 1), (0, 2)], [np.arange(12)[:, None]], seed=9))
    scores = [np.random.default_rng(each).random(12) for each in range(3)]
    one, other = joint.add(scores), joint.add([2 * each for each in scores])
    first = one.draw(50, np.random.default_rng(1))
    assert np.allclose(2 * first, other.draw(50, np.random.default_rng(2)))


def test_pools_of_single_runs_are_drawn_apart() -> None:
    pools = [Pool(is_member=np.arange(8) < 5, contents=np.arange(8)) for _ in range(2)]
    joint = JointDraws(draw_pools(pools, seed=1))
    ones = joint.add([np.ones(8), np.ones(8)])
    first = joint.add([np.arange(8.0), np.zeros(8)])
    second = joint.add([np.zeros(8), np.arange(8.0)])
    assert set(ones.draw(200, np.random.default_rng(0)).tolist()) == {10.0}
    drawn = [each.draw(200, np.random.default_rng(0)) for each in (first, second)]
    assert drawn[0][0] == drawn[1][0] == 0 + 1 + 2 + 3 + 4
    assert not np.array_equal(drawn[0], drawn[1])

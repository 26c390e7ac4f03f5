"""The exact test of links: its distribution by enumeration, its level, and the statistics by definition."""

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import linking
from unveil.errors import InputError
from unveil.guesses import Partition
from unveil.metrics.verdict.exchanged_people import (
    LogRank,
    RightLinks,
    RightPairs,
    exchange,
    exchange_tests,
    exchangeable,
    expected_links,
    link_effect,
)

PERIOD = np.repeat([0, 1], 4)
PERSON = np.tile(np.arange(4), 2)
LINKS = RightLinks(np.arange(4), np.arange(4, 8), np.arange(4))


def distribution(stratum: np.ndarray | None, draws: int = 20_000) -> dict[int, float]:
    groups, rng = exchangeable(PERIOD, stratum), np.random.default_rng(1)
    count = Counter(int(LINKS(exchange(PERSON, groups, rng))) for _ in range(draws))
    return {number: times / draws for number, times in count.items()}


def test_right_links_at_random_have_the_worked_distribution() -> None:
    worked = {0: 3 / 8, 1: 1 / 3, 2: 1 / 4, 4: 1 / 24}
    assert linking.right_links(4, [range(4)]) == pytest.approx(worked)
    assert distribution(None) == pytest.approx(worked, abs=0.015)


def test_right_links_within_strata_have_the_worked_distribution() -> None:
    worked = {0: 1 / 4, 2: 1 / 2, 4: 1 / 4}
    assert linking.right_links(4, [[0, 1], [2, 3]]) == pytest.approx(worked)
    assert distribution(np.tile([0, 0, 1, 1], 2)) == pytest.approx(worked, abs=0.015)


def test_the_expected_number_is_that_of_the_distribution() -> None:
    nobody = np.zeros(4, int)
    assert expected_links(np.arange(4), np.arange(4), nobody, nobody) == pytest.approx(1)
    group = np.array([0, 0, 1, 1])
    assert expected_links(np.arange(4), np.arange(4), group, group) == pytest.approx(2)
    # People 0 to 2 of four earlier and five later items are in both.
    truth, partner = np.array([0, 1, 2, -1, -1]), np.array([3, 2, 1, 0, -1])
    chance = expected_links(partner, truth, np.zeros(4, int), np.zeros(5, int))
    assert chance == pytest.approx(4 * 3 / 20)


@given(st.integers(0, 1000))
def test_log_rank_adds_up_the_ranks_of_true_partners(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (4, 5)).astype(float)
    person = np.array([0, 1, 2, 3, 3, 2, 4, 0, 5])
    found = LogRank.of(np.arange(4), np.arange(4, 9), scores)(person)
    expected = 0.0
    for row, owner in enumerate(person[:4]):
        for column, other in enumerate(person[4:]):
            if owner == other:
                below = sum(each < scores[row, column] for each in scores[row])
                ties = sum(each == scores[row, column] for each in scores[row]) - 1
                expected -= log(1 - (below + ties / 2) / 4 + 1 / 5)
    assert found == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15))
def test_right_pairs_are_counted(items: list[tuple[int, int]]) -> None:
    label, person = ([item[k] for item in items] for k in (0, 1))
    expected = sum(label[i] == label[j] and person[i] == person[j] for i in range(len(items)) for j in range(i))
    assert RightPairs.of(Partition.from_labels(label))(np.array(person)) == expected


def test_p_is_uniform_where_links_say_nothing() -> None:
    rng = np.random.default_rng(3)
    person, period = np.tile(np.arange(40), 2), np.repeat([0, 1], 40)
    p = []
    for _ in range(200):
        scores = rng.normal(size=(40, 40))
        rank = LogRank.of(np.arange(40), np.arange(40, 80), scores)
        (test,) = exchange_tests({"rank": rank}, person, period, draws=99, rng=rng)
        p.append(test.p)
    assert abs(np.mean(p) - 0.5) < 0.08
    assert np.mean(np.array(p) <= 0.05) <= 0.085


def test_the_family_is_adjusted_and_the_truth_is_found() -> None:
    rng = np.random.default_rng(3)
    person, period = np.tile(np.arange(30), 2), np.repeat([0, 1], 30)
    items = np.arange(30), np.arange(30, 60)
    tests = exchange_tests(
        {
            "links": RightLinks(*items, np.arange(30)),
            "rank": LogRank.of(*items, np.eye(30)),
            "pairs": RightPairs(np.tile(np.arange(30), 2)),
            "nothing": RightLinks(*items, np.full(30, -1)),
        },
        person,
        period,
        draws=199,
        rng=rng,
    )
    assert [each.p for each in tests] == [1 / 200, 1 / 200, 1 / 200, 1]
    assert [each.seen for each in tests] == [30, pytest.approx(30 * log(30)), 30, 0]
    assert tests[0].chance == pytest.approx(1, abs=0.4)
    assert all(each.adjusted_p >= each.p for each in tests)


def test_the_guess_is_not_touched_by_an_exchange() -> None:
    drawn = exchange(PERSON, exchangeable(PERIOD), np.random.default_rng(0))
    assert sorted(drawn[:4]) == sorted(drawn[4:]) == [0, 1, 2, 3]


def test_the_effect_is_beyond_chance() -> None:
    effect = link_effect(40, 100, 1.0)
    assert effect.value == pytest.approx(0.39)
    assert 0.25 < effect.low < effect.value < effect.high < 0.5
    assert not link_effect(10, 19, 1.0).is_tested


def test_no_statistic_is_refused() -> None:
    with pytest.raises(InputError, match="No statistic"):
        exchange_tests({}, PERSON, PERIOD, rng=np.random.default_rng(0))

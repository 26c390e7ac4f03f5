"""Pseudonyms that change at a person's own time: gaps, successors, and what they link."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.link.test_score import profiles
from tests.oracles import linking
from unveil.attacks import AgglomeratedProfiles, ChainedProfiles, LinkedProfiles
from unveil.attacks.link._assignment import soft_assignment
from unveil.attacks.link.clusters import gaps_within, log_gap_ratio, successors, times_covered
from unveil.attacks.link.score import ScoreModel, Urn
from unveil.data.histories import GAP, History
from unveil.data.table import Table
from unveil.guesses.partition import Partition
from unveil.metrics import linked_records

MODEL = ScoreModel(values=(Urn(1.0),), numbers=())


def changing(people: int = 60, *, seed: int = 0, pseudonym: str = "own") -> History:
    """Return visits of 28 days under pseudonyms that live five to nine days, each person's at an own time."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[object]] = {"who": [], "day": [], "place": [], "own": []}
    for who in range(people):
        moments = np.sort(rng.random(rng.poisson(60)) * 28)
        usual = rng.integers(0, 150, 6)
        changes = np.cumsum(rng.uniform(5, 9, 30)) - rng.uniform(0, 7)
        for day in moments:
            place = rng.choice(usual) if rng.random() < 0.4 else rng.integers(0, 150)
            values = (who, day, f"p{place}", f"{who}:{np.searchsorted(changes, day)}")
            for name, value in zip(rows, values, strict=True):
                rows[name].append(value)
    return History.from_table(Table.from_frame(rows), person="who", time="day", pseudonym=pseudonym)


def linked(
    history: History, attack: ChainedProfiles | AgglomeratedProfiles | LinkedProfiles, *columns: str
) -> tuple[float, float]:
    guess = attack.run(released=history.released.only(columns), rng=np.random.default_rng(0))
    found = linked_records(guess, Partition.from_labels(history.item_person), weights=history.sizes)
    return found.records_linked, found.own_share


def test_gaps_link_pseudonyms_that_change_at_their_own_times() -> None:
    history = changing()
    assert [each.name for each in history.compared] == ["place", GAP]
    without, _ = linked(history, AgglomeratedProfiles(), "place")
    chained, share = linked(history, ChainedProfiles(), "place", GAP)
    both, _ = linked(history, LinkedProfiles(), "place", GAP)
    assert chained > without + 0.1
    assert both > without + 0.1
    assert share > 0.8
    view = ChainedProfiles().view(released=history.released, rng=np.random.default_rng(0), draws=3)
    assert len({tuple(each.codes.tolist()) for each in view.partitions}) > 1


def test_pseudonyms_in_use_at_the_same_time_stay_apart() -> None:
    history = changing()
    released = history.released
    assert released.days is not None
    first = np.full(released.items, np.inf)
    last = np.zeros(released.items)
    for item, day in zip(released.item, released.days, strict=True):
        first[item], last[item] = min(first[item], day), max(last[item], day)
    guess = LinkedProfiles().run(released=released, rng=np.random.default_rng(0))
    for label in np.unique(guess.codes):
        for one, other in combinations(np.flatnonzero(guess.codes == label), 2):
            # Two of a cluster overlap by less than the distance of the compared times.
            assert min(last[one], last[other]) - max(first[one], first[other]) < 0.2


@given(st.integers(0, 10_000))
def test_a_successor_starts_after_the_end(seed: int) -> None:
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(8), 9)
    days = (rng.integers(0, 60, 8)[item] + rng.integers(0, 20, item.size)).astype(np.float64)
    words = ["".join(rng.choice(list("abc"), 3)) for _ in range(8)]
    found = successors(profiles(words), MODEL, item, days)
    for one, other in zip(found.earlier, found.later, strict=True):
        assert days[item == other].min() >= days[item == one].max()
        assert one != other
    for side in (found.earlier, found.later):
        assert (np.bincount(side, found.probability, minlength=8) <= 1.01).all()
    # Another origin of time, and another unit, change nothing.
    moved = successors(profiles(words), MODEL, item, 24 * days + 100)
    assert moved.probability == pytest.approx(found.probability, abs=1e-9)


@given(st.lists(st.integers(0, 9), min_size=50, max_size=80), st.lists(st.integers(0, 20), min_size=1, max_size=80))
def test_gap_ratios_are_those_of_counted_bins(within: list[int], gaps: list[int]) -> None:
    found = log_gap_ratio(np.array(gaps, np.float64), np.array(within, np.float64))
    assert found == pytest.approx(linking.log_gap_ratios(gaps, within), abs=1e-9)


def test_few_gaps_say_nothing() -> None:
    assert log_gap_ratio(np.arange(5.0), np.arange(9.0)).tolist() == [0.0] * 5
    assert gaps_within(np.array([0, 0, 1]), np.array([3.0, 1.0, 9.0])).tolist() == [2.0]


def test_items_cover_the_times_between_their_records() -> None:
    covered = times_covered(np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 1.0, 3.0]))
    assert (covered[0] & covered[1]).any()
    assert not times_covered(np.array([0, 0, 1, 1]), np.array([0.0, 1.0, 1.0, 3.0])).all(axis=0).any()


@settings(max_examples=30)
@given(st.integers(0, 1000), st.floats(0.2, 0.9))
def test_a_stated_share_is_kept(seed: int, share: float) -> None:
    scores = np.random.default_rng(seed).normal(scale=2, size=(30, 40))
    found = soft_assignment(scores, share)
    assert found.share == pytest.approx(share, abs=0.01)


def test_gaps_are_compared_where_a_person_has_one_pseudonym_at_a_time() -> None:
    table = changing(20).records
    assert GAP in names(table, lifetime="5 records")
    for rule in ({"lifetime": "7d"}, {"lifetime": "none"}, {"lifetime": "5 records", "columns": ["place"]}):
        assert GAP not in names(table, **rule)
    # Two pseudonyms side by side: neither ends where the other begins.
    half = (table.frame["day"] * 10 % 2).round().cast(str)
    side = table.frame.with_columns(own=table.frame["who"].cast(str) + ":" + half)
    assert GAP not in names(Table.from_frame(side), pseudonym="own")


def names(table: Table, **rule: Any) -> list[str]:
    return [each.name for each in History.from_table(table, person="who", time="day", **rule).compared]

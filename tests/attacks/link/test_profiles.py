"""Profiles of items: sums of normal scores, missing numbers, and exact numbers as values."""

import numpy as np
import pytest

from unveil.attacks.link._profiles import profiles_of
from unveil.attacks.link._training import PeriodPair, train
from unveil.attacks.link.learned_weights import learned_weights, split_people
from unveil.attacks.link.two_periods import ProfileMatching
from unveil.data.histories import History
from unveil.data.table import Table
from unveil.errors import InputError


def measurements(people: int = 80, records: int = 6, *, lacking: float = 0.0, seed: int = 0) -> History:
    """Return two periods of records: two numbers around a person's own, and one that many people lack."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(people, 2)) * [1.0, 2.0]
    lacks = rng.random((people, 2)) < lacking
    rows: dict[str, list[object]] = {"who": [], "period": [], "x": [], "y": [], "rare": []}
    for period in range(2):
        for who in rng.permutation(people):
            for _ in range(records):
                rows["who"].append(f"p{who}")
                rows["period"].append(period)
                rows["x"].append(float(own[who, 0] + rng.normal()))
                rows["y"].append(float(own[who, 1] + rng.normal()))
                rows["rare"].append(None if lacks[who, period] else float(own[who, 0] - own[who, 1] + rng.normal()))
    return History.from_table(Table.from_frame(rows), person="who", period="period")


def test_sums_and_spread_within_items_are_those_of_the_records() -> None:
    history = measurements(people=30)
    block = profiles_of(history.released).numbers[0]
    assert block.columns == ("x", "y", "rare")
    assert block.scatter is not None
    assert block.records.tolist() == [6] * 60
    # Normal scores have mean 0 in each period, and the person's share of their variance is the greater one in y.
    assert block.sums[:30].sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    total = np.cov(block.means.T) + block.scatter
    assert total.diagonal() == pytest.approx([1, 1, 1], abs=0.25)
    assert block.scatter[1, 1] < block.scatter[0, 0]


def test_the_spread_between_people_is_learned_from_repeated_records() -> None:
    history = measurements(people=300)
    released = history.released.only(["x"])
    profiles = profiles_of(released)
    pair = PeriodPair(released.items_of(0), released.items_of(1))
    model = train(profiles, [pair], rng=np.random.default_rng(0)).model
    assert model.numbers[0].ratio[0] == pytest.approx(0.5, abs=0.12)  # as much between people as within


def test_several_records_link_better_than_one() -> None:
    shares = {}
    for records in (1, 8):
        history = measurements(records=records)
        match = ProfileMatching(overlap=1).match(history.released, rng=np.random.default_rng(0))
        shares[records] = (match.partner == history.partners()).mean()
    assert shares[8] > shares[1] + 0.1


def test_numbers_that_many_items_lack_are_scored_alone() -> None:
    history = measurements(lacking=0.4)
    profiles = profiles_of(history.released)
    assert [each.name for each in profiles.numbers] == ["numbers", "rare", "records"]
    alone = profiles.numbers[1]
    assert (alone.records == 0).mean() == pytest.approx(0.4, abs=0.1)
    match = ProfileMatching(overlap=1).match(history.released, rng=np.random.default_rng(0))
    assert np.isfinite(match.scores).all()
    assert (match.partner == history.partners()).mean() > 0.2


def test_numbers_that_repeat_exactly_are_values_too() -> None:
    rng = np.random.default_rng(0)
    usual = np.round(np.exp(rng.normal(4, 0.5, 60)), 2)
    who, period = np.repeat(np.arange(60), 12), np.tile(np.repeat([0, 1], 6), 60)
    other = np.round(np.exp(rng.normal(4, 0.5, who.size)), 2)
    amount = np.where(rng.random(who.size) < 0.4, usual[who], other)
    frame = {"who": [f"p{each}" for each in who], "period": period.tolist(), "amount": amount.tolist()}
    history = History.from_table(Table.from_frame(frame), person="who", period="period")
    assert profiles_of(history.released).names == ("amount (exact)", "amount", "records")
    assert profiles_of(history.released, exact=False).names == ("amount", "records")
    match = ProfileMatching(overlap=1).match(history.released, rng=np.random.default_rng(0))
    assert (match.partner == history.partners()).mean() > 0.7


def test_too_few_people_or_periods_teach_nothing() -> None:
    history = measurements(people=10)
    with pytest.raises(InputError, match="too few to divide"):
        split_people(history.of_people(np.arange(3)), 0.5, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="no two periods to learn from"):
        learned_weights(history.of_periods(0), rng=np.random.default_rng(0))

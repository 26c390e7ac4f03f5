"""Rates of groups: the same as plain loops, honest after looking at many groups, and nobody's small group shown."""

import math
from collections import Counter
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.groups import can_be_computed, tallies
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.trials.groups import GroupRates, arranged, bands, group_rates, hidden
from unveil.metrics.trials.risk import clopper_pearson, excess, wilson

LABELS = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d", "", "missing", "$x", "né\n'\""]))


def trials(chances: list[float], control: list[float] | None = None, *, rows: list[int] | None = None) -> Trials:
    attack = Attempts.from_chances(chances, rows=range(len(chances)) if rows is None else rows)
    outside = None if control is None else Attempts.from_chances(control, rows=range(len(control)))
    return Trials(attack=attack, naive=attack, control=outside, what="a link")


def by_name(groups: tuple[GroupRates, ...]) -> dict[str, GroupRates]:
    return {group.name: group for group in groups}


# --- the same numbers as plain loops ----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=24)
@given(st.lists(st.tuples(LABELS, st.sampled_from([0.0, 0.25, 1.0])), min_size=1, max_size=60), st.data())
def test_rates_are_those_of_plain_loops(people: list[tuple[str | None, float]], data: st.DataObject) -> None:
    labels = [label for label, _ in people]
    attacked = data.draw(st.lists(st.integers(0, len(people) - 1), min_size=1, max_size=60))
    outside = data.draw(st.lists(st.tuples(LABELS, st.sampled_from([0.0, 1.0])), max_size=40))
    tried = trials([people[row][1] for row in attacked], [hit for _, hit in outside] or None, rows=attacked)
    found = group_rates(tried, labels, [label for label, _ in outside], minimum=3)
    inside = tallies(tried.attack.chances.tolist(), attacked, labels)  # type: ignore[union-attr]
    control = tallies([hit for _, hit in outside], range(len(outside)), [label for label, _ in outside])
    sizes = Counter(labels)
    for group in found.groups:
        if group.kind == "pooled":
            continue
        label = None if group.kind == "missing" else group.name
        hits, tries = inside[label]
        each = 1 - 0.05 / len(found.groups)
        assert group.people == sizes[label] >= 3
        assert group.tries == tries >= 3
        assert group.attack_rate == clopper_pearson(hits, tries, confidence=each)
        if group.control_rate.defined:
            assert group.control_rate == clopper_pearson(*control[label], confidence=each)
            assert group.control_tries == control[label][1] >= 3
            expected = excess(group.attack_rate, group.control_rate)
            assert group.excess_over_control == expected or not expected.defined
        else:
            assert (group.control_tries, group.excess_over_control.defined) == (0, False)
            assert group.control_rate.why
    if found.groups:
        assert sum(group.people for group in found.groups) == len(labels) == found.overall.people
        assert sum(group.tries for group in found.groups) == len(attacked) == found.overall.tries


def test_the_worst_comes_first_and_is_measurably_worse_where_its_interval_says_so() -> None:
    labels = ["a"] * 40 + ["b"] * 40 + ["c"] * 40
    found = group_rates(trials([1.0] * 20 + [0.0] * 20 + [0.0] * 76 + [1.0] * 4), labels)
    assert [group.name for group in found.groups] == ["a", "c", "b"]
    assert found.worst is found.groups[0]
    assert found.worse == (found.groups[0],)
    assert found.overall.attack_rate == clopper_pearson(24, 120)
    # The same hits everywhere: somebody comes first, nobody is worse off.
    alike = group_rates(trials([1.0, 0.0] * 60), labels)
    assert alike.worst is not None
    assert alike.worse == ()


def test_groups_are_ranked_by_their_excess_where_there_is_a_control() -> None:
    labels = ["sure anyhow"] * 50 + ["told by the release"] * 50
    tried = trials([1.0] * 45 + [0.0] * 5 + [1.0] * 30 + [0.0] * 20, [1.0] * 45 + [0.0] * 5 + [0.0] * 50)
    found = group_rates(tried, labels, labels)
    assert found.ranked_by == "excess_over_control"
    assert found.worst is not None
    assert found.worst.name == "told by the release"
    alone = group_rates(tried, labels)
    assert alone.ranked_by == "attack_rate"
    assert alone.worst is not None
    assert alone.worst.name == "sure anyhow"
    assert "has no subgroups" in alone.worst.control_rate.why
    assert "no control group" in group_rates(tried.attack, labels).groups[0].control_rate.why


def test_the_order_of_rows_plays_no_part() -> None:
    rng = np.random.default_rng(3)
    labels = [str(label) for label in rng.integers(0, 4, 200)]
    chances = rng.random(200)
    order = rng.permutation(200)
    one = group_rates(trials(chances.tolist()), labels)
    other = group_rates(trials(chances[order].tolist()), [labels[at] for at in order])
    assert one.groups == other.groups


# --- honest about having looked at many -------------------------------------------------------------------------------


@pytest.mark.unwatched
def test_intervals_of_twenty_groups_hold_together_where_single_ones_do_not() -> None:
    rng = np.random.default_rng(20)
    groups, tries, rate, worlds = 20, 40, 0.3, 400
    labels = [f"g{at:02d}" for at in range(groups) for _ in range(tries)]
    together = alone = alarms = 0
    for _ in range(worlds):
        hit = (rng.random(groups * tries) < rate).astype(float)
        found = group_rates(Attempts.from_chances(hit, rows=range(hit.size)), labels)
        assert len(found.groups) == groups
        together += any(not each.attack_rate.low <= rate <= each.attack_rate.high for each in found.groups)
        alarms += bool(found.worse)
        plain = [wilson(each.attack_rate.value * tries, tries) for each in found.groups]
        alone += any(not each.low <= rate <= each.high for each in plain)
    assert together / worlds <= 0.05
    assert alarms / worlds <= 0.05
    assert 0.5 < alone / worlds < 0.75  # 1 - 0.95**20 is 0.64


def test_rare_hits_raise_no_false_alarm() -> None:
    # Wilson's interval, even at this confidence, would put every group with a single hit above the truth.
    rng = np.random.default_rng(21)
    groups, tries, worlds = 20, 50, 200
    labels = [f"g{at:02d}" for at in range(groups) for _ in range(tries)]
    rate = 0.09 / tries
    missed = alarms = scores = 0
    for _ in range(worlds):
        hit = (rng.random(groups * tries) < rate).astype(float)
        found = group_rates(Attempts.from_chances(hit, rows=range(hit.size)), labels)
        missed += any(each.attack_rate.low > rate for each in found.groups)
        alarms += bool(found.worse)
        hits = [round(each.attack_rate.value * tries) for each in found.groups]
        scores += any(wilson(each, tries, confidence=found.each_confidence).low > rate for each in hits)
    assert missed / worlds <= 0.05
    assert alarms / worlds <= 0.05
    assert scores / worlds > 0.5


def test_intervals_of_the_excess_hold_together() -> None:
    rng = np.random.default_rng(22)
    groups, tries, worlds = 8, 60, 150
    labels = [f"g{at}" for at in range(groups) for _ in range(tries)]
    truth = (0.4 - 0.1) / (1 - 0.1)
    missed = 0
    for _ in range(worlds):
        inside, outside = ((rng.random(groups * tries) < rate).astype(float).tolist() for rate in (0.4, 0.1))
        found = group_rates(trials(inside, outside), labels, labels)
        every = [each.excess_over_control for each in found.groups]
        missed += any(not each.low <= truth <= each.high for each in every)
    assert missed / worlds <= 0.05


def test_more_divisions_read_together_widen_the_intervals() -> None:
    labels = ["a", "b"] * 30
    tried = trials([1.0, 0.0, 1.0] * 20)
    one, three = (group_rates(tried, labels, looks=looks) for looks in (1, 3))
    assert one.each_confidence == pytest.approx(1 - 0.05 / 2)
    assert three.each_confidence == pytest.approx(1 - 0.05 / 6)
    assert three.groups[0].attack_rate.low < one.groups[0].attack_rate.low


# --- small groups -----------------------------------------------------------------------------------------------------


def sizes(**people: int) -> list[str | None]:
    return [None if label == "none" else label for label, count in people.items() for _ in range(count)]


def test_small_groups_stand_together() -> None:
    labels = sizes(big=50, x=5, y=7, z=3)
    found = group_rates(trials([1.0] * 65), labels)
    assert {group.name: group.people for group in found.groups} == {"big": 50, "groups of fewer than 11 people": 15}
    assert found.pooled == 3


def test_a_single_small_group_is_hidden_behind_the_next() -> None:
    labels = sizes(f=60, m=40, other=3)
    found = group_rates(trials([0.0] * 103), labels)
    assert {group.name: group.people for group in found.groups} == {"f": 60, "all other groups": 43}


def test_a_small_pool_takes_the_next_groups_in() -> None:
    found = group_rates(trials([0.0] * 120), sizes(a=60, b=40, c=15, d=2, e=3))
    assert {group.name: group.people for group in found.groups} == {"a": 60, "b": 40, "all other groups": 20}


@pytest.mark.parametrize(
    "labels", [sizes(a=60, b=3), sizes(a=5, b=5), sizes(a=10), sizes(only=1), [str(at) for at in range(200)]]
)
def test_where_nothing_can_be_shown_nothing_is(labels: list[str | None]) -> None:
    found = group_rates(trials([1.0] * len(labels)), labels)
    assert found.groups == ()
    assert (found.worst, found.worse) == (None, ())
    assert found.pooled == len(set(labels))
    assert found.overall.people == len(labels)


def test_people_count_in_the_data_but_who_was_not_attacked_says_nothing() -> None:
    everybody = sizes(a=500, b=300, c=12)
    # Only two people of c were attacked: their own rate would be about two people.
    drawn = [*range(30), *range(500, 530), *range(800, 802)]
    found = group_rates(trials([0.0] * 60 + [1.0] * 2), [everybody[at] for at in drawn], everybody=everybody)
    assert {group.name: group.people for group in found.groups} == {"a": 500, "all other groups": 312}


def test_the_twenty_largest_groups_are_named() -> None:
    labels = [f"g{at:02d}" for at in range(30) for _ in range(50 - at)]
    found = group_rates(trials([0.5] * len(labels)), labels)
    assert len(found.groups) == 21
    assert by_name(found.groups)["all other groups"].people == sum(50 - at for at in range(20, 30))
    assert "g19" in by_name(found.groups)
    assert "g20" not in by_name(found.groups)


def test_a_pool_is_never_one_group_under_another_name() -> None:
    labels = [f"g{at:02d}" for at in range(21) for _ in range(50 - at)]
    found = group_rates(trials([0.5] * len(labels)), labels)
    assert (len(found.groups), found.pooled) == (20, 2)
    assert by_name(found.groups)["all other groups"].people == 31 + 30


def test_missing_is_a_group_of_its_own_even_beside_a_value_of_that_name() -> None:
    found = group_rates(trials([1.0] * 30 + [0.0] * 30), [None] * 15 + ["missing"] * 15 + ["x"] * 30)
    assert {(group.name, group.kind) for group in found.groups} == {
        ("missing (no value)", "missing"),
        ("missing", "named"),
        ("x", "named"),
    }
    alone = group_rates(trials([1.0] * 40), [None] * 20 + ["x"] * 20)
    assert {group.name for group in alone.groups} == {"missing", "x"}


@settings(deadline=None, max_examples=22)
@given(st.dictionaries(st.sampled_from([None, *"abcdefg"]), st.integers(1, 14), min_size=1), st.integers(2, 11))
def test_no_small_group_can_be_computed_from_what_is_shown(people: dict[str | None, int], minimum: int) -> None:
    cells = arranged(people, people, minimum)
    shown = [{label for label, place in cells.place.items() if place == at} for at in cells.all]
    for count in cells.people:
        assert count >= minimum
    if shown:
        assert set().union(*shown) == set(people)
    for label, count in people.items():
        if count < minimum and len(people) > 1:
            assert not can_be_computed({label}, shown, set(people))


@settings(deadline=None, max_examples=22)
@given(st.lists(st.integers(0, 14), min_size=1, max_size=6), st.integers(0, 14), st.integers(2, 11))
def test_no_small_control_group_can_be_computed(counts: list[int], others: int, minimum: int) -> None:
    gone = hidden(counts, others, minimum)
    assert all(is_gone for count, is_gone in zip(counts, gone, strict=True) if 0 < count < minimum)
    rest = [count for count, is_gone in zip(counts, gone, strict=True) if is_gone and count]
    rest += [others] if others else []
    if any(count < minimum for count in rest) and not all(gone[at] for at, count in enumerate(counts) if count):
        # What is left when all shown cells are taken from the total is no small cell.
        assert len(rest) >= 2
        assert sum(rest) >= minimum


def test_few_people_outside_the_data_are_not_shown_nor_computable() -> None:
    labels = sizes(a=40, b=40, c=40)
    tried = trials([1.0] * 120, [1.0] * 73)
    found = by_name(group_rates(tried, labels, sizes(a=40, b=30, c=3)).groups)
    assert found["a"].control_tries == 40
    assert (found["b"].control_tries, found["c"].control_tries) == (0, 0)
    assert "too few people" in found["b"].control_rate.why
    none = by_name(group_rates(trials([1.0] * 120, [1.0] * 80), labels, sizes(a=40, b=40)).groups)
    assert none["b"].control_tries == 40
    assert "no person of this subgroup" in none["c"].control_rate.why


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_what_cannot_be_grouped_is_refused() -> None:
    totals = Attempts(tries=3, expected=1, low=1, high=1)
    with pytest.raises(InputError, match="only totals"):
        group_rates(totals, ["a"] * 3)
    with pytest.raises(InputError, match="the attack has row 3, but there are 2 labels"):
        group_rates(trials([1.0] * 3), ["a", "b"])
    with pytest.raises(InputError, match="at least 2"):
        group_rates(trials([1.0]), ["a"], minimum=1)
    with pytest.raises(InputError, match="must be texts"):
        group_rates(trials([1.0]), [1])  # type: ignore[list-item]
    with pytest.raises(InputError, match="confidence"):
        group_rates(trials([1.0] * 40), ["a", "b"] * 20, confidence=1.5)


# --- bands ------------------------------------------------------------------------------------------------------------


def table(**columns: object) -> Table:
    return Table.from_frame(pl.DataFrame(columns, strict=False))


@settings(deadline=None, max_examples=24)
@given(
    st.lists(
        st.one_of(st.none(), st.integers(-(10**6), 10**6), st.floats(-1e9, 1e9, allow_nan=False, width=32)),
        min_size=1,
        max_size=80,
    )
)
def test_every_number_gets_a_band_that_follows_the_order(values: list[float | None]) -> None:
    people = Table.from_frame(pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}), kinds={"x": "number"})
    found = bands(people, "x")
    assert [band is None for band in found] == [value is None for value in values]
    reached: dict[str, list[float]] = {}
    for value, band in zip(values, found, strict=True):
        if value is not None and band is not None:
            reached.setdefault(band, []).append(value)
    if len({value for value in values if value is not None}) > 10:
        assert 1 <= len(reached) <= 5
        ordered = sorted(reached.values(), key=min)
        for lower, higher in pairwise(ordered):
            assert max(lower) < min(higher)


def test_bands_hold_about_as_many_people_each_and_have_round_open_ends() -> None:
    rng = np.random.default_rng(1)
    income = rng.lognormal(10, 1, 2000)
    count = Counter(bands(table(income=income), "income"))
    assert len(count) == 5
    assert min(count.values()) > 300
    texts = " ".join(map(str, count))
    assert "below" in texts
    assert "and more" in texts
    edges = [float(word) for word in texts.split() if word.replace(".", "").isdigit()]
    assert all(edge % 500 == 0 for edge in edges)


def test_a_value_that_most_people_have_is_a_band_of_its_own() -> None:
    gain = [0] * 92 + [114, 2174, 2500, 3000, 4000, 5000, 7298, 7688, 15024, 20000, 99999, 99998]
    count = Counter(bands(table(gain=gain), "gain"))
    assert sorted(count.values()) == [12, 92]
    assert not any("99999" in str(band) for band in count)


def test_dates_are_cut_at_years_months_or_days() -> None:
    for days, edge in ((30_000, r"\d{4}"), (1000, r"\d{4}-\d\d"), (100, r"\d{4}-\d\d-\d\d")):
        when = [date(1930, 1, 5) + timedelta(days=at * days // 100) for at in range(100)]
        count = Counter(bands(table(when=when), "when"))
        assert len(count) == 5
        first = next(band for band in count if str(band).startswith("before"))
        assert pl.Series([str(first)]).str.contains(f"^before {edge}$").all()
    few = bands(table(when=[date(1930, 1, 5), None]), "when")
    assert few == ("1930-01-05", None)


def test_few_values_categories_and_truths_stay_as_they_are() -> None:
    assert bands(table(x=[1, 2, None]), "x") == ("1", "2", None)
    assert bands(table(x=[1.0, 2.5]), "x") == ("1", "2.5")
    assert bands(table(x=[True, None]), "x") == ("true", None)
    assert bands(table(x=["$a\n", None, "'"]), "x") == ("$a\n", None, "'")
    assert bands(table(x=[None, None]), "x") == (None, None)


def test_a_control_table_gets_the_bands_of_the_original() -> None:
    original, control = table(age=list(range(100))), table(age=[-5, 50, 500, None])
    known = set(bands(original, "age"))
    low, middle, high, missing = bands(control, "age", like=original)
    assert {low, middle, high} <= known
    assert str(low).startswith("below")
    assert str(high).endswith("and more")
    assert missing is None
    assert middle not in (low, high)


def test_nobodys_name_is_in_a_table_without_groups() -> None:
    found = group_rates(trials([1.0] * 60), [f"person {at}" for at in range(60)])
    assert "person" not in repr(found)
    assert math.isnan(found.overall.excess_over_control.value)

"""Copies, links, known events, and inference: each is what its definition gives, target by target."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attacks.people.histories import People, coded, draw, release_of, shuffled
from tests.attacks.people.test_views import SEEDS, all_views, three
from tests.oracles import histories as oracle
from unveil.attacks.people.exact import (
    RARE,
    EventIndex,
    copied_histories,
    events_of,
    known_events,
    single_out_by_chance,
)
from unveil.attacks.people.nearest import early_and_late, guess_values, has_halves, own_history, same_person
from unveil.attacks.people.rows import PersonRows


def with_copies(seed: int) -> tuple[People, People, People]:
    """Return people of whom some are released with all of their rows, and many of whom share rows."""
    original, released, control = three(seed, (8, 8, 8), 3)
    moved = original.rows.filter(pl.col("person") < 4)
    rows = pl.concat([released.rows.filter(pl.col("person") >= 4), moved]).sort("person", "day", maintain_order=True)
    return original, People(released.parents, rows), control


@given(SEEDS)
def test_a_history_is_copied_if_all_rows_and_no_others_are_released(seed: int) -> None:
    original, released, control = with_copies(seed)
    _, rows = coded(release_of(original, released, control))
    found = copied_histories(rows)

    def histories(people: People) -> list[Counter[object]]:
        return [
            Counter(row[1:] for row in people.rows.filter(person=who).rows()) for who in range(people.parents.height)
        ]

    own, theirs = histories(original) + histories(control), histories(released)
    assert found.copied.tolist() == [bool(each) and each in theirs for each in own]
    assert (found.copied[:4] == [bool(each) for each in own[:4]]).all()
    assert not (found.rare & ~found.copied).any()
    assert not any(rare and own.count(each) > 1 for each, rare in zip(own, found.rare.tolist(), strict=True))
    assert (found.expected[found.rare] <= RARE).all()


def test_only_improbable_histories_are_rare() -> None:
    rng = np.random.default_rng(1)
    original, released, control = (draw(400, rng, 5) for _ in range(3))
    common = original.rows.with_columns(
        pl.lit(3, pl.Int64).alias("day"), pl.lit("a").alias("kind"), pl.lit(1.0).alias("cost")
    )
    few = pl.col("person") < 40
    mixed = pl.concat([common.filter(few), original.rows.filter(~few)])
    kept = released.rows.filter(pl.col("person") >= 80)
    people = People(original.parents, mixed)
    rows = pl.concat([mixed.filter(pl.col("person") < 80), kept]).sort("person", "day", maintain_order=True)
    _, coded_rows = coded(release_of(people, People(released.parents, rows), control))
    found = copied_histories(coded_rows)
    has = coded_rows.sizes[:80] > 0
    long = coded_rows.sizes[:80] >= 2
    assert (found.copied[:80] == has).all()
    assert not found.copied[400:].any()
    assert not found.rare[:40].any()
    assert found.rare[40:80][long[40:]].mean() > 0.9


@given(SEEDS)
def test_two_sources_are_linked_if_they_point_to_one_person(seed: int) -> None:
    views = all_views(*coded(release_of(*three(seed))))
    some = np.arange(views[0].targets)
    parent, *history = (view.closeness(some) for view in views)
    found = same_person(views[:1], views[1:])
    wanted = [
        oracle.same_person(one, other)
        for one, other in zip(parent.tolist(), (history[0] + history[1]).tolist(), strict=True)
    ]
    assert found == pytest.approx(wanted)


@given(SEEDS)
def test_the_own_history_is_looked_for_among_the_next_of_the_lot(seed: int) -> None:
    parent, child = coded(release_of(*three(seed, (13, 9, 14))))
    views = all_views(parent, child)
    lot = np.random.default_rng(seed).permutation(parent.targets)
    some = np.arange(parent.targets)
    scores, history = views[0].closeness(some), views[1].closeness(some) + views[2].closeness(some)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unveil.attacks.people.closeness.BLOCK", 40)
        found = own_history(views[:1], views[1:], lot)
    for place, target in enumerate(lot.tolist()):
        others = [history[lot[(place + step) % lot.size]].tolist() for step in range(20)]
        assert found[target] == pytest.approx(oracle.own_history(scores[target].tolist(), others))


def test_halves_are_of_each_person() -> None:
    _, rows = coded(release_of(*three(4, (20, 20, 20), 7)))
    early, late = early_and_late(rows)
    assert (early.sizes == rows.sizes // 2).all()
    assert (late.sizes == rows.sizes - rows.sizes // 2).all()
    assert (has_halves(rows) == (early.sizes[: rows.targets] > 0)).all()
    assert early.days is not None
    assert late.days is not None
    for person in np.flatnonzero(early.sizes):
        assert early.days[early.person == person].max() <= late.days[late.person == person].min()


def events_by_person(rows: PersonRows) -> list[set[int]]:
    events = events_of(rows).tolist()
    return [
        {event for event, who in zip(events, rows.person.tolist(), strict=True) if who == each}
        for each in range(rows.people)
    ]


@given(SEEDS, st.sampled_from([1, 2, 3]))
def test_predicates_fit_one_released_person_and_the_targets_with_all_events(seed: int, number: int) -> None:
    _, rows = coded(release_of(*with_copies(seed)))
    found = known_events(EventIndex.of(rows), number, predicates=30, rng=np.random.default_rng(seed))
    people = events_by_person(rows)
    assert len(set(found.events)) == found.predicates == found.starts.size - 1
    for place, events in enumerate(found.events):
        assert len(events) == number
        fitting = oracle.isolated(events, people)
        assert len([each for each in fitting if each >= rows.targets]) == 1
        own = found.targets[found.starts[place] : found.starts[place + 1]]
        assert own.tolist() == [each for each in fitting if each < rows.targets]


def test_events_of_nobody_are_met_by_chance_alone() -> None:
    _, rows = coded(release_of(*three(2, (40, 40, 40), 6)))
    hits = single_out_by_chance(EventIndex.of(rows), 2, 40, predicates=50, rng=np.random.default_rng(0))
    assert 0 <= hits <= 5
    assert single_out_by_chance(EventIndex.of(rows), 10_000, 40, predicates=50, rng=np.random.default_rng(0)) == 0
    assert known_events(EventIndex.of(rows), 50, predicates=5, rng=np.random.default_rng(0)).predicates == 0


@given(SEEDS)
def test_the_most_frequent_value_is_that_of_the_nearest_person(seed: int) -> None:
    parent, rows = coded(release_of(*three(seed, (8, 9, 8))))
    views = all_views(parent, rows)
    found = guess_values(views, rows, "kind")
    codes = rows.all_codes[[each.name for each in rows.columns].index("kind")].tolist()
    values = [
        oracle.modes([c for c, who in zip(codes, rows.person.tolist(), strict=True) if who == each])
        for each in range(rows.people)
        if (rows.person == each).any()
    ]
    having = np.flatnonzero(rows.sizes > 0)
    of_person = dict(zip(having.tolist(), values, strict=True))
    released = [each for each in range(rows.targets, rows.people) if each in of_person]
    excess = []
    for view in (views[0], *(view.without("kind") for view in views[1:])):
        scores = view.closeness(np.arange(view.targets)).tolist()
        excess.append(oracle.excess(scores, view.model.scores(view.attacked, view.attacked).tolist()))
    assert found.targets.tolist() == [each for each in range(rows.targets) if each in of_person]
    for target, chance in zip(found.targets.tolist(), found.chances.tolist(), strict=True):
        sums = np.sum([np.logaddexp(0, np.array(view[target])) for view in excess], axis=0)
        near = [float(sums[each - rows.targets]) for each in released]
        wanted = oracle.guessed(of_person[target], [of_person[each] for each in released], near)
        assert chance == pytest.approx(wanted, abs=1e-6)


@given(SEEDS)
def test_new_keys_and_other_orders_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = with_copies(seed)
    orders = [rng.permutation(each.parents.height) for each in people]
    again = [shuffled(each, order, rng) for each, order in zip(people, orders, strict=True)]
    first, second = (coded(release_of(*each)) for each in (people, again))
    place = np.concatenate([orders[0], 8 + orders[2]])
    copies = [copied_histories(each[1]) for each in (first, second)]
    assert (copies[1].copied == copies[0].copied[place]).all()
    assert copies[1].expected == pytest.approx(copies[0].expected[place])
    views = [all_views(*first), all_views(*second, orders[1].astype(float))]
    links = [same_person(each[:1], each[1:]) for each in views]
    assert links[1] == pytest.approx(links[0][place])
    guesses = [guess_values(each, one[1], "kind") for each, one in zip(views, (first, second), strict=True)]
    by_target = dict(zip(guesses[0].targets.tolist(), guesses[0].chances.tolist(), strict=True))
    assert guesses[1].chances == pytest.approx([by_target[int(place[each])] for each in guesses[1].targets])

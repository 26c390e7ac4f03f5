"""Views of people: scores are those of the definition, and no key and no order of rows plays a part."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attacks.people.histories import People, coded, draw, release_of, shuffled
from tests.oracles import histories as oracle
from unveil._kernels.types import FloatArray
from unveil.attacks.link._profiles import normal_scores
from unveil.attacks.people.closeness import JOINED, closest_rows, nearest_people
from unveil.attacks.people.rows import PersonRows, TargetRows
from unveil.attacks.people.views import PersonView, order_view, parent_view, set_view

SEEDS = st.integers(0, 10_000)


def three(seed: int, sizes: tuple[int, int, int] = (6, 7, 5), most: int = 4) -> tuple[People, People, People]:
    rng = np.random.default_rng(seed)
    original, released, control = (draw(number, rng, most) for number in sizes)
    return original, released, control


def all_views(parent: PersonRows, child: PersonRows, order: FloatArray | None = None) -> list[PersonView]:
    places = np.arange(parent.released) if order is None else order.astype(np.int64)
    return [parent_view(parent, places), set_view(child, places), order_view(child, places)]


def counted(keys: list[list[object]]) -> tuple[list[Counter[object]], dict[object, float]]:
    total = Counter(key for each in keys for key in each)
    return [Counter(each) for each in keys], {key: times / sum(total.values()) for key, times in total.items()}


def of_person(rows: PersonRows, values: list[object], person: int) -> list[object]:
    return [value for value, own in zip(values, rows.person.tolist(), strict=True) if own == person]


def value_scores(rows: PersonRows, keys: list[list[object]]) -> FloatArray:
    counts, share = counted(keys)
    if len(share) < 2:
        return np.zeros((rows.targets, rows.released))
    return np.array(
        [
            [oracle.value_score(counts[one], counts[rows.targets + other], share) for other in range(rows.released)]
            for one in range(rows.targets)
        ]
    )


def number_scores(rows: PersonRows, features: FloatArray, has: list[bool]) -> FloatArray:
    total = np.atleast_2d(np.cov(features[has].T))
    found = np.zeros((rows.targets, rows.released))
    for one in range(rows.targets):
        for other in range(rows.released):
            if has[one] and has[rows.targets + other]:
                found[one, other] = oracle.number_score(features[one], features[rows.targets + other], total)
    return found


def moments(rows: PersonRows, numbers: FloatArray, owner: list[int]) -> FloatArray:
    score = normal_scores(numbers, np.zeros(numbers.size, np.int64))
    found = np.zeros((rows.people, 2))
    for person in range(rows.people):
        own = [each for each, who in zip(score.tolist(), owner, strict=True) if who == person]
        if own:
            found[person] = np.mean(own), np.std(own)
    return found


@given(SEEDS)
def test_the_set_is_scored_by_counts_of_values_and_by_means_and_spreads(seed: int) -> None:
    _, rows = coded(release_of(*three(seed, (9, 10, 9), 6)))
    view = set_view(rows, np.arange(rows.released))
    wanted = np.zeros((rows.targets, rows.released))
    features = []
    for column, codes in zip(rows.columns, rows.all_codes, strict=True):
        keys = [of_person(rows, codes.tolist(), person) for person in range(rows.people)]
        wanted += value_scores(rows, keys)
        if column.numbers is not None:
            features.append(moments(rows, column.numbers, rows.person.tolist()))
    if features:
        table = np.hstack(features)
        has = (rows.sizes > 0).tolist()
        wanted += number_scores(rows, table, has)
    found = view.closeness(np.arange(rows.targets))
    assert found == pytest.approx(view.model.temperature * wanted, abs=1e-6)


@given(SEEDS)
def test_the_order_is_scored_by_gaps_transitions_and_numbers_of_rows(seed: int) -> None:
    _, rows = coded(release_of(*three(seed, (9, 10, 9), 6)))
    assert rows.days is not None
    view = order_view(rows, np.arange(rows.released))
    gaps: list[list[object]] = [[] for _ in range(rows.people)]
    steps: dict[str, list[list[object]]] = {}
    for column, codes in zip(rows.columns, rows.all_codes, strict=True):
        if column.numbers is None and column.name != "day":
            steps[column.name] = [[] for _ in range(rows.people)]
            for one in range(rows.person.size - 1):
                if rows.person[one] == rows.person[one + 1]:
                    steps[column.name][rows.person[one]].append((codes[one], codes[one + 1]))
    for one in range(rows.person.size - 1):
        if rows.person[one] == rows.person[one + 1]:
            gaps[rows.person[one]].append(float(rows.days[one + 1] - rows.days[one]))
    wanted = value_scores(rows, gaps) + sum(value_scores(rows, each) for each in steps.values())
    size = normal_scores(rows.sizes.astype(float), np.zeros(rows.people, np.int64))
    flat = np.array([gap for each in gaps for gap in each], float)
    owner = [person for person, each in enumerate(gaps) for _ in each]
    features = np.column_stack([size, moments(rows, flat, owner)])
    wanted = wanted + number_scores(rows, features, [True] * rows.people)
    found = view.closeness(np.arange(rows.targets))
    assert found == pytest.approx(view.model.temperature * wanted, abs=1e-6)


@given(SEEDS)
def test_the_nearest_person_is_compared_with_the_nearest_other_target(seed: int) -> None:
    parent, child = coded(release_of(*three(seed)))
    views = all_views(parent, child)
    found = nearest_people(views)
    excess = []
    for view in views:
        among = view.model.scores(view.attacked, view.attacked).tolist()
        excess.append(oracle.excess(view.closeness(np.arange(view.targets)).tolist(), among))
        assert found[view.name] == pytest.approx([max(row) for row in excess[-1]])
    wanted = [oracle.joined([view[target] for view in excess]) for target in range(parent.targets)]
    assert found[JOINED] == pytest.approx(wanted)


@given(SEEDS)
def test_blocks_change_nothing(seed: int) -> None:
    parent, child = coded(release_of(*three(seed)))
    views = all_views(parent, child)
    whole = nearest_people(views)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unveil.attacks.people.closeness.BLOCK", 10)
        parts = nearest_people(views)
    for name, scores in whole.items():
        assert parts[name] == pytest.approx(scores)


@given(SEEDS)
def test_the_closest_row_is_that_of_all_pairs(seed: int) -> None:
    original, released, control = three(seed)
    release = release_of(original, released, control)
    targets = TargetRows(np.array([3, 0, 1, 5]), np.array([2, 0, 4]))
    half = np.random.default_rng(seed).random(7) < 0.5
    found = closest_rows(release.children[0], targets, half)
    frames = [original.rows.filter(person=int(who)) for who in targets.inside]
    frames += [control.rows.filter(person=int(who)) for who in targets.outside]
    people = [[row[1:] for row in frame.rows()] for frame in frames]
    theirs = [row[1:] for row in released.rows.rows()]
    every = [*theirs, *(row for own in people for row in own)]
    spans = [
        None if isinstance(column[0], str) else float(max(column) - min(column)) for column in zip(*every, strict=True)
    ]
    wanted = []
    for person, own in enumerate(people):
        others = [row for other, rows in enumerate(people) if half[other] != half[person] for row in rows]
        wanted.append(oracle.closest_row(own, theirs, others, spans) if own else np.inf)
    lowest = min((each for each in wanted if each != np.inf), default=0.0)
    assert found == pytest.approx([lowest if each == np.inf else each for each in wanted], rel=1e-6)


@given(SEEDS)
def test_new_keys_and_other_orders_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, released, control = three(seed)
    orders = [rng.permutation(each.parents.height) for each in (original, released, control)]
    again = [shuffled(each, order, rng) for each, order in zip((original, released, control), orders, strict=True)]
    first = nearest_people(all_views(*coded(release_of(original, released, control))))
    second = nearest_people(all_views(*coded(release_of(*again)), orders[1].astype(float)))
    place = np.concatenate([orders[0], 6 + orders[2]])
    for name, scores in first.items():
        assert second[name] == pytest.approx(scores[place])


def test_a_view_without_a_column_has_no_part_of_it() -> None:
    _, child = coded(release_of(*three(3, (30, 30, 30), 6)))
    for view in (set_view(child, np.arange(30)), order_view(child, np.arange(30))):
        for column in ("kind", "cost", "day"):
            left = view.without(column)
            names = [*left.profiles.names, *(name for block in left.profiles.numbers for name in block.columns)]
            assert not any(name.split(" (")[0] == column for name in names)
            assert len(left.model.parts) == len(left.profiles.names)


def test_people_without_rows_are_as_near_to_all() -> None:
    original, released, control = three(1)
    empty = People(original.parents, original.rows.filter(person=0))
    _, child = coded(release_of(empty, released, control))
    scores = set_view(child, np.arange(7)).closeness(np.arange(1, 6))
    assert (scores == 0).all()

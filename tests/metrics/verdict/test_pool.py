"""People have places by what they hold, scores by all of their rows, and one label each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import InputError
from unveil.metrics.verdict.pool import Pool


def pool_of(is_member: list[int], contents: list[int], person: list[int] | None = None) -> Pool:
    people = None if person is None else np.array(person)
    return Pool(is_member=np.array(is_member, np.bool_), contents=np.array(contents), person=people)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """What rows hold, and whose they are."""
    number = draw(st.integers(1, 12))
    numbers = st.lists(st.integers(0, 5), min_size=number, max_size=number)
    return draw(numbers), draw(numbers)


@given(rows(), st.booleans())
def test_what_is_at_a_place_does_not_hang_on_the_order_of_rows(
    given_rows: tuple[list[int], list[int]], with_people: bool
) -> None:
    contents, person = map(np.array, given_rows)
    is_member = person % 2 == 0 if with_people else contents % 2 == 0
    order = np.random.default_rng(contents.size).permutation(contents.size)
    held = []
    for by in (slice(None), order):
        pool = Pool(is_member=is_member[by], contents=contents[by], person=person[by] if with_people else None)
        at: list[list[int]] = [[] for _ in range(pool.people)]
        for place, content in zip(pool.places, contents[by], strict=True):
            at[place].append(int(content))
        held.append([sorted(each) for each in at])
        assert pool.scores(contents[by]).tolist() == pytest.approx([np.mean(each) for each in at])
        assert pool.members + pool.others == pool.people == (len(set(person)) if with_people else contents.size)
        assert pool.labels[pool.places].tolist() == is_member[by].tolist()
    assert held[0] == held[1] == sorted(held[0])


def test_a_guess_fits_a_person_once() -> None:
    pool = pool_of([1, 1, 1, 0], [4, 3, 2, 1], [8, 8, 9, 7])
    assert pool.places.tolist() == [2, 2, 1, 0]
    starts, places = pool.fitted([0, 3, 3, 4], [0, 1, 2, 3])
    assert (starts.tolist(), places.tolist()) == ([0, 2, 2, 3], [1, 2, 0])


def test_nobody_is_inside_and_outside() -> None:
    with pytest.raises(InputError, match="1 people are both in the original and in the control"):
        pool_of([1, 0, 0], [1, 2, 3], [5, 5, 6])


def test_rows_and_scores_fit_together() -> None:
    with pytest.raises(InputError, match=r"shapes \(2,\), \(3,\)"):
        pool_of([1, 0], [1, 2, 3])
    with pytest.raises(InputError, match="1 of 2 scores are finite, for 2 rows of the pool"):
        pool_of([1, 0], [1, 2]).scores([np.nan, 1])


@given(rows(), st.booleans(), st.data())
def test_hits_are_the_scores_that_are_one(
    given_rows: tuple[list[int], list[int]], with_people: bool, data: st.DataObject
) -> None:
    contents, person = given_rows
    pool = pool_of([1 - each % 2 for each in person], contents, person if with_people else None)
    hit = np.array(data.draw(st.lists(st.booleans(), min_size=len(person), max_size=len(person))))
    scores = pool.scores(hit)
    expected = int(scores[pool.labels].sum()), int(scores[~pool.labels].sum())
    whole = all(score in (0, 1) for score in scores.tolist())
    assert pool.hits(hit) == pool.hits(hit * 1.0) == (expected if whole else None)


@st.composite
def homes(draw: st.DrawFn) -> tuple[list[int], list[int], list[bool]]:
    """What people hold, where they live, and which homes are in the data."""
    number = draw(st.integers(1, 9))
    held = draw(st.lists(st.integers(0, 3), min_size=number, max_size=number))
    household = draw(st.lists(st.integers(0, 5), min_size=number, max_size=number))
    return held, household, draw(st.lists(st.booleans(), min_size=6, max_size=6))


@given(homes(), st.permutations(range(9)))
def test_households_are_drawn_as_a_whole(given_homes: tuple[list[int], list[int], list[bool]], mix: list[int]) -> None:
    held, household, inside = given_homes
    is_member = [inside[home] for home in household]
    pool = Pool(is_member=np.array(is_member), contents=np.array(held), household=np.array(household))
    home = np.empty(pool.people, np.int64)
    home[pool.places] = household
    (make,) = pool.draw_labels(20, np.random.default_rng(1))
    drawn = make()
    sizes = [household.count(each) for each in home.tolist()]
    for row in drawn:
        assert all(len(set(row[home == each].tolist())) == 1 for each in household)
        assert sorted(np.array(sizes)[row]) == sorted(np.array(sizes)[pool.labels])
    # What people hold and with whom they live says who is drawn, and not the order of rows.
    order = [at for at in mix if at < len(held)]
    other = Pool(
        is_member=np.array(is_member)[order],
        contents=np.array(held)[order],
        # Households may be called otherwise.
        household=7 - np.array(household)[order],
    )
    (again,) = other.draw_labels(20, np.random.default_rng(1))
    sums = [[sorted(np.array(contents)[row[places]].tolist()) for row in rows] for contents, places, rows in (
        (held, pool.places, drawn), (np.array(held)[order], other.places, again()))]  # fmt: skip
    assert sums[0] == sums[1]


def test_some_places_have_the_labels_that_all_have() -> None:
    is_member, household = np.arange(30) < 14, np.arange(30) // 2
    pool = Pool(is_member=is_member, contents=np.arange(30), household=household)
    some = np.array([2, 3, 11, 29])
    whole, part = (pool.draw_labels(9, np.random.default_rng(3), each)[0]() for each in (None, some))
    assert (whole[:, some] == part).all()

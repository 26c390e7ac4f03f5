"""Unicity, against all subsets of all points, and the worked numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import linking
from unveil.data.histories import History
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases.unicity import decay_exponent, points_of, unicity, unicity_of, unicity_surface

WORKED = {"A": {"p", "q", "r"}, "B": {"p", "q"}, "C": {"p", "s"}, "D": {"q", "r", "s"}}


def records(points: dict[str, set[str]]) -> tuple[np.ndarray, np.ndarray]:
    names = sorted({point for own in points.values() for point in own})
    pairs = [(person, names.index(point)) for person, own in enumerate(points.values()) for point in sorted(own)]
    return np.array([each for each, _ in pairs]), np.array([each for _, each in pairs])


def test_the_worked_numbers() -> None:
    person, point = records(WORKED)
    one, two = unicity_of(person, point, [1, 2], rng=np.random.default_rng(0))
    assert one.unique.tolist() == [0, 0, 0, 0]
    assert one.guessing == pytest.approx([7 / 18, 1 / 3, 5 / 12, 4 / 9])
    assert two.unique == pytest.approx([1 / 3, 0, 1, 2 / 3])
    assert two.guessing == pytest.approx([2 / 3, 1 / 2, 1, 5 / 6])


@given(
    st.lists(st.sets(st.sampled_from("pqrstuv"), min_size=1), min_size=2, max_size=7), st.integers(1, 3), st.randoms()
)
def test_all_subsets_agree_with_the_definition(own: list[set[str]], known: int, random: object) -> None:
    points = {str(place): each for place, each in enumerate(own)}
    expected = linking.unicity(points, known)
    person, point = records(points)
    order = np.random.default_rng(random.randint(0, 99)).permutation(person.size)  # type: ignore[attr-defined]
    if not expected:
        with pytest.raises(InputError, match="largest number is"):
            unicity_of(person, point, [known], rng=np.random.default_rng(0))
        return
    twice = np.concatenate([order, order[:2]])  # a point twice is one point
    (found,) = unicity_of(person[twice], point[twice], [known], rng=np.random.default_rng(0))
    assert found.unique == pytest.approx([each for each, _ in expected.values()])
    assert found.guessing == pytest.approx([each for _, each in expected.values()])
    assert found.people + found.too_few_points == len(points)


def test_more_points_single_out_more_of_the_same_people() -> None:
    rng = np.random.default_rng(2)
    person, point = np.repeat(np.arange(60), 8), rng.integers(0, 40, 480)
    found = unicity_of(person, point, [1, 2, 3, 4], rng=rng)
    assert all(one.unicity <= other.unicity + 1e-12 for one, other in itertools.pairwise(found))


def test_sampled_subsets_are_near_all_of_them() -> None:
    rng = np.random.default_rng(2)
    person, point = np.repeat(np.arange(150), 14), rng.integers(0, 30, 2100)
    points = {str(each): {str(p) for p in point[person == each]} for each in range(150)}
    exact = np.mean([unique for unique, _ in linking.unicity(points, 4).values()])
    (sampled,) = unicity_of(person, point, [4], rng=rng)
    assert sampled.subsets < 40 * sampled.people
    assert sampled.unicity == pytest.approx(exact, abs=0.05)


def visits() -> History:
    rng = np.random.default_rng(5)
    frame = {
        "who": np.repeat(np.arange(40), 10).tolist(),
        "day": (rng.random(400) * 30).tolist(),
        "place": [f"{each:04d}" for each in rng.integers(0, 3000, 400)],
        "price": (rng.random(400) * 100).tolist(),
    }
    return History.from_table(
        Table.from_frame(frame, kinds={"place": "category"}), person="who", time="day", lifetime="7d"
    )


def test_coarser_points_single_out_less() -> None:
    cells = unicity_surface(
        visits(),
        "place",
        times=["1h", "1d", "2w"],
        steps=["", "2digits", "1digits"],
        known=[2],
        rng=np.random.default_rng(0),
    )
    by_step = {(each.time, each.step): each.unicity.unicity for each in cells}
    assert by_step["1h", ""] == 1
    assert by_step["2w", "1digits"] < by_step["2w", "2digits"] <= by_step["2w", ""]
    assert by_step["2w", "1digits"] < by_step["1d", "1digits"] <= by_step["1h", "1digits"]
    assert np.unique(points_of(visits(), {"price": "50"})).size == 2
    assert unicity(visits(), known=1, columns=["place"], rng=np.random.default_rng(0)).shape == (40,)


@pytest.mark.parametrize(
    ("steps", "message"),
    [({"place": "10"}, "needs numbers"), ({"place": "x"}, "is no number"), ({"time": "none"}, "no length of time")],
)
def test_impossible_steps_are_refused(steps: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        points_of(visits(), steps)


def test_the_exponent_is_that_of_the_law() -> None:
    size = np.array([1.0, 2, 4, 8, 20, 50])
    assert decay_exponent((1.9 - size**0.07).tolist(), size.tolist()) == pytest.approx(0.07, abs=1e-4)
    assert np.isnan(decay_exponent([1.0, 0.5], [1, 2]))

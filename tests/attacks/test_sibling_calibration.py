"""Scores calibrated by sibling releases: the definitions, and who is compared with whom."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.oracles import siblings as oracle
from unveil._kernels.types import FloatArray
from unveil.attacks.table.sibling_calibration import calibrate, drawn_siblings, nearness_to_releases
from unveil.data.table import Table
from unveil.errors import InputError

few = st.integers(-4, 4).map(float)
rows = st.lists(st.tuples(st.integers(0, 9).map(float), st.sampled_from("ab")), min_size=1, max_size=12)


def table(people: list[tuple[float, str]]) -> Table:
    frame = pl.DataFrame(people, schema={"age": pl.Float64, "sex": pl.String}, orient="row")
    return Table.from_frame(frame, kinds={"age": "number", "sex": "category"})


@given(rows, st.lists(rows, min_size=2, max_size=3))
def test_nearness_is_minus_the_log_distance(
    people: list[tuple[float, str]], releases: list[list[tuple[float, str]]]
) -> None:
    # Two people make the range of ages the same for all.
    people = [*people, (0.0, "a"), (10.0, "b")]
    found = nearness_to_releases([table(each) for each in releases], table(people), ["sex", "age"], ranks=(1, 3))
    for at, person in enumerate(people):
        for b, release in enumerate(releases):
            expected = [oracle.nearness(person, release, rank, 10.0) for rank in (1, 3)]
            assert found[at, b] == pytest.approx(expected)


@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=few))
def test_difference_z_and_p_of_each_person(scores: FloatArray) -> None:
    found = calibrate(scores[:, 0], scores[:, 1:], rng=np.random.default_rng(0))
    for at, (own, *siblings) in enumerate(scores.tolist()):
        difference, z, p = oracle.calibrated(own, siblings)
        assert found.difference[at] == pytest.approx(difference)
        assert found.z[at] == pytest.approx(z if len(siblings) >= 3 else np.nan, nan_ok=True)
        assert found.p[at] == pytest.approx(p)


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 6), st.integers(2, 8))), st.integers(0, 99))
def test_everybody_is_compared_with_as_many_unseen_siblings(seen: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]",
                                                            seed: int) -> None:  # fmt: skip
    rng, least = np.random.default_rng(seed), int((~seen).sum(axis=1).min())
    if least == 0:
        with pytest.raises(InputError, match="one person has 0"):
            drawn_siblings(seen.shape, seen, None, rng)
        return
    for number in (None, 1):
        drawn = drawn_siblings(seen.shape, seen, number, rng)
        assert drawn.shape == (len(seen), least if number is None else 1)
        assert not np.take_along_axis(seen, drawn, axis=1).any()
        assert all(len(set(each)) == len(each) for each in drawn.tolist())


def test_siblings_are_drawn_equally_often() -> None:
    seen = np.zeros((6000, 4), bool)
    seen[:, 1] = True
    drawn = drawn_siblings(seen.shape, seen, 2, np.random.default_rng(7))
    counts = np.bincount(drawn.ravel(), minlength=4)
    assert counts[1] == 0
    assert np.abs(counts[[0, 2, 3]] - 4000).max() < 4 * 37


def test_more_siblings_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="needs 3 siblings"):
        calibrate(np.zeros(2), np.zeros((2, 2)), number=3, rng=np.random.default_rng(0))


@pytest.mark.unwatched
def test_a_copied_person_stands_out_and_a_typical_one_does_not() -> None:
    rng = np.random.default_rng(8)
    everybody = [table([(float(rng.integers(0, 99)), "ab"[rng.integers(2)]) for _ in range(300)]) for _ in range(6)]
    people = table([(250.0, "a"), (50.0, "b")])
    copied = Table.from_frame(pl.concat([everybody[0].frame, people.frame[:1]]), kinds={"age": "number"})
    scores = nearness_to_releases([copied, *everybody[1:]], people, ["age", "sex"], ranks=[1])[:, :, 0]
    found = calibrate(scores[:, 0], scores[:, 1:], rng=rng)
    assert found.p[0] == 1 / 6
    assert found.z[0] > 5 > abs(found.z[1])

"""The nearest rows as a set, and every row by how near it is; nothing by the order of rows."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.linkers import found, softmax
from tests.oracles.records import Distance, Rows, nearest, rows_of_people, table
from unveil.attacks.table.bayes import Bayes
from unveil.attacks.table.nearest import Nearest, Softmax
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.protections.table.additive_noise import AdditiveNoise

RNG = np.random.default_rng(1)


@given(rows_of_people, rows_of_people, st.integers(1, 7))
def test_all_belief_is_on_the_nearest_and_their_ties(original: Rows, released: Rows, k: int) -> None:
    k = min(k, len(original))
    distance = Distance(original, released)
    guess = Nearest(k=k).run(released=table(released), knowledge=Knowledge(table(original)), rng=RNG)
    assert [mass.mass.tolist() for mass in guess.each] == [[1.0]] * len(released)
    expected = [nearest([distance(row, other) for other in original], k) for row in released]
    assert [set(mass.sets[0].tolist()) for mass in guess.each] == expected


def columns(rows: Rows) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]


@given(rows_of_people, rows_of_people, st.sampled_from([0.3, 1.0, 4.0]))
def test_the_softmax_is_that_of_the_definition(original: Rows, released: Rows, s: float) -> None:
    guess = Softmax(s=s).run(released=table(released), knowledge=Knowledge(table(original)), rng=RNG)
    expected = softmax(columns(original), columns(released), s)
    np.testing.assert_allclose(guess.probability.reshape(len(released), -1), expected, rtol=1e-6, atol=1e-12)


def test_for_normal_noise_the_softmax_is_what_bayes_says() -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"a": rng.normal(size=30), "b": rng.normal(size=30)})
    release = AdditiveNoise(scale=0.2).apply(Table.from_frame(frame), rng=rng)
    known = Knowledge(release.original)
    soft = Softmax(s=0.2).run(released=release.released, knowledge=known, rng=rng)
    exact = Bayes(mechanism=release.mechanism).run(released=release.released, knowledge=known, rng=rng)
    one, other = (np.zeros((30, 30)) for _ in range(2))
    for guess, dense in ((soft, one), (exact, other)):
        dense[np.repeat(np.arange(30), guess.considered), guess.candidate] = guess.probability
    np.testing.assert_allclose(one, other, atol=1e-7)


def test_unlikely_candidates_can_be_left_out_and_targets_drawn() -> None:
    people = Table.from_frame(pl.DataFrame({"age": [20, 21, 60, 61]}))
    guess = Softmax(s=0.3, least=0.01, targets=2).run(released=people, knowledge=Knowledge(people), rng=RNG)
    assert guess.targets is not None
    for row, some in zip(guess.targets.tolist(), found(guess), strict=True):
        assert set(some) == ({0, 1} if row < 2 else {2, 3})
        assert sum(some.values()) == pytest.approx(1)


def test_a_constant_column_and_missing_values() -> None:
    people = Table.from_frame(pl.DataFrame({"age": [7, 7, None]}), kinds={"age": "number"}, roles={"age": "known"})
    guess = Softmax().run(released=people, knowledge=Knowledge(people), rng=RNG)
    far = float(np.exp(-0.5))
    expected = [1 / (2 + far), 1 / (2 + far), far / (2 + far)]
    np.testing.assert_allclose(guess.probability[:3], expected)
    assert guess.probability[8] == pytest.approx(1 / (1 + 2 * far))


def test_settings_are_checked() -> None:
    for k in (0, 1.5, True):
        with pytest.raises(InputError, match="k must be a whole number of at least 1"):
            Nearest(k=k)  # type: ignore[arg-type]
    for s in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="it must be a finite number above 0"):
            Softmax(s=s)
    with pytest.raises(InputError, match="least must lie between 0 and 1, 1 excluded"):
        Softmax(least=1.0)
    people = table([(20, 1.5, "Ulm")] * 2)
    with pytest.raises(InputError, match="k is 3, but there are 2 original rows"):
        Nearest(k=3).run(released=people, knowledge=Knowledge(people), rng=RNG)

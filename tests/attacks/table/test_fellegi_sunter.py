"""Fellegi and Sunter: the weights by their definition, and people found where EM that may choose freely fails."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.linkers import bayes_factors, found, free_links, person_file
from unveil._kernels.table import patterns
from unveil._kernels.table.patterns import MISSING, comparison, patterns_of_pairs, patterns_of_rows, scores_of_rows
from unveil.attacks.table import _agreement_patterns, _scores
from unveil.attacks.table.fellegi_sunter import FellegiSunter
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.metrics import adversary_overall_success, adversary_success_rate
from unveil.protections.table.additive_noise import AdditiveNoise

RNG = np.random.default_rng(1)
BLOCKS = (("surname",), ("day", "month"), ("first", "year"), ("street",))


def words(columns: dict[str, list[Any]], name: str = "original") -> Table:
    frame = pl.DataFrame({key: pl.Series(values, dtype=pl.String) for key, values in columns.items()})
    return Table.from_frame(
        frame, name=name, kinds=dict.fromkeys(columns, "category"), roles=dict.fromkeys(columns, "known")
    )


cells = st.sampled_from([None, "a", "b", "c"])


@settings(max_examples=20)
@given(
    st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=6),
    st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6),
)
def test_the_guess_is_that_of_the_definition(original: list[Any], released: list[Any]) -> None:
    one, other = ([list(column) for column in zip(*rows, strict=True)] for rows in (original, released))
    names = ["x", "y", "z"]
    guess = FellegiSunter().run(
        released=words(dict(zip(names, other, strict=True))),
        knowledge=Knowledge(words(dict(zip(names, one, strict=True)))),
        rng=RNG,
    )
    expected = bayes_factors(one, other)
    dense = np.zeros((len(released), len(original)))
    dense[np.repeat(np.arange(len(released)), guess.considered), guess.candidate] = guess.probability
    np.testing.assert_allclose(dense, expected, atol=2e-4)


@pytest.fixture(scope="module")
def register() -> tuple[pl.DataFrame, pl.DataFrame, np.ndarray[Any, Any]]:
    return person_file(5000, rng=np.random.default_rng(5))


def tables(register: tuple[pl.DataFrame, pl.DataFrame, Any]) -> tuple[Table, Table]:
    names = register[0].columns
    first, second = (
        Table.from_frame(frame, name=name, kinds=dict.fromkeys(names, "category"), roles=dict.fromkeys(names, "known"))
        for frame, name in zip(register[:2], ("original", "released"), strict=True)
    )
    return first, second


@pytest.mark.unwatched
@pytest.mark.parametrize("blocks", [(), BLOCKS])
def test_people_are_found_in_a_file_of_five_thousand(register: Any, blocks: tuple[tuple[str, ...], ...]) -> None:
    original, released = tables(register)
    attack = FellegiSunter(blocks=blocks, confidence=0.5)
    guess = attack.run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    assert adversary_success_rate(guess, register[2]) >= 0.99
    assert adversary_overall_success(guess, register[2]) >= 0.98


def test_free_em_fails_there(register: Any) -> None:
    """It finds households: that the test above passes is not because the file is easy."""
    links = free_links(register[0], register[1], BLOCKS)
    right = sum(register[2][target] == row for target, row in links)
    assert right / len(links) < 0.6


@pytest.mark.unwatched
def test_what_a_match_is_worth_is_learnt(register: Any) -> None:
    """One cell in twenty was changed (half of them to somebody else's value), so m is about 0.95 in every column."""
    original, released = tables(register)
    for blocks in ((), BLOCKS):
        learnt = FellegiSunter(blocks=blocks).weights(released=released, knowledge=Knowledge(original), rng=RNG)
        assert learnt.names == ("first", "surname", "day", "month", "year", "street", "town")
        np.testing.assert_allclose(learnt.match[:, 2], 0.95, atol=0.03)
        np.testing.assert_allclose(learnt.match.sum(axis=1), 1)
        assert learnt.chance[2, 2] == pytest.approx(1 / 28, rel=0.1)


def test_masked_numbers_are_linked_by_steps() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({name: rng.normal(size=300) for name in "abcdef"})
    release = AdditiveNoise(scale=0.15).apply(Table.from_frame(frame), rng=rng)
    assert release.truth is not None
    guess = FellegiSunter().run(released=release.released, knowledge=Knowledge(release.original), rng=rng)
    assert adversary_success_rate(guess, release.truth) > 0.9
    assert guess.considered.tolist() == [300] * 300


def test_columns_that_tell_nothing_make_everybody_alike() -> None:
    people = words({"x": ["a"] * 5, "y": [None] * 5})
    guess = FellegiSunter().run(released=people, knowledge=Knowledge(people), rng=RNG)
    assert found(guess) == [dict.fromkeys(range(5), pytest.approx(0.2))] * 5


@settings(max_examples=15)
@given(st.permutations(range(6)))
def test_the_order_of_rows_plays_no_part(order: list[int]) -> None:
    columns = {"x": ["a", "a", "b", "c", "c", "d"], "y": ["1", "2", "2", "3", "3", "3"]}
    original, released = words(columns), words({"x": ["a", "c", "d"], "y": ["2", "3", "3"]}, "released")
    for blocks in ((), (("x",), ("y",))):
        attack = FellegiSunter(blocks=blocks)
        plain = found(attack.run(released=released, knowledge=Knowledge(original), rng=RNG))
        mixed = found(attack.run(released=released, knowledge=Knowledge(original.take(order)), rng=RNG))
        assert plain == [
            {order[row]: pytest.approx(share) for row, share in sorted(some.items(), key=lambda one: order[one[0]])}
            for some in mixed
        ]


def test_blocks_leave_out_who_is_equal_in_none() -> None:
    original = words({"x": ["a", "b", "c", None], "y": ["1", "1", "2", None]})
    released = words({"x": ["a", "z", "z", None], "y": ["2", "1", "9", None]}, "released")
    guess = FellegiSunter(blocks=(("x",), ("y",))).run(released=released, knowledge=Knowledge(original), rng=RNG)
    assert [set(some) for some in found(guess)] == [{0, 2}, {0, 1}, set(), set()]


def test_rows_are_given_up_and_candidates_left_out() -> None:
    columns = {"x": [f"{k}" for k in range(30)], "y": [f"{k // 2}" for k in range(30)]}
    original, released = words(columns), words({"x": ["3", "zz"], "y": ["1", "zz"]}, "released")
    guess = FellegiSunter(confidence=0.5, least=0.5).run(released=released, knowledge=Knowledge(original), rng=RNG)
    assert [set(some) for some in found(guess)] == [{3}, set()]


def test_the_compiled_loops_find_what_numpy_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    one, other = (rng.integers(0, 9, (size, 3)) for size in (30, 40))
    one[3, 0] = other[5, 2] = MISSING
    rule, rows = comparison([[0], [0, 2], [1, 3]]), np.array([1, 3, 29])
    weight = rng.normal(size=(3, 4))
    plain = patterns_of_rows(one, other, rule, rows), scores_of_rows(one, other, rule, weight, rows)
    pairs = np.repeat(rows, 40), np.tile(np.arange(40), 3)
    np.testing.assert_array_equal(plain[0], patterns_of_pairs(one, other, rule, *pairs))
    monkeypatch.setattr(patterns, "_PLAIN_PAIRS", 0)
    np.testing.assert_array_equal(plain[0], patterns_of_rows(one, other, rule, rows))
    np.testing.assert_array_equal(plain[1], scores_of_rows(one, other, rule, weight, rows))


def test_some_rows_can_be_drawn() -> None:
    people = words({"x": list("abcdefgh")})
    guess = FellegiSunter(targets=3).run(released=people, knowledge=Knowledge(people), rng=RNG)
    assert guess.targets is not None
    assert [max(some, key=lambda row: some[row]) for some in found(guess)] == guess.targets.tolist()


def test_too_many_candidates_or_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    people = words({"x": ["a"] * 5, "y": list("abcde")})
    monkeypatch.setattr(_scores, "MOST_ENTRIES", 20)
    with pytest.raises(InputError, match="the candidates of all targets exceed the maximum of 20"):
        FellegiSunter().run(released=people, knowledge=Knowledge(people), rng=RNG)
    monkeypatch.setattr(_agreement_patterns, "MOST_PAIRS", 20)
    with pytest.raises(InputError, match="the block 'x' has 25 pairs, above the maximum of 20"):
        FellegiSunter(blocks=(("x",), ("y",))).run(released=people, knowledge=Knowledge(people), rng=RNG)


def test_a_column_in_every_block_cannot_be_learnt() -> None:
    people = words({"x": list("aab"), "y": list("abc")})
    with pytest.raises(InputError, match="column 'x' is in every block with pairs, so its agreement weight cannot be"):
        FellegiSunter(blocks=(("x",), ("x", "y"))).run(released=people, knowledge=Knowledge(people), rng=RNG)
    with pytest.raises(InputError, match="a block names column 'z', which is not compared"):
        FellegiSunter(blocks=(("z",),)).run(released=people, knowledge=Knowledge(people), rng=RNG)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": (-0.1,)}, "steps must be finite numbers of at least 0"),
        ({"least": 1.0}, "least must lie between 0 and 1, 1 excluded"),
        ({"confidence": -0.1}, "confidence must lie between 0 and 1, 1 excluded"),
        ({"blocks": ("x",)}, "a block is not a group of columns"),
        ({"blocks": ((),)}, "a block is not a group of columns"),
        ({"targets": 0}, "targets must be a whole number of at least 1"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FellegiSunter(**settings)

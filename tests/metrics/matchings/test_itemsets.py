"""Sets of items found as a whole: against a list of all matchings, exact, sampled, overlapping and with gaps."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.matchings import pairings, set_is_found, share
from unveil._kernels.matching import LogPermanent, block_answer
from unveil.errors import InputError
from unveil.guesses import Matching, MatchingDistribution, UnequalMatching
from unveil.metrics.matchings.itemsets import itemsets

RNG = np.random.default_rng


@st.composite
def attacks(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[list[int]]]:
    n, m = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    matrix = draw(st.lists(st.lists(st.integers(0, 3), min_size=m, max_size=m), min_size=n, max_size=n))
    pseudonyms = [*range(m), *[-1] * n]
    truth = draw(st.permutations(pseudonyms[: max(n, m)]))[:n]
    one = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
    return matrix, truth, draw(st.lists(one, min_size=1, max_size=3))


@settings(deadline=None, max_examples=60)
@given(attacks())
def test_chances_are_those_of_all_pairings(attack: tuple[list[list[int]], list[int], list[list[int]]]) -> None:
    matrix, truth, sets = attack
    pairs = min(len(matrix), len(matrix[0]))
    found = pairings(matrix, pairs)
    if not found:
        return
    result = itemsets(UnequalMatching(matrix), truth, sets=dict(enumerate(sets)), rng=RNG(1))
    every = pairings([[1] * len(matrix[0])] * len(matrix), pairs)
    for each, rows in zip(result.sets, sets, strict=True):
        _compare(each.found.value, found, truth, rows)
        _compare(each.by_chance, every, truth, rows)
        assert each.cracked.value == pytest.approx(float(share(found, _each_cracked(truth, rows))), abs=1e-12)
    together = share(found, lambda columns: any(set_is_found(columns, truth, rows) for rows in sets))
    assert result.any_found.value == pytest.approx(float(together), abs=1e-9)
    assert result.expected.value == pytest.approx(sum(each.found.value for each in result.sets))


def _each_cracked(truth: Sequence[int], rows: Sequence[int]) -> Callable[[tuple[int, ...]], bool]:
    return lambda columns: all(truth[i] in (-1, columns[i]) for i in rows)


def _compare(value: float, found: dict[tuple[int, ...], Fraction], truth: Sequence[int], rows: Sequence[int]) -> None:
    expected = share(found, lambda columns: set_is_found(columns, truth, rows))
    assert value == pytest.approx(float(expected), abs=1e-12)


def test_listed_matchings_have_the_same_chances() -> None:
    guess = Matching([[1, 2, 1, 0], [1, 1, 3, 1], [2, 1, 1, 1], [1, 0, 1, 1]])
    sets = {"pair": [0, 2], "three": [1, 2, 3], "all": range(4)}
    one = itemsets(guess, [2, 1, 0, 3], sets=sets, rng=RNG(1))
    other = itemsets(MatchingDistribution.from_matching(guess), [2, 1, 0, 3], sets=sets, rng=RNG(1))
    for a, b in zip(one.sets, other.sets, strict=True):
        assert (a.name, a.size, a.by_chance) == (b.name, b.size, b.by_chance)
        assert (a.found.value, a.cracked.value) == pytest.approx((b.found.value, b.cracked.value))
    assert one.any_found.value == pytest.approx(other.any_found.value)
    assert one.any_found.value == pytest.approx(1.0)  # the set of all items is always found


def test_what_must_be_sampled_is_near_what_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = []
    for seed in range(4):
        rng = RNG(seed)
        guess, sets = Matching(np.exp(rng.standard_normal((9, 9)))), {"a": [0, 1, 2], "b": [2, 5]}
        exact = itemsets(guess, range(9), sets=sets, rng=rng)
        with monkeypatch.context() as patch:
            patch.setattr(block_answer, "BY_SUBSETS", 1)
            patch.setattr(block_answer, "LARGEST_MARGINALS", 1)
            patch.setattr(block_answer, "feasible_plan", lambda _: None)
            patch.setattr("unveil.metrics.matchings.itemsets.permanent", _bracket)
            sampled = itemsets(guess, range(9), sets=sets, rng=rng, precision=0.04)
        for a, b in zip(exact.sets, sampled.sets, strict=True):
            assert b.found.kind == "sampled"
            assert 0 < b.found.error < b.found.value
            scores += [
                (b.found.value - a.found.value) / b.found.error,
                (b.cracked.value - a.cracked.value) / b.cracked.error,
            ]
        assert sampled.any_found.kind == "bracket"
        low, width = sampled.any_found.value, sampled.any_found.error
        assert low - 0.05 <= exact.any_found.value <= low + width + 0.05
    assert np.max(np.abs(scores)) < 4
    assert 0.3 < np.std(scores) < 1.5


def _bracket(edges: object) -> LogPermanent:
    return LogPermanent(0.0, "Bethe bracket", 1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ({"a": ["Flu", "Gout"]}, r"set 1 \(counted from 1\) has unknown items: 1 of its 2 are not"),
        ({"a": ["Flu"], "b": []}, r"set 2 \(counted from 1\) has unknown items: it is empty"),
        ({"a": ["Flu", "Flu"]}, r"set 1 \(counted from 1\) repeats an item"),
        ({}, "no set of items was given"),
    ],
)
def test_what_is_no_set_is_refused(sets: dict[str, list[str]], said: str) -> None:
    guess = Matching([[1, 1], [1, 1]], items=("Flu", "Cold"))
    with pytest.raises(InputError, match=said):
        itemsets(guess, [0, 1], sets=sets, rng=RNG(1))

"""More items than pseudonyms, or fewer: everything against a list of all pairings."""

from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.matchings import entropy, pairings, share
from unveil.errors import InputError
from unveil.guesses import Matching, UnequalMatching
from unveil.metrics.matchings.cracks import cracks
from unveil.metrics.matchings.permanents import ambiguity

RNG = np.random.default_rng


@st.composite
def attacks(draw: st.DrawFn) -> tuple[list[list[int]], int, list[int]]:
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    matrix = draw(st.lists(st.lists(st.integers(0, 3), min_size=m, max_size=m), min_size=n, max_size=n))
    pairs = draw(st.integers(1, min(n, m)))
    pseudonyms = draw(st.permutations(range(m)))[: draw(st.integers(0, min(n, m)))]
    return matrix, pairs, draw(st.permutations([*pseudonyms, *[-1] * (n - len(pseudonyms))]))


@settings(deadline=None, max_examples=60)
@given(attacks())
def test_every_figure_is_that_of_all_pairings(attack: tuple[list[list[int]], int, list[int]]) -> None:
    matrix, pairs, truth = attack
    found = pairings(matrix, pairs)
    if not found:
        with pytest.raises(InputError, match="items can have a pseudonym at once"):
            UnequalMatching(matrix, pairs=pairs)
        return
    guess = UnequalMatching(matrix, pairs=pairs)
    result = cracks(guess, truth, groups=[0] * guess.n, rng=RNG(1))
    count = [sum(a == b >= 0 for a, b in zip(columns, truth, strict=True)) for columns in found]
    total = sum(found.values())
    expected = [sum((w for c, w in zip(count, found.values(), strict=True) if c == k), Fraction(0)) / total
                for k in range(guess.n + 1)]  # fmt: skip
    np.testing.assert_allclose(result.crack_distribution, np.array(expected, float), atol=1e-12)
    assert result.expected_cracks.value == pytest.approx(float(sum(k * p for k, p in enumerate(expected))), abs=1e-12)
    assert result.permanent == total
    alone = [share(found, _in(i, {-1})) for i in range(guess.n)]
    np.testing.assert_allclose(result.no_pseudonym, np.array(alone, float), atol=1e-12)
    every = pairings([[1] * guess.pseudonym_count] * guess.n, pairs)
    most = log(len(every))
    assert guess.log_all == pytest.approx(most, abs=1e-9)
    assert result.d.value == pytest.approx(entropy(found) / most if most else 0.0, abs=1e-9)
    blind = sum(sum(a == b >= 0 for a, b in zip(columns, truth, strict=True)) for columns in every) / len(every)
    assert result.blind_cracks == pytest.approx(blind, abs=1e-12)
    own = {pseudonym for pseudonym in truth if pseudonym >= 0}
    grouped = sum(float(share(found, _in(i, own))) for i in range(guess.n))
    assert result.groups is not None
    assert result.groups.expected.value == pytest.approx(grouped, abs=1e-12)
    _without_a_truth(guess, found)


def _in(row: int, pseudonyms: set[int]) -> Callable[[tuple[int, ...]], bool]:
    return lambda columns: columns[row] in pseudonyms


def _without_a_truth(guess: UnequalMatching, found: dict[tuple[int, ...], Fraction]) -> None:
    """See that bounds hold for every truth that is possible, and are reached."""
    total = sum(found.values())
    scores = [
        sum(sum(a == b >= 0 for a, b in zip(columns, truth, strict=True)) * w for columns, w in found.items()) / total
        for truth in found
    ]
    result = ambiguity(guess, rng=RNG(1))
    assert result.least_cracks.value == pytest.approx(float(min(scores)), abs=1e-9)
    assert result.most_cracks.value == pytest.approx(float(max(scores)), abs=1e-9)
    believed = sum(score * w for score, w in zip(scores, found.values(), strict=True)) / total
    assert result.believed_cracks.value == pytest.approx(float(believed), abs=1e-9)
    assert result.flat == (len(set(found.values())) == 1)


def test_a_square_attack_is_the_same_either_way() -> None:
    matrix = np.exp(RNG(4).standard_normal((6, 6)))
    one = cracks(Matching(matrix), range(6), rng=RNG(1))
    other = cracks(UnequalMatching(matrix), range(6), rng=RNG(1))
    assert one.expected_cracks == other.expected_cracks
    assert one.d == other.d
    assert one.matched_bias == other.matched_bias
    assert other.no_pseudonym.sum() == 0


def test_large_ones_are_sampled_and_agree() -> None:
    rng = RNG(5)
    matrix = np.exp(rng.standard_normal((40, 30)))
    sampled = cracks(UnequalMatching(matrix), [*range(30), *[-1] * 10], rng=rng)
    assert sampled.expected_cracks.kind == "sampled"
    assert sampled.no_pseudonym.sum() == pytest.approx(10, abs=1e-9)
    assert sampled.d.low <= sampled.d.value <= sampled.d.high
    # The same attack as two that cannot be mistaken for one another, which still are exact.
    rows, columns = np.repeat([0, 1], 20), np.repeat([0, 1], 15)
    split = UnequalMatching(matrix * (rows[:, None] == columns))
    assert abs(cracks(split, [*range(30), *[-1] * 10], rng=rng).no_pseudonym.sum() - 10) < 1e-9


def test_a_wrong_number_of_pairs_is_said() -> None:
    found = cracks(UnequalMatching(np.ones((3, 2))), [0, -1, -1], rng=RNG(1))
    assert "The attacker assumes that 2 items have a pseudonym; the truth is 1." in found.notes
    with pytest.raises(InputError, match="pairs is 3, above 2, the smaller of 3 items and 2 pseudonyms"):
        UnequalMatching(np.ones((3, 2)), pairs=3)

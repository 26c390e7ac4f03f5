"""Where floats or 64-bit integers would decide wrongly, and where the compiled loops take over."""

import random
from fractions import Fraction
from math import log2

import numpy as np
import pytest

from tests.oracles.unlinkability_check import Form, assert_agrees, expected, measured
from tests.strategies import Case
from unveil._kernels import _compile
from unveil.guesses import Partition, View
from unveil.metrics.partitions.fairness import fairness
from unveil.metrics.partitions.unlinkability import unlinkability

HALF = Fraction(1, 2)


def case_of(truth: list[str], *guesses: tuple[list[str], Fraction], alpha: Fraction = HALF) -> Case:
    subjects = len(set(truth))
    return Case(
        truth=truth,
        guesses=list(guesses),
        alpha=[alpha] * subjects,
        beta=[Fraction(4, 5)] * subjects,
        contamination=[False] * subjects,
        item_weights={},
        own_weights={},
        norm="weight",
        at_breach="nan",
    )


def float_cost(alpha: float, miss: float, include: float) -> float:
    return alpha * miss + (1 - alpha) * include


def test_a_tie_at_two_thirds_that_floats_do_not_see() -> None:
    # Three items of a: one alone, two with two foreign ones. Costs 2/3·2 + 0 and 2/3·1 + 1/3·2 are the same.
    assert float_cost(2 / 3, 2, 0) < float_cost(2 / 3, 1, 2)
    result = unlinkability(Partition.from_labels("xyyyy"), Partition.from_labels("aaabb"), alpha="2/3")
    assert (result.miss[0], result.include[0]) == (1.5, 1)
    assert result.graphs(0)[0] == pytest.approx([1 / 3, 1], abs=1e-15)
    assert_agrees(case_of(list("aaabb"), (list("xyyyy"), Fraction(1)), alpha=Fraction(2, 3)))


def test_a_tie_at_two_thirds_that_floats_decide_for_the_wrong_cluster() -> None:
    # Four items of a: one with one foreign item, two with three, one with six. The first two tie at 7/3, and the one
    # with fewer foreign items comes first; floats think that the other is cheaper, and start the graph with 1/2.
    assert float_cost(2 / 3, 3, 1) > float_cost(2 / 3, 2, 3)
    truth, guess = "a" + "b" + "aa" + "bbb" + "a" + "b" * 6, "x" * 2 + "y" * 5 + "z" * 7
    result = unlinkability(Partition.from_labels(guess), Partition.from_labels(truth), alpha="2/3")
    assert (result.miss[0], result.include[0], result.linked0[0]) == (2.5, 2, 0.25)
    assert_agrees(case_of(list(truth), (list(guess), Fraction(1)), alpha=Fraction(2, 3)))


# alpha, more of the own, more foreign, and by how much alpha·own falls short of (1 - alpha)·foreign, in 1e-18.
# The first two alphas are too fine for 64 bits by themselves, the others only once they meet the weights.
NEAR_TIES = [
    (Fraction(123456789123, 10**12), "108.165803", "15.234620", 971),
    (Fraction(123456789123, 10**12), "75.716055", "10.664233", -7424),
    (Fraction(123456789, 10**9), "0.009632350", "0.001356669", 9),
    (Fraction(123456789, 10**9), "0.096323429", "0.013566680", -1),
]
SCATTERED = 960


def weighing(total: str) -> list[Fraction]:
    """Return weights, at most 1 each that sum to the total."""
    exact = Fraction(total)
    return [Fraction(1)] * int(exact) + [exact - int(exact)]


@pytest.mark.parametrize(("alpha", "more_own", "more_foreign", "short"), NEAR_TIES)
def test_fine_weights_and_a_fine_alpha_are_compared_without_rounding_and_without_overflow(
    alpha: Fraction, more_own: str, more_foreign: str, short: int
) -> None:
    own, foreign = weighing(more_own), weighing(more_foreign)
    assert alpha * Fraction(more_own) + Fraction(short, 10**18) == (1 - alpha) * Fraction(more_foreign)
    # x holds one item of a; y holds as much more of a as would pay for its foreign items, but for a hair. Items of a
    # that are scattered far and wide add the same large number to both costs.
    scattered = [f"z{k}" for k in range(SCATTERED)]
    truth = ["a", "a"] + ["a"] * (len(own) + SCATTERED) + ["b"] * len(foreign)
    guess = ["x", "y"] + ["y"] * len(own) + scattered + ["y"] * len(foreign)
    weights = dict(enumerate([Fraction(1), Fraction(1), *own, *[HALF] * SCATTERED, *foreign]))
    elsewhere = 1 + HALF * SCATTERED
    in_x, in_y = (elsewhere + sum(own), Fraction(0)), (elsewhere, sum(foreign, Fraction(0)))
    # The premise: whole-number costs exceed 64 bits, and floats take the difference for a tie or for its opposite.
    grid = 10 ** len(more_own.partition(".")[2])
    assert alpha.numerator * in_x[0] * grid > 2**63
    floats = [float_cost(float(alpha), float(miss), float(include)) for miss, include in (in_x, in_y)]
    assert floats[0] == floats[1] or (floats[0] < floats[1]) != (short > 0)
    result = measured(case_of(truth, (guess, Fraction(1)), alpha=alpha).but(item_weights=weights))
    miss, include = in_x if short > 0 else in_y
    assert result.miss[0] == pytest.approx(float(miss), abs=1e-12)
    assert result.include[0] == pytest.approx(float(include), abs=1e-12)


def test_a_cost_beyond_64_bits_is_not_taken_for_a_small_one() -> None:
    # In 64 bits the cost of the cluster with twelve foreign items would wrap around to a negative number.
    alpha, grid = NEAR_TIES[-1][0], 10**9
    assert 2**63 < (alpha.denominator - alpha.numerator) * 12 * grid < 2**64
    case = case_of(list("aaa" + "b" * 12), (list("xxy" + "y" * 12), Fraction(1)), alpha=alpha)
    case = case.but(item_weights={2: Fraction(grid - 1, grid)})
    result = measured(case)
    assert (result.miss[0], result.include[0]) == (pytest.approx(1 - 1 / grid, abs=1e-12), 0)
    assert_agrees(case)


def test_an_exact_tie_of_fine_weights_is_seen_beyond_64_bits() -> None:
    halves = weighing("100.000001")
    truth = ["a"] * (2 * len(halves)) + ["b"] * 4
    guess = ["x"] * len(halves) + ["y"] * len(halves) + ["x", "x", "y", "y"]
    weights = dict(enumerate([*halves, *halves, *(Fraction(k, 10**6) for k in (1, 7, 3, 5))]))
    case = case_of(truth, (guess, Fraction(1)), alpha=NEAR_TIES[0][0]).but(item_weights=weights)
    assert measured(case).include[0] == pytest.approx(8e-6, abs=1e-12)
    assert_agrees(case)


def test_a_threshold_on_a_flat_piece_of_the_overall_graph_is_met_where_the_piece_begins() -> None:
    # Of s0 and s1 a fragment is merged first, then one more item, then one without weight, then the rest with an item
    # of t; t itself counts as linked. The mean after one merging is exactly beta, but as a sum of floats a little less.
    truth, guess = [], []
    for subject, (fragment, rest) in {"s0": (2, 9), "s1": (3, 6)}.items():
        truth += [subject] * (fragment + 2 + rest) + ["t"]
        guess += [f"{subject} {part}" for part in "a" * fragment + "bc" + "d" * (rest + 1)]
    weightless = {(name, item): Fraction(0) for item, name in enumerate(truth) if name == "t" or guess[item][-1] == "c"}
    case = case_of(truth, (guess, Fraction(1)), alpha=Fraction(0))
    case = case.but(own_weights=weightless, overall_beta=Fraction(11, 20))
    result = measured(case)
    assert result.overall.linked[1] < 11 / 20
    assert result.overall.merges == pytest.approx(1, abs=1e-12)
    assert_agrees(case)


def test_probabilities_with_a_large_common_denominator() -> None:
    chance = [Fraction(1, 1009), Fraction(1, 1013), 1 - Fraction(1, 1009) - Fraction(1, 1013)]
    guesses = [list("xxyyyzzx"), list("xyzxyzxy"), list("xxxxyyyy")]
    case = case_of(list("aaaaabbb"), *zip(guesses, chance, strict=True))
    case = case.but(contamination=[True, False])
    assert_agrees(case)
    linked0 = [subject.linked0 for subject in expected(case).subjects]
    assert measured(case.but(beta=linked0)).breached.all()
    assert_agrees(case.but(beta=[y + Fraction(1, 10**6) for y in linked0]))


def test_probabilities_with_all_the_digits_of_a_float_sum_to_one() -> None:
    # Whatever the probabilities, everything is in one cluster: all is linked and all is mixed. A contamination of
    # 1e-16 in place of 0 would make the limit slope 1 in place of alpha.
    truth, everything = Partition.from_labels("aabbb"), Partition.from_labels("xxxxx")
    dice = random.Random(0)  # noqa: S311
    for _ in range(60):
        heaps = [dice.random() for _ in range(3)]
        view = View([everything] * 3, [heap / sum(heaps) for heap in heaps])
        result = unlinkability(view, truth, alpha="1/4", contamination_desirable=True, at_breach="limit")
        assert result.linked == pytest.approx([1, 1], abs=1e-12)
        assert result.mixed == pytest.approx([0, 0], abs=1e-12)
        assert result.linked.max() <= 1
        assert result.mixed.min() >= 0
        assert result.risk_slope.tolist() == [0.25, 0.25]
        assert result.overall.risk_slope == 0.25
        assert fairness(result)[2].worst_decile == 0.25


def test_a_view_with_fine_weights_meets_its_threshold_exactly() -> None:
    # Weights of nine decimals times a denominator of six digits exceed the integers a float can hold.
    dice = random.Random(7)  # noqa: S311
    truth = ["a"] * 30 + ["b"] * 4
    for _ in range(40):
        first = Fraction(dice.randrange(1, 999_983), 999_983)
        case = case_of(
            truth,
            ([dice.choice("xyz") for _ in truth], first),
            ([dice.choice("xyz") for _ in truth], 1 - first),
        ).but(item_weights={item: Fraction(dice.randrange(10**9), 10**9) for item in range(len(truth))})
        assert_agrees(case.but(beta=[subject.linked0 for subject in expected(case).subjects]))


def test_a_long_view_with_fine_weights_does_not_overflow() -> None:
    n, chance = 40_000, Fraction(1, 999_983)
    truth = Partition.from_labels(["a"] * 10 + ["b"] * (n - 10))
    split = Partition.from_labels(["x"] * 8 + ["y"] * (n - 8))
    view = View([split, Partition.from_labels(["x"] * n)], [chance, 1 - chance])
    weighed = unlinkability(view, truth, weights=np.full(n, 0.987654321))
    equal = unlinkability(view, truth)
    # All items weigh the same, so every share is what it is without weights.
    assert weighed.linked == pytest.approx(equal.linked, abs=1e-12)
    assert weighed.mixed == pytest.approx(equal.mixed, abs=1e-12)
    assert weighed.linked.max() == 1


def test_evenness_keeps_its_digits_beside_a_large_subject() -> None:
    truth = np.repeat(np.arange(4), [1_000_000, 3, 2, 1])
    result = unlinkability(Partition.from_labels(np.zeros(truth.size, np.int64)), Partition.from_labels(truth))
    entropy = -(1 / 2 * log2(1 / 2) + 1 / 3 * log2(1 / 3) + 1 / 6 * log2(1 / 6))
    assert result.others_evenness[0] == pytest.approx(2**entropy / 3, abs=1e-9)


def large_case(seed: int, *, partitions: int, items: int = 60_000) -> Case:
    """Return items of a tenth as many subjects, each in a handful of the adversary's clusters."""
    rng = np.random.default_rng(seed)
    subjects = items // 10
    truth = rng.integers(0, subjects, items)
    guesses = []
    for _ in range(partitions):
        moved = rng.random(items) < 0.4
        guesses.append(np.where(moved, rng.integers(0, subjects + 100, items), truth))
    chance = [Fraction(1)] if partitions == 1 else [Fraction(1, 3), Fraction(2, 3)]
    named = [([f"c{k:04}" for k in guess.tolist()], p) for guess, p in zip(guesses, chance, strict=True)]
    case = case_of([f"s{k:04}" for k in truth.tolist()], *named)
    dice = random.Random(seed)  # noqa: S311
    shares = [Fraction(k, 6) for k in range(7)] + [Fraction(4, 5), Fraction(9, 10)]
    return case.but(
        alpha=[dice.choice(shares) for _ in case.subjects],
        beta=[dice.choice(shares) for _ in case.subjects],
        contamination=[dice.random() < 0.3 for _ in case.subjects],
    )


@pytest.mark.unwatched
def test_a_large_view_is_compiled_and_agrees_with_the_definition() -> None:
    case = large_case(1, partitions=2, items=11_000)
    assert case.n > _compile.PLAIN_UP_TO
    assert_agrees(case, Form(named_items=True, shuffle_seed=3))


@pytest.mark.unwatched
def test_a_large_weighted_partition_agrees_with_the_definition() -> None:
    case = large_case(2, partitions=1, items=12_000)
    assert case.n > _compile.PLAIN_UP_TO
    dice = random.Random(2)  # noqa: S311
    own = {(dice.choice(case.subjects), dice.randrange(case.n)): Fraction(dice.randrange(5), 4) for _ in range(2_000)}
    own |= {(case.truth[item], item): Fraction(dice.randrange(5), 4) for item in range(0, case.n, 3)}
    assert_agrees(case.but(own_weights=own, at_breach="limit"))


@pytest.mark.unwatched
def test_plain_and_compiled_loops_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    small = large_case(3, partitions=2, items=3_000)
    small = small.but(item_weights={item: Fraction(item % 7, 10) for item in range(small.n)})
    plain = measured(small)
    assert small.n <= _compile.PLAIN_UP_TO
    monkeypatch.setattr(_compile, "PLAIN_UP_TO", 0)
    compiled = measured(small)
    for name in ("miss", "include", "linked", "mixed", "breached", "merges", "risk_slope", "others", "graph_start"):
        np.testing.assert_allclose(getattr(compiled, name), getattr(plain, name), rtol=0, atol=1e-14, err_msg=name)
    np.testing.assert_allclose(compiled.overall.linked, plain.overall.linked, rtol=0, atol=1e-14)
    assert compiled.overall.risk_slope == pytest.approx(plain.overall.risk_slope, abs=1e-14)

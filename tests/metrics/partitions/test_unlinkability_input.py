"""Input that cannot be used gets one clear sentence; input at the edge gets a defined answer."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics.partitions.unlinkability import Unlinkability, unlinkability

ITEMS = ["i0", "i1", "i2", "i3", "i4"]
TRUTH = Partition.from_labels(["ann", "ann", "ann", "bob", "bob"], items=ITEMS)
GUESS = Partition.from_labels("xxyyy", items=ITEMS)
UNNAMED_TRUTH, UNNAMED_GUESS = Partition.from_labels("aaabb"), Partition.from_labels("xxyyy")
#: What a message must never hold: it stands for a name or a value from the data.
PRIVATE = "Zaphod"

NO_SHARE: list[Any] = [-0.1, 1.1, "1.0000001", "-1/3", Fraction(4, 3), float("nan"), float("inf"), "nan", "a half"]
NO_SHARE += ["1/0", "", None, 1j, [], [0.5], [0.5] * 3, [0.5, 1.5], [0.5, float("nan")], [0.5, "x"], [0.5, None]]
NO_SHARE += [[[0.5], [0.5]], [[0.5, 0.5], [0.5, 0.5]], np.array([[0.5, 0.5]]), np.array([0.5]), (0.5,)]
NO_SHARE += [
    {},
    {"ann": 0.5},
    {"ann": 0.5, "bob": 0.5, PRIVATE: 0.5},
    {"ann": 0.5, PRIVATE: 0.5},
    {"ann": 2, "bob": 0.5},
]


def refused(call: Callable[[], object], *words: str) -> None:
    """Check that the call is refused in one sentence plus what to do, which holds the words and nothing private."""
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    assert PRIVATE not in message
    assert "\n" not in message
    assert len(message.split()) >= 6
    for word in words:
        assert word in message


@pytest.mark.parametrize("value", NO_SHARE, ids=repr)
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_alpha_and_beta_must_be_a_share_for_each_subject(name: str, value: Any) -> None:
    refused(lambda: unlinkability(GUESS, TRUTH, **{name: value}), name)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "a half", [0.5, 0.5], {"ann": 0.5, "bob": 0.5}], ids=repr)
@pytest.mark.parametrize("name", ["overall_alpha", "overall_beta"])
def test_the_overall_policy_must_be_one_share(name: str, value: Any) -> None:
    refused(lambda: unlinkability(GUESS, TRUTH, **{name: value}), name)


@pytest.mark.parametrize(
    "value",
    ["yes", 2, 0.5, None, [True], [True] * 3, [True, "no"], [True, 2], {"ann": True}, {"ann": True, PRIVATE: True}],
    ids=repr,
)
def test_contamination_must_be_true_or_false_for_each_subject(value: Any) -> None:
    refused(lambda: unlinkability(GUESS, TRUTH, contamination_desirable=value), "contamination_desirable")


@pytest.mark.parametrize(
    "value",
    [
        [],
        [1] * 4,
        [1] * 6,
        [1, 1, 1, 1, 1.5],
        [1, 1, -0.1, 1, 1],
        [1, 1, float("nan"), 1, 1],
        [1, 1, float("inf"), 1, 1],
        [1, 1, PRIVATE, 1, 1],
        [1, 1, None, 1, 1],
        np.ones((5, 2)),
        0.5,
        PRIVATE,
        {"i0": 2},
        {"i0": -1},
        {"i0": float("nan")},
        {"i0": PRIVATE},
        {PRIVATE: 1},
        {"i0": 1, PRIVATE: 1},
        {0: 1},
        {("ann", "i0"): 1.5},
        {("ann", PRIVATE): 1},
        {(PRIVATE, "i0"): 1},
        {("ann", "i0"): 1, (PRIVATE, "i0"): 1},
        {("ann", "i0"): 1, "i1": 1},
        {("ann", "i0", "i1"): 1},
    ],
    ids=repr,
)
def test_weights_must_be_shares_for_items_of_the_truth(value: Any) -> None:
    refused(lambda: unlinkability(GUESS, TRUTH, weights=value), "weight")


@pytest.mark.parametrize("value", [{5: 1}, {-1: 1}, {"0": 1}, {("a", 5): 1}, {("c", 0): 1}], ids=repr)
def test_items_without_names_are_known_by_their_position(value: Any) -> None:
    refused(lambda: unlinkability(UNNAMED_GUESS, UNNAMED_TRUTH, weights=value), "weight")


@pytest.mark.parametrize("value", ["", "Weight", "size", None, 1], ids=repr)
@pytest.mark.parametrize("name", ["norm", "at_breach"])
def test_unknown_choices_are_refused(name: str, value: Any) -> None:
    refused(lambda: unlinkability(GUESS, TRUTH, **{name: value}), name)


def test_guess_and_truth_must_divide_the_same_items() -> None:
    refused(lambda: unlinkability(Partition.from_labels("xxyy"), UNNAMED_TRUTH), "4", "5")
    other = Partition.from_labels("xxyyy", items=[*ITEMS[:4], PRIVATE])
    refused(lambda: unlinkability(other, TRUTH), "1 of 5")
    view = View([Partition.from_labels("xxyy"), Partition.from_labels("xyyy")], ["1/2", "1/2"])
    refused(lambda: unlinkability(view, UNNAMED_TRUTH), "4", "5")


def test_labels_are_not_yet_a_partition() -> None:
    refused(lambda: unlinkability("xxyyy", UNNAMED_TRUTH), "Partition")  # type: ignore[arg-type]
    refused(lambda: unlinkability(UNNAMED_GUESS, list("aaabb")), "Partition")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, 1, 1.0, "1/3", "0.25", Fraction(2, 7), np.float64(0.5), np.int64(1)], ids=repr)
def test_a_share_may_be_written_in_many_ways(value: Any) -> None:
    exact = float(Fraction(value)) if isinstance(value, str) else float(value)
    result = unlinkability(GUESS, TRUTH, alpha=value, beta=value)
    assert result.alpha.tolist() == [exact, exact]
    assert result.beta.tolist() == [exact, exact]
    assert (result.overall.alpha, result.overall.beta) == (exact, exact)


def test_no_named_weights_means_that_everything_weighs_one() -> None:
    plain = unlinkability(GUESS, TRUTH)
    for weights in ({}, [1] * 5, {"i0": 1}, {("ann", "i4"): 1.0}):
        weighed = unlinkability(GUESS, TRUTH, weights=weights)
        assert weighed.include.tolist() == plain.include.tolist()
        assert weighed.linked.tolist() == plain.linked.tolist()
        assert weighed.mixed.tolist() == plain.mixed.tolist()


def test_weights_of_zero_leave_defined_shares() -> None:
    result = unlinkability(GUESS, TRUTH, weights=[0] * 5)
    assert not result.error.any()
    assert (result.linked == 1).all()
    assert (result.mixed == 0).all()
    assert result.breached.all()
    literal = unlinkability(GUESS, TRUTH, weights=[0] * 5, norm="literal")
    assert (literal.linked == 1).all()
    assert (literal.mixed == 0).all()


def all_finite(result: Unlinkability, *but: str) -> None:
    for name in ("related", "miss", "include", "error", "normalized_error", "linked0", "mixed0", "merges", "others"):
        assert np.isfinite(getattr(result, name)).all() != (name in but), name


def test_one_item() -> None:
    one = Partition.from_labels(["only"])
    result = unlinkability(one, one)
    all_finite(result, "normalized_error")
    assert (result.n, result.size[0], result.related[0]) == (1, 1, 1)
    assert (result.miss[0], result.include[0], result.others[0]) == (0, 0, 0)
    assert (result.linked.tolist(), result.mixed.tolist(), result.breached.tolist()) == ([1], [0], [True])
    assert np.isnan([result.normalized_error[0], result.risk_slope[0], result.others_evenness[0]]).all()
    assert np.isnan([result.overall.normalized_error, result.overall.risk_slope]).all()
    assert (result.overall.kind, result.overall.linked.tolist()) == ("neutral", [1])


def test_one_subject_that_is_everybody() -> None:
    result = unlinkability(Partition.from_labels("xxyzw"), Partition.from_labels("aaaaa"))
    all_finite(result)
    assert (result.miss[0], result.include[0], result.related[0]) == (3, 0, 4)
    assert result.graphs(0)[1].tolist() == [0, 0, 0, 0]
    assert result.overall.kind == "conservative"


def test_one_cluster_of_the_adversary() -> None:
    result = unlinkability(Partition.from_labels("xxxxx"), Partition.from_labels("aaabb"))
    all_finite(result)
    assert (result.miss.tolist(), result.include.tolist()) == ([0, 0], [2, 3])
    assert result.breached.all()
    assert (result.mixed0.tolist(), result.others.tolist()) == ([1, 1], [1, 1])
    assert (result.overall.kind, result.overall.linked.tolist()) == ("liberal", [1])


def test_all_singletons() -> None:
    alone, truth = Partition.from_labels("vwxyz"), Partition.from_labels("aaabb")
    result = unlinkability(alone, truth)
    all_finite(result)
    assert (result.miss.tolist(), result.include.tolist(), result.related.tolist()) == ([2, 1], [0, 0], [3, 2])
    assert result.merges == pytest.approx([1.4, 0.6], abs=1e-12)
    reverse = unlinkability(truth, alone)
    assert (reverse.miss.tolist(), reverse.include.tolist()) == ([0] * 5, [2, 2, 2, 1, 1])
    assert reverse.breached.all()


@pytest.mark.parametrize("beta", [0, 1])
def test_the_ends_of_beta(beta: int) -> None:
    result = unlinkability(UNNAMED_GUESS, UNNAMED_TRUTH, beta=beta)
    assert result.breached.tolist() == ([True, True] if beta == 0 else [False, True])
    assert result.merges.tolist() == ([0, 0] if beta == 0 else [1, 0])


@pytest.mark.parametrize("tiny", ["1/" + "1" + "0" * 20, Fraction(1, 10**400)])
def test_an_alpha_far_below_every_float_costs_what_it_is(tiny: Any) -> None:
    # Nobody misses anything and nobody is taken for another, which made the prices small and the integers large.
    same = unlinkability(TRUTH, TRUTH, alpha=tiny)
    assert same.miss.tolist() == [0.0, 0.0]
    near = unlinkability(GUESS, TRUTH, alpha=tiny)
    zero = unlinkability(GUESS, TRUTH, alpha=0)
    assert near.include.tolist() == zero.include.tolist()


def test_a_number_of_400_digits_is_refused_in_a_sentence() -> None:
    refused(lambda: unlinkability(GUESS, TRUTH, alpha=10**400), "alpha is above that; it must be between 0 and 1")
    refused(lambda: unlinkability(GUESS, TRUTH, weights=[10**400] * 5), "weight", "1/8")


def test_a_weight_may_be_written_as_a_fraction() -> None:
    written = unlinkability(GUESS, TRUTH, weights=["1/8", "1", "0.5", "1", "1"])  # type: ignore[list-item]
    assert written.miss.tolist() == unlinkability(GUESS, TRUTH, weights=[0.125, 1, 0.5, 1, 1]).miss.tolist()


@pytest.mark.parametrize(
    ("weights", "advice"),
    [
        ([1, 2, 4, 1, 1], "Divide all by the largest"),
        ([1, -1, 4, 1, 1], "Write 0 for items to ignore"),
        ([1, float("nan"), 1, 1, 1], "Write 0 for items to ignore"),
        ([1, float("inf"), 1, 1, 1], "Write 0 for items to ignore"),
    ],
)
def test_the_advice_on_weights_fits_what_is_wrong(weights: list[float], advice: str) -> None:
    refused(lambda: unlinkability(GUESS, TRUTH, weights=weights), advice)

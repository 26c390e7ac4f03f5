"""Cracks against a list of all matchings in fractions; sampled ones against exact ones; and what is refused."""

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from fractions import Fraction
from math import isnan
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles import cracks as oracle
from unveil._kernels.matching import block_answer, glynn_cracks, subsets
from unveil.errors import InputError
from unveil.guesses.matching import Matching
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.metrics import METRICS
from unveil.metrics.matchings.cracks import SHARES, Cracks, EstimatedValue, crack_probability, cracks, expected_cracks
from unveil.metrics.matchings.degree_of_anonymity import degree_of_anonymity, permanent_degree
from unveil.metrics.matchings.heuristic import heuristic_cracks, matched_bias
from unveil.metrics.matchings.set_cracks import set_cracks

Rows = list[list[Fraction]]
HOSPITAL = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]


def floats(matrix: Rows) -> NDArray[np.float64]:
    return np.array([[float(cell) for cell in row] for row in matrix])


def measured(guess: Any, truth: Any, **settings: Any) -> Cracks:
    attack = guess if isinstance(guess, (Matching, MatchingDistribution)) else Matching.from_matrix(guess)
    return cracks(attack, truth, rng=np.random.default_rng(1), **settings)


def listed(matchings: Any, probability: Any) -> MatchingDistribution:
    return MatchingDistribution(np.array(matchings), np.array(probability))


def close(figure: EstimatedValue, value: float) -> bool:
    """Whether an exact figure is this value, up to the error that it admits and a little rounding of the test."""
    return figure.exact and abs(figure.value - value) <= figure.error + 1e-12 * (1 + abs(value))


# --- against enumeration ----------------------------------------------------------------------------------------------


@st.composite
def attacks(draw: st.DrawFn, largest: int = 6, *, stochastic: bool = False) -> tuple[Rows, list[int], list[str]]:
    """Matrix, truth (perhaps ruled out) and groups."""
    n = draw(st.integers(1, largest))
    matrix = [[Fraction(0)] * n for _ in range(n)]
    parts = draw(st.lists(st.tuples(st.permutations(range(n)), st.integers(1, 9)), min_size=1, max_size=5))
    for columns, weight in parts:
        for row, column in enumerate(columns):
            matrix[row][column] += Fraction(weight, sum(part for _, part in parts))
    if not stochastic:
        for row, column, weight in draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2, st.integers(1, 50)))):
            matrix[row][column] += Fraction(weight, 10)
    groups = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    return matrix, draw(st.permutations(range(n))), groups


def agrees(found: Cracks, chances: oracle.Chances, truth: list[int], groups: list[str]) -> None:
    n = len(truth)
    assert close(found.expected_cracks, float(oracle.expected(chances, truth)))
    assert close(found.cracked_share, float(oracle.expected(chances, truth)) / n)
    assert close(found.d, oracle.degree(chances, n))
    table = np.array(oracle.marginals(chances, n), float)
    np.testing.assert_allclose(found.marginals().toarray(), table, atol=1e-12)
    np.testing.assert_allclose(found.crack_probability, table[np.arange(n), truth], atol=1e-12)
    exact = [float(chance) for chance in oracle.distribution(chances, truth)]
    np.testing.assert_allclose(found.crack_distribution, exact, atol=1e-12)
    assert found.crack_distribution.size == n + 1
    for quantile in found.quantiles:
        # Either side of a tie may be meant by a rounded probability.
        sides = {oracle.at_least(chances, truth, Fraction(quantile.probability) + step) for step in (-EPSILON, EPSILON)}
        assert quantile.at_least == quantile.low == quantile.high
        assert quantile.at_least in sides
    assert found.groups is not None
    sets = oracle.set_cracks(chances, truth, groups)
    assert [category.name for category in found.groups.categories] == sorted(sets)
    for category in found.groups.categories:
        assert close(category.expected, float(sets[category.name]))
        assert category.size == groups.count(category.name)
        assert category.by_chance == pytest.approx(category.size**2 / n)
        own = [k for k in range(n) if groups[k] == category.name]
        assert category.items_cracked.value == pytest.approx(found.crack_probability[own].sum(), abs=1e-12)
    assert close(found.groups.expected, float(sum(sets.values())))
    assert found.groups.probability.sum() == pytest.approx(found.groups.expected.value)
    assert (found.groups.probability >= found.crack_probability - 1e-12).all()
    assert not found.crack_probability_error.any()
    assert not found.groups.probability_error.any()


EPSILON = Fraction(1, 10**10)


@settings(max_examples=22, deadline=None)
@given(attacks())
def test_a_matrix_agrees_with_the_list_of_its_matchings(case: tuple[Rows, list[int], list[str]]) -> None:
    matrix, truth, groups = case
    found = measured(floats(matrix), truth, groups=groups)
    chances = oracle.chances(matrix)
    agrees(found, chances, truth, groups)
    assert np.exp(found.log_permanent.value) == pytest.approx(float(oracle.permanent(matrix)), rel=1e-10)
    agrees(measured(sp.csr_array(floats(matrix)), truth, groups=groups), chances, truth, groups)


@settings(max_examples=24, deadline=None)
@given(attacks())
def test_listed_matchings_agree_with_themselves(case: tuple[Rows, list[int], list[str]]) -> None:
    matrix, truth, groups = case
    chances = oracle.chances(matrix)
    # Any distribution at all, not only those that a matrix has.
    share = {columns: chance**2 for columns, chance in chances.items()}
    chances = {columns: weight / sum(share.values()) for columns, weight in share.items()}
    found = measured(listed(list(chances), [float(p) for p in chances.values()]), truth, groups=groups)
    agrees(found, chances, truth, groups)
    assert found.permanent is None
    for figure in (found.log_permanent, found.d_by_permanent, found.heuristic, found.matched_bias):
        assert isnan(figure.value)
        assert figure.method == "listed matchings"


@settings(max_examples=24, deadline=None)
@given(attacks(stochastic=True))
def test_the_heuristic_and_its_bias(case: tuple[Rows, list[int], list[str]]) -> None:
    matrix, truth, _ = case
    found = measured(floats(matrix), truth)
    assert close(found.heuristic, float(oracle.heuristic(matrix, truth)))
    assert close(found.matched_bias, float(oracle.matched_bias(matrix, oracle.chances(matrix))))
    assert found.groups is None


@pytest.mark.unwatched
def test_seven_and_eight_rows_too() -> None:
    rng = np.random.default_rng(7)
    for n in (7, 8):
        # One number per matrix is enough for the oracle: it goes through n! matchings.
        matrix = [
            [Fraction(int(cell)) for cell in row] for row in rng.integers(0, 4, (n, n)) + 3 * np.eye(n, dtype=int)
        ]
        truth = rng.permutation(n).tolist()
        agrees(measured(floats(matrix), truth, groups=["a", "b"] * (n // 2) + ["a"] * (n % 2)),
               oracle.chances(matrix), truth, ["a", "b"] * (n // 2) + ["a"] * (n % 2))  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(attacks(), st.data())
def test_factors_of_rows_and_columns_and_the_order_of_rows_change_nothing(
    case: tuple[Rows, list[int], list[str]], data: st.DataObject
) -> None:
    matrix, truth, groups = case
    n = len(truth)
    factor = st.lists(st.sampled_from([1e-3, 1.0, 7.0, 1e5]), min_size=n, max_size=n)
    row, column = np.array(data.draw(factor)), np.array(data.draw(factor))
    order = np.array(data.draw(st.permutations(range(n))))
    first = measured(floats(matrix) / floats(matrix).sum(), truth, groups=groups)
    other = measured(
        (floats(matrix) * row[:, None] * column)[order], np.array(truth)[order], groups=[groups[k] for k in order]
    )
    for name in ("d", "d_by_permanent", "expected_cracks", "heuristic", "matched_bias"):
        assert getattr(other, name).value == pytest.approx(getattr(first, name).value, abs=1e-9), name
    np.testing.assert_allclose(other.crack_probability, first.crack_probability[order], atol=1e-11)
    np.testing.assert_allclose(other.crack_distribution, first.crack_distribution, atol=1e-11)


# --- extremes ---------------------------------------------------------------------------------------------------------


def test_one_entry() -> None:
    for guess in (Matching.from_matrix([[1e-300]]), listed([[0]], [1.0])):
        found = measured(guess, [0], groups=["only"])
        assert (found.n, found.d.value, found.expected_cracks.value) == (1, 0, 1)
        assert found.crack_distribution.tolist() == [0, 1]
        assert [quantile.at_least for quantile in found.quantiles] == [1] * 4
        assert found.groups is not None
        assert found.groups.expected.value == 1
    assert measured([[1e-300]], [0]).heuristic.value == 1
    assert measured([[1e-300]], [0]).matched_bias.value == 0
    assert permanent_degree(Matching.from_matrix([[2.0]])).value == 0


def test_who_knows_nothing_expects_one_crack_and_full_anonymity() -> None:
    found = measured(np.ones((200, 200)), np.arange(200), groups=np.arange(200) % 2)
    assert found.d.value == pytest.approx(1, rel=1e-12)
    assert found.d_by_permanent.value == pytest.approx(1, rel=1e-9)
    assert found.expected_cracks.value == pytest.approx(1)
    assert found.heuristic.value == pytest.approx(1)
    assert found.groups is not None
    assert found.groups.expected.value == pytest.approx(found.groups.by_chance) == 100


def test_who_knows_all_cracks_all() -> None:
    found = measured(np.eye(50)[::-1], np.arange(50)[::-1])
    assert (found.d.value, found.d_by_permanent.value, found.permanent) == (0, 0, 1)
    assert found.expected_cracks.value == found.heuristic.value == 50
    assert (found.crack_probability == 1).all()


def test_tiny_weights_lose_nothing() -> None:
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 1.0, 1.0], [1.0, 5.0, 2.0]])
    plain, tiny = measured(weights, [0, 1, 2]), measured(weights * 1e-300, [0, 1, 2])
    assert tiny.log_permanent.value == pytest.approx(plain.log_permanent.value - 900 * np.log(10), rel=1e-14)
    for name in ("d", "expected_cracks", "heuristic", "matched_bias"):
        assert getattr(tiny, name).value == pytest.approx(getattr(plain, name).value, rel=1e-9)
    mixed = measured([[1, 1e-300], [1, 1]], [1, 0])
    assert mixed.crack_probability.tolist() == [pytest.approx(1e-300), pytest.approx(1e-300)]
    assert 0 <= mixed.d.value < 1e-12


def test_a_truth_that_the_attack_rules_out_has_an_answer_and_a_sentence() -> None:
    found = measured(HOSPITAL, [0, 1, 2, 3, 4])
    assert found.notes == ("3 true matches have the value 0 in the matrix: the attacker rules out the truth.",)
    assert found.crack_distribution[5] == 0
    assert found.expected_cracks.value == pytest.approx(float(oracle.expected(oracle.chances(HOSPITAL), range(5))))
    assert "in no perfect matching" in measured([[1, 1], [0, 1]], [1, 0]).notes[-1]
    other = measured(listed([[0, 1, 2]], [1.0]), [0, 2, 1])
    assert other.notes == ("The truth is not among the matchings: the attacker excludes it.",)
    assert other.expected_cracks.value == 1
    assert measured(HOSPITAL, [2, 3, 4, 0, 1]).notes == ()


def test_at_least_any_probability() -> None:
    found = measured(HOSPITAL, [2, 3, 4, 0, 1])
    assert tuple(quantile.probability for quantile in found.quantiles) == SHARES
    assert [found.at_least(share).at_least for share in (1, 0.99, 14 / 18, 0.4, 5 / 18, 1 / 18, 1e-9)] == [
        0, 0, 1, 2, 3, 5, 5,
    ]  # fmt: skip
    for share in (0, -0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="it must be above 0 and at most 1"):
            found.at_least(share)


# --- names, groups and what is refused --------------------------------------------------------------------------------


def test_names_of_entries_tokens_and_groups() -> None:
    guess = Matching.from_matrix(
        [[1, 1, 0], [1, 1, 1], [0, 1, 1]], items=["Flu", "Cold", "3"], pseudonyms=["u", "v", "w"]
    )
    truth = {"3": "w", "Flu": "v", "Cold": "u"}
    found = measured(guess, truth, groups={"Cold": "x\n$", "3": "ä", "Flu": "x\n$"})
    assert found.truth.tolist() == [1, 0, 2]
    assert found.groups is not None
    assert [(one.name, one.size) for one in found.groups.categories] == [("x\n$", 2), ("ä", 1)]
    by_number = measured(np.asarray(guess.matrix), [1, 0, 2], groups={0: "x", 1: "x", 2: "y"})
    assert by_number.groups is not None
    assert by_number.groups.expected == found.groups.expected
    alone = set_cracks(guess, truth, groups=["x", "x", "y"], rng=np.random.default_rng(1))
    assert alone.expected == found.groups.expected


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"], "groups has 1 values for 2 items"),
        ("ab", "groups has 2 values for 2 items"),
        ({"Flu": "a", "Secret": "b"}, "groups has 1 of 2 names that are not items of the attack"),
        ({"Flu": "a"}, r"item 2 \(counted from 1\) has no group; such items: 1"),
        (["a", None], r"item 2 \(counted from 1\) has no group; such items: 1"),
        ([float("nan"), 1], r"item 1 \(counted from 1\) has no group; such items: 1"),
    ],
)
def test_groups_that_do_not_fit_are_refused(groups: Any, message: str) -> None:
    guess = Matching.from_matrix([[1, 1], [1, 1]], items=["Flu", "Cold"])
    with pytest.raises(InputError, match=message) as refusal:
        measured(guess, [0, 1], groups=groups)
    assert "Secret" not in str(refusal.value)


@pytest.mark.parametrize("truth", [[0, 0], [0], [0, 2], {"Flu": "u"}, [0.5, 1], [-1, 0]])
def test_a_truth_that_is_no_bijection_is_refused(truth: Any) -> None:
    for guess in (Matching.from_matrix([[1, 1], [1, 1]]), listed([[0, 1], [1, 0]], [0.5, 0.5])):
        with pytest.raises(InputError):
            measured(guess, truth)


def test_nothing_given_is_changed_and_nothing_found_can_be() -> None:
    matrix, truth = np.array(HOSPITAL, float), np.array([2, 3, 4, 0, 1])
    found = measured(matrix, truth)
    assert matrix.tolist() == HOSPITAL
    assert truth.tolist() == [2, 3, 4, 0, 1]
    with pytest.raises(ValueError, match="read-only"):
        found.crack_probability[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        found.crack_distribution[0] = 1
    with pytest.raises(FrozenInstanceError):
        found.n = 3  # type: ignore[misc]
    changed = found.marginals()
    changed.data[:] = 0
    assert found.marginals().sum() == pytest.approx(5)


# --- listed metrics ---------------------------------------------------------------------------------------------------


def test_listed_metrics_say_what_cracks_says() -> None:
    guess, truth, rng = Matching.from_matrix(HOSPITAL), [2, 3, 4, 0, 1], np.random.default_rng(1)
    found = measured(guess, truth)
    assert degree_of_anonymity(guess, rng=rng).value == found.d.value
    assert permanent_degree(guess) == found.d_by_permanent
    assert expected_cracks(guess, truth, rng=rng) == found.expected_cracks
    assert heuristic_cracks(guess, truth) == found.heuristic
    assert matched_bias(guess, rng=rng) == found.matched_bias
    np.testing.assert_array_equal(crack_probability(guess, truth, rng=rng), found.crack_probability)
    both = MatchingDistribution.from_matching(guess)
    assert degree_of_anonymity(both, rng=rng).value == pytest.approx(found.d.value, rel=1e-13)
    assert METRICS["expected_cracks"].on == "Matching | MatchingDistribution"
    assert METRICS["degree_of_anonymity"].more_means == "more private"
    assert not METRICS["degree_of_anonymity"].needs_truth


# --- where matchings must be drawn ------------------------------------------------------------------------------------


@pytest.fixture
def only_worms(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every block be sampled, however small."""
    for name, value in (("BY_SUBSETS", 0), ("LARGEST_MARGINALS", 0)):
        monkeypatch.setattr(block_answer, name, value)
    monkeypatch.setattr(block_answer, "feasible_plan", lambda _: None)
    monkeypatch.setattr(block_answer, "is_even", lambda _: False)
    yield
    monkeypatch.undo()


def figures(found: Cracks) -> dict[str, EstimatedValue]:
    assert found.groups is not None
    return {
        "d": found.d,
        "expected_cracks": found.expected_cracks,
        "matched_bias": found.matched_bias,
        "set_cracks": found.groups.expected,
        "one_set": found.groups.categories[0].expected,
    }


def uneven(spread: float) -> Matching:
    return Matching(np.exp(spread * np.random.default_rng(5).standard_normal((12, 12))))


GROUPS = ["a", "b", "c", "d"] * 3
EXACT = {spread: measured(uneven(spread), np.arange(12), groups=GROUPS) for spread in (1.0, 3.0)}


@pytest.mark.unwatched
@pytest.mark.usefixtures("only_worms")
@pytest.mark.parametrize("spread", EXACT)
def test_error_bars_are_honest(spread: float) -> None:
    guess, exact = uneven(spread), EXACT[spread]
    drawn = [
        cracks(guess, np.arange(12), groups=GROUPS, rng=np.random.default_rng(seed), precision=0.05)
        for seed in range(30)
    ]
    for name, truly in figures(exact).items():
        assert truly.exact
        each = [figures(found)[name] for found in drawn]
        assert {(figure.kind, "worm" in figure.method) for figure in each} == {("sampled", True)}
        far = np.array([(figure.value - truly.value) / figure.error for figure in each])
        assert np.abs(far).max() < 4.5, name
        assert np.mean(np.abs(far) > 2) <= 0.15, name
        assert 0.2 < np.sqrt((far**2).mean()) < 1.5, name
    missed = 0
    for found in drawn:
        assert found.r_hat < 1.05
        assert found.expected_cracks.r_hat == found.r_hat
        assert found.crack_distribution_method == "worm"
        assert found.groups is not None
        assert (found.groups.probability_error > 0).all()
        for quantile, truly_at in zip(found.quantiles, exact.quantiles, strict=True):
            assert quantile.low <= quantile.at_least <= quantile.high
            missed += not quantile.low <= truly_at.at_least <= quantile.high
    assert missed <= 0.05 * len(drawn) * len(SHARES)  # two standard errors hold 95 %


def test_large_and_dense_says_that_it_was_sampled() -> None:
    matrix = np.exp(np.random.default_rng(3).standard_normal((60, 60)))
    found = measured(matrix, np.arange(60), groups=np.arange(60) % 3)
    assert (found.log_permanent.kind, found.log_permanent.method) == ("sampled", "annealing")
    assert found.log_permanent.low <= found.log_permanent.value <= found.log_permanent.high
    assert found.permanent is None
    assert found.d.kind == "sampled"
    assert found.d.low <= found.d.value <= found.d.high
    assert 10 * found.d.error < found.d.high - found.d.low
    assert (found.expected_cracks.kind, found.expected_cracks.method) == ("sampled", "worm")
    assert 0 < found.expected_cracks.error < 0.05
    assert found.heuristic.exact
    again = measured(matrix, np.arange(60), groups=np.arange(60) % 3)
    assert again.expected_cracks == found.expected_cracks  # the same generator, the same answer
    assert isnan(found.heuristic.r_hat)


def test_where_only_the_distribution_is_drawn_the_rest_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    matrix = np.exp(2 * rng.standard_normal((17, 17)))
    whole = measured(matrix, np.arange(17))
    monkeypatch.setattr(subsets, "LARGEST_CRACKS", 0)
    monkeypatch.setattr(glynn_cracks, "LARGEST", 0)
    found = measured(matrix, np.arange(17))
    assert found.crack_distribution_method == "worm"
    assert (found.crack_distribution_error > 0).all()
    assert found.expected_cracks == whole.expected_cracks
    assert found.d == whole.d
    assert np.abs(found.crack_distribution - whole.crack_distribution).max() < 0.05
    assert all(
        one.low <= other.at_least <= one.high for one, other in zip(found.quantiles, whole.quantiles, strict=True)
    )

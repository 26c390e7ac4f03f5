"""Scores of two profiles, against urns and densities by definition and the worked numbers."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import linking
from unveil.attacks.link._profiles import NumberBlock, Profiles, ValueColumn, counted, normal_scores, profiles_of
from unveil.attacks.link._training import _value_model
from unveil.attacks.link.score import Exclusion, ScoreModel, Tempering, TwoCovariance, Urn
from unveil.data.histories import HistoryColumn, ReleasedHistory

LETTERS = "abc"
WEIGHTS = {"a": 0.5, "b": 0.25, "c": 0.25}


def column_of(items: list[str], weights: dict[str, float] | None = None) -> ValueColumn:
    weights = weights or WEIGHTS
    item = np.repeat(np.arange(len(items)), [len(each) for each in items])
    value = np.array([LETTERS.index(letter) for each in items for letter in each], np.int32)
    total = sum(weights.values())
    return counted("letter", item, value, len(items), np.array([weights[each] / total for each in LETTERS]))


def profiles(items: list[str], weights: dict[str, float] | None = None) -> Profiles:
    return Profiles(values=(column_of(items, weights),), numbers=(), items=len(items))


def scores(ones: list[str], others: list[str]) -> np.ndarray:
    return ScoreModel(values=(Urn(1.0),), numbers=()).scores(profiles(ones), profiles(others))


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [("a", "a", 3 / 2), ("c", "c", 5 / 2), ("a", "b", 1 / 2), ("aab", "ab", 5 / 2), ("aa", "cc", 1 / 6)],
)
def test_the_urn_has_the_worked_factors(one: str, other: str, factor: float) -> None:
    assert scores([one], [other])[0, 0] == pytest.approx(log(factor), abs=1e-9)


words = st.lists(st.text(LETTERS, max_size=4), min_size=1, max_size=5)


@given(words, words, st.floats(0.05, 30))
def test_urns_agree_with_drawing_balls(ones: list[str], others: list[str], alpha: float) -> None:
    model = ScoreModel(values=(Urn(alpha),), numbers=())
    weights = {key: alpha * weight for key, weight in WEIGHTS.items()}
    left, right = profiles(ones), profiles(others)
    expected = np.array([[linking.urn_score(one, other, weights) for other in others] for one in ones])
    found = model.scores(left, right)
    assert found == pytest.approx(expected, abs=1e-7)
    assert model.scores(right, left) == pytest.approx(found.T, abs=1e-9)
    row, column = (each.ravel() for each in np.indices(found.shape))
    assert model.pair_scores(left, right, row, column) == pytest.approx(found.ravel(), abs=1e-9)


@given(words, words, st.data())
def test_clusters_score_as_their_summed_counts(ones: list[str], others: list[str], data: st.DataObject) -> None:
    owner = np.array([data.draw(st.integers(0, 2)) for _ in others])
    owner = np.unique(owner, return_inverse=True)[1]
    model = ScoreModel(values=(Urn(1.3),), numbers=())
    joined = [
        "".join(word for word, label in zip(others, owner, strict=True) if label == each)
        for each in range(owner.max() + 1)
    ]
    assert model.scores(profiles(ones), profiles(others), owner=owner) == pytest.approx(
        scores_of(model, ones, joined), abs=1e-9
    )
    assert model.scores(profiles(ones), profiles(others).merged(owner)) == pytest.approx(
        scores_of(model, ones, joined), abs=1e-9
    )


def scores_of(model: ScoreModel, ones: list[str], others: list[str]) -> np.ndarray:
    return model.scores(profiles(ones), profiles(others))


def block(items: list[list[float]]) -> Profiles:
    sums, records = np.array([[sum(each)] for each in items], float), np.array([len(each) for each in items])
    return Profiles(values=(), numbers=(NumberBlock("x", ("x",), sums, records, None),), items=len(items))


@pytest.mark.parametrize(
    ("one", "other", "between", "expected"),
    [([1.0], [1.0], 0.5, 0.4771744), ([1.0], [-1.0], 0.5, -0.8561590), ([1.0, 0.5], [1.0, 0.0, 0.2], 0.6, 0.5379798)],
)
def test_numbers_have_the_worked_scores(one: list[float], other: list[float], between: float, expected: float) -> None:
    assert linking.number_score(one, other, between, 1 - between) == pytest.approx(expected, abs=5e-8)
    model = ScoreModel(values=(), numbers=(TwoCovariance.of(np.array([[between]]), np.eye(1)),))
    assert model.scores(block([one]), block([other]))[0, 0] == pytest.approx(expected, abs=5e-8)


@given(st.integers(1, 3), st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_correlated_numbers_agree_with_their_joint_density(columns: int, seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = (rng.normal(size=(columns, columns)) for _ in range(2))
    between, within = left @ left.T + 0.2 * np.eye(columns), right @ right.T + 0.2 * np.eye(columns)
    one, other = rng.normal(size=(n, columns)), rng.normal(size=(m, columns))
    model = TwoCovariance.of(between, between + within)
    if model.ratio.size < columns or (model.ratio > 0.98).any():  # directions left out or cut off
        return
    names = tuple("xyz"[:columns])
    parts = [
        Profiles(
            values=(), numbers=(NumberBlock("x", names, each.sum(axis=0)[None], np.array([len(each)]), None),), items=1
        )
        for each in (one, other)
    ]
    made = ScoreModel(values=(), numbers=(model,))
    expected = linking.covariance_score(one, other, between, within)
    assert made.scores(*parts)[0, 0] == pytest.approx(expected, abs=1e-6)
    assert made.pair_scores(parts[0], parts[1], np.zeros(1, int), np.zeros(1, int))[0] == pytest.approx(
        expected, abs=1e-6
    )


def test_a_missing_number_says_nothing() -> None:
    model = ScoreModel(values=(), numbers=(TwoCovariance.of(np.eye(1) / 2, np.eye(1)),))
    assert model.scores(block([[], [1.0]]), block([[1.0]]))[0, 0] == 0


def test_exclusion_has_the_worked_scores() -> None:
    # Two values that the other item has for certain: two shared values are expected.
    sure = Exclusion(np.full(3, 50.0), 0.02)
    model = ScoreModel(values=(sure,), numbers=())
    found = model.scores(profiles(["ab"]), profiles(["ab", "cc"]))[0]
    assert linking.exclusion_score(2, 0, 0.02) == pytest.approx(1.96)
    assert linking.exclusion_score(2, 1, 0.02) == pytest.approx(-1.952023, abs=5e-7)
    assert found[0] == pytest.approx(linking.exclusion_score(2, 2, 0.02), abs=1e-6)


@given(words, words, st.data())
def test_exclusion_agrees_with_poisson_counts(ones: list[str], others: list[str], data: st.DataObject) -> None:
    ones, others = (["".join(sorted(set(each))) for each in words] for words in (ones, others))
    rate = np.array([data.draw(st.floats(0.01, 3)) for _ in LETTERS])

    def expected(one: str, other: str) -> float:
        return sum(1 - exp(-rate[LETTERS.index(value)] * len(other)) for value in one)

    found = ScoreModel(values=(Exclusion(rate, 0.05),), numbers=()).scores(profiles(ones), profiles(others))
    for i, one in enumerate(ones):
        for j, other in enumerate(others):
            mean = (expected(one, other) + expected(other, one)) / 2
            shared = len(set(one) & set(other))
            slow = linking.exclusion_score(mean, shared, 0.05) if mean else 0.0
            assert found[i, j] == pytest.approx(slow, abs=1e-9)
    row, column = (each.ravel() for each in np.indices(found.shape))
    pairs = ScoreModel(values=(Exclusion(rate, 0.05),), numbers=()).pair_scores(
        profiles(ones), profiles(others), row, column
    )
    assert pairs == pytest.approx(found.ravel(), abs=1e-9)


@given(st.lists(st.floats(-20, 5), min_size=1, max_size=30))
def test_the_temperature_is_the_largest_with_mean_one(scores: list[float]) -> None:
    factor = Tempering(np.array(scores)).temperature()
    if factor > 1e-3:
        assert linking.mean_bayes_factor(scores, factor) <= 1 + 1e-9
    if 1e-3 < factor < 1:
        assert linking.mean_bayes_factor(scores, min(1.0, factor + 1e-3)) > 1 - 1e-6


def test_a_column_twice_has_half_the_temperature() -> None:
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=400)
    once = block([[each] for each in numbers])
    twice = Profiles(values=(), numbers=once.numbers * 2, items=once.items)
    model = TwoCovariance.of(np.eye(1) * 0.8, np.eye(1))
    pairs = np.triu_indices(400, 1)
    single = ScoreModel(values=(), numbers=(model,)).scores(once, once)[pairs]
    double = ScoreModel(values=(), numbers=(model, model)).scores(twice, twice)[pairs]
    assert Tempering(single).temperature() > 0.85
    assert 0.4 < Tempering(double).temperature() < 0.6


def release(codes: list[int], items: list[int], period: list[int]) -> ReleasedHistory:
    column = HistoryColumn("x", codes=np.array(codes, np.int32))
    return ReleasedHistory(
        columns=(column,), item=np.array(items), period=np.array(period), periods=("1", "2")[: max(period) + 1]
    )


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=4, max_size=20), st.permutations(range(4)))
def test_scores_ignore_row_order_and_names_of_values(records: list[tuple[int, int]], names: list[int]) -> None:
    codes, items = [each for each, _ in records] + [0, 1, 2, 3], [item for _, item in records] + [0, 1, 2, 3]
    model = ScoreModel(values=(Urn(0.7),), numbers=())
    plain = profiles_of(release(codes, items, [0, 0, 1, 1]), activity=False)
    renamed = profiles_of(
        release([each if each < 0 else names[each] for each in codes][::-1], items[::-1], [0, 0, 1, 1]), activity=False
    )
    assert model.scores(plain, plain) == pytest.approx(model.scores(renamed, renamed), abs=1e-9)


def test_normal_scores_are_symmetric_and_keep_ties() -> None:
    numbers = np.array([3.0, 1.0, 1.0, 2.0, np.nan])
    found = normal_scores(numbers, np.zeros(5, int))
    assert found[1] == found[2] < found[3] < found[0]
    assert np.isnan(found[4])
    shifted = normal_scores(np.concatenate([numbers, numbers + 100]), np.repeat([0, 1], 5))
    assert np.array_equal(shifted[:5], shifted[5:], equal_nan=True)


def test_a_constant_column_adds_nothing() -> None:
    sure = {"a": 1.0, "b": 0.0, "c": 0.0}
    left, right = profiles(["a", "aaa", ""], sure), profiles(["aa", "a"], sure)
    assert ScoreModel(values=(Urn(0.3),), numbers=()).scores(left, right) == pytest.approx(np.zeros((3, 2)), abs=1e-12)


def test_films_that_nobody_sees_twice_are_scored_by_exclusion() -> None:
    rng = np.random.default_rng(0)
    items, films = 40, 60
    popular = rng.random(films) ** 2
    seen = [rng.choice(films, 20, replace=False, p=popular / popular.sum()) for _ in range(items)]
    frequency = np.bincount(np.concatenate(seen), minlength=films) / (20 * items)
    used = np.flatnonzero(frequency)
    value = np.searchsorted(used, np.concatenate(seen)).astype(np.int32)
    column = counted("film", np.repeat(np.arange(items), 20), value, items, frequency[used])
    model, is_free = _value_model(column)
    assert isinstance(model, Exclusion)
    assert not is_free
    assert model.error == 0.02
    # As many items as seen are expected to have each film.
    having = np.bincount(value)
    below = having < items
    assert (items * -np.expm1(-20 * model.rate))[below] == pytest.approx(having[below], abs=1e-3)

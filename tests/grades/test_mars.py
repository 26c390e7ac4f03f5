"""Regression splines find known functions again, and do what trying everything does."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.oracles import mars as oracle
from unveil.errors import InputError
from unveil.grades.mars import Mars, _distinct, _Growth, _hinges, _MarsSettings, _product, fit_mars

Floats = NDArray[np.float64]


def fitted(columns: dict[str, Any], response: Floats, **settings_: Any) -> Mars:
    return fit_mars(np.column_stack(list(columns.values())), list(columns), response, **settings_)


def grown(features: Floats, response: Floats, most_terms: int, interactions: int = 1) -> list[Floats]:
    """Return the columns of the model after the forward pass."""
    names = [f"x{number}" for number in range(features.shape[1])]
    growth = _Growth(_distinct(features, response), _hinges(features, names, 50))
    return [_product(term, features) for term in growth.grown(_MarsSettings(most_terms, 3, interactions, 0.0, 50))]


def test_a_single_hinge_is_found_again() -> None:
    rng = np.random.default_rng(1)
    size = rng.permutation(np.repeat(np.arange(40.0), 5))
    response = 3 + 0.5 * np.maximum(0, size - 17) + rng.normal(0, 0.01, size.size)
    model = fitted({"size": size, "other": rng.normal(size=size.size)}, response)
    (term,) = model.terms
    assert term.text == "max(0, size - 17)"
    assert term.coefficient == pytest.approx(0.5, abs=0.001)
    assert model.intercept == pytest.approx(3, abs=0.01)
    assert model.r_squared > 0.999
    assert term.importance == pytest.approx(model.r_squared)
    error = ((response - model.predict(np.column_stack([size, size]))) ** 2).mean()
    assert model.gcv == pytest.approx(error / (1 - (2 + 3) / 200) ** 2)
    assert model.rows == 200


def test_hinges_of_two_features_and_an_indicator_are_found_again() -> None:
    rng = np.random.default_rng(2)
    nodes, degree = rng.integers(0, 20, 600) * 100.0, rng.integers(1, 30, 600) / 2
    social = (rng.random(600) < 0.3).astype(float)
    response = (
        0.3 + 2e-4 * np.maximum(0, 700 - nodes) - 1e-4 * np.maximum(0, nodes - 700) - 0.02 * np.maximum(0, 9 - degree)
    )
    response += 0.2 * social + rng.normal(0, 1e-4, 600)
    model = fitted({"nodes": nodes, "degree": degree, "social": social}, response)
    found = {term.text: term.coefficient for term in model.terms}
    assert set(found) == {"max(0, nodes - 700)", "max(0, 700 - nodes)", "max(0, 9 - degree)", "social"}
    assert found["max(0, nodes - 700)"] == pytest.approx(-1e-4, rel=0.01)
    assert found["max(0, 700 - nodes)"] == pytest.approx(2e-4, rel=0.01)
    assert found["max(0, 9 - degree)"] == pytest.approx(-0.02, rel=0.01)
    assert found["social"] == pytest.approx(0.2, rel=0.01)
    # The two hinges of one feature stand or fall together, and the important come first.
    importance = [term.importance for term in model.terms]
    assert importance == sorted(importance, reverse=True)
    alike = [term.importance for term in model.terms if "nodes" in term.text]
    assert alike[0] == alike[1]
    without = fit_mars(np.column_stack([degree, social]), ["degree", "social"], response).r_squared
    assert alike[0] == pytest.approx(model.r_squared - without, abs=0.002)


def test_a_step_of_indicators_is_a_difference_of_means() -> None:
    groups = np.repeat(np.arange(5), 20)
    means = np.array([0.1, 0.1, 0.1, 0.4, 0.9])
    response = means[groups] + np.tile([-0.01, 0.01], 50)
    model = fitted({f"group {number}": (groups == number).astype(float) for number in range(5)}, response)
    assert model.formula("score") == "score =\n  0.1\n  + 0.8 * group 4\n  + 0.3 * group 3"


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_pruned_to_the_intercept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = np.column_stack([rng.normal(size=(300, 2)), rng.random((300, 3)) < 0.5])
    response = rng.normal(5, 1, 300)
    model = fit_mars(features, list("abcde"), response)
    assert len(grown(features, response, 11)) > 5  # it grew, before it was pruned
    assert model.terms == ()
    assert model.intercept == pytest.approx(response.mean())
    assert model.r_squared == pytest.approx(0, abs=1e-12)


def test_collinear_and_constant_columns_do_no_harm() -> None:
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(3), 40)
    own = {f"g{number}": (group == number).astype(float) for number in range(3)}  # sum to 1
    response = np.array([0.0, 1.0, 3.0])[group] + rng.normal(0, 0.01, 120)
    same = {"again": own["g2"], "code": group * 1000.0, "one": np.ones(120), "not g2": 1 - own["g2"]}
    model = fitted({**own, **same}, response)
    assert len(model.terms) == 2
    assert model.r_squared > 0.999
    assert np.allclose(
        model.predict(np.column_stack([*own.values(), *same.values()])),
        [0.0, 1.0, 3.0] @ np.array(list(own.values())),
        atol=0.02,
    )
    assert {term.text for term in fitted({**own, "again": own["g2"]}, response).terms} <= {"g0", "g1", "g2"}
    nothing = fitted({"one": np.ones(120), "zero": np.zeros(120)}, response)
    assert nothing.terms == ()


def test_a_perfect_fit_is_reached_with_the_terms_it_needs() -> None:
    size = np.tile(np.arange(10.0), 4)
    model = fitted({"size": size, "more": np.repeat(np.arange(4.0), 10)}, 1e6 + 2 * np.maximum(0, 6 - size))
    assert [(term.text, round(term.coefficient, 6)) for term in model.terms] == [("max(0, 6 - size)", 2.0)]
    assert model.intercept == pytest.approx(1e6)
    assert model.r_squared == 1
    assert model.gcv < 1e-10


def test_few_rows_are_not_overfitted() -> None:
    rng = np.random.default_rng(4)
    for rows in range(1, 8):
        features = rng.normal(size=(rows, 6))
        model = fit_mars(features, list("abcdef"), rng.normal(size=rows))
        assert len(model.terms) + 1 + 3 * len(model.terms) < max(2, rows)
        assert np.isfinite(model.predict(features)).all()
    nothing = fit_mars(np.empty((0, 2)), ["a", "b"], [])
    assert np.isnan([nothing.intercept, nothing.r_squared, nothing.gcv]).all()
    assert nothing.rows == 0
    constant = fit_mars(np.empty((3, 0)), [], [0.1, 0.1, 0.1])
    assert (constant.intercept, constant.terms, constant.gcv) == (0.1, (), 0.0)
    assert np.isnan(constant.r_squared)
    assert fit_mars(np.empty((3, 0)), [], [0.1, 0.1, 0.4]).intercept == pytest.approx(0.2)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Features with few values, some of them indicators, and a response without ties."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows, features = draw(st.integers(4, 30)), draw(st.integers(1, 4))
    values = draw(st.lists(st.integers(1, 5), min_size=features, max_size=features))
    table = np.column_stack([rng.integers(0, most + 1, rows) * rng.choice([1.0, 0.3, 1000.0]) for most in values])
    return table, rng.normal(size=rows)


@settings(deadline=None, max_examples=60)
@given(problem=problems(), interactions=st.integers(1, 2))
def test_the_forward_pass_does_what_trying_everything_does(problem: tuple[Floats, Floats], interactions: int) -> None:
    features, response = problem
    paths: list[float] = []
    for most in range(1, 8):
        left = oracle.squares(grown(features, response, most, interactions), response)
        if not paths or left < paths[-1] * (1 - 1e-9):
            paths.append(left)
    expected = oracle.forward(features, response, len(paths) - 1, interactions)
    assert paths == pytest.approx(expected, rel=1e-6, abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(problem=problems(), penalty=st.sampled_from([0.0, 1.0, 3.0]))
def test_the_backward_pass_does_what_trying_everything_does(problem: tuple[Floats, Floats], penalty: float) -> None:
    features, response = problem
    names = [f"x{number}" for number in range(features.shape[1])]
    model = fit_mars(features, names, response, penalty=penalty, least_gain=0, most_terms=9)
    assert model.gcv == pytest.approx(oracle.backward(grown(features, response, 9), response, penalty), abs=1e-12)
    left = ((response - model.predict(features)) ** 2).sum()
    total = ((response - response.mean()) ** 2).sum()
    assert model.r_squared == pytest.approx(1 - left / total, abs=1e-9)
    spent = 1 + (1 + penalty) * len(model.terms)
    assert model.gcv == pytest.approx(left / response.size / (1 - spent / response.size) ** 2, abs=1e-12)


@settings(deadline=None, max_examples=25)
@given(problem=problems(), seed=st.integers(0, 1000), interactions=st.integers(1, 2))
def test_units_and_the_order_of_rows_do_not_matter(
    problem: tuple[Floats, Floats], seed: int, interactions: int
) -> None:
    features, response = problem
    names = [f"x{number}" for number in range(features.shape[1])]
    told: dict[str, Any] = {"penalty": 0.5, "interactions": interactions, "most_terms": 7}
    model = fit_mars(features, names, response, **told)
    order = np.random.default_rng(seed).permutation(response.size)
    assert fit_mars(features[order], names, response[order], **told) == model
    other = fit_mars(features * 512 + 1024, names, 4 * response - 1, **told)
    assert other.r_squared == pytest.approx(model.r_squared, abs=1e-9)
    assert other.predict(features * 512 + 1024) == pytest.approx(4 * model.predict(features) - 1, abs=1e-7)


def test_predictions_are_what_the_printed_formula_says() -> None:
    rng = np.random.default_rng(5)
    features = np.column_stack([rng.integers(-5, 5, 300) * 1.7, rng.random(300), rng.random(300) < 0.4])
    response = np.maximum(0, features[:, 0] - 1.7) * features[:, 2] - 3 * features[:, 1] + rng.normal(0, 0.1, 300)
    model = fit_mars(features, ["a", "b", "c"], response, interactions=2)
    assert any(len(term.hinges) == 2 for term in model.terms)
    said = model.formula("y", digits=17).removeprefix("y =").replace("\n", " ")
    assert re.fullmatch(r"[-+*abcemx0-9(), .]+", said)
    names = dict(zip("abc", features.T, strict=True))
    by_hand = eval(said, {"max": np.maximum}, names)  # noqa: S307
    assert model.predict(features) == pytest.approx(by_hand, abs=1e-9)


def test_a_product_of_two_features_needs_interactions() -> None:
    rng = np.random.default_rng(6)
    one, other = (rng.random((2, 400)) < 0.5).astype(float)
    response = one + other - 2 * one * other + rng.normal(0, 0.05, 400)
    assert fitted({"one": one, "other": other}, response).r_squared < 0.05
    # A greedy search cannot see a product whose parts say nothing alone; here they say a little.
    tilted = response + 0.3 * one
    model = fitted({"one": one, "other": other}, tilted, interactions=2)
    assert model.r_squared > 0.98
    assert {term.text for term in model.terms} >= {"one * other"}


def test_a_feature_with_many_values_gets_knots_at_its_quantiles() -> None:
    rng = np.random.default_rng(7)
    size = rng.normal(size=2000)
    model = fitted({"size": size}, np.abs(size), most_knots=20)
    assert model.r_squared > 0.98
    knots = {hinge.knot for term in model.terms for hinge in term.hinges}
    assert knots <= set(size.tolist())
    assert len(_hinges(size[:, None], ["size"], 20)) == 20


def test_growing_ends_where_it_is_told() -> None:
    rng = np.random.default_rng(8)
    features = rng.normal(size=(500, 3))
    response = np.sin(3 * features).sum(axis=1)
    assert len(fit_mars(features, list("abc"), response, most_terms=4).terms) <= 3
    assert fit_mars(features, list("abc"), response, most_terms=1).terms == ()
    assert fit_mars(features, list("abc"), response, least_gain=0.9).terms == ()
    assert fit_mars(features, list("abc"), response).r_squared > 0.95


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ["a"]}, r"one column per name, but their shape is \(2, 2\) for 2 responses and 1 names"),
        ({"response": [1.0]}, "one row per response"),
        ({"features": [1.0, 2.0]}, "one row per response"),
        ({"features": [[1.0, np.nan], [1.0, 2.0]]}, "must be finite, but some are not"),
        ({"response": [1.0, np.inf]}, "must be finite, but some are not"),
        ({"most_terms": 0}, "most_terms must be at least 1, but is 0. Raise it"),
        ({"interactions": 0}, "interactions must be at least 1"),
        ({"penalty": -1.0}, "penalty must be at least 0"),
        ({"penalty": np.nan}, "penalty must be at least 0"),
        ({"least_gain": -1.0}, "least_gain must be at least 0"),
        ({"most_knots": 0}, "most_knots must be at least 1"),
    ],
)
def test_what_cannot_be_fitted_is_refused(changes: dict[str, Any], message: str) -> None:
    told: dict[str, Any] = {
        "features": [[1.0, 2.0], [3.0, 4.0]],
        "names": ["a", "b"],
        "response": [1.0, 2.0],
        **changes,
    }
    with pytest.raises(InputError, match=message):
        fit_mars(told.pop("features"), told.pop("names"), told.pop("response"), **told)

"""Inference: the definition on small tables, planted and absent leaks, when a guess is right, models, bad input."""

import tracemalloc
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import inference as oracle
from tests.oracles.table_distance import Distance
from unveil._kernels.neighbours import secret_chances
from unveil._kernels.neighbours.nearest import IntegerGrid
from unveil.attacks.table import _features
from unveil.attacks.table._features import features
from unveil.attacks.table._secrets import right_guesses
from unveil.attacks.table.inference import Inference
from unveil.data.table import Table
from unveil.data.table.encode import MISSING
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses import Trials
from unveil.metrics import excess_over_control, risk

RNG = np.random.default_rng
SMALL = settings(deadline=None, max_examples=22)


def table(columns: dict[str, Any], name: str = "table", **told: Any) -> Table:
    return Table.from_frame(pl.DataFrame(columns, strict=False), name=name, **told)


def infer(secret: str, *known: str, **setting: Any) -> Inference:
    return Inference(secret=secret, known=known, **{"targets": None, **setting})


def run(
    people: dict[str, Any],
    released: dict[str, Any],
    secret: str,
    *known: str,
    control: dict[str, Any] | None = None,
    seed: int = 1,
    kinds: dict[str, Any] | None = None,
    **setting: Any,
) -> Trials:
    outside = None if control is None else table(control, "control", kinds=kinds)
    return infer(secret, *known, **setting).run(
        released=table(released, "released", kinds=kinds),
        knowledge=Knowledge(table(people, "original", kinds=kinds), outside),
        rng=RNG(seed),
    )


def in_row_order(trials: Trials) -> list[float]:
    assert trials.attack.rows is not None
    assert trials.attack.chances is not None
    return [float(trials.attack.chances[place]) for place in np.argsort(trials.attack.rows)]


SECRETS: dict[str, list[Any]] = {
    "number": [-20, -19, 0, 19, 20, 21, 400, 0.1, 0.105, 1.05, 1.0],
    "category": ["x", "y", "z"],
    "boolean": [True, False],
    "date": [date(2024, 1, day) for day in (1, 2, 3)],
    "ordered": [1, 2, 3],
}
AGES, WORDS = st.none() | st.integers(0, 6), st.none() | st.sampled_from("xyz")


@st.composite
def drawn_tables(draw: st.DrawFn) -> tuple[str, list[list[Any]], list[list[Any]], int]:
    """Draw people and released rows of a number, a category and a secret not constant, and k."""
    kind = draw(st.sampled_from(sorted(SECRETS)))
    secret = st.sampled_from(SECRETS[kind])
    both = []
    for rows in (draw(st.integers(2, 4)), draw(st.integers(2, 6))):
        cells = [[draw(AGES), draw(WORDS), draw(st.none() | secret)] for _ in range(rows)]
        cells[0][2], cells[1][2] = draw(st.permutations(SECRETS[kind]))[:2]
        both.append(cells)
    return kind, both[0], both[1], draw(st.integers(1, len(both[1])))


@pytest.mark.parametrize("search", [False, True])
def test_chances_are_those_of_the_definition(search: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_chances, "ALL_UP_TO", 0 if search else 2**20)
    monkeypatch.setattr(secret_chances, "PAIRS_AT_ONCE", 3)

    @SMALL
    @given(drawn_tables())
    def check(drawn: tuple[str, list[list[Any]], list[list[Any]], int]) -> None:
        kind, people, released, k = drawn
        distance = Distance(["number", "category"], [row[:2] for row in people + released])
        expected, naive = [], []
        for person in people:
            if person[2] is not None:
                far = [distance(person[:2], row[:2]) for row in released]
                secrets = [row[2] for row in released]
                expected.append(oracle.chance(far, secrets, person[2], kind, Fraction(1, 20), k))
                naive.append(oracle.share(secrets, person[2], kind, Fraction(1, 20)))
        columns = [dict(zip("abs", map(list, zip(*rows, strict=True)), strict=True)) for rows in (people, released)]
        kinds = {"a": "number", "b": "category", "s": kind}
        trials = run(columns[0], columns[1], "s", "b", "a", neighbours=k, kinds=kinds)
        assert in_row_order(trials) == [pytest.approx(float(chance), abs=1e-15) for chance in expected]
        assert trials.attack.low == sum(chance == 1 for chance in expected)
        assert trials.attack.high == sum(chance > 0 for chance in expected)
        assert trials.naive.expected == pytest.approx(float(sum(naive)))

    check()


@pytest.mark.parametrize("k", [1, 4])
def test_the_search_of_a_large_table_finds_what_all_distances_say(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    people, released = people_of(150, 1), people_of(4000, 2)
    searched = run(people, released, "pay", "age", "town", "weight", neighbours=k)
    monkeypatch.setattr(secret_chances, "ALL_UP_TO", 2**62)
    whole = run(people, released, "pay", "age", "town", "weight", neighbours=k)
    np.testing.assert_array_equal(searched.attack.chances, whole.attack.chances)
    assert whole.attack.low < whole.attack.expected < whole.attack.high


def people_of(rows: int, seed: int) -> dict[str, Any]:
    """Return people whose illness has nothing to do with the rest."""
    rng = RNG(seed)
    return {
        "age": rng.integers(18, 90, rows).tolist(),
        "weight": [None if rng.random() < 0.1 else float(x) for x in rng.normal(70, 12, rows).round(1)],
        "town": [("Ulm", "Bonn", "Jena", None)[place] for place in rng.integers(0, 4, rows)],
        "same": ["x"] * rows,
        "ill": [("flu", "none", "none", None)[place] for place in rng.integers(0, 4, rows)],
        "pay": rng.integers(100, 5000, rows).tolist(),
    }


def in_order(columns: dict[str, Any], order: Any) -> dict[str, Any]:
    return {name: [values[place] for place in order] for name, values in columns.items()}


@pytest.mark.parametrize("secret", ["ill", "pay"])
def test_a_release_of_the_original_gives_secrets_away_and_the_control_only_the_base_rate(secret: str) -> None:
    people = people_of(400, 1)
    trials = run(people, people, secret, "age", "weight", "town", control=people_of(400, 2))
    found = risk(trials)
    assert found.attack_rate.value > 0.9
    assert abs(found.control_rate.value - found.naive_rate.value) < 0.06
    assert found.excess_over_control.low > 0.7


@pytest.mark.unwatched
def test_where_there_is_nothing_the_excess_covers_0_about_as_often_as_it_says() -> None:
    covered, width = 0, []
    for seed in range(200):
        people, control, released = (people_of(60, 3 * seed + number) for number in range(3))
        secret, known = ("ill", ("age", "town")) if seed % 2 else ("pay", ("town",))
        trials = run(people, released, secret, *known, control=control)
        excess = excess_over_control(trials)
        covered += excess.low <= 0 <= excess.high
        width.append(excess.high - excess.low)
    assert 186 <= covered <= 200
    assert np.median(width) < 0.8


@pytest.mark.parametrize("secret", ["ill", "pay"])
def test_known_columns_that_say_nothing_give_exactly_what_blind_guessing_gives(secret: str) -> None:
    trials = run(people_of(90, 1), people_of(70, 2), secret, "same", neighbours=1)
    np.testing.assert_array_equal(trials.attack.chances, trials.naive.chances)
    many = run(people_of(90, 1), people_of(70, 2), secret, "same", neighbours=13)
    np.testing.assert_allclose(np.asarray(many.attack.chances), np.asarray(trials.naive.chances), rtol=1e-14)


@pytest.mark.parametrize("targets", [20, None])
@pytest.mark.parametrize("secret", ["ill", "pay"])
def test_shuffling_the_rows_of_any_table_changes_no_number(secret: str, targets: int | None) -> None:
    people, released, control = people_of(60, 1), people_of(50, 2), people_of(40, 3)
    rng = RNG(9)
    order = rng.permutation(60)
    known = ("age", "town", "weight")
    plain = run(people, released, secret, *known, control=control, targets=targets, neighbours=3)
    mixed = run(
        in_order(people, order),
        in_order(released, rng.permutation(50)),
        secret,
        *known,
        control=in_order(control, rng.permutation(40)),
        targets=targets,
        neighbours=3,
    )
    for name in ("attack", "naive", "control"):
        one, other = getattr(plain, name), getattr(mixed, name)
        np.testing.assert_array_equal(one.chances, other.chances)
    assert plain.attack.rows is not None
    assert mixed.attack.rows is not None
    assert [people["age"][row] for row in plain.attack.rows] == [people["age"][order[row]] for row in mixed.attack.rows]
    assert 0 < plain.attack.expected < plain.attack.tries


@pytest.mark.parametrize(
    ("true", "guess", "tolerance", "right"),
    [
        (100, 95, 0.05, True),
        (100, 105, 0.05, True),
        (100, 94, 0.05, False),
        (100, 106, 0.05, False),
        (-100, -95, 0.05, True),
        (-100, -105, 0.05, True),
        (-100, 100, 0.05, False),
        (500, -100, 0.05, False),
        (0, 0, 0.05, True),
        (0, 0.0001, 0.05, False),
        (0.1, 0.105, 0.05, True),  # in floats 0.105 - 0.1 > 0.05 * 0.1
        (0.3, 0.285, 0.05, True),
        (0.7, 0.77, 0.1, True),
        (0.7, 0.7700001, 0.1, False),
        (7, 7, 0, True),
        (7, 7.000001, 0, False),
        (2**62, 2**62 + 1, 0, False),
        (2**62, 2**62, 0, True),
        (1.7e308, -1.7e308, 0.05, False),
        (5e-324, 5e-324, 0.05, True),
        (1e-320, 9.5e-321, 0.05, True),
    ],
)
def test_a_number_is_right_relative_to_the_true_value_as_it_is_written(
    true: float, guess: float, tolerance: float, right: bool
) -> None:
    other = 3 if isinstance(true, int) else 3.5
    trials = run(
        {"who": ["a", "b"], "pay": [true, other]},
        {"who": ["a", "b"], "pay": [guess, other]},
        "pay",
        "who",
        tolerance=tolerance,
        kinds={"who": "category"},
    )
    assert in_row_order(trials) == [float(right), 1.0]


def test_dates_and_ordered_values_must_be_equal() -> None:
    people = {"who": ["a", "b"], "day": [date(2024, 1, 1), date(2024, 6, 1)], "grade": [1, 2]}
    released = {"who": ["a", "b"], "day": [date(2024, 1, 2), date(2024, 6, 1)], "grade": [2, 2.04]}
    assert in_row_order(run(people, released, "day", "who")) == [0, 1]
    assert in_row_order(run(people, released, "grade", "who", kinds={"grade": "ordered"})) == [0, 0]
    assert in_row_order(run(people, released, "grade", "who")) == [0, 1]


def test_people_without_a_secret_are_left_out_and_a_missing_guess_is_wrong() -> None:
    people = {"age": [1, 2, 3, 4], "ill": ["flu", None, "none", "flu"]}
    released = {"age": [1, 2, 3, 4], "ill": ["flu", "none", None, None]}
    control = {"age": [1, 2], "ill": [None, None]}
    trials = run(people, released, "ill", "age", control=control)
    assert in_row_order(trials) == [1, 0, 0]
    assert trials.attack.rows is not None
    assert sorted(trials.attack.rows.tolist()) == [0, 2, 3]
    assert trials.naive.expected == pytest.approx(3 / 4)
    assert trials.control is None
    assert trials.notes == (
        "25.0% of the rows of the original lack 'ill' and are left out",
        "100.0% of the rows of the control lack 'ill' and are left out",
    )


def test_names_and_values_of_any_kind_are_taken_as_they_are() -> None:
    names = ["a \"b' c", "2nd\ncolumn", "$pay", "ärger{}"]
    people = dict(
        zip(names, [["x y", "q'\"", None], [True, None, False], ["$1", "\n", "ü"], [1, 2, None]], strict=True)
    )
    for secret in names:
        trials = run(people, people, secret, *(name for name in names if name != secret))
        assert trials.attack.expected == trials.attack.tries


def test_columns_without_a_value_and_nullable_integers_say_nothing_or_all() -> None:
    import pandas as pd

    frame = pd.DataFrame({"age": [1, 2, None, 4], "gone": [None] * 4, "ill": list("abca")}).astype({"age": "Int64"})
    people = Table.from_frame(frame)
    for known, expected in ((("age", "gone"), 4.0), (("gone",), 1.5)):
        assert (
            infer("ill", *known).run(released=people, knowledge=Knowledge(people), rng=RNG(1)).attack.expected
            == expected
        )


def test_fewer_people_than_targets_are_all_attacked_with_a_note() -> None:
    trials = run(people_of(30, 1), people_of(30, 2), "pay", "age", control=people_of(20, 3), targets=25)
    assert (trials.attack.tries, trials.control and trials.control.tries) == (25, 20)
    assert trials.notes == ("all 20 targets of the control were attacked, fewer than the 25 requested",)


def test_distances_do_not_depend_on_who_was_drawn() -> None:
    original, released = table(people_of(300, 1)), table(people_of(200, 2))
    attack = infer("pay", "age", "weight", "town")
    whole = attack.run(released=released, knowledge=Knowledge(original), rng=RNG(1))
    some = Knowledge(original.take([5, 17, 200]), scale=original.extremes())
    part = attack.run(released=released, knowledge=some, rng=RNG(1))
    assert in_row_order(part) == [in_row_order(whole)[row] for row in (5, 17, 200)]


def test_everybody_tied_takes_no_memory_for_pairs() -> None:
    rng = RNG(1)
    original, released = (
        table(
            {"sex": rng.integers(0, 2, rows) > 0, "job": rng.integers(0, 3, rows), "pay": rng.integers(1, 9999, rows)}
        )
        for rows in (2_000, 20_000)
    )
    attack = infer("pay", "sex")
    tracemalloc.start()
    trials = attack.run(released=released, knowledge=Knowledge(original), rng=rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6  # one byte for each pair would be 40e6
    assert trials.attack.high > 1900
    assert trials.attack.expected == pytest.approx(trials.naive.expected, rel=0.1)


@pytest.mark.parametrize(
    ("neighbours", "secret", "what"),
    [
        (1, "pay", "pay of the released row that is nearest by age, town is at most 5 % off the true value"),
        (3, "ill", "ill of one of the 3 released rows that are nearest by age, town is the true one"),
    ],
)
def test_what_counts_as_right_is_said_in_words(neighbours: int, secret: str, what: str) -> None:
    assert run(people_of(9, 1), people_of(9, 2), secret, "age", "town", neighbours=neighbours).what == what


class Nearest:
    """A tiny model: the answer of the first nearest row."""

    def fit(self, X: Any, y: Any) -> "Nearest":  # noqa: N803
        self.rows, self.answers = X, y
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803
        return np.array([self.answers[np.argmin(np.abs(self.rows - row).sum(axis=1))] for row in X])


class Constant:
    """A model that ignores the rows, and fails in the way it is told."""

    def __init__(self, answer: Any = 0.0, fail: str = "") -> None:
        self.answer, self.fail = answer, fail

    def fit(self, _: Any, y: Any) -> None:
        if self.fail == "fit":
            raise ValueError(f"the value {y[0]} is bad")

    def predict(self, X: Any) -> Any:  # noqa: N803
        if self.fail == "predict":
            raise RuntimeError(str(X[0]))
        return np.zeros((len(X), 2)) if self.fail == "shape" else [self.answer] * len(X)


@pytest.mark.parametrize("secret", ["ill", "pay"])
def test_a_model_that_remembers_rows_finds_the_planted_leak(secret: str) -> None:
    people, control = people_of(80, 1), people_of(60, 2)
    model = Nearest()
    trials = run(people, people, secret, "age", "weight", "town", control=control, model=model)
    assert trials.attack.expected / trials.attack.tries > 0.9
    assert trials.control is not None
    assert trials.control.expected / trials.control.tries < 0.7
    assert trials.attack.low == trials.attack.high == trials.attack.expected
    assert not vars(model)  # the caller's own has learned nothing
    assert trials.what.startswith(f"{secret}, as Nearest guesses it from age, weight, town, is ")
    mixed = run(people, in_order(people, RNG(1).permutation(80)), secret, "age", "weight", "town", model=model)
    np.testing.assert_array_equal(mixed.attack.chances, trials.attack.chances)


def test_guesses_of_a_model_are_judged_like_any_other() -> None:
    people = {"age": [1, 2, 3], "pay": [100, -100, 0], "ill": ["a", "b", "c"]}
    for answer, expected in ((105, [1, 0, 0]), (-95, [0, 1, 0]), (0, [0, 0, 1]), (np.nan, [0] * 3), (np.inf, [0] * 3)):
        assert in_row_order(run(people, people, "pay", "age", model=Constant(answer))) == expected
    for answer, expected in ((0, [1, 0, 0]), (2.0, [0, 0, 1]), (0.5, [0] * 3), (-1, [0] * 3), (np.nan, [0] * 3)):
        assert in_row_order(run(people, people, "ill", "age", model=Constant(answer))) == expected


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Constant(fail="fit"), "the model Constant raised ValueError on 3 released rows of 1 features"),
        (Constant(fail="predict"), "the model Constant raised RuntimeError on 3 released rows of 1 features"),
        (Constant("words"), "the model Constant raised ValueError on 3 released rows of 1 features"),
        (
            Constant(fail="shape"),
            r"the model Constant returned an array of shape \(3, 2\) for 3 targets",
        ),
    ],
)
def test_a_model_that_fails_is_named_without_its_words(model: Constant, message: str) -> None:
    people = {"age": [1, 2, 3], "pay": [123456, 2, 3]}
    with pytest.raises(InputError, match=message) as caught:
        run(people, people, "pay", "age", model=model)
    assert "123456" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("model", [Constant, 3, object()])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(InputError, match="t lacks the methods fit and predict"):
        run(people_of(5, 1), people_of(5, 2), "pay", "age", model=model)


def test_features_fill_gaps_and_put_rare_categories_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_features, "MOST_CATEGORIES", 2)
    codes = np.array([[1], [2], [2], [3], [0], [0]], np.int32)
    released = IntegerGrid(np.array([[0], [2], [10], [4], [MISSING], [MISSING]]), codes, np.array([3]), 30)
    people = IntegerGrid(np.array([[-40], [MISSING], [25]]), np.array([[0], [2], [9]], np.int32), np.array([3]), 30)
    rows, others = features(released, [people])
    np.testing.assert_allclose(rows[:, 0], [0, 0.2, 1, 0.4, 0.3, 0.3])
    assert rows[:, 1:].tolist() == [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 0, 0]]
    assert others[:, 1:].tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(others[:, 0], [0, 0.3, 1])
    whole = released._replace(numbers=released.numbers[:4], codes=released.codes[:4])
    assert features(whole, [people])[1].shape == (3, 4)


def test_guesses_near_the_bound_are_judged_in_fractions() -> None:
    rng = RNG(1)
    truth = rng.integers(-400, 400, 3000) / 100
    guess = truth * rng.choice([0.95, 1.05, 0.9499999999999, 1.0500000000001], 3000)
    guess[::2] = np.round(guess[::2], 4)
    expected = [
        oracle.right(g, t, "number", Fraction(1, 20)) for g, t in zip(guess.tolist(), truth.tolist(), strict=True)
    ]
    assert right_guesses(guess, pl.Series(truth), 0.05).tolist() == expected
    assert 500 < sum(expected) < 2500


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"known": ("age", "pay")}, "column 'pay' is both sensitive and a quasi-identifier"),
        ({"known": ("age", "age")}, "known must name each column once, but 'age'"),
        ({"known": ()}, "known must name at least one column"),
        ({"known": "age"}, "known must be a sequence of column names"),
        ({"secret": ("pay",)}, "secret is not the name of one column"),
        ({"tolerance": -0.1}, "tolerance must lie between 0 and 1, 1 excluded, but is -0.1"),
        ({"tolerance": 1}, "tolerance must lie between 0 and 1, 1 excluded"),
        ({"tolerance": float("nan")}, "tolerance must be a number"),
        ({"neighbours": 0}, "neighbours must be a whole number of at least 1, but is 0"),
        ({"targets": 2.5}, "targets must be a whole number of at least 1, but is 2.5"),
    ],
)
def test_settings_are_checked(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Inference(**{"secret": "pay", "known": ("age",), **setting})


GOOD = {"age": [1, 2, 3], "pay": [1, 2, 3]}


@pytest.mark.parametrize(
    ("people", "released", "message"),
    [
        (
            {**GOOD, "pay": [7, 7, None]},
            GOOD,
            "the sensitive attribute 'pay' needs two different values in the original",
        ),
        (GOOD, {**GOOD, "pay": [7, 7, 7]}, "the sensitive attribute 'pay' needs two different values in the released"),
        ({**GOOD, "pay": [None] * 3}, GOOD, "values in the original, but every cell of it is missing"),
        (GOOD, {**GOOD, "pay": [None] * 3}, "values in the released, but every cell of it is missing"),
        (GOOD, {"age": [1, 2]}, "column 'pay' is not in the released"),
        (GOOD, {**GOOD, "pay": ["a", "b", "c"]}, "column 'pay' holds numbers in the original, but 100 % of the cells"),
    ],
)
def test_secrets_that_cannot_be_guessed_are_refused(
    people: dict[str, Any], released: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(people, released, "pay", "age")


def test_people_who_happen_to_have_the_same_secret_are_attacked_where_others_have_another() -> None:
    original = table(GOOD, "original")
    attack = infer("pay", "age")
    few = Knowledge(original.take([1]), scale=original.extremes())
    assert attack.run(released=original, knowledge=few, rng=RNG(1)).attack.expected == 1


def test_more_neighbours_than_released_rows_are_refused() -> None:
    with pytest.raises(InputError, match="neighbours is 4, but the released has 3 rows"):
        run(GOOD, GOOD, "pay", "age", neighbours=4)

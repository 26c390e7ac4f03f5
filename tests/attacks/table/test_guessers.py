"""Adversaries who learn from all released rows: definitions, classes of numbers, learners, coarse cells, bad input."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import inference as oracle
from unveil._kernels.neighbours.guesses import ReleasedSecrets
from unveil._kernels.neighbours.nearest import IntegerGrid
from unveil._kernels.types import BagArray
from unveil.attacks.table import _guessers
from unveil.attacks.table._guessers import Teacher, classes_of, content_hash, drawn_by_content, forest_shares, mixed
from unveil.attacks.table._secrets import right_ranks
from unveil.attacks.table.inference import Inference
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses import Trials

KINDS: dict[str, Any] = {"a": "number", "b": "category", "s": "category"}
CELLS = (st.none() | st.integers(0, 3), st.none() | st.sampled_from("xyz"), st.none() | st.sampled_from("pqr"))
ROWS = st.lists(st.tuples(*CELLS), min_size=2, max_size=7)
LEARNERS = pytest.mark.parametrize("adversary", _guessers.LEARNERS)


def table(rows: Any, name: str = "table", **kinds: Any) -> Table:
    schema = {"a": pl.Int64, "b": pl.String, "s": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row") if isinstance(rows, list) else pl.DataFrame(rows)
    return Table.from_frame(frame, name=name, kinds=KINDS if isinstance(rows, list) else kinds)


def run(
    people: Any, released: Any, adversary: Any, *, about: str = "s", known: Any = ("a", "b"), **kinds: Any
) -> Trials:
    attack = infer(about, *known, adversary=adversary)
    knowledge = Knowledge(table(people, "original", **kinds))
    return attack.run(released=table(released, "released"), knowledge=knowledge, rng=np.random.default_rng(1))


def infer(secret: str, *known: str, **settings: Any) -> Inference:
    return Inference(secret=secret, known=known, targets=None, **settings)


def in_row_order(trials: Trials) -> list[float]:
    assert trials.attack.rows is not None
    assert trials.attack.chances is not None
    return [float(trials.attack.chances[place]) for place in np.argsort(trials.attack.rows)]


def with_two_secrets(rows: list[Any]) -> list[Any]:
    """Return the rows so that no secret is constant."""
    return [(*rows[0][:2], "p"), (*rows[1][:2], "q"), *rows[2:]]


@settings(deadline=None, max_examples=60)
@given(people=ROWS.map(with_two_secrets), released=ROWS.map(with_two_secrets))
def test_rare_agreement_and_counts_are_those_of_the_definition(people: list[Any], released: list[Any]) -> None:
    secrets = [row[2] for row in released]
    attacked = [row for row in people if row[2] is not None]
    rows = [row[:2] for row in released]
    agreed = [float(oracle.agreed(who[:2], rows, secrets, who[2], "category", Fraction(0))) for who in attacked]
    assert in_row_order(run(people, released, "agreement")) == pytest.approx(agreed)
    # Four numbers are fewer than the parts that numbers are cut into, so that each begins a part of its own.
    taught = [row for row in released if row[2] is not None and secrets.count(row[2]) > 1]
    ages = [row[0] for row in taught if row[0] is not None]

    def in_parts(row: Any) -> Any:
        return (row[0] if row[0] is None else max((each for each in ages if each <= row[0]), default=-1), row[1])

    counted = [oracle.counted(in_parts(who), rows, secrets, who[2]) for who in attacked]
    if None in counted:
        with pytest.raises(InputError, match="occur in two rows each"):
            run(people, released, "counts")
    else:
        assert in_row_order(run(people, released, "counts")) == pytest.approx([float(each or 0) for each in counted])


def test_a_number_has_classes_of_frequent_values_and_of_parts_and_guesses_what_is_near_most() -> None:
    values = np.array([0, *range(100, 200)])
    near = right_ranks(pl.Series(values), pl.Series(values), 0.05)
    rank = np.concatenate([np.zeros(50, np.int64), np.repeat(np.arange(1, 101), 1)])
    grid = IntegerGrid(np.empty((150, 0), np.int64), np.empty((150, 0), np.int32), np.empty(0, np.int64), 1)
    classes = classes_of(Teacher(grid, ReleasedSecrets(rank, 101), near))
    assert classes.of_rank[0] == 0
    assert classes.guess[0] == 0
    sizes = np.bincount(classes.of_rank)
    assert sizes.size == 1 + _guessers._PARTS
    assert set(sizes[1:]) == {4}
    assert (np.diff(classes.of_rank) >= 0).all()
    assert [classes.of_rank[guess] for guess in classes.guess] == list(range(classes.guess.size))
    # All four of each part are within 5 % of the guess.
    for part in range(1, sizes.size):
        members = np.flatnonzero(classes.of_rank == part)
        assert ((near[0][members] <= classes.guess[part]) & (classes.guess[part] < near[1][members])).all()


def plain_rule(rows: int, seed: int) -> dict[str, Any]:
    """Return people whose illness follows from age and town together, and whose pay follows from the age."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 90, rows), rng.integers(0, 3, rows)
    ill = np.where(age > 50, np.where(town == 0, "gout", "flu"), "none")
    return {
        "age": age,
        "town": np.array(["Ulm", "Bonn", "Jena"])[town],
        **{f"noise{number}": rng.random(rows) for number in range(6)},
        "ill": ill,
        "pay": 1000 * (1 + age // 30) + rng.integers(0, 20, rows),
    }


@LEARNERS
@pytest.mark.parametrize("about", ["ill", "pay"])
def test_learners_find_the_rule_that_the_nearest_row_misses(adversary: Any, about: str) -> None:
    people, released = plain_rule(150, 1), plain_rule(400, 2)
    known = ("age", "town", *(f"noise{number}" for number in range(6)))
    nearest, learned = (run(people, released, who, about=about, known=known) for who in ("nearest", adversary))
    assert learned.attack.expected / learned.attack.tries > 0.93
    assert learned.attack.expected > nearest.attack.expected + 10
    # They say what is likeliest, and so does the blind guess beside them.
    assert learned.naive.expected != nearest.naive.expected
    order = np.random.default_rng(3).permutation(400)
    mixed = run(people, {name: each[order] for name, each in released.items()}, adversary, about=about, known=known)
    np.testing.assert_array_equal(mixed.attack.chances, learned.attack.chances)
    assert {"forest": "a forest learns", "boosting": "boosting learns"}[adversary] in learned.what


@LEARNERS
@settings(deadline=None, max_examples=25)
@given(rows=st.lists(st.tuples(*CELLS), min_size=2, max_size=40), people=ROWS.map(with_two_secrets), data=st.data())
def test_no_order_of_rows_changes_what_a_learner_guesses(adversary: Any, rows: Any, people: Any, data: Any) -> None:
    released = [*rows, *((number, letter, secret) for secret in "pq" for number, letter in ((0, "x"), (3, "z")))]
    in_another = data.draw(st.permutations(released))
    guesses = [in_row_order(run(people, each, adversary)) for each in (released, in_another)]
    assert guesses[0] == guesses[1]


@LEARNERS
def test_a_class_of_one_row_and_one_that_only_people_have_are_never_guessed(adversary: Any) -> None:
    released = plain_rule(60, 1)
    released["ill"] = np.array([*released["ill"][:-1].tolist(), "rare"], dtype=object)
    people = plain_rule(40, 2)
    people["ill"] = np.array(["rare", "unseen", *people["ill"][2:].tolist()], dtype=object)
    trials = run(people, released, adversary, about="ill", known=("age", "town"))
    assert in_row_order(trials)[:2] == [0, 0]
    assert trials.attack.expected > 30


def test_a_learner_sees_so_many_rows_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def learned(rows: Any, own: Any, people: Any) -> Any:
        seen.append((rows.tolist(), own.tolist()))
        return np.zeros((people.shape[1], 2))

    monkeypatch.setattr(_guessers, "MOST_ROWS", 50)
    monkeypatch.setattr(_guessers, "forest_shares", learned)
    monkeypatch.setattr(_guessers.guess_chances, "__kwdefaults__", {"most_rows": 50})
    monkeypatch.setattr(_guessers.notes_on_rows, "__defaults__", (50,))
    released = plain_rule(200, 1)
    trials = run(plain_rule(20, 2), released, "forest", about="ill", known=("age",))
    assert trials.notes == ("a forest learns from 50 of 200 rows, drawn by what they hold",)
    run(plain_rule(20, 2), {name: each[::-1] for name, each in released.items()}, "forest", about="ill", known=("age",))
    assert seen[0] == seen[1]
    assert len(seen[0][1]) == 50


@LEARNERS
def test_learners_take_more_categories_than_they_tell_apart(adversary: Any) -> None:
    """Town 0 to 5 say what people are ill with; hundreds of others, each of one row, and gaps say nothing."""

    def people(rows: int, seed: int) -> dict[str, Any]:
        draw = np.random.default_rng(seed)
        frequent = draw.random(rows) < 0.5
        place = np.where(frequent, draw.integers(0, 6, rows), 1000 * seed + np.arange(rows))
        ill = np.where(frequent, place % 3, draw.integers(0, 3, rows))
        town = [None if at % 29 == 0 else f"t{each}" for at, each in enumerate(place)]
        return {"town": town, "age": draw.integers(0, 90, rows), "ill": np.array(list("abc"))[ill]}

    trials = run(people(200, 1), people(1200, 2), adversary, about="ill", known=("town", "age"))
    assert 0.55 < trials.attack.expected / trials.attack.tries < 0.8


@pytest.mark.parametrize("adversary", ["agreement", "counts", "forest", "boosting"])
def test_cells_that_stand_for_several_values_teach_nothing_and_single_ones_do(adversary: Any) -> None:
    people = {"age": [20, 25, 30, 35] * 32, "town": ["Ulm", "Bonn"] * 64, "ill": ["flu", "gout"] * 64}
    kinds = {"age": "number", "town": "category", "ill": "category"}
    half = {**people, "age": ["20-29"] * 64 + ["20", "25", "30", "35"] * 16}
    trials = run(people, half, adversary, about="ill", known=("age", "town"), **kinds)
    assert trials.attack.expected == trials.attack.tries
    none = {**people, "age": ["20-29"] * 128}
    with pytest.raises(InputError, match="all quasi-identifier cells of the release are ranges, and this attacker"):
        run(people, none, adversary, about="ill", known=("age",), **kinds)
    with pytest.raises(InputError, match=f"the attacker '{adversary}' learns from single values"):
        run(people, half, adversary, about="age", known=("town",), **kinds)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            {"adversary": "oracle"},
            "Unknown attacker 'oracle'",
        ),
        (
            {"adversary": "counts", "neighbours": 3},
            "neighbours, guess and model only apply to the attacker 'nearest', not to",
        ),
        (
            {"adversary": "forest", "guess": "class"},
            "neighbours, guess and model only apply to the attacker 'nearest', not to",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(setting: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        infer("s", "a", **setting)


# --- draws by content -------------------------------------------------------------------------------------------------


def bits_of(values: list[int]) -> BagArray:
    column = np.array(values, np.int64)
    return content_hash([column, (column % 3).astype(np.int32)], column.size)


def test_mixing_is_splitmix64() -> None:
    # The first outputs of the published generator with seed 0 and with seed 1.
    assert mixed(np.array([0, 1], np.uint64)).tolist() == [0xE220A8397B1DCDAF, 0x910A2DEC89025CC1]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.data())
def test_the_contents_drawn_do_not_depend_on_where_rows_stand(values: list[int], data: st.DataObject) -> None:
    number, order = data.draw(st.integers(1, len(values))), data.draw(st.permutations(range(len(values))))
    moved = [values[place] for place in order]
    one, other = ([each[row] for row in drawn_by_content(bits_of(each), number, 3)] for each in (values, moved))
    assert one == other
    assert len(set(drawn_by_content(bits_of(values), number, 3).tolist())) == number


def test_copies_have_lots_of_their_own() -> None:
    # 30 copies of one row beside 30 other rows: by a lot per content, all copies or none would be among the first 20.
    bits = bits_of([0] * 30 + list(range(1, 31)))
    copies = [np.count_nonzero(drawn_by_content(bits, 20, seed) < 30) for seed in range(400)]
    # The hypergeometric mean is 10 with a deviation of 1.84, so 0.37 is four standard errors of the mean.
    assert abs(np.mean(copies) - 10) < 0.37
    assert 1.5 < np.std(copies) < 2.2


# --- the forest -------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 60), features=st.integers(1, 4), bins=st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_rows_that_were_seen_have_the_classes_of_those_who_equal_them(
    seed: int, rows: int, features: int, bins: int
) -> None:
    """Leaves are pure or hold equal rows: where equal rows have all the same class, every tree says it."""
    rng = np.random.default_rng(seed)
    made, own = rng.integers(0, bins, (features, rows)).astype(np.uint8), rng.integers(0, 3, rows)
    shares = forest_shares(made, own, made, trees=5)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    for row in range(rows):
        equal = (made == made[:, [row]]).all(axis=0)
        among = np.bincount(own[equal], minlength=shares.shape[1]) / equal.sum()
        np.testing.assert_allclose(shares[row], among)


def test_cuts_are_by_lot_and_others_are_told_by_those_on_their_side() -> None:
    """One number, rows at 0 and 10: whoever has b comes to the first side where the cut, 0 to 9, is at least b."""
    made = np.array([[0, 10]], np.uint8)
    people = np.arange(12, dtype=np.uint8)[None]
    shares = forest_shares(made, np.array([0, 1]), people, trees=4000)
    np.testing.assert_allclose(shares[:, 0], np.clip(1 - np.arange(12) / 10, 0, 1), atol=0.04)


def test_the_seed_tells_the_trees_and_compiled_loops_grow_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    made, people = (rng.integers(0, 9, (5, size)).astype(np.uint8) for size in (40, 30))
    own = rng.integers(0, 4, 40)
    shares = []
    for up_to, seed in ((0, 0), (10**9, 0), (0, 1)):
        monkeypatch.setattr(_guessers, "PLAIN_UP_TO", up_to)
        shares.append(forest_shares(made, own, people, trees=8, seed=seed))
    np.testing.assert_array_equal(shares[0], shares[1])
    assert (shares[0] != shares[2]).any()


def test_the_forest_learns_as_well_as_that_of_scikit_learn() -> None:
    from sklearn.ensemble import ExtraTreesClassifier

    rng = np.random.default_rng(5)
    made = rng.integers(0, 30, (8, 3500)).astype(np.uint8)
    own = np.searchsorted([20, 35, 50], made[0] + made[1] + 10 * (made[2] > 15) + rng.normal(0, 3, 3500))
    train, test = slice(0, 2000), slice(2000, 3500)
    ours = forest_shares(made[:, train], own[train], made[:, test]).argmax(axis=1)
    peer = ExtraTreesClassifier(n_estimators=50, max_features=0.5, random_state=0)
    theirs = peer.fit(made[:, train].T, own[train]).predict(made[:, test].T)
    assert np.mean(ours == own[test]) > np.mean(theirs == own[test]) - 0.02

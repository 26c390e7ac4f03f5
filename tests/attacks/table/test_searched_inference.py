"""The search over adversaries and known columns: a planted leak, harmless releases, one way, no control, bad input."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil._kernels.neighbours.best_rows import RightRanks
from unveil._kernels.neighbours.guesses import ReleasedSecrets
from unveil._kernels.neighbours.index import IntegerGrid
from unveil._kernels.threads import in_threads
from unveil.attacks.table import _guessers, _guessing_search
from unveil.attacks.table._guessing_case import LearnMeasureRows
from unveil.attacks.table._guessing_search import ChosenGuesser, SearchedGuesses
from unveil.attacks.table.inference import Inference
from unveil.attacks.table.searched_inference import SearchedInference
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.metrics.trials.risk import excess_over_control

RNG = np.random.default_rng
KNOWN = tuple(f"c{number}" for number in range(9))
ILL = "ill"
LEAKED = ("c1", "c3", "c5", "c7", "c8")


def people(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return people in whom nothing has to do with anything else."""
    columns = {name: rng.integers(0, 8, rows) for name in KNOWN} | {"ill": rng.integers(0, 10, rows)}
    return pl.DataFrame({name: [f"v{each}" for each in cells] for name, cells in columns.items()})


def table(frame: pl.DataFrame, name: str) -> Table:
    return Table.from_frame(frame, name=name, kinds=dict.fromkeys(frame.columns, "category"))


def case(rows: int, seed: int, share: float) -> tuple[Table, Knowledge]:
    """Return a release in which this share of people stand with five columns and the secret, and with others' rest."""
    rng = RNG(seed)
    inside, outside, other = (people(rows, rng) for _ in range(3))
    leaked = pl.Series(rng.random(rows) < share)
    columns = [
        pl.Series(name, inside[name].zip_with(leaked, other[name])) if name in (*LEAKED, "ill") else other[name]
        for name in inside.columns
    ]
    released = pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=seed)
    return table(released, "released"), Knowledge(table(inside, "original"), table(outside, "control"))


def searched(about: str = "ill", **settings: Any) -> SearchedInference:
    return SearchedInference(secret=about, **{"known": KNOWN, "targets": None, **settings})


SOME = ("nearest", "agreement", "counts", "forest")
BY_ROWS: dict[str, Any] = {"adversaries": ("nearest", "agreement")}


@pytest.mark.unwatched
def test_the_columns_beside_which_secrets_leaked_are_found_and_tell_how_many_did() -> None:
    # 20 % leaked; on all columns the release looks half as bad.
    released, knowledge = case(1500, 1, 0.2)
    found = searched(**BY_ROWS).search(released=released, knowledge=knowledge, rng=RNG(1))
    assert set(LEAKED) <= set(found.remembered.known)
    assert len(found.remembered.known) <= 6
    excess = excess_over_control(found.remembered.trials)
    assert abs(excess.value - 0.195) < 0.05
    whole = Inference(secret=ILL, known=KNOWN, targets=None).run(released=released, knowledge=knowledge, rng=RNG(1))
    assert abs(excess_over_control(whole).value - 0.09) < 0.03
    assert found.learned_from == (750, 750)
    assert found.compared_with == "control"


@pytest.mark.unwatched
def test_on_harmless_releases_the_excess_covers_0_about_as_often_as_it_says() -> None:
    covered = 0
    for seed in range(20):
        released, knowledge = case(200, seed, 0.0)
        made = searched(**BY_ROWS).run(released=released, knowledge=knowledge, rng=RNG(seed))
        excess = excess_over_control(made)
        covered += excess.low <= 0 <= excess.high
        assert made.notes[0].startswith("chosen on 200 other people: ")
    assert covered >= 17


def numbers(found: SearchedGuesses) -> list[Any]:
    def of(who: ChosenGuesser) -> list[Any]:
        trials = who.trials
        parts = (trials.attack, trials.naive, trials.control, who.others)
        return [who.adversary, who.known, *((each.tries, each.expected) for each in parts if each is not None)]

    return [of(each) for each in (found.remembered, found.guessed, found.alone) if each is not None]


@pytest.mark.parametrize("has_control", [True, False])
def test_the_order_of_rows_changes_no_digit(has_control: bool) -> None:
    released, knowledge = case(500, 2, 0.3)
    control = knowledge.control if has_control else None
    found = []
    for seed in (None, 5):
        tables = [each for each in (released, knowledge.records, control) if each is not None]
        if seed is not None:
            tables = [each.take(RNG(seed).permutation(each.rows)) for each in tables]
        asked = Knowledge(tables[1], tables[2] if has_control else None)
        found.append(numbers(searched(adversaries=SOME).search(released=tables[0], knowledge=asked, rng=RNG(3))))
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_nobody_who_is_measured_has_a_part_in_the_choice() -> None:
    released, knowledge = case(400, 3, 0.3)
    assert knowledge.control is not None
    places = np.split(np.arange(400), [200])
    parts = LearnMeasureRows((places[0], places[0]), (places[1], places[1]))
    asked = searched(**BY_ROWS)
    one = asked.search(released=released, knowledge=knowledge, rng=RNG(1), parts=parts)
    assert one.remembered.trials.attack.rows is not None
    assert set(one.remembered.trials.attack.rows.tolist()) <= set(places[1].tolist())
    # With everybody who is measured on the other side the choice is the same, and so are all chances.
    swapped = Knowledge(
        *(
            table(pl.concat([each.frame[:200], other.frame[200:]]), each.name)
            for each, other in (
                (knowledge.records, knowledge.control),
                (knowledge.control, knowledge.records),
            )
        )
    )
    other = asked.search(released=released, knowledge=swapped, rng=RNG(1), parts=parts)
    assert (one.remembered.adversary, one.remembered.known) == (other.remembered.adversary, other.remembered.known)
    assert other.remembered.trials.control is not None
    assert other.remembered.trials.control.expected == one.remembered.trials.attack.expected


def test_without_a_control_other_people_of_the_original_teach() -> None:
    released, knowledge = case(1000, 4, 1.0)
    found = searched(known=LEAKED, **BY_ROWS).search(
        released=released, knowledge=Knowledge(knowledge.records), rng=RNG(1)
    )
    chosen = found.remembered
    assert found.compared_with == "other people"
    assert chosen.trials.control is None
    assert chosen.others is not None
    assert chosen.trials.attack.tries == chosen.others.tries == 200
    # The release was cut to as many rows as there are teachers, 600 of 1,000.
    assert 0.5 < chosen.trials.attack.expected / 200 < 0.75
    assert chosen.others.expected / 200 < 0.2
    fresh, _ = case(1000, 5, 0.0)
    harmless = searched(**BY_ROWS).search(released=fresh, knowledge=Knowledge(knowledge.records), rng=RNG(1)).remembered
    assert harmless.others is not None
    assert abs(harmless.trials.attack.expected - harmless.others.expected) < 0.1 * 200


def test_a_secret_that_follows_from_one_column_is_said_to_though_nobody_remembers_it() -> None:
    def rule(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
        said = pl.Series(rng.random(frame.height) < 0.95)
        return frame.with_columns(ill=frame["c4"].zip_with(said, frame["ill"]))

    rng = RNG(6)
    tables = [table(rule(people(400, rng), rng), name) for name in ("released", "original", "control")]
    found = searched().search(released=tables[0], knowledge=Knowledge(*tables[1:]), rng=RNG(1))
    assert found.alone is not None
    assert found.alone.known == ("c4",)
    assert found.alone.trials.control is not None
    assert found.alone.trials.control.expected / found.alone.trials.control.tries > 0.9
    assert found.alone.trials.naive.expected / found.alone.trials.naive.tries < 0.25
    guessed = found.guessed.trials.attack
    assert guessed.expected / guessed.tries > 0.9


def test_with_few_people_nothing_is_chosen() -> None:
    released, knowledge = case(150, 7, 0.5)
    found = searched().search(released=released, knowledge=knowledge, rng=RNG(1))
    assert (found.remembered.adversary, found.guessed.adversary) == ("agreement", "boosting")
    assert found.remembered.known == KNOWN
    assert found.learned_from == (0, 0)
    assert found.alone is None
    assert found.remembered.trials.attack.tries == 150
    made = searched(adversaries=("counts", "nearest")).run(released=released, knowledge=knowledge, rng=RNG(1))
    assert made.notes[0].startswith("fixed in advance: nearest by c0, c1")


def test_many_columns_are_dropped_several_at_a_time_and_huge_tables_are_searched_with_fewer_people(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_guessing_search, "_ONE_BY_ONE", 4)
    monkeypatch.setattr(_guessing_search, "_MOST_PAIRS", 100 * 300)
    released, knowledge = case(300, 8, 0.9)
    found = searched(**BY_ROWS).search(released=released, knowledge=knowledge, rng=RNG(1))
    assert len(set(LEAKED) & set(found.remembered.known)) >= 3
    assert excess_over_control(found.remembered.trials).low > 0.5


def test_coarse_cells_and_coarse_secrets_leave_who_can_read_them() -> None:
    rng = RNG(10)
    frames = [
        pl.DataFrame(
            {
                "age": rng.integers(20, 60, 300),
                "town": rng.choice(["Ulm", "Bonn", "Jena"], 300),
                "pay": rng.integers(1, 9, 300) * 10,
            }
        )
        for _ in range(2)
    ]
    knowledge = Knowledge(
        *(Table.from_frame(frame, name=name) for frame, name in zip(frames, ("original", "control"), strict=True))
    )
    ages = [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in frames[0]["age"]]
    released = Table.from_frame(frames[0].with_columns(age=pl.Series(ages)), name="released")
    found = searched("pay", known=("age", "town")).search(released=released, knowledge=knowledge, rng=RNG(1))
    assert found.remembered.trials.attack.tries == 150
    found = searched("age", known=("town", "pay")).search(released=released, knowledge=knowledge, rng=RNG(1))
    assert found.remembered.adversary == found.guessed.adversary == "nearest"
    assert all(" left out: " in note for note in found.notes)
    alone = searched("pay", known=("age",)).search(released=released, knowledge=knowledge, rng=RNG(1))
    assert alone.remembered.adversary == "nearest"
    paired = searched("pay", known=("age", "town")).search(
        released=released, knowledge=Knowledge(knowledge.records), rng=RNG(1)
    )
    assert paired.remembered.others is not None
    assert paired.remembered.others.tries == paired.remembered.trials.attack.tries == 60


def test_people_without_a_secret_are_left_out_on_either_side() -> None:
    released, knowledge = case(300, 12, 0.5)
    assert knowledge.control is not None
    gone = pl.when(pl.int_range(300) < 290).then(None).otherwise(pl.col("ill")).alias("ill")
    few = Knowledge(knowledge.records, table(knowledge.control.frame.with_columns(gone), "control"))
    found = searched(known=LEAKED, **BY_ROWS).search(released=released, knowledge=few, rng=RNG(1))
    assert "96.7% of the rows of the control lack 'ill' and are left out" in found.notes
    assert found.remembered.trials.control is not None
    assert sum(found.learned_from) - 150 + found.remembered.trials.control.tries == 10
    none = np.array([], np.int64)
    parts = LearnMeasureRows((none, none), (np.arange(5), np.arange(5)))
    alone = searched(known=LEAKED, **BY_ROWS).search(released=released, knowledge=few, rng=RNG(1), parts=parts)
    assert alone.remembered.trials.control is None
    lacking = Knowledge(table(knowledge.records.frame.with_columns(gone), "original"), knowledge.control)
    with pytest.raises(InputError, match="no person to test has a value of 'ill'"):
        searched().search(released=released, knowledge=lacking, rng=RNG(1), parts=parts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"adversaries": ()}, "Unknown attackers among the 0 given"),
        ({"adversaries": ("nearest", "oracle")}, "Unknown attackers among the 2 given"),
        ({"most_rows": 0}, "most_rows must be"),
        ({"known": ("ill",)}, "column 'ill' is both sensitive and a quasi-identifier"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        searched(**settings)


def test_a_secret_of_one_value_and_an_original_of_too_few_people_are_refused() -> None:
    released, knowledge = case(40, 11, 0.5)
    same = table(released.frame.with_columns(ill=pl.lit("flu")), "released")
    with pytest.raises(InputError, match="the sensitive attribute 'ill' needs two different values in the released"):
        searched().run(released=same, knowledge=knowledge, rng=RNG(1))
    two = Knowledge(knowledge.records.take([0, 1]))
    with pytest.raises(InputError, match="the comparison needs two people who are not attacked, but the original has"):
        searched().run(released=released, knowledge=two, rng=RNG(1))
    constant = table(released.frame.with_columns(c0=pl.lit("x")), "released")
    assert searched().run(released=constant, knowledge=knowledge, rng=RNG(1)).attack.tries == 40


def test_learners_side_by_side_leave_the_threads_of_the_process_as_they_were() -> None:
    """Sums of other measures round differently with another number of threads, so it must not change on the way."""
    from threadpoolctl import threadpool_info

    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, (400, 3)).astype(np.int32)
    known = IntegerGrid(np.empty((400, 0), np.int64), codes, np.empty(0, np.int64), 1)
    rank = codes[:, 0].astype(np.int64)
    teacher = _guessers.Teacher(known, ReleasedSecrets(rank, 4))
    before = [(each["filepath"], each["num_threads"]) for each in threadpool_info() if each["user_api"] == "blas"]
    right = RightRanks(rank, rank, rank + 1)
    found = in_threads(lambda _: _guessers.guess_chances("forest", teacher, known, right), range(6), threads=3)
    assert all(np.array_equal(each, found[0]) for each in found)
    assert [(e["filepath"], e["num_threads"]) for e in threadpool_info() if e["user_api"] == "blas"] == before


def test_without_a_control_what_follows_from_one_column_is_no_memory() -> None:
    """A district follows from its density; incomes lead whoever goes by rare values astray, unless nobody has any."""
    rng = np.random.default_rng(5)
    district = rng.integers(0, 6, 700)
    people = pl.DataFrame(
        {"district": [f"d{at}" for at in district], "density": district * 10.0, "pay": rng.permutation(700) * 7.0}
    )
    released = people.with_columns(pl.lit(0.0).alias("pay"))
    tables = [
        Table.from_frame(each, name=name, kinds={"density": "number", "pay": "number"})
        for each, name in ((people, "original"), (released, "release"))
    ]
    found = SearchedInference(secret="district", known=("density", "pay")).search(  # noqa: S106 (a column)
        released=tables[1], knowledge=Knowledge(tables[0]), rng=np.random.default_rng(1)
    )
    assert found.taught is not None
    assert found.taught.others is not None
    assert found.taught.others.expected == found.taught.others.tries
    assert found.remembered.trials.attack.expected <= found.taught.others.expected

"""Studies of tables: which columns and rows the adversary knows, and whose each released row is."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.studies.small import first, looked_at, rows_of, small_study
from unveil.attacks import ATTACKS, attack_from
from unveil.data.table import Table
from unveil.data.table.release import Knowledge, Release
from unveil.errors import InputError
from unveil.metrics import all_metrics
from unveil.metrics.trials.risk import excess_over_control
from unveil.protections import protection_from
from unveil.studies import Axis, DataSet, Replications, Study
from unveil.studies._parts import attack_of
from unveil.studies.releases import release_of
from unveil.studies.replication import draw_leaked_people, draw_table_knowledge
from unveil.studies.scenario import number_text, rng
from unveil.studies.scenario_run import run_scenario
from unveil.studies.sources import table_of

PEOPLE = DataSet("people", "table", "sample:anes96")


def people_study(folder: Path, **changes: Any) -> Study:
    told: dict[str, Any] = {
        "data": (PEOPLE,),
        "protections": ("rank-swapping:share=0.05",),
        "attacks": ("record-linkage:targets=40",),
        "axes": (Axis("known_columns", (2, 5)),),
        "replications": Replications(number=2),
    }
    return small_study(folder, **{**told, **changes})


def release(rows: int, seed: int = 1) -> Release:
    chance = np.random.default_rng(seed)
    frame = pl.DataFrame({name: chance.integers(0, 50, rows) for name in "abcd"} | {"e": chance.random(rows)})
    table = Table.from_frame(frame, name="original", roles={**dict.fromkeys("abcd", "known"), "e": "sensitive"})
    order = chance.permutation(rows)
    return Release(table, table.take(order), truth=order)


def test_columns_and_rows_are_drawn_and_the_truth_follows() -> None:
    made = release(30)
    seen = set()
    for seed in range(40):
        case = draw_table_knowledge(made, known_columns=2, known_share=0.5, rng=np.random.default_rng(seed))
        names = case.knowledge.records.column_names
        assert case.released.column_names == names
        assert list(names) == sorted(names)
        assert case.knowledge.records.rows == 15
        assert sorted(case.truth) == list(range(30))
        held = case.truth < 15
        # Nothing was changed here, so that each released row equals the row of the one it belongs to.
        mine = case.knowledge.records.frame[case.truth[held].tolist()]
        assert mine.equals(case.released.frame.filter(pl.Series(held)))
        assert case.knowledge.scale is not None
        assert case.knowledge.scale.rows == 2
        seen.add(names)
    assert len(seen) == 6
    assert all("e" not in names for names in seen)


def test_who_knows_everything_has_all_rows_and_known_columns() -> None:
    made = release(12)
    case = draw_table_knowledge(made, known_columns=None, known_share=1.0, rng=np.random.default_rng(0))
    assert case.knowledge.records.column_names == ("a", "b", "c", "d")
    assert case.knowledge.scale is None
    assert made.truth is not None
    assert (case.truth == made.truth).all()
    tiny = draw_table_knowledge(made, known_columns=1, known_share=0.001, rng=np.random.default_rng(0))
    assert tiny.knowledge.records.rows == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"known_columns": 5}, "known_columns is 5; it must be from 1 to 4"),
        ({"known_share": 0.0}, "known_share must be above 0"),
    ],
)
def test_what_cannot_be_known_is_refused(changes: dict[str, Any], message: str) -> None:
    told: dict[str, Any] = {"known_columns": 2, "known_share": 0.5, "rng": np.random.default_rng(0)}
    with pytest.raises(InputError, match=message):
        draw_table_knowledge(release(5), **{**told, **changes})


def test_without_truth_or_known_columns_nothing_can_be_studied() -> None:
    made = release(5)
    told: dict[str, Any] = {"known_columns": 1, "known_share": 1.0, "rng": np.random.default_rng(0)}
    with pytest.raises(InputError, match="with true matches"):
        draw_table_knowledge(Release(made.original, made.released), **told)
    secret = made.original.select(["e"])
    with pytest.raises(InputError, match="must have a released quasi-identifier"):
        draw_table_knowledge(Release(secret, secret, truth=np.arange(5)), **told)


@pytest.mark.parametrize("attack", ["record-linkage:targets=40", "nearest", "softmax"])
def test_the_numbers_are_those_of_the_definition(tmp_path: Path, attack: str) -> None:
    study = people_study(tmp_path, attacks=(attack,), metrics=(), replications=Replications(number=1))
    scenario = first(study)
    outcome = run_scenario(study, scenario, tmp_path)
    assert outcome.error is None
    rows = rows_of(tmp_path, scenario)
    original = table_of(PEOPLE)
    stream = rng(3, "release", "people", scenario.protect, 0)
    made = protection_from(scenario.protect).apply(original, rng=stream)
    stream = rng(3, "knowledge", "people", scenario.protect, "known_columns", "2", 0)
    case = draw_table_knowledge(made, known_columns=2, known_share=1.0, rng=stream)
    stream = rng(3, "attack", scenario.key, 0)
    guess = attack_from(attack).run(released=case.released, knowledge=Knowledge(case.knowledge.records), rng=stream)
    guess = guess.to_candidates() if attack == "nearest" else guess
    truth = case.truth if guess.targets is None else case.truth[guess.targets]
    expected = {measured.metric.name: measured.mean for measured in all_metrics(guess, truth)}
    seen = {name: np.nan if rows[name][0] is None else rows[name][0] for name in expected}
    assert seen == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


def test_more_columns_and_more_rows_help_the_adversary(tmp_path: Path) -> None:
    axes = (Axis("known_columns", (1, 5)), Axis("known_share", (0.2, 1.0)))
    study = people_study(tmp_path, axes=axes, attacks=("record-linkage:targets=100",))
    hits = []
    for scenario in study.scenarios():
        run_scenario(study, scenario, tmp_path)
        hits.append(rows_of(tmp_path, scenario)["correct"].mean())
    assert hits[0] < hits[1]  # type: ignore[operator]
    assert hits[2] < hits[3]  # type: ignore[operator]
    assert hits[1] > 50  # type: ignore[operator]


def test_an_attack_that_needs_the_mechanism_gets_it(tmp_path: Path) -> None:
    study = people_study(
        tmp_path, attacks=("bayes:targets=10",), protections=("pram",), axes=(Axis("known_share", (1,)),)
    )
    outcome = run_scenario(study, first(study), tmp_path)
    assert outcome.error is None
    assert outcome.rows == 2
    none = people_study(tmp_path, attacks=("bayes",), protections=("shuffle",), axes=(Axis("known_share", (1,)),))
    assert "no mechanism was passed" in (run_scenario(none, first(none), tmp_path).error or "")


@pytest.mark.parametrize("protect", ["mondrian", "generalization", "microaggregation", "pram", "suppression"])
def test_a_release_out_of_its_file_is_the_one_that_was_made(tmp_path: Path, protect: str) -> None:
    study = looked_at(people_study(tmp_path, protections=(protect,)))
    (data,) = study.data
    made = release_of(study, data, protect, 0, tmp_path, fresh=True)
    read = release_of(study, data, protect, 0, tmp_path)
    assert read.released.frame.equals(made.released.frame)
    assert read.released.frame.schema == made.released.frame.schema
    assert read.released.columns == made.released.columns or [vars(c) for c in read.released.columns] == [
        vars(c) for c in made.released.columns
    ]
    assert (read.truth == made.truth).all()
    (file,) = (tmp_path / "releases").iterdir()
    file.write_bytes(file.read_bytes()[:-40])
    assert release_of(study, data, protect, 0, tmp_path).released.frame.equals(made.released.frame)


def test_a_table_above_the_memory_is_a_row(tmp_path: Path) -> None:
    study = people_study(tmp_path)
    said = run_scenario(study, first(study), tmp_path, memory=310 * 2**20).error
    assert said is not None
    assert said.startswith("a scenario of 'people' is projected to take 32")


def test_members_others_and_control_are_apart_and_so_many_members_are_released() -> None:
    made = release(31)
    ids = made.original.frame.with_row_index()
    for seed, (share, leaked) in enumerate([(0, 0), (0.25, 3), (0.5, 5), (1, 10)]):
        case = draw_leaked_people(made, known_columns=3, leaked_share=share, rng=np.random.default_rng(seed))
        control = case.knowledge.control
        assert control is not None
        assert (control.name, len(set(case.columns) & set("abcd"))) == ("control", 3)
        members, outside, shown = (
            set(table.frame.join(ids, on=list("abcde"))["index"])
            for table in (case.knowledge.records, control, case.released)
        )
        assert [len(members), len(outside), len(shown)] == [10] * 3
        assert not outside & (members | shown)
        assert len(shown & members) == leaked
    with pytest.raises(InputError, match="at least 3 rows"):
        draw_leaked_people(release(2), known_columns=None, leaked_share=1.0, rng=np.random.default_rng(1))


TOLD: dict[str, dict[str, Any]] = {
    "linkability:neighbours=1": {"neighbours": 1},
    "inference:secret=vote": {"secret": "vote"},
    "singling-out:guesses=20": {"guesses": 20},
    "membership": {},
}


def test_trials_in_a_study_are_those_of_the_attack_with_the_drawn_columns(tmp_path: Path) -> None:
    axes = (Axis("leaked_share", (0.5,)), Axis("known_columns", (4,)))
    study = looked_at(people_study(tmp_path, attacks=tuple(TOLD), metrics=(), protections=("shuffle",), axes=axes))
    study.check()
    for scenario in study.scenarios():
        outcome = run_scenario(study, scenario, tmp_path)
        assert outcome.error is None
        rows = rows_of(tmp_path, scenario)
        case = draw_leaked_people(
            release_of(study, scenario.data, scenario.protect, 0, tmp_path),
            known_columns=scenario.levels.get("known_columns"),
            leaked_share=scenario.levels.get("leaked_share", 1.0),
            rng=rng(study.seed, "knowledge", "people", "shuffle", scenario.axis, number_text(scenario.level), 1),
        )
        name, drawn = scenario.attack.partition(":")[0], case.columns
        known: dict[str, dict[str, Any]] = {"inference": {"known": drawn}, "membership": {"columns": drawn}}
        known |= {"linkability": {"first": drawn[::2], "second": drawn[1::2]}}
        known |= {"singling-out": {"columns": drawn, "size": len(drawn)}}
        trials = (
            ATTACKS[name]
            .make(**TOLD[scenario.attack], **known[name])
            .run(released=case.released, knowledge=case.knowledge, rng=rng(study.seed, "attack", scenario.key, 1))
        )
        assert rows["excess_over_control"][1] == excess_over_control(trials).value
        assert (rows["correct"][1], rows["attempted"][1]) == (trials.attack.expected, trials.attack.tries)


def test_one_column_cannot_be_divided_and_any_name_can_be_drawn() -> None:
    with pytest.raises(InputError, match="needs at least 2 quasi-identifiers, but gets 1"):
        attack_of("table", "linkability", ["age"])
    assert attack_of("table", "linkability:", ["age", "town"]) == attack_of("table", " linkability", ["age", "town"])
    made = attack_of("table", "linkability:neighbours=3", ["town, county", 'so "called"', "a=b"])
    assert (made.first, made.second, made.neighbours) == (("town, county", "a=b"), ('so "called"',), 3)
    with pytest.raises(InputError, match="has the setting 'size' twice"):
        attack_of("table", "singling-out:size=2", ["age", "town"])

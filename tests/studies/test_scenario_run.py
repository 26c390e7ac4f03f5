"""One scenario: its numbers are those of the definition, and whatever goes wrong is a row."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies.own import Guess
from tests.studies.small import GUESS, first, looked_at, rows_of, small_study
from unveil.attacks import graph_attack_from
from unveil.data.graph.knowledge import draw_knowledge, original_among
from unveil.errors import InputError
from unveil.guesses import EdgeClaims
from unveil.metrics import (
    all_metrics,
    deanonymizability_bound,
    edge_disclosure_precision,
    edge_disclosure_recall,
)
from unveil.metrics.candidates._truth import correct
from unveil.protections import graph_protection_from
from unveil.studies import Axis, Replications
from unveil.studies.releases import release_name, release_of
from unveil.studies.scenario import rng
from unveil.studies.scenario_run import make_release, run_scenario
from unveil.studies.sources import graph_of
from unveil.studies.stored_results import StoredRows, read_result
from unveil.work.seal import seal_of


def test_the_numbers_are_those_of_the_definition(tmp_path: Path) -> None:
    study = small_study(tmp_path, metrics=(), releases=2, replications=Replications(number=3))
    for scenario in (study.scenarios()[1], study.scenarios()[3]):
        run_scenario(study, scenario, tmp_path)
        rows = rows_of(tmp_path, scenario)
        assert rows["release"].to_list() == [0, 1, 0]
        for number in range(3):
            original = graph_of(scenario.data)
            stream = rng(3, "release", "small", scenario.protect, number % 2)
            release = graph_protection_from(scenario.protect).apply(original, rng=stream)
            stream = rng(3, "knowledge", "small", scenario.protect, "seed_pairs", "5", number)
            knowledge = draw_knowledge(release, overlap=0.85, seed_pairs=5, rng=stream)
            stream = rng(3, "attack", scenario.key, number)
            guess = Guess().run(released=release.released, knowledge=knowledge, rng=stream)
            # Nodes that the adversary knew before are no targets.
            targets = [node for node in range(40) if node not in knowledge.seeds[:, 0]]
            guess, truth = guess.only(targets), release.truth[targets]
            expected = {measured.metric.name: measured.mean for measured in all_metrics(guess, truth)}
            seen = {name: np.nan if rows[name][number] is None else rows[name][number] for name in expected}
            assert seen == pytest.approx(expected, rel=0, abs=0, nan_ok=True)
            assert rows["attempted"][number] == 35
            assert rows["correct"][number] == correct(guess, truth).sum()
        assert rows["error"].null_count() == rows["replication"].len() == 3
        assert rows.width == 9 + len(expected) + 1


def test_every_attack_meets_the_same_knowledge(tmp_path: Path) -> None:
    study = small_study(tmp_path, attacks=("tests.studies.own:Seen", "tests.studies.own:Seen:notes=other"))
    for scenario in study.scenarios():
        run_scenario(study, scenario, tmp_path)
    one, other = (rows_of(tmp_path, study.scenarios()[n]) for n in (0, 2))
    assert one["attack"][0] != other["attack"][0]
    # Which target is attempted tells the edges that the adversary knew.
    assert one["adversary_success_rate"].to_list() == other["adversary_success_rate"].to_list()
    assert one["entropy"].to_list() == other["entropy"].to_list()


def test_a_release_is_made_once_and_read_from_then_on(tmp_path: Path) -> None:
    count = tmp_path / "count"
    study = looked_at(small_study(tmp_path, protections=(f"tests.studies.own:Counted:file={count}",)))
    scenario = first(study)
    made = release_of(study, scenario.data, scenario.protect, 0, tmp_path)
    assert made is release_of(study, scenario.data, scenario.protect, 0, tmp_path)
    assert make_release(study, scenario, 0, tmp_path).error is None
    for each in study.scenarios():
        assert run_scenario(study, each, tmp_path).error is None
    assert count.read_text() == "applied\n"
    assert (made.name, made.notes, dict(made.facts), made.kind) == ("counted", ("renumbered",), {"done": 1.0}, "masked")
    file = tmp_path / "releases" / release_name(study, scenario.data, scenario.protect, 0)
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], content[:100] + b"\xff" + content[101:], b""):
        file.write_bytes(damaged)
        again = release_of(study, scenario.data, scenario.protect, 0, tmp_path)
        assert (again.truth == made.truth).all()
        assert (again.released.keys == made.released.keys).all()
        assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        ("Failing", "error in your class tests.studies.own:Failing: ZeroDivisionError in run, line "),
        ("Leaving", "error in your class tests.studies.own:Leaving: SystemExit in run, line "),
        ("Nothing", "an attack in a study must leave Candidates, but 'tests.studies.own:Nothing' left a str"),
    ],
)
def test_whatever_an_attack_raises_is_in_the_file(tmp_path: Path, attack: str, message: str) -> None:
    study = small_study(tmp_path, attacks=(f"tests.studies.own:{attack}",))
    outcome = run_scenario(study, first(study), tmp_path)
    content = (tmp_path / "results" / outcome.file).read_bytes()
    stored = read_result(content, StoredRows)
    assert (stored.error, stored.values.size) == (outcome.error, 0)
    assert outcome.error is not None
    assert outcome.error.startswith(message)
    seal = seal_of(content)
    assert seal is not None
    assert seal.state == "failed"
    # A foreign error may quote data, so that its text is beside the results and not in them.
    assert "secret" not in outcome.error
    assert "Traceback" in (tmp_path / "errors" / f"{outcome.file}.txt").read_text()


@pytest.mark.parametrize(
    ("protect", "message"),
    [
        ("tests.studies.own:Refusing", "ValueError in apply"),
        (
            "tests.studies.own:NoRelease",
            "the method apply of tests.studies.own:NoRelease returned a Graph instead of a GraphRelease",
        ),
    ],
)
def test_whatever_a_protection_raises_is_a_row(tmp_path: Path, protect: str, message: str) -> None:
    study = small_study(tmp_path, protections=(protect,))
    outcome = run_scenario(study, first(study), tmp_path)
    assert message in (outcome.error or "")
    assert message in (make_release(study, first(study), 0, tmp_path).error or "")


def test_what_cannot_be_drawn_is_a_row(tmp_path: Path) -> None:
    study = small_study(tmp_path, axes=(Axis("seed_pairs", (2, 41)),))
    assert run_scenario(study, study.scenarios()[0], tmp_path).error is None
    said = run_scenario(study, study.scenarios()[1], tmp_path).error
    assert said is not None
    assert "whole number from 0 to the number of nodes, but is 41" in said


def test_replications_end_when_every_metric_is_known_well_enough(tmp_path: Path) -> None:
    told: dict[str, Any] = {"metrics": ("entropy", "adversary_success_rate")}
    rough = small_study(tmp_path, seed=4, replications=Replications(relative_error=0.5, cap=400), **told)
    run_scenario(rough, first(rough), tmp_path)
    rows = rows_of(tmp_path, first(rough))
    size = rows.height
    assert 10 < size < 400
    assert size % 10 == 0
    for count in range(10, size + 1, 10):
        part = rows["adversary_success_rate"][:count].to_numpy()
        half = 1.96 * part.std(ddof=1) / np.sqrt(count)  # Student's is wider, by less than a sixth from ten on
        assert (half <= 0.5 * part.mean()) if count == size else (half * 1.17 > 0.5 * part.mean())
    fine = small_study(tmp_path, seed=4, replications=Replications(relative_error=0.01, cap=25), **told)
    run_scenario(fine, first(fine), tmp_path)
    more = rows_of(tmp_path, first(fine))
    assert more.height == 25
    # A replication depends on its number alone, and not on how many there are.
    assert more.drop("error")[:10].equals(rows.drop("error")[:10])


def test_scenarios_above_the_memory_are_not_begun(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    outcome = run_scenario(study, first(study), tmp_path, memory=300 * 2**20)
    assert outcome.error is not None
    assert "a scenario of 'small' is projected to take 320 MiB of memory, and may take 300 MiB" in outcome.error
    assert "reading the data 'small' is projected" in (
        run_scenario(study, first(study), tmp_path, memory=9).error or ""
    )
    assert not (tmp_path / "releases").exists()
    assert run_scenario(study, first(study), tmp_path, memory=2**30).error is None


def test_a_second_time_gives_the_same_bytes(tmp_path: Path) -> None:
    study = small_study(tmp_path, attacks=(GUESS, "tests.studies.own:Failing"))
    for scenario in study.scenarios():
        path = tmp_path / "results" / run_scenario(study, scenario, tmp_path).file
        before = path.read_bytes()
        run_scenario(study, scenario, tmp_path)
        assert path.read_bytes() == before


def test_edges_and_the_bound_are_measured_where_they_are_named_and_not_otherwise(tmp_path: Path) -> None:
    named = ("adversary_overall_success", "edge_disclosure_precision", "edge_disclosure_recall")
    study = looked_at(small_study(tmp_path, metrics=(*named, "deanonymizability_bound"), attacks=("MF",)))
    plain = looked_at(small_study(tmp_path, metrics=named[:1], attacks=("MF",)))
    scenario = first(study)
    assert run_scenario(study, scenario, tmp_path).error is None
    assert run_scenario(plain, first(plain), tmp_path).error is None
    rows, bare = rows_of(tmp_path, scenario), rows_of(tmp_path, first(plain))
    assert rows["adversary_overall_success"].to_list() == bare["adversary_overall_success"].to_list()
    assert "edge_disclosure_precision" not in bare.columns
    release = release_of(study, scenario.data, scenario.protect, 0, tmp_path)
    for number in range(rows.height):
        stream = rng(3, "knowledge", "small", scenario.protect, "seed_pairs", "2", number)
        knowledge = draw_knowledge(release, overlap=0.85, seed_pairs=2, rng=stream)
        stream = rng(3, "attack", scenario.key, number)
        guess = graph_attack_from("MF").run(released=release.released, knowledge=knowledge, rng=stream)
        claims = EdgeClaims.from_mapping(guess, released=release.released, knowledge=knowledge)
        original = original_among(release.original, knowledge)
        wanted = (
            edge_disclosure_precision(claims, original),
            edge_disclosure_recall(claims, original),
            deanonymizability_bound(knowledge, release),
        )
        assert rows.select(*named[1:], "deanonymizability_bound").row(number) == pytest.approx(wanted)


def test_calibrated_edges_are_those_of_learned_chances_and_tables_have_none(tmp_path: Path) -> None:
    metrics = ("entropy", "edge_disclosure_recall", "deanonymizability_bound")
    study = looked_at(small_study(tmp_path, metrics=metrics, attacks=("KL",), calibrate="simulate"))
    assert run_scenario(study, first(study), tmp_path).error is None
    rows = rows_of(tmp_path, first(study))
    assert rows["calibrated.edge_disclosure_recall"].null_count() == 0
    assert rows["calibrated.deanonymizability_bound"].null_count() == rows.height
    for wrong in ("hidden_edges_disclosed", "attribute_disclosure_gain"):
        with pytest.raises(InputError, match="there is no metric of candidates called"):
            small_study(tmp_path, metrics=(wrong,)).check()

"""Calibrated metrics in a study: as calibration itself gives them, beside raw ones that stay what they were."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tests.studies.small import files, looked_at, node_files, small_graph, small_study
from unveil.attacks.graph.calibration import calibrate
from unveil.data.graph.knowledge import draw_knowledge
from unveil.errors import InputError
from unveil.metrics import METRICS as LISTED
from unveil.metrics.candidates.candidate_metrics import measure_one
from unveil.questions.grade_metrics.answer import grade_metrics
from unveil.questions.study.answer import study_report
from unveil.questions.study.sections.strength import effect_table
from unveil.studies import Axis, DataSet, Replications, Results, Study, run_study
from unveil.studies._parts import attack_of, protection_of
from unveil.studies.releases import release_of
from unveil.studies.scenario import rng

NAMES = ("entropy", "anonymity_set_size", "adversary_overall_success", "expected_calibration_error")


def plan(folder: Path, **changes: object) -> Study:
    told = {"attacks": ("DV",), "metrics": NAMES, "axes": (Axis("seed_pairs", (3, 6)),), "calibrate": "simulate"}
    data = (DataSet("small", "graph", str(small_graph(folder, nodes=60))),)
    return small_study(folder, data=data, replications=Replications(number=2), **{**told, **changes})


def test_columns_are_those_of_the_calibrated_guess(tmp_path: Path) -> None:
    study, out = looked_at(plan(tmp_path)), tmp_path / "out"
    run_study(study, out, workers=0)
    results = Results.read(out)
    assert results.metrics == NAMES + tuple(f"calibrated.{name}" for name in NAMES)
    scenario, number = study.scenarios()[-1], 1
    release = release_of(study, scenario.data, scenario.protect, 0, out)
    knowledge = draw_knowledge(
        release,
        overlap=0.85,
        seed_pairs=6,
        rng=rng(study.seed, "knowledge", "small", scenario.protect, "seed_pairs", "6", number),
    )
    attack = attack_of("graph", "DV")
    guess = attack.run(
        released=release.released, knowledge=knowledge, rng=rng(study.seed, "attack", scenario.key, number)
    )
    learned = calibrate(
        attack,
        protection_of("graph", scenario.protect),
        released=release.released,
        knowledge=knowledge,
        guess=guess,
        draws=1,
        rng=rng(study.seed, "calibrate", scenario.key, number),
    )
    targets = knowledge.targets(release.released)
    (row,) = results.frame.filter(
        pl.col("protect") == scenario.protect, pl.col("level") == 6, pl.col("replication") == number
    ).to_dicts()
    for name in NAMES:
        wanted = measure_one(LISTED[name], learned(guess).only(targets), release.truth[targets]).mean
        assert row[f"calibrated.{name}"] == pytest.approx(wanted, nan_ok=True)
    assert row["calibrated.entropy"] != pytest.approx(row["entropy"])
    named = results.nodes.filter(pl.col("protect") == scenario.protect, pl.col("level") == 6)["metric"].to_list()
    per_node = [name for name in NAMES if LISTED[name].per == "target"]
    assert named == [*per_node, *(f"calibrated.{name}" for name in per_node)]


def test_raw_columns_are_the_same_with_and_without(tmp_path: Path) -> None:
    run_study(plan(tmp_path), tmp_path / "with", workers=0)
    run_study(plan(tmp_path, calibrate=None), tmp_path / "without", workers=0)
    one, other = Results.read(tmp_path / "with").frame, Results.read(tmp_path / "without").frame
    assert one.select(other.columns).equals(other)
    run_study(plan(tmp_path), tmp_path / "again", workers=1)
    assert files(tmp_path / "again") == files(tmp_path / "with")
    assert node_files(tmp_path / "again") == node_files(tmp_path / "with")


def test_what_cannot_be_calibrated_is_undefined_and_loses_nothing(tmp_path: Path) -> None:
    study = plan(tmp_path, attacks=("tests.studies.own:Open",))  # leaves open whom it chose
    assert run_study(study, tmp_path / "out", workers=0).failed == 0
    frame = Results.read(tmp_path / "out").frame
    assert frame["entropy"].null_count() == 0
    assert frame["calibrated.entropy"].null_count() == frame.height
    assert {path.suffix for path in (tmp_path / "out" / "errors").iterdir()} == {".txt"}
    # One pair cannot be kept back, three can.
    few = plan(tmp_path, calibrate="seeds", axes=(Axis("seed_pairs", (1, 3)),))
    run_study(few, tmp_path / "few", workers=0)
    found = Results.read(tmp_path / "few").frame.group_by("level").agg(pl.col("calibrated.entropy").null_count())
    assert dict(found.iter_rows()) == {1.0: 4, 3.0: 0}


def test_reports_and_grades_cope_with_calibrated_columns(tmp_path: Path) -> None:
    run_study(plan(tmp_path), tmp_path / "out", workers=0)
    answer = study_report(tmp_path / "out", metrics=["calibrated.entropy", "all"])
    assert answer.findings.metrics[:2] == ("calibrated.entropy", "entropy")
    assert answer.findings.more_is_private
    page = answer.to_html()
    assert "calibrated entropy" in page
    assert "Calibrated entropy, by" in page
    assert effect_table(answer.findings).caption == "Calibrated entropy at seed pairs 6"
    assert "calibrated.entropy" not in page.lower()
    assert "attacks it in the same way (1 time per replication)" in page
    assert study_report(tmp_path / "out").findings.metrics == ("adversary_overall_success", "entropy")
    graded = grade_metrics(tmp_path / "out")
    assert {each.metric for each in graded.findings.grades.metrics} <= set(NAMES)
    summary = Results.read(tmp_path / "out").summary()
    assert set(summary["metric"]) == {*NAMES, *(f"calibrated.{name}" for name in NAMES)}


def test_a_study_file_says_how_to_calibrate(tmp_path: Path) -> None:
    study = plan(tmp_path, calibrate_draws=2)
    (tmp_path / "study.toml").write_text(study.to_toml())
    again = Study.read(tmp_path / "study.toml")
    assert (again.calibrate, again.calibrate_draws, again.identity()) == ("simulate", 2, study.identity())
    assert replace(study, calibrate_draws=1).identity() != study.identity()
    raw = replace(study, calibrate="none")
    assert raw.calibrate is None
    assert raw.identity() == replace(raw, calibrate_draws=1).identity()
    with pytest.raises(InputError, match=r"calibrate must be simulate, seeds or none, but is 'simulat'\. Did you mean"):
        replace(study, calibrate="simulat")
    with pytest.raises(InputError, match="calibrate_draws"):
        replace(study, calibrate_draws=0)
    with pytest.raises(InputError, match="the data of this study are tables"):
        replace(study, data=(DataSet("people", "table", "sample:anes96"),), axes=(Axis("known_columns", (2,)),))

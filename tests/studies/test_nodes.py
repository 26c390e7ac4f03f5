"""Values of nodes in a study: pooled over replications, sealed like results, and read back."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.studies.small import METRICS, files, first, looked_at, node_files, small_study
from unveil._kernels.sketches import sketch_of
from unveil.metrics import METRICS as LISTED
from unveil.metrics.candidates.candidate_metrics import measure_one
from unveil.studies import Axis, DataSet, Results, Store, Study, run_study
from unveil.studies._parts import attack_of
from unveil.studies.nodes import NodeValues
from unveil.studies.releases import release_of
from unveil.studies.replication import attack_graph
from unveil.studies.scenario_run import run_scenario
from unveil.studies.times import Clock

KEYS = ["data", "protect", "attack", "axis", "level"]


def test_sketches_are_those_of_all_values_of_all_replications(tmp_path: Path) -> None:
    study, out = looked_at(small_study(tmp_path)), tmp_path / "out"
    run_study(study, out, workers=0)
    nodes = Results.read(out).nodes
    assert nodes.columns == [*KEYS, "metric", "count", "lowest", "highest", "sum", "squares", "blocks"]
    assert nodes.schema["count"] == pl.UInt64
    assert nodes.schema["blocks"] == pl.List(pl.Float32)
    each_node = [name for name in METRICS if LISTED[name].per == "target"]
    assert 0 < len(each_node) < len(METRICS)
    assert nodes.height == len(each_node) * len(study.scenarios())
    scenario = study.scenarios()[-1]
    release = release_of(study, scenario.data, scenario.protect, 0, out)
    attack = attack_of("graph", scenario.attack)
    drawn = [attack_graph(study, scenario, release, attack, number, Clock(), out) for number in range(3)]
    for name in each_node:
        values = [measure_one(LISTED[name], each.guess, each.truth).values for each in drawn]  # type: ignore[arg-type]
        wanted = sketch_of(np.concatenate(values))
        (row,) = nodes.filter(
            pl.col("metric") == name, pl.col("protect") == scenario.protect, pl.col("level") == scenario.level
        ).to_dicts()
        assert (row["count"], row["lowest"], row["highest"]) == (wanted.count, wanted.lowest, wanted.highest)
        assert (row["sum"], row["squares"]) == (pytest.approx(wanted.sum), pytest.approx(wanted.squares))
        assert row["blocks"] == pytest.approx(wanted.blocks.tolist(), rel=1e-6)


def test_rows_of_tables_have_values_too_and_trials_have_none(tmp_path: Path) -> None:
    table = DataSet("people", "table", "sample:anes96", known=("age", "education", "income"))
    plan = small_study(
        tmp_path,
        data=(table,),
        protections=("shuffle",),
        attacks=("record-linkage",),
        axes=(Axis("known_columns", (3,)),),
        metrics=("entropy",),
    )
    run_study(plan, tmp_path / "out", workers=0)
    assert Results.read(tmp_path / "out").nodes["metric"].to_list() == ["entropy"]
    trials = replace(plan, attacks=("linkability:neighbours=1",), metrics=(), name="trials")
    run_study(trials, tmp_path / "trials", workers=0)
    assert Results.read(tmp_path / "trials").nodes.height == 0
    assert not (tmp_path / "trials" / "nodes").exists()


def test_a_study_that_keeps_no_values_of_nodes_has_the_same_results(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    run_study(study, tmp_path / "with", workers=0)
    run_study(replace(study, node_values=False), tmp_path / "without", workers=0)
    assert files(tmp_path / "with") == files(tmp_path / "without")
    assert not (tmp_path / "without" / "nodes").exists()
    results = Results.read(tmp_path / "without")
    assert (results.study.node_values, results.nodes.height, results.nodes.columns[:5]) == (False, 0, KEYS)
    # What older folders are like: values of nodes are not there, though nobody said so. They are read all the same.
    for path in (tmp_path / "with" / "nodes").iterdir():
        path.unlink()
    results = Results.read(tmp_path / "with")
    assert (len(results.fine), results.nodes.height) == (4, 0)
    # Resuming computes them, and nothing else comes out.
    assert run_study(study, tmp_path / "with", workers=0, resume=True).done == 4
    assert files(tmp_path / "with") == files(tmp_path / "without")
    assert Results.read(tmp_path / "with").nodes.height == 8


def test_damaged_values_of_nodes_are_set_aside_and_computed_again(tmp_path: Path) -> None:
    study, out = small_study(tmp_path), tmp_path / "out"
    run_study(study, out, workers=0)
    before = node_files(out)
    one, other, *_ = sorted(before)
    (out / "nodes" / one).write_bytes((out / "nodes" / one).read_bytes()[:-50])
    (out / "nodes" / other).write_bytes((out / "results" / other).read_bytes()[:0])
    results = Results.read(out)
    assert (len(results.fine), len(results.damaged), results.nodes.height) == (2, 2, 4)
    summary = run_study(study, out, workers=0, resume=True)
    assert (summary.done, summary.reused, summary.set_aside) == (2, 2, 2)
    assert node_files(out) == before
    assert {path.name for path in (out / "damaged").iterdir()} == {f"{one}.1", f"{other}.1"}


def test_a_scenario_without_any_value_has_a_file_without_rows(tmp_path: Path) -> None:
    study, out = looked_at(small_study(tmp_path, attacks=("tests.studies.own:Idle",))), tmp_path / "out"
    with Store(out, study) as store:
        run_scenario(study, first(study), out, key=store.key)
        assert store.done() == {first(study).file_name}
    assert Results.read(out).nodes.height == 0


def test_many_values_need_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    every = [rng.gamma(2.0, size=2000).round(2) for _ in range(20)]
    monkeypatch.setattr("unveil.studies.nodes._MOST", 5000)
    monkeypatch.setattr("unveil.studies.nodes._RUNS", 2000)
    kept = NodeValues()
    for values in every:
        kept.add(np.append(values, np.nan))
        assert sum(each.size for each in kept.values) <= 5000
    found, wanted = kept.sketch(), sketch_of(np.concatenate(every))
    assert (found.count, found.lowest, found.highest) == (wanted.count, wanted.lowest, wanted.highest)
    assert [found.sum, found.squares] == pytest.approx([wanted.sum, wanted.squares])
    assert found.blocks == pytest.approx(wanted.blocks, abs=0.01)


def test_values_of_nodes_are_no_part_of_what_numbers_depend_on(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    without = replace(study, node_values=False)
    assert without.identity() == study.identity()
    (tmp_path / "study.toml").write_text(without.to_toml())
    assert Study.read(tmp_path / "study.toml", check=False).node_values is False

"""A study in one small file: read like its folder, with all replications, and nearly the same numbers and grades."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.studies.small import GUESS, METRICS, small_study
from unveil._kernels.sketches import ValueSketch, merged_evenness
from unveil.errors import InputError
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.suites import equal_suites, rankings
from unveil.questions.grade_metrics.answer import grade_metrics
from unveil.questions.study.answer import study_report
from unveil.questions.study.status import study_status
from unveil.studies import Axis, Replications, Results, Scenario, run_study
from unveil.studies.store import manifest_of

AXES = (Axis("seed_pairs", (2, 5, 8)), Axis("overlap", (0.5, 0.85)))


def names(scenarios: Sequence[Scenario]) -> list[str]:
    return [each.file_name for each in scenarios]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("summary")
    study = small_study(
        home,
        attacks=(GUESS, "tests.studies.own:Failing:seeds=2", "tests.studies.own:Idle"),
        axes=AXES,
        fixed={"seed_pairs": 5, "overlap": 0.85},
        metrics=(*METRICS, "pearson_correlation", "adversary_overall_success"),
        replications=Replications(number=4),
        releases=2,
    )
    run_study(study, home / "out", workers=0)
    return home / "out"


@pytest.fixture(scope="module")
def file(folder: Path) -> Path:
    path = folder.parent / "summary.parquet"
    path.write_bytes(Results.read(folder).to_summary())
    return path


def test_a_summary_holds_the_rows_of_its_folder(folder: Path, file: Path) -> None:
    one, other = Results.read(folder), Results.read(file)
    for state in ("fine", "failed", "missing", "scenarios"):
        assert names(getattr(other, state)) == names(getattr(one, state))
    assert other.errors.equals(one.errors)
    assert one.errors.height == 2
    assert other.study.to_toml() != one.study.to_toml()  # of the place of the data the name of the file is left
    assert other.study.data[0].source == "small.csv"
    assert str(folder.parent).encode() not in file.read_bytes()
    assert other.frame.schema == one.frame.schema
    exact = ["data", "protect", "attack", "axis", "level", "replication", "release", "attempted", "error"]
    assert other.frame.select(exact).equals(one.frame.select(exact))
    for name in ("correct", *one.metrics):
        mine, his = one.frame[name].to_numpy(), other.frame[name].to_numpy()
        assert (np.isnan(mine) == np.isnan(his)).all()
        if not np.isnan(mine).all():
            assert np.array_equal(his, mine.astype(np.float32), equal_nan=True)


def test_a_summary_keeps_version_digests_and_cpu_seconds(folder: Path, file: Path) -> None:
    one, other = Results.read(folder), Results.read(file)
    assert manifest_of(file) == manifest_of(folder)
    assert set(one.seconds) == set(manifest_of(file)["data"]) == {each.name for each in one.study.data}
    assert other.seconds == pytest.approx(one.seconds, abs=1e-3)
    assert sum(one.seconds.values()) > 0


def test_values_that_are_equal_stay_equal_and_others_keep_their_order(folder: Path, file: Path) -> None:
    one, other = (ReplicatedMetrics.of(Results.read(each)).values for each in (folder, file))
    for mine, his in zip(one.reshape(-1, one[0, 0].size), other.reshape(-1, one[0, 0].size), strict=True):
        order = np.argsort(mine, kind="stable")
        steps = [np.diff(values[order][~np.isnan(values[order])]) for values in (mine, his)]
        assert (steps[1] >= 0).all()
        assert (steps[1][steps[0] == 0] == 0).all()


def test_values_of_nodes_are_nearly_the_same(folder: Path, file: Path) -> None:
    one, other = Results.read(folder).nodes, Results.read(file).nodes
    assert other.schema == one.schema
    facts = ["data", "protect", "attack", "axis", "level", "metric", "count"]
    assert other.select(facts).equals(one.select(facts))
    keys = ("data", "protect", "attack", "axis", "metric")
    parts = [each.partition_by(*keys, as_dict=True) for each in (one, other)]
    for key, mine in parts[0].items():
        lowest, highest = mine["lowest"].min(), mine["highest"].max()
        found = []
        for part in (mine, parts[1][key]):
            sketches = [
                ValueSketch(*row)
                for row in part.select("count", "lowest", "highest", "sum", "squares", "blocks").iter_rows()
            ]
            found.append(merged_evenness(sketches, lowest, highest))  # type: ignore[arg-type]
        assert found[1] == pytest.approx(found[0], abs=0.02)
        width = 1e-6 * max(float(np.abs(mine[["lowest", "highest"]].to_numpy()).max()), 1e-6)
        for name in ("lowest", "highest"):
            assert parts[1][key][name].to_numpy() == pytest.approx(mine[name].to_numpy(), abs=width)
        means = [(each["sum"] / each["count"]).to_numpy() for each in (mine, parts[1][key])]
        assert means[1] == pytest.approx(means[0], abs=width)


def test_a_summary_without_values_of_nodes(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.parquet"
    path.write_bytes(Results.read(folder).to_summary(nodes=False))
    found = Results.read(path)
    assert (found.nodes.height, found.frame.height) == (0, Results.read(folder).frame.height)


def test_reports_and_grades_take_it_for_the_folder(folder: Path, file: Path) -> None:
    one, other = grade_metrics(folder).findings.grades, grade_metrics(file).findings.grades
    assert [(each.metric, each.verdict) for each in other.metrics] == [
        (each.metric, each.verdict) for each in one.metrics
    ]
    for mine, his in zip(one.metrics, other.metrics, strict=True):
        assert his.monotonicity == mine.monotonicity or np.isnan(mine.monotonicity.mean)
        assert his.evenness.mean == pytest.approx(mine.evenness.mean, abs=1e-5, nan_ok=True)
    values = [ReplicatedMetrics.of(Results.read(each)) for each in (folder, file)]
    suites = equal_suites(("pearson_correlation", "adversary_overall_success"))
    ranked = [rankings(each, suites) for each in values]
    assert np.array_equal(ranked[0].whole, ranked[1].whole, equal_nan=True)
    assert np.array_equal(ranked[0].pairs, ranked[1].pairs, equal_nan=True)
    answers = [study_report(each) for each in (folder, file)]
    assert answers[1].findings.targets == answers[0].findings.targets
    options = [" ".join(getattr(step, "option", "") for step in each.page().next_steps) for each in answers]
    assert "--resume" in options[0]
    assert "This is a summary: numbers are rounded to 32-bit floats" in answers[1].to_html()
    assert "--resume" not in options[1]  # nothing goes on from a summary


def test_a_summary_of_an_earlier_version_keeps_its_errors(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = Results.read(folder)
    assert len(results.failed) * results.frame.height * results.nodes.height > 0  # which also reads them
    errors, name_of = results.errors, Scenario.file_name.fget  # type: ignore[attr-defined]
    with monkeypatch.context() as changed:
        changed.setattr(Scenario, "file_name", property(lambda each: name_of(each).replace(".result", ".parquet")))
        content = results.to_summary()
    (tmp_path / "old.parquet").write_bytes(content)
    assert Results.read(tmp_path / "old.parquet").errors.equals(errors)


def test_what_is_none_is_refused(folder: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "damaged.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    other = tmp_path / "other.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(other)
    with pytest.raises(InputError, match="must be the folder of a study, but is a file"):
        Results.read(next((folder / "results").iterdir()))
    for path in (damaged, other):
        with pytest.raises(InputError, match="must be the folder of a study or its summary, but is another file"):
            Results.read(path)
    with monkeypatch.context() as changed:
        changed.setattr("unveil.studies.summary._FORM", "0")
        other.write_bytes(Results.read(folder).to_summary())
    with pytest.raises(InputError, match="was written by another version of unveil, in an unsupported"):
        Results.read(other)
    with pytest.raises(InputError, match="is a summary, which has no status"):
        study_status(file)


def test_replications_may_differ_in_number_and_everything_may_be_undefined(tmp_path: Path) -> None:
    study = small_study(tmp_path, attacks=("tests.studies.own:Idle",), replications=Replications(number=1))
    run_study(study, tmp_path / "out", workers=0)
    results = Results.read(tmp_path / "out")
    (tmp_path / "s.parquet").write_bytes(results.to_summary())
    assert Results.read(tmp_path / "s.parquet").frame.equals(results.frame)
    loose = small_study(tmp_path, replications=Replications(relative_error=0.9, cap=12), name="loose")
    run_study(loose, tmp_path / "loose", workers=0)
    results = Results.read(tmp_path / "loose")
    (tmp_path / "l.parquet").write_bytes(results.to_summary())
    again = Results.read(tmp_path / "l.parquet")
    assert again.frame["replication"].to_list() == results.frame["replication"].to_list()
    # What is missing stays missing.
    (tmp_path / "loose" / "results" / results.fine[0].file_name).unlink()
    (tmp_path / "l.parquet").write_bytes(Results.read(tmp_path / "loose").to_summary())
    assert names(Results.read(tmp_path / "l.parquet").missing) == names(results.fine[:1])
    assert replace(again.counts, fine=3, missing=1) == Results.read(tmp_path / "l.parquet").counts

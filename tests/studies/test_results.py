"""Results read back: means and intervals as by hand, and every file accounted for."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.studies.small import GUESS, METRICS, small_study
from unveil.errors import InputError
from unveil.studies import Axis, Replications, Results, run_study


@pytest.fixture
def results(tmp_path: Path) -> Results:
    study = small_study(
        tmp_path,
        metrics=(*METRICS, "pearson_correlation"),
        attacks=(GUESS, "tests.studies.own:Failing:seeds=5", "tests.studies.own:Idle"),
        replications=Replications(number=4),
    )
    run_study(study, tmp_path / "out", workers=0)
    return Results.read(tmp_path / "out")


def test_every_scenario_is_accounted_for(results: Results) -> None:
    assert len(results.scenarios) == 12
    assert (len(results.fine), len(results.failed), results.damaged, results.missing) == (10, 2, (), ())
    assert results.errors.columns == ["data", "protect", "attack", "axis", "level", "error"]
    assert results.errors["level"].to_list() == [5.0, 5.0]
    folder = results.folder / "results"
    (folder / results.fine[0].file_name).unlink()
    (folder / results.fine[1].file_name).write_bytes(b"PAR1")
    (folder / "other.result").write_bytes(b"not of this study")
    again = Results.read(results.folder)
    assert again.missing == results.fine[:1]
    assert again.damaged == results.fine[1:2]
    assert again.frame.height == 8 * 4


def test_the_summary_is_as_by_hand(results: Results) -> None:
    summary = results.summary()
    assert summary.height == 10 * 4
    assert summary["metric"].to_list()[:4] == list(results.metrics)
    seen = set()
    for row in summary.to_dicts():
        same = (pl.col(name) == row[name] for name in ("protect", "attack", "axis", "level"))
        values = results.values(row["metric"]).filter(*same)["value"]
        known = values.drop_nulls().to_numpy()
        assert row["replications"] == known.size
        assert row["undefined"] == 4 - known.size
        seen.add(known.size)
        if known.size == 0:
            assert row["mean"] is None
            assert row["low"] is None
            continue
        error = known.std(ddof=1) / np.sqrt(known.size)
        assert row["mean"] == pytest.approx(known.mean())
        assert row["standard_error"] == pytest.approx(error)
        # 3.1824 is Student's 97.5 % point with three degrees of freedom.
        assert row["high"] - row["mean"] == pytest.approx(3.18245 * error, rel=1e-4, abs=1e-12)
        assert row["mean"] - row["low"] == pytest.approx(3.18245 * error, rel=1e-4, abs=1e-12)
        if known.mean():
            assert row["relative_error"] == pytest.approx(3.18245 * error / abs(known.mean()), rel=1e-4, abs=1e-12)
    assert seen == {0, 4}


def test_values_are_in_the_order_of_the_study(results: Results) -> None:
    values = results.values("entropy")
    assert values.columns == ["data", "protect", "attack", "axis", "level", "replication", "value"]
    keys = [(scenario.protect, scenario.attack, scenario.level) for scenario in results.fine for _ in range(4)]
    assert list(values.select("protect", "attack", "level").iter_rows()) == keys
    assert values["replication"].to_list() == [0, 1, 2, 3] * 10
    with pytest.raises(InputError, match=r"no metric 'entropi'\. Did you mean 'entropy'"):
        results.values("entropi")


def test_one_replication_has_no_interval(tmp_path: Path) -> None:
    run_study(small_study(tmp_path, replications=Replications(number=1)), tmp_path / "out", workers=0)
    summary = Results.read(tmp_path / "out").summary()
    assert summary["mean"].null_count() == 0
    assert summary.select("standard_error", "low", "high", "relative_error").null_count().row(0) == (12,) * 4


def test_nothing_yet_and_nothing_but_failures(tmp_path: Path) -> None:
    study = small_study(tmp_path, axes=(Axis("seed_pairs", (5,)),), attacks=("tests.studies.own:Failing",))
    run_study(study, tmp_path / "out", workers=0)
    results = Results.read(tmp_path / "out")
    assert results.frame.height == 0
    assert results.summary().height == 0
    assert results.errors.height == 2
    assert results.values("entropy").height == 0


def test_a_folder_that_is_none_is_refused(tmp_path: Path, results: Results) -> None:
    with pytest.raises(InputError, match="must be the folder of a study, but holds none"):
        Results.read(tmp_path)
    text = (results.folder / "study.toml").read_text()
    (results.folder / "study.toml").write_text(text.replace("seed = 3", "seed = 4"))
    with pytest.raises(InputError, match="was changed after the study began"):
        Results.read(results.folder)


def test_results_are_read_without_the_classes_of_the_user(results: Results) -> None:
    text = (results.folder / "study.toml").read_text()
    assert "tests.studies.own:Idle" in text
    # Another machine may have neither the classes nor the data.
    Path(results.study.data[0].source).unlink()
    assert Results.read(results.folder).frame.equals(results.frame)

"""The answer on a study: counts, means and intervals against the rows themselves, failures by kind, time."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tests.studies.small import METRICS, small_study
from unveil.errors import InputError
from unveil.questions.result import Result
from unveil.questions.study.answer import study_report
from unveil.questions.study.findings import StudyFindings
from unveil.questions.study.run import failures_of
from unveil.questions.study.sections.strength import main_chart
from unveil.questions.study.status import study_status
from unveil.report.text import AXES as AXES_IN_WORDS
from unveil.studies import Axis, Replications, Results, Study, run_study

FAILING = "tests.studies.own:Failing:seeds=5"
GUESS = "tests.studies.own:Guess"
AXES = (Axis("seed_pairs", (2, 5)), Axis("overlap", (0.5, 0.9)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a study of 2 protections, 2 attacks and 2 levels in which one attack fails at the second level."""
    home = tmp_path_factory.mktemp("study")
    plan = small_study(home, attacks=(GUESS, FAILING), axes=AXES, fixed={"seed_pairs": 10})
    run_study(plan, home / "out", workers=0)
    return home / "out"


@pytest.fixture(scope="module")
def answer(folder: Path) -> Result[StudyFindings]:
    return study_report(folder)


def test_scenarios_are_counted(answer: Result[StudyFindings]) -> None:
    counts = answer.findings.counts
    assert (counts.total, counts.fine, counts.failed, counts.damaged, counts.missing) == (16, 14, 2, 0, 0)
    assert answer.findings.replications == 3 * 14


def test_means_and_intervals_are_those_of_the_replications(answer: Result[StudyFindings]) -> None:
    rows = answer.findings.results.frame
    for row in answer.findings.summary.iter_rows(named=True):
        keys = [pl.col(name) == row[name] for name in ("data", "protect", "attack", "axis", "level")]
        values = rows.filter(*keys)[row["metric"]].drop_nulls().to_numpy()
        assert row["replications"] == values.size
        assert row["mean"] == pytest.approx(values.mean())
        if np.ptp(values) > 0:
            low, high = stats.t.interval(0.95, values.size - 1, values.mean(), stats.sem(values))
            assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))


def test_means_by_level_are_found_by_their_scenario(answer: Result[StudyFindings]) -> None:
    means = answer.findings.means("adversary_success_rate", "seed_pairs")
    rows = answer.findings.results.frame.filter(pl.col("axis") == "seed_pairs", pl.col("level") == 2)
    for (protect, attack), group in rows.group_by("protect", "attack"):
        mean, half = means["small", str(protect), str(attack), 2.0]
        assert mean == pytest.approx(group["adversary_success_rate"].mean())
        assert half >= 0
    assert ("small", "id-removal", FAILING, 5.0) not in means


def test_failures_are_counted_by_kind(answer: Result[StudyFindings]) -> None:
    found = answer.findings.failures
    assert [each.scenarios for each in found] == [2]
    assert "ZeroDivisionError" in found[0].error
    assert found[0].attacks == (FAILING,)
    assert found[0].protections == ("id-removal", "switch")
    assert "secret" not in answer.to_json()


def test_errors_that_differ_in_numbers_only_are_of_one_kind() -> None:
    texts = [
        "3 of 17 nodes have no twin",
        "5 of 21 nodes have no twin",
        "the graph is empty",
        "2.5 of 1 nodes have no twin",
    ]
    errors = pl.DataFrame(
        {"data": ["a", "b", "a", "a"], "protect": "p", "attack": ["x", "x", "x", "y"], "axis": "overlap", "level": 0.5}
    ).with_columns(pl.Series("error", texts))
    found = failures_of(errors)
    assert [(each.error, each.scenarios, each.data, each.attacks) for each in found] == [
        ("3 of 17 nodes have no twin", 3, ("a", "b"), ("x", "y")),
        ("the graph is empty", 1, ("a",), ("x",)),
    ]


def test_json_has_everything_for_a_machine(answer: Result[StudyFindings]) -> None:
    told = json.loads(answer.to_json())
    assert told["schema"] == "unveil.study/1"
    assert told["study"]["axes"] == {"seed_pairs": [2.0, 5.0], "overlap": [0.5, 0.9]}
    assert told["scenarios"]["failed"] == answer.findings.counts.failed
    assert sum(each["scenarios"] for each in told["failures"]) == told["scenarios"]["failed"]
    assert len(told["summary"]) == answer.findings.counts.fine * len(answer.findings.metrics)
    assert sum(each["replications"] for each in told["spent"]) == told["replications"]
    assert (told["limits"], told["seed"], list(told)[-2:]) == ([], None, ["limits", "seed"])


def test_the_table_is_the_summary_and_no_limit_can_be_set(answer: Result[StudyFindings]) -> None:
    assert answer.to_polars().equals(answer.findings.summary)
    assert answer.quantities == {}
    assert repr(answer) == f"<Result: {answer.page().headline}>"
    assert answer.page().explanation[0] == "14 of 16 scenarios are computed; 2 failed."
    assert "results=" not in repr(answer.findings)


def test_metrics_are_chosen(folder: Path) -> None:
    assert study_report(folder).findings.metrics == ("adversary_success_rate", "entropy")
    assert study_report(folder, metrics=["anonymity_set_size"]).findings.metrics == ("anonymity_set_size",)
    assert set(study_report(folder, metrics=["entropy", "all"]).findings.metrics) == set(METRICS)
    assert study_report(folder, metrics=["entropy", "all"]).findings.metrics[0] == "entropy"
    with pytest.raises(InputError, match=r"Unknown metric 'entrop'.*Did you mean 'entropy'"):
        study_report(folder, metrics=["entrop"])


def test_pictures_show_the_means(answer: Result[StudyFindings]) -> None:
    from matplotlib import pyplot

    axes = answer.plot()
    means = answer.findings.means("adversary_success_rate", "seed_pairs")
    drawn = axes[0].get_lines()[0].get_ydata()
    assert drawn.tolist() == [pytest.approx(means["small", "id-removal", GUESS, level][0]) for level in (2.0, 5.0)]
    pyplot.close("all")


def test_a_study_without_results_is_no_error(tmp_path: Path) -> None:
    plan = small_study(tmp_path, attacks=("tests.studies.own:Failing",))
    run_study(plan, tmp_path / "out", workers=0)
    found = study_report(tmp_path / "out")
    assert (found.findings.counts.fine, found.findings.counts.failed) == (0, 4)
    assert found.findings.summary.height == 0
    assert json.loads(found.to_json())["summary"] == []
    assert [each.heading for each in found.page().sections] == ["Failures"]
    with pytest.raises(InputError, match="no chart"):
        found.plot()


def test_missing_and_damaged_files_are_seen_and_the_rest_is_estimated(tmp_path: Path) -> None:
    plan = small_study(tmp_path)
    run_study(plan, tmp_path / "out", workers=0)
    whole = study_status(tmp_path / "out")
    assert (whole.counts.fine, whole.counts.left, whole.seconds_left, whole.running) == (4, 0, 0.0, None)
    assert whole.seconds > 0
    first, second, *_ = sorted((tmp_path / "out" / "results").iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes()[:-40])
    # A run that was killed while it wrote a line leaves half of it.
    with (tmp_path / "out" / "times.jsonl").open("a") as stream:
        stream.write('{"file": "x", "repl')
    part = study_status(tmp_path / "out")
    assert (part.counts.fine, part.counts.missing, part.counts.damaged) == (2, 1, 1)
    assert part.seconds < whole.seconds
    # Both scenarios that are left have the data and the attack of the two that are there.
    assert part.seconds_left == pytest.approx(part.seconds)
    assert json.loads(part.to_json())["scenarios"] == {"total": 4, "fine": 2, "failed": 0, "damaged": 1, "missing": 1}


def test_without_a_single_time_nothing_is_estimated(tmp_path: Path) -> None:
    plan = small_study(tmp_path)
    run_study(plan, tmp_path / "out", workers=0)
    (tmp_path / "out" / "times.jsonl").unlink()
    found = study_status(tmp_path / "out")
    assert math.isnan(found.seconds_left)
    assert json.loads(found.to_json())["seconds_left"] is None
    assert "unknown" in study_report(tmp_path / "out").to_html()


def test_a_folder_without_a_study_is_refused(tmp_path: Path) -> None:
    for ask in (study_report, study_status, Results.read):
        with pytest.raises(InputError, match="must be the folder of a study"):
            ask(tmp_path)


def test_what_is_found_as_people_leak_lies_beside_what_there_is_to_be_found(tmp_path: Path) -> None:
    plan = replace(
        Study.read(Path(__file__).parents[3] / "studies" / "curves.toml"),
        axes=(Axis("known_columns", (4, 9)), Axis("leaked_share", (0, 0.5, 1))),
        attacks=("linkability:neighbours=1,targets=none", "membership:targets=none"),
        replications=Replications(number=4),
    )
    run_study(plan, tmp_path / "out", workers=0)
    answer = study_report(tmp_path / "out")
    found = answer.findings
    assert (found.counts.fine, found.metrics) == (10, ("excess_over_control", "attack_rate", "control_rate"))
    chart = main_chart(found)
    assert chart is not None
    assert (chart.y_range, [line.name for line in chart.series]) == (
        (0.0, 1.0),
        ["linkability", "membership", "as much as leaked"],
    )
    *lines, equal = chart.series
    assert equal.y.tolist() == equal.x.tolist() == [0.0, 0.5, 1.0]
    for line in lines:
        assert line.low is not None
        assert line.high is not None
        # Everything is released as it is, so that all who leaked are found or nearly, and hardly anybody else; halves
        # of the columns, drawn four times, may tell people apart less well once.
        assert (np.abs(line.y - equal.y) < 0.2).all()
        rows = found.results.frame.filter(pl.col("attack").str.starts_with(line.name), pl.col("level") == 0.5)
        mean, half = rows["excess_over_control"].mean(), line.high[1] - line.y[1]
        assert line.y[1] == pytest.approx(mean)
        assert half == pytest.approx(stats.t.ppf(0.975, 3) * stats.sem(rows["excess_over_control"].to_numpy()))
        assert line.low[1] == pytest.approx(line.y[1] - half)
    page = answer.to_html()
    assert 'class="interval first"' in page
    drawn = answer.plot()
    assert [axes.get_xlabel() for axes in drawn] == [AXES_IN_WORDS["leaked_share"][0]]

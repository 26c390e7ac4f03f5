"""The grades that come with the package: complete, in known words and ranges, and written as they are read."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from tests.grades.planted import planted
from tests.test_light_imports import HEAVY, loaded_by
from tools.make_grades import STORED, STUDIES, TARGET, grades_of, main
from unveil.grades.scores import Reading, Scores
from unveil.grades.shipped_grades import Ground, ShippedGrade, as_shipped, shipped_from, shipped_grades
from unveil.grades.verdict import Verdict
from unveil.metrics import METRICS
from unveil.questions.audit.study_scenario import WholeAudit

#: Those that the studies behind the grades had; a metric listed since then has no grade until they are run again.
NAMES = {name for name, metric in METRICS.items() if metric.source == "Zhao & Wagner, Table 2"}
GRADES = {(ground, name): each for ground, found in shipped_grades().items() for name, each in found.metrics.items()}


@pytest.mark.parametrize("ground", sorted(set(get_args(Ground)) - {"releases"}))
def test_every_metric_of_candidates_has_a_grade(ground: Ground) -> None:
    found = shipped_grades()[ground]
    assert set(found.metrics) >= NAMES
    assert found.cases > 0
    assert found.studies
    assert all(found.studies)


def test_figures_of_an_audit_have_a_grade_on_releases_that_others_made() -> None:
    found = shipped_grades()["releases"]
    graded = {name for name in WholeAudit().graded if not name.startswith(("membership", "risk"))}
    # What needs a control has no grade: nearly no release has one.
    needs_control = {name for name in graded if name.endswith("excess_over_control")}
    assert graded - needs_control - set(found.metrics) <= {"record_linkage.attack_rate"} | {
        f"{name}.mean_rate" for name in ("singling_out", "copies")
    }
    assert set(found.metrics) <= set(WholeAudit().graded)
    assert found.studies == ("atlas",)
    assert found.metrics["closest_record.median"].verdict in get_args(Verdict)


def test_there_are_no_other_grounds() -> None:
    assert set(shipped_grades()) == set(get_args(Ground))


@pytest.mark.parametrize("which", GRADES, ids="-".join)
def test_words_are_known_and_scores_are_shares(which: tuple[Ground, str]) -> None:
    each = GRADES[which]
    assert each.verdict in get_args(Verdict)
    assert each.reason
    scores = (each.monotonicity, each.low, each.high, each.evenness, each.shared_range)
    assert all(score is None or 0 <= score <= 1 for score in scores)
    assert (each.monotonicity is None) == (each.verdict == "no grade")
    if each.monotonicity is not None and each.low is not None and each.high is not None:
        assert each.low <= each.monotonicity <= each.high


def test_what_is_written_is_read() -> None:
    grades = Reading.of(Scores.of(planted()))
    found = shipped_from(json.loads(json.dumps(as_shipped(grades, ("one", "two")), allow_nan=False)))
    assert (found.studies, found.cases) == (("one", "two"), len(grades.scores.values.cases))
    assert list(found.metrics) == sorted(each.metric for each in grades.metrics)
    for each in grades.metrics:
        read = found.metrics[each.metric]
        assert (read.verdict, read.reason) == (each.verdict, each.reason)
        for score, value in (
            (read.monotonicity, each.monotonicity.mean),
            (read.low, each.monotonicity.low),
            (read.high, each.monotonicity.high),
            (read.evenness, each.evenness.mean),
            (read.shared_range, each.shared_range.mean),
        ):
            assert value == pytest.approx(np.nan if score is None else score, abs=5e-5, nan_ok=True)
    # What is undefined everywhere has no numbers.
    assert found.metrics["max_entropy"] == ShippedGrade(
        verdict="no grade",
        reason="no case could be tested",
        monotonicity=None,
        low=None,
        high=None,
        evenness=None,
        shared_range=None,
    )


def test_nobody_can_change_them() -> None:
    with pytest.raises(TypeError):
        shipped_grades()["graphs"].metrics["entropy"] = None  # type: ignore[index]


def test_reading_them_loads_nothing_heavy_but_what_measuring_loads_anyway() -> None:
    modules = loaded_by("from unveil.report.trust import trust_note; trust_note()")
    assert "unveil" in modules
    assert modules & HEAVY <= {"numpy"}


def test_grades_of_tables_are_recomputed_from_stored_results() -> None:
    shipped = json.loads(TARGET.read_text(encoding="utf-8"))["tables"]
    some = ["adversary_overall_success", "entropy", "absolute_error"]
    found = grades_of("tables", [STORED / f"{name}.parquet" for name in STUDIES["tables"]], metrics=some)
    assert found["studies"] == shipped["studies"]
    assert found["cases"] == shipped["cases"]
    assert found["metrics"] == {name: shipped["metrics"][name] for name in sorted(some)}


def test_one_command_writes_all_grades_and_says_which_it_keeps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "atlas.parquet").write_bytes((STORED / "atlas.parquet").read_bytes())
    main(["--from", str(tmp_path), "--out", str(tmp_path / "grades.json")])
    assert json.loads((tmp_path / "grades.json").read_text()) == json.loads(TARGET.read_text(encoding="utf-8"))
    said = capsys.readouterr().out.splitlines()
    assert said[1] == "tables: kept as they are, since table is not stored"
    assert said[0].startswith("graphs: kept as they are, since paper-100-manufacturing, ")

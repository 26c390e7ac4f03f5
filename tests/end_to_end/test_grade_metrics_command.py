"""``unveil grade-metrics`` from the folders of studies to what a person, a machine or a paper reads; and bad input."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.commands import Command
from tests.studies.small import GUESS, small_graph, small_study
from unveil.errors import InputError
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.questions.grade_metrics.answer import grade_metrics
from unveil.studies import Axis, DataSet, Replications, Results, Study, run_study

COMMAND = Command("grade-metrics")
ask, answer, refuse = COMMAND.ask, COMMAND.answer, COMMAND.refuse
SEVEN = (
    "pearson_correlation",
    "normalized_variance",
    "incorrectness",
    "amount_of_leaked_information",
    "adversary_success_rate",
    "adversary_overall_success",
    "absolute_error",
    "entropy",
)


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run two real studies of a small graph, and some that cannot be graded in full."""
    folder = tmp_path_factory.mktemp("studies")
    data = DataSet("small", "graph", str(small_graph(folder, nodes=60)))
    told: dict[str, Any] = {
        "name": "little",
        "seed": 2,
        "data": (data,),
        "protections": ("id-removal", "switch:share=0.1"),
        "attacks": ("NS", "DV:chunk=20"),
        "axes": (Axis("seed_pairs", (4, 10, 25)),),
        "replications": Replications(number=5),
        "metrics": SEVEN,
    }
    run_study(Study(**told), folder / "little", workers=0)
    other = {**told, "name": "other", "data": (DataSet("twin", "graph", data.source),), "protections": ("id-removal",)}
    run_study(Study(**{**other, "attacks": ("NS",)}), folder / "other", workers=0)
    once = {"replications": Replications(number=1), "attacks": (GUESS, "tests.studies.own:Failing:seeds=5")}
    run_study(small_study(folder, **once), folder / "once", workers=0)
    run_study(small_study(folder, attacks=("tests.studies.own:Idle",)), folder / "idle", workers=0)
    run_study(small_study(folder, attacks=("tests.studies.own:Failing",)), folder / "failed", workers=0)
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_person_reads_which_metrics_to_trust(studies: Path) -> None:
    run = ask(str(studies / "little"), "--html", "grades.html", "--latex", "grades.tex")
    assert (run.exit_code, run.stderr) == (0, ""), run.output
    assert re.match(r"\d of \d metrics (is|are) reliable|No metric is reliable", run.stdout)
    assert len(run.stdout.splitlines()) <= 20
    verbose = ask(str(studies / "little"), "--verbose").stdout
    for name in SEVEN:
        assert re.search(rf"^{name.replace('_', ' ')} .* \d\.\d\d\d.\(", verbose, re.MULTILINE), name
    assert re.search(r"^S5 +\d+\.\d%", verbose, re.MULTILINE)
    assert "Cross-validation of the search" in verbose
    assert "Note: " in run.stdout
    assert "The tables are in grades.tex" in run.stdout
    assert "The report is in grades.html" in run.stdout
    page = Path("grades.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert str(studies) not in page
    assert r"\label{tab:ranking}" in Path("grades.tex").read_text(encoding="utf-8")


def test_a_machine_reads_every_score(studies: Path) -> None:
    told = answer(str(studies / "little"))
    assert told["schema"] == "unveil.grades/2"
    assert {each["name"] for each in told["metrics"]} == set(SEVEN)
    assert len(told["cases"]) == 4 * len(SEVEN)
    row = told["cases"][0]
    assert set(row) == {
        *("data", "protect", "attack", "axis", "metric", "levels", "monotonicity", "significant", "tests"),
        *("right", "wrong", "turns", "evenness", "shared_range"),
        *("monotonicity_of_nodes", "evenness_of_nodes", "shared_range_of_nodes"),
    }
    assert row["monotonicity"] == pytest.approx(
        (row["right"] - row["wrong"] - 2 * row["turns"] + 2 * row["tests"]) / (3 * row["tests"])
    )
    metric = told["metrics"][0]
    scores = [each["monotonicity"] for each in told["cases"] if each["metric"] == metric["name"]]
    assert metric["monotonicity"]["mean"] == pytest.approx(np.mean(scores))
    assert {each["name"] for each in told["suites"]} == {"S1", "S2", "S3", "S4", "S5"}
    assert len(told["suite_cases"]) == 4 * 5
    in_order = [each["in_order"] for each in told["suite_cases"] if each["suite"] == "S2"]
    assert next(each for each in told["suites"] if each["name"] == "S2")["share_in_order"]["mean"] == np.mean(in_order)
    assert len(told["searches"][0]["equal"]) == 120
    assert told["searches"][0]["held_out"][0]["groups"] == 4
    assert [each["score"] for each in told["factors"]] == ["monotonicity", "evenness", "shared_range"]
    assert len(told["details"]) >= 2


def test_scores_are_counted_once_however_many_cases_there_are(studies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = grade_metrics(studies / "little", rng=np.random.default_rng(1))
    looked = 0
    inner = ReplicatedMetrics.replications.fget  # type: ignore[attr-defined]

    def counted(values: ReplicatedMetrics) -> object:
        nonlocal looked
        looked += 1
        return inner(values)

    monkeypatch.setattr(ReplicatedMetrics, "replications", property(counted))
    told = json.loads(found.to_json())
    assert len(told["cases"]) == 4 * len(SEVEN)
    assert {row["levels"] for row in told["cases"]} == {3}
    assert looked <= 4


def test_a_file_that_may_not_be_read_is_named(studies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder / "results" / "x.parquet"))

    monkeypatch.setattr(Results, "read", closed)
    with pytest.raises(InputError, match=r"x\.parquet' \(Permission denied\)"):
        grade_metrics(studies / "little", rng=np.random.default_rng(1))


def test_a_case_in_two_studies_is_named(studies: Path) -> None:
    said = refuse(str(studies / "little"), str(studies / "little"))
    assert "(small, id-removal, NS, by seed_pairs)" in said


def test_the_same_seed_gives_the_same_answer_and_python_the_same_as_the_command(studies: Path) -> None:
    one = ask(str(studies / "little"), "--json", "--seed", "3").stdout
    assert one == ask(str(studies / "little"), "--json", "--seed", "3").stdout
    made = grade_metrics(studies / "little", rng=np.random.default_rng(3))
    assert json.loads(made.to_json(seed=3)) == json.loads(one)


def test_several_studies_are_graded_together(studies: Path, approved: Approved) -> None:
    told = answer(str(studies / "little"), str(studies / "other"))
    assert {row["data"] for row in told["cases"]} == {"small", "twin"}
    assert [each["name"] for each in told["studies"]] == ["little", "other"]
    assert len(told["cases"]) == 5 * len(SEVEN)
    approved(refuse(str(studies / "little"), str(studies / "little")))


def test_details_are_found_by_words_of_their_case(studies: Path) -> None:
    told = answer(str(studies / "little"), "--detail", "pearson_correlation@switch,NS")
    assert [(each["metric"], each["case"]["protect"], each["case"]["attack"]) for each in told["details"]] == [
        ("pearson_correlation", "switch:share=0.1", "NS")
    ]
    every = answer(str(studies / "little"), "--detail", "Pearson Correlation@small seed_pairs", "--detail", "entropy")
    assert [each["metric"] for each in every["details"]][:5] == ["pearson_correlation"] * 4 + ["entropy"]
    shown = ask(str(studies / "little"), "--detail", "incorrectness@dv,id-removal", "--html", "detail.html")
    assert shown.exit_code == 0
    page = Path("detail.html").read_text(encoding="utf-8")
    assert re.search(r"Monotonicity [\d.]+: \d of 4 tests are significant", page)


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("entropi@NS", "Did you mean 'entropy'"),
        ("nothing", "Choose from pearson_correlation"),
        ("entropy@smal1", "Did you mean 'small'"),
        ("entropy@xyz", "Cases are made of small, id-removal, NS, seed_pairs"),
        ("entropy@", "No words of a case follow the @"),
        ("entropy@NS,DV", "No case has all words of --detail together (ns, dv)"),
        ("", "The value of '--detail' is empty"),
    ],
)
def test_a_detail_that_matches_nothing_is_refused(studies: Path, detail: str, said: str) -> None:
    assert said in refuse(str(studies / "little"), "--detail", detail)


def test_one_case_is_shown_by_both_readings_and_one_reading_alone_can_be_asked_for(
    studies: Path, approved: Approved
) -> None:
    shown = ask(str(studies / "little"), "--case", "small,NS,seed_pairs", "--verbose").stdout
    assert "Monotonicity (nodes)" in shown
    assert "Evenness (nodes)" in shown
    assert "(nodes)" not in ask(str(studies / "little"), "--of", "means", "--verbose").stdout
    by_nodes = answer(str(studies / "little"), "--of", "nodes")
    assert by_nodes["settings"]["of"] == "nodes"
    assert any("pooled over replications" in note for note in by_nodes["notes"])
    approved(refuse(str(studies / "little"), "--case", "elections"))
    assert "resource" in refuse(str(studies / "little"), "--suite-needs", "resource")


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        ("mine:entropi=1", "Did you mean 'entropy'"),
        ("mine:entropy=0.5,incorrectness=0.4", "sum to 0.9"),
        ("mine:entropy=0.5,entropy=0.5", "must be named once"),
        ("S1:entropy=1", "'S1' is there twice"),
        ("mine:normalized_entropy=1", "was not computed"),
        ("S9", "there is no suite 'S9'"),
        ("mine:", "has no metrics after its colon"),
    ],
)
def test_a_suite_that_is_none_is_refused(studies: Path, suite: str, said: str) -> None:
    assert said in refuse(str(studies / "little"), "--suite", suite)


def test_a_suite_of_ones_own_is_graded(studies: Path) -> None:
    told = answer(str(studies / "little"), "--suite", "mine:entropy=0.5,incorrectness=0.5", "--suite", "S2")
    assert [each["name"] for each in told["suites"]].count("mine") == 1
    assert len(told["suites"]) == 6
    assert "'mine' is there twice" in refuse(
        str(studies / "little"), "--suite", "mine:entropy=1", "--suite", "mine:incorrectness=1"
    )


def test_one_replication_and_failed_scenarios_leave_notes_and_the_rest_graded(
    studies: Path, approved: Approved
) -> None:
    told = answer(str(studies / "once"))
    text = " ".join(told["notes"])
    assert "one replication only" in text
    approved(text)
    assert "2 cases lack levels" in text
    assert {each["reliability"] for each in told["metrics"]} == {"not graded"}
    assert all(each["monotonicity"]["mean"] is None for each in told["metrics"])
    assert any(each["evenness"]["mean"] is not None for each in told["metrics"])
    shown = ask(str(studies / "once"), "--html", "once.html")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("No metric can be graded")


def test_metrics_that_are_undefined_everywhere_are_named(studies: Path) -> None:
    told = answer(str(studies / "idle"))
    assert any("undefined in every case" in note for note in told["notes"])
    assert next(each for each in told["metrics"] if each["name"] == "entropy")["reliability"] == "not graded"
    assert ask(str(studies / "idle"), "--html", "idle.html", "--latex", "idle.tex").exit_code == 0


def test_what_is_no_study_or_has_no_results_is_refused(studies: Path, folder: Path, approved: Approved) -> None:
    assert "unveil grade-metrics --help" in refuse()
    (folder / "empty").mkdir()
    refuse("empty", naming=("empty",))
    refuse("nowhere", naming=("nowhere",))
    approved(refuse(str(studies / "failed")))
    shutil.copytree(studies / "little", folder / "begun")
    for path in (folder / "begun" / "results").iterdir():
        path.unlink()
    approved(refuse("begun"))


def test_a_study_with_missing_levels_is_graded_with_a_note(studies: Path, folder: Path) -> None:
    shutil.copytree(studies / "little", folder / "part")
    for path in (folder / "part" / "results").glob("*"):
        if "NS" in path.name and "25" in path.name:
            path.unlink()
    told = answer("part")
    assert any("lack levels" in note for note in told["notes"]) or any("lacks levels" in note for note in told["notes"])
    assert any(row["tests"] == 2 for row in told["cases"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--significance", "0"), "between 0 and 1, both excluded"),
        (("--significance", "1"), "between 0 and 1, both excluded"),
        (("--significance", "five"), "not a number"),
        (("--limit", "reliable_metric=1"), "Did you mean 'reliable_metrics'"),
        (("--latex", "missing/grades.tex"), "does not exist"),
        (("--latex", "report.html"), "name the same file"),
    ],
)
def test_settings_that_are_none_are_refused(studies: Path, options: tuple[str, ...], said: str) -> None:
    assert said in refuse(str(studies / "little"), *options)


def test_limits_are_checked(studies: Path, approved: Approved) -> None:
    run = ask(str(studies / "little"), "--quiet", "--limit", "share_monotonic_best_suite=1.01")
    assert run.exit_code == 3
    approved(run.stderr)
    fine = ask(str(studies / "little"), "--quiet", "--limit", "reliable_metrics=0", "--limit", "monotonicity_entropy=0")
    assert (fine.exit_code, fine.output) == (0, "")
    other = ask(str(studies / "little"), "--quiet", "--limit", "monotonicity_min_entropy=0.5")
    assert (other.exit_code, "inconclusive" in other.stderr) == (5, True)
    listed = ask("--limit", "help")
    assert "share_monotonic_best_suite" in listed.stdout


def test_strict_scores_are_never_higher(studies: Path) -> None:
    usual, strict = (
        {(row["protect"], row["attack"], row["metric"]): row["monotonicity"] for row in told["cases"]}
        for told in (answer(str(studies / "little")), answer(str(studies / "little"), "--strict"))
    )
    assert all(strict[key] <= usual[key] for key in usual)
    assert any(strict[key] < usual[key] for key in usual)


@pytest.fixture
def closed() -> Iterator[None]:
    """Close what was drawn."""
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.mark.usefixtures("closed")
def test_the_answer_is_drawn(studies: Path) -> None:
    axes = grade_metrics(studies / "little", rng=np.random.default_rng(1)).plot()
    assert axes.shape == (1,)
    with pytest.raises(InputError, match="No study was given"):
        grade_metrics(rng=np.random.default_rng(1))

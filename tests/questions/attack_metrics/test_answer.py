"""The question about candidates, asked of objects and of files: the same figures either way."""

import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from tests.approved.sentences import Approved
from tests.candidate_strategies import Case, cases
from unveil.data import samples
from unveil.errors import InputError
from unveil.guesses import Candidates
from unveil.metrics import METRICS, all_metrics
from unveil.questions.attack_metrics.answer import attack_metrics
from unveil.questions.attack_metrics.findings import CandidatesFindings
from unveil.questions.attack_metrics.settings import CandidatesSettings
from unveil.questions.result import Result
from unveil.report.trust import quantity_meanings as meanings

NAMES = [name for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual]
FREE = [name for name in NAMES if not METRICS[name].needs_truth]
SMALL = [[0.75, 0.25], [0.5, 0.5]]


def figures(answer: Result[CandidatesFindings]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.to_json())
    return found


def test_every_metric_is_measured_once() -> None:
    answer = attack_metrics(SMALL, [0, 0])
    assert [each.metric.name for each in answer.findings.measured] == NAMES
    assert answer.findings.shown == answer.findings.measured
    assert answer.findings.left_out == ()
    assert [row["name"] for row in figures(answer)["metrics"]] == NAMES


def test_without_truth_the_rest_is_left_out() -> None:
    answer = attack_metrics(SMALL)
    assert [each.metric.name for each in answer.findings.measured] == FREE
    assert [metric.name for metric in answer.findings.left_out] == [name for name in NAMES if name not in FREE]
    assert list(answer.quantities) == FREE
    found = figures(answer)
    assert [found[key] for key in ("correct", "correct_by_chance", "without_original", "truth_not_considered")] == [
        None
    ] * 4


@pytest.mark.parametrize(
    "guess", [SMALL, np.array(SMALL), sp.csr_array(SMALL), Candidates.from_matrix(SMALL)], ids=lambda it: str(type(it))
)
def test_a_guess_may_be_a_matrix_or_candidates(guess: Any) -> None:
    assert figures(attack_metrics(guess, [0, 0])) == figures(attack_metrics(SMALL, [0, 0]))


def test_truth_may_be_names() -> None:
    guess = Candidates.from_table(["t", "t", "u"], ["x", "y", "x"], [0.75, 0.25, 1.0])
    assert figures(attack_metrics(guess, {"t": "y", "u": None})) == figures(attack_metrics(guess, [1, -1]))
    assert figures(attack_metrics(guess, [1, -1])) != figures(attack_metrics(guess, [0, -1]))


def test_only_the_metrics_asked_for_are_shown_but_limits_can_be_set_for_all() -> None:
    answer = attack_metrics(SMALL, [0, 0], metrics=["entropy"])
    assert [row["name"] for row in figures(answer)["metrics"]] == ["entropy"]
    assert list(answer.quantities) == NAMES
    assert attack_metrics(SMALL, metrics=["entropy"]).findings.left_out == ()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("entrpy", "metrics: Unknown name 'entrpy'. Did you mean 'entropy'?"),
        ("risk_slope", "metrics: Unknown name 'risk_slope'"),
        ("qqq", "'unveil list metrics' shows the names"),
        ("incorrectness", "Metric incorrectness needs the true matches"),
    ],
)
def test_a_metric_that_cannot_be_shown_is_refused(name: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        attack_metrics(SMALL, metrics=[name])
    assert message in str(refusal.value)
    # Before any file is opened: reading may take long.
    with pytest.raises(InputError) as early:
        attack_metrics("missing.csv", metrics=[name])
    assert str(early.value) == str(refusal.value)


@given(cases())
def test_a_limit_watches_the_mean_from_the_side_that_is_worse(case: Case) -> None:
    quantities = attack_metrics(case.guess, case.truth).quantities
    for each in all_metrics(case.guess, case.truth):
        quantity = quantities[each.metric.name]
        assert quantity.value == each.mean or (math.isnan(quantity.value) and math.isnan(each.mean))
        assert quantity.more_is_worse == (each.metric.more_means == "less private")
        assert not quantity.exceeded_when_undefined


def test_what_a_quantity_means_says_from_which_side(approved: Approved) -> None:
    meaning = meanings()
    assert list(meaning) == NAMES
    approved(meaning["entropy"])
    assert meaning["adversary_success_rate"].endswith("Fails above VALUE: more is less private")


def test_progress_and_notes_are_passed_on() -> None:
    steps: list[str] = []
    answer = attack_metrics(SMALL, progress=lambda step, _: steps.append(step), notes=["Mind the gap."])
    assert steps == ["measuring", "measuring the baselines"]
    assert answer.findings.notes == ("Mind the gap.",)
    assert "Mind the gap." in answer.to_html()


def test_the_plot_has_the_metrics_that_were_asked_for() -> None:
    axes = attack_metrics(SMALL, [0, 0]).plot()
    assert axes.size == 1
    assert {
        label.get_text() for label in attack_metrics(SMALL, metrics=["min_entropy"]).plot()[0].get_yticklabels()
    } == {"Min entropy"}


def test_a_table_has_a_row_for_each_metric_that_is_shown() -> None:
    answer = attack_metrics(SMALL, [0, 0], metrics=["entropy", "hiding_property"])
    shown = answer.to_polars()
    assert shown["name"].to_list() == ["entropy", "hiding_property"]
    assert shown["mean"].to_list() == [each.mean for each in answer.findings.shown]
    assert shown["median"].is_null().to_list() == [False, True]


# --- files ------------------------------------------------------------------------------------------------------------


def write(folder: Path, case: Case) -> tuple[Path, Path]:
    """Write a case as two files; a target without candidates is in the truth only."""
    rows = [(f"t{row}", f"c{k}", float(p)) for row, t in enumerate(case.targets) for k, p in t.probability.items()]
    guess = pl.DataFrame(rows, orient="row", schema=["target", "candidate", "probability"])
    known = [(f"t{row}", f"c{t.truth}" if t.somebody else None) for row, t in enumerate(case.targets)]
    truth = pl.DataFrame(known, orient="row", schema=["target", "candidate"], strict=False)
    guess.write_csv(folder / "guess.csv")
    truth.sample(fraction=1.0, shuffle=True, seed=3).write_csv(folder / "truth.csv")
    return folder / "guess.csv", folder / "truth.csv"


@settings(max_examples=22)
@given(cases(choices=False).filter(lambda case: any(target.probability for target in case.targets)))
def test_files_give_what_objects_give(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    guess, truth = write(tmp_path_factory.mktemp("files"), case)
    asked, found = attack_metrics(case.guess, case.truth).findings, attack_metrics(guess, truth).findings
    assert vars(found.matches) == pytest.approx(vars(asked.matches), nan_ok=True)
    for one, other in zip(asked.measured, found.measured, strict=True):
        wanted = [one.mean, one.median, one.low, one.high, one.undefined]
        seen = [other.mean, other.median, other.low, other.high, other.undefined]
        assert seen == pytest.approx(wanted, nan_ok=True), one.metric.name
        assert other.why == one.why


def test_the_example_gives_what_its_rule_says() -> None:
    answer = attack_metrics(samples.path("candidates_guess.csv"), samples.path("candidates_truth.csv"))
    found = answer.findings.matches
    assert (found.targets, found.attempted, found.nobody, found.not_considered) == (30, 25, 1, 1)
    # 8 + 5 for sure, 2 of two alike, 2 of four alike.
    assert found.correct == 8 + 5 + 2 / 2 + 2 / 4
    assert found.success_rate == 14.5 / 25
    assert found.overall_success == 14.5 / 29
    assert found.by_chance == pytest.approx(23 / 6)
    values = {each.metric.name: each.mean for each in answer.findings.measured}
    assert values["hiding_property"] == 12 + 5
    assert values["incorrectness"] == pytest.approx(
        (8 * 0.1 + 3 * 0.98 + 5 * 0.6 + 3 * 0.8 + 2 * 0.7 + 2 * 0.75 + 1) / 24
    )


def test_settings_are_keywords_or_one_object_and_unknown_ones_get_a_suggestion() -> None:
    plain = attack_metrics(SMALL, [0, 0], metrics="entropy")
    asked = attack_metrics(SMALL, [0, 0], CandidatesSettings(metrics=("entropy",)))
    assert plain.to_json() == asked.to_json()
    assert attack_metrics(SMALL, [0, 0], CandidatesSettings(metrics=("entropy",)), metrics=()).findings.metrics == ()
    with pytest.raises(InputError, match=r"Unknown setting 'metric'\. Did you mean 'metrics'"):
        attack_metrics(SMALL, [0, 0], metric="entropy")
    with pytest.raises(InputError, match="normalize is neither true nor false"):
        attack_metrics(SMALL, [0, 0], normalize="maybe")
    shown = inspect.signature(attack_metrics).parameters
    keywords = [each for each in CandidatesSettings.table() if each.is_keyword]
    assert [shown[each.name].default for each in keywords] == [each.default for each in keywords]
    assert all(each.label in (attack_metrics.__doc__ or "") for each in keywords if each.name != "truth")

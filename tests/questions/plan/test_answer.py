"""The plan of an audit: the values of the metric, clear errors, and the same answer in every front end."""

import json
from math import isnan
from typing import Any

import pytest
from click.testing import CliRunner

import unveil
from unveil.cli import main
from unveil.errors import InputError
from unveil.metrics.verdict.effects import FEWEST_ATTEMPTS
from unveil.metrics.verdict.plan import plan as plan_audit
from unveil.questions import question
from unveil.questions.plan.settings import FEWEST_PEOPLE, PlanSettings
from unveil.questions.plan.view import chart
from unveil.web.questions import answer, check


@pytest.mark.parametrize(
    ("sizes", "more"),
    [
        ((300, 300, 0.09), {}),
        ((1000, 400, 0.05), {"attackers": 3, "baseline": 0.1, "correlation": 0.5}),
        ((20, 20, 1.0), {"attackers": 1}),
    ],
)
def test_the_values_are_those_of_the_metric(sizes: tuple[int, int, float], more: dict[str, Any]) -> None:
    people, control, threshold = sizes
    expected = plan_audit(*sizes, **more)
    findings = unveil.plan(*sizes, **more).findings
    assert findings.pass_chance == expected.pass_chance
    assert findings.smallest_found == expected.smallest_found
    assert findings.people_needed == expected.people_needed
    for row in findings.sizes:
        of_row = plan_audit(row.people, row.control, threshold, **more)
        assert (row.pass_chance, row.smallest_found) == (of_row.pass_chance, of_row.smallest_found)
    for point in findings.curve:
        assert point.pass_chance == plan_audit(point.people, point.control, threshold, **more).pass_chance
        assert abs(point.control - point.people * control / people) <= 1


def test_the_sizes_keep_the_ratio_and_leave_out_tables_that_are_too_small() -> None:
    findings = unveil.plan(100, 50, 0.09).findings
    assert [(each.people, each.control) for each in findings.sizes] == [(50, 25), (100, 50), (200, 100), (400, 200)]
    assert [each.people for each in unveil.plan(30, 30, 0.09).findings.sizes] == [30, 60, 120]
    people = [each.people for each in findings.curve]
    assert people == sorted(set(people))
    assert min(each.control for each in findings.curve) >= 20
    assert people[0] <= 100 <= people[-1]
    assert people[-1] >= findings.people_needed


def test_the_report_states_chance_leak_and_people() -> None:
    result = unveil.plan(300, 300, 0.09)
    assert "4 of 100 audits" in result.headline
    assert [word in str(result) for word in ("14 more people per 100", "About 860 people")] == [True, True]
    assert result.page().tone == "warning"
    assert unveil.plan(1000, 1000, 0.09).page().tone == "good"
    assert "fewer than 1 of 100" in unveil.plan(30, 30, 0.09).headline
    assert "more than 99 of 100" in unveil.plan(9000, 9000, 0.09).headline
    assert result.to_polars().columns == ["people", "control", "pass_chance", "smallest_found"]
    assert len(result.plot()) == 1


def test_no_leak_is_found_where_every_guess_succeeds_anyway() -> None:
    result = unveil.plan(300, 300, 0.09, baseline=1, limits={"plan.smallest_found": 0.5})
    assert isnan(result.findings.smallest_found)
    assert "No leak is large enough" in str(result)
    assert result.decision == "fail"


def test_limits_decide() -> None:
    limits = {"plan.pass_chance": 0.8, "plan.smallest_found": 0.1}
    assert unveil.plan(300, 300, 0.09, limits=limits).decision == "fail"
    assert unveil.plan(1000, 1000, 0.09, limits=limits).decision == "pass"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ((19, 300, 0.09), "people"),
        ((300, 19, 0.09), "control"),
        ((300, 300, 9), "threshold"),
        ((300, 300, 0), "threshold"),
        ((None, 300, 0.09), "people"),
        ((300,), "control"),
        ((300, 300), "threshold"),
        (("many", 300, 0.09), "people"),
    ],
)
def test_a_bad_value_gets_one_sentence(given: tuple[Any, ...], name: str) -> None:
    with pytest.raises(InputError, match=f"^{name}.* (?:is|are) .*\\. [A-Z]") as caught:
        unveil.plan(*given)
    assert "\n" not in str(caught.value)


def test_bounds_themselves_are_accepted_as_text_and_as_number() -> None:
    for threshold in (0.001, "0.001", 1):
        assert PlanSettings(threshold=threshold).threshold == float(threshold)  # type: ignore[arg-type]
    assert PlanSettings(correlation="0.99").correlation == 0.99  # type: ignore[arg-type]


def test_settings_ask_for_as_many_people_as_the_metric() -> None:
    assert FEWEST_PEOPLE == FEWEST_ATTEMPTS


@pytest.mark.parametrize(("people", "kind", "planned"), [(300, "count", 300), (100_000, "power", 5)])
def test_the_chart_marks_the_planned_size(people: int, kind: str, planned: float) -> None:
    drawn = chart(unveil.plan(people, people, 0.09).findings)
    assert drawn.x_kind == kind
    assert [each.value for each in drawn.thresholds] == [0.8, planned]
    assert drawn.x_range[0] <= planned <= drawn.x_range[1]


def test_the_command_refuses_what_is_missing_or_wrong() -> None:
    run = CliRunner().invoke(main, ["plan", "--people", "300"])
    assert run.exit_code == 2
    assert "--control N and --threshold VALUE are missing" in run.output
    run = CliRunner().invoke(main, ["plan", "--people", "3", "--control", "300", "--threshold", "0.09"])
    assert run.exit_code == 2
    assert "the minimum is 20" in run.output


def test_python_command_and_page_give_the_same_json() -> None:
    settings = {"people": "400", "control": "200", "threshold": "0.05", "attackers": "4", "correlation": "0.3"}
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    run = CliRunner().invoke(main, ["plan", *words, "--json"], catch_exceptions=False)
    assert run.exit_code == 0, run.output
    in_python = unveil.plan(400, 200, 0.05, attackers=4, correlation=0.3)
    by_settings = unveil.plan(
        settings=PlanSettings(people=400, control=200, threshold=0.05, attackers=4, correlation=0.3)
    )
    assert check(question("plan"), {}, settings) == {}
    served = answer("plan", {}, settings)
    assert json.loads(run.stdout) == json.loads(in_python.to_json()) == json.loads(by_settings.to_json())
    assert json.loads(run.stdout) == json.loads(served.json)
    assert served.headline == in_python.headline

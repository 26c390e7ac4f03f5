"""``unveil list``: the same facts as the listing itself, as a table and as JSON."""

import json
from dataclasses import fields
from math import isfinite
from typing import get_args

import pytest
from click.testing import CliRunner
from rich.console import Console

from unveil._registry import InputKind
from unveil.cli import main
from unveil.cli.listing import CRITERIA
from unveil.metrics import METRICS
from unveil.report.trust import trust_of


def test_json_holds_every_metric_with_its_facts() -> None:
    run = CliRunner().invoke(main, ["list", "metrics", "--json"])
    assert (run.exit_code, run.stderr) == (0, "")
    listed = json.loads(run.stdout)
    assert [facts["name"] for facts in listed] == list(METRICS)
    for facts, metric in zip(listed, METRICS.values(), strict=True):
        assert facts.keys() == {field.name for field in fields(metric)} - {"function"} | {
            "summary",
            "reliability",
            "level_and_potential",
            "aspect",
        }
        assert [facts[name] for name in CRITERIA] == [getattr(metric, name) for name in CRITERIA]
        assert facts["reliability"] == trust_of(metric.name)
        assert facts["bounds"] == [bound if isfinite(bound) else None for bound in metric.bounds]
        assert facts["summary"] == metric.summary
        plain = ("category", "on", "per", "more_means", "needs_truth", "source")
        assert {name: facts[name] for name in plain} == {name: getattr(metric, name) for name in plain}
    assert len(METRICS) >= 12


def test_in_a_pipe_there_is_one_line_per_metric() -> None:
    run = CliRunner().invoke(main, ["list", "metrics"])
    head, *lines = run.stdout.splitlines()
    assert run.exit_code == 0
    assert "\x1b" not in run.stdout
    assert head.split()[:2] == ["name", "category"]
    for line, metric in zip(lines, METRICS.values(), strict=True):
        assert line.split()[0] == metric.name
        assert all(
            fact in line for fact in (metric.category, metric.per, metric.more_means, metric.summary, metric.source)
        )
        marks = [f"{ground} {word}" for ground, word in trust_of(metric.name).items() if word]
        assert (", ".join(marks) or "not graded") in line
        assert ("∞" in line) == (not all(map(isfinite, metric.bounds)))
        assert (" yes " if metric.needs_truth else " no ") in line


def test_on_a_terminal_every_metric_has_its_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "unveil.report.terminal.output", lambda: Console(force_terminal=True, width=1000, color_system=None)
    )
    run = CliRunner().invoke(main, ["list", "metrics"])
    assert run.exit_code == 0
    for metric in METRICS.values():
        assert f"{metric.name} " in run.stdout
        assert metric.summary in run.stdout
        assert f"source: {metric.source}" in run.stdout


@pytest.mark.parametrize(("what", "known"), [("attacks", "linkability"), ("protections", "rank-swapping")])
def test_attacks_and_protections_are_listed_with_their_settings(what: str, known: str) -> None:
    shown = CliRunner().invoke(main, ["list", what])
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert known in shown.stdout
    things = json.loads(CliRunner().invoke(main, ["list", what, "--json"]).stdout)
    assert known in [thing["name"] for thing in things]
    assert all(thing["summary"] and thing["source"] and thing["on"] in get_args(InputKind) for thing in things)


@pytest.mark.parametrize("arguments", [["list"], ["list", "metric"]])
def test_anything_else_is_bad_input_on_one_line(arguments: list[str]) -> None:
    run = CliRunner().invoke(main, arguments)
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.startswith("unveil: ")
    assert run.stderr.count("\n") == 1
    assert "metrics" in run.stderr

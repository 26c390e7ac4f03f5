"""The measurements of decisions count what they say: known effects, planted leaks, misses of limits, kept promises."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks import decisions
from benchmarks.audit_decision import Line
from benchmarks.decision_report import report
from benchmarks.decision_tables import Planted, Source, chances, read, true_effects, with_dormitories


@pytest.fixture
def source(tmp_path: Path) -> Source:
    rng = np.random.default_rng(3)
    town, age = rng.integers(0, 30, 3000), rng.integers(20, 80, 3000)
    job = (age // 10 + rng.integers(0, 3, 3000)) % 7
    frame = pl.DataFrame({"town": town, "age": age, "size": rng.integers(1, 6, 3000), "job": job, "sick": job // 2})
    frame.write_csv(tmp_path / "people.csv")
    return Source("people", "town age size job sick", parts=100)


def test_true_effects_are_the_mean_excess_of_many_draws(source: Source, tmp_path: Path) -> None:
    table, rng = read(source, tmp_path, coarse=True).codes, np.random.default_rng(5)
    made, expected, seen = Planted("verbatim", 200, 200), [], []
    for _ in range(30):
        draw = made.draw(table, 0.2, rng)
        expected.append(true_effects(draw, 0.2)["copies"])
        inside, outside = (chances(people, draw.released)["copies"] for people in (draw.original, draw.strangers))
        seen.append(inside.mean() - outside.mean())
    assert np.mean(expected) == pytest.approx(0.2, abs=0.02)
    assert np.mean(seen) == pytest.approx(np.mean(expected), abs=0.02)


def test_a_harmless_draw_has_no_effect(source: Source, tmp_path: Path) -> None:
    draw = Planted("none", 200, 100).draw(read(source, tmp_path, coarse=True).codes, 0.5, np.random.default_rng(5))
    assert set(true_effects(draw, 0.5).values()) == {0.0}


def test_dormitories_hold_people_with_one_record() -> None:
    made = with_dormitories(pl.DataFrame({"number": range(4000)}))
    sizes = made.group_by("number").len()["len"]
    assert 120 <= made.height - 4000 <= 320
    assert max(sizes.to_list()) > 20


@pytest.mark.unwatched
def test_a_run_is_resumed_and_an_audit_has_the_rates_of_the_definition(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = decisions.CoarseCase("made", Planted("verbatim", 200, 200), 0.2)
    monkeypatch.setattr(decisions, "POPULATIONS", {"made": source})
    monkeypatch.setattr(decisions, "cases", lambda: iter([case]))
    results = tmp_path / "results.jsonl"
    asked = ["decisions", "run", "--tables", str(tmp_path), "--seeds", "0", "1", "--results", str(results)]
    monkeypatch.setattr(sys, "argv", asked)
    decisions.main()
    (line,) = decisions.lines_of(results)
    assert line["gap"] == 0
    assert (line["level"], line["decision"]) == ("medium", "fail")
    assert line["truth"]["copies"] == pytest.approx(0.2, abs=0.02)
    results.write_text(results.read_text() + '{"case": "cut o')
    decisions.main()
    assert decisions.lines_of(results) == [line]
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["decisions", "report", "--results", str(results)])
    decisions.main()
    assert "| sides" not in (said := capsys.readouterr().out)
    assert "* Sides, copies, sides: lower limits miss in 0 of 1" in said


def _line(part: str, case: str, **changes: Any) -> Line:
    effect = {"attack": "copies", "attacker": "", "value": 0.05, "low": 0.01, "high": 0.08, "p": 0.5}
    made = {"part": part, "case": f"{part} {case}", "seed": 0, "level": "none_found", "at_most": "low"}
    made |= {"decision": "pass", "reason": "", "used_before": False, "effects": [effect], "seconds": 1.0}
    return made | changes


def test_the_summary_counts_promises() -> None:
    lines = [
        _line("harmless", "500/500 fresh: a"),
        _line("harmless", "500/500 fresh: b", level="low", decision="inconclusive", reason="x: y"),
        _line("planted", "500/500 5%: a", level="medium", decision="fail", truth={"copies": 0.09}),
        _line("threshold", "500/500 verbatim: a", truth={"copies": 0.09}),
        _line("sides", "500/500 verbatim 5%: a", truth={"copies": 0.05}),
    ]
    said = report(lines, 0.09)
    assert "* P(level above none found), harmless: 1 of 2 (50.0 %, 1.3 to 98.7); goal at most 5%: kept." in said
    assert "* P(pass), harmless, 500/500: 1 of 2 (50.0 %, 1.3 to 98.7); goal at least 50%: kept." in said
    assert (
        "* P(pass) with a true effect at the threshold: 1 of 1 (100.0 %, 2.5 to 100.0); goal at most 5%: kept." in said
    )
    assert "* Sides, copies, harmless: lower limits miss in 2 of 2" in said
    assert (
        "* Sides, copies, sides: lower limits miss in 0 of 1 (0.0 %, 0.0 to 97.5) (goal 3.5 %), upper in 0 of 1" in said
    )

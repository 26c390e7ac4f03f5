"""The calibration goes on where it stopped, finds what was planted, and does not accuse what is harmless."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import calibrate, membership_null


@pytest.mark.unwatched
def test_a_run_is_resumed_and_planted_leaks_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    monkeypatch.setattr(sys, "argv", ["calibrate", "--seeds", "0", "1", "--results", str(results)])
    calibrate.main()
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert [bool(line["found"]) for line in lines] == [False, False, True, True]
    assert any(name.startswith("copies") for name in lines[-1]["found"])
    said = capsys.readouterr().out
    assert said.count("| 1 |") >= len(lines) == len(calibrate.SMALL)

    def again(*_: object) -> None:
        raise AssertionError("what was done is done again")

    monkeypatch.setitem(calibrate.JUDGES, "kernels", again)
    calibrate.main()
    assert capsys.readouterr().out == said
    assert len(results.read_text().splitlines()) == len(lines)


@pytest.mark.unwatched
def test_figures_of_membership_hold_the_truth_of_harmless_and_of_planted_tables() -> None:
    people = calibrate.sample(Path())
    lines: list[dict[str, Any]] = []
    for leaked in (0.0, 0.3):
        line = membership_null.measured(people, calibrate.Case(300, 300, leaked), 0, 0)
        lines.append({"population": "sample", "leaked": leaked, "seed": 0, **line})
        _, low, high = lines[-1]["combined area"]
        assert low <= membership_null.truth_of("combined area", leaked, 0.0) <= high
    assert [line["combined named"] for line in lines] == [0.0, pytest.approx(0.3, abs=0.05)]
    assert "| sample, 30% | combined area | 1 | 0.650 |" in membership_null.summary(lines)

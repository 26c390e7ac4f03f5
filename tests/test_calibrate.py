"""The calibration goes on where it stopped, finds what was planted, and does not accuse what is harmless."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import calibrate


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

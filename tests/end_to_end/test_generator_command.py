"""A way of making releases audited by the command line: as its owner would, with what can go wrong."""

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.ask.audit.example import people
from tests.end_to_end.commands import MARKER, Command

AUDIT = Command("audit")
ATTACKS = ("--attacks", "copies,membership", "--kind", "synthetic")
RESAMPLES = """
import csv, random, sys
random.seed(int(sys.argv[3]))
with open(sys.argv[1], newline="") as stream:
    head, *rows = list(csv.reader(stream))
with open(sys.argv[2], "w", newline="") as stream:
    csv.writer(stream).writerows([head, *random.choices(rows, k=len(rows))])
"""
FAILS = {
    "fails": ("import sys; print(open(sys.argv[1]).read()); sys.exit(3)", "code 3"),
    "writes nothing": ("pass", "wrote no file"),
    "writes other columns": ("import sys; open(sys.argv[2], 'w').write('one,two\\n1,2\\n')", "column"),
    "hangs": ("import time; time.sleep(60)", "took longer than 1 s"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    weight = np.random.default_rng(3).integers(0, 10**6, 240)
    people(240, 1).with_columns(weight=weight, town=pl.lit(MARKER)).write_csv(tmp_path / "people.csv")
    (tmp_path / "synth.py").write_text(RESAMPLES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def generator(script: str = "synth.py") -> tuple[str, str]:
    return "--generator", f"{sys.executable} {script} {{in}} {{out}} {{seed}}"


def test_from_the_command_to_the_sheet(folder: Path) -> None:
    asked: tuple[str, ...] = (
        "people.csv",
        *generator(),
        *ATTACKS,
        "--canaries",
        "20:unusual",
        "--runs",
        "2",
        "--epsilon",
        "0.2",
    )
    asked = (*asked, "--made", "made", "--json")
    first = AUDIT.ask(*asked, "--html", "report.html", "--shareable", "shared.html", "--sheet", "sheet.html")
    assert first.exit_code == 3, first.stderr  # the claim is contradicted
    told = json.loads(first.stdout)
    assert told["verdict"]["outcome"] == "found"
    assert told["verdict"]["headline"].startswith("Your way of making it gives most people away")
    assert (told["way"]["runs"], told["way"]["attacked"]) == (2, 1)
    assert told["epsilon"]["contradicted"] is True
    assert "40 coins (20 canaries, 2 runs) can show an epsilon of at most" in first.stderr
    pages = {name: Path(name).read_text() for name in ("report.html", "shared.html", "sheet.html")}
    for page in pages.values():
        assert "is contradicted" in page
        assert MARKER not in page
    assert str(folder) not in pages["shared.html"]
    assert "synth.py" in pages["shared.html"]
    assert sys.executable in pages["report.html"]
    # What was made is there: nothing is made again, and the answer is the same.
    Path("synth.py").touch()
    assert json.loads(AUDIT.ask(*asked).stdout) == told


@pytest.mark.parametrize("what", FAILS)
def test_a_generator_that_makes_nothing_is_told_in_a_sentence(what: str) -> None:
    script, said = FAILS[what]
    Path("bad.py").write_text(script)
    AUDIT.refuse("people.csv", *generator("bad.py"), *ATTACKS, "--time-limit", "1", naming=(said, "generator"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--epsilon", "0"), "epsilon must be above 0 and finite"),
        (("--epsilon=-1",), "epsilon must be above 0 and finite"),
        (("--epsilon", "inf"), "must be a number"),
        (("--folds", "30"), "Take fewer folds"),
        (("--canaries", "5", "--folds", "2"), "Leave out either"),
        (("--control", "people.csv"), "Leave out either"),
        (("--suggest", "2"), "Leave out either"),
        (("--hold-out", "0.01"), "must be held out"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(words: tuple[str, ...], said: str) -> None:
    AUDIT.refuse("people.csv", *generator(), *ATTACKS, *words, naming=(said,))


def test_runs_of_another_generator_are_not_mixed() -> None:
    assert AUDIT.ask("people.csv", *generator(), *ATTACKS, "--made", "made").exit_code == 0
    Path("other.py").write_text(f"{RESAMPLES}\n# another one\n")
    AUDIT.refuse("people.csv", *generator("other.py"), *ATTACKS, "--made", "made", naming=("generator",))


def test_a_protection_takes_the_place_of_a_command() -> None:
    told = AUDIT.answer("people.csv", "--generator", "shuffle", *ATTACKS[:2], "--folds", "2")
    assert told["way"]["generator"] == "shuffle"
    assert told["releases"][0]["kind"] == "masked"
    assert told["verdict"]["outcome"] == "found"


def test_a_release_that_exists_is_audited_beside_the_way() -> None:
    told = AUDIT.answer("people.csv", "people.csv", *generator(), *ATTACKS)
    assert [each["name"] for each in told["releases"]] == ["your way of making it", "people.csv"]
    assert told["verdict"]["headline"].startswith("Your way of making it gives")


def test_the_example_inside_needs_no_file() -> None:
    told = AUDIT.answer("--generator", "gaussian-copula", "--attacks", "copies")
    assert told["way"]["people"] == 700

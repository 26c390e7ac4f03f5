"""A way of making releases audited by the command line: as its owner would, with what can go wrong."""

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.commands import MARKER, Command
from tests.questions.audit.example import people

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


def test_from_the_command_to_the_sheet(folder: Path, approved: Approved) -> None:
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
    assert (told["decision"]["level"], told["decision"]["decision"]) == ("high", "fail")
    assert told["decision"]["headline"].startswith("Fail (high risk): ")
    assert (told["generator"]["runs"], told["generator"]["attacked"]) == (2, 1)
    assert told["epsilon"]["refuted"] is True
    approved(first.stderr)
    pages = {name: Path(name).read_text() for name in ("report.html", "shared.html", "sheet.html")}
    for page in pages.values():
        assert "is refuted" in page
        assert MARKER not in page
    assert str(folder) not in pages["shared.html"]
    assert "synth.py" not in pages["shared.html"]
    assert sys.executable in pages["report.html"]
    # What was made is there: nothing is made again, and the answer is the same.
    Path("synth.py").touch()
    assert json.loads(AUDIT.ask(*asked).stdout) == told


@pytest.mark.parametrize("workers", ["1", "2"])
def test_secrets_of_a_command_stay_inside(workers: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTH_TOKEN", "value-5d1e07")
    script = "import os, sys; assert os.environ['SYNTH_TOKEN'][-6:] == '5d1e07'; print(os.environ['SYNTH_TOKEN'])\n"
    Path("token.py").write_text(f"{script}{RESAMPLES}")
    command = (
        f"{sys.executable} token.py {{in}} {{out}} {{seed}} --password=word-91c2ab --url=https://me:word-91c2ab@host"
    )
    told = ("--env", "SYNTH_TOKEN", "--workers", workers, "--runs", "2", "--made", "made", "--canaries", "20", *ATTACKS)
    files = ("--html", "report.html", "--shareable", "shared.html", "--sheet", "sheet.html", "--csv", "csv")
    reply = AUDIT.ask("people.csv", "people.csv", "--generator", command, *told, *files, "--json")
    assert reply.exit_code == 0, reply.stderr
    Path("answer.json").write_text(reply.stdout)
    made = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "token.py"}
    made[Path("stderr")] = reply.stderr.encode()
    assert (folder / "made" / "logs" / "run-0001.txt").read_text() == "[SYNTH_TOKEN]\n"
    # No value of a variable anywhere, and the words of the command for those alone who hold the data.
    assert [path for path, content in made.items() if b"5d1e07" in content] == []
    written = {path for path, content in made.items() if b"91c2ab" in content} - {folder / "answer.json"}
    assert {folder / "report.html", folder / "sheet.html", folder / "made" / "made.json"} <= written
    assert {path.stat().st_mode & 0o777 for path in written} == {0o600}
    assert folder / "shared.html" not in written
    assert "token.py" not in Path("shared.html").read_text()
    assert "SYNTH_TOKEN" not in Path("shared.html").read_text()


def test_the_shareable_edition_names_protections_but_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    # A file of settings may name the command, too.
    Path("audit.toml").write_text(f'generator = "{sys.executable} synth.py {{in}} {{out}} {{seed}} word-91c2ab"\n')
    AUDIT.ask("people.csv", "--config", "audit.toml", *ATTACKS, "--shareable", "shared.html")
    assert "91c2ab" not in Path("shared.html").read_text()
    AUDIT.ask("people.csv", "--generator", "shuffle", *ATTACKS[:2], "--shareable", "shared.html")
    assert "shuffle" in Path("shared.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--env", "NO_SUCH_VARIABLE"), "the variable NO_SUCH_VARIABLE (env) is not set"),
        (("--env", "TOKEN=word-91c2ab"), "write TOKEN alone"),
        (("--output-limit", "0"), "output limit, in GB, is 0; it must be above 0"),
        (("--output-limit", "0.000001"), "wrote a file above the maximum of 1e-06 GB"),
    ],
)
def test_wrong_variables_and_too_much_output_are_told(words: tuple[str, ...], said: str) -> None:
    AUDIT.refuse("people.csv", *generator(), *ATTACKS, *words, naming=(said,))


def test_variables_need_a_generator() -> None:
    AUDIT.refuse("people.csv", "people.csv", "--env", "HOME", naming=("--generator",))


@pytest.mark.parametrize("what", FAILS)
def test_a_generator_that_makes_nothing_is_told_in_a_sentence(what: str) -> None:
    script, said = FAILS[what]
    Path("bad.py").write_text(script)
    AUDIT.refuse("people.csv", *generator("bad.py"), *ATTACKS, "--time-limit", "1", naming=(said, "generator"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--epsilon", "0"), "epsilon is 0; it must be above 0 and finite"),
        (("--epsilon=-1",), "epsilon is -1; it must be above 0 and finite"),
        (("--epsilon", "inf"), "not a number"),
        (("--folds", "30"), "Take fewer folds"),
        (("--canaries", "5", "--folds", "2"), "exclude each other"),
        (("--control", "people.csv"), "exclude each other"),
        (("--suggest", "2"), "exclude each other"),
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
    assert told["generator"]["generator"] == "shuffle"
    assert told["releases"][0]["type"] == "masked"
    assert told["decision"]["level"] == "high"


def test_a_release_that_exists_is_audited_beside_the_way() -> None:
    told = AUDIT.answer("people.csv", "people.csv", *generator(), *ATTACKS)
    assert [each["name"] for each in told["releases"]] == ["the generator", "people.csv"]
    assert [each["name"] for each in told["decision"]["releases"]] == ["the generator", "people.csv"]
    assert told["decision"]["level"] in ("medium", "high")


def test_the_example_inside_needs_no_file() -> None:
    told = AUDIT.answer("--generator", "gaussian-copula", "--attacks", "copies")
    assert told["generator"]["people"] == 700

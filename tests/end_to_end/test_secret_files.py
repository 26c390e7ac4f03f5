"""Who may read what a command leaves on disk: the table of the guide, tried with every option that writes a file."""

import os
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner

from tests.approved.sentences import Approved
from tests.end_to_end.audit_people import people
from tests.studies.small import small_graph, small_study
from unveil.cli import COMMANDS, main
from unveil.cli.values import report_target
from unveil.studies import run_study

TABLE = (Path(__file__).parents[2] / "docs" / "how-to" / "files.md").read_text(encoding="utf-8")
#: What the guide says may be read by others: a command and its option.
SHARED = set(re.findall(r"^\| `unveil (.+) (--\w+)` \|.*\| as the umask says \|$", TABLE, re.MULTILINE))

# The least that each command needs besides the options that write files.
CALLS = {
    "audit": ["people.csv", "masked.csv", "--control", "others.csv", "--attacks", "membership", "--quiet"],
    "protect": ["people.csv", "--protect", "shuffle", "--attacks", "disclosure", "--known", "age,sex", "--quiet"],
    "plan": ["--people", "500", "--control", "500", "--threshold", "0.09", "--quiet"],
    "split": ["people.csv", "--share", "1/2", "--quiet"],
    "columns": ["people.csv", "--quiet"],
    "unlinkability": ["--sample", "--quiet"],
    "attack-metrics": ["--sample", "--quiet"],
    "matching": ["--sample", "--quiet"],
    "link": ["--sample", "--quiet"],
    "reidentify": ["people.csv", "--protect", "shuffle", "--attack", "nearest", "--known", "age", "--quiet"],
    "protect-graph": ["small.csv", "--protect", "id-removal", "--quiet"],
    "graph": ["small.csv", "--attack", "ns", "--seed-pairs", "3", "--quiet"],
    "tables": ["counts.csv", "--quiet"],
    "study report": ["done"],
    "grade-metrics": ["done", "--quiet"],
}

#: Files that must not exist yet.
NEW = {("split", "--out"), ("split", "--write-control")}


def writing_options() -> Iterator[tuple[str, str]]:
    """Yield every command with each of its options that names a file to write."""
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        inner = command.commands if isinstance(command, click.Group) else {}
        for words, each in {name: command, **{f"{name} {one}": inner[one] for one in inner}}.items():
            for option in each.params if each is not None else ():
                if getattr(option, "callback", None) is report_target:
                    yield words, option.opts[0]


OPTIONS = sorted(writing_options())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make small files of each kind."""
    folder = tmp_path_factory.mktemp("secrets")
    small_graph(folder)
    original = people(40, 1)
    original.write_csv(folder / "people.csv")
    people(60, 2).write_csv(folder / "others.csv")
    original.with_columns(pl.col("age") // 10 * 10).write_csv(folder / "masked.csv")
    (folder / "counts.csv").write_text("ward,count\nNorth,3\nSouth,17\nWest,12\nTotal,32\n")
    run_study(small_study(folder), folder / "done", workers=0)
    return folder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_every_command_that_writes_is_tried_and_the_guide_names_what_is_shared() -> None:
    assert {command for command, _ in OPTIONS} == set(CALLS)
    assert set(OPTIONS) >= SHARED
    assert {("audit", "--redacted"), ("protect-graph", "--out")} <= SHARED
    assert "| `--html` of every command | internal report (`--pdf`, too) |" in TABLE
    assert "| `--csv` and `--figures` of every command |" in TABLE
    for command, option in set(OPTIONS) - SHARED:
        assert option in {"--html", "--pdf"} or f"`unveil {command} {option}`" in TABLE


@pytest.mark.parametrize("command", CALLS)
def test_a_secret_file_is_this_users_alone_whatever_the_umask(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(folder)
    targets = {option: Path(f"{command}{option}".replace(" ", "-")) for name, option in OPTIONS if name == command}
    written = [part for option, path in targets.items() for part in (option, str(path))]
    for umask, there in ((0o000, False), (0o022, True)):
        for option, path in targets.items():
            if there and (command, option) in NEW:
                path.unlink()
            elif there:  # a wide one of before is replaced
                path.chmod(0o666)
        before = os.umask(umask)
        try:
            done = CliRunner().invoke(main, [*command.split(), *CALLS[command], *written])
        finally:
            os.umask(before)
        assert done.exit_code == 0, done.output
        for option, path in targets.items():
            assert mode(path) == (0o666 if (command, option) in SHARED else 0o600), (option, oct(umask))


def test_folders_of_tables_and_charts_are_this_users_alone_and_never_mixed_with_what_was_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, approved: Approved
) -> None:
    monkeypatch.chdir(folder)
    Path("charts").mkdir()  # an empty one may be there
    call = ["matching", "--sample", "--csv", "tables", "--figures", "charts", "--html", "charts/report.html"]
    before = os.umask(0o000)
    try:
        done = CliRunner().invoke(main, call)
    finally:
        os.umask(before)
    assert done.exit_code == 0, done.output
    assert {mode(Path(name)) for name in ("tables", "charts")} == {0o700}
    files = [*Path("tables").iterdir(), *Path("charts").iterdir()]
    assert {mode(file) for file in files} == {0o600}
    assert {file.suffix for file in files} == {".csv", ".svg", ".pdf", ".png", ".html"}
    again = CliRunner().invoke(main, call)
    assert again.exit_code == 2
    approved(again.stderr)
    assert list(folder.glob(".unveil-*")) == []


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_the_folder_of_a_study_is_this_users_alone(tmp_path: Path, umask: int) -> None:
    study = small_study(tmp_path, attacks=("tests.studies.own:Guess", "tests.studies.own:Failing:seeds=5"))
    out = tmp_path / "out"
    before = os.umask(umask)
    try:
        run_study(study, out, workers=0)
        broken = next((out / "results").glob("*.result"))
        broken.write_bytes(b"")
        broken.chmod(0o666)
        for name in ("releases", "results", "errors"):
            (out / name).chmod(0o777)
        run_study(study, out, workers=0, resume=True)
    finally:
        os.umask(before)
    folders = [out, *(path for path in out.rglob("*") if path.is_dir())]
    assert {path.name for path in folders} == {"out", "results", "nodes", "releases", "errors", "damaged"}
    assert {path.name: oct(mode(path)) for path in folders if mode(path) != 0o700} == {}
    files = [path for path in out.rglob("*") if path.is_file() and path.parent.name != "damaged"]
    assert {path.name: oct(mode(path)) for path in files if mode(path) != 0o600} == {}
    assert {"study.toml", "manifest.json", "times.jsonl", "run.lock"} <= {path.name for path in files}


def test_a_folder_that_was_there_keeps_its_permissions_and_its_secrets(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o755)
    run_study(small_study(tmp_path), out, workers=0)
    assert mode(out) == 0o755
    assert {mode(out / name) for name in ("results", "releases")} == {0o700}


def test_a_crash_leaves_no_core_file() -> None:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        CliRunner().invoke(main, ["list", "attacks"])
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)

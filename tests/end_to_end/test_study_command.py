"""``unveil study`` from a file to what a person or a machine reads: running, stopping, going on, and bad input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result

from tests.approved.sentences import Approved
from tests.end_to_end.commands import Command
from tests.studies.small import GUESS, small_graph
from unveil.cli.study import moving
from unveil.errors import InputError
from unveil.report.text import about, far, percent
from unveil.studies import Results, Study

ROOT = Path(__file__).parents[2]
STUDIES = sorted((ROOT / "studies").glob("*.toml"))
#: Studies of given releases read an index that lies with the data.
GIVEN = [path for path in STUDIES if "[index]" in path.read_text(encoding="utf-8")]
SHIPPED = [path for path in STUDIES if path not in GIVEN]
COMMAND = Command("study")
ask = COMMAND.ask

FAILING = "tests.studies.own:Failing:seeds=5"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a small graph."""
    monkeypatch.chdir(tmp_path)
    small_graph(tmp_path)
    return tmp_path


def write(*, by: tuple[str, ...] = (GUESS,), **changes: str) -> None:
    """Write a study of one protection, attacked at two levels; ``changes`` replace a key as it is written."""
    told = {
        "name": '"little"',
        "seed": "4",
        "protections": '["id-removal"]',
        "attacks": json.dumps(by),
        "metrics": '["adversary_overall_success", "entropy"]',
        "data": '[{ name = "small", kind = "graph", source = "small.csv" }]',
        "axes": "{ seed_pairs = [2, 5] }",
        "replications": "{ number = 2 }",
        **changes,
    }
    Path("study.toml").write_text("\n".join(f"{key} = {value}" for key, value in told.items() if value) + "\n")


def run(*options: str, out: str = "out") -> Result:
    return ask("run", "study.toml", "--out", out, "--workers", "0", *options)


def test_a_person_runs_a_study_and_reads_what_it_found(approved: Approved) -> None:
    write(seed="5")
    done = run()
    assert (done.exit_code, done.stderr) == (0, "2 of 2 scenarios\n"), done.output
    assert done.stdout.startswith("2 scenarios of 2 computed in ")
    assert "unveil study report out" in done.stdout
    status = ask("status", "out")
    approved((status.exit_code, status.stdout.splitlines()[0]))
    report = ask("report", "out", "--html", "report.html")
    assert report.exit_code == 0
    values = Results.read("out").frame.filter(level=5.0)["adversary_overall_success"].to_numpy()
    assert f"{percent(float(values.mean()))} ± " in report.stdout
    page = Path("report.html").read_text(encoding="utf-8")
    assert "scenarios are computed" not in page
    assert f"re-identifies {about(float(values.mean()))} (" in page
    assert "default-src 'none'" in page
    assert str(Path.cwd()) not in page


def test_a_machine_reads_json() -> None:
    write()
    done = run("--json", "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["schema"], told["total"], told["done"], told["failed"]) == ("unveil.study-run/1", 2, 2, 0)
    status = json.loads(ask("status", "out", "--json").stdout)
    assert (status["schema"], status["scenarios"]["fine"], status["running"]) == ("unveil.study-status/1", 2, None)
    report = json.loads(ask("report", "out", "--json", "--metric", "entropy").stdout)
    assert (report["schema"], report["metrics"]) == ("unveil.study/1", ["entropy"])
    assert {row["level"] for row in report["summary"]} == {2.0, 5.0}


def test_scenarios_that_fail_are_counted_in_the_exit_code_and_stop_no_other(approved: Approved) -> None:
    write(by=(GUESS, FAILING))
    done = run()
    assert done.exit_code == 4
    assert "1 scenario failed:" in done.stdout
    approved(done.stdout)
    assert "secret" not in done.output
    again = run("--resume", "--json")
    assert (again.exit_code, json.loads(again.stdout)["reused"], json.loads(again.stdout)["failed"]) == (4, 3, 1)
    assert "1 of 4 scenarios failed" in again.stderr
    assert ask("status", "out").stdout.startswith("3 of 4 scenarios are computed; 1 failed.")
    report = ask("report", "out")
    assert report.exit_code == 0
    assert "3 of 4 scenarios are computed; 1 failed." in report.stdout


def test_a_folder_with_results_is_only_touched_to_go_on(approved: Approved) -> None:
    write()
    run()
    first = sorted((Path("out") / "results").iterdir())[0]
    content = first.read_bytes()
    assert "Resume it" in refuse("run", "study.toml", "--out", "out")
    first.write_bytes(content[:-30])
    done = run("--resume")
    assert done.exit_code == 0
    assert "1 scenario of 2 computed" in done.stdout
    approved(done.stdout)
    assert first.read_bytes() == content


def refuse(*arguments: str) -> str:
    """Return the one message with which a call is refused."""
    done = ask(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("unveil: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize(
    ("changes", "naming"),
    [
        ({"atacks": '["NS"]'}, ("'atacks'", "attacks")),
        ({"attacks": "[]"}, ("attacks are empty",)),
        ({"axes": "{ seed_pairs = [5, 2] }"}, ("must increase", "5, 2")),
        ({"axes": "{ seed_pair = [2, 5] }"}, ("seed_pairs",)),
        ({"replications": "{ number = 0 }"}, ("at least 1", "0")),
        ({"data": '[{ name = "small", kind = "graph", source = "none.csv" }]'}, ("none.csv", "does not exist")),
        ({"protections": '["tests.studies.own:NotAnything"]'}, ("NotAnything",)),
        ({"protections": '["id-removel"]'}, ("id-removal",)),
        ({"metrics": '["entrop"]'}, ("'entrop'", "'entropy'")),
        ({"seed": ""}, ("'seed'",)),
    ],
)
def test_a_bad_study_is_refused_in_one_sentence(changes: dict[str, str], naming: tuple[str, ...]) -> None:
    write(by=(GUESS,), **changes)
    said = refuse("run", "study.toml", "--out", "out", "--workers", "0")
    assert all(name in said for name in naming), said
    assert not (Path("out") / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        (("run", "none.toml", "--out", "out"), "none.toml"),
        (("run", "study.toml"), "--out"),
        (
            ("run", "study.toml", "--out", "out", "--workers", "2", "--cluster", "tcp://127.0.0.1:1"),
            "exclude each other",
        ),
        (("run", "study.toml", "--out", "out", "--workers", "-1"), "--workers"),
        (("run", "study.toml", "--out", "out", "--memory", "much"), "such as 4GB"),
        (("run", "study.toml", "--out", "out", "--memory", "0GB"), "such as 4GB"),
        (("run", "study.toml", "--out", "small.csv"), "small.csv"),
        (("run", "study.toml", "--out", "."), "holds other files"),
        (("status", "."), "must be the folder of a study"),
        (("report", "none"), "must be the folder of a study"),
        (("rnu",), "rnu"),
    ],
)
def test_a_wrong_call_is_refused_in_one_sentence(arguments: tuple[str, ...], naming: str) -> None:
    write()
    assert naming in refuse(*arguments)


def test_the_folder_of_another_study_is_refused() -> None:
    write()
    run()
    write(seed="5")
    assert "seed 4" in refuse("run", "study.toml", "--out", "out", "--resume", "--workers", "0")


def test_little_memory_becomes_a_row_that_says_so() -> None:
    write()
    done = run("--memory", "100MB")
    assert done.exit_code == 4
    assert "is projected to take" in done.stdout


def test_without_a_command_help_is_shown() -> None:
    shown = ask()
    assert shown.exit_code == 0
    assert all(name in shown.stdout for name in ("run", "status", "report", "Exit codes"))


def test_interrupting_keeps_what_is_done(folder: Path) -> None:
    begun = folder / "begun"
    write(by=(GUESS, f"tests.studies.own:Slow:seconds=60,begun={begun}"))
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from unveil.cli import main; main()"
    arguments = ["study", "run", "study.toml", "--out", "out", "--workers", "1"]
    process = subprocess.Popen([sys.executable, "-c", start, *arguments], stderr=subprocess.PIPE, text=True)
    try:
        while not begun.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "--resume" in said
    status = json.loads(ask("status", "out", "--json").stdout)
    assert (status["scenarios"]["fine"], status["scenarios"]["missing"], status["running"]) == (2, 2, None)


def test_lines_of_progress_come_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    for every, lines in (
        (0.0, ["0 of 3 scenarios, about 3 min left", "1 of 3 scenarios, about 2 min left", "3 of 3 scenarios"]),
        (1e9, ["0 of 3 scenarios, about 3 min left", "3 of 3 scenarios"]),  # the first one tells how long it takes
    ):
        with moving(quiet=False, every=every) as tell:
            assert tell is not None
            tell(0, 3, 180.0)
            tell(1, 3, 120.0)
            tell(3, 3, 0.0)
        assert capsys.readouterr().err.splitlines() == lines
    with moving(quiet=True) as tell:
        assert tell is None
    assert far(0, 3, float("nan")) == "0 of 3 scenarios"


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_every_shipped_study_can_be_read_without_its_data(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNVEIL_DATA", raising=False)
    study = Study.read(path)
    assert study.name == path.stem
    assert all(each.source.startswith(("sample:", "$UNVEIL_DATA/")) for each in study.data)
    assert len({scenario.file_name for scenario in study.scenarios()}) == len(study.scenarios())


@pytest.mark.parametrize("path", GIVEN, ids=[path.stem for path in GIVEN])
def test_a_study_of_given_releases_says_which_folder_it_needs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UNVEIL_DATA", "UNVEIL_CONTROLLED"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=r"of 'the index' needs the variable UNVEIL_\w+ of the environment"):
        Study.read(path)
    kept = Results.read(path.parent / "results" / f"{path.stem}.parquet")
    assert kept.study.name == path.stem


def test_the_shipped_studies_are_the_grids_they_say() -> None:
    studies = {path.stem: Study.read(path) for path in SHIPPED}
    steps = [studies[f"paper-{number}"] for number in range(1, 5)]
    fields = [studies[name] for name in ("mean-field", "mean-field-seeds")]
    assert set(studies) == {
        "curves",
        "cut-offs",
        "readings",
        *(f"paper-100-{graph}" for graph in ("manufacturing", "dnc", "irvine", "pgp", "dblp")),
        "quick",
        "table",
        "table-8",
        *(each.name for each in (*steps, *fields)),
    }
    assert [each.fixed["seed_pairs"] for each in fields] == [0, 50]
    assert {(each.data, each.metrics, each.axes) for each in fields} == {
        (fields[0].data, fields[0].metrics, fields[0].axes)
    }
    quick, table = studies["quick"], studies["table"]
    # Together they are the whole grid of the paper, each case once: 11 graphs, 11 protections, 6 attacks, 12 levels.
    every = [scenario for each in steps for scenario in each.scenarios()]
    assert len({scenario.key for scenario in every}) == len(every) == 11 * 11 * 6 * 2 * 6
    assert len({scenario.data.name for scenario in every}) == len({scenario.protect for scenario in every}) == 11
    assert sum(scenario.same_as is None for scenario in every) == 11 * 11 * 6 * 11
    assert {(each.attacks, each.axes, each.replications.number) for each in steps} == {
        (steps[0].attacks, steps[0].axes, 5)
    }
    assert [each.calibrate for each in steps] == ["simulate", None, None, None]
    assert {text.partition(":")[0] for text in steps[0].attacks} == set(quick.attacks)
    assert [axis.name for axis in quick.axes] == ["seed_pairs", "overlap"]
    assert (table.kind, [axis.name for axis in table.axes]) == ("table", ["known_columns"])
    assert len(table.data[0].known) >= table.axes[0].levels[-1]
    curves = studies["curves"]
    assert [axis.name for axis in curves.axes] == ["known_columns", "leaked_share"]
    assert curves.axes[0].levels[-1] == curves.fixed["known_columns"] == len(curves.data[0].known)
    assert (curves.axes[1].levels[0], curves.axes[1].levels[-1], curves.data[0].source) == (0, 1, "sample:anes96")


def test_a_study_whose_data_cannot_be_found_says_which_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNVEIL_DATA", raising=False)
    said = refuse("run", str(ROOT / "studies" / "paper-1.toml"), "--out", "out")
    assert "UNVEIL_DATA" in said


@pytest.mark.parametrize("name", ["out/manifest.json", "out/study.toml", "out/../out/times.jsonl"])
def test_a_report_does_not_replace_a_file_of_the_study(name: str, approved: Approved) -> None:
    write()
    run("--quiet")
    before = Path(name).read_bytes()
    for asked in (ask("report", "out", "--html", name), Command("grade-metrics").ask("out", "--latex", name)):
        assert (asked.exit_code, asked.stdout) == (2, "")
        approved(asked.stderr)
    assert Path(name).read_bytes() == before
    assert [ask("report", "out", "--html", "out/report.html").exit_code for _ in range(2)] == [0, 0]


def test_data_that_can_be_read_only_once_are_no_data_of_a_study(approved: Approved) -> None:
    for source in ("/dev/zero", "pipe"):
        if source == "pipe":
            os.mkfifo(source)
        write(data=f'[{{ name = "small", kind = "graph", source = "{source}" }}]')
        refused = run()
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
        approved(refused.stderr)


def test_a_study_becomes_one_file_that_is_reported_and_graded(approved: Approved) -> None:
    write(by=(GUESS, "tests.studies.own:Guess:among=2"))
    assert run().exit_code == 0
    done = ask("summary", "out", "--out", "little.parquet")
    assert (done.exit_code, done.stdout) == (0, "4 scenarios of 4 in little.parquet, 0.01 MB.\n")
    told = [json.loads(ask("report", where, "--json").stdout) for where in ("out", "little.parquet")]
    assert told[0]["scenarios"] == told[1]["scenarios"]
    assert Command("grade-metrics").ask("little.parquet").exit_code == 0
    content = Path("little.parquet").read_bytes()
    approved(refuse("status", "little.parquet"))
    approved(refuse("summary", "little.parquet", "--out", "other.parquet"))
    approved(refuse("summary", "out", "--out", "out"))
    assert "holds none" in refuse("summary", ".", "--out", "other.parquet")
    assert "cannot be written to" in refuse("summary", "out", "--out", "nowhere/other.parquet")
    assert (Path("little.parquet").read_bytes(), Path("other.parquet").exists()) == (content, False)
    ask("summary", "out", "--out", "little.parquet", "--no-nodes")
    assert len(Path("little.parquet").read_bytes()) < len(content)


def test_a_study_without_results_has_no_summary(approved: Approved) -> None:
    write(by=("tests.studies.own:Failing",))
    assert run().exit_code == 4
    approved(refuse("summary", "out", "--out", "little.parquet"))

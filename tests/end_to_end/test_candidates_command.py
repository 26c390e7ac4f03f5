"""``unveil attack-metrics`` from files on disk to what a person or a machine reads, and every kind of bad input."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from tests.approved.sentences import Approved
from tests.end_to_end.commands import MARKER, Command
from unveil.data import samples
from unveil.metrics import METRICS
from unveil.report.trust import mark, trust_of

# a: sure and right; b: sure and wrong; c: two alike; d: the truth is not considered; e: a decoy; f: not attempted.
GUESS = {
    "a": {"1": "0.9", "2": "0.1"},
    "b": {"1": "0.8", "2": "0.2"},
    "c": {"3": "0.5", "4": "0.5"},
    "d": {"1": "1"},
    "e": {"5": "0.75", "6": "0.25"},
}
TRUTH = {"a": "1", "b": "2", "c": "4", "d": "nowhere", "e": "", "f": "6"}
HEAD = "target,candidate,probability\n"

NAMES = [name for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual]
METRIC = {
    "name",
    "category",
    "on",
    "per",
    "more_means",
    "mean",
    "median",
    "low",
    "high",
    "undefined",
    "why",
    "reliability",
}
METRIC |= {"random_guessing", "knowing_all", "at_cap"}


def save_guess(path: Path, guess: dict[str, dict[str, str]], head: str = HEAD) -> Path:
    """Write a guess whose targets and candidates all hold the marker."""
    rows = [f"{MARKER}-{t},{MARKER}-{c},{p}\n" for t, belief in guess.items() for c, p in belief.items()]
    path.write_text(head + "".join(rows))
    return path


def save_truth(path: Path, truth: dict[str, str], head: str = "target,candidate\n") -> Path:
    path.write_text(head + "".join(f"{MARKER}-{t},{f'{MARKER}-{c}' if c else ''}\n" for t, c in truth.items()))
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a guess and a truth."""
    monkeypatch.chdir(tmp_path)
    save_guess(tmp_path / "guess.csv", GUESS)
    save_truth(tmp_path / "truth.csv", TRUTH)
    return tmp_path


COMMAND = Command("attack-metrics")
ask, refuse = COMMAND.ask, COMMAND.refuse


def answer(*arguments: str) -> Any:
    found = COMMAND.answer(*arguments)
    assert MARKER not in json.dumps(found)
    return found


def metric(found: Any, name: str) -> Any:
    return next(row for row in found["metrics"] if row["name"] == name)


BOTH = ("guess.csv", "--truth", "truth.csv")


# --- what comes out ---------------------------------------------------------------------------------------------------


def test_json_has_the_promised_fields(approved: Approved) -> None:
    found = answer(*BOTH, "--seed", "4")
    assert found["schema"] == "unveil.attack-metrics/2"
    assert (found["targets"], found["attempted"], found["correct"]) == (6, 5, 1.5)
    assert (found["without_original"], found["truth_not_considered"]) == (1, 1)
    assert (found["seed"], found["limits"]) == (4, [])
    approved(found["notes"])
    assert [row["name"] for row in found["metrics"]] == NAMES
    assert all(row.keys() == METRIC for row in found["metrics"])
    assert all(row["reliability"] == trust_of(row["name"]) for row in found["metrics"])


def test_json_has_the_numbers_by_hand() -> None:
    found = answer(*BOTH)
    assert metric(found, "adversary_success_rate")["mean"] == pytest.approx(1.5 / 5)
    assert metric(found, "adversary_overall_success")["mean"] == pytest.approx(1.5 / 5)
    wrong = metric(found, "incorrectness")
    assert wrong["mean"] == pytest.approx((0.1 + 0.8 + 0.5 + 1) / 4)
    assert (wrong["median"], wrong["undefined"]) == (pytest.approx(0.65), 2)
    assert "1 not attempted" in wrong["why"]
    assert metric(found, "anonymity_set_size")["mean"] == pytest.approx(9 / 5)
    # Of three attempted targets with the truth among two candidates, half are right by picking blindly.
    assert found["correct_by_chance"] == 1.5


def test_without_truth_there_is_what_needs_none() -> None:
    found = answer("guess.csv")
    assert [row["name"] for row in found["metrics"]] == [name for name in NAMES if not METRICS[name].needs_truth]
    assert (found["targets"], found["attempted"], found["correct"]) == (5, 5, None)
    assert metric(found, "entropy") == metric(answer(*BOTH), "entropy") | {"undefined": 0, "why": ""}
    text = ask("guess.csv", "--html", "report.html").stdout
    assert "(--truth)" in text
    lacking = sum(METRICS[name].needs_truth for name in NAMES)
    assert f"{lacking} metrics need the true matches" in Path("report.html").read_text()


def test_only_some_metrics_can_be_shown() -> None:
    found = answer(*BOTH, "--metric", "min_entropy", "--metric", "adversary_success_rate")
    assert [row["name"] for row in found["metrics"]] == ["min_entropy", "adversary_success_rate"]
    assert found["correct"] == 1.5
    text = ask("guess.csv", "--metric", "min_entropy", "--verbose").stdout
    assert "Min entropy" in text
    assert "Max entropy" not in text
    assert "need the true matches" not in text


TITLES = {name.replace("_", " ").capitalize(): name for name in NAMES}


def metric_lines(text: str) -> dict[str, str]:
    """Return the lines of the tables of metrics by the name of the metric."""
    tables = text.partition("Metrics by family")[2].partition("Uncertainty")[2]
    lines = [line.strip() for line in tables.splitlines()]
    return {name: line for title, name in TITLES.items() for line in lines if line.startswith(f"{title} ")}


def test_text_has_the_headline_the_results_and_on_request_every_metric() -> None:
    run = ask("--sample", "--html", "report.html", "--verbose")
    assert (run.exit_code, run.stderr) == (0, "")
    assert "58.0% (14.5 of 25)" in run.stdout
    assert "5 of 30 targets not attempted" in run.stdout
    lines = {name: line.rstrip("†").split() for name, line in metric_lines(run.stdout).items()}
    assert lines.keys() == set(NAMES)
    for name in ("entropy", "adversary_success_rate"):
        assert lines[name][-1] == mark(name, "graphs", "tables")
    assert lines["entropy"][-3:-1] == ["if", "high"]
    assert lines["adversary_success_rate"][3:-1] == ["0.58", "if", "low"]
    assert "Missing: 5 not attempted; in conditional_entropy, conditional_privacy 6 (5 not attempted and" in run.stdout
    for category in ("Uncertainty", "Error", "Information gain or loss", "Similarity", "Success"):
        assert f"\n{category}\n" in run.stdout
    assert "\x1b" not in run.stdout
    assert run.stdout.endswith("The report is in report.html\n")


@pytest.mark.parametrize("terminal", [False, True])
def test_the_longest_marks_fit_a_terminal_of_80_columns(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unveil.questions.attack_metrics.sections.metrics.mark", lambda *_: "use/care")
    monkeypatch.setattr("unveil.questions.attack_metrics.sections.metrics._distrust", lambda _: 0)
    if terminal:
        console = partial(Console, force_terminal=True, width=80, color_system=None)
        monkeypatch.setattr("unveil.report.terminal.output", console)
    lines = metric_lines(ask("--sample", "--verbose").stdout)
    # Nothing is folded: each metric is on one line, with its name first and its mark last.
    assert lines.keys() == set(NAMES)
    assert all(line.rstrip().endswith("  use/care") and len(line.rstrip()) <= 80 for line in lines.values())


def test_the_example_can_be_given_as_files_too() -> None:
    guess, truth = samples.path("candidates_guess.csv"), samples.path("candidates_truth.csv")
    assert answer(str(guess), "--truth", str(truth)) == answer("--sample")


def test_parquet_and_other_names_of_columns_give_the_same_answer(folder: Path) -> None:
    names = {"target": "record", "candidate": "person", "probability": "belief"}
    pl.read_csv("guess.csv").rename(names).write_parquet("g.parquet")
    pl.read_csv("truth.csv").rename({"target": "record", "candidate": "person"}).write_parquet("t.parquet")
    options = [word for column, name in names.items() for word in (f"--{column}", name)]
    assert answer("g.parquet", "--truth", "t.parquet", *options) == answer(*BOTH)


def test_the_order_of_rows_does_not_matter(folder: Path) -> None:
    for name in ("guess", "truth"):
        head, *rows = Path(f"{name}.csv").read_text().splitlines()
        Path(f"{name}-turned.csv").write_text("\n".join([head, *reversed(rows)]) + "\n")
    found, turned = answer(*BOTH), answer("guess-turned.csv", "--truth", "truth-turned.csv")
    for row, other in zip(found["metrics"], turned["metrics"], strict=True):
        assert row.keys() == other.keys()
        for key, value in row.items():
            assert other[key] == (pytest.approx(value) if isinstance(value, float) else value), row["name"]


def test_scores_can_be_normalized(folder: Path) -> None:
    scores = {target: {c: str(float(p) * 40) for c, p in belief.items()} for target, belief in GUESS.items()}
    save_guess(folder / "scores.csv", scores)
    found = answer("scores.csv", "--truth", "truth.csv", "--normalize")
    assert found["correct"] == 1.5
    assert metric(found, "entropy")["mean"] == pytest.approx(metric(answer(*BOTH), "entropy")["mean"])


def test_the_page_names_nobody_and_is_the_same_every_time(folder: Path) -> None:
    assert ask(*BOTH, "--html", "first.html", "--quiet").output == ""
    assert ask(*BOTH, "--html", "second.html", "--json").exit_code == 0
    text = Path("first.html").read_text()
    assert text == Path("second.html").read_text()
    assert text.rstrip().endswith("</html>")
    assert MARKER not in text
    assert MARKER not in ask(*BOTH).output


def test_a_truth_outside_the_candidates_is_an_answer() -> None:
    found = answer(*BOTH)
    assert metric(found, "information_surprisal")["high"] > 30
    text = ask(*BOTH, "--html", "report.html").stdout
    assert "Attempts without the true candidate" in text
    assert "Attempts without the true candidate" in Path("report.html").read_text()


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        ("adversary_success_rate=0.25", "fail: adversary_success_rate is 0.3, the limit is 0.25\n"),
        ("adversary_success_rate=0.3", ""),
        ("hiding_property=2", "fail: hiding_property is 1, it must be at least 2\n"),
        ("hiding_property=1", ""),
        ("incorrectness=0.6", ""),
        ("incorrectness=0.7", "fail: incorrectness is 0.6, it must be at least 0.7\n"),
    ],
)
def test_a_limit_holds_from_the_side_that_is_worse(limit: str, line: str, folder: Path) -> None:
    run = ask(*BOTH, "--limit", limit, "--json", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (3 if line else 0, line)
    (checked,) = json.loads(run.stdout)["limits"]
    assert checked["exceeded"] == bool(line)
    assert Path("report.html").exists()


def test_every_metric_can_have_a_limit_and_help_lists_it() -> None:
    words = [word for name in NAMES for word in ("--limit", f"{name}=0")]
    assert len(json.loads(ask(*BOTH, "--json", *words).stdout)["limits"]) == len(NAMES)
    run = ask("--limit", "help")
    assert (run.exit_code, run.stderr) == (0, "")
    assert {line.split()[0] for line in run.stdout.splitlines()[: len(NAMES)]} == set(NAMES)


def test_a_limit_on_a_metric_that_is_not_shown_still_holds() -> None:
    run = ask(*BOTH, "--metric", "entropy", "--limit", "adversary_success_rate=0")
    assert run.exit_code == 3


def test_nothing_attempted_is_no_pass(folder: Path, approved: Approved) -> None:
    save_guess(folder / "zero.csv", {"a": {"1": "0", "2": "0"}})
    run = ask("zero.csv", "--truth", "truth.csv", "--normalize", "--limit", "entropy=1", "--html", "report.html")
    approved((run.exit_code, run.stderr))


def test_a_limit_that_needs_the_truth_is_refused_without_it() -> None:
    refuse("guess.csv", "--limit", "adversary_success_rate=0.5", naming=("adversary_success_rate", "--truth"))
    assert ask("guess.csv", "--limit", "hiding_property=0").exit_code == 0


# --- bad input --------------------------------------------------------------------------------------------------------


A, B = f"{MARKER}-a", f"{MARKER}-b"


@pytest.mark.parametrize(
    ("rows", "naming"),
    [
        (f"{A},x,1\n{B},{MARKER},0.5\n{B},y,0.4\n", ("sum to 1", "1 of 2 targets", "row 2", "set normalize")),
        (f"{A},x,1\n{B},{MARKER},0\n", ("sum to 1", "row 2", "set normalize", "not attempted")),
        (f"{A},x,1.5\n{A},y,-0.5\n", ("'probability'", "at least 0", "row 2")),
        (f"{A},x,1\n{B},x,nan\n", ("'probability'", "number", "row 2")),
        (f"{A},x,1\n{B},x,{MARKER}\n", ("'probability'", "number", "row 2")),
        (f"{A},x,\n", ("'probability'", "row 1")),
        (f"{A},{MARKER},0.5\n{B},x,1\n{A},{MARKER},0.5\n", ("row 3", "row 1")),
        (f"{A},{MARKER}\n", ("row 1",)),
        ("", ("header only",)),
    ],
)
@pytest.mark.parametrize("truth", [(), ("--truth", "truth.csv")])
def test_a_file_that_is_no_guess_is_refused(rows: str, naming: tuple[str, ...], truth: tuple[str, ...]) -> None:
    Path("bad.csv").write_text(HEAD + rows)
    refuse("bad.csv", *truth, naming=("bad.csv", *naming))


@pytest.mark.parametrize(
    ("content", "naming"), [("", ("empty",)), (f"target,person\n{A},{MARKER}\n", ("'candidate'", "--candidate"))]
)
def test_files_without_a_table_are_refused(content: str, naming: tuple[str, ...]) -> None:
    Path("bad.csv").write_text(content)
    refuse("bad.csv", naming=("bad.csv", *naming))
    refuse("guess.csv", "--truth", "bad.csv", naming=("bad.csv", *naming))
    refuse("missing.csv", naming=("missing.csv",))
    refuse("guess.csv", "--truth", "missing.csv", naming=("missing.csv",))


def test_targets_without_truth_are_counted_and_can_be_dropped(folder: Path) -> None:
    save_truth(folder / "some.csv", {"a": "1", "b": "2", "z": "3"})
    refuse("guess.csv", "--truth", "some.csv", naming=("some.csv", "3 of the 5 targets", "row 5", "drop_unmatched"))
    found = answer("guess.csv", "--truth", "some.csv", "--drop-unmatched")
    assert (found["targets"], found["attempted"], found["correct"], len(found["notes"])) == (3, 2, 1, 2)
    save_truth(folder / "others.csv", {"y": "1"})
    refuse("guess.csv", "--truth", "others.csv", "--drop-unmatched", naming=("names no target",))


def test_a_truth_that_names_a_target_twice_is_refused(folder: Path) -> None:
    Path("twice.csv").write_text(f"target,candidate\n{A},x\n{B},x\n{A},{MARKER}\n")
    refuse("guess.csv", "--truth", "twice.csv", naming=("twice.csv", "row 3", "row 1"))


@pytest.mark.parametrize(
    ("arguments", "naming"),
    [
        ((), ("GUESS", "--example")),
        (("guess.csv", "--sample"), ("--example",)),
        (("--sample", "--truth", "truth.csv"), ("--example",)),
        (("guess.csv", "--metric", "entrpy"), ("'entrpy'", "'entropy'")),
        (("guess.csv", "--metric", "qqq"), ("unveil list metrics",)),
        (("guess.csv", "--metric", "incorrectness"), ("incorrectness", "true matches")),
        (("guess.csv", "--limit", "entrpy=1"), ("'entrpy'", "'entropy'")),
        (("guess.csv", "--limit", "risk_slope=1"), ("risk_slope",)),
        (("guess.csv", "truth.csv"), ("truth.csv",)),
        (("guess.csv", "--trut", "truth.csv"), ("--truth",)),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(arguments: tuple[str, ...], naming: tuple[str, ...]) -> None:
    refuse(*arguments, naming=naming)


# --- input that is odd but has an answer ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guess", "truth"),
    [
        ({"a": {"1": "1"}}, {"a": "1"}),
        ({"a": {"1": "1"}}, {"a": "2"}),
        ({"a": {"1": "1"}}, {"a": ""}),
        ({"a": {"1": "0", "2": "1"}}, {"a": "1", "b": ""}),
        ({each: {str(k): "0.125" for k in range(8)} for each in "abcd"}, dict.fromkeys("abcd", "1")),
    ],
)
def test_the_smallest_and_the_most_extreme_guesses_have_an_answer(
    guess: dict[str, dict[str, str]], truth: dict[str, str], folder: Path
) -> None:
    save_guess(folder / "g.csv", guess)
    save_truth(folder / "t.csv", truth)
    assert answer("g.csv", "--truth", "t.csv")["targets"] == len(truth)
    run = ask("g.csv", "--truth", "t.csv", "--html", "report.html")
    assert (run.exit_code, run.stderr) == (0, "")
    assert Path("report.html").exists()


STRANGE = [
    'quo"te',
    "com,ma",
    "new\nline",
    "naïve Zoë 北京 😀",
    "<script>alert(1)</script>",
    "01",
    "1",
    "NULL",
    " ",
    "-1",
]


def test_strange_names_are_told_apart(folder: Path) -> None:
    pl.DataFrame({"target": STRANGE, "candidate": STRANGE, "probability": 1}).write_csv("g.csv")
    pl.DataFrame({"target": STRANGE, "candidate": STRANGE}).write_csv("t.csv")
    found = answer("g.csv", "--truth", "t.csv")
    assert (found["targets"], found["correct"]) == (len(STRANGE), len(STRANGE))


# --- the real program -------------------------------------------------------------------------------------------------

PROGRAM = (sys.executable, "-c", "from unveil.cli import main; main()", "attack-metrics")


def test_in_a_pipe_there_are_no_control_codes_and_no_progress_bar() -> None:
    run = subprocess.run([*PROGRAM, *BOTH], capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"")
    assert not {0x1B, 0x0D} & set(run.stdout)


def test_a_person_at_a_terminal_gets_lines_that_fit_and_a_clean_end() -> None:
    import pty

    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        run = subprocess.Popen([*PROGRAM, "--sample"], stdin=theirs, stdout=theirs, stderr=theirs,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1"})  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while piece := screen.read(65536):
                shown += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        assert run.wait() == 0
    assert b"Traceback" not in shown
    assert b"Success of attempted targets" in shown

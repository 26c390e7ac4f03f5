"""Whole outputs of every command, compared with approved ones: ``pytest tests/approved --approve`` writes them anew.

JSON, exit codes and option names are promises; texts and pages change where wording is improved. Read the diff before
you commit it.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tests.approved.cases import CASES, write_inputs
from tests.approved.sentences import approved_in
from unveil.cli import COMMANDS, main
from unveil.cli.common import show, shown_on_page
from unveil.questions import QUESTIONS

HERE = Path(__file__).parent
#: Keys of JSON that tell of the run and not of the answer.
OF_THE_RUN = ("version", "seconds", "spent", "folder", "date")
#: Words that tell of the run: how long it took, the version, the day, a secret key.
RUN_WORDS = {
    r"\d[\d.,]* (?:seconds?|minutes?|hours?|s|ms|min)\b(?! old)": "TIME",
    r"(unveil )\d+\.\d+\.\d+\S*": r"\1VERSION",
    r"\b20\d\d-\d\d-\d\d\b": "DATE",
    r"\b[0-9a-f]{64}\b": "HASH",
}
#: Longer arrays of a chart are compared by their hash.
LONGEST_ARRAY = 24


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, str]]:
    home = tmp_path_factory.mktemp("approved")
    return home, write_inputs(home)


@pytest.mark.parametrize("case", CASES)
def test_the_output_is_the_approved_one(
    case: str,
    inputs: tuple[Path, Mapping[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    home, places = inputs
    monkeypatch.chdir(home)
    replies: list[tuple[Any, Any]] = []

    def noted(reply: Any, told: Any, wishes: Any) -> None:
        replies.append((reply, told))
        show(reply, told, wishes)

    monkeypatch.setattr("unveil.cli.question.show", noted)
    words = shlex.split(CASES[case].format(**places))
    name = next(
        key
        for key, each in QUESTIONS.items()
        if shlex.split(CASES[case])[: len(each.command.split())] == each.command.split()
    )
    options = QUESTIONS[name].question.settings
    seed = ["--seed", "3"] if any(each.name == "seed" for each in options) else []
    html = [] if name == "study_run" else ["--html", f"{case}.html"]
    run = CliRunner().invoke(main, [*words, *seed, *html])
    assert run.exception is None or isinstance(run.exception, SystemExit), run.exception  # a crash is never approved
    assert "\x1b" not in run.output  # a pipe gets no control codes
    outputs = {"terminal.txt": terminal_text(run, words)}
    for reply, told in replies:
        in_json, on_page = shown_on_page(reply, told)
        answer = json.loads(reply.answer.to_json(**in_json))
        outputs["answer.json"] = as_text(plain(answer))
        outputs["page.json"] = as_text(plain(reply.answer.page(**on_page)))
    assert bool(replies) == (run.exit_code in (0, 3, 5) and name != "study_run"), run.output
    cleaned = {part: without_run(text, home) for part, text in outputs.items()}
    compare(HERE / case, cleaned, approve=request.config.getoption("--approve"))


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("audit")])
def test_a_resumed_audit_gives_the_approved_answer(
    case: str, inputs: tuple[Path, Mapping[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    home, places = inputs
    monkeypatch.chdir(home)
    words = [*shlex.split(CASES[case].format(**places)), "--seed", "3", "--json", "--resume", f"{case}-results"]
    for _ in ("computed", "read back"):
        run = CliRunner().invoke(main, words)
        assert run.exception is None or isinstance(run.exception, SystemExit), run.exception
        answer = without_run(as_text(plain(json.loads(run.stdout))), home)
        assert answer == (HERE / case / "answer.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted({*COMMANDS, *(each.command for each in QUESTIONS.values())}))
def test_the_help_is_the_approved_one(command: str, request: pytest.FixtureRequest) -> None:
    run = CliRunner().invoke(main, [*command.split(), "--help"], terminal_width=80)
    assert run.exit_code == 0
    texts = {f"{command.replace(' ', '-')}.txt": run.stdout}
    compare(HERE / "help", texts, approve=request.config.getoption("--approve"))


def test_every_question_is_approved() -> None:
    called = {
        text.removeprefix("study ").split()[0] if text.startswith("study") else text.split()[0]
        for text in CASES.values()
    }
    assert {each.command.split()[-1] for each in QUESTIONS.values()} <= called
    assert {path.name for path in HERE.iterdir() if path.is_dir()} - {"__pycache__", "sentences"} == {*CASES, "help"}


def test_no_sentence_of_a_test_that_is_gone_is_approved() -> None:
    for path in (HERE / "sentences").glob("*.json"):
        tests = (HERE.parent / f"{path.stem.replace('.', '/')}.py").read_text(encoding="utf-8")
        gone = [test for test in approved_in(path) if f"def {test.partition('[')[0]}(" not in tests]
        assert gone == [], path.name


def terminal_text(run: Result, words: list[str]) -> str:
    """Return what a person sees: the command, its exit code, and what it printed on both channels."""
    parts = [f"$ unveil {shlex.join(words)}", f"exit code {run.exit_code}", run.stdout]
    return "\n".join([*parts, *([f"[standard error]\n{run.stderr}"] if run.stderr else [])])


def plain(value: Any) -> Any:
    """Return a page or an answer as plain data, with floats to 12 digits."""
    if is_dataclass(value) and not isinstance(value, type):
        told = {each.name: plain(getattr(value, each.name)) for each in fields(value)}
        return {
            "is": type(value).__name__,
            **{name: each for name, each in told.items() if each not in ((), [], "", None)},
        }
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items() if key not in OF_THE_RUN}
    if isinstance(value, np.ndarray):
        return short(plain(value.tolist()))
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):  # what rounding leaves of a zero differs between machines
        return float(f"{value:.12g}") if not abs(value) < 1e-9 else 0.0
    return value if value is None or isinstance(value, bool | int) else str(value)


def short(values: Any) -> Any:
    """Return a long list of a chart by its length and hash."""
    if not isinstance(values, list) or len(values) <= LONGEST_ARRAY:
        return values
    return f"{len(values)} values, {hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]}"


def as_text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def without_run(text: str, home: Path) -> str:
    """Return a text without what tells of this run and this machine."""
    text = text.replace(str(home), "HOME")
    for pattern, word in RUN_WORDS.items():
        text = re.sub(pattern, word, text)
    return text


def compare(folder: Path, texts: Mapping[str, str], *, approve: bool) -> None:
    """Compare texts with the approved files of a folder, or write these."""
    if approve:
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    for name, text in texts.items():
        assert (folder / name).is_file(), f"no approved {name} in {folder.name}: run with --approve"
        assert text == (folder / name).read_text(encoding="utf-8"), f"{folder.name}/{name} has changed"

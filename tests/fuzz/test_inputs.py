"""Hundreds of bad inputs for every question, in one process: each is answered, or refused in one plain sentence.

``UNVEIL_FUZZ=2000`` tries so many instead, and ``UNVEIL_FUZZ_SEED=7`` others than in every run.
"""

import os
import random
import re
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from click.testing import CliRunner, Result

from tests.conftest import unwatched
from tests.end_to_end.commands import MARKER
from tests.fuzz.damage import Damaged, damaged
from tests.fuzz.questions import Call, calls_of
from tests.fuzz.roots import DIGITS, ROOTS
from unveil.cli import main

INPUTS = int(os.environ.get("UNVEIL_FUZZ", "420"))
SEED = int(os.environ.get("UNVEIL_FUZZ_SEED", "18"))
QUESTIONS = (
    "audit", "protect", "unlinkability", "attack-metrics", "matching", "reidentify", "graph", "tables", "protect-graph",
    "link", "study", "grade-metrics", "formats", "list",
)  # fmt: skip
#: A call that takes longer hangs: this is so far above what any takes that it is no measurement of time.
_LONGEST = 60
_OURS = re.compile(r"Traceback|panicked|RUST_BACKTRACE|\b[A-Z]\w*(Error|Exception|Interrupt)\b")
#: Ends of a sentence with more after it: what was seen, and then what to do.
_AND_THEN = re.compile(r"[.?;:] \S")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@contextmanager
def bounded() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError("the call hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def write(case: Damaged, folder: Path) -> None:
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content)


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def wrong(run: Result, question: str, before: dict[str, bytes | None], after: dict[str, bytes | None]) -> str:
    """Return what is wrong with how a call ended, or nothing."""
    if run.exception is not None and not isinstance(run.exception, SystemExit):
        return "".join(traceback.format_exception(run.exception))[-3000:]
    if run.exit_code not in ((0, 2, 3, 4) if question == "study" else (0, 2, 3, 5)):
        return f"exit code {run.exit_code}"
    if run.exit_code != 2:
        return ""
    said = run.stderr
    found = {
        "something is printed beside the error": run.stdout != "",
        "not one line": said.count("\n") != 1 or not said.startswith("unveil: "),
        # Who names a class of their own is a programmer, and is told what Python says of it.
        "words of a programmer": bool(_OURS.search(said)) and " cannot be imported (" not in said,
        "a private cell": MARKER in said or DIGITS in said,
        "not what to do": not _AND_THEN.search(said),
        "half-written or changed files": before != after,
    }
    return ", ".join(what for what, holds in found.items() if holds)


def case_of(question: str, number: int, rng: random.Random, made: Path) -> Damaged:
    """Return a call of a question with something wrong, or one of a root as it is or with more wrong."""
    if question in ROOTS:
        call = ROOTS[question](rng)
        return damaged(call, rng) if rng.random() < 0.3 else as_it_is(call)
    calls = calls_of(made)[question]
    return damaged(calls[number % len(calls)], rng)


def as_it_is(call: Call) -> Damaged:
    return Damaged(call.arguments, call.files)


@pytest.mark.parametrize("question", [*QUESTIONS, *ROOTS])
def test_bad_input_is_refused_in_one_sentence(
    question: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    failed = []
    refused = 0
    for number in range(-(-INPUTS // (len(QUESTIONS) + len(ROOTS)))):
        seed = f"{SEED}:{question}:{number}"
        rng = random.Random(seed)  # noqa: S311
        case = case_of(question, number, rng, made)
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        write(case, folder)
        before = contents(folder)
        with bounded():
            run = unwatched(CliRunner().invoke)(main, case.arguments)
        refused += run.exit_code == 2
        why = wrong(run, question, before, contents(folder))
        printed = capfd.readouterr()
        if _OURS.search(printed.err + printed.out):
            why = f"{why}; past Python: {printed.err[:500]}"
        if why:
            shown = [each if len(each) < 60 else f"{each[:20]}…({len(each)})" for each in case.arguments]
            failed.append(f"seed {seed}: {' '.join(shown)} | {', '.join(case.done)}\n{run.stderr[:600]}\n{why}")
    assert not failed, f"{len(failed)} failed:\n\n" + "\n\n".join(failed)
    assert refused, "no input of these was bad, so nothing was tried"


@pytest.mark.parametrize("question", QUESTIONS)
def test_undamaged_the_same_calls_are_answered(
    question: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, call in enumerate(calls_of(made)[question]):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        write(as_it_is(call), folder)
        run = unwatched(CliRunner().invoke)(main, call.arguments)
        assert run.exit_code in (0, 3, 5), (call.arguments, run.output)

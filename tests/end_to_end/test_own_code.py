"""Errors in a user's own class or function: said as such, with the traceback of that code, and none of ours."""

import copy
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.approved.sentences import Approved
from unveil import reidentify
from unveil.cli import main
from unveil.errors import InputError, OwnCodeError, own_error
from unveil.guesses.mass_combination import combine
from unveil.guesses.mass_function import MassFunction

CELL = "Miller"
#: Each line that fails has its own comment, by which the traceback is recognized.
OWN = f"""
from dataclasses import dataclass
from unveil.errors import InputError
from unveil.protections import Shuffle


class Attack:
    def run(self, *, released, knowledge, rng):
        return helper()


def helper():
    raise ValueError("{CELL[:3]}" + "{CELL[3:]}")  # here it fails


class Mask:
    def apply(self, original, *, rng):
        return helper()


class GraphMask(Mask):
    pass


class Masking:
    def log_likelihood(self, original, released, rows):
        return helper()


class Missing:
    def apply(self, original, *, rng):
        return open("no such file")  # here it fails


class Leaves:
    def apply(self, original, *, rng):
        raise SystemExit(0)  # here it fails


class Refuses:
    def apply(self, original, *, rng):
        raise InputError("there must be more people. Add some")


class Nothing:
    def apply(self, original, *, rng):
        return 7


@dataclass(frozen=True, kw_only=True)
class Picky:
    k: int = 3

    def __post_init__(self):
        if self.k < 2:
            raise ValueError("k must be at least 2")  # here it fails

    def apply(self, original, *, rng):
        return Shuffle().apply(original, rng=rng)


def generator(frame, rng):
    return helper()


def rule(masses):
    return helper()
"""
PEOPLE = "age,income\n" + "".join(f"{20 + 9 * k % 67},{11 * k % 71}\n" for k in range(60))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("own_code", "own_api", "own_broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "own_code.py").write_text(OWN)
    # A module that hands on a class of another one, whose method is where it fails.
    (tmp_path / "own_api.py").write_text("from own_code import Mask\n\n\nclass Handed(Mask):\n    pass\n")
    (tmp_path / "own_broken.py").write_text("import unveil\n1 / 0  # here it fails\n")
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "truth.csv").write_text("released,original\n" + "".join(f"{k},{k}\n" for k in range(1, 61)))
    return tmp_path


def ask(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def refused(run: Result) -> str:
    """Return what was said, which must have the user's own traceback and no line of ours."""
    assert (run.exit_code, run.stdout) == (2, "")
    head, line, *trace = run.stderr.splitlines()
    assert line == "Traceback (most recent call last):"
    assert "here it fails" in run.stderr
    assert [each for each in trace if "src/unveil" in each or "site-packages" in each] == []
    assert CELL not in run.stderr
    return head


PROTECT = ("reidentify", "people.csv", "--attack", "nearest", "--protect")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("reidentify", "people.csv", "--protect", "shuffle", "--attack", "own_code:Attack"),
            "class own_code:Attack: ValueError in helper, line 13 of own_code.py",
        ),
        ((*PROTECT, "own_code:Mask"), "class own_code:Mask: ValueError in helper"),
        ((*PROTECT, "own_api:Handed"), "class own_api:Handed: ValueError in helper"),
        ((*PROTECT, "own_code:Missing"), "class own_code:Missing: FileNotFoundError in apply"),
        ((*PROTECT, "own_code:Leaves"), "class own_code:Leaves: SystemExit in apply"),
        ((*PROTECT, "own_code:Picky:k=1"), "class own_code:Picky: ValueError in __post_init__"),
        ((*PROTECT, "own_broken:Mask"), "module own_broken: ZeroDivisionError in <module>, line 2 of own_broken.py"),
        (
            ("reidentify", "people.csv", "people.csv", *PROTECT[2:], "own_code:Masking", "--truth", "truth.csv"),
            "class own_code:Masking: ValueError in helper",
        ),
        (("protect", "people.csv", "--protect", "own_code:Mask"), "class own_code:Mask: ValueError in helper"),
        (
            ("audit", "people.csv", "--generator", "own_code:generator", "--runs", "2", "--hold-out", "0.5"),
            "function own_code:generator: ValueError in helper",
        ),
        (
            ("audit", "people.csv", "--generator", "own_code:Mask", "--runs", "2", "--hold-out", "0.5"),
            "class own_code:Mask: ValueError in helper",
        ),
        (("graph", "--sample", "--protect", "own_code:GraphMask"), "class own_code:GraphMask: ValueError in helper"),
        (("graph", "--sample", "--attack", "own_code:Attack"), "class own_code:Attack: ValueError in helper"),
        (("protect-graph", "--sample", "--protect", "own_code:GraphMask"), "class own_code:GraphMask: ValueError"),
    ],
)
def test_an_error_in_own_code_is_said_with_its_own_traceback(words: tuple[str, ...], said: str) -> None:
    assert f"error in your {said}" in refused(ask(*words))


def test_an_error_before_any_data_is_read_has_its_text() -> None:
    assert ask(*PROTECT, "own_code:Picky:k=1").stderr.endswith("\nValueError: k must be at least 2\n")
    after = ask(*PROTECT, "own_code:Mask").stderr
    assert after.endswith("\nValueError (its text may hold data and is not shown)\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Refuses", "unveil: there must be more people. Add some\n"),
        ("Nothing", "unveil: the method apply of own_code:Nothing returned a"),
    ],
)
def test_what_own_code_refuses_or_returns_is_one_sentence(name: str, said: str) -> None:
    run = ask(*PROTECT, f"own_code:{name}")
    assert (run.exit_code, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert run.stderr.startswith(said)


def test_a_study_tells_whose_error_it_was_and_keeps_the_traceback(folder: Path, approved: Approved) -> None:
    (folder / "study.toml").write_text(
        'name = "own"\nseed = 1\nprotections = ["shuffle"]\nattacks = ["own_code:Attack"]\n'
        '[[data]]\nname = "people"\nkind = "table"\nsource = "people.csv"\nknown = ["age", "income"]\n'
        "[axes]\nknown_columns = [2]\n[fixed]\nknown_share = 1\n[replications]\nnumber = 1\n"
    )
    run = ask("study", "run", "study.toml", "--out", "results", "--workers", "1")
    assert run.exit_code == 4, run.output
    approved(run.output)
    assert CELL not in run.output
    (kept,) = (folder / "results" / "errors").iterdir()
    text = kept.read_text()
    assert "here it fails" in text
    assert "src/unveil" not in text


def test_in_python_the_users_own_error_is_raised() -> None:
    with pytest.raises(ValueError, match=CELL):
        reidentify({"age": list(range(30))}, method="shuffle", attacks=["own_code:Attack"])
    with pytest.raises(ValueError, match=CELL):
        combine([MassFunction.vacuous(2)] * 2, "own_code:rule")


def test_an_error_of_ours_is_not_called_the_users() -> None:
    with pytest.raises(InputError) as caught:
        reidentify({"age": [1, 2, 3]}, method="rank-swapping:p=-1", attacks=["nearest"])
    assert own_error(caught.value) is None


def test_the_error_can_be_sent_between_processes() -> None:
    sent = copy.copy(OwnCodeError("error in your class a:B", "Traceback"))  # as pickle does it
    assert (str(sent), sent.trace) == ("error in your class a:B", "Traceback")

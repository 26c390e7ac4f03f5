"""The example of a package of one's own: it is listed, used and tested without being registered anywhere."""

import json
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from unveil.cli import main
from unveil.metrics._listing import _METRICS

FOLDER = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER))
    listed = dict(_METRICS)
    yield
    # Every other test knows the metrics of unveil alone, and the next of these imports the package anew.
    _METRICS.clear()
    _METRICS.update(listed)
    for name in [name for name in sys.modules if name.partition(".")[0] == "roundly"]:
        del sys.modules[name]


def test_its_own_tests_pass() -> None:
    tests = runpy.run_path(str(FOLDER / "tests" / "test_roundly.py"))
    own: list[Callable[[], None]] = [test for name, test in tests.items() if name.startswith("test_")]
    assert len(own) >= 3
    for test in own:
        test()


def test_what_it_brings_is_listed_by_the_names_that_commands_understand() -> None:
    run = CliRunner().invoke(main, ["list", "--from", "roundly", "--json"])
    assert (run.exit_code, run.stderr) == (0, "")
    brought = json.loads(run.stdout)
    assert {kind: [each["name"] for each in things] for kind, things in brought.items()} == {
        "metrics": ["roundly:sure_share"],
        "attacks": ["roundly:SameValues"],
        "protections": ["roundly:Rounding"],
    }
    (attack,) = brought["attacks"]
    assert (attack["on"], attack["leaves"], attack["settings"]) == ("table", "Candidates", "columns, to=10.0")
    (shown,) = CliRunner().invoke(main, ["list", "attacks", "--from", "roundly"]).stdout.splitlines()[1:]
    assert shown.startswith("roundly:SameValues")


def test_a_question_takes_it() -> None:
    asked = ["reidentify", "--protect", "roundly:Rounding:to=10", "--attack", "roundly:SameValues:columns=age"]
    run = CliRunner().invoke(main, [*asked, "--json"])
    assert run.exit_code == 0, run.stderr
    assert "roundly:SameValues:columns=age" in run.stdout


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("roundl", "the module 'roundl' cannot be imported (ModuleNotFoundError: No module named 'roundl')"),
        ("json", "json has no metrics or attacks or protections. An attack is a class with"),
    ],
)
def test_a_module_that_brings_nothing_is_bad_input_on_one_line(origin: str, said: str) -> None:
    run = CliRunner().invoke(main, ["list", "--from", origin])
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.startswith(f"unveil: {said}")
    assert run.stderr.count("\n") == 1

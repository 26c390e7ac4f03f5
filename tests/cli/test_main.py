"""The group of commands: help, version, suggestions, exit codes, and what is not imported."""

import os
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from tests.approved.sentences import Approved
from unveil.cli import COMMANDS, main
from unveil.errors import InputError

HEAVY = ("numpy", "polars", "narwhals", "rich", "scipy", "numba", "matplotlib", "jinja2")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        [],
        *([name, "--help"] for name in COMMANDS),
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom unveil.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit as end: print('code', end.code)\n"
        f"print('heavy', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("code 0\nheavy []\n")
    assert run.stderr == ""


def test_no_arguments_shows_help_and_is_fine() -> None:
    run = CliRunner().invoke(main, [])
    assert run.exit_code == 0
    assert run.stdout == CliRunner().invoke(main, ["--help"]).stdout
    shown = {name for name, summary in COMMANDS.items() if summary in run.stdout}
    assert set(COMMANDS) - shown == {"schema", "warm-up"}
    assert all(f"  {name} " in run.stdout for name in shown)


def test_version_is_the_one_of_the_package() -> None:
    from importlib.metadata import version

    assert CliRunner().invoke(main, ["--version"]).stdout == f"unveil {version('unveil')}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_exists_under_its_name(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["matchin"], "unveil: Unknown command 'matchin'. Did you mean 'matching'? See 'unveil --help'\n"),
        (["zzz"], "unveil: Unknown command 'zzz'. See 'unveil --help'\n"),
        (["--sed"], "unveil: No such option '--sed'. See 'unveil --help'\n"),
    ],
)
def test_a_mistyped_call_is_one_message_with_code_2(arguments: list[str], message: str) -> None:
    run = CliRunner().invoke(main, arguments)
    assert (run.exit_code, run.stdout, run.stderr) == (2, "", message)


class Raises(click.Command):
    """A command that fails with a given error, to see what the group makes of it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__("raises")
        self.error = error

    def invoke(self, ctx: click.Context) -> None:  # noqa: ARG002
        raise self.error


def call_raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(type(main), "get_command", lambda *_: Raises(error))
    return CliRunner().invoke(main, ["unlinkability"])


def test_an_error_of_ours_is_one_line_without_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    run = call_raising(InputError("file 'a\n\x1b[31m.csv' is empty. Pass another"), monkeypatch)
    assert run.exit_code == 2  # type: ignore[attr-defined]
    assert run.stderr == "unveil: file 'a\\n\\x1b[31m.csv' is empty. Pass another\n"  # type: ignore[attr-defined]


def test_an_unexpected_error_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ZeroDivisionError("a mistake of ours")
    assert call_raising(error, monkeypatch).exception is error  # type: ignore[attr-defined]


def test_trouble_of_the_system_that_is_not_a_full_disk_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    error = OSError(5, "Input/output error")
    assert call_raising(error, monkeypatch).exception is error  # type: ignore[attr-defined]


def test_a_shell_can_complete_the_names_of_commands() -> None:
    asked = {**os.environ, "_UNVEIL_COMPLETE": "bash_complete", "COMP_WORDS": "unveil un", "COMP_CWORD": "1"}
    script = "from unveil.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=asked)
    assert run.stdout == "plain,unlinkability\n"


def test_an_interrupt_ends_with_130_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    run = call_raising(KeyboardInterrupt(), monkeypatch)
    assert run.exit_code == 130  # type: ignore[attr-defined]
    assert run.output.strip() == "unveil: stopped"  # type: ignore[attr-defined]


def test_a_reader_that_went_away_is_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        script = "from unveil.cli import main; main()"
        run = subprocess.run([sys.executable, "-c", script, "list", "attacks"], stdout=closed, stderr=subprocess.PIPE,
                             check=False)  # fmt: skip
    assert run.stderr == b""
    assert run.returncode == 1


def test_without_standalone_mode_errors_reach_the_caller() -> None:
    with pytest.raises(click.UsageError, match="partion"):
        main.main(["partion"], standalone_mode=False)


def test_python_runs_it_as_a_module() -> None:
    asked = [sys.executable, "-m", "unveil", "lits"]
    run = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("unveil: Unknown command 'lits'. Did you mean 'list'?")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("libscipy.so: failed to map segment from shared object"),
    ],
)
def test_memory_that_is_used_up_is_said_in_one_line(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    run = call_raising(error, monkeypatch)
    assert run.exit_code == 2  # type: ignore[attr-defined]
    assert run.stderr.startswith("unveil: The data do not fit into the memory")  # type: ignore[attr-defined]
    assert run.stderr.count("\n") == 1  # type: ignore[attr-defined]


def test_a_library_that_cannot_be_imported_is_not_taken_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ImportError("No module named 'numpy'")
    assert call_raising(error, monkeypatch).exception is error  # type: ignore[attr-defined]


def test_an_array_that_is_too_large_is_memory_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MemoryError) as caught:
        np.empty(2**62, np.int8)
    assert call_raising(caught.value, monkeypatch).exit_code == 2  # type: ignore[attr-defined]


def test_a_limit_below_what_the_libraries_need_is_said_before_they_end_the_process(approved: Approved) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (700_000_000, 700_000_000))

    script = "from unveil.__main__ import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", script, "unlinkability", "--sample"],
        capture_output=True, text=True, check=False, preexec_fn=limit, timeout=120,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (2, "")
    approved(run.stderr)


@pytest.mark.parametrize("module", ["click", "unveil.cli", "unveil.errors", "numpy", "polars"])
def test_an_interrupt_while_the_command_still_loads_ends_like_any_other(module: str) -> None:
    # The importer stands for the user: Ctrl-C comes when this module is looked for.
    script = f"""
import sys
class Ctrl:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Ctrl())
from unveil.__main__ import main
main()
"""
    run = subprocess.run(
        [sys.executable, "-c", script, "unlinkability", "--sample"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (run.returncode, run.stdout, run.stderr.strip()) == (130, "", "unveil: stopped")


def test_the_command_starts_where_an_interrupt_can_be_caught() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"unveil": "unveil.__main__:main"}
    script = "import sys; before = set(sys.modules); import unveil.__main__; print(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {"unveil", "unveil.__main__", "unveil._lazy"}

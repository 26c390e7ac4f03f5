"""One call of every question, on its sample or on the files of the approved outputs."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.approved.cases import CASES, write_inputs
from unveil.cli import main
from unveil.questions import QUESTIONS


def _case(command: str) -> str:
    """Return the first approved call of a command that reads files and can be repeated, else its first call."""
    mine = [line for line in CASES.values() if line.startswith(f"{command} ") or line == command]
    return next((line for line in mine if ".csv" in line and "refused" not in line and "--out" not in line), mine[0])


#: By question.
CALLS: Mapping[str, str] = {name: _case(entry.command) for name, entry in QUESTIONS.items()}


class Calls:
    """Runs the call of a question in a folder that holds its files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._places = folder, write_inputs(folder)

    def run(self, name: str, *more: str) -> Result:
        """Return what became of the call with more options."""
        words = shlex.split(CALLS[name].format(**self._places))
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            return CliRunner().invoke(main, [*words, *more])

    def inputs(self, name: str) -> list[Path]:
        """Return the files that the call reads."""
        return [self.folder / word for word in shlex.split(CALLS[name]) if (self.folder / word).is_file()]


@pytest.fixture(scope="session")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """Return the calls of all questions."""
    return Calls(tmp_path_factory.mktemp("calls"))

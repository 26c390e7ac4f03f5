"""How the tests of every command run it, read its JSON, and see it refuse bad input."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from unveil.cli import main

#: Stands in every private cell of the files that tests make; no message may hold it.
MARKER = "Zephyrine"


class Command:
    """One command of unveil, in the folder where the test works."""

    def __init__(self, name: str) -> None:
        self.name = name

    def ask(self, *arguments: str) -> Result:
        """Return what a call gives back, whatever that is."""
        return CliRunner().invoke(main, [self.name, *arguments])

    def answer(self, *arguments: str) -> Any:
        """Return the JSON of a call that must succeed."""
        run = self.ask(*arguments, "--json")
        assert (run.exit_code, run.stderr) == (0, ""), run.output
        return json.loads(run.stdout)

    def refuse(self, *arguments: str, naming: tuple[str, ...] = ()) -> str:
        """Return the one message with which a call is refused, after checking that nothing else happened."""
        before = sorted(Path.cwd().iterdir())
        run = self.ask(*arguments, "--html", "report.html")
        assert run.exit_code == 2, run.output
        assert run.stdout == ""
        assert run.stderr.startswith("unveil: ")
        assert run.stderr.count("\n") == 1
        assert MARKER not in run.stderr
        assert "Traceback" not in run.stderr
        assert sorted(Path.cwd().iterdir()) == before
        assert all(name in run.stderr for name in naming), run.stderr
        return run.stderr

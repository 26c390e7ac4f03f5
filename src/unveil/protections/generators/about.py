"""Report facts of a generator: command, scripts, and environment."""

import hashlib
import inspect
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unveil.protections.generators.command import CommandGenerator
from unveil.protections.generators.environment import base_environment
from unveil.protections.generators.function import FunctionGenerator
from unveil.protections.generators.generator import Generator

_PATIENCE = 10.0
_LETTERS = 16
_INTERPRETER = re.compile(r"(?:python|pypy)[0-9.]*(?:\.exe)?", re.IGNORECASE)
_ASKED = """
import importlib.metadata, json, platform
packages = {f"{each.metadata['Name']}=={each.version}" for each in importlib.metadata.distributions()}
print(json.dumps([platform.python_version(), sorted(packages)]))
"""


def about(generator: Generator) -> dict[str, str]:
    """Return the facts of a generator and its environment, by name.

    The bytes of scripts are told by their hash, and so are the packages of the Python that runs them, which is asked.
    Whatever cannot be found out is left out.

    >>> from unveil.protections.generators import generator_from
    >>> list(about(generator_from("mondrian:k=5")))
    ['generator', 'unveil', 'python', 'system']
    """
    told = {"generator": generator.written, **scripts_of(generator)}
    python = sys.executable
    if isinstance(generator, CommandGenerator):
        program = Path(generator.words[0])
        python = str(program) if _INTERPRETER.fullmatch(program.name) else ""
    elif not isinstance(generator, FunctionGenerator):
        from unveil._version import __version__

        told["unveil"] = __version__
    if python and (said := _python(python)):
        told["python"] = said
    return told | {"system": platform.platform()}


def scripts_of(generator: Generator) -> dict[str, str]:
    """Return the hash of each file named in a command."""
    return {f"script {path.name}": digest for path in _files(generator) if (digest := _digest(path))}


def _files(generator: Generator) -> Iterator[Path]:
    if isinstance(generator, CommandGenerator):
        # Options may name files too, behind the sign.
        yield from (Path(word.partition("=")[2] if word.startswith("-") else word) for word in generator.words[1:])
        yield from (Path(word) for word in generator.words[:1] if not _INTERPRETER.fullmatch(Path(word).name))
    elif isinstance(generator, FunctionGenerator):
        function: Any = generator.function
        try:
            yield Path(inspect.getsourcefile(function) or "")
        except TypeError:  # it has none, as an object that can be called, or a function of a library in C
            return


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() if path.is_file() else ""
    except (OSError, ValueError):
        return ""


def _python(program: str) -> str:
    """Return version and packages of a Python, or nothing."""
    try:
        with tempfile.TemporaryDirectory(prefix="unveil-") as home:  # so that nothing is imported from where we are
            said = subprocess.run(
                [program, "-W", "ignore", "-c", _ASKED],
                cwd=home,
                env=base_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE,
                check=True,
            ).stdout
        version, packages = json.loads(said)
        digest = hashlib.sha256("\n".join(packages).encode()).hexdigest()[:_LETTERS]
        return f"{version}, {len(packages)} packages (sha256 of their names and versions {digest})"
    except (OSError, ValueError, TypeError, subprocess.SubprocessError):
        return ""

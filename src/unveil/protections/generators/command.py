"""A generator as a command that reads and writes a file."""

import contextlib
import copy
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.data.files.whole_files import SECRET, SECRET_FOLDER
from unveil.data.table import Table
from unveil.data.table.release import ReleaseKind
from unveil.errors import InputError, UnveilError, shortened
from unveil.protections.generators import _launch
from unveil.protections.generators.environment import SecretVariables, environment_of_run
from unveil.protections.generators.generator import GeneratedRelease, Generator, RunError, SourceTable, checked_columns
from unveil.protections.generators.messages import Messages
from unveil.protections.generators.processes import end_process, remove_folder, start_process

#: What is put in the place of each in the words of a command.
PLACES = ("{in}", "{out}", "{seed}")
#: What only a shell understands.
_SHELL = {"|", "||", "&&", "&", ";", "<", ">", ">>", "2>", "2>&1"}
#: What programs say when they are given no more memory.
_NO_MEMORY = re.compile(
    rb"MemoryError|bad_alloc|allocate memory|memory alloc|out of ?memory|cannot allocate vector|pthread_create failed",
    re.IGNORECASE,
)
#: What programs say when a file may not grow any more.
_TOO_LARGE = re.compile(rb"file too large|EFBIG", re.IGNORECASE)
#: A file may be this many times as large as the file of people, and this large in any case, unless a limit is given.
LARGER, LEAST_LIMIT = 20, 10**9
#: How often it is seen whether the run is still wanted, in seconds.
_LOOK = 1.0
_WINDOWS = os.name == "nt"
_GB = 1e9
_ALLOW_MORE = "Raise the output limit, or write less"
_LIMITS = {
    "time_limit": "time limit, in seconds,",
    "memory_limit": "memory limit, in GB,",
    "output_limit": "output limit, in GB,",
}


@dataclass(frozen=True, kw_only=True)
class CommandGenerator:
    """A command that reads ``{in}`` and writes ``{out}``, without a shell.

    Parameters
    ----------
    written
        The command. In its words ``{in}`` and ``{out}`` stand for the files, and ``{seed}`` for a number that differs
        from run to run (also in the variable UNVEIL_SEED). Words that name files which are there now may be relative.
    read
        Reads what it wrote.
    time_limit
        How many seconds a run may take; None for any number.
    memory_limit
        How many GB (10^9 bytes) each of its processes may take, where the system can see to it; None for any number.
    output_limit
        How many GB each file that it writes may have; None for 20 times the file of people, and 1 GB at least.
    kind
        What its releases are, where that was told.
    env
        Variables that it is given beyond those that programs need to run. Their values are not pickled: `with_env`
        adds them in another process.

    Examples
    --------
    >>> CommandGenerator(written="python3 synth.py {in}", read=Table.read)
    Traceback (most recent call last):
    unveil.errors.InputError: the generator command lacks {out}. Write {in} for the training file and {out} for ...
    """

    written: str
    read: Callable[[Path], Table] = field(repr=False)
    time_limit: float | None = None
    memory_limit: float | None = None
    output_limit: float | None = None
    kind: ReleaseKind | None = None
    env: SecretVariables = field(default_factory=SecretVariables, repr=False)
    #: The words of the command, with whole paths.
    words: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, what in _LIMITS.items():
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"the {what} is {value:g}; it must be above 0. Raise it, or leave it out")
        object.__setattr__(self, "words", _checked(self.written))

    def __getstate__(self) -> dict[str, Any]:
        # What is pickled may be written to a folder.
        return {**vars(self), "env": SecretVariables()}

    def make(self, given: SourceTable, rows: IntArray, *, seed: int, folder: Path) -> GeneratedRelease:
        """Return the command's release of these rows, and clean up."""
        home = Path(tempfile.mkdtemp(prefix="run-", dir=folder)).absolute()  # this user's alone
        try:
            return self._made(given, rows, seed, home)
        finally:
            remove_folder(home)

    def _made(self, given: SourceTable, rows: IntArray, seed: int, home: Path) -> GeneratedRelease:
        source, target = home / f"in{given.suffix}", home / f"out{given.suffix}"
        try:
            Path(_launch.temporary(str(home))).mkdir(SECRET_FOLDER)
            with open(source, "xb", opener=_secret) as stream:
                size = stream.write(given.content(rows))
        except OSError as error:
            raise RunError(
                f"did not start: its input file cannot be written ({error.strerror})",
                "Free disk space, or name a folder on another disk",
            ) from None
        limit = int(max(LARGER * size, LEAST_LIMIT) if self.output_limit is None else self.output_limit * _GB)
        places = dict(zip(PLACES, (str(source), str(target), str(seed)), strict=True))
        words = [re.sub(r"\{(?:in|out|seed)\}", lambda found: places[found[0]], word) for word in self.words]
        started = time.monotonic()
        code, ended, printed = self._run(words, seed, home, limit)
        seconds = time.monotonic() - started
        log = printed.content(self.env)
        try:
            if ended or code:
                raise RunError(*(ended or self._failed(code, log, limit)))
            released = self._table(target, limit)
            notes = checked_columns(released, given.table)
        except RunError as error:
            raise RunError(error.happened, error.advice, log) from None
        return GeneratedRelease(released, kind=self.kind, seconds=seconds, notes=notes, log=log)

    def _run(
        self, words: Sequence[str], seed: int, home: Path, limit: int
    ) -> tuple[int, tuple[str, str] | None, Messages]:
        """Return exit code, problem with advice, and output."""
        memory = int((self.memory_limit or 0) * _GB)
        environment = environment_of_run(seed, home, self.env)
        process, printed, reader = start_process(words, home, environment=environment, memory=memory, size=limit)
        try:
            return *self._waited(process, home), printed
        finally:
            end_process(process, home)
            reader.join(_launch.PATIENCE)

    def _waited(self, process: "subprocess.Popen[bytes]", home: Path) -> tuple[int, tuple[str, str] | None]:
        deadline = time.monotonic() + (self.time_limit or float("inf"))
        while True:
            try:
                return process.wait(timeout=max(0.0, min(_LOOK, deadline - time.monotonic()))), None
            except subprocess.TimeoutExpired:
                if time.monotonic() >= deadline:
                    advice = "Raise the time limit, or reduce the work"
                    if not _launch.SEES_ALL:
                        advice += ". On this system, processes that it started in sessions of their own may still run"
                    return 0, (f"took longer than {self.time_limit:g} s and was stopped", advice)
                if not home.is_dir():  # whoever asked for the run took the folder away, perhaps on another machine
                    return 0, ("was stopped, because its run is no longer needed", "Run it again")

    def _failed(self, code: int, log: bytes, limit: int) -> tuple[str, str]:
        """Return the problem and its fix."""
        if _NO_MEMORY.search(log) and self.memory_limit is not None:
            needed = f"needed more than the memory limit of {self.memory_limit:g} GB ({_ending(code)})"
            return needed, "Raise the memory limit, or reduce the work"
        if _NO_MEMORY.search(log) or code == -getattr(signal, "SIGKILL", 9):
            seems = f"probably ran out of memory ({_ending(code)})"
            return seems, "Reduce the work, or use a larger computer or fewer workers"
        if code == -getattr(signal, "SIGXFSZ", 25) or _TOO_LARGE.search(log):
            return f"wrote a file above the maximum of {_size(limit)} ({_ending(code)})", _ALLOW_MORE
        return f"failed ({_ending(code)})", "Correct the command, and test it on a copy of the data"

    def _table(self, target: Path, limit: int) -> Table:
        if not os.path.lexists(target):
            raise RunError("ended without an error, but wrote no file to {out}", "Write the table to {out}")
        if target.is_symlink() or not target.is_file():
            raise RunError("wrote something other than a file to {out}", "Write the table to {out}")
        if target.stat().st_size >= limit:
            raise RunError(f"wrote a table above the maximum of {_size(limit)}", _ALLOW_MORE)
        try:
            return self.read(target)
        except UnveilError as error:
            said = str(error).replace(shown(target), "'{out}'").replace(str(target), "{out}")
            raise RunError(f"wrote a table that cannot be read: {said}") from None
        except Exception as error:  # any library may read it, and what it says can hold a cell
            raise RunError(
                f"wrote a table that cannot be read ({type(error).__name__})", "Write plain CSV or Parquet"
            ) from None


def _checked(text: str) -> tuple[str, ...]:
    """Return the words of a runnable command, with full paths."""
    try:
        words = [word.strip("\"'") if _WINDOWS else word for word in shlex.split(text, posix=not _WINDOWS)]
    except ValueError:
        raise InputError("the command of the generator has an open quote. Close it") from None
    lacking = [place for place in PLACES[:2] if not any(place in word for word in words)]
    if lacking:
        raise InputError(
            f"the generator command lacks {' and '.join(lacking)}. Write {{in}} for the training file "
            "and {out} for the release, as in 'python3 synth.py {in} {out}'"
        )
    if wrong := [word for word in words if word in _SHELL]:
        raise InputError(
            f"the generator command runs without a shell, which {wrong[0]!r} needs. Put it into a script, or "
            "wrap it in sh -c '...'"
        )
    return (_program(words[0]), *map(_whole_path, words[1:]))


def _program(word: str) -> str:
    """Return where the program is, or say that it is not there."""
    found = shutil.which(word)
    if found is None:
        there = Path(word).is_file()
        raise InputError(
            f"the program {shortened(word)} of the generator "
            + ("may not be run. Make it executable, or name its interpreter, as in 'python3 synth.py'" * there)
            + ("is not found. Correct its name, or give its path" * (not there))
        )
    return str(Path(found).absolute())


def _whole_path(word: str) -> str:
    """Return a word with a full path if it names a file.

    A bare word that names a folder may be the name of a module.
    """
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    with contextlib.suppress(OSError, ValueError):
        path = Path(value)
        if value and (path.is_file() or (path.is_dir() and path.name != value)):
            return f"{option}{equals}{path.absolute()}"
    return word


def with_env(generator: Generator, env: Mapping[str, str]) -> Generator:
    """Return a generator with variables withheld from another process."""
    if not env or not isinstance(generator, CommandGenerator):
        return generator
    made = copy.copy(generator)
    object.__setattr__(made, "env", SecretVariables(env))
    return made


def _size(limit: int) -> str:
    return f"{limit / _GB:.3g} GB"


def _secret(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_BINARY", 0), SECRET)


def _ending(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
    return f"exit code {code}"

"""A generator that is a command: it is given a file, and writes a file."""

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
_ALLOW_MORE = "Allow it more (--run output_limit=GB), or have it write less"
_LIMITS = {
    "time_limit": "time limit, in seconds,",
    "memory_limit": "memory limit, in GB,",
    "output_limit": "output limit, in GB,",
}


@dataclass(frozen=True, kw_only=True)
class CommandGenerator:
    """A command that reads ``{in}`` and writes ``{out}``, run without a shell in its own folder.

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
    unveil.errors.InputError: a command that makes releases must hold {in} and {out}, but lacks {out}. Write it ...
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
                raise InputError(f"the {what} must be above 0, but is {value:g}. Raise it, or leave it out")
        object.__setattr__(self, "words", _checked(self.written))

    def __getstate__(self) -> dict[str, Any]:
        # What is pickled may be written to a folder.
        return {**vars(self), "env": SecretVariables()}

    def make(self, given: SourceTable, rows: IntArray, *, seed: int, folder: Path) -> GeneratedRelease:
        """Return the release that the command makes of these rows; nothing of it is left running or on the disk."""
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
                size = stream.write(_content(given, rows))
        except OSError as error:
            raise RunError(
                f"could not be given its people: a file cannot be written ({error.strerror})",
                "Make room, or name a folder on another disk",
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
        """Return the exit code; what happened and what to do where the command was ended; and what it printed."""
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
                    advice = "Allow it more time (--run time_limit=SECONDS), or have it do less"
                    if not _launch.SEES_ALL:
                        advice += ". On this system, processes that it started in sessions of their own may still run"
                    return 0, (f"took longer than {self.time_limit:g} s and was ended", advice)
                if not home.is_dir():  # whoever asked for the run took the folder away, perhaps on another machine
                    return 0, ("was ended, since its run is not wanted any more", "Run it again")

    def _failed(self, code: int, log: bytes, limit: int) -> tuple[str, str]:
        """Return what happened, and what to do about it."""
        if _NO_MEMORY.search(log) and self.memory_limit is not None:
            needed = f"needed more memory than the {self.memory_limit:g} GB that it may take ({_ending(code)})"
            return needed, "Allow it more (--run memory_limit=GB), or have it do less"
        if _NO_MEMORY.search(log) or code == -getattr(signal, "SIGKILL", 9):
            seems = f"seems to have run out of memory ({_ending(code)})"
            return seems, "Have it do less, or run it on a larger machine or with fewer workers"
        if code == -getattr(signal, "SIGXFSZ", 25) or _TOO_LARGE.search(log):
            return f"wrote a file of more than the {_size(limit)} that one may have ({_ending(code)})", _ALLOW_MORE
        return f"failed ({_ending(code)})", "Correct the command, and try it by hand on a copy of the people"

    def _table(self, target: Path, limit: int) -> Table:
        if not os.path.lexists(target):
            raise RunError("ended without an error, but wrote no file to {out}", "Let it write its table there")
        if target.is_symlink() or not target.is_file():
            raise RunError("must write a file to {out}, but something else is there", "Let it write its table there")
        if target.stat().st_size >= limit:
            raise RunError(f"wrote a table of more than the {_size(limit)} that a file may have", _ALLOW_MORE)
        try:
            return self.read(target)
        except UnveilError as error:
            said = str(error).replace(shown(target), "'{out}'").replace(str(target), "{out}")
            raise RunError(f"wrote a table that cannot be read: {said}") from None
        except Exception as error:  # any library may read it, and what it says can hold a cell
            raise RunError(
                f"wrote a table that cannot be read ({type(error).__name__})", "Let it write plain CSV or Parquet"
            ) from None


def _checked(text: str) -> tuple[str, ...]:
    """Return the words of a command that can be run, with whole paths."""
    try:
        words = [word.strip("\"'") if _WINDOWS else word for word in shlex.split(text, posix=not _WINDOWS)]
    except ValueError:
        raise InputError("the command of the generator has a quote that is not closed. Close it") from None
    lacking = [place for place in PLACES[:2] if not any(place in word for word in words)]
    if lacking:
        raise InputError(
            f"a command that makes releases must hold {{in}} and {{out}}, but lacks {' and '.join(lacking)}. Write it "
            "where the command takes the file of people and the file to write, as in 'python3 synth.py {in} {out}'"
        )
    if wrong := [word for word in words if word in _SHELL]:
        raise InputError(
            f"the command of the generator is run without a shell, which {wrong[0]!r} needs. Put it into a script, or "
            "write sh -c '...' around it"
        )
    return (_program(words[0]), *map(_whole_path, words[1:]))


def _program(word: str) -> str:
    """Return where the program is, or say that it is not there."""
    found = shutil.which(word)
    if found is None:
        there = Path(word).is_file()
        raise InputError(
            f"the program {shortened(word)} of the generator "
            + ("may not be run. Make it executable, or name the program that runs it, as in 'python3 synth.py'" * there)
            + ("is not found. Correct its name, or write where it is" * (not there))
        )
    return str(Path(found).absolute())


def _whole_path(word: str) -> str:
    """Return a word with a whole path where it names a file, also behind ``--option=``; others stay as they are.

    A bare word that names a folder may be the name of a module.
    """
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    with contextlib.suppress(OSError, ValueError):
        path = Path(value)
        if value and (path.is_file() or (path.is_dir() and path.name != value)):
            return f"{option}{equals}{path.absolute()}"
    return word


def _content(given: SourceTable, rows: IntArray) -> bytes:
    """Return the file of people that the command is given."""
    import io

    frame, stream = given.some_cells(rows), io.BytesIO()
    if given.suffix == ".parquet":
        frame.write_parquet(stream)
        return stream.getvalue()
    frame.write_csv(stream, separator=given.separator, include_header=given.header)
    content = stream.getvalue()
    return content if given.encoding == "utf-8" else content.decode("utf-8").encode(given.encoding)


def with_env(generator: Generator, env: Mapping[str, str]) -> Generator:
    """Return a generator with variables that did not come with it from another process."""
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

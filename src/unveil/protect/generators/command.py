"""A generator that is a command: it is given a file, and writes a file."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.data.files.whole_files import SECRET, SECRET_FOLDER
from unveil.data.table import Table
from unveil.data.table.release import ReleaseKind
from unveil.errors import InputError, UnveilError, shortened
from unveil.protect.generators import _launch
from unveil.protect.generators.generator import Given, Made, RunError, checked_columns

#: What is put in the place of each in the words of a command.
PLACES = ("{in}", "{out}", "{seed}")
#: What only a shell understands.
_SHELL = {"|", "||", "&&", "&", ";", "<", ">", ">>", "2>", "2>&1"}
#: What programs say when they are given no more memory.
_NO_MEMORY = re.compile(
    rb"MemoryError|bad_alloc|allocate memory|memory alloc|out of ?memory|cannot allocate vector|pthread_create failed",
    re.IGNORECASE,
)
_LOG = ".messages"
#: So much of what a generator prints is kept, from its end.
_KEPT = 1 << 20
#: How often it is seen whether the run is still wanted, in seconds.
_LOOK = 1.0
_WINDOWS = os.name == "nt"
_GB = 1e9


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that reads ``{in}`` and writes ``{out}``, run without a shell in a folder of its own.

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
    kind
        What its releases are, where that was told.

    Examples
    --------
    >>> Command(written="python3 synth.py {in}", read=Table.read)
    Traceback (most recent call last):
    unveil.errors.InputError: a command that makes releases must hold {in} and {out}, but lacks {out}. Write it ...
    """

    written: str
    read: Callable[[Path], Table] = field(repr=False)
    time_limit: float | None = None
    memory_limit: float | None = None
    kind: ReleaseKind | None = None
    #: The words of the command, with whole paths.
    words: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for value, what in ((self.time_limit, "time limit, in seconds,"), (self.memory_limit, "memory limit, in GB,")):
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"the {what} must be above 0, but is {value:g}. Raise it, or leave it out")
        object.__setattr__(self, "words", _checked(self.written))

    def make(self, given: Given, rows: IntArray, *, seed: int, folder: Path) -> Made:
        """Return the release that the command makes of these rows; nothing of it is left running or on the disk."""
        home = Path(tempfile.mkdtemp(prefix="run-", dir=folder)).absolute()  # this user's alone
        try:
            return self._made(given, rows, seed, home)
        finally:
            _remove(home)

    def _made(self, given: Given, rows: IntArray, seed: int, home: Path) -> Made:
        source, target = home / f"in{given.suffix}", home / f"out{given.suffix}"
        try:
            Path(_launch.temporary(str(home))).mkdir(SECRET_FOLDER)
            with open(source, "wb", opener=_secret) as stream:
                stream.write(_content(given, rows))
        except OSError as error:
            raise RunError(
                f"could not be given its people: a file cannot be written ({error.strerror})",
                "Make room, or name a folder on another disk",
            ) from None
        places = dict(zip(PLACES, (str(source), str(target), str(seed)), strict=True))
        words = [re.sub(r"\{(?:in|out|seed)\}", lambda found: places[found[0]], word) for word in self.words]
        started = time.monotonic()
        code, ended = self._run(words, seed, home)
        seconds = time.monotonic() - started
        log = _tail(home / _LOG)
        if ended or code:
            raise RunError(*(ended or self._failed(code, log)), log)
        try:
            released = self._table(target)
            notes = checked_columns(released, given.table)
        except RunError as error:
            raise RunError(error.happened, error.advice, log) from None
        return Made(released, kind=self.kind, seconds=seconds, notes=notes, log=log)

    def _run(self, words: Sequence[str], seed: int, home: Path) -> tuple[int, tuple[str, str] | None]:
        """Return the exit code, and what happened and what to do where the command was ended."""
        memory = str(int((self.memory_limit or 0) * _GB))
        program = (sys.executable, "-I", "-S", "-W", "ignore", _launch.__file__, memory, str(home), *words)
        with open(home / _LOG, "wb", opener=_secret) as log:
            _lock(log)  # held by all that write to it, until the last of them is gone
            process = subprocess.Popen(
                program,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=home,
                env=_environment(seed, home),
                start_new_session=True,
            )
        try:
            return self._waited(process, home)
        finally:
            _end(process, home)

    def _waited(self, process: "subprocess.Popen[bytes]", home: Path) -> tuple[int, tuple[str, str] | None]:
        deadline = time.monotonic() + (self.time_limit or float("inf"))
        while True:
            try:
                return process.wait(timeout=max(0.0, min(_LOOK, deadline - time.monotonic()))), None
            except subprocess.TimeoutExpired:
                if time.monotonic() >= deadline:
                    limit = f"took longer than {self.time_limit:g} s and was ended"
                    return 0, (limit, "Allow it more time (--time-limit), or have it do less")
                if not home.is_dir():  # whoever asked for the run took the folder away, perhaps on another machine
                    return 0, ("was ended, since its run is not wanted any more", "Run it again")

    def _failed(self, code: int, log: bytes) -> tuple[str, str]:
        """Return what happened, and what to do about it."""
        if _NO_MEMORY.search(log) and self.memory_limit is not None:
            needed = f"needed more memory than the {self.memory_limit:g} GB that it may take ({_ending(code)})"
            return needed, "Allow it more (--memory-limit), or have it do less"
        if _NO_MEMORY.search(log) or code == -getattr(signal, "SIGKILL", 9):
            seems = f"seems to have run out of memory ({_ending(code)})"
            return seems, "Have it do less, or run it on a larger machine or with fewer workers"
        return f"failed ({_ending(code)})", "Correct the command, and try it by hand on a copy of the people"

    def _table(self, target: Path) -> Table:
        if not os.path.lexists(target):
            raise RunError("ended without an error, but wrote no file to {out}", "Let it write its table there")
        if target.is_symlink() or not target.is_file():
            raise RunError("must write a file to {out}, but something else is there", "Let it write its table there")
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


def _content(given: Given, rows: IntArray) -> bytes:
    """Return the file of people that the command is given."""
    import io

    frame, stream = given.some_cells(rows), io.BytesIO()
    if given.suffix == ".parquet":
        frame.write_parquet(stream)
        return stream.getvalue()
    frame.write_csv(stream, separator=given.separator, include_header=given.header)
    content = stream.getvalue()
    return content if given.encoding == "utf-8" else content.decode("utf-8").encode(given.encoding)


def _environment(seed: int, home: Path) -> dict[str, str]:
    """Return what a command is told: what the user told us, its seed, and to keep to its folder."""
    told = dict(os.environ)
    # A worker of ours has one thread; a generator has as many as its user gives it.
    for name, value in json.loads(told.pop("UNVEIL_OUTSIDE", "{}")).items():
        told.pop(name, None)
        told |= {} if value is None else {name: value}
    return told | {"UNVEIL_SEED": str(seed)} | dict.fromkeys(("TMPDIR", "TMP", "TEMP"), _launch.temporary(str(home)))


def _end(process: "subprocess.Popen[bytes]", home: Path) -> None:
    """End a command with all that it started, and wait until it is gone."""
    if process.stdin is not None:
        if not hasattr(os, "killpg"):  # there the launcher does it
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_launch.PATIENCE)
            process.kill()
        else:
            _launch.end_session(process.pid, str(home))
            process.stdin.close()
    process.wait()


def remove_left(folder: Path) -> None:
    """Remove what commands that were ended with their workers left in a folder, once none of their processes runs."""
    deadline = time.monotonic() + 2 * _launch.PATIENCE
    while left := list(folder.glob("run-*")):
        for home in left:
            with contextlib.suppress(FileNotFoundError), (home / _LOG).open("rb") as log:
                if not _lock(log) and time.monotonic() < deadline:
                    continue
            _remove(home)
        time.sleep(0.01)


def _lock(log: IO[bytes]) -> bool:
    """Return whether nobody else has the messages of a command open; as well where the system cannot tell."""
    try:
        import fcntl

        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def _remove(home: Path) -> None:
    """Remove a folder; a process that is being ended may still write to it for a moment."""
    deadline = time.monotonic() + _launch.PATIENCE
    while True:
        shutil.rmtree(home, ignore_errors=True)
        if not home.exists() or time.monotonic() > deadline:
            return
        # The next try also removes what a generator protected; a link may lead anywhere, and is left alone.
        for place, folders, _ in os.walk(home):
            for each in (Path(place, name) for name in folders):
                with contextlib.suppress(OSError):
                    if not each.is_symlink():
                        each.chmod(SECRET_FOLDER)
        time.sleep(0.01)


def _tail(log: Path) -> bytes:
    """Return the end of what the command printed."""
    with contextlib.suppress(OSError), log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _KEPT))
        return stream.read()
    return b""


def _secret(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_BINARY", 0), SECRET)


def _ending(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
    return f"exit code {code}"

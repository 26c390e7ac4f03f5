"""Parent of a generator's process: sets limits, ends all started processes.

This file runs as a program of its own, under the Python of unveil, and imports the standard library alone. Nothing is
ever sent on its standard input, a pipe: its end means that the run is no longer wanted, or that unveil was killed.

On Linux this process is the subreaper of the run: a process whose parent ends becomes its child, also one that began a
session of its own or cleared its environment. So everything that stems from the generator can be found and ended.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

#: How long killed processes may take to be gone, in seconds.
PATIENCE = 5.0
#: What a shell answers for a program that cannot be started.
NOT_STARTED = 126
#: The variable that marks the processes of a run, with its folder.
MARK = "UNVEIL_RUN"
#: Whether this system shows every process of a run.
SEES_ALL = sys.platform == "linux"
_SET_CHILD_SUBREAPER = 36
#: The largest limit that every system takes.
_LARGEST = 2**62


def main(memory: int, size: int, folder: str, words: list[str]) -> int:
    """Return the exit code of a program.

    Parameters
    ----------
    memory, size
        How many bytes each of its processes may hold (0: any number), and each file that they write.
    folder
        The folder of the run, which is removed when the run is no longer wanted.
    words
        The program and its arguments.
    """
    adopts = _adopt_orphans()
    run = _GeneratorProcess(folder)
    # Before the limits: a thread's own memory counts.
    ending = threading.Thread(target=run.end_when_unwanted, daemon=True)
    ending.start()
    _limit(memory, size)
    try:
        child = run.start(words)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{words[0]} cannot be started: {error}\n")
        return NOT_STARTED
    code = _waited(child, adopts)
    if run.unwanted.is_set():
        ending.join()
    run.end()
    if code < 0:  # ended by a signal, so this process ends by it too
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        time.sleep(PATIENCE)
    return code


class _GeneratorProcess:
    """The process of a generator run, as its parent sees it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.child: subprocess.Popen[bytes] | None = None
        self.unwanted = threading.Event()
        self._starting = threading.Lock()

    def start(self, words: list[str]) -> "subprocess.Popen[bytes]":
        """Return the process of the program."""
        with self._starting:  # a run that is ended meanwhile must not leave a process behind
            if self.unwanted.is_set():
                raise OSError("the run is no longer needed")
            # In a group of its own, which can be killed as a whole without this process.
            self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, process_group=0)
        return self.child

    def end(self) -> None:
        """End all processes of the run but this one."""
        if hasattr(os, "killpg"):
            if self.child is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.child.pid, signal.SIGKILL)
            end_run(self.folder, session=os.getpid(), ancestor=os.getpid())
        elif self.child is not None:
            self.child.kill()
            self.child.wait()

    def end_when_unwanted(self) -> None:
        """Wait until the run is no longer needed, then clean up."""
        with contextlib.suppress(OSError):
            os.read(0, 1)
        self.unwanted.set()
        with self._starting:
            self.end()
        os.chdir(Path(self.folder).parent)  # some systems cannot remove the folder that a process works in
        shutil.rmtree(self.folder, ignore_errors=True)
        os._exit(1)


def _adopt_orphans() -> bool:
    """Return whether this process adopts orphans of the run."""
    try:
        import ctypes

        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else the system may reap children itself
        return bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError, TypeError):  # not on this system
        return False


def _waited(child: "subprocess.Popen[bytes]", adopts: bool) -> int:
    """Return how the program ended, reaping adopted processes before it."""
    if not adopts:
        return child.wait()
    while True:
        process, status = os.waitpid(-1, 0)
        if process == child.pid:
            return os.waitstatus_to_exitcode(status)


def _limit(memory: int, size: int) -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    wanted = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, size)]  # a core file would hold the people
    for which, most in [*wanted, *([(resource.RLIMIT_DATA, memory)] if memory else [])]:
        with contextlib.suppress(OSError, ValueError):
            # A limit that was set already may be lowered, never raised.
            hard = resource.getrlimit(which)[1]
            least = min(most, _LARGEST if hard == resource.RLIM_INFINITY else hard)
            resource.setrlimit(which, (least, least))


def end_run(folder: str, *, session: int | None = None, ancestor: int | None = None) -> None:
    """End all processes of a run and wait for them."""
    deadline = time.monotonic() + PATIENCE
    while left := running_in(folder, session=session, ancestor=ancestor):
        for each in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(0.005)


def running_in(folder: str, *, session: int | None = None, ancestor: int | None = None) -> list[int]:
    """Return the processes of a run, without zombies, parent, and ancestor.

    Parameters
    ----------
    folder
        The folder of the run, with which the environment of its processes is marked.
    session, ancestor
        The number of a session whose processes count too, and of a living process whose descendants do.
    """
    mark = os.fsencode(f"{MARK}={folder}")
    parent: dict[int, int] = {}
    found: set[int] = set()
    gone = {ancestor, os.getpid()}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):  # it ended meanwhile, or belongs to another user
            # Behind the name, which may hold anything: the state, the parent, the group, the session.
            told = (process / "stat").read_text(encoding="utf-8", errors="replace")
            state, own_parent, _, own_session = told.rpartition(")")[2].split()[:4]
            number = int(process.name)
            parent[number] = int(own_parent)
            if state in "ZX":
                gone.add(number)
            elif int(own_session) == session or mark in (process / "environ").read_bytes().split(b"\0"):
                found.add(number)
    for number in parent if ancestor is not None else ():
        above: int | None = number
        while above is not None and above != ancestor:
            above = parent.get(above)
        if above is not None:
            found.add(number)
    return sorted(each for each in found if each not in gone)


def temporary(folder: str) -> str:
    """Return the folder for temporary files of a run."""
    return str(Path(folder, "tmp"))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]))

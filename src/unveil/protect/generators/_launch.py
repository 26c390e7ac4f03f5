"""The parent of a generator's process: limits its memory, and ends it when nobody waits for it any more.

This file runs as a program of its own, under whatever Python unveil runs, and imports the standard library alone. Its
standard input is a pipe on which nothing is ever sent: that it closes tells that whoever waits was killed.
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

#: How long processes that are killed may take to be gone, in seconds.
PATIENCE = 5.0
#: What a shell answers for a program that cannot be started.
NOT_STARTED = 126


def main(memory: int, folder: str, words: list[str]) -> int:
    """Return the exit code of the program ``words``, whose processes may take so many bytes each (0: any number)."""
    child: list[subprocess.Popen[bytes]] = []
    # Before the limit, which a thread's own memory counts against.
    threading.Thread(target=_end_when_alone, args=(child, folder), daemon=True).start()
    _limit(memory)
    try:
        child.append(subprocess.Popen(words, stdin=subprocess.DEVNULL))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{words[0]} cannot be started: {error}\n")
        return NOT_STARTED
    code = child[0].wait()
    if code < 0:  # ended by a signal, as this process then is too
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        time.sleep(PATIENCE)
    return code


def _limit(memory: int) -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the people
        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _end_when_alone(child: "list[subprocess.Popen[bytes]]", folder: str) -> None:
    with contextlib.suppress(OSError):
        os.read(0, 1)
    session = os.getpid()
    if hasattr(os, "fork"):
        if os.fork():
            time.sleep(PATIENCE)  # what was just started ends this process, with the others
        os.setsid()
        end_session(session, folder)
    else:
        for each in child:
            each.kill()
            each.wait()
    os.chdir(Path(folder).parent)  # where one works cannot be removed everywhere
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def end_session(leader: int, folder: str) -> None:
    """End all processes of a run, by the number of the one that began its session, and wait until they are gone.

    Programs such as ``timeout`` have a group of their own within the session, and servers a session of their own; the
    system's list of processes shows both, where there is one: what they were told to use for files is in the folder.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        left = running_in(leader, folder)
        for each in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        if not left or time.monotonic() > deadline:
            return
        time.sleep(0.005)


def running_in(session: int, folder: str) -> list[int]:
    """Return the processes of a run that are there; one that is dead and only has to be buried is not."""
    mark = b"TMPDIR=" + os.fsencode(temporary(folder))
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):  # it ended while we looked, or is somebody else's
            # Behind the name, which may hold anything: the state, the parent, the group, the session.
            told = (process / "stat").read_text(encoding="utf-8", errors="replace")
            state, _, _, own = told.rpartition(")")[2].split()[:4]
            if state in "ZX" or int(process.name) == os.getpid():
                continue
            if int(own) == session or mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def temporary(folder: str) -> str:
    """Return where a run in this folder puts files that it needs for a while."""
    return str(Path(folder, "tmp"))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))

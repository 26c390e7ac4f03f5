"""Worker processes in their own process groups, ended with the server."""

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from unveil.work.processes import ONE_THREAD

#: What starts a worker; the folder with its task is put behind. ``-P``: nothing is imported from where it is started.
PROGRAM = (sys.executable, "-P", "-W", "ignore", "-m", "unveil.web.worker")

# With one thread the page stays quick while a worker computes.
_ENVIRONMENT = {**ONE_THREAD, "MPLBACKEND": "Agg"}

#: How long ended processes may take to be gone, in seconds.
_PATIENCE = 5.0


@dataclass(kw_only=True, eq=False)
class Worker:
    """Task in its own process."""

    folder: Path
    seconds: float
    program: tuple[str, ...] = PROGRAM
    #: Whether it was ended because it took too long.
    late: bool = False
    _process: asyncio.subprocess.Process | None = field(default=None, repr=False)
    _stopped: bool = False

    async def run(self) -> int:
        """Run to the end; return the exit code or negative signal."""
        if self._stopped:
            return -signal.SIGTERM
        process = self._process = await asyncio.create_subprocess_exec(
            *self.program,
            str(self.folder),
            # Nothing is ever sent: that it closes tells the worker that the server is gone.
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            env=_environment(self.folder),
            start_new_session=True,
        )
        try:
            if self._stopped:
                self._end()
            await asyncio.wait_for(process.wait(), self.seconds)
        except TimeoutError:
            self.late = True
        finally:
            self._end()  # and whatever it started itself
            code = await process.wait()
            await _all_gone(process.pid)
            # Its number may soon be somebody else's.
            self._process = None
        return code

    async def stop(self) -> None:
        """End the process and its children, and wait for them."""
        self._stopped = True
        process = self._process
        self._end()
        if process is not None:
            await process.wait()
            await _all_gone(process.pid)

    def _end(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()


async def _all_gone(group: int) -> None:
    """Wait until no process of the group runs any more."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while _is_running(group):
                    await asyncio.sleep(0.01)


def _is_running(group: int) -> bool:
    """Return whether any process of the group is alive."""
    try:
        os.killpg(group, 0)
        if not Path("/proc/self/stat").exists():
            return True
        return any(_group_if_running(each) == group for each in Path("/proc").glob("[0-9]*/stat"))
    except (ProcessLookupError, PermissionError):
        return False


def _group_if_running(stat: Path) -> int | None:
    with contextlib.suppress(OSError):  # it ended while we looked
        # Behind the name, which may hold anything: the state, the parent, the group.
        state, _, group = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:3]
        return None if state in "ZX" else int(group)
    return None


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of a worker: module paths and its folder."""
    found = os.pathsep.join(each for each in sys.path if each)
    return {**os.environ, **_ENVIRONMENT, "PYTHONPATH": found, "TMPDIR": str(folder)}


def ending(code: int) -> str:
    """Return in words how a process ended that should not have ended.

    >>> ending(-9)
    'the worker was stopped (signal 9), perhaps by a lack of memory'
    """
    if code == -signal.SIGKILL or code == -signal.SIGABRT:
        return f"the worker was stopped (signal {-code}), perhaps by a lack of memory"
    return f"the worker was stopped (signal {-code})" if code < 0 else f"the worker stopped (code {code})"

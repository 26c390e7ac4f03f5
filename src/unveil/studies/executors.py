"""Where tasks are computed: in processes of this machine, in a Dask cluster, or in this process."""

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from ipaddress import ip_address
from typing import Any, Protocol

from unveil.errors import InputError, UnveilError, whole_number
from unveil.studies._worker import receive, send

# One thread per worker: numbers do not depend on it, and workers do not get in one another's way.
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR")
_ENVIRONMENT = {**{f"{name}_NUM_THREADS": "1" for name in _THREADS}, "POLARS_MAX_THREADS": "1"}

_ADDRESS = re.compile(r"(?P<scheme>tcp|tls|ucx|ws|wss)://(?P<host>\S+):\d+")

#: How long a cluster may take to answer, or be without workers, in seconds.
PATIENCE = 10.0


class WorkerDiedError(UnveilError):
    """A worker ended in the middle of a task: it was killed, ran out of memory, or crashed."""


class Workers(Protocol):
    """What runs tasks: a few at a time, each behind a future."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **settings: Any) -> "Future[Any]":
        """Return the future of a task."""

    @property
    def slots(self) -> int:
        """How many tasks run at once."""

    def check(self) -> None:
        """Raise an error where no task will ever end."""

    def stop(self) -> None:
        """End all workers now, whatever they are doing."""


class LocalProcesses(Executor):
    """Processes of this machine, each with one thread; one that dies takes its own task with it and is replaced."""

    def __init__(self, workers: int) -> None:
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Any] | None] = queue.SimpleQueue()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._stopped = False
        self._threads = [threading.Thread(target=self._serve, args=(n,), daemon=True) for n in range(workers)]
        for thread in self._threads:
            thread.start()

    @property
    def slots(self) -> int:
        """How many tasks run at once."""
        return len(self._threads)

    @property
    def process_numbers(self) -> list[int]:
        """The process numbers of the workers that are there now."""
        return [process.pid for process in list(self._processes.values()) if process.poll() is None]

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **settings: Any) -> "Future[Any]":
        """Return the future of a task; it is a `WorkerDiedError` where the worker ended in the middle of it."""
        future: Future[Any] = Future()
        self._tasks.put((future, (function, arguments, settings)))
        return future

    def check(self) -> None:
        """Nothing can go wrong for good: workers are replaced."""

    def stop(self) -> None:
        """End all workers now, whatever they are doing."""
        self._stopped = True
        self.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes.values()):
            process.kill()
        for thread in self._threads:
            thread.join(timeout=10)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers once they have done what they were given, or only what they have begun."""
        while cancel_futures:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            if task is not None and task[0].cancel():
                task[0].set_running_or_notify_cancel()  # wakes up whoever waits for it
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self, place: int) -> None:
        """Hand tasks to one worker, and see what becomes of them."""
        while (task := self._tasks.get()) is not None:
            future, message = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                fine, answer = self._answer(place, message)
            except Exception as error:  # a task that cannot be sent, or a machine that starts no process
                fine, answer = False, error
            if fine:
                future.set_result(answer)
            else:
                future.set_exception(answer)
        process = self._processes.get(place)
        if process is not None:
            _close(process)

    def _answer(self, place: int, message: Any) -> tuple[bool, Any]:
        process = self._processes.get(place)
        if process is None or process.poll() is not None:
            if process is not None:
                _close(process)
            process = self._processes[place] = _started()
            if self._stopped:
                process.kill()
        if process.stdin is None or process.stdout is None:  # never so: both are pipes
            raise WorkerDiedError("a worker could not be reached")
        try:
            send(process.stdin, message)
            fine, answer = receive(process.stdout)
        except (EOFError, OSError):
            _close(process)
            return False, WorkerDiedError(f"it {_ending(process.returncode)}")
        return bool(fine), answer


class InThisProcess(Executor):
    """No other process: each task is computed while it is submitted, which is what a debugger needs."""

    slots = 1

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **settings: Any) -> "Future[Any]":
        """Return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **settings))
        except Exception as error:  # as any executor does
            future.set_exception(error)
        return future

    def check(self) -> None:
        """Nothing can go wrong."""

    def stop(self) -> None:
        """Nothing has to be ended."""


def local(workers: int) -> Workers:
    """Return so many processes of this machine; 0 computes in this process, one task after the other."""
    whole_number(workers, "the number of workers", at_least=0)
    return LocalProcesses(workers) if workers else InThisProcess()


def cluster(address: str, *, patience: float = PATIENCE) -> Workers:
    """Return the workers of the Dask cluster at that address, as in ``tcp://127.0.0.1:8786``."""
    if _ADDRESS.fullmatch(address) is None:
        raise InputError(f"the address of a cluster must look like tcp://host:8786, but is {address!r}. Correct it")
    from unveil.studies._dask import DaskCluster

    return DaskCluster(address, patience=patience)


def cluster_risk(address: str) -> str:
    """Return the warning for a cluster that others can listen to; empty with encryption and on this machine.

    >>> cluster_risk("tls://cluster.example:8786"), cluster_risk("tcp://127.0.0.1:8786")
    ('', '')
    >>> cluster_risk("tcp://10.0.0.5:8786").partition(":")[0]
    'The cluster is reached without encryption (tcp'
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or found["scheme"] in ("tls", "wss") or _is_this_machine(found["host"]):
        return ""
    return (
        f"The cluster is reached without encryption ({found['scheme']}://): data about people travels readable over "
        "the network, and anybody who reaches the scheduler can run code as its workers. Use tls:// with certificates "
        "(docs/scale.md says how)."
    )


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:  # a name
        return host.lower() == "localhost"


def died(error: BaseException) -> bool:
    """Return whether an error means that workers ended in the middle of the task."""
    return isinstance(error, WorkerDiedError) or type(error).__name__ == "KilledWorker"


def lost(error: BaseException) -> bool:
    """Return whether an error means that a cluster forgot the task."""
    return isinstance(error, CancelledError) or type(error).__name__ in ("FutureCancelledError", "CommClosedError")


def _started() -> "subprocess.Popen[bytes]":
    # Not by multiprocessing, which would run the script that called us once more.
    program = f"import sys; sys.path[:] = {sys.path!r}; from unveil.studies._worker import main; main()"
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # What a worker starts for its user, such as a generator, gets what the user set.
        env={**os.environ, **_ENVIRONMENT, "UNVEIL_OUTSIDE": json.dumps({n: os.getenv(n) for n in _ENVIRONMENT})},
    )


def _close(process: "subprocess.Popen[bytes]") -> None:
    """End a worker that has nothing to do, or is dead already."""
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with the code {code}"

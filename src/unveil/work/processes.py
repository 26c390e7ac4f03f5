"""Run tasks in single-threaded local processes, replacing dead ones."""

import contextlib
import json
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import IO, TYPE_CHECKING, Any

from unveil.work.task import SharedValue, Task, WorkerDiedError, memory_before, perform, version

if TYPE_CHECKING:
    from unveil.work.memory import MemoryLimit

# One thread per worker: numbers do not depend on it, and workers do not get in one another's way.
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM", "NUMEXPR")
#: What libraries read to use one thread.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in _LIBRARIES}
_ENVIRONMENT = {**ONE_THREAD, "POLARS_MAX_THREADS": "1"}
_SIZE = struct.Struct(">Q")


class Processes:
    """Local single-threaded processes; a dead one is replaced."""

    def __init__(self, workers: int) -> None:
        self._tasks: queue.SimpleQueue[tuple[Future[Any], SharedValue | None, Any] | None] = queue.SimpleQueue()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        #: The shared value that each worker holds, by place.
        self._holds: dict[int, str] = {}
        self._sharing = threading.Lock()
        self._stopped = False
        self._threads = [threading.Thread(target=self._serve, args=(n,), daemon=True) for n in range(workers)]
        for thread in self._threads:
            thread.start()

    @property
    def slots(self) -> int:
        """Number of parallel tasks."""
        return len(self._threads)

    @property
    def process_numbers(self) -> list[int]:
        """The process numbers of the workers that are there now."""
        return [process.pid for process in list(self._processes.values()) if process.poll() is None]

    def submit(self, task: Task, memory: "MemoryLimit | None" = None) -> "Future[Any]":
        """Return the future of a task, `WorkerDiedError` if its worker dies."""
        future: Future[Any] = Future()
        # In the place of a shared value, which the worker holds, its key is sent.
        arguments = [SharedValue(None, each.key) if isinstance(each, SharedValue) else each for each in task.arguments]
        call = (version(), memory, task.words, task.function, *arguments)
        self._tasks.put((future, task.shared, call))
        return future

    def check(self) -> None:
        """Raise nothing: workers are replaced."""

    def stop(self) -> None:
        """End all workers now, whatever they are doing."""
        self._stopped = True
        with contextlib.suppress(queue.Empty):
            while True:
                task = self._tasks.get_nowait()
                if task is not None and task[0].cancel():
                    task[0].set_running_or_notify_cancel()  # wakes up those who wait for it
        for _ in self._threads:
            self._tasks.put(None)
        for process in list(self._processes.values()):
            process.kill()
        for thread in self._threads:
            thread.join(timeout=10)

    def _serve(self, place: int) -> None:
        """Hand tasks to one worker, and see what becomes of them."""
        while (task := self._tasks.get()) is not None:
            future, shared, call = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                fine, answer = self._answer(place, shared, call)
            except Exception as error:  # a task that cannot be sent, or a machine that starts no process
                fine, answer = False, error
            if fine:
                future.set_result(answer)
            else:
                future.set_exception(answer)
        process = self._processes.get(place)
        if process is not None:
            _close(process)

    def _answer(self, place: int, shared: SharedValue | None, call: Any) -> tuple[bool, Any]:
        process = self._processes.get(place)
        if process is None or process.poll() is not None:
            if process is not None:
                _close(process)
            process = self._processes[place] = _started()
            self._holds.pop(place, None)
            if self._stopped:
                process.kill()
        if process.stdin is None or process.stdout is None:  # never so: both are pipes
            raise WorkerDiedError("a worker could not be reached")
        try:
            if shared is not None and self._holds.get(place) != shared.key:
                with self._sharing:  # one after the other, because each copy takes as much memory as the value
                    content = pickle.dumps(shared.value)
                    send(process.stdin, shared.key)
                    _write(process.stdin, content)
                    del content
                self._holds[place] = shared.key
            send(process.stdin, call)
            fine, answer = receive(process.stdout)
        except (EOFError, OSError):
            _close(process)
            return False, WorkerDiedError(f"it {_ending(process.returncode)}")
        return bool(fine), answer


def _started() -> "subprocess.Popen[bytes]":
    # Not by multiprocessing, which would run the script that called us once more.
    program = f"import sys; sys.path[:] = {sys.path!r}; from unveil.work.processes import main; main()"
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


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message: its size and its bytes."""
    _write(stream, pickle.dumps(message))


def _write(stream: IO[bytes], content: bytes) -> None:
    stream.write(_SIZE.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Return the next message, or raise EOFError where the other side is gone."""
    return pickle.loads(_content(stream))  # noqa: S301 (our own process on the other side)


def _content(stream: IO[bytes]) -> bytes:
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError
    (size,) = _SIZE.unpack(head)
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def serve(asked: IO[bytes], answers: IO[bytes], *, leave: Callable[[], None]) -> None:
    """Process tasks until the pipe closes, then call ``leave``."""
    messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    held: SharedValue | None = None
    content: bytes | None = None
    key = ""

    def listen() -> None:
        try:
            while True:
                messages.put(_content(asked))
        except (EOFError, OSError):
            leave()
            messages.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while (message := messages.get()) is not None:
        try:
            call = pickle.loads(message)  # noqa: S301 (our own process on the other side)
            if isinstance(call, str):  # the key of a shared value, whose bytes come next
                held, content, key = None, messages.get(), call
                continue
            if held is None and content is not None:  # here, so that an error answers the first task that needs it
                held, content = SharedValue(pickle.loads(content), key), None  # noqa: S301 (our own process)
            arguments: Any = [held if isinstance(each, SharedValue) else each for each in call]
            answer = (True, perform(*arguments))
        except (Exception, SystemExit) as error:  # it is raised again where the task came from
            answer = (False, _portable(error))
        send(answers, answer)


def _portable(error: BaseException) -> BaseException:
    """Return the error, or one that tells the same where it cannot be sent."""
    try:
        made = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own error)
    except Exception:  # whatever a foreign error does when it is copied
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error if isinstance(made, Exception) else RuntimeError(f"{type(error).__name__}: {error}")


def main() -> None:
    """Serve the process that started this one, and end with it."""
    # Ctrl-C reaches every process of a terminal; the one that leads the work decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory_before()  # tables that come later count
    answers = os.fdopen(os.dup(1), "wb")
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # what a user's class prints must not be taken for an answer
    with contextlib.suppress(OSError):
        serve(sys.stdin.buffer, answers, leave=lambda: os._exit(0))

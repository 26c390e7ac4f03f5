"""A worker process: takes tasks from its standard input, one after the other, and answers each."""

import contextlib
import os
import pickle
import queue
import signal
import struct
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

_SIZE = struct.Struct(">Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message: its size and its bytes."""
    content = pickle.dumps(message)
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
    """Answer tasks until the one who asks is gone; ``leave`` is called at once then, even in the middle of a task."""
    tasks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                tasks.put(_content(asked))
        except (EOFError, OSError):
            leave()
            tasks.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while (task := tasks.get()) is not None:
        try:
            function, arguments, settings = pickle.loads(task)  # noqa: S301 (our own process on the other side)
            answer = (True, function(*arguments, **settings))
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
    # Ctrl-C reaches every process of a terminal; the one that runs the study decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # what a user's class prints must not be taken for an answer
    with contextlib.suppress(OSError):
        serve(sys.stdin.buffer, answers, leave=lambda: os._exit(0))

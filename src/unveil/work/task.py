"""A task: a function with its arguments, which any executor can call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from unveil.errors import InputError, UnveilError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from unveil.work.memory import MemoryLimit


class WorkerDiedError(UnveilError):
    """A worker ended during a task: killed, out of memory, or crashed."""


class MismatchError(InputError):
    """A worker has another version of the package."""


@dataclass(frozen=True)
class SharedValue:
    """Value shared by many tasks, sent to each process once."""

    value: Any = field(compare=False, repr=False)
    key: str = field(default_factory=lambda: token_hex(8))


class Task(NamedTuple):
    """Function call with arguments, at most one `SharedValue`.

    ``key`` is hashable and different for each task of a run; ``words`` say what the task does, for messages.
    """

    key: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    words: str = ""

    @property
    def shared(self) -> SharedValue | None:
        """The argument that many tasks share."""
        return next((each for each in self.arguments if isinstance(each, SharedValue)), None)


class Executor(Protocol):
    """Workers that call tasks, a few at a time, each behind a future."""

    def submit(self, task: Task, memory: "MemoryLimit | None" = None) -> "Future[Any]":
        """Return the future of a task with a memory limit."""

    @property
    def slots(self) -> int:
        """Number of parallel tasks."""

    def check(self) -> None:
        """Raise an error where no task will ever end."""

    def stop(self) -> None:
        """End all workers now, whatever they are doing."""


def perform(
    expected: str, memory: "MemoryLimit | None", words: str, function: Callable[..., Any], *arguments: Any
) -> Any:
    """Run a task in a worker, checking its version and memory."""
    if version() != expected:
        raise MismatchError(
            f"every worker must have the same version of unveil, but one has {version()} and this is {expected}. "
            f"Install unveil {expected} on all of them"
        )
    if memory is None:
        return function(*arguments)
    from unveil.work.memory import memory_bound

    with memory_bound(memory, doing=lambda: words, before=memory_before()):
        return function(*arguments)


@cache
def memory_before() -> int:
    """Return the initial memory of this process, excluded from limits."""
    from unveil.work.memory import others_memory

    return others_memory()


def version() -> str:
    """Return the version of the package, without loading more of it."""
    from unveil._version import __version__

    return __version__

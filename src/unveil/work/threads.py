"""Run tasks in this process, on its threads."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from unveil._kernels.threads import in_threads
from unveil.work.task import Task


@dataclass(frozen=True)
class Threads:
    """Threads of this process; one runs tasks sequentially.

    ``number`` is the most that are used; None takes as many as `unveil._kernels.threads.threads` allows.
    """

    number: int | None = 1

    @property
    def slots(self) -> int:
        """Number of parallel tasks, for progress."""
        return self.number or 1

    def call(
        self, tasks: Iterable[Task], settle: Callable[[Task, BaseException | None, Any], Iterable[Task]]
    ) -> list[Task]:
        """Run the tasks in threads, and return the newly unblocked ones."""

        def one(task: Task) -> Iterable[Task]:
            error, answer = None, None
            try:
                answer = task.function(*task.arguments)
            except Exception as raised:  # as any executor does
                error = raised
            return settle(task, error, answer)

        return [each for following in in_threads(one, tasks, threads=self.number) for each in following]

    def stop(self) -> None:
        """End nothing: no worker was started."""

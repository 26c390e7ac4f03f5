"""The settings of how an audit is run: on what, with how much memory, and what is kept."""

from dataclasses import dataclass
from pathlib import Path

from unveil.errors import InputError
from unveil.questions.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class RunSettings(Settings):
    """Resources and stored parts of an audit; no result depends on them."""

    threads: int | None = setting(
        None,
        "Threads (default: one per processor)",
        least=1,
        only="command line",
        place="run",
    )
    workers: int = setting(
        1,
        "Processes that compute parts of the audit",
        "Each reads all tables and uses one thread, unless threads are given.",
        least=0,
        only="command line",
        place="run",
    )
    cluster: str | None = setting(
        None,
        "Address of a Dask cluster",
        "Its workers must see the files under the same paths.",
        only="command line",
        metavar="ADDRESS",
        place="run",
    )
    resume: Path | None = setting(
        None,
        "Store finished parts in DIR and resume from there",
        "The folder holds data about people. The same command resumes a stopped audit.",
        kind="text",
        objects=True,
        only="command line",
        metavar="DIR",
        group="Run",
    )
    memory: int | None = setting(
        None,
        "Memory, such as 4GB (default: 70% of the free memory)",
        "On a cluster: of each worker. Larger tables are processed from disk (in the folder of TMPDIR), with the same "
        "results.",
        kind="size",
        only="command line",
        place="run",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resume is not None:
            object.__setattr__(self, "resume", Path(self.resume))
        if self.cluster is not None and self.workers > 1:
            raise InputError("cluster and workers exclude each other. Give one of them")

    @property
    def processes(self) -> int:
        """How many processes of this machine hold the tables, this one not counted."""
        return self.workers if self.workers > 1 and self.cluster is None else 0

    @property
    def memory_of_each(self) -> int | None:
        """How many bytes each process may take, this one and those that compute; None where nobody said."""
        return None if self.memory is None else self.memory // (1 + self.processes)

"""The settings of how an audit is run: on what, with how much memory, and what is kept."""

from dataclasses import dataclass
from pathlib import Path

from unveil.errors import InputError
from unveil.questions.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class RunSettings(Settings):
    """Where an audit is computed, and what is kept of it; no number depends on any of it."""

    threads: int | None = setting(
        None,
        "How many threads of this machine the audit takes",
        "One per processor unless given. No number depends on it.",
        least=1,
        only="command line",
    )
    workers: int = setting(
        1,
        "How many processes of this machine compute parts of the audit, or run the generator, at once",
        "Each reads all tables, and takes one thread unless threads are told. No number depends on it.",
        least=0,
        only="command line",
    )
    cluster: str | None = setting(
        None,
        "The address of a Dask cluster that computes the parts of the audit, or runs the generator",
        "Its workers must see the files under the same paths. No number depends on it.",
        only="command line",
        metavar="ADDRESS",
    )
    resume: Path | None = setting(
        None,
        "Keep in the folder DIR what is computed, and go on from there",
        "The same command goes on where it was stopped. What lies there is data about people.",
        kind="text",
        objects=True,
        only="command line",
        metavar="DIR",
    )
    memory: int | None = setting(
        None,
        "How much memory the audit may take",
        "Such as 4GB, of a cluster each worker; 70% of what is free unless given. Tables that would take more in "
        "memory are worked on from disk (in the folder of TMPDIR), part by part, with the same numbers; what would "
        "take more even then is refused, and an audit that takes more nevertheless ends.",
        kind="size",
        only="command line",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resume is not None:
            object.__setattr__(self, "resume", Path(self.resume))
        if self.cluster is not None and self.workers > 1:
            raise InputError("an audit runs on a cluster or with workers of this machine. Leave out either")

    @property
    def processes(self) -> int:
        """How many processes of this machine hold the tables, this one not counted."""
        return self.workers if self.workers > 1 and self.cluster is None else 0

    @property
    def memory_of_each(self) -> int | None:
        """How many bytes each process may take, this one and those that compute; None where nobody said."""
        return None if self.memory is None else self.memory // (1 + self.processes)

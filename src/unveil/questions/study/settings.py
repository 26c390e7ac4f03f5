"""The settings of the questions about studies: to run one, and what one found."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, Question, Settings, setting

#: What the example of both questions on studies is.
EXAMPLE = "A very small study of the generated graph, computed on the spot in a few seconds."


@dataclass(frozen=True, kw_only=True)
class StudySettings(Settings):
    """The settings of the question about the results of a study."""

    folder: tuple[Path, ...] = setting(
        (),
        "Folder of the study on this machine",
        "The folder that was named after --out when the study was run. It is only read.",
        kind="folder",
        metavar="DIR",
        required=True,
        example="/home/me/studies/quick",
        is_bare=True,
    )
    metrics: tuple[str, ...] = setting(
        (),
        "Metrics to show instead of overall success, success rate and entropy",
        "The first is drawn; the word all shows every metric of the study.",
        fold=MORE,
        option="--metric",
        metavar="NAME",
    )


QUESTION = Question(
    name="study",
    command=("study", "report"),
    title="Results of a study",
    lead="What did a study find: how far do attacks get, as adversaries know more?",
    about="DIR is the folder of a study, which 'unveil study run' made. It may still be running.",
    tries=(
        "unveil study report quick",
        "unveil study report quick --html quick.html --metric entropy --metric min_entropy",
        "unveil study report quick --json --metric all",
    ),
    settings=StudySettings.table(),
    sample=EXAMPLE,
    sample_by_default=False,
)


@dataclass(frozen=True, kw_only=True)
class StudyRunSettings(Settings):
    """The settings of a study that is run."""

    file: Any = setting(
        None,
        "The study",
        "A TOML file with data, protections, attacks and the strengths of adversaries.",
        kind="file",
        required=True,
        is_bare=True,
    )
    out: tuple[Path, ...] = setting(
        (),
        "The folder for results on this machine",
        "A new one, or that of a study to go on with.",
        kind="folder",
        required=True,
        metavar="DIR",
        example="/home/me/studies/quick",
    )
    resume: bool = setting(
        False, "Go on with a study that is there: compute what is missing, damaged or failed, and keep the rest"
    )
    workers: int | None = setting(
        None,
        "How many processes of this machine",
        "One per processor unless given; 0 computes in one process.",
        least=0,
        fold=MORE,
        metavar="N",
    )
    cluster: str | None = setting(
        None,
        "Use a Dask cluster instead",
        "Its address, such as tcp://127.0.0.1:8786.",
        only="command line",
        metavar="ADDRESS",
    )
    memory: int | None = setting(
        None,
        "How much memory all workers together may take",
        "Such as 4GB (of a cluster, each worker); 80% of this machine unless given. A scenario projected to need more "
        "becomes a row that says so.",
        kind="size",
        fold=MORE,
        metavar="SIZE",
    )

    @property
    def run(self) -> dict[str, Any]:
        """The arguments of `unveil.studies.run_study`."""
        return {name: getattr(self, name) for name in ("workers", "cluster", "resume", "memory")}


def _one_place(request: Request) -> list[tuple[str, str]]:
    if request.values["workers"] is not None and request.values["cluster"]:
        return [("cluster", "{workers} is for this machine and {cluster} for others. Leave out either")]
    return []


RUN = Question(
    name="study_run",
    command=("study", "run"),
    title="Run a study",
    lead="How far do attacks get on protected data, as adversaries know more?",
    about=(
        "The study in FILE (TOML) is computed into the folder DIR: one file per scenario. Numbers do not "
        "depend on workers, their number, or interruptions. A scenario that fails becomes a file with its error and "
        "stops no other. Ctrl-C stops cleanly; the same command with --resume goes on."
    ),
    tries=(
        "unveil study run studies/quick.toml --out quick",
        "unveil study run study.toml --out results --workers 8 --memory 16GB",
        "unveil study run study.toml --out results --cluster tcp://127.0.0.1:8786 --resume",
    ),
    settings=StudyRunSettings.table(),
    sample=EXAMPLE,
    sample_by_default=False,
    together=_one_place,
)

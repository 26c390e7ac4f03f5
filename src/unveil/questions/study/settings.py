"""Settings of simulation studies: to run one, and to report its results."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, Question, Settings, setting

#: The example of both questions about studies.
EXAMPLE = "A very small study of the generated graph, computed in a few seconds."


@dataclass(frozen=True, kw_only=True)
class StudySettings(Settings):
    """The settings of the question about the results of a study."""

    folder: tuple[Path, ...] = setting(
        (),
        "Folder of the study",
        "The folder that 'unveil study run' wrote. It is only read.",
        kind="folder",
        metavar="DIR",
        required=True,
        example="/home/me/studies/quick",
        is_bare=True,
    )
    metrics: tuple[str, ...] = setting(
        (),
        "Metrics to show",
        "Default: recall, precision and entropy. The chart shows the first; 'all' shows every metric of the study.",
        fold=MORE,
        place="default",
        group="Output",
        option="--metric",
        metavar="NAME",
    )


QUESTION = Question(
    name="study",
    command=("study", "report"),
    title="Results of a study",
    lead="How does attack success grow with the strength of the attacker?",
    about="DIR is the folder of a study from 'unveil study run', which may still be running.",
    tries=(
        "unveil study report quick --html quick.html",
        "unveil study report quick --metric entropy --metric min_entropy",
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
        "Study file (TOML)",
        "It lists data, protections, attacks and the strengths of attackers.",
        kind="file",
        required=True,
        is_bare=True,
    )
    out: tuple[Path, ...] = setting(
        (),
        "Folder for the results",
        "A new one, or that of a study to resume.",
        kind="folder",
        required=True,
        metavar="DIR",
        example="/home/me/studies/quick",
        place="default",
        group="Output",
    )
    resume: bool = setting(
        False,
        "Resume: compute missing, damaged and failed scenarios",
        place="default",
        group="Run",
    )
    workers: int | None = setting(
        None,
        "Processes (default: one per processor)",
        "0 computes in this process.",
        least=0,
        fold=MORE,
        metavar="N",
        place="run",
    )
    cluster: str | None = setting(
        None,
        "Address of a Dask cluster",
        "Such as tcp://127.0.0.1:8786.",
        only="command line",
        metavar="ADDRESS",
        place="run",
    )
    memory: int | None = setting(
        None,
        "Memory of all workers (default: 80% of this computer)",
        "Such as 4GB; on a cluster: of each worker. A scenario that needs more is skipped, with a note.",
        kind="size",
        fold=MORE,
        metavar="SIZE",
        place="run",
    )

    @property
    def run(self) -> dict[str, Any]:
        """The arguments of `unveil.studies.run_study`."""
        return {name: getattr(self, name) for name in ("workers", "cluster", "resume", "memory")}


def _one_place(request: Request) -> list[tuple[str, str]]:
    if request.values["workers"] is not None and request.values["cluster"]:
        return [("cluster", "{workers} and {cluster} exclude each other. Remove one")]
    return []


RUN = Question(
    name="study_run",
    command=("study", "run"),
    title="Simulation studies",
    lead="How does attack success change over many scenarios?",
    about=(
        "The study in FILE (TOML) is computed into the folder DIR: one file per scenario. Results do not depend on "
        "workers or interruptions. A scenario that fails becomes a file with its error and stops no other. Ctrl-C "
        "stops; the same command with --resume continues."
    ),
    tries=(
        "unveil study run studies/quick.toml --out quick",
        "unveil study run study.toml --out results --run workers=8,memory=16GB",
        "unveil study run study.toml --out results --run cluster=tcp://127.0.0.1:8786 --resume",
    ),
    settings=StudyRunSettings.table(),
    sample=EXAMPLE,
    sample_by_default=False,
    together=_one_place,
)

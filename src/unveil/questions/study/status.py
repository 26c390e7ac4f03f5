"""How far is a study, and how long will the rest of it take?"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from unveil._figure import figure, version_figure
from unveil.data.files.source import shown
from unveil.errors import InputError
from unveil.questions.study.findings import SCENARIOS, AttackCost, Failures
from unveil.report.blocks import Tone
from unveil.report.figures import json_of
from unveil.report.machine import dumps
from unveil.report.text import count, together
from unveil.studies import Results, Scenario
from unveil.studies.results import Counts
from unveil.studies.run import RunSummary
from unveil.studies.store import manifest_of
from unveil.studies.times import ScenarioTime, times_in
from unveil.work.lock import running


class StudyRecord:
    """Facts about a study in progress, which no limit can be set for."""

    SCHEMA: ClassVar[str]
    ABOUT: ClassVar[str]

    def to_json(self) -> str:
        """Return the record as JSON; what is unknown is null."""
        return dumps({"schema": self.SCHEMA, **json_of(self)})


@dataclass(frozen=True, kw_only=True)
class StudyRun(StudyRecord):
    """A finished run of a study."""

    SCHEMA: ClassVar = "unveil.study-run/1"
    ABOUT: ClassVar = "Result of `unveil study run`: scenarios computed and failed."

    version = version_figure()

    name: str = figure("Name of the study.")
    summary: RunSummary = figure(inline=True)


@dataclass(frozen=True, kw_only=True)
class StudyStatus(StudyRecord):
    """How much of a study is there.

    Attributes
    ----------
    name, folder, version
        The study, where its results are, and the version of the package that computes it.
    counts
        How many scenarios are done, failed, damaged and missing.
    running
        Which process computes it now, in words; None where nobody does.
    seconds
        The CPU time of the scenarios that are there, added up over all workers.
    seconds_left
        The CPU time that the others will take, judged by those that are there; NaN where there is none.
    """

    SCHEMA: ClassVar = "unveil.study-status/1"
    ABOUT: ClassVar = "Result of `unveil study status`: progress of a study."
    version: str = figure("Version of unveil that computes the study.")
    name: str = figure("Name of the study.")
    folder: Path = figure("Folder of its results.")
    counts: Counts = figure(SCENARIOS, name="scenarios")
    running: str | None = figure("Process that computes it now, in words; null if there is none.")
    seconds: float = figure("CPU seconds of the finished scenarios, over all workers.")
    seconds_left: float = figure("Estimated CPU seconds of the remaining scenarios; null if unknown.")


def study_status(folder: str | os.PathLike[str]) -> StudyStatus:
    """Return how far the study in a folder is; it may be running, and is not disturbed.

    Raises
    ------
    InputError
        If the folder holds no study.
    """
    results = Results.read(folder)
    if results.summarized is not None:
        raise InputError(
            f"{shown(results.folder)} is a summary, which has no status. Name the folder of the study, or read the "
            "summary with 'unveil study report'"
        )
    taken = times_of(results)
    return StudyStatus(
        name=results.study.name,
        folder=results.folder,
        version=str(manifest_of(results.folder)["version"]),
        counts=results.counts,
        running=running(results.folder),
        seconds=sum(each.seconds for each in taken.values()),
        seconds_left=_left(results, taken),
    )


def times_of(results: Results) -> dict[str, ScenarioTime]:
    """Return how long the scenarios took that have results, by their file."""
    return times_in(results.folder, (scenario.file_name for scenario in results.fine))


def spent(scenarios: Iterable[Scenario], taken: Mapping[str, ScenarioTime]) -> tuple[AttackCost, ...]:
    """Return what each attack took on each data set, in the order of the study."""
    groups: dict[tuple[str, str], list[ScenarioTime]] = defaultdict(list)
    for scenario in scenarios:
        if scenario.file_name in taken:
            groups[scenario.data.name, scenario.attack].append(taken[scenario.file_name])
    return tuple(_sum(data, attack, every) for (data, attack), every in groups.items())


def _sum(data: str, attack: str, every: list[ScenarioTime]) -> AttackCost:
    parts: dict[str, float] = defaultdict(float)
    for each in every:
        for part, seconds in each.parts.items():
            parts[part] += seconds
    return AttackCost(
        data=data,
        attack=attack,
        replications=sum(each.replications for each in every),
        seconds=sum(each.seconds for each in every),
        parts=dict(parts),
    )


def _left(results: Results, taken: Mapping[str, ScenarioTime]) -> float:
    """Estimate the remaining CPU time from finished scenarios."""
    if not taken:
        return float("nan")
    alike: dict[tuple[str, str], list[float]] = defaultdict(list)
    for scenario in results.fine:
        if scenario.file_name in taken:
            alike[scenario.data.name, scenario.attack].append(taken[scenario.file_name].seconds)
    usual = sum(each.seconds for each in taken.values()) / len(taken)
    mean = {key: sum(every) / len(every) for key, every in alike.items()}
    rest = (*results.failed, *results.damaged, *results.missing)
    return sum((mean.get((scenario.data.name, scenario.attack), usual) for scenario in rest), 0.0)


# Progress and failures in words.


def computed(counts: Counts) -> str:
    """Return how much of a study is there and what failed, in one sentence.

    >>> computed(Counts(total=8, fine=8, failed=0, damaged=0, missing=0))
    'All 8 scenarios are computed, and none failed.'
    >>> computed(Counts(total=8, fine=5, failed=2, damaged=0, missing=1))
    '5 of 8 scenarios are computed; 2 failed and 1 is missing.'
    """
    if counts.fine == counts.total:
        who = "The only scenario is" if counts.total == 1 else f"All {counts.total:,} scenarios are"
        return f"{who} computed, and none failed."
    what = {"failed": counts.failed, "are damaged": counts.damaged, "are missing": counts.missing}
    parts = [
        f"{number:,} {words.replace('are', 'is') if number == 1 else words}" for words, number in what.items() if number
    ]
    verb = "is" if counts.fine == 1 else "are"
    return f"{counts.fine:,} of {count(counts.total, 'scenario', 'scenarios')} {verb} computed; {joined(parts)}."


def tone(counts: Counts) -> Tone:
    """Return the tone of the headline."""
    return "neutral" if counts.fine == counts.total else "warning"


def joined(sentences: Sequence[str]) -> str:
    """Return pieces of a sentence in a row, the last one after "and".

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(sentences[:-1]), sentences[-1]] if len(sentences) > 1 else sentences)


def failed(failures: Iterable[Failures]) -> Iterator[str]:
    """Yield a line for each kind of failure: how many scenarios, why, and where."""
    for each in failures:
        parts = {"data": each.data, "protection": each.protections, "attack": each.attacks}
        where = "; ".join(f"{what}: {together(names)}" for what, names in parts.items())
        yield f"  {each.scenarios:,} × {each.error} ({where})"

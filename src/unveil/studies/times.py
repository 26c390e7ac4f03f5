"""Durations of scenarios, and a forecast of the remaining time."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unveil.data.files.whole_files import read_unlinked
from unveil.errors import UnveilError

if TYPE_CHECKING:
    from unveil.studies.plan import Study
    from unveil.studies.scenario import DataSet, Scenario
    from unveil.work.run import Progress

#: The file in the folder of a study: a line for each scenario that was computed.
TIMES = "times.jsonl"

# CPU seconds of one replication of one attack on a graph, with knowledge and all metrics:
# see docs/research/scale-measured.md.
_EACH, _PER_NODE, _PER_EDGE = 0.02, 20e-6, 1.5e-6
# A larger file is not read for the sake of a projection.
_LARGEST = 1 << 26
_FOLDS = 5


@dataclass
class Clock:
    """CPU and wall seconds of each part of a task."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    wall: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Measure the enclosed block as one part."""
        # CPU time of this task alone: what a scenario costs does not hang on what else the machine or the worker does.
        start, began = time.thread_time(), time.monotonic()
        try:
            yield
        finally:
            self.seconds[part] += time.thread_time() - start
            self.wall[part] += time.monotonic() - began


class ScenarioTime(NamedTuple):
    """The time of a scenario: its replications, and the seconds of each part."""

    replications: int
    parts: Mapping[str, float]

    @property
    def seconds(self) -> float:
        """All parts together."""
        return sum(self.parts.values())


def times_in(folder: Path, files: Iterable[str]) -> dict[str, ScenarioTime]:
    """Return the latest duration of each requested scenario file.

    A run that was killed may have left half a line, which is passed over.
    """
    names, found = set(files), {}
    try:
        text = read_unlinked(folder / TIMES).decode(errors="replace")
    except OSError:  # not there, or a link or a pipe
        return {}
    for line in text.splitlines():
        try:
            told: Any = json.loads(line)
            file, number, parts = told["file"], int(told["replications"]), told["seconds"]
            taken = ScenarioTime(number, {str(part): float(seconds) for part, seconds in parts.items()})
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            continue
        if file in names:
            found[file] = taken
    return found


def seconds_by_size(study: "Study", data: "DataSet") -> float:
    """Return the estimated CPU seconds of a graph scenario, or NaN.

    Listed attacks took 0.6 to 1.7 times as long on the machine on which it was measured. It knows neither how much
    a protection adds to the graph, nor other attacks. A graph that cannot be read takes no time: its scenarios fail.
    """
    from unveil.studies.sources import graph_of, size_of

    if data.kind != "graph":
        return nan
    try:
        if size_of(data) > _LARGEST:
            return nan
        graph = graph_of(data)
    except (UnveilError, OSError):
        return 0.0
    once = _EACH + _PER_NODE * graph.nodes + _PER_EDGE * graph.edges
    more = {"simulate": study.calibrate_draws, "seeds": _FOLDS}.get(study.calibrate or "", 0)
    return study.replications.most * once * (1 + more)


Kind = tuple[str, str]


def kind_of(scenario: "Scenario") -> Kind:
    """Return the duration class of scenarios: data and attack."""
    given = scenario.data.given
    return scenario.data.name if given is None else given.original_name, scenario.attack


@dataclass
class RunForecast:
    """Progress and remaining time of a run, from similar scenarios.

    Attributes
    ----------
    progress
        Who is told.
    total, reused
        How many scenarios the study has, and how many of them were there already.
    workers
        How many compute at once, as far as that is known.
    left
        How many are to be computed, of each kind.
    by_size
        The seconds of a scenario of each data set as its size suggests; for kinds of which none was computed.
    measured
        The seconds of the scenarios that were computed, of each kind, in this run and before.
    """

    progress: "Progress | None"
    total: int
    reused: int
    workers: int
    left: Counter[Kind]
    by_size: Mapping[str, float] = field(default_factory=dict)
    measured: dict[Kind, list[float]] = field(default_factory=lambda: defaultdict(list))
    done: int = 0
    seconds: float = 0.0
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(
        cls,
        study: "Study",
        folder: Path,
        scenarios: Sequence["Scenario"],
        missing: Sequence["Scenario"],
        *,
        workers: int,
        progress: "Progress | None",
    ) -> "RunForecast":
        """Return the forecast of a starting run, empty without a listener."""
        lacking = {each.file_name for each in missing}
        there = [each for each in scenarios if each.file_name not in lacking]
        made = cls(progress, len(scenarios), len(there), workers, Counter(map(kind_of, missing)))
        if progress is not None and missing:
            wanted = {name for name, _ in made.left}
            made.by_size = {each.name: seconds_by_size(study, each) for each in study.data if each.name in wanted}
            taken = times_in(folder, (each.file_name for each in there))
            for each in there:
                if each.file_name in taken:
                    made.measured[kind_of(each)].append(taken[each.file_name].seconds)
        return made

    def report(self, *ended: tuple["Scenario", float]) -> None:
        """Report the progress after these scenarios took N seconds."""
        for scenario, seconds in ended:
            self.done += 1
            self.seconds += seconds
            self.left[kind_of(scenario)] -= 1
            self.measured[kind_of(scenario)].append(seconds)
        if self.progress is not None:
            self.progress(self.reused + self.done, self.total, self.seconds_left())

    def seconds_left(self) -> float:
        """Return the remaining wall seconds, or NaN if unknown."""
        rest = sum((number * self._each(kind) for kind, number in self.left.items() if number), 0.0)
        if rest == 0 or not self.done:
            return rest / max(self.workers, 1)
        took = time.monotonic() - self.began
        if self.seconds == 0:  # all of them failed at once
            return took / self.done * sum(self.left.values())
        return rest * took / self.seconds

    def _each(self, kind: Kind) -> float:
        """Return a scenario's seconds, by class mean or corrected size estimate."""
        if self.measured.get(kind):
            return sum(self.measured[kind]) / len(self.measured[kind])
        mine = self.by_size.get(kind[0], nan)
        known = [(each, self.by_size.get(data, nan)) for (data, _), every in self.measured.items() for each in every]
        if not known:
            return mine
        took, said = sum(each for each, _ in known), sum(size for _, size in known)
        by_size = mine * took / said if said else nan
        return took / len(known) if isnan(by_size) else by_size

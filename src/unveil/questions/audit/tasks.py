"""An audit in parts that do not hang on one another: what each part is, and how it is computed in any process."""

from collections.abc import Iterator
from threading import Lock
from typing import Any, Literal, NamedTuple

from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import AttackFinding
from unveil.questions.audit.inputs import PreparedAudit
from unveil.questions.audit.release_tasks import ORIGINAL_ITSELF, ReleaseTasks, original_itself, parts_before
from unveil.report.progress import Progress, silent

#: The place of the original itself among the releases, where it is attacked as if it were one.
ITSELF = -1
Measure = Literal["utility", "disclosure", "unseen", "truthful", "class_sizes"]
#: Measures that hold many numbers for each row.
_LARGE_MEASURES = ("utility",)
_MEASURING: dict[Measure, str] = {
    "utility": "measuring what the release is worth",
    "disclosure": "looking for rows that look alike",
    "unseen": "looking for values that the original never takes",
    "truthful": "matching released rows with people",
    "class_sizes": "counting people who look alike",
}


class AuditTask(NamedTuple):
    """One part of an audit: an attack on a release, a measure of it, or what a finding owes to each column.

    ``release`` is the place of the release, ``part`` the attack or the measure, and ``finding`` the place of the
    finding that is weighed among those of the release.
    """

    step: Literal["attack", "measure", "weigh"]
    release: int
    part: str
    finding: int = 0

    @property
    def is_long(self) -> bool:
        """Whether it had better begin early, so that nobody waits for it at the end: learners take longest."""
        return self.step == "attack" and ATTACKS[self.part].learns

    @property
    def takes_memory(self) -> bool:
        """Whether nothing should be computed beside it where memory is short; such parts use all threads themselves."""
        return self.part in _LARGE_MEASURES if self.step == "measure" else ATTACKS[self.part].takes_memory

    @property
    def name(self) -> str:
        """What it is called in files, which say nothing about the release but its number."""
        which = "original" if self.release == ITSELF else f"release-{self.release + 1}"
        return f"{which}-{self.step}-{self.part}"

    def words(self, prepared: PreparedAudit) -> str:
        """Return what is being done, for whoever watches."""
        if self.step == "measure":
            doing = next(words for measure, words in _MEASURING.items() if measure == self.part)
        else:
            doing = f"trying {ATTACKS[self.part].title.lower()}"
        return f"{doing}{self.where(prepared)}"

    def where(self, prepared: PreparedAudit) -> str:
        """Return on what it is done; nothing where there is one release."""
        if self.release == ITSELF:
            return f" on {ORIGINAL_ITSELF}"
        several = len(prepared.releases) > 1
        return f" on {prepared.releases[self.release].release.name}" if several else ""


def tasks_of(prepared: PreparedAudit) -> Iterator[AuditTask]:
    """Yield what can be computed from the start, release by release, and the original itself at the end."""
    parts = dict.fromkeys(range(len(prepared.releases)), prepared.parts)
    parts |= {ITSELF: parts_before(prepared)} if "before" in prepared.parts else {}
    for place, own in parts.items():
        yield from (AuditTask("attack", place, part) for part in own if part in ATTACKS)
        yield from (
            AuditTask("measure", place, each) for each in _MEASURING if each in (*own, *_always(prepared, place))
        )


def _always(prepared: PreparedAudit, place: int) -> tuple[Measure, ...]:
    """Return the measures that are taken whatever was asked for: a decision needs them."""
    if place == ITSELF or prepared.releases[place].release.kind != "masked":
        return ("unseen",)
    return ("unseen", "truthful", *(("class_sizes",) if prepared.settings.known else ()))


def bench_of(prepared: PreparedAudit, place: int) -> ReleaseTasks:
    """Return the release at that place, or the original itself."""
    return original_itself(prepared) if place == ITSELF else ReleaseTasks(prepared, prepared.releases[place])


class Workbench:
    """A prepared audit in one process; what the tasks of a release share is kept until others come, two at a time."""

    def __init__(self, prepared: PreparedAudit) -> None:
        self.prepared = prepared
        self._benches: dict[int, ReleaseTasks] = {}
        self._lock = Lock()

    def compute(self, task: AuditTask, finding: AttackFinding | None = None, *, progress: Progress = silent) -> Any:
        """Return what the task gives: what was tried, a measure, or the finding weighed."""
        bench = self._bench(task.release)
        if finding is not None:
            return bench.weigh(finding)
        if task.step == "attack":
            return bench.attack(task.part, progress=progress)
        return getattr(bench, task.part)()

    def _bench(self, place: int) -> ReleaseTasks:
        # While the last tasks of one release are computed the first ones of the next may have begun.
        with self._lock:
            if place not in self._benches:
                others = list(self._benches)
                for old in others if self.prepared.original.store is not None else others[:-1]:
                    del self._benches[old]  # before the next one takes memory
                self._benches[place] = bench_of(self.prepared, place)
            return self._benches[place]

"""Compute one scenario: release, knowledge, attack and metrics, replicated, into its files."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unveil._kernels.threads import threads
from unveil.errors import UndefinedMetricWarning
from unveil.guesses.trials import Trials
from unveil.metrics import Metric
from unveil.metrics.candidates._truth import correct
from unveil.metrics.candidates.candidate_metrics import measure_one
from unveil.studies._parts import CALIBRATED, attack_of, columns_of, leaves_trials, metrics_of, scenario_of
from unveil.studies.existing_release import tables_of
from unveil.studies.failures import note_traceback, told
from unveil.studies.nodes import NodeValues, keeps_nodes
from unveil.studies.plan import Study
from unveil.studies.precision import LOOK_EVERY, enough
from unveil.studies.releases import release_of
from unveil.studies.replication import Replication, attack_graph, attack_people, attack_table
from unveil.studies.scenario import Scenario, rng
from unveil.studies.stored_results import NODES, RESULTS, Row, StoredRows, StoredSketches, write_result
from unveil.studies.times import Clock
from unveil.work.seal import DiskError, SealKey


@dataclass(frozen=True)
class TaskOutcome:
    """Outcome of a task: file, replications, error, and seconds per part.

    ``seconds`` are those of a processor, ``wall`` those by the clock.
    """

    file: str
    rows: int
    error: str | None
    seconds: Mapping[str, float] = field(default_factory=dict)
    wall: Mapping[str, float] = field(default_factory=dict)


class ScenarioReplications(NamedTuple):
    """Replications of a scenario, and pooled node values by column."""

    rows: list[Row]
    nodes: dict[str, NodeValues]


# Studies run scenarios side by side: more threads in each would only stand in one another's way.
@threads(1)
def run_scenario(
    study: Study,
    scenario: Scenario,
    folder: Path,
    *,
    memory: int | None = None,
    twins: Sequence[Scenario] = (),
    key: SealKey | None = None,
) -> TaskOutcome:
    """Run a scenario, store its results, and return the outcome.

    The values of nodes, if the study keeps them, are in ``folder/nodes``. ``twins`` are scenarios of other axes that
    are the same; they get files of their own with the same numbers. The numbers depend on the study and the scenario
    alone. Whatever an attack, a protection or a metric raises becomes a file that tells the error; only a
    file that cannot be written is an error of this function. ``key`` seals the files for a run that is resumed.
    """
    clock, found, said = Clock(), ScenarioReplications([], {}), None
    try:
        found = _replications(study, scenario, folder, memory, clock, key)
    except DiskError:
        raise
    except (Exception, SystemExit) as error:  # a user's own class may raise anything, and stops no other scenario
        said = told(error)
        note_traceback(folder, scenario, error)
    with clock.timed("write"):
        sketches = StoredSketches.of({name: values.sketch() for name, values in found.nodes.items()})
        for each in (scenario, *twins):
            if said is None and keeps_nodes(study):  # before the rows, which say that the scenario is done
                write_result(sketches, each, folder / NODES, key)
            write_rows(study, each, folder, [] if said else found.rows, said, key)
    return TaskOutcome(scenario.file_name, len(found.rows), said, dict(clock.seconds), dict(clock.wall))


def make_release(
    study: Study,
    scenario: Scenario,
    number: int,
    folder: Path,
    *,
    memory: int | None = None,
    key: SealKey | None = None,
) -> TaskOutcome:
    """Make a shared release, store it, and return the outcome."""
    clock, said = Clock(), None
    try:
        with clock.timed("release"):
            release_of(study, scenario.data, scenario.protect, number, folder, memory=memory, key=key)
    except DiskError:
        raise
    except (Exception, SystemExit) as error:
        said = told(error)
        note_traceback(folder, scenario, error)
    return TaskOutcome("", 0, said, dict(clock.seconds), dict(clock.wall))


def write_rows(
    study: Study, scenario: Scenario, folder: Path, rows: list[Row], error: str | None, key: SealKey | None
) -> None:
    """Write the file of a scenario: its replications, or the error."""
    stored = StoredRows.of(columns_of(study), rows, error)
    write_result(stored, scenario, folder / RESULTS, key, "failed" if error else "fine")


def _replications(
    study: Study, scenario: Scenario, folder: Path, memory: int | None, clock: Clock, key: SealKey | None
) -> ScenarioReplications:
    """Return all replications, as many as the study asks for."""
    if scenario.data.kind == "release":
        return ScenarioReplications(_measured_release(study, scenario, memory, clock), {})
    attack = attack_of(scenario.data.kind, scenario.attack)
    needs_mechanism = is_dataclass(attack) and getattr(attack, "mechanism", attack) is None
    metrics = metrics_of(study)
    one: Callable[..., Replication] = attack_graph
    if scenario.data.kind == "table":
        one = attack_people if leaves_trials(scenario.attack) else attack_table
    wanted = study.replications
    found = ScenarioReplications([], {})
    release: Any = None
    for number in range(wanted.most):
        place = number % study.releases
        if release is None or study.releases > 1:
            with clock.timed("release"):
                release = release_of(
                    study, scenario.data, scenario.protect, place, folder, memory=memory, fresh=needs_mechanism, key=key
                )
        knowing = replace(attack, mechanism=release.mechanism) if needs_mechanism else attack
        attacked = one(study, scenario, release, knowing, number, clock, folder)
        with clock.timed("measure"):
            found.rows.append(_measured(study, attacked, metrics, place, found.nodes))
        if wanted.relative_error is not None and (number + 1) % LOOK_EVERY == 0:
            values = np.array([row.values for row in found.rows])
            if enough(values, wanted.relative_error):
                break
    return found


def _measured_release(study: Study, scenario: Scenario, memory: int | None, clock: Clock) -> list[Row]:
    """Return the measurements of a given release, replicated as requested."""
    asked = scenario_of(scenario.attack)
    with clock.timed("read"):
        tables = tables_of(scenario.data, memory=memory)
    rows = []
    for number in range(study.replications.most):
        with clock.timed("audit"):
            found = asked.measure(tables, rng=rng(study.seed, "release", scenario.key, number))
        values = tuple(float(found.get(name, np.nan)) for name in columns_of(study))
        # Who is tried and how often differs from attack to attack: what was asked tells it, if anything does.
        rows.append(Row(0, 0, np.nan, values))
    return rows


def _measured(
    study: Study, attacked: Replication, metrics: tuple[Metric, ...], release: int, nodes: dict[str, NodeValues]
) -> Row:
    """Return the numbers of one replication, and collect node values."""
    guess, truth, learned, also, learned_also = attacked
    if isinstance(guess, Trials):
        rates = tuple(float(metric.function(guess).value) for metric in metrics)
        return Row(release, guess.attack.tries, guess.attack.expected, rates)
    with warnings.catch_warnings():
        # Undefined is NaN here, and the summary counts it.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        own = [metric for metric in metrics if metric.on == "Candidates"]
        measured = {metric.name: measure_one(metric, guess, truth) for metric in own}
        if learned is not None:
            measured |= {f"{CALIBRATED}{metric.name}": measure_one(metric, learned, truth) for metric in own}
        means = {name: each.mean for name, each in measured.items()}
        for before, pairs in (("", also), (CALIBRATED, learned_also)):
            means |= {f"{before}{m.name}": float(m.function(*pairs[m.on])) for m in metrics if m.on in pairs}
    if keeps_nodes(study):
        for name, each in measured.items():
            if each.metric.per == "target":
                nodes.setdefault(name, NodeValues()).add(each.values)
    values = tuple(means.get(name, np.nan) for name in columns_of(study))
    return Row(release, int(guess.attempted.sum()), float(correct(guess, truth).sum()), values)

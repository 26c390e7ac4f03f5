"""Compute one scenario: release, knowledge, attack and metrics, replicated, into its files."""

import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from unveil._kernels.threads import threads
from unveil._kernels.types import IntArray
from unveil.attack.graph.calibration import How, calibrate
from unveil.data.files.whole_files import SECRET_FOLDER, make_secret_folder, replace_file
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge, original_among
from unveil.data.graph.release import GraphKnowledge, GraphRelease
from unveil.errors import InputError, UndefinedMetricWarning, UnveilError, where_raised
from unveil.guess.beliefs import Beliefs
from unveil.guess.candidates import Candidates
from unveil.guess.edge_claims import EdgeClaims
from unveil.guess.trials import Trials
from unveil.measure import Metric
from unveil.measure.candidates._truth import correct
from unveil.measure.candidates.candidate_metrics import measure_one
from unveil.protect._listing import original_edges
from unveil.study._parts import CALIBRATED, attack_of, columns_of, leaves_trials, metrics_of, protection_of
from unveil.study.nodes import NODES, NodeValues, frame_of_nodes, keeps_nodes
from unveil.study.plan import Study
from unveil.study.precision import LOOK_EVERY, enough
from unveil.study.releases import release_of
from unveil.study.scenario import Scenario, number_text, rng
from unveil.study.seal import DiskError, Seal, State, sealed, write_bytes
from unveil.study.tables import draw_leaked_people, draw_table_knowledge

if TYPE_CHECKING:
    import polars as pl

RESULTS, ERRORS = "results", "errors"


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its file, how many replications it took, its error, and the seconds each part took.

    ``seconds`` are those of a processor, ``wall`` those by the clock.
    """

    file: str
    rows: int
    error: str | None
    seconds: Mapping[str, float] = field(default_factory=dict)
    wall: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Clock:
    """How long each part of a task took so far, in seconds of a processor and by the clock."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    wall: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add what is done within to the part."""
        # CPU time of this task alone: what a scenario costs does not hang on what else the machine or the worker does.
        start, began = time.thread_time(), time.monotonic()
        try:
            yield
        finally:
            self.seconds[part] += time.thread_time() - start
            self.wall[part] += time.monotonic() - began


class Row(NamedTuple):
    """One replication: which release, how many targets were attempted and hit, and the value of each metric."""

    release: int
    attempted: int
    correct: float
    values: tuple[float, ...]


class Attacked(NamedTuple):
    """What an attack left in one replication, and the truth of its targets.

    ``learned`` is the same guess with calibrated probabilities, None where there is none. ``also`` has other guesses
    that follow, and their truths, by what a metric is on, as far as the study measures them; ``learned_also`` those of
    calibrated probabilities.
    """

    guess: Candidates | Trials
    truth: IntArray
    learned: Candidates | None = None
    also: Mapping[str, tuple[Any, Any]] = MappingProxyType({})
    learned_also: Mapping[str, tuple[Any, Any]] = MappingProxyType({})


class Replicated(NamedTuple):
    """All replications of a scenario: a row of each, and the values of nodes by column, pooled."""

    rows: list[Row]
    nodes: dict[str, NodeValues]


# Studies run scenarios side by side: more threads in each would only stand in one another's way.
@threads(1)
def run_scenario(
    study: Study, scenario: Scenario, folder: Path, *, memory: int | None = None, twins: Sequence[Scenario] = ()
) -> Outcome:
    """Return what became of a scenario, whose file of results is then in ``folder/results``.

    The values of nodes, if the study keeps them, are in ``folder/nodes``. ``twins`` are scenarios of other axes that
    are the same; they get files of their own with the same numbers. The numbers depend on the study and the scenario
    alone. Whatever an attack, a protection or a metric raises becomes a file with one row that tells the error; only a
    file that cannot be written is an error of this function.
    """
    clock, found, said = Clock(), Replicated([], {}), None
    try:
        found = _replications(study, scenario, folder, memory, clock)
    except DiskError:
        raise
    except (Exception, SystemExit) as error:  # a user's own class may raise anything, and stops no other scenario
        said = told(error)
        note_traceback(folder, scenario, error)
    with clock.timed("write"):
        sketches = {name: values.sketch() for name, values in found.nodes.items()}
        for each in (scenario, *twins):
            if said is None and keeps_nodes(study):  # before the rows, which say that the scenario is done
                _write(frame_of_nodes(each, sketches), each, folder / NODES)
            write_rows(study, each, folder, [] if said else found.rows, said)
    return Outcome(scenario.file_name, len(found.rows), said, dict(clock.seconds), dict(clock.wall))


def make_release(study: Study, scenario: Scenario, number: int, folder: Path, *, memory: int | None = None) -> Outcome:
    """Return what became of a release that scenarios share, which is then in ``folder/releases``."""
    clock, said = Clock(), None
    try:
        with clock.timed("release"):
            release_of(study, scenario.data, scenario.protect, number, folder, memory=memory)
    except DiskError:
        raise
    except (Exception, SystemExit) as error:
        said = told(error)
        note_traceback(folder, scenario, error)
    return Outcome("", 0, said, dict(clock.seconds), dict(clock.wall))


def write_rows(study: Study, scenario: Scenario, folder: Path, rows: list[Row], error: str | None) -> None:
    """Write the file of a scenario: a row for each replication, or one row with the error."""
    frame = frame_of(scenario, columns_of(study), rows, error)
    _write(frame, scenario, folder / RESULTS, "failed" if error else "fine")


def _write(frame: "pl.DataFrame", scenario: Scenario, folder: Path, state: State = "fine") -> None:
    folder.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
    seal = Seal(scenario.file_name, scenario.data.digest, state)
    write_bytes(folder / scenario.file_name, sealed(frame, seal))


def told(error: BaseException) -> str:
    """Return an error as results tell it: of foreign ones where it was raised, since its text may hold data."""
    if isinstance(error, UnveilError):
        return str(error)
    return f"{where_raised(error)}; the folder {ERRORS!r} has the details"


def note_traceback(folder: Path, scenario: Scenario, error: BaseException) -> None:
    """Write where an error came from beside the results, as far as that can be done; its text may hold data."""
    with suppress(OSError):
        make_secret_folder(folder / ERRORS)
        text = f"{scenario.key}\n\n{''.join(traceback.format_exception(error))}"
        replace_file(folder / ERRORS / f"{scenario.file_name}.txt", text.encode("utf-8", "backslashreplace"))


def _replications(study: Study, scenario: Scenario, folder: Path, memory: int | None, clock: Clock) -> Replicated:
    """Return all replications, as many as the study asks for."""
    attack = attack_of(scenario.data.kind, scenario.attack)
    needs_mechanism = is_dataclass(attack) and getattr(attack, "mechanism", attack) is None
    metrics = metrics_of(study)
    one: Callable[..., Attacked] = _attack_graph
    if scenario.data.kind == "table":
        one = _attack_people if leaves_trials(scenario.attack) else _attack_table
    wanted = study.replications
    found = Replicated([], {})
    release: Any = None
    for number in range(wanted.most):
        place = number % study.releases
        if release is None or study.releases > 1:
            with clock.timed("release"):
                release = release_of(
                    study, scenario.data, scenario.protect, place, folder, memory=memory, fresh=needs_mechanism
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


def _attack_graph(
    study: Study, scenario: Scenario, release: Any, attack: Any, number: int, clock: Clock, folder: Path
) -> Attacked:
    levels = scenario.levels
    with clock.timed("knowledge"):
        knowledge = draw_knowledge(
            release,
            overlap=levels["overlap"],
            seed_pairs=int(levels["seed_pairs"]),
            node_share=levels.get("node_share", 1.0),
            rng=_knowledge_stream(study, scenario, number),
        )
    with clock.timed("attack"):
        whole = _candidates(
            attack.run(released=release.released, knowledge=knowledge, rng=_attack_stream(study, scenario, number)),
            scenario.attack,
        )
    targets = knowledge.targets(release.released)
    learned = None
    if study.calibrate is not None:
        with clock.timed("calibrate"):
            learned = _calibrated(
                study, scenario, release.released, knowledge, attack, whole, number=number, folder=folder
            )
    with clock.timed("measure"):
        also, learned_also = _also(study, scenario, release, knowledge, whole, learned)
    return Attacked(
        whole.only(targets),
        knowledge.in_auxiliary_numbers(release.truth)[targets],
        None if learned is None else learned.only(targets),
        also,
        learned_also,
    )


def _also(
    study: Study,
    scenario: Scenario,
    release: GraphRelease,
    knowledge: GraphKnowledge,
    guess: Candidates,
    learned: Candidates | None,
) -> tuple[dict[str, tuple[Any, Any]], dict[str, tuple[Any, Any]]]:
    """Return what else of a replication is measured, with its truth: of the mapping, and of learned probabilities."""
    wanted = {metric.on for metric in metrics_of(study)}
    raw: dict[str, tuple[Any, Any]] = {}
    better: dict[str, tuple[Any, Any]] = {}
    if "GraphKnowledge" in wanted:
        raw["GraphKnowledge"] = (knowledge, release)
    if "EdgeClaims" in wanted:
        original, met = original_among(release.original, knowledge), {"released": release.released}
        raw["EdgeClaims"] = (EdgeClaims.from_mapping(guess, knowledge=knowledge, **met), original)
        if learned is not None:
            known = original_edges(protection_of("graph", scenario.protect))
            share = 1.0 if known is None else known
            claims = EdgeClaims.from_chances(learned, knowledge=knowledge, original_share=share, **met)
            better["EdgeClaims"] = (claims, original)
    return raw, better


def _calibrated(
    study: Study,
    scenario: Scenario,
    released: Graph,
    knowledge: GraphKnowledge,
    attack: Any,
    guess: Candidates,
    *,
    number: int,
    folder: Path,
) -> Candidates | None:
    """Return the guess with learned probabilities; None where none can be learned, and why in ``errors``."""
    try:
        learned = calibrate(
            attack,
            protection_of("graph", scenario.protect),
            released=released,
            knowledge=knowledge,
            guess=guess,
            how=cast("How", study.calibrate),
            draws=study.calibrate_draws,
            check=False,  # what the adversary knows is drawn from the original
            # A stream of its own, so that the attack itself is the same with and without.
            rng=rng(study.seed, "calibrate", scenario.drawn.key, number),
        )
        return learned(guess)
    except MemoryError:
        raise
    except Exception as error:  # an experiment on a graph that is too small for the protection, say: raw numbers stay
        note_traceback(folder, scenario, error)
        return None


def _attack_table(
    study: Study, scenario: Scenario, release: Any, attack: Any, number: int, clock: Clock, _folder: Path
) -> Attacked:
    levels = scenario.levels
    with clock.timed("knowledge"):
        case = draw_table_knowledge(
            release,
            known_columns=levels.get("known_columns"),
            known_share=levels["known_share"],
            rng=_knowledge_stream(study, scenario, number),
        )
    with clock.timed("attack"):
        guess = attack.run(
            released=case.released, knowledge=case.knowledge, rng=_attack_stream(study, scenario, number)
        )
        guess = _candidates(guess, scenario.attack)
    drawn = guess.targets
    return Attacked(guess, case.truth if drawn is None else case.truth[np.asarray(drawn, np.int64)])


def _attack_people(
    study: Study, scenario: Scenario, release: Any, _attack: Any, number: int, clock: Clock, _folder: Path
) -> Attacked:
    levels = scenario.levels
    with clock.timed("knowledge"):
        case = draw_leaked_people(
            release,
            known_columns=levels.get("known_columns"),
            leaked_share=levels.get("leaked_share", 1.0),
            rng=_knowledge_stream(study, scenario, number),
        )
    with clock.timed("attack"):
        attack = attack_of("table", scenario.attack, case.columns)
        trials: Trials = attack.run(
            released=case.released, knowledge=case.knowledge, rng=_attack_stream(study, scenario, number)
        )
    return Attacked(trials, np.empty(0, np.int64))


def _knowledge_stream(study: Study, scenario: Scenario, number: int) -> np.random.Generator:
    """Return the stream of what the adversary knows: the same for every attack."""
    strength = (scenario.drawn.axis, number_text(scenario.drawn.level))
    return rng(study.seed, "knowledge", scenario.data.name, scenario.protect, *strength, number)


def _attack_stream(study: Study, scenario: Scenario, number: int) -> np.random.Generator:
    return rng(study.seed, "attack", scenario.drawn.key, number)


def _candidates(guess: object, attack: str) -> Candidates:
    if isinstance(guess, Beliefs):
        return guess.to_candidates()
    if not isinstance(guess, Candidates):
        raise InputError(
            f"an attack in a study must leave Candidates, but {attack!r} left a {type(guess).__name__}. Correct its "
            "method run"
        )
    return guess


def _measured(
    study: Study, attacked: Attacked, metrics: tuple[Metric, ...], release: int, nodes: dict[str, NodeValues]
) -> Row:
    """Return the numbers of one replication, and add values of nodes to those of the others."""
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


def frame_of(scenario: Scenario, metrics: Sequence[str], rows: list[Row], error: str | None) -> "pl.DataFrame":
    """Return the rows of a file; it has the same columns whatever happened."""
    import polars as pl

    size = 1 if error else len(rows)
    every: dict[str, pl.Series] = {
        name: pl.Series(name, [getattr(scenario, name)] * size, pl.String) for name in ("protect", "attack", "axis")
    }
    every = {"data": pl.Series("data", [scenario.data.name] * size, pl.String), **every}
    every["level"] = pl.Series("level", [scenario.level] * size, pl.Float64)
    some: list[Any] = [None] if error else []
    every["replication"] = pl.Series("replication", some or list(range(size)), pl.UInt32)
    every["release"] = pl.Series("release", some or [row.release for row in rows], pl.UInt32)
    every["attempted"] = pl.Series("attempted", some or [row.attempted for row in rows], pl.UInt32)
    every["correct"] = pl.Series("correct", some or [row.correct for row in rows], pl.Float64)
    for place, metric in enumerate(metrics):
        values = pl.Series(metric, some or [row.values[place] for row in rows], pl.Float64)
        every[metric] = values.fill_nan(None)
    every["error"] = pl.Series("error", [error] * size, pl.String)
    return pl.DataFrame(list(every.values()))

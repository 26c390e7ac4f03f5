"""Compute one scenario: release, knowledge, attack and metrics, replicated, into one file."""

import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.files.whole_files import SECRET_FOLDER, make_secret_folder, replace_file
from unveil.data.graph.knowledge import draw_knowledge
from unveil.errors import InputError, UndefinedMetricWarning, UnveilError, where_raised
from unveil.guess.beliefs import Beliefs
from unveil.guess.candidates import Candidates
from unveil.guess.trials import Trials
from unveil.measure import Metric
from unveil.measure.candidates._truth import correct
from unveil.measure.candidates.candidate_metrics import measure_one
from unveil.study._parts import attack_of, leaves_trials, metrics_of
from unveil.study.plan import Study
from unveil.study.precision import LOOK_EVERY, enough
from unveil.study.releases import release_of
from unveil.study.scenario import Scenario, number_text, rng
from unveil.study.seal import DiskError, Seal, sealed, write_bytes
from unveil.study.tables import draw_leaked_people, draw_table_knowledge

if TYPE_CHECKING:
    import polars as pl

RESULTS, ERRORS = "results", "errors"


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its file, how many replications are in it, its error, and the seconds each part took."""

    file: str
    rows: int
    error: str | None
    seconds: Mapping[str, float] = field(default_factory=dict)


class Row(NamedTuple):
    """One replication: which release, how many targets were attempted and hit, and the value of each metric."""

    release: int
    attempted: int
    correct: float
    values: tuple[float, ...]


def run_scenario(study: Study, scenario: Scenario, folder: Path, *, memory: int | None = None) -> Outcome:
    """Return what became of a scenario, whose file of results is then in ``folder/results``.

    The numbers depend on the study and the scenario alone. Whatever an attack, a protection or a metric raises becomes
    a file with one row that tells the error; only a file that cannot be written is an error of this function.
    """
    seconds: dict[str, float] = defaultdict(float)
    rows: list[Row] = []
    said = None
    try:
        rows = _replications(study, scenario, folder, memory, seconds)
    except DiskError:
        raise
    except (Exception, SystemExit) as error:  # a user's own class may raise anything, and stops no other scenario
        said = told(error)
        note_traceback(folder, scenario, error)
    with _timed(seconds, "write"):
        write_rows(study, scenario, folder, [] if said else rows, said)
    return Outcome(scenario.file_name, len(rows), said, dict(seconds))


def make_release(study: Study, scenario: Scenario, number: int, folder: Path, *, memory: int | None = None) -> Outcome:
    """Return what became of a release that scenarios share, which is then in ``folder/releases``."""
    seconds: dict[str, float] = defaultdict(float)
    said = None
    try:
        with _timed(seconds, "release"):
            release_of(study, scenario.data, scenario.protect, number, folder, memory=memory)
    except DiskError:
        raise
    except (Exception, SystemExit) as error:
        said = told(error)
        note_traceback(folder, scenario, error)
    return Outcome("", 0, said, dict(seconds))


def write_rows(study: Study, scenario: Scenario, folder: Path, rows: list[Row], error: str | None) -> None:
    """Write the file of a scenario: a row for each replication, or one row with the error."""
    frame = frame_of(scenario, [metric.name for metric in metrics_of(study)], rows, error)
    seal = Seal(scenario.file_name, scenario.data.digest, "failed" if error else "fine")
    target = folder / RESULTS / scenario.file_name
    target.parent.mkdir(SECRET_FOLDER, parents=True, exist_ok=True)
    write_bytes(target, sealed(frame, seal))


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


def _replications(
    study: Study, scenario: Scenario, folder: Path, memory: int | None, seconds: dict[str, float]
) -> list[Row]:
    """Return a row for each replication, as many as the study asks for."""
    attack = attack_of(scenario.data.kind, scenario.attack)
    needs_mechanism = is_dataclass(attack) and getattr(attack, "mechanism", attack) is None
    metrics = metrics_of(study)
    one: Callable[..., tuple[Candidates | Trials, Any]] = _attack_graph
    if scenario.data.kind == "table":
        one = _attack_people if leaves_trials(scenario.attack) else _attack_table
    wanted = study.replications
    rows: list[Row] = []
    release: Any = None
    for number in range(wanted.most):
        place = number % study.releases
        if release is None or study.releases > 1:
            with _timed(seconds, "release"):
                release = release_of(
                    study, scenario.data, scenario.protect, place, folder, memory=memory, fresh=needs_mechanism
                )
        knowing = replace(attack, mechanism=release.mechanism) if needs_mechanism else attack
        guess, truth = one(study, scenario, release, knowing, number, seconds)
        with _timed(seconds, "measure"):
            rows.append(_measured(guess, truth, metrics, place))
        if wanted.relative_error is not None and (number + 1) % LOOK_EVERY == 0:
            values = np.array([row.values for row in rows])
            if enough(values, wanted.relative_error):
                break
    return rows


def _attack_graph(
    study: Study, scenario: Scenario, release: Any, attack: Any, number: int, seconds: dict[str, float]
) -> tuple[Candidates, IntArray]:
    levels = scenario.levels
    with _timed(seconds, "knowledge"):
        knowledge = draw_knowledge(
            release,
            overlap=levels["overlap"],
            seed_pairs=int(levels["seed_pairs"]),
            node_share=levels.get("node_share", 1.0),
            rng=_knowledge_stream(study, scenario, number),
        )
    with _timed(seconds, "attack"):
        guess = attack.run(
            released=release.released, knowledge=knowledge, rng=rng(study.seed, "attack", scenario.key, number)
        )
    targets = knowledge.targets(release.released)
    return _candidates(guess, scenario.attack).only(targets), knowledge.in_auxiliary_numbers(release.truth)[targets]


def _attack_table(
    study: Study, scenario: Scenario, release: Any, attack: Any, number: int, seconds: dict[str, float]
) -> tuple[Candidates, IntArray]:
    levels = scenario.levels
    with _timed(seconds, "knowledge"):
        case = draw_table_knowledge(
            release,
            known_columns=levels.get("known_columns"),
            known_share=levels["known_share"],
            rng=_knowledge_stream(study, scenario, number),
        )
    with _timed(seconds, "attack"):
        guess = attack.run(
            released=case.released, knowledge=case.knowledge, rng=rng(study.seed, "attack", scenario.key, number)
        )
        guess = _candidates(guess, scenario.attack)
    drawn = guess.targets
    return guess, case.truth if drawn is None else case.truth[np.asarray(drawn, np.int64)]


def _attack_people(
    study: Study, scenario: Scenario, release: Any, _attack: Any, number: int, seconds: dict[str, float]
) -> tuple[Trials, None]:
    levels = scenario.levels
    with _timed(seconds, "knowledge"):
        case = draw_leaked_people(
            release,
            known_columns=levels.get("known_columns"),
            leaked_share=levels.get("leaked_share", 1.0),
            rng=_knowledge_stream(study, scenario, number),
        )
    with _timed(seconds, "attack"):
        attack = attack_of("table", scenario.attack, case.columns)
        trials: Trials = attack.run(
            released=case.released, knowledge=case.knowledge, rng=rng(study.seed, "attack", scenario.key, number)
        )
    return trials, None


def _knowledge_stream(study: Study, scenario: Scenario, number: int) -> np.random.Generator:
    """Return the stream of what the adversary knows: the same for every attack."""
    strength = (scenario.axis, number_text(scenario.level))
    return rng(study.seed, "knowledge", scenario.data.name, scenario.protect, *strength, number)


def _candidates(guess: object, attack: str) -> Candidates:
    if isinstance(guess, Beliefs):
        return guess.to_candidates()
    if not isinstance(guess, Candidates):
        raise InputError(
            f"an attack in a study must leave Candidates, but {attack!r} left a {type(guess).__name__}. Correct its "
            "method run"
        )
    return guess


def _measured(guess: Candidates | Trials, truth: IntArray, metrics: tuple[Metric, ...], release: int) -> Row:
    if isinstance(guess, Trials):
        rates = tuple(float(metric.function(guess).value) for metric in metrics)
        return Row(release, guess.attack.tries, guess.attack.expected, rates)
    with warnings.catch_warnings():
        # Undefined is NaN here, and the summary counts it.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = tuple(measure_one(metric, guess, truth).mean for metric in metrics)
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


@contextmanager
def _timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    # CPU time of this task alone: what a scenario costs does not hang on what else the machine or the worker does.
    start = time.thread_time()
    try:
        yield
    finally:
        seconds[part] += time.thread_time() - start

"""Monotonicity of 26 metrics in 1440 cases of 6 levels, 100 replications each, beside the same tests by scipy.stats.

Half the metrics are continuous, the others heavily tied, nearly constant, constant, or full of gaps. The worst case is
that of 20 replications, all tied: the most that are still compared by the exact test. scipy.stats is tried on some of
the values and its time scaled; it has no exact test of tied samples, so there it has the easier task.
"""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, as_markdown, peak_memory, side_by_side
from unveil.grades.monotonicity import monotonicity
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.metrics import METRICS
from unveil.studies import Axis, DataSet, Replications, Results, Study

CASES, NAMES, LEVELS = 1_440, 26, 6
#: What scipy is tried on: so many pairs one by one, all pairs of so many cases at once.
SAMPLE, SOME_CASES = 400, 100

Floats = NDArray[np.float64]


def mixed(cases: int, replications: int) -> Floats:
    """Return values of metrics of all kinds, in some cases rising with the level and in others not."""
    rng = np.random.default_rng(4)
    values = rng.standard_normal((cases, NAMES, LEVELS, replications))
    values += rng.normal(0, 0.5, (cases, NAMES, 1, 1)) * np.arange(LEVELS)[:, None]
    values[:, 13:18] = np.rint(values[:, 13:18])
    values[:, 18:22] = values[:, 18:22] > 1.5
    values[:, 22:24] = np.log2(100)
    values[:, 24:][rng.random(values[:, 24:].shape) < 0.3] = np.nan
    return values


def tied(cases: int, replications: int) -> Floats:
    """Return whole numbers, a few different ones, in all metrics."""
    values: Floats = np.random.default_rng(5).integers(0, 8, (cases, NAMES, LEVELS, replications)).astype(np.float64)
    return values


def replicated(values: Floats) -> ReplicatedMetrics:
    """Return the values with names."""
    cases = tuple(GradedCase("data", "protect", f"attack {number}", "overlap") for number in range(len(values)))
    metrics = tuple(list(METRICS)[:NAMES])
    levels = (tuple(float(level) for level in range(LEVELS)),) * len(cases)
    rising = np.arange(NAMES) % 2 == 0
    return ReplicatedMetrics(cases=cases, metrics=metrics, levels=levels, values=values, rising=rising)


def grade(values: ReplicatedMetrics) -> None:
    """Score every metric in every case."""
    monotonicity(values)


def one_by_one(values: Floats) -> float:
    """Return the CPU seconds of scipy's tests of all pairs, one after the other, by a sample of them."""
    from scipy import stats

    rng = np.random.default_rng(6)
    case, metric, level = (rng.integers(0, most, SAMPLE) for most in (len(values), NAMES, LEVELS - 1))
    start = process_time()
    for one, other in zip(values[case, metric, level], values[case, metric, level + 1], strict=True):
        stats.ttest_ind(other, one, equal_var=False, nan_policy="omit")
        stats.mannwhitneyu(other, one, nan_policy="omit")
    return (process_time() - start) / SAMPLE * CASES * NAMES * (LEVELS - 1)


def at_once(values: Floats) -> float:
    """Return the CPU seconds of scipy's tests of whole arrays, without dropping NaN, by the first cases."""
    from scipy import stats

    some = values[:SOME_CASES]
    start = process_time()
    stats.ttest_ind(some[:, :, 1:], some[:, :, :-1], axis=3, equal_var=False)
    stats.mannwhitneyu(some[:, :, 1:], some[:, :, :-1], axis=3, method="asymptotic")
    return (process_time() - start) / SOME_CASES * CASES


def rows() -> Iterator[Row]:
    """Yield ours on all values, and what scipy's tests would take by some of them; then reading the rows of a study."""
    for case, values in (
        ("all kinds, 100 replications", mixed(CASES, 100)),
        ("all tied, 100 replications", tied(CASES, 100)),
        ("all tied, 20 replications", tied(CASES, 20)),
    ):
        grade(replicated(values[:SOME_CASES]))  # compiled
        task = {"unveil": partial(grade, replicated(values))}
        mine = side_by_side(f"monotonicity, {CASES:,} x {NAMES} x {LEVELS}, {case}", task, repeat=2)
        yield from mine
        # Of constant samples and gaps.
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peers = {
                f"scipy.stats, arrays at once, never exact, from {SOME_CASES} cases": at_once(values),
                f"scipy.stats, pair by pair, from {SAMPLE} pairs": one_by_one(values),
            }
        yield from (Row(mine[0].case, who, seconds, seconds / mine[0].seconds) for who, seconds in peers.items())
    task = {"unveil": partial(read, results())}
    yield from side_by_side(f"values from {CASES * LEVELS * 100:,} rows of results", task, repeat=2)


def results() -> Results:
    """Return results of a study that was never run: its scenarios, and one row for each of their replications."""
    import polars as pl

    names = tuple(name for name, metric in METRICS.items() if metric.on == "candidates")[:NAMES]
    study = Study(
        name="made up",
        seed=1,
        data=tuple(DataSet(f"data {number}", "graph", f"{number}.csv") for number in range(10)),
        protections=tuple(f"k-degree:k={k}" for k in range(2, 14)),
        attacks=tuple(f"NS:theta=0.{number}" for number in range(1, 7)),
        axes=(Axis("seed_pairs", (5, 10, 20, 35, 50, 100)), Axis("overlap", (0.6, 0.7, 0.8, 0.85, 0.9, 0.95))),
        replications=Replications(number=100),
        metrics=names,
    )
    every = study.scenarios()
    found = Results(folder=Path("made-up"), study=study, scenarios=every, fine=every, failed=(), damaged=(), missing=())
    keys = pl.DataFrame(
        {"data": [each.data.name for each in every]}
        | {name: [getattr(each, name) for each in every] for name in ("protect", "attack", "axis", "level")}
    )
    repeated = keys.select(pl.all().repeat_by(100).explode())
    rng = np.random.default_rng(7)
    columns = [pl.Series(name, rng.random(repeated.height)) for name in found.metrics]
    numbers = pl.Series("replication", np.tile(np.arange(100, dtype=np.uint32), len(every)))
    found.__dict__["frame"] = repeated.with_columns(numbers, *columns)
    return found


def read(study: Results) -> None:
    """Bring rows into the order of cases, metrics, levels and replications."""
    ReplicatedMetrics.of(study)


def extra_memory() -> int:
    """Return the megabytes that grading takes beyond the values, in a process of its own."""
    code = "from benchmarks.grades import peak; peak()"
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return int(done.stdout)


def peak() -> None:
    """Print how far the peak of memory rises while grading."""
    grade(replicated(mixed(100, 100)))
    values = replicated(mixed(CASES, 100))
    # Making the values had a peak of its own: Linux forgets it when told so.
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_memory()
    grade(values)
    print(peak_memory() - before)


if __name__ == "__main__":
    print(as_markdown(list(rows())))
    print(f"\nmemory beyond the values: {extra_memory():,} MB")

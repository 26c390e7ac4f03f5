"""Partitions: all per-subject measures and distances, beside scikit-learn and ER-Evaluation, on the same labels."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, side_by_side
from unveil.guess import Partition
from unveil.guess.random_partitions import uniform_partition
from unveil.measure import partition_distances, unlinkability

Labels = np.ndarray[tuple[int], np.dtype[np.int64]]


def linkage_labels(n: int, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Return labels as record linkage leaves them: five items a subject, one in ten in a wrong cluster."""
    truth = rng.integers(0, n // 5, n)
    moved = rng.random(n) < 0.1
    return truth, np.where(moved, rng.integers(0, n // 5, n), truth)


def random_labels(n: int, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Return labels of two uniformly random partitions: nearly every item is a cell of its own, our worst case."""
    return tuple(uniform_partition(n, rng=rng).codes.astype(np.int64) for _ in range(2))  # type: ignore[return-value]


DATA: dict[str, Callable[[int, np.random.Generator], tuple[Labels, Labels]]] = {
    "linkage-like": linkage_labels,
    "uniformly random": random_labels,
}


def ours(truth: Labels, guess: Labels) -> None:
    """Measure every subject (and VOI, Rand, B-cubed) from plain labels, as a user would."""
    subjects, clusters = Partition.from_labels(truth), Partition.from_labels(guess)
    unlinkability(clusters, subjects)
    partition_distances(clusters, subjects, transfer=False)


def scikit_learn(truth: Labels, guess: Labels) -> None:
    from sklearn.metrics import mutual_info_score, rand_score

    rand_score(truth, guess)
    mutual_info_score(truth, guess)


def er_evaluation(truth: Labels, guess: Labels) -> None:
    import pandas as pd
    from er_evaluation.error_analysis import error_metrics

    error_metrics(pd.Series(guess), pd.Series(truth))


def rows(sizes: list[int]) -> Iterator[Row]:
    for n in sizes:
        for name, make in DATA.items():
            truth, guess = make(n, np.random.default_rng(1))
            ours(truth, guess)  # the compiler and the page cache are warm, ours and the peers' alike
            tasks = {
                "unveil": partial(ours, truth, guess),
                "scikit-learn rand + MI": partial(scikit_learn, truth, guess),
                "ER-Evaluation error_metrics": partial(er_evaluation, truth, guess),
            }
            yield from side_by_side(f"{name}, {n:,} items", tasks, repeat=5 if n <= 10**6 else 2)


def extra_memory(n: int, name: str) -> int:
    """Return the megabytes that measuring takes beyond the labels, in a process of its own."""
    code = f"from benchmarks.partitions import peak; peak({n}, {name!r})"
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return int(done.stdout)


def peak(n: int, name: str) -> None:
    """Print how far the peak of memory rises while measuring."""
    ours(*DATA[name](20_000, np.random.default_rng(1)))
    truth, guess = DATA[name](n, np.random.default_rng(1))
    # Making the labels had a peak of its own: Linux forgets it when told so.
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    ours(truth, guess)
    print((_status("VmHWM") - before) // 2**10)


def _status(key: str) -> int:
    """Return a line of the process's status in kilobytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))

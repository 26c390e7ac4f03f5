"""Partitions: all per-subject measures and distances, beside scikit-learn and ER-Evaluation, on the same labels.

``python -m benchmarks.partitions`` times what has no peer: views, the grid of policies, the forecast, and whole pages.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.timing import Row, least, side_by_side
from unveil import partition
from unveil.guesses import Partition, View
from unveil.metrics import forecast, others_graphs, over_views, partition_distances, policy_grid, unlinkability
from unveil.metrics.partitions.guessing import uniform_partition, walk_from

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


def view_of(partitions: int, items: int) -> tuple[View, Partition]:
    """Return a view of partitions that are as many random steps from the truth as a fifth of its items."""
    rng = np.random.default_rng(0)
    truth = Partition.from_labels(rng.integers(0, items // 5, items))
    guesses = [walk_from(truth, items // 5, rng=rng) for _ in range(partitions)]
    return View(guesses, [f"1/{partitions}"] * partitions), truth


def crowded(items: int) -> tuple[Partition, Partition]:
    """Return a guess in few large clusters: following whom merges bring along takes the square of their subjects."""
    rng = np.random.default_rng(0)
    return tuple(Partition.from_labels(rng.integers(0, most, items)) for most in (20, items // 5))  # type: ignore[return-value]


def drawn_forecast(guess: Partition | View, truth: Partition) -> None:
    """Draw the futures of all subjects."""
    forecast(guess, truth, rng=np.random.default_rng(1))


def page(guess: Partition | View, truth: Partition) -> None:
    """Answer the whole question, and make its page."""
    partition(guess, truth).to_html()


def without_peer() -> Iterator[tuple[str, float]]:
    """Yield what was done and the least CPU seconds of five runs, compilation aside."""
    for partitions in (20, 1000):
        view, truth = view_of(partitions, 2_000)
        tasks: dict[str, Callable[[], object]] = {
            "unlinkability": partial(unlinkability, view, truth),
            "distances": partial(partition_distances, view, truth),
            "grid of 23 x 101 policies": partial(policy_grid, view, truth),
            "intervals over the view": partial(over_views, view, truth),
            "others along merges": partial(others_graphs, view, truth),
            "forecast, 200 futures": partial(drawn_forecast, view, truth),
            "answer and page": partial(page, view, truth),
        }
        for name, task in tasks.items():
            yield f"{name}, {partitions:,} partitions of 2,000 items", least(task)
    guess, truth = crowded(50_000)
    yield "others along merges, 50,000 items in 20 clusters", least(partial(others_graphs, guess, truth))
    yield "answer and page, 50,000 items in 20 clusters", least(partial(page, guess, truth))


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


if __name__ == "__main__":
    print("| task | CPU seconds |\n|---|---:|")
    for task, seconds in without_peer():
        print(f"| {task} | {seconds:.3f} |", flush=True)

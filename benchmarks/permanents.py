"""Permanents, marginals and cracks: beside thewalrus and qc-permanent, and what they have no answer for.

Peers that are not installed are left out.
"""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import lgamma
from pathlib import Path
from time import process_time
from types import ModuleType

import numpy as np

from benchmarks.timing import Row, peak_memory, side_by_side
from unveil._kernels.matching import Edges, as_edges, edges_of, permanent, sinkhorn, solve
from unveil._kernels.matching.glynn_marginals import glynn_marginals
from unveil.guesses import Matching, UnequalMatching
from unveil.metrics.matchings.cracks import cracks
from unveil.metrics.matchings.itemsets import itemsets

ROOT = Path(__file__).parent.parent
SIZES = (20, 24, 26)


def rows() -> Iterator[Row]:
    """Yield one permanent beside the peers', all marginals beside one permanent of theirs, and the larger cases."""
    rng = np.random.default_rng(1)
    for n in SIZES:
        yield from _dense(rng.random((n, n)))
    lognormal = np.exp(rng.normal(size=(1000, 1000)))
    solve(rng.random((40, 40)), np.arange(40), rng=rng)  # the compiler is warm
    start = process_time()
    found = solve(lognormal, np.arange(1000), rng=rng)
    seconds = process_time() - start
    error = found.expected_cracks_error / found.expected_cracks
    yield Row("lognormal, n = 1,000, all marginals", f"unveil (worms, standard error {error:.1%})", seconds, 1.0)
    yield from _beyond_counting()


def _beyond_counting() -> Iterator[Row]:
    """Yield the degree of anonymity of 0/1 matrices too large to be counted, and the chance of a set of items."""
    permanent((np.random.default_rng(2).random((40, 40)) < 0.5).astype(float), rng=np.random.default_rng(0))
    for n, density in ((50, 0.35), (200, 0.1), (1000, 0.05)):
        matrix = ((np.random.default_rng(1).random((n, n)) < density) | np.eye(n, dtype=bool)).astype(float)
        start = process_time()
        found = permanent(matrix, rng=np.random.default_rng(0))
        seconds, most = process_time() - start, lgamma(n + 1)
        ends = f"{found.log / most:.4f} ± {found.error / most:.4f}, certain {found.low / most:.3f} to"
        yield Row(f"d of a 0/1 matrix, n = {n:,}", f"unveil ({ends} {found.high / most:.3f})", seconds, 1.0)
    for n in (26, 60):
        guess = Matching(np.exp(np.random.default_rng(1).standard_normal((n, n))))
        start = process_time()
        five = itemsets(guess, range(n), sets={"five": range(5)}, rng=np.random.default_rng(0)).sets[0].found
        seconds = process_time() - start
        yield Row(f"a set of 5, n = {n}", f"unveil ({five.kind}, {five.value:.2g} ± {five.error:.1g})", seconds, 1.0)
    unequal = UnequalMatching(np.exp(np.random.default_rng(1).standard_normal((200, 150))))
    truth = [*range(150), *[-1] * 50]
    start = process_time()
    some = cracks(unequal, truth, rng=np.random.default_rng(0)).expected_cracks
    seconds = process_time() - start
    yield Row(
        "200 items, 150 pseudonyms", f"unveil (all figures, Ψ = {some.value:.3f} ± {some.error:.3f})", seconds, 1.0
    )


def _dense(matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Iterator[Row]:
    n = len(matrix)
    peers: dict[str, Callable[[], None]] = {}
    walrus, optimized = _optional("thewalrus"), _optional("permanent")
    if walrus is not None:
        peers["thewalrus"] = lambda: walrus.perm(matrix)
    if optimized is not None:
        peers["qc-permanent"] = lambda: optimized.opt(matrix)

    def one() -> None:
        permanent(matrix)

    def every() -> None:
        glynn_marginals(sinkhorn(as_edges(matrix), tolerance=1e-2, rounds=200).edges.dense())

    for task in (one, every, *peers.values()):  # compilers and caches are warm
        task()
    repeat = 5 if n < 26 else 3
    yield from side_by_side(f"permanent, n = {n}", {"unveil": one} | peers, repeat=repeat)
    named = {"unveil, all marginals": every} | {f"{who}, one permanent": task for who, task in peers.items()}
    yield from side_by_side(f"all {n * n} marginals, n = {n}", named, repeat=repeat)


def _optional(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: it is left out\n")
        return None


def intervals(n: int, reach: int) -> Edges:
    """Return an interval graph in which each row has up to ``reach`` columns to either side of its own."""
    rng = np.random.default_rng(1)
    low = np.maximum(np.arange(n) - rng.integers(0, reach + 1, n), 0)
    high = np.minimum(np.arange(n) + rng.integers(0, reach + 1, n), n - 1)
    row = np.repeat(np.arange(n), high - low + 1)
    column = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
    return edges_of(row, column, np.ones(row.size), n)


def growth(reaches: list[int]) -> None:
    """Print CPU time and memory of all marginals of interval graphs of 10,000 rows, ever wider."""
    print("| interval graph, n = 10,000: most rows open at a time | all marginals, s | extra memory, MB |")
    print("|---:|---:|---:|")
    for reach in reaches:
        code = f"from benchmarks.permanents import grow; grow({reach})"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        print(done.stdout, end="", flush=True)


def grow(reach: int) -> None:
    """Print one line of the table above, from a process of its own."""
    from unveil._kernels.matching.frontier import plan

    rng = np.random.default_rng(1)
    solve(intervals(3_000, 8), np.arange(3_000), rng=rng, distribution=False)  # the compiler is warm
    edges = intervals(10_000, reach)
    before = peak_memory()
    start = process_time()
    found = solve(edges, np.arange(10_000), rng=rng, distribution=False)
    seconds = process_time() - start
    extra = peak_memory() - before
    width = getattr(plan(edges), "width", "-")
    print(f"| {width}{'' if found.exact else ' (worms)'} | {seconds:.2f} | {extra} |")

"""Permanent of a large block by annealed worm sampling.

Let S be the block, scaled so that rows and columns sum to about 1, and J/n the matrix of 1/n everywhere. In a matching
of S + e^t J/n each pair comes from S or from J/n: it has so many *lifted* pairs, those from J/n. Large t lifts all of
them, and the weight of those matchings is known: n!/n^n. Small t lifts none, and their weight is the permanent of S.
In between a matching with z lifted pairs counts e^(tz) times, so what is known at one t is carried to the next by the
numbers of lifted pairs that worms meet at both (Bennett's acceptance ratio). About pi sqrt(n) steps are enough.

Several independent runs start at matchings drawn exactly and cross on their own. Their spread is the error: a run that
is caught in a part of the matchings tells another number than the others.
"""

from collections.abc import Callable
from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.matching.edges import Edges
from unveil._kernels.matching.worm import choices
from unveil._kernels.threads import in_threads
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: More runs tell their spread better; larger blocks take half as many.
RUNS, FEWER_RUNS, _MOST_ROWS = 32, 16, 200
_PILOT_SWEEPS, _FIRST_SWEEPS, _LEAST_SWEEPS = 30, 20, 15
#: The share of matchings without a lifted pair at which the crossing ends, and the most steps it may take to get there.
_ENOUGH_UNLIFTED, _MOST_STEPS = 0.4, 4000
#: Choices up to which plain Python is quicker than the compiler.
_PLAIN_CHOICES = 20_000
#: Steps over the root of the number of rows: pi, and some more.
_STEPS = 4.0


class AnnealingEstimate(NamedTuple):
    """Estimated log-permanent with standard error; ``settled``: error target met."""

    log: float
    error: float
    settled: bool
    steps: int


class _AnnealingStep(NamedTuple):
    """Annealing step: log weight t of lifted pairs, and worms per sweep."""

    lift: float
    worms: float


def annealed(
    scaled: Edges, *, rng: np.random.Generator, error: float, budget: int = 100_000_000, runs: int | None = None
) -> AnnealingEstimate | None:
    """Return the log-permanent of a scaled block, or None on failure.

    Runs are repeated until the standard error is at most ``error``, or another repetition would take more than
    ``budget`` choices.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> block = as_edges(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]))
    >>> found = annealed(block, rng=np.random.default_rng(1), error=0.02, budget=200_000)
    >>> bool(abs(found.log - np.log(0.25)) < 4 * found.error)
    True
    """
    n, small = scaled.n, budget <= _PLAIN_CHOICES
    least = _STEPS * n**1.5 * _LEAST_SWEEPS  # what the shortest crossing takes
    runs = runs or (RUNS if n <= _MOST_ROWS and least * RUNS <= budget else FEWER_RUNS)
    if least * runs > budget:
        return None
    crawl = wander if small else compiled(wander)
    packed = (choices if small else compiled(choices))(scaled.start, scaled.column, scaled.weight)
    pilot, *own = rng.spawn(runs + 1)
    worm = _Worm(scaled, packed, crawl)
    ladder = _ladder(worm, pilot, budget, runs)
    if ladder is None:
        return None
    counts = np.zeros((runs, len(ladder), n + 1), np.int64)
    sweeps, spent = max(min(400 * _FIRST_SWEEPS / n, _FIRST_SWEEPS), _LEAST_SWEEPS), worm.choices
    while True:

        def crossed(run: int, sweeps: float = sweeps) -> int:
            return _Worm(scaled, packed, crawl).cross(ladder, sweeps, counts[run], own[run])

        used = sum(in_threads(crossed, range(runs), threads=1 if small else None))
        spent += used
        found = _estimate(counts, np.array([step.lift for step in ladder]))
        if found is not None and found.error <= error:
            return found
        if spent + 2 * used > budget:
            return None if found is None else found._replace(settled=False)
        sweeps *= 2


class _Worm:
    """Worm that moves a run's matchings and counts choices."""

    def __init__(self, edges: Edges, packed: IntArray, crawl: Callable[..., int]) -> None:
        self.edges, self.packed, self.crawl, self.choices = edges, packed, crawl, 0

    def start(self, rng: np.random.Generator) -> tuple[Int32Array, Int32Array, IntArray]:
        """Return initial row and column matches, and lifted rows."""
        mate = rng.permutation(self.edges.n).astype(np.int32)
        return mate, np.argsort(mate).astype(np.int32), np.ones(self.edges.n, np.int64)

    def move(
        self,
        lift: float,
        worms: int,
        state: tuple[Int32Array, Int32Array, IntArray],
        count: IntArray,
        rng: np.random.Generator,
    ) -> int:
        """Move by worms, count lifted pairs, and return the choices."""
        edges = self.edges
        done = self.crawl(edges.start, self.packed, 1 / (1 + exp(-lift)), *state, worms, count, rng)
        self.choices += done
        return done

    def cross(self, ladder: list[_AnnealingStep], sweeps: float, counts: IntArray, rng: np.random.Generator) -> int:
        """Go down the ladder once and return how many choices that took.

        At each step the first sweeps still know the one before and are not counted.
        """
        state, nowhere = self.start(rng), np.zeros(self.edges.n + 1, np.int64)
        for step, count in zip(ladder, counts, strict=True):
            self.move(step.lift, max(1, round(step.worms * max(sweeps / 4, 5))), state, nowhere, rng)
            self.move(step.lift, max(1, round(step.worms * sweeps)), state, count, rng)
        return self.choices


def _ladder(worm: _Worm, rng: np.random.Generator, budget: int, runs: int) -> list[_AnnealingStep] | None:
    """Return annealing steps with overlapping numbers of lifted pairs."""
    n = worm.edges.n
    state, lift = worm.start(rng), log(n / 0.7)
    steps: list[_AnnealingStep] = []
    while len(steps) < _MOST_STEPS and worm.choices * runs < 2 * budget:
        worms, choice, count = 0, 0, np.zeros(n + 1, np.int64)
        while choice < _PILOT_SWEEPS * n:
            more = max(1, worms)
            if worms <= 1:
                count[:] = 0  # the first worms still know the step before
            choice += worm.move(lift, more, state, count, rng)
            worms += more
        steps.append(_AnnealingStep(lift, worms * n / choice))
        total = count.sum()
        if count[0] >= _ENOUGH_UNLIFTED * total:
            return steps
        mean = float(count @ np.arange(n + 1)) / total
        spread = float(count @ (np.arange(n + 1) - mean) ** 2) / total
        lift -= 1 / max(spread, 0.1) ** 0.5
    return None


@loop("i8[], i8[], f8, i4[], i4[], i8[], i8, i8[], rng")
def wander(
    start: IntArray,
    packed: IntArray,
    share: float,
    mate: Int32Array,
    owner: Int32Array,
    lifted: IntArray,
    worms: int,
    count: IntArray,
    rng: np.random.Generator,
) -> int:
    """Run worms, add lifted-pair counts to ``count``, and return choices.

    A row chooses any column at all with the chance ``share``, which lifts it, and else as its weights say. ``mate``,
    ``owner`` and ``lifted`` (1 for rows whose pair is) change.
    """
    n = start.size - 1
    steps, high = 0, 0
    for row in range(n):
        high += lifted[row]
    for _ in range(worms):
        row = min(int(rng.random() * n), n - 1)
        hole = mate[row]
        while True:
            high -= lifted[row]
            if rng.random() < share:
                chosen = min(int(rng.random() * n), n - 1)
                lifted[row] = 1
                high += 1
            else:
                degree = start[row + 1] - start[row]
                place = rng.random() * degree
                k = min(int(place), degree - 1)
                code = packed[start[row] + k]
                chosen = code & 65535
                if (place - k) * 2147483647.0 < code >> 32:
                    chosen = (code >> 16) & 65535
                lifted[row] = 0
            mate[row] = chosen
            steps += 1
            pushed = owner[chosen]
            owner[chosen] = row
            if chosen == hole:
                break
            row = pushed
        count[high] += 1
    return steps


def _estimate(counts: IntArray, lift: FloatArray) -> AnnealingEstimate | None:
    """Return the joint estimate of all runs, with jackknife error."""
    whole, runs = counts.sum(axis=0), len(counts)
    values = _crossed(np.stack([whole, *(whole - one for one in counts)]), lift)
    if values is None:
        return None
    others = values[1:]
    spread = float(np.sqrt((runs - 1) / runs * ((others - others.mean()) ** 2).sum()))
    # Two of these hold as much as two standard deviations of the normal distribution, as Student's distribution has it.
    # Logarithms of shares are too low on average, and leaving out runs shows by how much (the jackknife).
    value = runs * float(values[0]) - (runs - 1) * float(others.mean())
    return AnnealingEstimate(value, (1 + 1.35 / (runs - 1)) * spread, True, lift.size)


def _crossed(counts: IntArray, lift: FloatArray) -> FloatArray | None:
    """Return the log weight ratio between both ends, or None.

    ``counts`` has one layer for each estimate that is wanted, a line for each step and a place for each number z of
    lifted pairs: the weight of z, times e^(tz), over the sum of that over z, is the share of matchings with z.
    """
    n = counts.shape[2] - 1
    shares = counts / counts.sum(axis=2, keepdims=True)
    if not ((shares[:, 0, n] > 0) & (shares[:, -1, 0] > 0)).all():
        return None
    value = lgamma(n + 1) - n * log(n) + n * float(lift[0]) - np.log(shares[:, 0, n])
    for k in range(lift.size - 1):
        value = value + _gain(shares[:, k], shares[:, k + 1], float(lift[k + 1] - lift[k]))
    return np.asarray(value + np.log(shares[:, -1, 0]))


def _gain(here: FloatArray, ahead: FloatArray, change: float) -> FloatArray:
    """Return the log weight differences between steps, by Bennett's equation.

    The mean of 1 / (1 + e^(gain - change z)) here is that of 1 / (1 + e^(change z - gain)) ahead.
    """
    seen = np.flatnonzero((here + ahead).any(axis=0))
    work, here, ahead = change * seen, here[:, seen], ahead[:, seen]
    low, high = np.full(len(here), work.min() - 50.0), np.full(len(here), work.max() + 50.0)
    while (high - low).max() > 1e-9:
        middle = (low + high) / 2
        kept = 1 / (1 + np.exp(np.clip(middle[:, None] - work, -700, 700)))
        above = (here * kept).sum(axis=1) > (ahead * (1 - kept)).sum(axis=1)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)

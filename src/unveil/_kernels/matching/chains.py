"""Independent worm chains with error bars for the expected cracks.

Each chain starts at a matching that knows nothing of the truth and first forgets it for many sweeps (a sweep is as many
choices as there are rows). Then it is counted about once a sweep: after a number of worms fixed beforehand, since to
stop at a given number of choices would favour matchings at the end of long worms. Standard errors come from the spread
of batch means within and between all chains: the largest of those with batches, pairs and fours of them, as short
batches of slow chains are too much alike. Errors are looked at rarely, because chains that stop as soon as one looks
small enough would stop where it is too small. R-hat compares halves of chains.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled
from unveil._kernels.matching.edges import Edges, edge_at
from unveil._kernels.matching.hall import random_matching
from unveil._kernels.matching.worm import choices, crawl
from unveil._kernels.random import fresh_state
from unveil._kernels.threads import available, in_threads
from unveil._kernels.types import FloatArray, Int32Array, IntArray

CHAINS = 4
_FORGET_SWEEPS = 50
#: Batches of each chain: between this and twice as many; neighbours are joined as the run grows.
_BATCHES = 16
_FIRST_SAMPLES = 16
#: Batches that every chain adds before the errors are looked at again.
_MORE = 4
#: Numbers of neighbouring batches that are joined to see whether they still vary together.
_JOINED = (1, 2, 4)
#: Edges up to which most of them are in a cache of the processor.
_MOST_NEAR = 1 << 19
#: Choices up to which plain Python is quicker than the compiler.
_PLAIN_CHOICES = 20_000


class SampledMatchings(NamedTuple):
    """Estimates from matchings sampled by worms, with standard errors.

    ``cracks`` are the numbers of cracks of the samples, one line per chain. ``log_weight_error`` is the standard error
    of the mean logarithm of the weight of a matching. ``r_hat`` is 1 where chains agree (NaN
    where the number of cracks never changes); ``effective`` is how many independent samples tell as much; ``settled``
    says whether the wanted precision was reached within the budget.
    """

    marginal: FloatArray
    crack_probability: FloatArray
    crack_probability_error: FloatArray
    expected_cracks: float
    expected_cracks_error: float
    log_weight_error: float
    cracks: IntArray
    r_hat: float
    effective: float
    settled: bool

    def distribution(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the distribution of cracks, 0 to n, with standard errors."""
        chance = np.bincount(self.cracks.ravel(), minlength=n + 1) / self.cracks.size
        return chance, _least_error(chance, self.effective)


def sample(
    scaled: Edges,
    truth: IntArray,
    *,
    rng: np.random.Generator,
    precision: float = 0.01,
    budget: int = 100_000_000,
    chains: int = CHAINS,
    samples: int = 2000,
) -> SampledMatchings:
    """Return the chain estimates of a matrix with sums near 1.

    They run until the standard error of the expected number of cracks is at most ``precision`` times that number (or,
    below one crack, ``precision``) and there are ``samples`` of them, or ``budget`` choices were made.
    ``truth`` is the true column of each row.
    """
    small = budget <= _PLAIN_CHOICES
    run = _Chains(scaled, truth, rng, chains, small)
    run.forget()
    run.extend(_FIRST_SAMPLES)
    while True:
        found = run.summary(precision)
        enough = found.cracks.size >= samples and found.settled and not found.r_hat > 1.05
        if enough or 2 * run.choices.sum() > budget:
            return found._replace(marginal=run.marginal())
        run.extend(_MORE)


class _Chains:
    """Resumable chains with their state."""

    def __init__(self, edges: Edges, truth: IntArray, rng: np.random.Generator, chains: int, small: bool) -> None:
        self.edges, self.truth = edges, truth
        self.crawl = crawl if small else compiled(crawl)
        self.packed = (choices if small else compiled(choices))(edges.start, edges.column, edges.weight)
        self.choices, self.worms, self.batch = np.zeros(chains, np.int64), 1, 1
        own = rng.spawn(chains)
        self.mate = np.stack([random_matching(edges, each) for each in own])
        self.owner = np.argsort(self.mate, axis=1).astype(np.int32)
        self.states = np.concatenate([fresh_state(each) for each in own])
        # Chains that take turns wait less for memory: two to a thread, or all of them where it is far away.
        groups = 1 if small or edges.weight.size > _MOST_NEAR else max(1, min(available(), chains // 2))
        self.groups = [slice(chains * k // groups, chains * (k + 1) // groups) for k in range(groups)]
        self.seen = np.zeros((groups, edges.weight.size), np.int32)
        self.rows = np.zeros((chains, 0, edges.n), np.int64)
        self.cracks = np.zeros((chains, 0), np.int64)
        self.score = np.log(edges.weight)
        self.scores = np.zeros((chains, 0))

    def _crawl(self, worms: int, seen: Int32Array, rows: IntArray, cracks: IntArray, scores: FloatArray) -> None:
        """Advance all chains and count results by group and batch."""

        def move(group: int) -> None:
            own = self.groups[group]
            self.crawl(
                self.edges.start, self.edges.column, self.packed, self.truth, self.score, self.mate[own],
                self.owner[own], worms, seen[group], rows[own].reshape(-1, self.edges.n), cracks[own], scores[own],
                self.choices[own], self.states[own],
            )  # fmt: skip

        in_threads(move, range(len(self.groups)))

    def forget(self) -> None:
        """Run burn-in sweeps, and measure worms per sweep."""
        n, chains, worms = self.edges.n, self.choices.size, 0
        nowhere = np.zeros_like(self.seen)
        while self.choices.min() < _FORGET_SWEEPS * n:
            more = max(1, worms)
            once = np.zeros((chains, 1), np.int64), np.zeros((chains, 1))
            self._crawl(more, nowhere, np.zeros((chains, 1, n), np.int64), *once)
            worms += more
        self.worms = max(1, round(n * worms / float(self.choices.mean())))

    def extend(self, times: int) -> None:
        """Add batches to every chain, pairing them up if too many."""
        chains, n = self.choices.size, self.edges.n
        if self.rows.shape[1] + times > 2 * _BATCHES:
            self.rows = self.rows.reshape(chains, -1, 2, n).sum(axis=2)
            self.batch *= 2
        rows = np.zeros((chains, times, n), np.int64)
        cracks, scores = np.zeros((chains, times * self.batch), np.int64), np.zeros((chains, times * self.batch))
        self._crawl(self.worms, self.seen, rows, cracks, scores)
        self.rows = np.concatenate([self.rows, rows], axis=1)
        self.cracks = np.concatenate([self.cracks, cracks], axis=1)
        self.scores = np.concatenate([self.scores, scores], axis=1)

    def marginal(self) -> FloatArray:
        """Return the share of samples that have each edge."""
        return np.asarray(self.seen.sum(axis=0) / self.cracks.size)

    def summary(self, precision: float) -> SampledMatchings:
        """Return the current estimates, except marginals."""
        total, chains = self.cracks.size, self.choices.size
        means = self.rows / self.batch
        expected = float(self.cracks.mean())
        error = float(_error_of_mean(means.sum(axis=2)))
        spread = float(self.cracks.var())
        effective = min(float(total), spread / error**2) if error > 0 else float(total)
        chance = means.mean(axis=(0, 1))
        if (edge_at(self.edges, self.truth) >= 0).any():
            # Few events tell their own variance badly, and none tell none: four more of them make up for it.
            error = float(np.hypot(error, 2 / total))
        return SampledMatchings(
            np.zeros(0),
            chance,
            np.maximum(_error_of_mean(means), _least_error(chance, effective)),
            expected,
            error,
            float(_error_of_mean(self.scores.reshape(chains, -1, self.batch).mean(axis=2))),
            self.cracks,
            r_hat(self.cracks),
            effective,
            error <= precision * max(1.0, expected),
        )


def _error_of_mean(batches: FloatArray) -> FloatArray:
    """Return the standard error of the mean over chains and batches.

    Two of it hold as much as two standard deviations of the normal distribution, as Student's distribution has it.
    Where rare events make up the mean, their number tells its own variance badly: four more events, of the size that
    the skewness shows, make up for it.
    """
    chains, many, *rest = batches.shape
    errors = []
    for joined in _JOINED:
        parts = many // joined
        means = batches[:, many - parts * joined :].reshape(chains * parts, joined, *rest).mean(axis=1)
        student = 1 + 1.35 / (len(means) - 1)
        apart = means - means.mean(axis=0)
        event = np.abs((apart**3).sum(axis=0)) / np.maximum((apart**2).sum(axis=0), np.finfo(np.float64).tiny)
        spread = student * means.std(axis=0, ddof=1) / np.sqrt(len(means))
        errors.append(np.hypot(spread, 2 * event / len(means)))
    return np.asarray(np.max(errors, axis=0))


def _least_error(chance: FloatArray, effective: float) -> FloatArray:
    """Return the standard error of shares of independent samples."""
    likely = (chance * effective + 1.0) / (effective + 2.0)
    return np.asarray(np.sqrt(likely * (1.0 - likely) / effective))


def r_hat(series: IntArray) -> float:
    """Return the split R-hat of chains, near 1 if converged.

    NaN where nothing ever changes, or there are fewer than four values to a chain.

    >>> round(r_hat(np.array([[1, 2, 1, 2, 1, 2], [5, 6, 5, 6, 5, 6]])), 1)
    4.1
    """
    half = series.shape[1] // 2
    if half < 2:
        return float("nan")
    parts = np.concatenate([series[:, :half], series[:, -half:]]).astype(np.float64)
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return float("nan") if between == 0.0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))

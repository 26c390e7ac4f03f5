"""How large a share of faulty generators do bounds of epsilon find, and how often do they accuse right ones?

    python -m benchmarks.epsilon [--repeats 1000]

The generators are the noisy histogram and the noisy chain, whose epsilon is known; the fault is that only a share of
the due noise is added. Both claim an epsilon of 1 for adding or removing a person. 1,000 people lie in 1,024 cells, as
often as Zipf's law says; canaries are people in cells where nobody else is, or the fewest are, and a canary's score is
the released count of its cell. All draws follow from one seed.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import polars as pl

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.metrics.epsilon.bound import EpsilonBound, replaced_to_added
from unveil.metrics.epsilon.coins import bound_of_coins, bound_of_pairs
from unveil.metrics.trials.risk import clopper_pearson
from unveil.protections import NoisyChain, NoisyHistogram
from unveil.protections.table._noisy_counts import ColumnLevels

SEED = 24
PEOPLE, CELLS, CLAIM = 1000, 1024, 1.0


class Plan(NamedTuple):
    """An audit: so many canaries in each of so many runs, of so many rows; who they are, and how they are scored."""

    canaries: int
    runs: int
    rows: int
    #: Where canaries lie: in the emptiest cells, or in any.
    unusual: bool = True
    #: Whether the number of other people in each cell is known and taken off.
    others_known: bool = False
    pairs: bool = False

    @property
    def words(self) -> str:
        """How tables call it."""
        who = "" if self.unusual else ", any cells"
        how = ", the others known" if self.others_known else ""
        number = f"{self.canaries} pairs" if self.pairs else "one canary" if self.canaries == 1 else f"{self.canaries}"
        return f"{number} x {self.runs}, {self.rows:,} rows{who}{how}"


PLANS = (
    Plan(200, 1, 10_000),
    Plan(400, 1, 10_000),
    Plan(200, 4, 10_000),
    Plan(400, 2, 10_000),
    Plan(400, 4, 10_000),
    Plan(400, 4, 1000),
    Plan(400, 8, 1000),
    Plan(1, 400, 1000),
    Plan(1, 800, 1000),
    Plan(200, 4, 10_000, pairs=True),
    Plan(400, 2, 10_000, pairs=True),
    Plan(400, 4, 10_000, unusual=False),
    Plan(400, 4, 10_000, unusual=False, others_known=True),
)
#: The chain: its numbers of columns, the levels of each, and the plan of an audit.
CHAINS, LEVELS, CHAIN_PLAN = (2, 3, 5), 32, Plan(100, 40, 10_000)


def released_levels(
    protection: NoisyHistogram | NoisyChain, people: IntArray, levels: int, rows: int, rng: np.random.Generator
) -> IntArray:
    """Return the levels of released rows, a line each, if people with these are given and columns have so many."""
    values = pl.Series("values", range(levels))
    axes = [ColumnLevels(values, False, None, column) for column in people.T]
    return np.column_stack(protection.drawn_levels(axes, rows, rng))


def audit(protection: NoisyHistogram, plan: Plan, rng: np.random.Generator) -> EpsilonBound:
    """Return the bound of one audit of the histogram, for adding or removing a person."""
    people = rng.permutation(CELLS)[by_zipf(CELLS, PEOPLE, rng)]
    others = np.bincount(people, minlength=CELLS)
    order = np.lexsort((rng.random(CELLS), others)) if plan.unusual else rng.permutation(CELLS)
    canaries = order[: plan.canaries * (1 + plan.pairs)]
    known = others[canaries] * plan.rows / PEOPLE if plan.others_known else np.zeros(canaries.size)
    runs: list[tuple[FloatArray, BoolArray]] = []
    for _ in range(plan.runs):
        coin = rng.random(plan.canaries) < 0.5
        is_in = np.concatenate([coin, ~coin]) if plan.pairs else coin
        given = np.concatenate([people, canaries[is_in]])
        released = released_levels(protection, given[:, None], CELLS, plan.rows, rng)
        runs.append((np.bincount(released[:, 0], minlength=CELLS)[canaries] - known, coin))
    if plan.pairs:
        pairs = [(scores[: coin.size], scores[coin.size :], coin) for scores, coin in runs]
        return replaced_to_added(bound_of_pairs(pairs, rng=rng))
    if plan.canaries == 1:
        # Its scores of all runs are comparable, and a run with one coin has none to choose from.
        runs = [(np.concatenate([scores for scores, _ in runs]), np.concatenate([coin for _, coin in runs]))]
    return bound_of_coins(runs, rng=rng)


def chain_audit(protection: NoisyChain, columns: int, rng: np.random.Generator) -> EpsilonBound:
    """Return the bound of one audit of the chain: canaries have two neighbouring values that nobody else has.

    A canary's score is how many released rows have them; its other values are anybody's.
    """
    plan, tables = CHAIN_PLAN, columns - 1
    people = np.column_stack([by_zipf(LEVELS, PEOPLE, rng) for _ in range(columns)])
    canaries = np.column_stack([by_zipf(LEVELS, plan.canaries, rng) for _ in range(columns)])
    first = np.arange(plan.canaries) % tables
    for table in range(tables):
        others = np.bincount(people[:, table] * LEVELS + people[:, table + 1], minlength=LEVELS**2)
        mine = np.flatnonzero(first == table)
        chosen = np.lexsort((rng.random(LEVELS**2), others))[: mine.size]
        canaries[mine, table], canaries[mine, table + 1] = np.divmod(chosen, LEVELS)
    who, runs = np.arange(plan.canaries), []
    planted = canaries[who, first] * LEVELS + canaries[who, first + 1]
    for _ in range(plan.runs):
        coin = rng.random(plan.canaries) < 0.5
        released = released_levels(protection, np.concatenate([people, canaries[coin]]), LEVELS, plan.rows, rng)
        counts = np.zeros((tables, LEVELS**2))
        for table in range(tables):
            counts[table] = np.bincount(released[:, table] * LEVELS + released[:, table + 1], minlength=LEVELS**2)
        runs.append((counts[first, planted], coin))
    return bound_of_coins(runs, rng=rng)


def by_zipf(levels: int, number: int, rng: np.random.Generator) -> IntArray:
    """Return drawn levels of which the first are the most frequent."""
    law = 1 / np.arange(1, levels + 1)
    return rng.choice(levels, number, p=law / law.sum())


def of_times(found: int, tries: int) -> str:
    """Return a share with its interval."""
    rate = clopper_pearson(found, tries)
    return f"{rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%})"


def histogram(repeats: int) -> Iterator[str]:
    """Yield the table of the noisy histogram: how often the fault is found, and the right one accused."""
    yield "| canaries x runs, rows out | audits | fault found | right one accused | mean bounds | most |"
    yield "|---|---:|---|---|---:|---:|"
    for place, plan in enumerate(PLANS):
        tries = max(20, repeats // 10) if plan.canaries == 1 else repeats
        bounds = []
        for noise in (0.5, 1.0):
            protection = NoisyHistogram(epsilon=CLAIM, noise=noise)
            rngs = (np.random.default_rng([SEED, place, int(2 * noise), each]) for each in range(tries))
            bounds.append([audit(protection, plan, rng) for rng in rngs])
        fault, right = (np.array([each.bound for each in some]) for some in bounds)
        counts = [of_times(int((some > CLAIM).sum()), tries) for some in (fault, right)]
        means = f"{fault.mean():.2f}, {right.mean():.2f} | {bounds[0][0].most:.2f}"
        yield f"| {plan.words} | {tries} | {' | '.join(counts)} | {means} |"


def chain(repeats: int) -> Iterator[str]:
    """Yield the table of the noisy chain, by its columns and the share of noise: how often the claim is refuted."""
    yield f"| columns | noise added | audits of {CHAIN_PLAN.words} | claim refuted | mean bound |"
    yield "|---:|---:|---:|---|---:|"
    tries = max(8, repeats // 25)
    for columns in CHAINS:
        for noise in (0.25, 0.5, 1.0):
            protection = NoisyChain(epsilon=CLAIM, noise=noise)
            rngs = (np.random.default_rng([SEED, 100 + columns, int(4 * noise), each]) for each in range(tries))
            found = np.array([chain_audit(protection, columns, rng).bound for rng in rngs])
            refuted = of_times(int((found > CLAIM).sum()), tries)
            yield f"| {columns} | {noise:g} | {tries} | {refuted} | {found.mean():.2f} |"


NOTHING: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, size: np.asarray(rng.normal(size=size)),
    "discrete": lambda rng, size: rng.integers(0, 3, size).astype(np.float64),
    "Cauchy": lambda rng, size: np.asarray(rng.standard_cauchy(size)),
}


def null(repeats: int) -> Iterator[str]:
    """Yield how often scores of 1,000 coins that tell nothing show something."""
    yield "| scores that tell nothing, 1,000 coins | audits | pairs: bound above 0 | coins: bound above 0 |"
    yield "|---|---:|---|---|"
    for place, (name, scores) in enumerate(NOTHING.items()):
        shown = np.zeros(2, np.int64)
        for each in range(repeats):
            rng = np.random.default_rng([SEED, 200 + place, each])
            coin: BoolArray = rng.random(1000) < 0.5
            shown += [
                bound_of_pairs([(scores(rng, 1000), scores(rng, 1000), coin)], rng=rng).bound > 0,
                bound_of_coins([(scores(rng, 1000), coin)], rng=rng).bound > 0,
            ]
        yield f"| {name} | {repeats} | {of_times(int(shown[0]), repeats)} | {of_times(int(shown[1]), repeats)} |"


def laplace(repeats: int) -> Iterator[str]:
    """Yield how often bounds hold for 500 coins that Laplace noise of a known size hides."""
    yield "| true epsilon, 500 coins | audits | coins: bound holds | mean | pairs: half of the bound holds | mean |"
    yield "|---:|---:|---|---:|---|---:|"
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        found = np.zeros((repeats, 2))
        for each in range(repeats):
            rng = np.random.default_rng([SEED, 300, int(2 * epsilon), each])
            coin, noise = rng.random(500) < 0.5, rng.laplace(0, 1 / epsilon, (2, 500))
            found[each] = (
                bound_of_coins([(coin + noise[0], coin)], rng=rng).bound,
                bound_of_pairs([(coin + noise[0], ~coin + noise[1], coin)], rng=rng).bound / 2,
            )
        held = (found <= epsilon).sum(axis=0)
        said = [f"{of_times(int(held[place]), repeats)} | {found[:, place].mean():.2f}" for place in (0, 1)]
        yield f"| {epsilon:g} | {repeats} | {' | '.join(said)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    for table in (null, laplace, histogram, chain):
        begin = time.process_time()
        for line in table(repeats):
            print(line, flush=True)
        print(f"\n{time.process_time() - begin:.0f} s CPU\n")


if __name__ == "__main__":
    main()

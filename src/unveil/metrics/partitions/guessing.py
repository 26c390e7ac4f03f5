"""Baseline of random partitions for an attacker."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import accumulate
from math import comb
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from unveil._figure import derived, figure
from unveil._kernels._compile import kernel
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics.partitions._evaluate import rank
from unveil.metrics.partitions._overall import overall_graphs
from unveil.metrics.partitions._tally import tallies
from unveil.metrics.partitions.distances import PartitionDistances
from unveil.metrics.partitions.unlinkability import (
    BREACHED_SHARE,
    INCLUDE,
    LINKED,
    MISS,
    MIXED,
    NORMALIZED_ERROR,
    RISK_SLOPE,
    UnlinkabilitySettings,
    policy_of,
)
from unveil.metrics.partitions.views import RANGES, Range, over_views

# Means over draws settle faster the more items there are, so large data need few draws.
MOST_DRAWS = 200
ITEMS_TO_DRAW = 200_000

#: Who guesses: every partition alike, clusters that grow item by item, clusters of given sizes, or a prior.
Guesser = Literal["uniform", "growing", "sizes", "prior"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Mean values of random guesses; NaN if undefined.

    ``draws`` is how many partitions were drawn, or how many the prior has.
    """

    guesser: Guesser = figure("Name of the guessing method.")
    draws: int = figure("Number of random guesses.")
    miss: float = figure(MISS)
    include: float = figure(INCLUDE)
    normalized_error: float = figure(NORMALIZED_ERROR)
    risk_slope: float = figure(RISK_SLOPE)
    breached_share: float = figure(BREACHED_SHARE)
    voi: float
    voi_normalized: float
    rand: float
    adjusted_rand: float
    bcubed_precision: float
    bcubed_recall: float
    mtd: float
    mtd_normalized: float

    @derived(inline=True)
    def distances(self) -> PartitionDistances:
        """The mean distances from the truth."""
        return PartitionDistances(**{each.name: getattr(self, each.name) for each in fields(PartitionDistances)})

    linked: FloatArray = figure(LINKED)
    mixed: FloatArray = figure(MIXED)
    ranges: tuple[Range, ...] = figure(RANGES)

    def range_of(self, quantity: str) -> Range:
        """Return the range of a named value."""
        return next(each for each in self.ranges if each.quantity == quantity)


def random_guessing(
    truth: Partition,
    *,
    rng: np.random.Generator,
    guesser: Literal["uniform", "growing"] = "uniform",
    like: Partition | View | None = None,
    prior: Partition | View | None = None,
    draws: int | None = None,
    progress: Callable[[float], None] | None = None,
    **settings: Unpack[UnlinkabilitySettings],
) -> Reference:
    """Return the mean results of random guesses against ``truth``.

    Parameters
    ----------
    truth
        What belongs together.
    rng
        Where guesses are drawn from.
    guesser
        ``"uniform"``: every set partition is equally likely. ``"growing"``: the non-uniform experiment of the paper's
        appendix A, in which a fair coin decides if an item starts a cluster or joins one of those there are, each
        equally likely. Items come in random order, because their given order may say who belongs together.
    like
        A guess whose clusters keep their sizes, while the items are dealt out to them again: what a person would get
        who knows how many clusters there are and how large, and nothing else. Of a view one partition is drawn each
        time.
    prior
        What an attacker holds before the attack. Its partitions count with their probabilities; nothing is drawn.
    draws
        How many partitions to draw: 200 by default, fewer beyond 1,000 items.
    progress
        Called with the share of the draws that is done.
    **settings
        Those of :func:`unveil.metrics.unlinkability`.

    Examples
    --------
    >>> truth = Partition.from_labels("aabb")
    >>> 0 <= random_guessing(truth, rng=np.random.default_rng(1)).breached_share <= 1
    True
    >>> same_sizes = Partition.from_labels("wxyz")
    >>> random_guessing(truth, like=same_sizes, rng=np.random.default_rng(1)).miss
    2.0
    """
    if like is not None and prior is not None:
        raise InputError("like and prior cannot be combined. Leave one out")
    if guesser not in ("uniform", "growing"):
        raise InputError("Unknown guesser. Use 'uniform' or 'growing', or pass like or prior")
    if draws is not None and draws < 1:
        raise InputError(f"draws is {draws}; guessing needs at least one. Pass 1 or more")
    draws = draws or min(MOST_DRAWS, max(1, ITEMS_TO_DRAW // truth.n))
    view = prior
    if view is None:
        guesses: list[Partition] = []
        for draw in range(draws):
            guesses.append(_drawn(like, truth, guesser, rng))
            if progress:
                progress((draw + 1) / draws)
        view = View(guesses, [f"1/{draws}"] * draws)
    over = over_views(view, truth, **settings)
    graphs = _graphs(view, truth, settings)
    return Reference(
        guesser="prior" if prior is not None else guesser if like is None else "sizes",
        draws=over.partitions,
        linked=graphs[0],
        mixed=graphs[1],
        ranges=over.ranges,
        **{each.quantity: each.mean for each in over.ranges},
    )


def _drawn(like: Partition | View | None, truth: Partition, guesser: Guesser, rng: np.random.Generator) -> Partition:
    if like is None and guesser == "growing":
        return shuffled_partition(growing_partition(truth.n, rng=rng), rng=rng)
    if like is None:
        return uniform_partition(truth.n, rng=rng)
    if isinstance(like, View):
        chances = np.array([float(probability) for probability in like.probabilities])
        like = like.partitions[int(rng.choice(chances.size, p=chances / chances.sum()))]
    return shuffled_partition(like, rng=rng)


def _graphs(view: Partition | View, truth: Partition, settings: UnlinkabilitySettings) -> tuple[FloatArray, FloatArray]:
    counted, policy = tallies(view, truth, settings.get("weights")), policy_of(truth, settings)
    rankings = [rank(tally, counted, policy.alpha) for tally in counted.guesses]
    return overall_graphs(counted, rankings, policy)


# Partitions drawn at random: what an attacker holds who only guesses, and guesses of every quality in between.

# Up to here whole numbers decide, which no rounding touches; the numbers grow too long to go much further.
_WHOLE_NUMBERS_UP_TO = 200

_STEPS_AT_ONCE = 1 << 20


def uniform_partition(n: int, *, rng: np.random.Generator) -> Partition:
    """Return a uniformly random partition of ``n`` items.

    Up to 200 items the draw is exact, with Bell numbers as whole numbers: the first item's cluster has k of n items
    with probability C(n-1, k-1) B(n-k) / B(n) (Nijenhuis and Wilf, "Combinatorial algorithms", 1978). Beyond, items
    are thrown into a random number of urns (Stam, "Generation of a random partition of a finite set by an urn model",
    1983), exact but for the rounding of that number's probabilities, whose relative error is below 1e-10. Ten
    million items take about a second. The cluster numbers carry no meaning.

    >>> uniform_partition(1, rng=np.random.default_rng(1))
    Partition(1 items in 1 clusters)
    """
    _require_items(n)
    if n > _WHOLE_NUMBERS_UP_TO:
        return _thrown_into_urns(n, rng)
    sizes = list(_exact_sizes(n, rng))
    return _numbered(rng.permutation(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)), len(sizes))


def growing_partition(n: int, *, rng: np.random.Generator) -> Partition:
    """Return a partition of ``n`` items, grown by fair random choices.

    Each choice decides whether an item starts a new cluster.

    If not, it joins one of the clusters there are, each equally likely whatever its size. The first item always starts
    a cluster. This is the non-uniform generator of the unlinkability paper's appendix: clusters are many and small, and
    older ones larger.

    >>> growing_partition(1000, rng=np.random.default_rng(1)).n
    1000
    """
    _require_items(n)
    starts = rng.integers(0, 2, n, dtype=np.bool_)
    starts[0] = True
    codes = np.cumsum(starts, dtype=np.int32)
    count = int(codes[-1])
    codes -= np.int32(1)  # right for items that start a cluster; the others see clusters 0 to this number
    joins = ~starts
    codes[joins] = rng.integers(0, codes[joins], dtype=np.int32, endpoint=True)
    return _numbered(codes, count)


def shuffled_partition(partition: Partition, *, rng: np.random.Generator) -> Partition:
    """Return a partition with the same cluster sizes and shuffled items.

    >>> shuffled_partition(Partition.from_labels("aaab"), rng=np.random.default_rng(1)).sizes
    array([3, 1])
    """
    return Partition(rng.permutation(partition.codes), partition.clusters, partition.items)


def walk_from(partition: Partition, steps: int, *, rng: np.random.Generator) -> Partition:
    """Return where a random walk of ``steps`` steps from the partition ends.

    The unlinkability paper walks but does not define a step; we read it so: one step takes an item, each equally
    likely, and moves it into one of the other clusters or into a new one of its own, each equally likely. An item that
    is alone already is not offered a new cluster, as it would not move: every step changes the partition (but for one
    item, where there is only one partition). Items keep their names; clusters are numbered again, without meaning.

    >>> walk_from(Partition.from_labels("ab"), 1, rng=np.random.default_rng(1)).sizes
    array([2])
    """
    if steps < 0:
        raise InputError(f"steps is {steps}; it must be at least 0. Pass 0 or more")
    codes = partition.codes.copy()
    sizes = np.zeros(partition.n, np.int32)
    sizes[: partition.cluster_count] = partition.sizes
    for done in range(0, steps if partition.n > 1 else 0, _STEPS_AT_ONCE):
        some = min(_STEPS_AT_ONCE, steps - done)
        _random_steps(codes, sizes, rng.integers(0, partition.n, some), rng.random(some))
    return _without_empty(codes, sizes > 0, partition.items)


def _require_items(n: int) -> None:
    if n < 1:
        raise InputError(f"n is {n}; a partition needs at least one item. Pass a number of items from 1 up")


def _numbered(codes: Int32Array, count: int, items: NDArray[np.generic] | None = None) -> Partition:
    return Partition(codes, np.arange(count), items)


def _without_empty(codes: Int32Array, used: BoolArray, items: NDArray[np.generic] | None = None) -> Partition:
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return _numbered(number[codes], int(number[-1]) + 1, items)


@cache
def _bell_numbers() -> tuple[int, ...]:
    """Return the Bell numbers, each the start of a Bell triangle row."""
    row, bell = [1], [1]
    for _ in range(_WHOLE_NUMBERS_UP_TO):
        bell.append(row[-1])
        row = list(accumulate(row, initial=row[-1]))
    return tuple(bell)


def _exact_sizes(n: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield the cluster sizes of a uniformly random partition."""
    bell = _bell_numbers()
    while n > 0:
        left = _below(bell[n], rng)
        size = 0
        while left >= 0:
            size += 1
            left -= comb(n - 1, size - 1) * bell[n - size]
        yield size
        n -= size


def _below(bound: int, rng: np.random.Generator) -> int:
    """Return a uniform random integer from 0 to ``bound - 1``."""
    bits = (bound - 1).bit_length()
    while True:
        number = int.from_bytes(rng.bytes((bits + 7) // 8), "little") >> (-bits % 8)
        if number < bound:
            return number


def _thrown_into_urns(n: int, rng: np.random.Generator) -> Partition:
    counts, probability = _urn_counts(n)
    urns = int(rng.choice(counts, p=probability))
    codes = rng.integers(0, urns, n, dtype=np.int32)
    used = np.zeros(urns, np.bool_)
    used[codes] = True
    return _without_empty(codes, used)


def _urn_counts(n: int) -> tuple[IntArray, FloatArray]:
    """Return possible urn numbers and their probabilities m**n / (e m! B(n)).

    Neither m**n nor n log m is ever formed (the latter's rounding alone would change a probability by 1e-8 for ten
    million items): from the most likely number on, logarithms of ratios of neighbors are summed, which are small
    there. What is left out has a probability below 1e-20.
    """

    def log_ratio(urns: IntArray) -> FloatArray:
        return n * np.log1p(1 / urns) - np.log1p(urns)

    low, high = 1, n + 1
    while low < high:  # the ratio falls as urns grow; the most likely number is the first where it is below 1
        middle = (low + high) // 2
        low, high = (middle + 1, high) if log_ratio(np.array(middle)) > 0 else (low, middle)
    # The spread is below sqrt(n) / log(m), so that 12 spreads are covered with ease; a few more serve a small n.
    reach = int(12 * n**0.5 / max(1.0, np.log(low))) + 40
    below, above = np.arange(max(1, low - reach), low), np.arange(low, low + reach)
    log_weight = np.concatenate([-np.cumsum(log_ratio(below)[::-1])[::-1], [0.0], np.cumsum(log_ratio(above))])
    weight = np.exp(log_weight)
    return np.concatenate([below, above, [low + reach]]), weight / weight.sum()


@kernel("i4[], i4[], i8[], f8[]")
def _random_steps(codes: Int32Array, sizes: Int32Array, item: IntArray, luck: FloatArray) -> None:
    """Move each item to the cluster that its random number selects.

    It changes codes and sizes. Numbers ``luck`` are from 0 to 1.

    ``sizes`` has room for as many clusters as there are items.
    """
    cluster = np.empty(sizes.size, np.int32)  # clusters in use first, then the empty ones
    place = np.empty(sizes.size, np.int32)  # where each cluster stands there
    count = 0
    empty = sizes.size
    for c in range(sizes.size):
        if sizes[c] > 0:
            place[c] = count
            count += 1
        else:
            empty -= 1
            place[c] = empty
        cluster[place[c]] = c
    for step in range(item.size):
        old = codes[item[step]]
        alone = sizes[old] == 1
        target = int(luck[step] * (count - 1 if alone else count))
        if target >= place[old]:  # the choice is among all places but its own; the place after the last is a new one
            target += 1
        new = cluster[target]
        codes[item[step]] = new
        sizes[old] -= 1
        sizes[new] += 1
        if target == count:
            count += 1
        if alone:
            count -= 1
            cluster[place[old]] = cluster[count]
            place[cluster[count]] = place[old]
            cluster[count] = old
            place[old] = count

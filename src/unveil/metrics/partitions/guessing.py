"""What guessing would give: the line an adversary must beat to have learned anything."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.guesses.random_partitions import growing_partition, shuffled_partition, uniform_partition
from unveil.metrics.partitions._evaluate import rank
from unveil.metrics.partitions._overall import overall_graphs
from unveil.metrics.partitions._tally import tallies
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings, policy_of
from unveil.metrics.partitions.views import Range, over_views

# Means over draws settle faster the more items there are, so large data need few draws.
MOST_DRAWS = 200
ITEMS_TO_DRAW = 200_000

#: Who guesses: every partition alike, clusters that grow item by item, clusters of given sizes, or a prior.
Guesser = Literal["uniform", "growing", "sizes", "prior"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Means over adversaries who guess; NaN where none of them has a value.

    ``ranges`` says of each figure between which values nine tenths of the guesses lie. ``draws`` is how many
    partitions were drawn, or how many the prior has.
    """

    guesser: Guesser
    draws: int
    miss: float
    include: float
    normalised_error: float
    risk_slope: float
    breached_share: float
    voi: float
    voi_normalised: float
    rand: float
    adjusted_rand: float
    bcubed_precision: float
    bcubed_recall: float
    mtd: float
    mtd_normalised: float
    linked: FloatArray
    mixed: FloatArray
    ranges: tuple[Range, ...]

    def range_of(self, quantity: str) -> Range:
        """Return the range of the figure of this name."""
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
    """Return what adversaries who only guess would achieve against ``truth``.

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
        A guess whose clusters keep their sizes, while the items are dealt out to them anew: what somebody would get who
        knows how many clusters there are and how large, and nothing else. Of a view one partition is drawn each time.
    prior
        What an adversary holds before the attack. Its partitions count with their probabilities; nothing is drawn.
    draws
        How many partitions to draw: 200 unless given, fewer beyond 1,000 items.
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
        raise InputError("guessing goes by the sizes of a guess or by a prior, but both were given. Leave one out")
    if guesser not in ("uniform", "growing"):
        raise InputError("guesser must be 'uniform' or 'growing'. Write one of them, or pass like or prior")
    if draws is not None and draws < 1:
        raise InputError(f"guessing needs at least one draw, but draws is {draws}. Pass 1 or more")
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

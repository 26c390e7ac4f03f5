"""Draw Figure 6: the risk slope of random walks that lead away from the truth, against the variation of information.

The paper does not define a step of the walk, nor which of its two extremes "the singleton partition" is. Here a step
moves one item (see ``walk_from``), and the singleton partition is the one with a single cluster that holds all items,
as where Section 3.1 calls a partition a singleton.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from figures import Point, curves_of, draw_undefined, mean_points, options, save

from unveil import Partition
from unveil.metrics import risk_slope_on, unlinkability, variation_of_information
from unveil.metrics.partitions.guessing import uniform_partition, walk_from

ITEMS = 200
LENGTHS = tuple(range(5, 100, 5)) + tuple(range(100, 1001, 25))
QUICK_LENGTHS = (10, 40, 100, 200, 400, 800)
# Longer walks have forgotten where they started: how far they are from it no longer depends on their length.
REMEMBERED = 300


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One cloud of points: which panel it belongs to, where its walks start, and the policy."""

    panel: str
    start: str
    alpha: str
    beta: float

    @property
    def curve(self) -> str:
        """What changes within the panel."""
        return {"a": f"truth: {self.start}", "b": f"α = {self.alpha}", "c": f"β = {self.beta:g}"}[self.panel]


SETTINGS = (
    Setting(panel="a", start="uniformly random", alpha="3/4", beta=0.8),
    Setting(panel="a", start="one cluster", alpha="3/4", beta=0.8),
    *(Setting(panel="b", start="uniformly random", alpha=alpha, beta=0.8) for alpha in ("1/4", "1/2", "3/4")),
    *(Setting(panel="c", start="uniformly random", alpha="3/4", beta=beta) for beta in (0.6, 0.8, 0.95)),
)

TITLES = {"a": "α = 3/4, β = 0.8", "b": "β = 0.8", "c": "α = 3/4"}


def measure(lengths: Sequence[int], runs: int, seed: int) -> list[Point]:
    """Return a point per walk, and the means over ``runs`` walks of each length, for each setting.

    All walks start at the same uniformly random partition, or at the one with a single cluster.
    """
    rng = np.random.default_rng(seed)
    starts = {
        "uniformly random": uniform_partition(ITEMS, rng=rng),
        "one cluster": Partition.from_labels(np.zeros(ITEMS, dtype=np.int64)),
    }
    walks: list[Point] = []
    by_length: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for start, truth in starts.items():
        settings = [setting for setting in SETTINGS if setting.start == start]
        for steps in np.repeat(lengths, runs).tolist():
            guess = walk_from(truth, steps, rng=rng)
            distance = variation_of_information(guess, truth)
            overall = {a: unlinkability(guess, truth, alpha=a).overall for a in {s.alpha: None for s in settings}}
            for setting in settings:
                one, beta = overall[setting.alpha], np.array([setting.beta])
                slope = float(risk_slope_on(one.linked, one.mixed, alpha=one.alpha, beta=beta)[0])
                undefined = float(np.isnan(slope))
                panel = setting.panel if steps <= REMEMBERED else f"{setting.panel} long"
                walks.append(Point(panel=panel, curve=setting.curve, x=distance, y=slope, undefined=undefined))
                by_length[f"{setting.panel} by length", setting.curve, steps].append(slope)
    return walks + mean_points(by_length)


def rank_correlation(points: Sequence[Point]) -> float:
    """Return Spearman's rank correlation of x and y over the points that have a value."""
    from scipy.stats import spearmanr

    known = [(point.x, point.y) for point in points if not point.undefined]
    return float(spearmanr(known).statistic) if len(known) > 2 else float("nan")


def describe(points: Sequence[Point], panel: str, curve: str) -> str:
    """Return the rank correlations of one cloud, and the lengths up to which walks have no risk slope."""
    by_length = curves_of(points, f"{panel} by length")[curve]
    never = [point.x for point in by_length if point.undefined == 1]
    sometimes = [point.x for point in by_length if point.undefined > 0]
    short, far = curves_of(points, panel)[curve], curves_of(points, f"{panel} long")[curve]
    return (
        f"({panel}) {curve:<23} Spearman {rank_correlation(short + far):+.3f}, up to {REMEMBERED} steps "
        f"{rank_correlation(short):+.3f}; no risk slope in all walks up to {max(never, default=0):g} steps, "
        f"in some up to {max(sometimes, default=0):g}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the rank correlations and draw."""
    chosen = options("Draw Figure 6.", arguments, runs=8)
    points = measure(QUICK_LENGTHS if chosen.quick else LENGTHS, chosen.runs, chosen.seed)
    for setting in SETTINGS:
        print(describe(points, setting.panel, setting.curve))
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(2, 3, figsize=(13, 7.5), height_ratios=(3, 1), layout="constrained")
    for column, panel in enumerate("abc"):
        above, below = grid[:, column]
        for index, (curve, short) in enumerate(curves_of(points, panel).items()):
            far = curves_of(points, f"{panel} long")[curve]
            label = f"{curve}: {rank_correlation(short):.3f} ({rank_correlation(short + far):.3f})"
            style = {"linestyle": "", "color": f"C{index}"}
            for cloud, opacity, name in ((far, 0.25, None), (short, 1.0, label)):
                known = [point for point in cloud if not point.undefined]
                x, y = [point.x for point in known], [point.y for point in known]
                above.plot(x, y, marker=".", markersize=3, alpha=opacity, label=name, **style)
            gone = [point.x for point in short + far if point.undefined]
            above.plot(gone, [1.03 + 0.03 * index] * len(gone), marker="|", markersize=5, **style)
        above.set(
            title=f"({panel}) {TITLES[panel]}",
            xlabel="variation of information, bits",
            ylim=(0, 1.42),
            yticks=(0, 0.5, 1),
        )
        above.grid(alpha=0.3)
        above.legend(
            fontsize=8, markerscale=4, title=f"rank correlation up to {REMEMBERED} steps (all)", title_fontsize=8
        )
        draw_undefined(below, points, f"{panel} by length")
        below.set(xlabel="steps of the walk", xscale="log", ylabel="share without Δ")
    grid[0, 0].set_ylabel("risk slope Δ (ticks above 1: already breached)")
    save(figure, points, "figure_6", chosen)


if __name__ == "__main__":
    main()

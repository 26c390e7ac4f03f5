"""Draw Figure 5: how the risk slope and two distances behave for random partitions as the number of items grows."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from figures import Point, draw_curves, draw_undefined, mean_points, options, save

from unveil.metrics import partition_distances, risk_slope_on, unlinkability
from unveil.metrics.partitions.guessing import uniform_partition

ALPHAS = ("1/3", "2/3")
BETAS = np.array([0.7, 0.8])
SIZES = (5, 7, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200)
QUICK_SIZES = (10, 40, 100)


def measure(sizes: Sequence[int], runs: int, seed: int) -> list[Point]:
    """Return means over ``runs`` pairs of uniformly random partitions of each size."""
    values: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for n in sizes:
        rng = np.random.default_rng([seed, n])
        for _ in range(runs):
            truth, guess = uniform_partition(n, rng=rng), uniform_partition(n, rng=rng)
            for alpha in ALPHAS:
                overall = unlinkability(guess, truth, alpha=alpha).overall
                slopes = risk_slope_on(overall.linked, overall.mixed, alpha=overall.alpha, beta=BETAS)
                for beta, slope in zip(BETAS, slopes.tolist(), strict=True):
                    values["slope", f"Δ, α = {alpha}, β = {beta:g}", n].append(slope)
                falls = float(slopes[0] > slopes[1]) if not np.isnan(slopes).any() else float("nan")
                values["share of runs", f"Δ(0.7) > Δ(0.8), α = {alpha}", n].append(falls)
            distances = partition_distances(guess, truth)
            values["distance", "variation of information / log₂ n", n].append(distances.voi_normalized)
            values["distance", "minimal transfer distance / (n − 1)", n].append(distances.mtd_normalized)
    return mean_points(values)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a few points and draw."""
    chosen = options("Draw Figure 5.", arguments, runs=300)
    points = measure(QUICK_SIZES if chosen.quick else SIZES, chosen.runs, chosen.seed)
    for point in points:
        if point.x in QUICK_SIZES:
            print(f"n = {point.x:>3}  {point.curve:<36} {point.y:.3f}  undefined in {point.undefined:.0%} of runs")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(8, 7), height_ratios=(4, 1), sharex=True, layout="constrained"
    )
    draw_curves(above, points, "slope", marker="o")
    draw_curves(above, points, "distance", marker="s", colours=("0.1", "0.55"))
    above.set(
        title=f"Uniformly random partitions, mean of {chosen.runs} runs (dotted: most runs have no Δ)", ylim=(0, 1)
    )
    above.grid(alpha=0.3)
    above.legend(fontsize=9, ncols=2, loc="upper right")
    draw_undefined(below, points, "slope")
    below.set(xlabel="number of items n", ylabel="share of runs\nwithout Δ")
    save(figure, points, "figure_5", chosen)


if __name__ == "__main__":
    main()

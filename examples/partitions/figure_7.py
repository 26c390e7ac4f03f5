"""Draw Figure 7: errors and risk slopes of adversaries who guess at random, uniformly or by tossing coins."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from figures import Point, alpha_colours, curves_of, draw_curves, draw_undefined, mean_points, options, save

from unveil import Partition
from unveil.metrics import OverallUnlinkability, risk_slope_on, unlinkability
from unveil.metrics.partitions.guessing import growing_partition, uniform_partition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHAS = ("0", "1/3", "1/2", "2/3", "1")
# The paper says that include errors overtake miss errors at high alpha, "say, above 90%": looked at, but not drawn.
MORE_ALPHAS = ("3/4", "17/20", "9/10", "19/20")
BETAS = np.arange(2, 101, 2) / 100
THRESHOLD = "4/5"
SIZES = (5, 10, 20, 30, 40, 50, 75, 100)
QUICK_SIZES = (10, 50)
ITEMS_FOR_BETA = 50
GENERATORS: dict[str, Callable[..., Partition]] = {"uniform": uniform_partition, "non-uniform": growing_partition}

Values = dict[tuple[str, str, float], list[float]]


def measure(sizes: Sequence[int], runs: int, seed: int) -> list[Point]:
    """Return means over ``runs`` pairs of random partitions of each size, from both generators."""
    values: Values = defaultdict(list)
    for index, (kind, generator) in enumerate(GENERATORS.items()):
        for n in sizes:
            rng = np.random.default_rng([seed, index, n])
            for _ in range(runs):
                truth, guess = generator(n, rng=rng), generator(n, rng=rng)
                for alpha in ALPHAS + (MORE_ALPHAS if n == ITEMS_FOR_BETA else ()):
                    note(values, kind, alpha, n, unlinkability(guess, truth, alpha=alpha, beta=THRESHOLD).overall)
    return mean_points(values)


def note(values: Values, kind: str, alpha: str, n: int, overall: OverallUnlinkability) -> None:
    """Note the figures of one run."""
    curve = f"α = {alpha}"
    drawn = "" if alpha in ALPHAS else ", more alphas"
    values[f"{kind} miss{drawn}", curve, n].append(overall.miss)
    values[f"{kind} include{drawn}", curve, n].append(overall.include)
    values[f"{kind} include - miss{drawn}", curve, n].append(overall.include - overall.miss)
    if drawn:
        return
    values[f"{kind} error", curve, n].append(overall.normalized_error)
    values[f"{kind} slope", curve, n].append(overall.risk_slope)
    if n == ITEMS_FOR_BETA:
        values[f"{kind} linked0", curve, n].append(float(overall.linked[0]))
        slopes = risk_slope_on(overall.linked, overall.mixed, alpha=overall.alpha, beta=BETAS)
        for beta, slope in zip(BETAS.tolist(), slopes.tolist(), strict=True):
            values[f"{kind} slope by beta", curve, beta].append(slope)


def table(points: Sequence[Point], kind: str) -> Iterator[str]:
    """Yield a line for each alpha: the means at the size at which beta varies."""
    for curve in curves_of(points, f"{kind} error"):
        found = {
            name: next(p for p in curves_of(points, f"{kind} {name}")[curve] if p.x == ITEMS_FOR_BETA)
            for name in ("miss", "include", "error", "slope")
        }
        numbers = ", ".join(f"{name} {point.y:.4g}" for name, point in found.items())
        yield f"{curve}: {numbers} (undefined in {found['slope'].undefined:.0%} of runs)"
    for curve, members in curves_of(points, f"{kind} include - miss, more alphas").items():
        yield f"{curve}: include - miss {members[0].y:+.2f} ± {members[0].standard_error:.2f}"


def draw_kind(column: Sequence["Axes"], points: Sequence[Point], kind: str) -> None:
    """Draw one column: errors, combined error, risk slope by n and by beta, each slope with what it leaves out."""
    errors, combined, by_size, lost_by_size, by_beta, lost_by_beta = column
    colours = alpha_colours(len(ALPHAS))
    ticks = (0.01, 0.02, 0.05, 0.1, 0.2)
    draw_curves(errors, points, f"{kind} miss", colours=colours, marker="o")
    errors.legend(fontsize=8, loc="upper left")
    draw_curves(errors, points, f"{kind} include", colours=colours, marker="x", linestyle="--")
    errors.set(title=f"{kind}: miss (solid) and include (dashed)", ylabel="errors")
    draw_curves(combined, points, f"{kind} error", colours=colours, marker="o")
    combined.set(
        title="combined error e*", ylabel="e* (log scale)", yscale="log", yticks=ticks, yticklabels=map(str, ticks)
    )
    combined.minorticks_off()
    draw_curves(by_size, points, f"{kind} slope", colours=colours, marker="o")
    by_size.set(title="risk slope, β = 0.8 (dotted: most runs undefined)", ylabel="Δ", ylim=(0, 1))
    draw_undefined(lost_by_size, points, f"{kind} slope", colours=colours)
    draw_curves(by_beta, points, f"{kind} slope by beta", colours=colours)
    by_beta.set(title=f"risk slope, n = {ITEMS_FOR_BETA} (dotted: most runs undefined)", ylabel="Δ", ylim=(0, 1))
    draw_undefined(lost_by_beta, points, f"{kind} slope by beta", colours=colours)
    for axes in (errors, combined, by_size, lost_by_size):
        axes.set_xlabel("number of items n")
    for axes in (by_beta, lost_by_beta):
        axes.set(xlabel="threshold β", xlim=(0, 1))
    for axes in column:
        axes.grid(visible=True, alpha=0.3)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a few points and draw."""
    chosen = options("Draw Figure 7.", arguments, runs=300)
    points = measure(QUICK_SIZES if chosen.quick else SIZES, chosen.runs, chosen.seed)
    for kind in GENERATORS:
        print(f"{kind}, n = {ITEMS_FOR_BETA}:")
        for line in table(points, kind):
            print(f"  {line}")
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(
        6, 2, figsize=(10, 16), height_ratios=(3, 3, 3, 1, 3, 1), sharey="row", layout="constrained"
    )
    for column, kind in enumerate(GENERATORS):
        draw_kind(grid[:, column], points, kind)
    figure.suptitle(f"Adversaries who guess at random, mean of {chosen.runs} runs")
    save(figure, points, "figure_7", chosen)


if __name__ == "__main__":
    main()

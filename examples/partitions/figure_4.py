"""Draw Figure 4: two adversaries against 24 items of four subjects, and what their partitions put at risk.

The paper shows the two partitions only as a drawing. Those used here are samples inside the package that agree with
every number it prints.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from figures import Floats, Point, alpha_colours, draw_curves, options, save

from unveil import Partition
from unveil.data.samples import path
from unveil.metrics import Unlinkability, risk_slope_on, unlinkability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRAPH_ALPHAS = ("0", "1/3", "2/3", "1")
SLOPE_ALPHAS = ("0", "1/3", "1/2", "2/3", "1")
BETAS = np.arange(1, 101) / 100
QUICK_BETAS = np.arange(1, 21) / 20
MARKERS = {"triangles": "^", "squares": "s", "circles": "o", "stars": "*"}
# Each adversary, what the paper calls it, and the threshold at which it looks at the stars.
ADVERSARIES = {"careful": ("conservative", Fraction(9, 10)), "bold": ("liberal", Fraction(7, 10))}


def sample(name: str) -> Partition:
    """Return a partition of the 24 items from the package's samples."""
    import polars as pl

    frame = pl.read_csv(path(f"partition_{name}.csv"))
    return Partition.from_labels(frame["cluster"], items=frame["item"])


def points_of(name: str, guess: Partition, truth: Partition, stars: Unlinkability, betas: Floats) -> list[Point]:
    """Return the points of all curves that belong to one adversary."""
    subject = truth.clusters.tolist().index("stars")
    found = graph_points(f"{name} stars", "", *stars.graphs(subject))
    found.append(
        Point(panel=f"{name} stars", curve="risk slope", x=stars.overall.beta, y=float(stars.risk_slope[subject]))
    )
    for alpha in SLOPE_ALPHAS:
        overall = unlinkability(guess, truth, alpha=alpha).overall
        if alpha in GRAPH_ALPHAS:
            found += graph_points(f"{name} overall", f", α = {alpha}", overall.linked, overall.mixed)
        slopes = risk_slope_on(overall.linked, overall.mixed, alpha=overall.alpha, beta=betas)
        found += [
            Point(panel=f"{name} slope", curve=f"α = {alpha}", x=beta, y=slope, undefined=float(np.isnan(slope)))
            for beta, slope in zip(betas.tolist(), slopes.tolist(), strict=True)
        ]
    return found


def graph_points(panel: str, suffix: str, linked: Floats, mixed: Floats) -> list[Point]:
    """Return the points of a linked and a mixed graph."""
    graphs = {f"linked{suffix}": linked.tolist(), f"mixed{suffix}": mixed.tolist()}
    return [Point(panel=panel, curve=curve, x=x, y=y) for curve, graph in graphs.items() for x, y in enumerate(graph)]


def draw_partition(axes: "Axes", guess: Partition, truth: Partition) -> None:
    """Draw each cluster of the guess as a box around the items that the adversary puts together."""
    from matplotlib.patches import FancyBboxPatch

    left = 0.0
    for cluster in np.argsort(-guess.sizes, kind="stable"):
        subjects = np.sort(truth.codes[guess.codes == cluster])
        columns = -(-subjects.size // 3)
        axes.add_patch(
            FancyBboxPatch((left, 0), columns, 3, boxstyle="round,pad=0.1", facecolor="none", edgecolor="0.5")
        )
        for place, subject in enumerate(subjects):
            at = (left + place // 3 + 0.5, 2.5 - place % 3)
            axes.plot(*at, marker=MARKERS[truth.clusters[subject]], color=f"C{subject}", markersize=10)
        left += columns + 0.5
    axes.set(xlim=(-0.5, left), ylim=(-0.4, 3.4), aspect="equal")
    axes.axis("off")


def draw_stars(axes: "Axes", points: list[Point], name: str, stars: Unlinkability, subject: int) -> None:
    """Draw the graphs of the stars with the two vectors whose slopes make the risk slope."""
    draw_curves(axes, [p for p in points if p.curve != "risk slope"], f"{name} stars", marker="o")
    linked, mixed = stars.graphs(subject)
    x, beta = float(stars.merges[subject]), float(stars.beta[subject])
    for curve, (y, word) in enumerate([(beta, "linked"), (float(np.interp(x, range(mixed.size), mixed)), "mixed")]):
        axes.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": f"C{curve}", "linewidth": 1.5})
        axes.text(x + 0.06, y - 0.07, f"β-{word} ({x:.2f}, {y:.2f})", color=f"C{curve}", fontsize=8)
    axes.plot([0, x, x], [beta, beta, 0], color="0.6", linestyle=":", linewidth=1)
    axes.set(
        title=f"stars, α = 1/2, β = {beta:g}: risk slope {stars.risk_slope[subject]:.2%}",
        xlim=(-0.1, linked.size - 1 + 0.6),
        xticks=range(linked.size),
    )


def draw_overall(axes: "Axes", points: list[Point], name: str) -> None:
    """Draw the overall graphs: linked solid, mixed dashed; thinner for larger alpha, so that none hides another."""
    colours = alpha_colours(len(GRAPH_ALPHAS))
    for k, alpha in enumerate(GRAPH_ALPHAS):
        for word, line in (("linked", "-"), ("mixed", "--")):
            one = [point for point in points if point.curve == f"{word}, α = {alpha}"]
            draw_curves(axes, one, f"{name} overall", colours=[colours[k]], linestyle=line, linewidth=5 - 1.2 * k)
    axes.set(
        title="average subject",
        xticks=range(sum(p.panel == f"{name} overall" and p.curve == "linked, α = 0" for p in points)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the figure, and print the numbers that the paper prints."""
    chosen = options("Draw Figure 4.", arguments, runs=0)
    from matplotlib import pyplot

    truth = sample("truth")
    subject = truth.clusters.tolist().index("stars")
    figure, grid = pyplot.subplots(4, 2, figsize=(10, 13), height_ratios=(1, 2, 2, 2), layout="constrained")
    everything: list[Point] = []
    for column, (name, (kind, beta)) in enumerate(ADVERSARIES.items()):
        guess = sample(f"guess_{name}")
        stars = unlinkability(guess, truth, alpha="1/2", beta=beta)
        points = points_of(name, guess, truth, stars, QUICK_BETAS if chosen.quick else BETAS)
        everything += points
        overall = stars.overall
        print(f"{name}: miss {overall.miss:g}, include {overall.include:g}, {overall.kind} (the paper says {kind});")
        print(f"  risk slope of the stars at beta {float(beta):g}: {stars.risk_slope[subject]:.5f}")
        whole = "undefined, already breached" if overall.breached else f"{overall.risk_slope:.5f}"
        print(f"  risk slope of the average subject, which the paper's symbols mean: {whole}")
        draw_partition(grid[0, column], guess, truth)
        grid[0, column].set_title(f"{name} adversary: {overall.miss:g} missed, {overall.include:g} included ({kind})")
        draw_stars(grid[1, column], points, name, stars, subject)
        draw_overall(grid[2, column], points, name)
        draw_curves(grid[3, column], points, f"{name} slope", colours=alpha_colours(len(SLOPE_ALPHAS)))
        grid[3, column].set(title="average subject; no line: already breached", xlabel="threshold β", xlim=(0, 1))
    for axes in grid[1:3].flat:
        axes.set(xlabel="merges", ylabel="share of items", ylim=(-0.05, 1.08))
    for axes in grid[3]:
        axes.set(ylabel="risk slope Δ", ylim=(0, 1))
    for axes in grid[1:].flat:
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7, ncols=2, loc="lower right" if axes in grid[2] else "best")
    save(figure, everything, "figure_4", chosen)


if __name__ == "__main__":
    main()

"""Draw Figure 2.4: permanent and expected cracks of every attack graph on five items that contains the truth."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matching_figures import Integers, options, save_picture, truths, write_numbers

from unveil.data import samples
from unveil.data.matrices.matchings import read_ranges, read_transactions, read_truth
from unveil.guesses.matching import Matching
from unveil.metrics.matchings.cracks import cracks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The matrices of Figure 2.4 (b) and (c), on which the two metrics disagree.
MATRIX_B = ((0, 0, 1, 1, 1), (0, 1, 0, 1, 1), (0, 1, 0, 0, 1), (1, 0, 1, 0, 0), (1, 1, 0, 0, 0))
MATRIX_C = ((1, 1, 1, 1, 0), (1, 0, 0, 1, 0), (1, 0, 0, 0, 1), (1, 1, 1, 1, 1), (1, 1, 0, 0, 0))


class Points(NamedTuple):
    """The distinct points: permanent, cracks summed over all matchings, and how many graphs lie there."""

    permanent: Integers
    cracks: Integers
    graphs: Integers


class Agreement(NamedTuple):
    """Of all pairs of different graphs: the share on which the metrics agree, disagree, or one of them is silent."""

    agree: float
    disagree: float
    only_permanent_ties: float
    only_cracks_tie: float
    both_tie: float


def all_points(n: int) -> Points:
    """Return the points of all graphs on ``n`` items that contain the truth, counted exactly.

    A graph is a number whose bits are its edges beside the true ones. Each matching is put at the graph of its own
    edges; then one sum per bit carries it to every graph that has these edges and more.
    """
    edge = {place: k for k, place in enumerate((i, j) for i in range(n) for j in range(n) if i != j)}
    permanent, total = (np.zeros(1 << len(edge), np.int64) for _ in range(2))
    for matching in truths(n).tolist():
        graph = sum(1 << edge[i, j] for i, j in enumerate(matching) if i != j)
        permanent[graph] += 1
        total[graph] += sum(i == j for i, j in enumerate(matching))
    for bit in range(len(edge)):
        for values in (permanent, total):
            halves = values.reshape(-1, 2, 1 << bit)
            halves[:, 1] += halves[:, 0]
    # No matching has more than n cracks, so the pair fits one number.
    base = n * len(truths(n)) + 1
    both, graphs = np.unique(permanent * base + total, return_counts=True)
    return Points(both // base, both % base, graphs)


def agreement(points: Points) -> Agreement:
    """Return on which share of pairs of graphs a larger permanent goes with fewer expected cracks, and so on."""
    permanent, total, graphs = points
    larger = np.sign(permanent[:, None] - permanent)
    # Fractions are compared by cross-multiplying, so that equal ones are equal.
    more = np.sign(total[:, None] * permanent - total * permanent[:, None])
    pairs = np.multiply.outer(graphs, graphs) - np.diag(graphs)
    cases = (larger * more < 0, larger * more > 0, (larger == 0) & (more != 0), (larger != 0) & (more == 0))
    agree, disagree, permanent_ties, cracks_tie = (float(pairs[case].sum() / pairs.sum()) for case in cases)
    both_tie = 1 - agree - disagree - permanent_ties - cracks_tie
    return Agreement(agree, disagree, permanent_ties, cracks_tie, both_tie)


def place(attack: Matching, truth: Integers) -> tuple[int, int]:
    """Return the permanent of a 0/1 matrix and the cracks of all its matchings, from unveil's own answer."""
    found = cracks(attack, truth, rng=np.random.default_rng(0))
    count = round(np.exp(found.log_permanent.value))
    return count, round(found.expected_cracks.value * count)


def printed_places() -> dict[str, tuple[int, int]]:
    """Return where the graphs that the thesis prints lie: the hospital unit of Figure 2.2, and Figures 2.4 (b), (c)."""
    ranges = read_ranges(samples.path("matching_ranges.csv"))
    seen = read_transactions(samples.path("matching_transactions.csv"))
    hospital = Matching.from_ranges(
        ranges.low, ranges.high, seen.frequency, items=ranges.items, pseudonyms=seen.pseudonyms
    )
    truth = read_truth(samples.path("matching_truth.csv"), hospital)
    return {
        "hospital": place(hospital, truth),
        "2.4 (b)": place(Matching.from_matrix(MATRIX_B), truth),
        "2.4 (c)": place(Matching.from_matrix(MATRIX_C), truth),
    }


def widest_disagreement(points: Points) -> tuple[int, int]:
    """Return the two points between which the permanent grows most, as a ratio, though the expected cracks do too."""
    expected = points.cracks / points.permanent
    pairs = (
        (points.permanent[b] / points.permanent[a], a, b)
        for a, b in combinations(range(len(expected)), 2)
        if points.permanent[b] > points.permanent[a] and expected[b] > expected[a]
    )
    _, a, b = max(pairs, key=lambda pair: (pair[0], -pair[1], -pair[2]))
    return a, b


def draw(axes: "Axes", points: Points, n: int) -> None:
    """Draw each point in the colour of how many graphs lie there."""
    from matplotlib.colors import LogNorm

    order = np.argsort(points.graphs)
    drawn = axes.scatter(
        points.permanent[order],
        (points.cracks / points.permanent)[order],
        c=points.graphs[order],
        norm=LogNorm(),
        cmap="viridis_r",
        s=18,
    )
    axes.figure.colorbar(drawn, ax=axes, label="graphs at this point")
    axes.set_xscale("log")
    ticks = [1, 2, 5, 10, 20, 50, int(points.permanent.max())]
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.set(
        title=f"All {points.graphs.sum():,} attack graphs on {n} items: {len(points.graphs)} distinct points",
        xlabel="permanent = number of matchings that look possible (more: safer by d)",
        ylabel="expected cracks ε (fewer: safer by ε)",
    )
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)


def mark(axes: "Axes", where: tuple[float, float], label: str, offset: tuple[float, float]) -> None:
    """Point at one place of the picture."""
    axes.plot(*where, marker="o", markersize=9, markerfacecolor="none", markeredgecolor="crimson")
    arrow = {"arrowstyle": "-", "color": "crimson"}
    axes.annotate(label, where, offset, textcoords="offset points", arrowprops=arrow, color="crimson")


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, print what the picture cannot show, and draw."""
    chosen = options("Draw Figure 2.4.", small="graphs on four items instead of five").parse_args(arguments)
    n = 4 if chosen.small else 5
    points = all_points(n)
    permanent, total, graphs = (column.tolist() for column in points)
    expected = [c / p for p, c in zip(permanent, total, strict=True)]
    print(f"graphs {sum(graphs)}  distinct points {len(graphs)}")
    for name, share in agreement(points)._asdict().items():
        print(f"pairs {name} {share:.6f}")
    at_five = [e for p, e in zip(permanent, expected, strict=True) if p == 5]
    print(f"permanent 5 expected cracks from {min(at_five):.4f} to {max(at_five):.4f}")
    low, high = widest_disagreement(points)
    print(f"widest disagreement <{permanent[low]}, {expected[low]:g}> and <{permanent[high]}, {expected[high]:g}>")
    rows = zip(permanent, total, expected, graphs, strict=True)
    columns = ("permanent", "cracks_of_all_matchings", "expected_cracks", "graphs")
    write_numbers([dict(zip(columns, row, strict=True)) for row in rows], "figure_2_4", chosen.out)
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    draw(axes, points, n)
    if not chosen.small:
        offsets = {"hospital": (-110, -62), "2.4 (b)": (-45, -45), "2.4 (c)": (25, 25)}
        for name, (count, cracked) in printed_places().items():
            print(f"{name} permanent {count} expected cracks {cracked}/{count}")
            mark(axes, (count, cracked / count), f"{name}: ⟨{count}, {cracked / count:.4g}⟩", offsets[name])
        mark(axes, (permanent[high], expected[high]), f"⟨{permanent[high]}, {expected[high]:g}⟩", (25, 35))
    save_picture(figure, "figure_2_4", chosen.out)


if __name__ == "__main__":
    main()

"""Draw Figure 4.1: the metric Ψ and its heuristic H for every truth, under the matrix Q of Figure 3.4."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matching_figures import (
    Floats,
    Integers,
    matched,
    matched_bias,
    nmape,
    options,
    save_picture,
    truths,
    write_numbers,
)

from unveil.data import samples
from unveil.data.matrices.matchings import read_truth
from unveil.guesses.matching import Matching

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curves(NamedTuple):
    """One value per truth, in ascending order of Ψ; ``chance`` is how likely the adversary holds that truth to be."""

    truth: Integers
    metric: Floats
    heuristic: Floats
    chance: Floats


def curves(matrix: Floats) -> Curves:
    """Return Ψ and H for every truth, sorted as in the figure; equal values in the order of the truths."""
    n = len(matrix)
    every = truths(n)
    found = matched(matrix[None])
    heuristic = matrix[np.arange(n), every].sum(axis=1)
    metric = heuristic - found.error[0]
    chance = matrix[np.arange(n), every].prod(axis=1) / found.permanent[0]
    # Rounding must not decide the order of truths that have the same value.
    order = np.argsort(metric.round(12), kind="stable")
    return Curves(every[order], metric[order], heuristic[order], chance[order])


def own_risk(found: Curves) -> tuple[float, float]:
    """Return what Ψ and H are on average where the truth is drawn from the adversary's own distribution."""
    return float(found.chance @ found.metric), float(found.chance @ found.heuristic)


def report(attack: Matching, found: Curves, truth: Integers) -> None:
    """Print what the picture shows, and what it hides."""
    matrix, n = np.asarray(attack.matrix), attack.n
    error = found.heuristic - found.metric
    possible = found.chance > 0
    print(f"truths {len(error)}  possible under Q {int(possible.sum())}")
    print(f"mean of Ψ {found.metric.mean():.6f}  mean of H {found.heuristic.mean():.6f}")
    for name, chosen in (("all", possible | True), ("possible", possible), ("impossible", ~possible)):
        print(f"NMAPE over {name} truths {float(nmape(error[chosen], n)):.4f} %")
    print(f"largest |H - Ψ| {np.abs(error).max():.6f}")
    stated = int(np.flatnonzero((found.truth == truth).all(axis=1))[0])
    print(f"stated truth Ψ {found.metric[stated]:.6f}  H {found.heuristic[stated]:.6f}")
    likely = int(found.chance.argmax())
    print(f"likeliest truth chance {found.chance[likely]:.6f}  Ψ {found.metric[likely]:.6f}", end="  ")
    print(f"H {found.heuristic[likely]:.6f}")
    certain = found.chance > 0.05
    print(f"truths likelier than 5 %: {int(certain.sum())}, of which H understates {int((error[certain] < 0).sum())}")
    print(f"truths that H understates have chance {found.chance[error < 0].sum():.6f}")
    bias = float(matched_bias(matrix[None], matched(matrix[None]).marginal)[0])
    print("truth drawn from Q: Ψ {:.6f}  H {:.6f}".format(*own_risk(found)) + f"  matched bias {bias:.6f}")


def draw(found: Curves) -> "Figure":
    """Return the curves of the figure, and beside them by how much H is off against how likely each truth is."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5), width_ratios=(3, 2), layout="constrained")
    rank, possible = np.arange(1, len(found.metric) + 1), found.chance > 0
    left.plot(rank, found.metric, color="0.1", label="metric Ψ")
    left.plot(rank[possible], found.heuristic[possible], "o", color="C0", markersize=4, label="H, possible truth")
    left.plot(
        *(rank[~possible], found.heuristic[~possible], "x"), color="C1", markersize=4, label="H, truth that Q rules out"
    )
    left.set(title="Every truth, in order of Ψ", xlabel="truth number", ylabel="expected cracks", ylim=(0, None))
    left.legend()
    error = found.heuristic - found.metric
    right.axhline(0, color="0.6", linewidth=0.8)
    right.plot(found.chance[possible], error[possible], "o", color="C0", markersize=5)
    right.set_xscale("log")
    right.set(
        title="By how much H is off, for the truths that Q allows",
        xlabel="chance of the truth according to Q",
        ylabel="H − Ψ, in cracks",
    )
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and draw."""
    chosen = options("Draw Figure 4.1.", small="accepted as everywhere; this figure is small already").parse_args(
        arguments
    )
    attack = Matching.read(samples.path("matching_matrix.csv"))
    truth = read_truth(samples.path("matching_truth.csv"), attack)
    found = curves(np.asarray(attack.matrix))
    report(attack, found, truth)
    names = np.array(attack.pseudonyms)
    columns = ("truth", "possible", "chance", "metric", "heuristic")
    rows = zip(
        *([" ".join(pseudonyms) for pseudonyms in names[found.truth].tolist()], (found.chance > 0).tolist()),
        *(found.chance.tolist(), found.metric.tolist(), found.heuristic.tolist()),
        strict=True,
    )
    write_numbers([dict(zip(columns, row, strict=True)) for row in rows], "figure_4_1", chosen.out)
    save_picture(draw(found), "figure_4_1", chosen.out)


if __name__ == "__main__":
    main()

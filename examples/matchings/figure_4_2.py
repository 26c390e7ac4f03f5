"""Draw Figure 4.2: the error of the heuristic on 30,000 random doubly stochastic matrices, from five generators each.

The thesis does not say how its matrices were drawn, and the answer depends on it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matching_figures import (
    Floats,
    matched,
    matched_bias,
    nmape,
    options,
    save_picture,
    seed_of,
    write_numbers,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = 5
MATRICES = 30_000
SMALL_MATRICES = 200
#: What the thesis says the error stays within, in percent.
PRINTED = 6.0
# Steps of the walk through all doubly stochastic matrices; twice as many give the same averages.
_STEPS = 200
# A scaled matrix counts as doubly stochastic when no sum is further from 1; few need more than some hundred rounds.
_CLOSE, _ROUNDS = 1e-12, 20_000


def scaled(matrices: Floats) -> Floats:
    """Return the matrices with rows and columns scaled in turn until all sum to 1 (Sinkhorn), those not done in view.

    >>> scaled(np.array([[[1.0, 2.0], [2.0, 1.0]]])).round(3).tolist()
    [[[0.333, 0.667], [0.667, 0.333]]]
    """
    result = matrices.copy()
    left = np.arange(len(result))
    for _ in range(_ROUNDS):
        some = result[left] / result[left].sum(axis=1, keepdims=True)
        off = np.abs(some.sum(axis=2) - 1).max(axis=1)
        result[left] = some / some.sum(axis=2, keepdims=True)
        left = left[off > _CLOSE]
        if not left.size:
            break
    return result


def mixture(count: int, n: int, parts: int, rng: np.random.Generator) -> Floats:
    """Return mixtures of ``parts`` random permutation matrices each, with weights drawn from all alike."""
    share = rng.dirichlet(np.ones(parts), count)
    result = np.zeros((count, n, n))
    for part in range(parts):
        columns = rng.permuted(np.tile(np.arange(n), (count, 1)), axis=1)
        result[np.arange(count)[:, None], np.arange(n), columns] += share[:, part, None]
    return result


def uniform_walk(count: int, n: int, rng: np.random.Generator) -> Floats:
    """Return matrices drawn from all doubly stochastic ones alike, by hit-and-run walks from the middle."""
    result = np.full((count, n, n), 1 / n)
    for _ in range(_STEPS):
        way = rng.normal(size=result.shape)
        way -= way.mean(axis=1, keepdims=True)
        way -= way.mean(axis=2, keepdims=True)
        reach = -result / way
        ahead = np.where(way < 0, reach, np.inf).min(axis=(1, 2))
        back = np.where(way > 0, reach, -np.inf).max(axis=(1, 2))
        step = back + (ahead - back) * rng.random(count)
        result = np.maximum(result + step[:, None, None] * way, 0.0)
    return result


#: Each draws a number of matrices of a size.
GENERATORS: dict[str, Callable[[int, int, np.random.Generator], Floats]] = {
    "uniform cells, scaled": lambda count, n, rng: scaled(rng.random((count, n, n))),
    "exponential cells, scaled": lambda count, n, rng: scaled(rng.exponential(size=(count, n, n))),
    "lognormal cells (σ = 2), scaled": lambda count, n, rng: scaled(rng.lognormal(0.0, 2.0, (count, n, n))),
    "mixtures of 3 permutations": lambda count, n, rng: mixture(count, n, 3, rng),
    "uniform over all": uniform_walk,
}


def drawn(name: str, count: int, seed: int) -> Floats:
    """Return the matrices of one generator; the others do not change what it draws."""
    return GENERATORS[name](count, SIZE, np.random.default_rng([seed, list(GENERATORS).index(name)]))


def measure(name: str, matrices: Floats) -> tuple[dict[str, Any], Floats, Floats]:
    """Return a summary of a generator, and permanent and error of each matrix."""
    from scipy.stats import spearmanr

    found = matched(matrices)
    error = nmape(found.error, SIZE)
    bias = 100 * matched_bias(matrices, found.marginal)
    worst = int(error.argmax())
    summary = {
        "generator": name,
        "matrices": len(matrices),
        "nmape_mean": error.mean(),
        "nmape_max": error[worst],
        "permanent_of_max": found.permanent[worst],
        "share_above_6": (error > PRINTED).mean(),
        "permanent_min": found.permanent.min(),
        "permanent_max": found.permanent.max(),
        "rank_correlation": float(spearmanr(found.permanent, error).statistic),
        "matched_bias_mean": bias.mean(),
        "matched_bias_low": np.quantile(bias, 0.05),
        "matched_bias_high": np.quantile(bias, 0.95),
        "matched_bias_max": bias.max(),
    }
    return summary, found.permanent, error


def draw(results: Sequence[tuple[dict[str, Any], Floats, Floats]]) -> "Figure":
    """Return a panel for each generator, and one for the bias where truths are the adversary's own."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 3, figsize=(13, 7.5), layout="constrained")
    for axes, (summary, permanent, error) in zip(panels.flat, results, strict=False):
        axes.hexbin(
            *(permanent, error),
            xscale="log",
            bins="log",
            gridsize=60,
            extent=(-1.45, 0, 0, 7.5),
            mincnt=1,
            cmap="viridis_r",
        )
        axes.axhline(PRINTED, color="crimson", linewidth=0.8, linestyle="--")
        axes.plot(summary["permanent_of_max"], summary["nmape_max"], "o", mfc="none", color="crimson")
        axes.set(title=f"{summary['generator']}: at most {summary['nmape_max']:.2f} %", ylim=(0, 7.6))
        axes.title.set_fontsize(10)
        axes.set(xlabel="permanent", ylabel="NMAPE in %")
        ticks = (0.04, 0.1, 0.2, 0.5, 1)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
    last = panels.flat[-1]
    for place, (summary, _, _) in enumerate(results):
        ends = summary["matched_bias_low"], summary["matched_bias_high"]
        last.plot(ends, (-place, -place), color=f"C{place}", linewidth=3)
        last.plot(summary["matched_bias_mean"], -place, "o", color="0.1")
        last.text(ends[1], -place + 0.18, summary["generator"], ha="right", fontsize=9)
    last.axvline(0, color="0.6", linewidth=0.8)
    last.set(
        title="truth drawn from the matrix itself: H is too low",
        xlabel="matched bias in % (mean; 5 to 95 % of matrices)",
    )
    last.title.set_fontsize(10)
    last.set(yticks=(), ylim=(-len(results) + 0.5, 0.6))
    last.grid(alpha=0.3)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the matrices, measure, print and draw the picture."""
    parser = options("Draw Figure 4.2.", small=f"{SMALL_MATRICES} matrices from each generator instead of {MATRICES:,}")
    parser.add_argument("--seed", type=seed_of, default=1, help="the same seed gives the same numbers")
    chosen = parser.parse_args(arguments)
    count = SMALL_MATRICES if chosen.small else MATRICES
    results = [measure(name, drawn(name, count, chosen.seed)) for name in GENERATORS]
    for summary, _, _ in results:
        print(
            f"{summary['generator']:<34} NMAPE mean {summary['nmape_mean']:.2f} %  max {summary['nmape_max']:.2f} % "
            f"at permanent {summary['permanent_of_max']:.3f}  above 6 %: {summary['share_above_6']:.4%}  "
            f"rank correlation {summary['rank_correlation']:+.2f}  matched bias {summary['matched_bias_mean']:.1f} % "
            f"({summary['matched_bias_low']:.1f} to {summary['matched_bias_high']:.1f})"
        )
    write_numbers([summary for summary, _, _ in results], "figure_4_2", chosen.out)
    save_picture(draw(results), "figure_4_2", chosen.out)


if __name__ == "__main__":
    main()

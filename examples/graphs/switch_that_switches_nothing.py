"""The Switch of SecGraph, a published tool, switches no edge; here it meets the same attack as one that does.

In its public archive the number of tries is taken from a table that is still empty, so it is 0 and the first draw ends
the loop: what is released is the original with other numbers on its nodes, whatever share was asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from graph_examples import BLUE, GREY, ORANGE, options, save_picture, write_numbers

from unveil.attacks.graph.narayanan_shmatikov import NarayananShmatikov
from unveil.data import samples
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.metrics.graphs.utility import edge_difference
from unveil.protections import GraphProtection, IdRemoval, Switch
from unveil.questions.graph.answer import graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "switch_that_switches_nothing"
SHARES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
SEED_PAIRS, OVERLAP = 50, 0.85


@dataclass(frozen=True, kw_only=True)
class EmptySwitch:
    """A Switch whose bound on tries is 0: it numbers nodes anew, and that is all."""

    share: float = 0.05

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the original with nodes numbered at random, after as many switches as the bound allows."""
        return IdRemoval().apply(original, rng=rng)


def attacked(original: Graph, protect: GraphProtection, seed: int, repeat: int) -> dict[str, float]:
    """Return what changed, and what the attack finds: the same adversaries whatever the protection."""
    changed = edge_difference(protect.apply(original, rng=np.random.default_rng(seed)))
    found = graph(
        original,
        protect,
        NarayananShmatikov(),
        seed_pairs=SEED_PAIRS,
        edge_overlap=OVERLAP,
        repeats=repeat,
        rng=np.random.default_rng(seed),
    ).findings.metric("adversary_overall_success")
    return {"edges_changed": changed, "found": found.mean, "low": found.low, "high": found.high}


def draw(rows: Sequence[dict[str, Any]]) -> "Figure":
    """Return how many people are found by the share of switches that was asked for, with intervals."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.4, 4.4), layout="constrained")
    for name, colour, mark, label in (
        ("nothing switched", ORANGE, "s--", "as in SecGraph: nothing is switched"),
        ("switched", BLUE, "o-", "a Switch that switches"),
    ):
        mine = [row for row in rows if row["protection"] == name]
        x = [100 * row["share"] for row in mine]
        axes.fill_between(
            x, [100 * row["low"] for row in mine], [100 * row["high"] for row in mine], color=colour, alpha=0.15
        )
        axes.plot(x, [100 * row["found"] for row in mine], mark, color=colour, label=label)
    axes.axvline(5, color=GREY, linewidth=0.8, linestyle=":")
    axes.text(5.2, 2, "the setting of the study", color=GREY, fontsize="small")
    axes.set(
        xlabel="switches asked for, in % of the edges", ylabel="people found, in % of those not known", ylim=(-3, 103)
    )
    axes.set_title("The same attack on both", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc=(0.5, 0.62))
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack both, print and draw."""
    chosen = options("Attack a Switch that switches nothing beside a real one.").parse_args(arguments)
    original = samples.graph()
    rows = []
    for share in SHARES:
        for name, protect in (("nothing switched", EmptySwitch(share=share)), ("switched", Switch(share=share))):
            found = attacked(original, protect, chosen.seed, chosen.repeat)
            rows.append({"share": share, "protection": name, **found})
        empty, real = rows[-2:]
        print(
            f"{share:.0%} switches asked for: without a switch {empty['edges_changed']:.1%} of the edges change and "
            f"{empty['found']:.1%} of the people are found; with them {real['edges_changed']:.1%} change and "
            f"{real['found']:.1%} are found."
        )
    write_numbers(rows, NAME, chosen.out)
    save_picture(draw(rows), NAME, chosen.out)


if __name__ == "__main__":
    main()

"""How probable the true nodes are, and how much of the doubt is in tiny probabilities: pictures as data."""

import math

import numpy as np

from unveil.show.blocks import Chart, Series, Threshold
from unveil.ask.graph.findings import BARS_PER_POWER, LEAST_POWER, TRUTH_BARS, AttackedGraph
from unveil.show.text import count, percent, significant


def truth_chart(found: AttackedGraph) -> Chart:
    """Return how many of the attempted nodes had their true node given how much probability."""
    share = found.truth_counts / max(int(found.truth_counts.sum()), 1)
    filled = np.flatnonzero(share)
    every = f" over {len(found.repetitions)} repetitions" if found.repeated else ""
    tiny = float(share[0]) if share.size else 0.0
    return Chart(
        title="How probable the true node is",
        x_label="probability that the adversary gave to the true node",
        y_label="share of the attempted nodes",
        series=(
            Series(
                name="attempted nodes",
                x=filled / TRUTH_BARS,
                y=share[filled],
                style="first",
                kind="bars",
                width=1 / TRUTH_BARS,
            ),
        ),
        caption=(
            f"{_attempts(int(found.truth_counts.sum()))}{every}. On the right the adversary is sure and "
            "right; on the left it has other nodes in mind, "
            f"or too many: {percent(tiny)} of these attempts gave the true node less than 5%, perhaps nothing."
        ),
        y_range=(0.0, _top(float(share.max(initial=0.0)))),
    )


def candidate_chart(found: AttackedGraph) -> Chart:
    """Return at which probabilities the candidates are, and at which the probability itself is (Fig. 5)."""
    counts = found.candidate_counts / max(int(found.candidate_counts.sum()), 1)
    mass = found.candidate_mass / max(float(found.candidate_mass.sum()), 1e-300)
    width = 1 / BARS_PER_POWER
    filled = np.flatnonzero(counts)
    first = int(filled[0]) if filled.size else counts.size - 1
    start = LEAST_POWER + first * width
    # Whole powers of ten at both ends, so that the first bar is not cut.
    low = float(min(math.floor(start), -1))
    places = np.arange(counts.size, dtype=np.float64) * width + LEAST_POWER
    shown = places >= low
    cuts = tuple(
        Threshold(name=significant(each.least), value=math.log10(each.least), across="x")
        for each in found.cut_offs
        if each.least > 0 and math.log10(each.least) >= low
    )
    return Chart(
        title="Where the candidates are, and where the probability is",
        x_label="probability of a candidate",
        y_label="share",
        series=(
            Series(
                name="of all candidates",
                x=places[shown & (counts > 0)],
                y=counts[shown & (counts > 0)],
                style="first",
                kind="bars",
                width=width,
            ),
            Series(name="of all probability", x=places[shown] + width / 2, y=mass[shown], style="second"),
        ),
        caption=(
            "Each bar is half a power of ten. Where bars are high and the line is low there are many candidates that "
            "hardly count; they raise entropy and the size of anonymity sets all the same. The broken lines are the "
            f"cut-offs below.{alike(found)}"
        ),
        x_range=(low, 0.0),
        y_range=(0.0, _top(max(float(counts.max(initial=0.0)), float(mass.max(initial=0.0))))),
        x_kind="power",
        thresholds=cuts,
    )


def cut_off_chart(found: AttackedGraph) -> Chart:
    """Return the entropy that each cut-off leaves, and min-entropy, which looks at the likeliest candidate (Fig. 6)."""
    cuts, least = found.cut_offs, found.metric("min_entropy").mean
    ends = {name: np.array([*(getattr(each, name) for each in cuts), least]) for name in ("entropy", "low", "high")}
    return Chart(
        title="What cut-offs leave of the doubt",
        x_label="bits of doubt",
        y_label="",
        series=(
            Series(
                name="mean, and nine in ten nodes",
                x=ends["entropy"],
                y=np.arange(len(cuts) + 1, dtype=np.float64),
                style="first",
                kind="points",
                low=ends["low"],
                high=ends["high"],
            ),
        ),
        caption=(
            "The mean over the attempted nodes, and the range in which nine in ten of them lie. Entropy that falls "
            "much with a small cut-off was made of candidates that hardly count. Min-entropy (its mean alone is drawn) "
            f"looks at nothing but the likeliest candidate.{alike(found)}"
        ),
        # Beyond the longest interval there is room for its figure.
        x_range=(0.0, max(0.5, float(np.nan_to_num(ends["high"]).max())) * 1.18),
        rows=(*(cut_off_name(each.least) for each in cuts), "the likeliest alone: min-entropy"),
    )


def cut_off_name(least: float) -> str:
    """Return what a cut-off does, in words.

    >>> cut_off_name(0.0), cut_off_name(0.001)
    ('all candidates', 'those with 0.001 or more')
    """
    return "all candidates" if least == 0 else f"those with {significant(least)} or more"


def alike(found: AttackedGraph) -> str:
    """Return a warning where a cut-off is about an even share, and parts candidates that are nearly alike.

    That is so where those left out have, each, at least half of the probability of an average candidate.
    """
    for cut in found.cut_offs:
        if cut.candidates_left_out > 0 and cut.probability_left_out >= 0.5 * cut.candidates_left_out:
            attempts = sum(each.matches.attempted for each in found.repetitions)
            number = round(float(found.candidate_counts.sum()) / max(attempts, 1))
            return (
                f" But with about {count(number, 'candidate', 'candidates')} to a node, {significant(cut.least)} is "
                "near an even share: what this cut-off takes away hardly differs from what it leaves, and is no long "
                "tail."
            )
    return ""


def _attempts(number: int) -> str:
    if number == 1:
        return "The only attempt on a node that stands for somebody"
    return f"The {count(number)} attempts on nodes that stand for somebody"


def _top(highest: float) -> float:
    """Return a round number with a little room above the highest bar."""
    return min(1.0, max(0.1, math.ceil(highest * 10.5 - 1e-9) / 10)) if highest < 0.96 else 1.0

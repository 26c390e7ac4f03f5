"""How probable the true nodes are, and how much of the doubt is in tiny probabilities: pictures as data."""

import math

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.questions.graph.findings import (
    BARS_PER_POWER,
    LEAST_POWER,
    TRUTH_BARS,
    CalibratedFindings,
    GraphFindings,
    Nodes,
)
from unveil.questions.graph.histograms import BINS, Histogram
from unveil.questions.graph.words import alike, cut_off_name
from unveil.report.blocks import Chart, Rings, Series, Threshold
from unveil.report.svg.rings import MOST_MARKS
from unveil.report.text import count, percent, significant


def truth_chart(findings: GraphFindings) -> Chart:
    """Return how many of the attempted nodes had their true node given how much probability."""
    share = findings.truth_counts / max(int(findings.truth_counts.sum()), 1)
    filled = np.flatnonzero(share)
    every = f" over {len(findings.repetitions)} repetitions" if findings.repeated else ""
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
            f"{_attempts(int(findings.truth_counts.sum()))}{every}. On the right the adversary is sure and "
            "right; on the left it has other nodes in mind, "
            f"or too many: {percent(tiny)} of these attempts gave the true node less than 5%, perhaps nothing."
        ),
        y_range=(0.0, _top(float(share.max(initial=0.0)))),
    )


def candidate_chart(findings: GraphFindings) -> Chart:
    """Return at which probabilities the candidates are, and at which the probability itself is (Fig. 5)."""
    counts = findings.candidate_counts / max(int(findings.candidate_counts.sum()), 1)
    mass = findings.candidate_mass / max(float(findings.candidate_mass.sum()), 1e-300)
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
        for each in findings.cut_offs
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
            f"cut-offs below.{alike(findings)}"
        ),
        x_range=(low, 0.0),
        y_range=(0.0, _top(max(float(counts.max(initial=0.0)), float(mass.max(initial=0.0))))),
        x_kind="power",
        thresholds=cuts,
    )


def cut_off_chart(findings: GraphFindings) -> Chart:
    """Return the entropy that each cut-off leaves, and min-entropy, which looks at the likeliest candidate (Fig. 6)."""
    cuts, least = findings.cut_offs, findings.metric("min_entropy").mean
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
            f"looks at nothing but the likeliest candidate.{alike(findings)}"
        ),
        # Beyond the longest interval there is room for its figure.
        x_range=(0.0, max(0.5, float(np.nan_to_num(ends["high"]).max())) * 1.18),
        rows=(*(cut_off_name(each.least) for each in cuts), "the likeliest alone: min-entropy"),
    )


def reliability_chart(learned: CalibratedFindings) -> Chart:
    """Return how often choices were right beside how likely the adversary held them, raw and learned."""
    return Chart(
        title="How often it is right where it is so sure",
        x_label="chance that the adversary gave to its choice",
        y_label="share of them that was right",
        series=(
            Series(name="learned", x=learned.learned.stated, y=learned.learned.right, style="first"),
            Series(name="raw scores", x=learned.raw.stated, y=learned.raw.right, style="second"),
            Series(name="as it should be", x=np.array([0.0, 1.0]), y=np.array([0.0, 1.0]), style="first-reference"),
        ),
        caption=(
            f"{count(int(learned.raw.size.sum()), 'attempt', 'attempts')} in groups of about the same size, from the "
            "least to the most sure. On the diagonal chances are what they say; above it the adversary is right more "
            "often than it says, and nodes are less private than its doubt makes them look."
        ),
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
    )


def _attempts(number: int) -> str:
    if number == 1:
        return "The only attempt on a node that stands for somebody"
    return f"The {count(number)} attempts on nodes that stand for somebody"


def _top(highest: float) -> float:
    """Return a round number with a little room above the highest bar."""
    return min(1.0, max(0.1, math.ceil(highest * 10.5 - 1e-9) / 10)) if highest < 0.96 else 1.0


#: Where levels begin: the probability that the adversary gave to the true node.
LEVELS = (0.5, 0.1, 0.01, 0.0)
_NAMES = ("1/2 or more", "1/10 to 1/2", "1/100 to 1/10", "less than 1/100", "not attempted")
_LEGEND = ("right node given 1/2 or more", *_NAMES[1:])
NOT_ATTEMPTED = len(LEVELS)


def node_picture(findings: GraphFindings) -> Rings:
    """Return the nodes of the first repetition, those with the most connections in the middle.

    Above 1,000 nodes a mark stands for several that follow one another in that order: its level is that of the mean
    over those attempted, or "not attempted" where most were not, and it is struck where most were matched rightly.
    """
    nodes = findings.nodes
    size = max(1, -(-nodes.degree.size // MOST_MARKS))
    probability, right = _grouped(nodes, size)
    level = levels_of(probability)
    counted = np.bincount(levels_of(nodes.probability), minlength=len(_NAMES))
    return Rings(
        title="Who is found",
        caption=_caption(findings, size),
        description=_description(nodes, counted, size),
        level=level,
        levels=tuple(f"{name}: {count(int(of))}" for name, of in zip(_LEGEND, counted, strict=True)),
        struck=right > 0.5,
        struck_name=f"rightly matched: {count(int((nodes.right > 0.5).sum()))}",
    )


def levels_of(probability: FloatArray) -> IntArray:
    """Return the number of each probability's level, the last one for NaN.

    >>> levels_of(np.array([1.0, 0.5, 0.2, 0.05, 0.0, np.nan])).tolist()
    [0, 0, 1, 2, 3, 4]
    """
    # What is counted as 1 - (1 - p) lies a rounding error beside p.
    level = (np.asarray(LEVELS)[None, :] > probability[:, None] + 1e-12).sum(axis=1)
    return np.where(np.isnan(probability), NOT_ATTEMPTED, np.minimum(level, NOT_ATTEMPTED - 1)).astype(np.int64)


def _grouped(nodes: Nodes, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the mean probability of each group of nodes that follow one another, NaN where few were attempted."""
    if size == 1:
        return nodes.probability, nodes.right
    first = np.arange(0, nodes.degree.size, size)
    members = np.diff(np.append(first, nodes.degree.size))
    tried = ~np.isnan(nodes.probability)
    attempted = np.add.reduceat(tried.astype(np.float64), first)
    total = np.add.reduceat(np.where(tried, nodes.probability, 0.0), first)
    mean = np.where(2 * attempted >= members, total / np.maximum(attempted, 1), np.nan)
    return mean, np.add.reduceat(nodes.right, first) / members


def _caption(findings: GraphFindings, size: int) -> str:
    first = " of the first repetition" if findings.repeated else ""
    each = f"Each mark is a node{first}"
    if size > 1:
        each = (
            f"Each mark is {size} nodes{first} with about as many connections, and shows the mean over those attempted "
            "(a dash where most were not, a point where most were matched rightly)"
        )
    shown = findings.repetitions[0]
    seeds, nobody, unknown = shown.seeds, shown.matches.nobody, shown.unknown
    parts = []
    if seeds:
        parts.append(f"the {'node' if seeds == 1 else count(seeds, 'node', 'nodes')} that the adversary knew before")
    if nobody:
        parts.append(f"{count(nobody, 'node that stands', 'nodes that stand')} for nobody")
    if unknown:
        parts.append(f"{count(unknown, 'node', 'nodes')} of which the truth says nothing")
    named = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    left_out = f" Not drawn: {named}." if parts else ""
    return (
        f"{each}; those with the most connections are in the middle. The larger and the darker (on a dark page: the "
        "brighter) a mark, the more probability the adversary gave to the right node, and the less private it is."
        f"{left_out}"
    )


def _description(nodes: Nodes, counted: IntArray, size: int) -> str:
    number = nodes.degree.size
    if number == 0:
        return "There is no node to draw."
    said = [
        f"{count(number, 'node', 'nodes')} on rings{f', {size} to a mark' if size > 1 else ''}, those with the most "
        "connections in the middle. Probability that the adversary gave to the right node: "
        + ", ".join(
            f"{name} for {count(int(of))} ({percent(of / number)})" for name, of in zip(_NAMES, counted, strict=True)
        )
        + f". Rightly matched: {count(int((nodes.right > 0.5).sum()))}."
    ]
    tenth = number // 10
    if tenth:
        inner, outer = (percent(float(part.mean())) for part in (nodes.right[:tenth], nodes.right[-tenth:]))
        said.append(
            f"Of the tenth with the most connections {inner} are rightly matched, of the tenth with the fewest {outer}."
        )
    return " ".join(said)


# Histograms of raw scores and of learned probabilities.


def histogram_charts(raw: Histogram, learned: Histogram | None) -> tuple[Chart, ...]:
    """Return two pictures: all probabilities, and the likeliest of each node (Figs 5a and 5d)."""
    all_learned, likeliest = (None, None) if learned is None else (learned.every, learned.likeliest)
    return (
        _chart("Where all probabilities are", "candidates", raw.every, all_learned),
        _chart("Where the likeliest of each node is", "nodes", raw.likeliest, likeliest),
    )


def _chart(title: str, what: str, raw: FloatArray, learned: FloatArray | None) -> Chart:
    share = raw / max(raw.sum(), 1.0)
    left = np.arange(BINS) / BINS
    series = [Series(name="raw scores", x=left, y=share, style="first", kind="bars", width=1 / BINS)]
    highest = share.max()
    mended = ""
    if learned is not None:
        other = learned / max(learned.sum(), 1.0)
        series.append(Series(name="learned", x=left + 0.5 / BINS, y=other, style="second"))
        highest = max(highest, other.max())
        mended = f" ({percent(float(other[0]))} of the learned ones, which are those of all nodes)"
    return Chart(
        title=title,
        x_label="probability",
        y_label=f"share of {what}",
        series=tuple(series),
        caption=f"{count(round(float(raw.sum())))} {what} with raw scores, in {BINS} bins of equal width: "
        f"{percent(float(share[0]))} of them have less than 1%{mended}.",
        x_range=(0.0, 1.0),
        y_range=(0.0, min(1.0, max(0.05, np.ceil(float(highest) * 20) / 20))),
    )

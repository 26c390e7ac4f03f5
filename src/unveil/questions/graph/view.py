"""The report on an attacked graph: first screen, sections, limits, and data frame."""

import math
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.metrics import METRICS
from unveil.questions.graph.findings import AveragedMetric, AverageRow, GraphFindings, Nodes, of_nodes
from unveil.questions.graph.sections import attributes, confidence, edges, metrics
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import NextStep, Page, Rings, TableBlock, Tone
from unveil.report.figures import frame_of
from unveil.report.limits import Quantity
from unveil.report.svg.rings import MOST_MARKS
from unveil.report.text import about, count, decimal, mean_count, name, percent, percent_range, short_percent
from unveil.report.trust import quantity_meanings

if TYPE_CHECKING:
    import polars as pl

_PRECISION, _RECALL = "adversary_success_rate", "adversary_overall_success"
_SECTIONS = (confidence.section, edges.section, attributes.section, metrics.section)


def page(findings: GraphFindings, context: PageContext = PLAIN) -> Page:
    """Return the report as data; it names no node."""
    doubtful = findings.resemblance is not None and findings.resemblance.doubtful
    return Page(
        title="Audit of a released graph",
        question="How many nodes of a released graph does an attack re-identify?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(*((node_picture(findings),) if findings.nodes.degree.size else ()), summary_table(findings)),
        facts=facts(findings),
        tone=tone(findings),
        cautions=(findings.resemblance.sentence,) if findings.resemblance is not None and doubtful else (),
        sections=tuple(each for make in _SECTIONS if (each := make(findings, context)) is not None),
        method=method(findings),
        method_data=(repetition_table(findings),) if findings.repeated else (),
        limitations=LIMITATIONS,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


# The first screen.


def headline(findings: GraphFindings) -> str:
    """Return the answer in one sentence: how many nodes are re-identified, compared with random guessing."""
    somebody = findings.mean(lambda each: each.matches.somebody)
    nodes = count(somebody, "node", "nodes")
    attack = f"The attack {findings.attack}"
    if somebody == 0:
        return "No match can be correct: none of the nodes to attack has a true match."
    if findings.attempted == 0:
        return f"{attack} attempts {'not even the only node' if somebody == 1 else f'none of the {nodes}'}."
    found = mean_count(findings.correct) if findings.correct else "none"
    share = f"{about(findings.metric(_RECALL).mean)}; " if findings.correct else ""
    return f"{attack} re-identifies {found} of {nodes} ({share}baseline {about(_baselines(findings)[1])})."


def explanation(findings: GraphFindings) -> tuple[str, ...]:
    """Return the interval of the headline, and how much was attempted."""
    attempted, targets = findings.attempted, findings.targets
    if not attempted:
        return ("This does not show what an attack with attempts would find.",)
    recall = findings.metric(_RECALL)
    interval = "" if math.isnan(recall.low) or recall.agree else f"95% CI {percent_range(recall.low, recall.high)}. "
    nodes = "every node" if attempted == targets else f"{mean_count(attempted)} of {mean_count(targets)} nodes"
    precision = about(findings.metric(_PRECISION).mean) if findings.correct else "none"
    return (f"{interval}It attempts {nodes}; {precision} of the attempts are correct.",)


def next_steps(findings: GraphFindings) -> tuple[NextStep, ...]:
    """Return what to do next."""
    steps = [
        NextStep("Protect the graph further, then attack it again.", option="--method")
        if tone(findings) in ("bad", "warning")
        else NextStep("Run other attacks before you rely on this result.", option="--attack")
    ]
    if not findings.repeated:
        steps.append(NextStep("Repeat the attack to get confidence intervals.", option="--repeats 10"))
    return tuple(steps)


def tone(findings: GraphFindings) -> Tone:
    """Return the tone: bad if half of attempts or nodes are re-identified.

    A share above guessing is taken of what could lie above it. No success beyond that is neutral, not good: it does
    not say what another attacker would find.
    """
    if findings.correct <= findings.correct_by_random_mapping + 1e-9:
        return "neutral"
    rates = (findings.metric(name).mean for name in (_PRECISION, _RECALL))
    pairs = zip(rates, _baselines(findings), strict=True)
    above = [(rate - chance) / (1 - chance) for rate, chance in pairs if chance < 1 and not math.isnan(rate)]
    return "bad" if max(above, default=0.0) >= 0.5 else "warning"


def _baselines(findings: GraphFindings) -> tuple[float, float]:
    """Return the expected precision and recall of random guessing."""
    return (
        findings.mean_share(lambda each: each.at_random, lambda each: each.matches.attempted),
        findings.mean_share(lambda each: each.at_random, lambda each: each.matches.somebody),
    )


def summary_table(findings: GraphFindings) -> TableBlock:
    """Return recall, precision, bound, and disclosure of edges and attributes, each with its baseline."""
    somebody = findings.mean(lambda each: each.matches.somebody)
    correct, attempted = findings.correct, findings.attempted
    of_attempts, of_nodes_there = _baselines(findings)
    rows = []
    if somebody:
        recall = findings.metric(_RECALL)
        rows.append(_row("Nodes re-identified (recall)", (correct, somebody), recall, of_nodes_there))
    if attempted:
        precision = findings.metric(_PRECISION)
        rows.append(_row("Attempts correct (precision)", (correct, attempted), precision, of_attempts))
    if somebody:
        most = f"{mean_count(findings.max_expected_correct)} of {mean_count(somebody)}"
        rows.append(("Upper bound of recall", most, percent(findings.bound), "", ""))
    for edge in findings.edges[:1]:
        if edge.claims:
            rows.append(_row("Edge claims correct", (edge.right, edge.claims), edge.precision, edge.guessing.mean))
        if edge.hidden:
            rows.append(_row("Unknown edges disclosed", (edge.right, edge.hidden), edge.recall, math.nan))
    for column in attributes.best_columns(findings)[:3]:
        label = f"{name(column.column, 16)}: correct"
        right = column.accuracy.mean * column.people
        rows.append(_row(label, (right, column.people), column.accuracy, column.guessing.mean))
    return TableBlock(
        caption="Summary",
        columns=("Result", "Count", "Share", "95% CI", "Baseline"),
        rows=tuple(rows),
        align=("left", "right", "right", "right", "right"),
        note="Baseline: random guessing; for edges and attributes, guessing from the auxiliary graph.",
    )


def _row(
    label: str, counts: tuple[float, float], rate: AveragedMetric, baseline: float
) -> tuple[str, str, str, str, str]:
    part, whole = map(mean_count, counts)
    interval = "all equal" if rate.agree else percent_range(rate.low, rate.high)
    return label, f"{part} of {whole}", percent(rate.mean), interval, "" if math.isnan(baseline) else percent(baseline)


def facts(findings: GraphFindings) -> tuple[str, ...]:
    """Return what was released and what the attacker knows."""
    nodes, edges_there = count(findings.released.nodes, "node", "nodes"), decimal(findings.released.edges, places=1)
    seeds = count(findings.seed_pairs, "seed pair", "seed pairs")
    if findings.graph is None:
        return f"release of {nodes} and {edges_there} edges", "an auxiliary graph", seeds
    known = f"attacker knows {short_percent(findings.overlap or 0.0)} of the edges"
    if findings.node_share not in (None, 1.0):
        known += f" among {short_percent(findings.node_share or 0.0)} of the nodes"
    repetitions = count(len(findings.repetitions), "repetition", "repetitions")
    return f"release of {nodes} and {edges_there} edges", f"method {findings.protect}", known, seeds, repetitions


#: Where levels begin: the probability of the true match.
LEVELS = (0.5, 0.1, 0.01, 0.0)
_NAMES = ("1/2 or more", "1/10 to 1/2", "1/100 to 1/10", "less than 1/100", "not attempted")
NOT_ATTEMPTED = len(LEVELS)


def node_picture(findings: GraphFindings) -> Rings:
    """Return the nodes of the first repetition, those with the highest degree in the middle.

    Above 1,000 nodes a mark stands for several that follow one another in that order: its level is that of the mean
    over those attempted, or "not attempted" where most were not, and it is struck where most are re-identified.
    """
    nodes = findings.nodes
    number = nodes.degree.size
    size = max(1, -(-number // MOST_MARKS))
    probability, right = _grouped(nodes, size)
    counted = np.bincount(levels_of(nodes.probability), minlength=len(_NAMES))
    struck = int((nodes.right > 0.5).sum())
    first = " of the first repetition" if findings.repeated else ""
    marks = "Each mark is a node" if size == 1 else f"Each mark is the mean of {size} nodes of similar degree"
    seen = f"{percent(struck / max(number, 1))} of the nodes{first} are re-identified; {_by_degree(nodes)}"
    return Rings(
        title="Re-identified nodes",
        caption=f"{seen}{marks}, high degrees in the middle. Larger and darker: higher probability of the true match.",
        description=f"{count(number, 'node', 'nodes')} on rings. Probability of the true match: "
        + ", ".join(
            f"{name} for {count(int(of))} ({percent(of / max(number, 1))})"
            for name, of in zip(_NAMES, counted, strict=True)
        )
        + f". Re-identified: {count(struck)}.",
        level=levels_of(probability),
        levels=tuple(f"{name}: {count(int(of))}" for name, of in zip(_NAMES, counted, strict=True)),
        struck=right > 0.5,
        struck_name=f"re-identified: {count(struck)}",
    )


def _by_degree(nodes: Nodes) -> str:
    """Return how often nodes with the highest and the lowest degrees are re-identified."""
    tenth = nodes.degree.size // 10
    if not tenth:
        return ""
    inner, outer = (about(float(part.mean())) for part in (nodes.right[:tenth], nodes.right[-tenth:]))
    return f"{inner} in the top tenth by degree, {outer} in the bottom tenth. "


def levels_of(probability: FloatArray) -> IntArray:
    """Return the number of each probability's level, the last one for NaN.

    >>> levels_of(np.array([1.0, 0.5, 0.2, 0.05, 0.0, np.nan])).tolist()
    [0, 0, 1, 2, 3, 4]
    """
    # What is counted as 1 - (1 - p) lies a rounding error beside p.
    level = (np.asarray(LEVELS)[None, :] > probability[:, None] + 1e-12).sum(axis=1)
    return np.where(np.isnan(probability), NOT_ATTEMPTED, np.minimum(level, NOT_ATTEMPTED - 1)).astype(np.int64)


def _grouped(nodes: Nodes, size: int) -> tuple[FloatArray, FloatArray]:
    """Return group means of the probability of the true match."""
    if size == 1:
        return nodes.probability, nodes.right
    first = np.arange(0, nodes.degree.size, size)
    members = np.diff(np.append(first, nodes.degree.size))
    tried = ~np.isnan(nodes.probability)
    attempted = np.add.reduceat(tried.astype(np.float64), first)
    total = np.add.reduceat(np.where(tried, nodes.probability, 0.0), first)
    mean = np.where(2 * attempted >= members, total / np.maximum(attempted, 1), np.nan)
    return mean, np.add.reduceat(nodes.right, first) / members


# Methods and limitations.

LIMITATIONS = (
    "Another attack, more known edges, more seed pairs, or better scores may re-identify more nodes.",
    "Other published data on the nodes (times, texts) and what an attacker knows of them are not covered.",
    "Disclosure of edges without matching nodes is not measured.",
)


def method(findings: GraphFindings) -> tuple[str, ...]:
    """Return how the results were measured."""
    settings = (("the protection", findings.protect_settings), ("the attack", findings.attack_settings))
    sentences = [_procedure(findings)]
    sentences += [
        f"Settings of {what}: {', '.join(f'{key}={value}' for key, value in own.items())}."
        for what, own in settings
        if own
    ]
    if findings.paired_by_rank:
        sentences.append(
            "The release is a new graph: each of its nodes is paired with the original node whose degree has the same "
            "rank, which counts as its true match."
        )
    unknown = " and nodes with unknown truth" if findings.truth_unknown else ""
    sentences += [
        f"Seed pairs{unknown} are left out of every result. The probability of a candidate is its score divided by the "
        "sum of the scores compared; surprisal is capped at a probability of 1e-12. Random guessing gives each "
        "attempted node an auxiliary node outside the seed pairs.",
        "Upper bound of recall: c nodes with the same neighbors, or the same place in isomorphic trees, are "
        "indistinguishable, in the release or the auxiliary graph. Each is re-identified with probability at most 1/c. "
        "Other symmetries may lower it further.",
        *edges.method(findings),
        *attributes.method(findings),
        *confidence.method(findings),
    ]
    if findings.repeated:
        sentences.append(
            f"95% CI: Student's t over {len(findings.repetitions)} repetitions, of the mean over many more. "
            "Repetitions without an attempt have no precision."
        )
    if findings.chunk is not None:
        sentences.append(
            f"The attack compares {findings.chunk} nodes of similar degree at a time: no node has more candidates."
        )
    sources = dict.fromkeys(each.metric.source for each in findings.metrics)
    return (*sentences, f"Definitions of the metrics: {'; '.join(sources)}.")


def _procedure(findings: GraphFindings) -> str:
    attack = f"the attack {findings.attack}{f' (a {findings.scope} attack)' if findings.scope else ''}"
    seeds = count(findings.seed_pairs, "seed pair", "seed pairs")
    many = f" {len(findings.repetitions)} times" if findings.repeated else ""
    if findings.graph is None:
        pairs = "given" if findings.given_seeds else "drawn from the truth"
        return (
            f"A release made elsewhere was attacked{many} by {attack}, with an auxiliary graph and {seeds} ({pairs})."
        )
    known = decimal(findings.auxiliary.edges, places=1)
    kept = " The auxiliary graph keeps connected what the original connects." if findings.connected else ""
    return (
        f"The graph was protected by {findings.protect} and attacked by {attack}{many}. The attacker holds an "
        f"auxiliary graph with {known} of the original edges, and {seeds}, drawn at random.{kept}"
    )


def repetition_table(findings: GraphFindings) -> TableBlock:
    """Return the counts of each repetition."""
    return TableBlock(
        caption="Repetitions",
        columns=("Repetition", "Nodes", "Edges", "Attempted", "Correct", "Baseline", "Upper bound"),
        rows=tuple(
            (
                str(number),
                f"{each.released_nodes:,}",
                f"{each.released_edges:,}",
                f"{each.matches.attempted:,}",
                *map(mean_count, (each.matches.correct, each.at_random, each.most)),
            )
            for number, each in enumerate(findings.repetitions, start=1)
        ),
        align=("right",) * 7,
    )


# Limits and data frame.

#: Results on edges by the mapping, and on values of the column with the largest one, by the name of their limit.
_OF_EDGES = {
    "edge_disclosure_precision": "precision",
    "edge_disclosure_recall": "recall",
    "edge_disclosure_lift": "lift",
}
_OF_VALUES = {"attribute_disclosure_accuracy": "accuracy", "attribute_disclosure_gain": "gain"}


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    texts = {name: of_nodes(text) for name, text in quantity_meanings().items()}
    texts |= {
        f"{name}_high": f"upper end of the 95% CI of {name} over the repetitions; not checked with "
        "fewer than two values. "
        "Fails above VALUE: more is less private"
        for name in (_PRECISION, _RECALL)
    }
    side = "Fails above VALUE: more is less private"
    for limit in (*_OF_EDGES, *_OF_VALUES):
        of = "by the mapping; undefined for a release made elsewhere"
        if limit in _OF_VALUES:
            of = "the largest of all columns of attributes; undefined without any"
        summary = METRICS[limit].summary.removeprefix("Return ").rstrip(".").replace("``", "")
        texts[limit] = f"{summary} ({of}). {side}"
        if limit != "edge_disclosure_lift":
            texts[f"{limit}_high"] = f"upper end of the 95% CI of {limit}. {side}"
    return texts


def quantities(findings: GraphFindings) -> dict[str, Quantity]:
    """Return the quantities that accept a limit: means and upper ends."""
    values = {each.metric.name: each.mean for each in findings.metrics}
    values |= {f"{name}_high": findings.metric(name).high for name in (_PRECISION, _RECALL)}
    columns = attributes.best_columns(findings)
    for limit, field in (_OF_EDGES | _OF_VALUES).items():
        averages = [getattr(each, field) for each in (findings.edges[:1] if limit in _OF_EDGES else columns)]
        for end, of in (("", "mean"), ("_high", "high")):
            if limit + end != "edge_disclosure_lift_high":
                known = [value for value in (getattr(each, of) for each in averages) if not math.isnan(value)]
                values[limit + end] = max(known, default=math.nan)
    worse = {each.metric.name: each.metric.more_means == "less private" for each in findings.metrics}
    meaning = meanings()
    return {
        name: Quantity(
            name=name,
            value=value,
            meaning=meaning[name],
            exceeded_when_undefined=False,
            more_is_worse=worse.get(name, True),
        )
        for name, value in values.items()
    }


def frame(findings: GraphFindings) -> "pl.DataFrame":
    """Return one row per metric with its mean and CI."""
    import polars as pl

    rows = frame_of([AverageRow(each) for each in findings.metrics])
    if findings.calibrated is not None:
        learned = findings.calibrated.metrics
        rows = rows.with_columns(
            pl.Series(f"calibrated_{name}", [getattr(each, name) for each in learned], pl.Float64)
            for name in ("mean", "low", "high")
        )
    return rows.with_columns(pl.col(pl.Float64).fill_nan(None))


VIEW = QuestionView(
    schema="unveil.graph/2",
    findings=GraphFindings,
    about="Result of `unveil graph`: re-identified nodes of a released graph. Counts are means over the repetitions.",
    quantities=quantities,
    frame=frame,
    page=page,
    meanings=meanings,
)

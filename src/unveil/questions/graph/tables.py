"""The tables of an attacked graph: every metric, what cut-offs leave, and each repetition."""

import math

from unveil.questions.graph.averages import AveragedMetric
from unveil.questions.graph.disclosure_words import VALUE_WAYS, WAYS
from unveil.questions.graph.findings import GraphFindings, LearnedColumn, of_nodes
from unveil.questions.graph.words import alike, cut_off_name, few
from unveil.report.blocks import Side, TableBlock
from unveil.report.text import count, decimal, name, percent
from unveil.report.trust import cap_mark, cap_notes, mark, summary_of, title_of, trust_note

_NO_WIDTH = "no width"
_LEFT: Side = "left"
_RIGHT: Side = "right"


def metric_table(findings: GraphFindings, *, as_written: bool = False) -> TableBlock:
    """Return all metrics in rows; ``as_written`` names them as options do, and leaves out what they are."""
    reasons = dict.fromkeys(_missing(each, findings.repeated) for each in findings.metrics if each.undefined)
    capped = findings.chunk is not None
    notes = []
    if reasons:
        notes.append(f"No value{' in some repetitions' if findings.repeated else ''}: {'; '.join(reasons)}.")
    if any(each.agree for each in findings.metrics):
        notes.append(
            f"{_NO_WIDTH.capitalize()}: all repetitions gave the same value, which does not say that others would."
        )
    if capped:
        notes.append(f"* cannot be larger than {findings.chunk} candidates at a time allow.")
    notes += cap_notes({each.metric.name: each.at_cap for each in findings.metrics}, who="nodes")
    notes.append(trust_note(["graphs"]))
    if findings.calibrated is not None:
        notes.append(
            "Calibrated: with learned probabilities, over all nodes that the adversary did not know, attempted or not; "
            "anonymity set size is then the fewest candidates with 95% of the probability. Trust is in raw figures."
        )
    columns = {"Metric": _LEFT, "Mean": _RIGHT, "95% interval": _RIGHT}
    if findings.calibrated is not None:
        # A page has no room for a second interval beside what each metric is; JSON has it.
        columns |= {"Calibrated": _RIGHT} | ({"Its 95% interval": _RIGHT} if as_written else {})
    columns |= {"Private": _LEFT, "Trust": _LEFT}
    columns |= {} if as_written else {"What it is": _LEFT}
    shown = [name for name in columns if findings.repeated or not name.endswith("95% interval")]
    learned = findings.calibrated.metrics if findings.calibrated is not None else (None,) * len(findings.metrics)
    rows = zip(findings.metrics, learned, strict=True)
    return TableBlock(
        caption=f"{len(findings.metrics)} metrics",
        columns=tuple(shown),
        rows=tuple(tuple(_row(each, mended, as_written, capped)[name] for name in shown) for each, mended in rows),
        align=tuple(columns[name] for name in shown),
        note=" ".join(notes),
        prose=not as_written,
    )


def _row(each: AveragedMetric, mended: AveragedMetric | None, as_written: bool, capped: bool) -> dict[str, str]:
    metric = each.metric
    # On a page both ends of an interval stay on one line.
    space = " " if as_written else "\u00a0"
    star = "*" if capped and metric.affected_by_chunking else ""
    return {
        "Metric": (metric.name if as_written else title_of(metric)) + star,
        "Mean": _cell(each.mean) + cap_mark(each.at_cap),
        "95% interval": _ends(each, space),
        "Calibrated": "" if mended is None else _cell(mended.mean),
        "Its 95% interval": "" if mended is None else _ends(mended, space),
        "Private": "if high" if metric.more_means == "more private" else "if low",
        "Trust": mark(metric.name, "graphs"),
        "What it is": of_nodes(summary_of(metric)),
    }


def _ends(each: AveragedMetric, space: str) -> str:
    if math.isnan(each.low):
        return ""
    return _NO_WIDTH if each.agree else f"{_cell(each.low)}{space}to{space}{_cell(each.high)}"


def _missing(each: AveragedMetric, repeated: bool) -> str:
    """Return in how many repetitions a metric has no value, and why."""
    why = of_nodes(each.why)
    if not repeated:
        return why
    return f"{'once' if each.undefined == 1 else f'{count(each.undefined)} times'} ({why})"


def _cell(value: float) -> str:
    """Return a figure with three decimals, and what is smaller as such.

    >>> _cell(0.25), _cell(0.0), _cell(0.0002), _cell(-0.0002)
    ('0.25', '0', '<0.001', '>-0.001')
    """
    text = decimal(value)
    return text if "e-" not in text else "<0.001" if value > 0 else ">-0.001"


def cut_off_table(findings: GraphFindings) -> TableBlock:
    """Return what each cut-off leaves of the entropy, and what it leaves out."""
    whole = findings.cut_offs[0].entropy
    return TableBlock(
        caption="Entropy without unlikely candidates",
        columns=("Counted are", "Entropy in bits", "Of all entropy", "Candidates left out", "Probability left out"),
        rows=tuple(
            (
                cut_off_name(each.least),
                _cell(each.entropy),
                percent(each.entropy / whole) if whole > 0 else "",
                percent(each.candidates_left_out),
                percent(each.probability_left_out),
            )
            for each in findings.cut_offs
        ),
        align=(_LEFT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note="Means over the attempted nodes. What is left of the probabilities is not divided by its sum."
        f"{alike(findings)}",
    )


def repetition_table(findings: GraphFindings) -> TableBlock:
    """Return the counts of each repetition."""
    return TableBlock(
        caption="Each repetition",
        columns=("Repetition", "Released nodes", "Released edges", "Attempted", "Right", "Random guessing", "At most"),
        rows=tuple(
            (
                str(number),
                f"{each.released_nodes:,}",
                f"{each.released_edges:,}",
                f"{each.matches.attempted:,}",
                few(each.matches.correct),
                few(each.at_random),
                few(each.most),
            )
            for number, each in enumerate(findings.repetitions, start=1)
        ),
        align=(_RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note="At most: so many any attack finds on average, because others have the same neighbours as somebody else.",
    )


def edge_table(findings: GraphFindings) -> TableBlock:
    """Return the claims about edges, in each way of making them, beside as many guesses."""
    rows = []
    for edges in findings.edges:
        claims = few(edges.claims)
        expected = edges.expected
        rows.append(
            (
                f"by {WAYS[edges.way]}",
                claims,
                percent(edges.precision.mean),
                _rate_ends(edges.precision),
                percent(edges.recall.mean),
                "" if math.isnan(expected) else percent(expected),
            )
        )
    first = findings.edges[0]
    claims = few(first.claims)
    for what, share in (
        ("by common neighbours", first.by_common_neighbours),
        ("by degrees", first.by_degrees),
    ):
        rows.append((f"guessed {what}", claims, percent(share), "", "", ""))
    times = first.lift.mean
    lift = "" if math.isnan(times) else f" Claims are right {few(times)} times as often as guesses."
    return TableBlock(
        caption="Claims about edges",
        columns=("Claimed", "Pairs", "Right", "95% interval", "Of edges to be learned", "Expected to be right"),
        rows=tuple(rows),
        align=(_LEFT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note=f"Guesses are as many as claims by the mapping.{lift}",
    )


def _rate_ends(rate: AveragedMetric) -> str:
    if math.isnan(rate.low):
        return ""
    return _NO_WIDTH if rate.agree else f"{percent(rate.low)} to {percent(rate.high)}"


def value_table(column: LearnedColumn) -> TableBlock:
    """Return how often each value of a column is told and guessed rightly, all people first and the rarest last."""

    def row(what: str, people: float, shares: tuple[float, float, float], ends: tuple[float, float]) -> tuple[str, ...]:
        accuracy, guessing, gain = shares
        between = "" if math.isnan(ends[0]) else f"{_points(ends[0])} to {_points(ends[1])}"
        return (what, few(people), percent(accuracy), percent(guessing), _points(gain), between)

    whole = column.accuracy.mean, column.guessing.mean, column.gain.mean
    rows = [row("everybody", column.people, whole, (column.gain.low, column.gain.high))]
    rows += [
        row(one.shown_label, one.people, (one.accuracy, one.guessing, one.gain), (one.low, one.high))
        for one in column.values
    ]
    read = column.read_off_the_release
    return TableBlock(
        caption=f"{name(column.column, 40)}: told by {VALUE_WAYS[column.way]}",
        columns=("Value", "People", "Told rightly", "Guessed rightly", "Gain", "95% interval of the gain"),
        rows=tuple(rows),
        align=(_LEFT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note=f"People whom the adversary did not know and whose value is known; of {few(read)} the value was read off "
        "the release, of the others it is guessed. Gains are in percentage points; the rarest value comes last.",
    )


def _points(share: float) -> str:
    """Return a difference of shares in percentage points.

    >>> _points(0.123), _points(-0.02)
    ('+12.3', '-2.0')
    """
    return "undefined" if math.isnan(share) else f"{100 * share:+.1f}"

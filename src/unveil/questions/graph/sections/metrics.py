"""Every metric of the attack, the reliable ones first, and how entropy depends on improbable candidates."""

import math

from unveil.questions.graph.findings import AveragedMetric, GraphFindings, of_nodes
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, Side, TableBlock
from unveil.report.text import count, decimal, percent, significant
from unveil.report.trust import cap_mark, cap_notes, reliability_note, reliability_of, summary_of, title_of

_EQUAL = "all equal"


def section(findings: GraphFindings, context: PageContext) -> Section:
    """Return the section on all metrics."""
    del context
    known = [each for each in findings.metrics if reliability_of(each.metric.name, "graphs") == "reliable"]
    tables = metric_tables(findings)
    return Section(
        heading="Metrics",
        question="How private are the nodes by each metric of the literature?",
        lead=f"{len(known)} of {len(findings.metrics)} metrics are reliable for attacks on graphs; rank attacks by "
        "these. The rest are below Data.",
        blocks=tables[:1],
        data=(tables[1], definition_table(findings), *((cut_off_table(findings),) if findings.attempted else ())),
    )


def metric_tables(findings: GraphFindings) -> tuple[TableBlock, ...]:
    """Return the tables of reliable metrics and of the rest."""
    reasons = dict.fromkeys(_missing(each, findings.repeated) for each in findings.metrics if each.undefined)
    notes = [f"No value: {'; '.join(reasons)}."] if reasons else []
    if any(each.agree for each in findings.metrics):
        notes.append(f"{_EQUAL.capitalize()}: every repetition has the same value; new ones may differ.")
    if findings.chunk is not None:
        notes.append(f"* limited by the {findings.chunk} candidates that the attack compares at a time.")
    notes += cap_notes({each.metric.name: each.at_cap for each in findings.metrics}, who="nodes")
    notes.append(reliability_note("graphs"))
    left: Side = "left"
    right: Side = "right"
    columns = {"Metric": left, "Mean": right, "95% CI": right}
    if findings.calibrated is not None:
        columns |= {"Calibrated": right}
    columns |= {"Private if": left, "Reliability": left}
    shown = [name for name in columns if findings.repeated or name != "95% CI"]
    learned = findings.calibrated.metrics if findings.calibrated is not None else (None,) * len(findings.metrics)
    rows = [
        _row(each, mended, has_chunks=findings.chunk is not None)
        for each, mended in zip(findings.metrics, learned, strict=True)
    ]
    reliable = [row for row in rows if row["Reliability"] == "reliable"]
    others = [row for row in rows if row["Reliability"] != "reliable"]
    return tuple(
        TableBlock(
            caption=f"{len(part)} {caption}",
            columns=tuple(heads),
            rows=tuple(tuple(row[name] for name in heads) for row in part),
            align=tuple(columns[name] for name in heads),
            note=note,
        )
        for caption, part, heads, note in (
            ("reliable metrics", reliable, [name for name in shown if name != "Reliability"], " ".join(notes)),
            ("other metrics", others, shown, ""),
        )
    )


def _row(each: AveragedMetric, mended: AveragedMetric | None, *, has_chunks: bool) -> dict[str, str]:
    metric = each.metric
    interval = "" if math.isnan(each.low) else _EQUAL if each.agree else f"{_cell(each.low)} to {_cell(each.high)}"
    return {
        "Metric": title_of(metric) + ("*" if has_chunks and metric.affected_by_chunking else ""),
        "Mean": _cell(each.mean) + cap_mark(each.at_cap),
        "95% CI": interval,
        "Calibrated": "" if mended is None else _cell(mended.mean),
        "Private if": "high" if metric.more_means == "more private" else "low",
        "Reliability": reliability_of(metric.name, "graphs"),
    }


def definition_table(findings: GraphFindings) -> TableBlock:
    """Return the definition of each metric."""
    return TableBlock(
        caption="Definitions",
        columns=("Metric", "Definition"),
        rows=tuple(
            (title_of(each.metric), of_nodes(summary_of(each.metric)).replace("adversary", "attacker"))
            for each in findings.metrics
        ),
        align=("left", "left"),
        prose=True,
    )


def _missing(each: AveragedMetric, is_repeated: bool) -> str:
    """Return in how many repetitions a metric has no value, and why."""
    why = of_nodes(each.why)
    if not is_repeated:
        return why
    return f"{count(each.undefined, 'repetition', 'repetitions')} ({why})"


def _cell(value: float) -> str:
    """Return a value with three decimals, or the bound that it is below.

    >>> _cell(0.25), _cell(0.0), _cell(0.0002), _cell(-0.0002)
    ('0.25', '0', '<0.001', '>-0.001')
    """
    text = decimal(value)
    return text if "e-" not in text else "<0.001" if value > 0 else ">-0.001"


def cut_off_table(findings: GraphFindings) -> TableBlock:
    """Return the entropy that remains without improbable candidates."""
    whole = findings.cut_offs[0].entropy
    note = ""
    for cut in findings.cut_offs:
        # Those left out have, each, at least half of the probability of an average candidate.
        if cut.candidates_left_out > 0 and cut.probability_left_out >= 0.5 * cut.candidates_left_out:
            note = (
                f" {significant(cut.least)} is near an even share of the probability: candidates on both sides of this "
                "cut-off hardly differ."
            )
            break
    return TableBlock(
        caption="Entropy without improbable candidates",
        columns=("Candidates", "Entropy (bits)", "Of all entropy", "Candidates left out", "Probability left out"),
        rows=tuple(
            (
                "all" if each.least == 0 else f"probability ≥ {significant(each.least)}",
                _cell(each.entropy),
                percent(each.entropy / whole) if whole > 0 else "",
                percent(each.candidates_left_out),
                percent(each.probability_left_out),
            )
            for each in findings.cut_offs
        ),
        align=("left", *(("right",) * 4)),
        note=f"Means over attempted nodes, without renormalization.{note}",
    )

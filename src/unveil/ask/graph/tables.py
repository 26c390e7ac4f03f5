"""The tables of an attacked graph: every metric, what cut-offs leave, and each repetition."""

import math

from unveil.ask.graph.findings import Averaged, GraphFindings, of_nodes
from unveil.ask.graph.words import alike, cut_off_name, few
from unveil.show.blocks import Side, Table
from unveil.show.metrics import cap_mark, cap_notes, summary_of, title_of
from unveil.show.text import count, decimal, percent
from unveil.show.trust import mark, trust_note

_NO_WIDTH = "no width"
_LEFT: Side = "left"
_RIGHT: Side = "right"


def metric_table(found: GraphFindings, *, as_written: bool = False) -> Table:
    """Return all metrics in rows; ``as_written`` names them as options do, and leaves out what they are."""
    reasons = dict.fromkeys(_missing(each, found.repeated) for each in found.metrics if each.undefined)
    capped = found.chunk is not None
    notes = []
    if reasons:
        notes.append(f"No value{' in some repetitions' if found.repeated else ''}: {'; '.join(reasons)}.")
    if any(each.agree for each in found.metrics):
        notes.append(
            f"{_NO_WIDTH.capitalize()}: all repetitions gave the same value, which does not say that others would."
        )
    if capped:
        notes.append(f"* cannot be larger than {found.chunk} candidates at a time allow.")
    notes += cap_notes({each.metric.name: each.at_cap for each in found.metrics}, who="nodes")
    notes.append(trust_note(["graphs"]))
    if found.calibrated is not None:
        notes.append(
            "Calibrated: with learned probabilities, over all nodes that the adversary did not know, attempted or not; "
            "anonymity set size is then the fewest candidates with 95% of the probability. Trust is in raw figures."
        )
    columns = {"Metric": _LEFT, "Mean": _RIGHT, "95% interval": _RIGHT}
    if found.calibrated is not None:
        # A page has no room for a second interval beside what each metric is; JSON has it.
        columns |= {"Calibrated": _RIGHT} | ({"Its 95% interval": _RIGHT} if as_written else {})
    columns |= {"Private": _LEFT, "Trust": _LEFT}
    columns |= {} if as_written else {"What it is": _LEFT}
    shown = [name for name in columns if found.repeated or not name.endswith("95% interval")]
    learned = found.calibrated.metrics if found.calibrated is not None else (None,) * len(found.metrics)
    rows = zip(found.metrics, learned, strict=True)
    return Table(
        caption=f"{len(found.metrics)} metrics",
        columns=tuple(shown),
        rows=tuple(tuple(_row(each, mended, as_written, capped)[name] for name in shown) for each, mended in rows),
        align=tuple(columns[name] for name in shown),
        note=" ".join(notes),
        prose=not as_written,
    )


def _row(each: Averaged, mended: Averaged | None, as_written: bool, capped: bool) -> dict[str, str]:
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


def _ends(each: Averaged, space: str) -> str:
    if math.isnan(each.low):
        return ""
    return _NO_WIDTH if each.agree else f"{_cell(each.low)}{space}to{space}{_cell(each.high)}"


def _missing(each: Averaged, repeated: bool) -> str:
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


def cut_off_table(found: GraphFindings) -> Table:
    """Return what each cut-off leaves of the entropy, and what it leaves out."""
    whole = found.cut_offs[0].entropy
    return Table(
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
            for each in found.cut_offs
        ),
        align=(_LEFT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note="Means over the attempted nodes. What is left of the probabilities is not divided by its sum."
        f"{alike(found)}",
    )


def repetition_table(found: GraphFindings) -> Table:
    """Return the counts of each repetition."""
    return Table(
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
            for number, each in enumerate(found.repetitions, start=1)
        ),
        align=(_RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note="At most: so many any attack finds on average, because others have the same neighbours as somebody else.",
    )

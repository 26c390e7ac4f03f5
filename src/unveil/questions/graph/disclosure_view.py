"""Show disclosed edges and values: JSON, limits and page sections."""

import math
from collections.abc import Iterator
from typing import Any

from unveil.questions.graph.disclosure_words import claimed, edge_numbers, told_columns, value_name
from unveil.questions.graph.findings import AveragedMetric, GraphFindings, LearnedColumn, LearnedEdges
from unveil.questions.graph.tables import edge_table, value_table
from unveil.report.blocks import Section

#: What is learned about edges by the mapping, and about values of the column that is told best.
_OF_EDGES = {
    "edge_disclosure_precision": "precision",
    "edge_disclosure_recall": "recall",
    "edge_disclosure_lift": "lift",
}
_OF_VALUES = {"attribute_disclosure_accuracy": "accuracy", "attribute_disclosure_gain": "gain"}
_EDGES_LEAD = (
    "Whoever has mapped nodes to people reads off the release who is connected to whom. What counts is what the "
    "adversary did not know, beside what it could have guessed from its own graph."
)
_VALUES_LEAD = (
    "Whatever is released at a node is learned of whoever is taken for it, and often without finding the very node. "
    "What counts is what exceeds a guess without the release."
)


def disclosed_meanings() -> dict[str, str]:
    """Return what each quantity about edges and values means, with the upper ends of their intervals."""
    from unveil.metrics import METRICS

    side = "Exceeded when greater than VALUE: more is less private"
    said = {}
    for name in (*_OF_EDGES, *_OF_VALUES):
        what = METRICS[name].summary.removeprefix("Return ").rstrip(".").replace("``", "")
        of = "by the mapping; undefined for a release made elsewhere"
        if name in _OF_VALUES:
            of = "the largest of all columns of attributes; undefined without any"
        said[name] = f"{what} ({of}). {side}"
        if name != "edge_disclosure_lift":
            said[f"{name}_high"] = f"the upper end of the 95% interval of {name}. {side}"
    return said


def disclosed_values(findings: GraphFindings) -> dict[str, float]:
    """Return the figures of edges and values that can be limited, NaN where there are none."""
    values = {}
    columns = told_columns(findings)
    for name, field in (_OF_EDGES | _OF_VALUES).items():
        averages = [getattr(each, field) for each in (findings.edges[:1] if name in _OF_EDGES else columns)]
        for end, of in (("", "mean"), ("_high", "high")):
            if name + end != "edge_disclosure_lift_high":
                known = [value for value in (getattr(each, of) for each in averages) if not math.isnan(value)]
                values[name + end] = max(known, default=math.nan)
    return values


def edge_figures(learned: LearnedEdges) -> dict[str, Any]:
    """Return what JSON holds of the claims about edges in one way."""
    counts = ("claims", "right", "hidden", "by_common_neighbours", "by_degrees", "expected")
    people = {"people_with_hidden_edges": "people", "with_some_learned": "some", "with_all_learned": "all_of"}
    return {
        "way": learned.way,
        "precision": _average(learned.precision),
        "recall": _average(learned.recall),
        "guessing": _average(learned.guessing),
        "lift": _average(learned.lift),
        "original_share": learned.original_share,
        **{name: learned.mean(lambda each, name=name: getattr(each, name)) for name in counts},  # type: ignore[misc]
        **{name: learned.mean(lambda each, of=of: getattr(each, of)) for name, of in people.items()},  # type: ignore[misc]
        "learned_per_person": learned.mean(lambda each: each.mean),
        "learned_of_worst_1_percent": learned.mean(lambda each: each.worst),
    }


def column_figures(learned: LearnedColumn) -> dict[str, Any]:
    """Return what JSON holds of the claims about one column in one way; values of few people are not named."""
    return {
        "column": learned.column,
        "way": learned.way,
        "people": learned.mean(lambda each: each.people),
        "read_off_the_release": learned.mean(lambda each: each.read),
        "accuracy": _average(learned.accuracy),
        "guessing": _average(learned.guessing),
        "gain": _average(learned.gain),
        "values": [{**vars(each), "label": value_name(each.label, each.people)} for each in learned.values],
    }


def _average(each: AveragedMetric) -> dict[str, float]:
    return {"mean": each.mean, "low": each.low, "high": each.high}


def disclosed_sections(findings: GraphFindings) -> Iterator[Section]:
    """Yield what is learned about connections, and about people where values are released."""
    if findings.edges:
        yield Section(
            heading="What it learns about connections",
            lead=_EDGES_LEAD,
            blocks=(*edge_numbers(findings), *((edge_table(findings),) if claimed(findings) else ())),
            tells="whom",
        )
    if findings.columns:
        yield Section(
            heading="What it learns about people",
            lead=_VALUES_LEAD,
            blocks=tuple(value_table(each) for each in findings.columns),
            tells="whom",
        )

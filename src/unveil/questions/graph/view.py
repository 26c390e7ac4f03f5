"""How the findings about an attacked graph are shown: JSON, limits, table, page and pictures."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unveil.questions.graph.averages import AverageRow
from unveil.questions.graph.charts import (
    candidate_chart,
    cut_off_chart,
    histogram_charts,
    node_picture,
    reliability_chart,
    truth_chart,
)
from unveil.questions.graph.disclosure_words import claimed, edge_numbers, edge_sentence, told_columns, value_sentence
from unveil.questions.graph.findings import GraphFindings, of_nodes
from unveil.questions.graph.method_words import UNTESTED, method, question
from unveil.questions.graph.tables import cut_off_table, edge_table, metric_table, repetition_table, value_table
from unveil.questions.graph.words import explanation, headline, key_numbers, next_steps, tone
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Chart, Page, Section
from unveil.report.figures import frame_of
from unveil.report.limits import Quantity
from unveil.report.terminal import Figures, Part, opening
from unveil.report.trust import quantity_meanings

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

#: What is learned about edges by the mapping, and about values of the column that is told best.
_OF_EDGES = {
    "edge_disclosure_precision": "precision",
    "edge_disclosure_recall": "recall",
    "edge_disclosure_lift": "lift",
}
_OF_VALUES = {"attribute_disclosure_accuracy": "accuracy", "attribute_disclosure_gain": "gain"}
#: Limits can be set for the upper end of the interval of these too.
_WITH_HIGH_END = ("adversary_success_rate", "adversary_overall_success")


def meanings() -> dict[str, str]:
    """Return what each quantity means that a limit can be set for."""
    said = {name: of_nodes(text) for name, text in quantity_meanings().items()}
    ends = {
        f"{name}_high": f"the upper end of the 95% interval of {name} over the repetitions; undefined, and not "
        "checked, where fewer than two have one (nothing was attempted, or nothing repeated). Exceeded when greater "
        "than VALUE: more is less private"
        for name in _WITH_HIGH_END
    }
    return said | ends | _disclosed_meanings()


def quantities(findings: GraphFindings) -> dict[str, Quantity]:
    """Return what a limit can be set for: the mean of every metric, and the upper ends of both successes."""
    meaning = meanings()
    values = {each.metric.name: each.mean for each in findings.metrics}
    values |= {f"{name}_high": findings.metric(name).high for name in _WITH_HIGH_END} | _disclosed_values(findings)
    worse = {each.metric.name: each.metric.more_means == "less private" for each in findings.metrics}
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


def _disclosed_meanings() -> dict[str, str]:
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


def _disclosed_values(findings: GraphFindings) -> dict[str, float]:
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


def frame(findings: GraphFindings) -> "pl.DataFrame":
    """Return one row per metric: its mean over the repetitions, and the interval; of learned probabilities too."""
    import polars as pl

    rows = frame_of([AverageRow(each) for each in findings.metrics])
    if findings.calibrated is not None:
        learned = findings.calibrated.metrics
        rows = rows.with_columns(
            pl.Series(f"calibrated_{name}", [getattr(each, name) for each in learned], pl.Float64)
            for name in ("mean", "low", "high")
        )
    return rows.with_columns(pl.col(pl.Float64).fill_nan(None))


def plot(findings: GraphFindings) -> "NDArray[Any]":
    """Return matplotlib axes with the nodes of the first repetition, and the probabilities of the true nodes."""
    from unveil.report.draw import pyplot
    from unveil.report.draw.lines import draw
    from unveil.report.draw.rings import draw_rings

    _, axes = pyplot.subplots(1, 2, figsize=(11.4, 5.4), layout="constrained")
    draw_rings(node_picture(findings), axes[0])
    draw(truth_chart(findings), axes[1])
    row: NDArray[Any] = axes
    return row


def page(findings: GraphFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML. It names no node."""
    return Page(
        title="An attacked graph",
        question=question(findings),
        headline=headline(findings),
        explanation=(*explanation(findings), *filter(None, (edge_sentence(findings), value_sentence(findings)))),
        next_steps=next_steps(findings),
        picture=(node_picture(findings),) if findings.nodes.degree.size else (),
        tone=tone(findings),
        sections=tuple(_sections(findings)),
        method=method(findings),
        limitations=UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


def _sections(findings: GraphFindings) -> list[Section]:
    attempted = findings.attempted > 0
    sections = [Section(heading="How many are found", lead=_FOUND_LEAD, blocks=key_numbers(findings))]
    if findings.nodes.degree.size and attempted:
        lead = "A figure for all nodes hides that some are found and others are not."
        sections.append(Section(heading="How sure it is of whom", lead=lead, blocks=(truth_chart(findings),)))
    sections += _disclosed_sections(findings)
    sections.append(Section(heading="Every metric", lead=_METRICS_LEAD, blocks=(metric_table(findings),)))
    if attempted and findings.calibrated is not None:
        sections.append(
            Section(
                heading="What its scores are worth",
                lead=_CALIBRATION_LEAD,
                blocks=(reliability_chart(findings.calibrated),),
            )
        )
    if attempted:
        sections.append(
            Section(
                heading="How much of the doubt is in tiny probabilities",
                lead=_DOUBT_LEAD,
                blocks=(
                    candidate_chart(findings),
                    *_histograms(findings),
                    cut_off_chart(findings),
                    cut_off_table(findings),
                ),
            )
        )
    if findings.repeated:
        lead = "Figures above are means of these."
        sections.append(Section(heading="Repetitions", lead=lead, blocks=(repetition_table(findings),)))
    return sections


def _disclosed_sections(findings: GraphFindings) -> Iterator[Section]:
    """Yield what is learned about connections, and about people where values are released."""
    if findings.edges:
        yield Section(
            heading="What it learns about connections",
            lead=_EDGES_LEAD,
            blocks=(*edge_numbers(findings), *((edge_table(findings),) if claimed(findings) else ())),
        )
    if findings.columns:
        yield Section(
            heading="What it learns about people",
            lead=_VALUES_LEAD,
            blocks=tuple(value_table(each) for each in findings.columns),
        )


def _histograms(findings: GraphFindings) -> tuple[Chart, ...]:
    return histogram_charts(findings.histogram, None if findings.calibrated is None else findings.calibrated.histogram)


_EDGES_LEAD = (
    "Whoever has mapped nodes to people reads off the release who is connected to whom. What counts is what the "
    "adversary did not know, beside what it could have guessed from its own graph."
)
_VALUES_LEAD = (
    "Whatever is released at a node is learned of whoever is taken for it, and often without finding the very node. "
    "What counts is what exceeds a guess without the release."
)
_FOUND_LEAD = (
    "The first figure says how far a single claim of the adversary can be trusted, the second how many people it "
    "finds: to compare attacks take the second."
)
_METRICS_LEAD = (
    "How private the nodes are, in as many ways as the literature has. A metric of nodes is their mean, over those "
    "that have a value; private if high means that a higher value is more private."
)
_CALIBRATION_LEAD = (
    "An adversary that knows how far its scores can be trusted has probabilities, and only of these do entropy and its "
    "relatives say how unsure it is."
)
_DOUBT_LEAD = (
    "Entropy counts every candidate, likely or not, and so does the size of an anonymity set. A long tail of "
    "candidates that the adversary hardly believes in makes both look safe; the paper by Zhao and Wagner cuts them off "
    "at three probabilities to see that."
)


def brief(findings: GraphFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the figures, all metrics, and what cut-offs leave."""
    yield from opening(page(findings))
    yield ""
    yield Figures(key_numbers(findings))
    yield ""
    if claimed(findings):
        yield edge_table(findings)
        yield ""
    for column in told_columns(findings):
        yield value_table(column)
        yield ""
    yield metric_table(findings, as_written=True)
    if findings.attempted:
        yield ""
        yield cut_off_table(findings)


VIEW = QuestionView(
    schema="unveil.graph/1",
    findings=GraphFindings,
    about="The answer of `unveil graph`: who is found in a released graph. Counts are means over the repetitions.",
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=meanings,
)

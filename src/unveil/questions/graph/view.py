"""How the findings about an attacked graph are shown: JSON, limits, table, page and pictures."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from unveil.attacks.graph.resemblance import Resemblance
from unveil.questions.graph.charts import (
    candidate_chart,
    cut_off_chart,
    histogram_charts,
    node_picture,
    reliability_chart,
    truth_chart,
)
from unveil.questions.graph.disclosure_view import (
    column_figures,
    disclosed_meanings,
    disclosed_sections,
    disclosed_values,
    edge_figures,
)
from unveil.questions.graph.disclosure_words import claimed, edge_sentence, told_columns, value_sentence
from unveil.questions.graph.findings import AveragedMetric, CalibratedFindings, GraphFindings, of_nodes
from unveil.questions.graph.method_words import UNTESTED, method, question
from unveil.questions.graph.tables import cut_off_table, edge_table, metric_table, repetition_table, value_table
from unveil.questions.graph.words import explanation, headline, key_numbers, next_steps, tone
from unveil.questions.result import QuestionView
from unveil.report.blocks import Chart, Page, Section
from unveil.report.limits import Quantity
from unveil.report.terminal import Figures, Part, opening
from unveil.report.trust import quantity_meanings, trust_of

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

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
    return said | ends | disclosed_meanings()


def quantities(findings: GraphFindings) -> dict[str, Quantity]:
    """Return what a limit can be set for: the mean of every metric, and the upper ends of both successes."""
    meaning = meanings()
    values = {each.metric.name: each.mean for each in findings.metrics}
    values |= {f"{name}_high": findings.metric(name).high for name in _WITH_HIGH_END} | disclosed_values(findings)
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


def figures(findings: GraphFindings) -> Mapping[str, Any]:
    """Return what JSON holds; undefined figures, and intervals of a single repetition, are null in it.

    Counts are means over the repetitions; ``repetitions`` has those of each. Rates are means of the rates of the
    repetitions, those of attempts over the repetitions that attempted anything. ``deanonymizability_bound`` is the
    share of nodes that any adversary finds on average at the most, and ``share_of_bound`` how much of it was found: a
    single draw may be lucky and lie above 1. Each metric has as ``trust`` its grade in attacks on graphs
    (docs/grades.md), such as ``{"graphs": "use"}``, null where it has none, and as ``at_cap`` the share of nodes whose
    value is a cap that we chose, null where there is no cap. ``calibration`` has every metric again, of learned
    probabilities, or is null where that was not asked for. ``edges`` has what is learned about edges, by the mapping
    and by probabilities where there are such, empty where the original is not known; ``attributes`` the same for each
    column of values. ``resemblance`` says whether the auxiliary graph looks like one of the released graph, by edges
    that the attack was not shown; null where that was not looked at.
    """
    from unveil._version import __version__

    return {
        "version": __version__,
        "graph": None if findings.graph is None else dict(zip(("nodes", "edges"), findings.graph, strict=True)),
        "protect": findings.protect,
        "attack": findings.attack,
        "settings": {"protect": dict(findings.protect_settings), "attack": dict(findings.attack_settings)},
        "scope": findings.scope,
        "released": {
            "nodes": findings.mean(lambda each: each.released_nodes),
            "edges": findings.mean(lambda each: each.released_edges),
        },
        "auxiliary": {
            "nodes": findings.mean(lambda each: each.auxiliary_nodes),
            "edges": findings.mean(lambda each: each.auxiliary_edges),
        },
        "seed_pairs": findings.mean(lambda each: each.seeds),
        "overlap": findings.overlap,
        "node_share": findings.node_share,
        "connected": findings.connected,
        "repeat": len(findings.repetitions),
        "targets": findings.mean(lambda each: each.matches.targets),
        "stand_for_nobody": findings.mean(lambda each: each.matches.nobody),
        "truth_unknown": findings.mean(lambda each: each.unknown),
        "attempted": findings.mean(lambda each: each.matches.attempted),
        "correct": findings.mean(lambda each: each.matches.correct),
        "false_alarms": findings.false_alarms,
        "correct_by_chance": findings.mean(lambda each: each.matches.by_chance),
        "correct_by_random_mapping": findings.mean(lambda each: each.at_random),
        "most_found_on_average": findings.mean(lambda each: each.most),
        "deanonymizability_bound": findings.bound,
        "share_of_bound": findings.share_of_bound,
        "truth_not_considered": findings.mean(lambda each: each.matches.not_considered),
        "metrics": [{**row, "trust": trust_of(row["name"], ["graphs"])} for row in _metrics(findings.metrics)],
        "calibration": None if findings.calibrated is None else _calibration(findings.calibrated),
        "edges": [edge_figures(each) for each in findings.edges],
        "attributes": [column_figures(each) for each in findings.columns],
        "resemblance": None if findings.resemblance is None else _resemblance(findings.resemblance),
        "entropy_cut_offs": [dict(vars(each)) for each in findings.cut_offs],
        "histogram": {name: counts.tolist() for name, counts in vars(findings.histogram).items()},
        "repetitions": [
            {
                "released": {"nodes": each.released_nodes, "edges": each.released_edges},
                "targets": each.matches.targets,
                "stand_for_nobody": each.matches.nobody,
                "attempted": each.matches.attempted,
                "correct": each.matches.correct,
                "correct_by_random_mapping": each.at_random,
                "most_found_on_average": each.most,
            }
            for each in findings.repetitions
        ],
        "notes": list(findings.notes),
    }


def _resemblance(resemblance: Resemblance) -> dict[str, Any]:
    return {
        "edges_kept_back": resemblance.held,
        "on_released_edges": resemblance.found,
        "by_degree_alone": resemblance.by_degree,
        "share": resemblance.share,
        "doubtful": resemblance.doubtful,
    }


def _calibration(findings: CalibratedFindings) -> dict[str, Any]:
    return {
        "how": findings.how,
        "labels": findings.labels,
        "labels_right": findings.labels_right,
        "attempted_there": findings.attempted_there,
        "attempted_here": findings.attempted_here,
        "expected_success": findings.expected_success,
        "calibration_error_by_chance": findings.error_by_chance,
        "reliability": {
            name: [
                dict(zip(("stated", "right", "attempts"), (float(stated), float(right), int(size)), strict=True))
                for stated, right, size in zip(*groups, strict=True)
            ]
            for name, groups in (("raw", findings.raw), ("calibrated", findings.learned))
        },
        "metrics": _metrics(findings.metrics),
        "histogram": {name: counts.tolist() for name, counts in vars(findings.histogram).items()},
    }


def _metrics(metrics: Iterable[AveragedMetric]) -> list[dict[str, Any]]:
    return [
        {
            "name": each.metric.name,
            "category": each.metric.category,
            "per": each.metric.per,
            "more_means": each.metric.more_means,
            "mean": each.mean,
            "low": each.low,
            "high": each.high,
            "undefined": each.undefined,
            "why": each.why,
            "at_cap": each.at_cap,
        }
        for each in metrics
    ]


def frame(findings: GraphFindings) -> "pl.DataFrame":
    """Return one row per metric: its mean over the repetitions, and the interval; of learned probabilities too."""
    import polars as pl

    rows = pl.DataFrame(_metrics(findings.metrics))
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


def page(findings: GraphFindings, *, seed: int | None = None) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML. It names no node."""
    from unveil._version import __version__

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
        untested=UNTESTED,
        notes=findings.notes,
        seed=seed,
        version=__version__,
    )


def _sections(findings: GraphFindings) -> list[Section]:
    attempted = findings.mean(lambda each: each.matches.attempted) > 0
    sections = [Section(heading="How many are found", lead=_FOUND_LEAD, blocks=key_numbers(findings))]
    if findings.nodes.degree.size and attempted:
        lead = "A figure for all nodes hides that some are found and others are not."
        sections.append(
            Section(heading="How sure it is of whom", lead=lead, blocks=(truth_chart(findings),), tells="whom")
        )
    sections += disclosed_sections(findings)
    sections.append(Section(heading="Every metric", lead=_METRICS_LEAD, blocks=(metric_table(findings),)))
    if attempted and findings.calibrated is not None:
        sections.append(
            Section(
                heading="What its scores are worth",
                lead=_CALIBRATION_LEAD,
                blocks=(reliability_chart(findings.calibrated),),
                tells="sure",
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
                tells="sure",
            )
        )
    if findings.repeated:
        lead = "Figures above are means of these."
        sections.append(Section(heading="Repetitions", lead=lead, blocks=(repetition_table(findings),), tells="sure"))
    return sections


def _histograms(findings: GraphFindings) -> tuple[Chart, ...]:
    return histogram_charts(findings.histogram, None if findings.calibrated is None else findings.calibrated.histogram)


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
    if findings.mean(lambda each: each.matches.attempted):
        yield ""
        yield cut_off_table(findings)


VIEW = QuestionView(
    schema="unveil.graph/1",
    figures=figures,
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=meanings,
)

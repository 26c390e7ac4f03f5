"""What the matches disclose about edges that the attacker did not know."""

import math
from collections.abc import Iterator

import numpy as np

from unveil.questions.graph.findings import ClaimSource, GraphFindings, LearnedEdges
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, Style, TableBlock
from unveil.report.text import about, decimal, mean_count, percent, percent_range

#: The sources of claims.
SOURCES: dict[ClaimSource, str] = {
    "mapping": "Matches",
    "chances": "Probabilities above 1/2",
    "calibrated": "Calibrated probabilities above 1/2",
}


def section(findings: GraphFindings, context: PageContext) -> Section | None:
    """Return the section on disclosed edges; None where the original is not known."""
    del context
    if not findings.edges:
        return None
    is_claimed = any(each.claims for edges in findings.edges for each in edges.each)
    return Section(
        heading="Edge disclosure",
        question="Which edges does the attacker learn?",
        lead=edge_sentence(findings),
        blocks=(edge_chart(findings),) if is_claimed else (),
        data=(edge_table(findings), people_table(findings.edges[0])) if is_claimed else (),
    )


def edge_sentence(findings: GraphFindings) -> str:
    """Return in one or two sentences which edges the matches disclose, compared with guessing."""
    edges = findings.edges[0]
    hidden, claims = edges.hidden, edges.claims
    if hidden == 0:
        return "The attacker knows every edge among the nodes of the auxiliary graph: none is left to disclose."
    if claims == 0:
        return f"The matches claim none of the {mean_count(hidden)} edges that the attacker does not know."
    # 99.7% is not 100%.
    right = edges.precision.mean
    correct = percent(right) if 0.9 < right < 1 else about(right)
    rates = f"{correct} of {_claims(claims)} correct (guessing from the auxiliary graph: {about(edges.guessing.mean)})"
    if findings.drawn_anew:
        return f"The edges of the release are drawn from a model; none is taken from the original. Still, {rates}."
    if not is_above_guessing(edges):
        more = "no better" if right <= edges.guessing.mean else "hardly better"
        return f"The matches disclose edges {more} than guessing: {rates}."
    learned = f"The matches disclose {about(edges.recall.mean)} of {mean_count(hidden)} unknown edges"
    return f"{learned}; {rates}."


def _claims(claims: float) -> str:
    return "1 claim is" if claims == 1 else f"{mean_count(claims)} claims are"


def is_above_guessing(edges: LearnedEdges) -> bool:
    """Return whether claims are correct more often than guesses, beyond the chance variation of a repetition.

    Not by the interval over repetitions: of two or three it spans nearly everything, whatever each of them shows.
    """
    return edges.mean(lambda each: each.precision.low - each.guessing) > 0


def edge_chart(findings: GraphFindings) -> Chart:
    """Return precision and recall of the claims, compared with guessing."""
    first = findings.edges[0]
    rates = [[getattr(edges, rate) for edges in findings.edges] for rate in ("precision", "recall")]
    guesses = (first.by_common_neighbors, first.by_degrees)
    rows = (*(SOURCES[edges.way] for edges in findings.edges), "Guess: common neighbors", "Guess: degrees")
    styles: tuple[Style, Style] = ("first", "second")
    names = ("precision: claims that are correct", "recall: unknown edges that are claimed")
    series = tuple(
        Series(
            name=name,
            x=np.array([*(each.mean for each in rate), *others], float),
            y=np.arange(len(rows), dtype=np.float64),
            style=style,
            kind="points",
            low=np.array([*(_end(each.low, each.mean) for each in rate), *others], float),
            high=np.array([*(_end(each.high, each.mean) for each in rate), *others], float),
        )
        for name, rate, others, style in zip(names, rates, (guesses, (np.nan, np.nan)), styles, strict=True)
    )
    times = first.lift.mean
    caption = "" if math.isnan(times) else f"Claims are correct {decimal(times, places=1)} times as often as guesses."
    return Chart(
        title="Precision and recall of edge claims",
        x_label="share",
        y_label="",
        series=series,
        rows=rows,
        caption=f"{caption} Lines are 95% CI.".strip(),
        x_range=(0.0, 1.15),
        x_kind="share",
        small=True,
    )


def _end(value: float, mean: float) -> float:
    return mean if math.isnan(value) else value


def edge_table(findings: GraphFindings) -> TableBlock:
    """Return the claims about edges by their source, compared with as many guesses."""
    first = findings.edges[0]
    rows = [
        (
            SOURCES[edges.way],
            mean_count(edges.claims),
            percent(edges.precision.mean),
            percent_range(edges.precision.low, edges.precision.high),
            percent(edges.recall.mean),
            percent_range(edges.recall.low, edges.recall.high),
            "" if math.isnan(edges.expected) else percent(edges.expected),
        )
        for edges in findings.edges
    ]
    for kind, share in (("common neighbors", first.by_common_neighbors), ("degrees", first.by_degrees)):
        rows.append((f"Guess: {kind}", mean_count(first.claims), percent(share), "", "", "", ""))
    ci = "95% CI over repetitions" if findings.repeated else "95% CI of this release; claims that share a node depend"
    return TableBlock(
        caption="Edge claims",
        columns=("Source", "Claims", "Precision", "95% CI", "Recall", "95% CI", "Expected precision"),
        rows=tuple(rows),
        align=("left", *(("right",) * 6)),
        note=f"{ci}.",
    )


def people_table(edges: LearnedEdges) -> TableBlock:
    """Return how many edges are disclosed per person."""
    rows = (
        ("People with an unknown edge", mean_count(edges.people_with_unknown_edges)),
        ("People with a disclosed edge", mean_count(edges.with_some_learned)),
        ("People with all edges disclosed", mean_count(edges.with_all_learned)),
        ("Disclosed edges per person (mean)", mean_count(edges.learned_per_person)),
        ("Disclosed edges of the top 1% of people (at least)", mean_count(edges.learned_of_worst_1_percent)),
    )
    return TableBlock(
        caption="Disclosed edges per person", columns=("Count", "Mean"), rows=rows, align=("left", "right")
    )


def method(findings: GraphFindings) -> Iterator[str]:
    """Yield how edges are claimed and compared with guesses."""
    if not findings.edges:
        return
    edges = findings.edges[0]
    guessed = edges.guessed_by.replace("neighbours", "neighbors")
    yield (
        "Edge claims: pairs that the matches and seed pairs join, and the auxiliary graph does not. Unknown edges: "
        "original edges among people of the auxiliary graph that it lacks. Guessing claims as many pairs by common "
        f"neighbors (Adamic and Adar) or the product of degrees; here {guessed} guess better."
    )
    if len(findings.edges) > 1:
        known = edges.original_share
        share = (
            "The protection does not state that share: all released edges are taken as original."
            if known is None
            else f"The attacker knows that {percent(known)} of the released edges are original."
        )
        yield (
            "By probabilities, an edge is claimed if its probability exceeds 1/2. This probability is the "
            f"sum over released edges, times the share of original edges. {share}"
        )

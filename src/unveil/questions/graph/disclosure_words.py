"""What was learned about connections and values of people, in sentences and figures."""

import math
from collections.abc import Iterator

from unveil.questions.graph.averages import AveragedMetric
from unveil.questions.graph.findings import ClaimSource, GraphFindings, LearnedColumn, LearnedEdges
from unveil.questions.graph.words import few
from unveil.report.blocks import Number, Tone
from unveil.report.text import about, count, name, percent

#: How claims are made, in words.
WAYS: dict[ClaimSource, str] = {
    "mapping": "its mapping",
    "chances": "probabilities above 1/2",
    "calibrated": "learned probabilities above 1/2",
}
VALUE_WAYS: dict[ClaimSource, str] = {
    "mapping": "its mapping",
    "chances": "probabilities",
    "calibrated": "learned probabilities",
}


def edge_sentence(findings: GraphFindings) -> str:
    """Return in one sentence what is learned about edges by the mapping; nothing where the original is not known."""
    if not findings.edges:
        return ""
    edges = findings.edges[0]
    hidden, claims = edges.hidden, edges.claims
    if hidden == 0:
        return "It knew every edge among the people it has heard of, so that none was left to learn."
    if claims == 0:
        return f"Its mapping claims none of the {few(hidden)} edges that it did not know, nor any other."
    right, guess = about_rate(edges.precision), about(edges.guessing.mean)
    all_claims = "its only claim" if claims == 1 else f"its {few(claims)} claims"
    if findings.drawn_anew:
        return (
            f"The edges of the release were drawn anew, none was taken over from the original: {right} of {all_claims} "
            f"about edges that it did not know {_happen(claims)}, where guessing from its own graph gives {guess}."
        )
    if not _above(edges):
        more = "no more than" if edges.precision.mean <= edges.guessing.mean else "hardly more than"
        return (
            f"About edges that it did not know it learns nothing to rely on: {right} of {all_claims} are right, {more} "
            f"guessing from its own graph gives ({guess})."
        )
    return (
        f"With its mapping it learns {about(edges.recall.mean)} of the {few(hidden)} edges that it did not know, "
        f"{right} of {all_claims} being right, where guessing from its own graph gives {guess}."
    )


def claimed(findings: GraphFindings) -> bool:
    """Return whether any edge was claimed, in any way and repetition."""
    return any(each.claims for edges in findings.edges for each in edges.each)


def _happen(claims: float) -> str:
    return "happens to be right" if claims == 1 else "happen to be right"


def _above(edges: LearnedEdges) -> bool:
    """Return whether claims are right more often than guesses, beyond what the claims of a repetition vary by chance.

    Not by the interval over repetitions: of two or three it spans nearly everything, whatever each of them shows.
    """
    return edges.mean(lambda each: each.precision.low - each.guessing) > 0


def about_rate(rate: AveragedMetric) -> str:
    """Return a share that is near 1 with a decimal more: 99.7% is not 100%.

    >>> from unveil.metrics import METRICS
    >>> from unveil.questions.graph.averages import averaged
    >>> about_rate(averaged(METRICS["edge_disclosure_precision"], [0.9972], [""]))
    '99.7%'
    """
    return percent(rate.mean) if 0.9 < rate.mean < 1 else about(rate.mean)


def value_sentence(findings: GraphFindings) -> str:
    """Return in one sentence what is learned about values: the column with the largest gain."""
    columns = told_columns(findings)
    defined = [each for each in columns if not math.isnan(each.gain.mean)]
    if not defined:
        return "" if not columns else "No value of anybody whom it did not know could be checked."
    best = max(defined, key=lambda each: each.gain.mean)
    which = f"the value of {name(best.column, 30)}" + ("" if len(columns) == 1 else f" (of {len(columns)} columns)")
    guess, right = about(best.guessing.mean), about(best.accuracy.mean)
    if not best.mean(lambda each: each.gain.value if math.isnan(each.gain.low) else each.gain.low) > 0:
        return (
            f"About values it learns nothing to rely on: it tells {which} rightly of {right} of the people it did not "
            f"know, where guessing without the release gives {guess}."
        )
    return (
        f"It tells {which} rightly of {right} of the people it did not know, where guessing from its own graph gives "
        f"{guess}."
    )


def told_columns(findings: GraphFindings) -> tuple[LearnedColumn, ...]:
    """Return each column once, in the best founded way: by probabilities where there are such, else by the mapping."""
    last = {each.column: each for each in findings.columns}
    return tuple(last.values())


def edge_numbers(findings: GraphFindings) -> Iterator[Number]:
    """Yield the figures about edges that matter most: what is claimed, what is learned, and what single people lose."""
    edges = findings.edges[0]
    hidden, claims = edges.hidden, edges.claims
    right = edges.right
    tone: Tone = "bad" if _above(edges) and edges.precision.mean >= 0.5 and not findings.drawn_anew else "neutral"
    yield Number(
        label="Claims about edges that are right",
        value=percent(edges.precision.mean) if claims else "nothing claimed",
        meaning=f"{few(right)} of {few(claims)} pairs of people whom its own graph does not join, and whose nodes the "
        f"release joins. As many guessed from its own graph alone are right in {percent(edges.guessing.mean)}."
        f"{interval(edges.precision, findings)}"
        if claims
        else "Its mapping joins nobody who is not joined in its own graph.",
        tone=tone,
    )
    if not hidden:
        return
    yield Number(
        label="Edges learned, of those it did not know",
        value=percent(edges.recall.mean),
        meaning=f"{few(right)} of {count(hidden, 'edge', 'edges') if hidden == 1 else f'{few(hidden)} edges'} among "
        f"people it has heard of that its own graph lacks.{interval(edges.recall, findings)}",
        tone=tone,
    )
    yield Number(
        label="People with an edge that it learns",
        value=f"{few(edges.with_some_learned)} of {few(edges.people_with_hidden_edges)}",
        meaning=f"Of people with an edge that it did not know. Of {few(edges.with_all_learned)} it learns every one; "
        f"the mean is {few(edges.learned_per_person)} edges each.",
    )
    yield Number(
        label="Those who lose most",
        value=f"{few(edges.learned_of_worst_1_percent)} or more",
        meaning="So many edges are learned of each of the 1% of all people of whom the most are.",
    )


def interval(rate: AveragedMetric, findings: GraphFindings) -> str:
    """Return the interval of a rate, and what it rests on."""
    if math.isnan(rate.low):
        return ""
    if findings.repeated:
        if rate.agree:
            return " All repetitions gave the same, which does not say that others would."
        return f" 95% interval over the repetitions: {percent(rate.low)} to {percent(rate.high)}."
    return (
        f" 95% interval {percent(rate.low)} to {percent(rate.high)}: of this release and this knowledge, with claims "
        "that share a node going together."
    )


def edge_method(findings: GraphFindings) -> Iterator[str]:
    """Yield how claims about edges are made and judged."""
    if not findings.edges:
        return
    edges = findings.edges[0]
    yield (
        "An edge is claimed where the mapping, seed pairs included, joins two people whom the auxiliary graph does "
        "not. To be learned are original edges among people of the auxiliary graph that it lacks. Guessing takes as "
        "many pairs from the auxiliary graph alone, those with the most common neighbours (Adamic and Adar) or with "
        f"the largest product of degrees, ties by lot; here {edges.guessed_by} are right more often."
    )
    if len(findings.edges) > 1:
        known = edges.original_share
        share = (
            "Which share of the released edges is original is not known of this protection: all are taken for original."
            if known is None
            else f"The adversary knows that {percent(known)} of the released edges are original."
        )
        yield (
            "By probabilities, an edge is claimed where it is more likely than not: the sum, over released edges, of "
            "the chances that their ends are these two, times the share of original edges among released ones that the "
            f"auxiliary graph lacks. {share}"
        )


def value_method(findings: GraphFindings) -> Iterator[str]:
    """Yield how claims about values are made and judged."""
    if findings.columns:
        yield (
            "Values are released at nodes, those of nodes that stand for nobody by lot. The value of somebody is taken "
            "to be the one that the nodes taken for them have, by probability where there are several: if all of these "
            "have the same value it is learned, although nobody is found. Guessing takes the commonest value among "
            "neighbours in the auxiliary graph whom the adversary knew, else the commonest of all; whoever has no node "
            "is guessed in either case. Intervals of a single repetition take people for independent."
        )

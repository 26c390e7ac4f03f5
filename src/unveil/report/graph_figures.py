"""The figures of an attacked graph as text: the same on the page and in the terminal."""

import math
import re
from collections.abc import Iterator

from unveil.report.blocks import Number, Side, Table, Tone
from unveil.report.candidates_verdict import summary_of, title_of
from unveil.report.graph_charts import cut_off_name
from unveil.report.graph_findings import AttackedGraph, Averaged
from unveil.report.text import count, decimal, percent

_LEFT: Side = "left"
_RIGHT: Side = "right"
# Whoever is given less than this looks hidden.
_UNLIKELY = 0.1


def attacked_tone(found: AttackedGraph) -> Tone:
    """Return how the headline should strike: bad when every second attempt, or every second node, is right.

    Nobody found is neutral, not good: it does not say what another adversary would find.
    """
    if found.mean(lambda each: each.matches.correct) == 0:
        return "neutral"
    rate, overall = (found.metric(name).mean for name in ("adversary_success_rate", "adversary_overall_success"))
    return "bad" if max(rate, 0.0 if math.isnan(overall) else overall) >= 0.5 else "warning"


def attacked_headline(found: AttackedGraph) -> str:
    """Return the answer in one sentence, or two: how many nodes were found, and how many by guessing at random."""
    attempted = found.mean(lambda each: each.matches.attempted)
    somebody = found.mean(lambda each: each.matches.somebody)
    correct = found.mean(lambda each: each.matches.correct)
    blind = found.mean(lambda each: each.at_random)
    often = f"On average over {len(found.repetitions)} repetitions, the" if found.repeated else "The"
    attack = f"{often} attack {found.attack}"
    nodes = count(somebody, "node", "nodes")
    if somebody == 0:
        return "No match can be right: none of the released nodes that the adversary did not know stands for anybody."
    if attempted == 0:
        return f"{attack} attempted none of the {nodes} that the adversary did not know."
    random = f"Random guessing would find {decimal(blind, places=1)}."
    if correct == 0:
        return f"{attack} found none of {nodes}, in {_some(attempted, 'attempt', 'attempts')}. {random}"
    rate = percent(found.metric("adversary_success_rate").mean)
    overall = percent(found.metric("adversary_overall_success").mean)
    matched = f"{attack} found {decimal(correct, places=1)} of {nodes} that the adversary did not know:"
    if found.repeated:
        # A mean of rates is not the rate of means, so the number of attempts would only confuse.
        return f"{matched} {overall} of all, and {rate} of its attempts were right. {random}"
    return f"{matched} {rate} of the {decimal(attempted, places=1)} it attempted, {overall} of all. {random}"


def key_numbers(found: AttackedGraph) -> tuple[Number, ...]:
    """Return the figures that matter most: how often the adversary is right, and how much it attempted."""
    return (*_success(found), *_reach(found), *_looked_hidden(found))


def _success(found: AttackedGraph) -> Iterator[Number]:
    attempted = found.mean(lambda each: each.matches.attempted)
    somebody = found.mean(lambda each: each.matches.somebody)
    correct = found.mean(lambda each: each.matches.correct)
    blind = found.mean(lambda each: each.at_random)
    by_chance = found.mean(lambda each: each.matches.by_chance)
    tone = attacked_tone(found)
    yield Number(
        label="Right, of those attempted",
        value=percent(found.metric("adversary_success_rate").mean) if attempted else "nothing attempted",
        meaning=f"{decimal(correct, places=1)} of {_some(attempted, 'attempt', 'attempts')} named the right "
        f"node.{_interval(found, 'adversary_success_rate')}",
        reference=percent(blind / attempted) if attempted else "",
        tone=tone,
    )
    yield Number(
        label="Found, of all nodes",
        value=percent(found.metric("adversary_overall_success").mean),
        meaning=f"{decimal(correct, places=1)} of {_some(somebody, 'node', 'nodes')} that the adversary did not know "
        f"and that stand for somebody.{_interval(found, 'adversary_overall_success')}",
        reference=percent(blind / somebody) if somebody else "",
        tone=tone,
    )
    if attempted:
        yield Number(
            label="By picking blindly among its candidates",
            value=decimal(by_chance, places=1),
            meaning="So many attempts would be right if the attack only left its candidates, and one of them were "
            "picked blindly. What is above that is due to the scores.",
        )


def _reach(found: AttackedGraph) -> Iterator[Number]:
    attempted, targets, nobody, tried, lost = (
        found.mean(lambda each, name=name: getattr(each.matches, name))  # type: ignore[misc]
        for name in ("attempted", "targets", "nobody", "nobody_attempted", "not_considered")
    )
    seeds = found.mean(lambda each: each.seeds)
    yield Number(
        label="Nodes attempted",
        value=f"{decimal(attempted, places=1)} of {decimal(targets, places=1)}",
        meaning=f"Released nodes for which the attack settled on somebody. The {_some(seeds, 'node', 'nodes')} that "
        "the adversary knew before are in no figure here.",
    )
    if nobody:
        yield Number(
            label="Nodes that stand for nobody",
            value=decimal(nobody, places=1),
            meaning=f"No match of them can be right; {decimal(tried, places=1)} of them "
            f"{'was' if tried == 1 else 'were'} attempted in vain.",
        )
    if lost:
        yield Number(
            label="True node not considered",
            value=decimal(lost, places=1),
            meaning="Attempts in which the true node was not among the candidates: they are wrong, and the truth "
            "counts as given no probability.",
        )


def _looked_hidden(found: AttackedGraph) -> Iterator[Number]:
    nodes = found.nodes
    number = int(((nodes.right > 0.5) & (nodes.probability < _UNLIKELY)).sum())
    if number:
        first = " (in the first repetition)" if found.repeated else ""
        yield Number(
            label="Found although they looked hidden",
            value=count(number),
            meaning=f"Nodes rightly matched{first} whose true node was given less than 1/10: the scores hardly differ, "
            "but their order does. Metrics of uncertainty call such nodes private, and they are not.",
        )


def _interval(found: AttackedGraph, name: str) -> str:
    metric = found.metric(name)
    if math.isnan(metric.low):
        return ""
    return (
        f" Mean of the rates of all repetitions, with the 95% interval {percent(metric.low)} to {percent(metric.high)}."
    )


def metric_table(found: AttackedGraph, *, as_written: bool = False) -> Table:
    """Return all metrics in rows; ``as_written`` names them as options do, and leaves out what they are."""
    reasons = dict.fromkeys(f"{count(each.undefined)} times ({each.why})" for each in found.metrics if each.undefined)
    capped = found.chunk is not None
    notes = []
    if reasons:
        notes.append(f"No value in some repetitions: {'; '.join(reasons)}.")
    if capped:
        notes.append(f"* cannot be larger than {found.chunk} candidates at a time allow.")
    columns = {"Metric": _LEFT, "Mean": _RIGHT, "95% interval": _RIGHT, "Private": _LEFT}
    columns |= {} if as_written else {"Kind": _LEFT, "What it is": _LEFT}
    shown = [name for name in columns if found.repeated or name != "95% interval"]
    return Table(
        caption=f"{len(found.metrics)} metrics",
        columns=tuple(shown),
        rows=tuple(tuple(_row(each, as_written, capped)[name] for name in shown) for each in found.metrics),
        align=tuple(columns[name] for name in shown),
        note=" ".join(notes),
        prose=not as_written,
    )


def _row(each: Averaged, as_written: bool, capped: bool) -> dict[str, str]:
    metric = each.metric
    # On a page both ends of an interval stay on one line.
    space = " " if as_written else "\u00a0"
    star = "*" if capped and metric.affected_by_chunking else ""
    return {
        "Metric": (metric.name if as_written else title_of(metric)) + star,
        "Mean": decimal(each.mean),
        "95% interval": "" if math.isnan(each.low) else f"{decimal(each.low)}{space}to{space}{decimal(each.high)}",
        "Private": "if high" if metric.more_means == "more private" else "if low",
        "Kind": metric.category,
        "What it is": _of_nodes(summary_of(metric)),
    }


def _of_nodes(sentence: str) -> str:
    """Return a sentence about targets as one about nodes.

    >>> _of_nodes("The Shannon entropy of each target's candidates; targets have several.")
    "The Shannon entropy of each node's candidates; nodes have several."
    """
    return re.sub(r"\btarget(s?)\b", r"node\1", sentence)


def cut_off_table(found: AttackedGraph) -> Table:
    """Return what each cut-off leaves of the entropy, and what it leaves out."""
    whole = found.cut_offs[0].entropy
    return Table(
        caption="Entropy without unlikely candidates",
        columns=("Counted are", "Entropy in bits", "Of all entropy", "Candidates left out", "Probability left out"),
        rows=tuple(
            (
                cut_off_name(each.least),
                decimal(each.entropy),
                percent(each.entropy / whole) if whole > 0 else "",
                percent(each.candidates_left_out),
                percent(each.probability_left_out),
            )
            for each in found.cut_offs
        ),
        align=(_LEFT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
        note="Means over the attempted nodes. What is left of the probabilities is not divided by its sum.",
    )


def repetition_table(found: AttackedGraph) -> Table:
    """Return the counts of each repetition."""
    return Table(
        caption="Each repetition",
        columns=("Repetition", "Released nodes", "Released edges", "Attempted", "Right", "Random guessing"),
        rows=tuple(
            (
                str(number),
                f"{each.released_nodes:,}",
                f"{each.released_edges:,}",
                f"{each.matches.attempted:,}",
                decimal(each.matches.correct, places=1),
                decimal(each.at_random, places=1),
            )
            for number, each in enumerate(found.repetitions, start=1)
        ),
        align=(_RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT, _RIGHT),
    )


def _some(value: float, one: str, many: str) -> str:
    return f"{decimal(value, places=1)} {one if value == 1 else many}"

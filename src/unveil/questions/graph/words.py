"""The figures of an attacked graph that matter most, as text: the same on the page and in the terminal."""

import math
from collections.abc import Iterator

from unveil.questions.graph.findings import CalibratedFindings, GraphFindings
from unveil.report.blocks import Number, Tone
from unveil.report.text import about, count, decimal, percent, significant

_RATES = ("adversary_success_rate", "adversary_overall_success")
# Whoever is given less than this looks hidden.
_UNLIKELY = 0.1
# From here on decimals tell nothing.
_MANY = 100


def tone(findings: GraphFindings) -> Tone:
    """Return how the headline should strike: bad when every second attempt, or every second node, is right.

    Counted is what lies above random guessing, as a share of what could. Nobody found beyond that is neutral, not
    good: it does not say what another adversary would find.
    """
    blind = findings.correct_by_random_mapping
    if findings.correct <= blind + 1e-9:
        return "neutral"
    pairs = ((findings.metric(name).mean, chance) for name, chance in zip(_RATES, _chances(findings), strict=True))
    above = [(rate - chance) / (1 - chance) for rate, chance in pairs if chance < 1 and not math.isnan(rate)]
    return "bad" if max(above, default=0.0) >= 0.5 else "warning"


def _chances(findings: GraphFindings) -> tuple[float, float]:
    """Return the share of attempts and of nodes that random guessing gets right: means of rates, as those shown are."""
    return (
        findings.mean_share(lambda each: each.at_random, lambda each: each.matches.attempted),
        findings.mean_share(lambda each: each.at_random, lambda each: each.matches.somebody),
    )


def headline(findings: GraphFindings) -> str:
    """Return the answer in one sentence: how many nodes were found, with its interval, and how many by chance."""
    attempted = findings.attempted
    somebody = findings.mean(lambda each: each.matches.somebody)
    correct = findings.correct
    nodes = count(somebody, "node", "nodes")
    attack = f"The attack {findings.attack}"
    if somebody == 0:
        return "No match can be right: none of the released nodes that the adversary did not know stands for anybody."
    if attempted == 0:
        if somebody == 1:
            return f"{attack} did not attempt the only node that the adversary did not know."
        return f"{attack} attempted none of the {nodes} that the adversary did not know."
    random = f"where random guessing finds {few(findings.correct_by_random_mapping)}"
    if correct == 0:
        none = "did not find the only node" if somebody == 1 else f"found none of {nodes}"
        return f"{attack} {none}, in {_some(attempted, 'attempt', 'attempts')}, {random}."
    overall = findings.metric(_RATES[1])
    return (
        f"{attack} found {few(correct)} of {nodes} that the adversary did not know ({about(overall.mean)}"
        f"{_over(findings)}), {random}."
    )


def _over(findings: GraphFindings) -> str:
    """Return where the mean share of nodes found lies, and over how many repetitions; nothing of a single one."""
    if not findings.repeated:
        return ""
    overall, many = findings.metric(_RATES[1]), len(findings.repetitions)
    if overall.agree or math.isnan(overall.low):
        return f", mean of {many} repetitions"
    return f", 95% interval {about(overall.low)} to {about(overall.high)} over {many} repetitions"


def explanation(findings: GraphFindings) -> tuple[str, ...]:
    """Return how much was attempted, and how far a single claim of the adversary can be trusted."""
    seen = findings.resemblance
    return (*_reached(findings), *([seen.sentence] if seen is not None and seen.doubtful else []))


def _reached(findings: GraphFindings) -> tuple[str, ...]:
    attempted, targets = findings.attempted, findings.targets
    if attempted == 0:
        return ("That says nothing about what an adversary who attempts something would find.",)
    rate = about(findings.metric(_RATES[0]).mean)
    if attempted == targets:
        return (f"It attempted every node that it did not know, and {rate} of its attempts were right.",)
    reached = f"It attempted {few(attempted)} of {few(targets)} nodes, and"
    if not findings.correct:
        return (f"{reached} none of its attempts was right.",)
    return (
        f"{reached} {rate} of its attempts were right: an attack that leaves out what is hard can be right often and "
        "find few.",
    )


def next_steps(findings: GraphFindings) -> tuple[str, ...]:
    """Return what to do about it."""
    steps = []
    if tone(findings) in ("bad", "warning"):
        steps.append("Protect the graph further before it goes out, and attack it again: 'unveil list protections'.")
    else:
        steps.append("Attack it in other ways before you rely on this: 'unveil list attacks'.")
    if not findings.repeated:
        steps.append("Repeat it (--repeat 10) to see by how much other releases and other knowledge differ.")
    return tuple(steps)


def key_numbers(findings: GraphFindings) -> tuple[Number, ...]:
    """Return the figures that matter most: how often the adversary is right, and how much it attempted."""
    return (*_success(findings), *_reach(findings), *_looked_hidden(findings), *_calibration(findings))


def _success(findings: GraphFindings) -> Iterator[Number]:
    attempted = findings.attempted
    somebody = findings.mean(lambda each: each.matches.somebody)
    correct = findings.correct
    of_attempts, of_nodes_there = _chances(findings)
    by_chance = findings.correct_by_chance
    struck = tone(findings)
    yield Number(
        label="Right, of those attempted",
        value=percent(findings.metric("adversary_success_rate").mean) if attempted else "nothing attempted",
        meaning=f"{few(correct)} of {_some(attempted, 'attempt', 'attempts')} named the right "
        f"node.{_interval(findings, 'adversary_success_rate')}"
        if attempted
        else "There is no attempt that could be right, and so no such share.",
        reference=percent(of_attempts) if attempted else "",
        tone=struck,
    )
    yield Number(
        label="Found, of all nodes",
        value=percent(findings.metric("adversary_overall_success").mean),
        meaning=f"{few(correct)} of {_some(somebody, 'node', 'nodes')} that the adversary did not know "
        f"and that {'stands' if somebody == 1 else 'stand'} for somebody.{_interval(findings, _RATES[1])}",
        reference=percent(of_nodes_there) if somebody else "",
        tone=struck,
    )
    if somebody:
        most = findings.most_found_on_average
        reached = f" The attack found {percent(findings.share_of_bound)} of that." if most else ""
        yield Number(
            label="The most that any attack finds on average",
            value=percent(findings.bound),
            meaning=f"{few(most)} of {_some(somebody, 'node', 'nodes')}: the others have the same neighbours as "
            f"somebody else, and cannot be told apart.{reached}",
        )
    if attempted:
        yield Number(
            label="By picking blindly among its candidates",
            value=few(by_chance),
            meaning="So many attempts would be right if the attack only left its candidates, and one of them were "
            "picked blindly. What is above that is due to the scores.",
        )


def _reach(findings: GraphFindings) -> Iterator[Number]:
    attempted, nobody, lost = findings.attempted, findings.stand_for_nobody, findings.truth_not_considered
    tried = findings.mean(lambda each: each.matches.nobody_attempted)
    seeds = findings.seed_pairs
    known = f"The {_those(seeds)} that the adversary knew before {'is' if seeds == 1 else 'are'} in no figure here."
    yield Number(
        label="Nodes attempted",
        value=f"{few(attempted)} of {few(findings.targets)}",
        meaning="Released nodes for which the attack settled on somebody. "
        f"{known if seeds else 'The adversary knew no node before.'}",
    )
    unknown = findings.truth_unknown
    if unknown:
        yield Number(
            label="Nodes of which the truth says nothing",
            value=few(unknown),
            meaning="The attack saw them, but whether it was right about them is not known: no figure counts them.",
        )
    if nobody:
        yield Number(
            label="Nodes that stand for nobody",
            value=few(nobody),
            meaning=f"No match of them can be right; {few(tried)} of them "
            f"{'was' if tried == 1 else 'were'} attempted in vain ({percent(findings.false_alarms)}, false alarms).",
        )
    if lost:
        yield Number(
            label="True node not considered",
            value=few(lost),
            meaning="Attempts in which the true node was not among the candidates: they are wrong, and the truth "
            "counts as given no probability.",
        )


def _looked_hidden(findings: GraphFindings) -> Iterator[Number]:
    nodes = findings.nodes
    number = int(((nodes.right > 0.5) & (nodes.probability < _UNLIKELY)).sum())
    if number:
        first = " (in the first repetition)" if findings.repeated else ""
        yield Number(
            label="Found although they looked hidden",
            value=count(number),
            meaning=f"Nodes rightly matched{first} whose true node was given less than 1/10: its score hardly "
            "exceeds the others, but it does. Metrics of uncertainty call such nodes private, and they are not.",
        )


def _calibration(findings: GraphFindings) -> Iterator[Number]:
    learned = findings.calibrated
    if learned is None or not findings.attempted:
        return
    error = "expected_calibration_error"
    yield Number(
        label="Calibration error",
        value=percent(learned.metric(error).mean),
        meaning="How far the learned chance of a choice is from how often such choices are right, on average; with raw "
        f"scores it is {percent(findings.metric(error).mean)}. With so few attempts, chances that are just what they "
        f"say "
        f"would have {percent(learned.error_by_chance)} by lot.",
    )
    yield Number(
        label="What the adversary expects to have found",
        value=percent(learned.expected_success),
        meaning="Of all nodes, by the learned chances of its choices, without knowing the truth; in truth it is "
        f"{percent(findings.metric(_RATES[1]).mean)}.",
    )


def calibration_words(learned: CalibratedFindings) -> list[str]:
    """Return how probabilities were learned, in sentences."""
    labels = few(learned.labels)
    own = (
        "The adversary took the released graph for an original, protected it the same way once more, drew from it as "
        "much knowledge as it has of the same nodes, and attacked it, twice or more often until it had 2,000 choices "
        "(20 times at most)"
        if learned.how == "simulate"
        else "The adversary attacked the release five times, each time without a fifth of the seed pairs, which then "
        "told what was right"
    )
    return [
        f"Calibrated: {own}. From {labels} choices, of which {about(learned.labels_right)} were right, a logistic "
        "regression (from 200 on the mean of it and a monotone curve, from 2,000 on that curve) learned how likely a "
        "choice is right, by its score, its lead, the number of candidates and both degrees. The rest of the "
        "probability goes to the other candidates and to all who are still free; a node that was not attempted may be "
        "anybody who is.",
    ]


def _interval(findings: GraphFindings, name: str) -> str:
    metric = findings.metric(name)
    known = len(findings.repetitions) - metric.undefined
    if not findings.repeated or not known:
        return ""
    of = "all repetitions" if not metric.undefined else f"the {known} repetitions that have one"
    if known == 1:
        return " The rate of the only repetition that has one, and so without an interval."
    if math.isnan(metric.low):
        return ""
    if metric.agree:
        return f" The rates of {of} are the same, so an interval would have no width; that is no proof for others."
    return f" Mean of the rates of {of}, with the 95% interval {percent(metric.low)} to {percent(metric.high)}."


def _those(number: float) -> str:
    return "node" if number == 1 else f"{few(number)} nodes"


def _some(value: float, one: str, many: str) -> str:
    return f"{few(value)} {one if value == 1 else many}"


def few(value: float) -> str:
    """Return how many there are on average, without an exponent, and from 100 on without decimals.

    >>> few(820.8), few(12.34), few(0.03), few(0.0026), few(0)
    ('821', '12.3', '0.03', 'less than 0.01', '0')
    """
    text = decimal(value, places=0 if value >= _MANY else 1)
    if "e-" not in text:
        return text
    return decimal(value, places=2) if value >= 0.005 else "less than 0.01"


def cut_off_name(at_least: float) -> str:
    """Return what a cut-off does, in words.

    >>> cut_off_name(0.0), cut_off_name(0.001)
    ('all candidates', 'those with 0.001 or more')
    """
    return "all candidates" if at_least == 0 else f"those with {significant(at_least)} or more"


def alike(findings: GraphFindings) -> str:
    """Return a warning where a cut-off is about an even share, and parts candidates that are nearly alike.

    That is so where those left out have, each, at least half of the probability of an average candidate.
    """
    for cut in findings.cut_offs:
        if cut.candidates_left_out > 0 and cut.probability_left_out >= 0.5 * cut.candidates_left_out:
            attempts = sum(each.matches.attempted for each in findings.repetitions)
            number = round(float(findings.candidate_counts.sum()) / max(attempts, 1))
            return (
                f" But with about {count(number, 'candidate', 'candidates')} to a node, {significant(cut.least)} is "
                "near an even share: what this cut-off takes away hardly differs from what it leaves, and is no long "
                "tail."
            )
    return ""

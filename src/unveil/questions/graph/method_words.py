"""What was asked about a graph, how it was answered, and what was not looked at, in sentences."""

from unveil.questions.graph.disclosure_words import edge_method, value_method
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.graph.words import calibration_words
from unveil.report.text import count, decimal, short_percent

#: What no figure of the page speaks of.
UNTESTED = (
    "Whether another attack, more connections, more known people or better scores would find more: 'unveil list "
    "attacks' names the others.",
    "What else is published about the nodes, such as attributes, times or texts, and what an adversary knows of these.",
    "What is learned about connections without mapping anybody; and, unless attributes are given, what else is learned "
    "about somebody who is found.",
)


def question(findings: GraphFindings) -> str:
    """Return what was asked: what was released, and what the adversary knows of it."""
    seeds = f"{count(findings.seed_pairs, 'node', 'nodes')} in it"
    if findings.graph is None:
        return f"Who is found in the released graph by an adversary who knows {seeds} and an auxiliary graph?"
    nodes, edges = findings.graph
    share = short_percent(findings.overlap or 0.0)
    if findings.node_share not in (None, 1.0):
        share = f"{short_percent(findings.node_share or 0.0)} of the nodes, {share}"
    among = "" if findings.node_share in (None, 1.0) else " among them"
    return (
        f"Who is found in a graph of {count(nodes, 'node', 'nodes')} and {count(edges, 'edge', 'edges')} after "
        f"{findings.protect}, by an adversary who knows {share} of the edges{among} and {seeds}?"
    )


def method(findings: GraphFindings) -> tuple[str, ...]:
    """Return how the figures came about."""
    many = len(findings.repetitions)
    sentences = [*_how_it_was_run(findings), *_settings(findings)]
    if findings.paired_by_rank:
        sentences.append(
            "The release is a graph drawn anew, whose nodes are nobody's. Each was paired with the original node whose "
            "degree has the same rank, and counts as found when the adversary names that one."
        )
    sentences += [
        "Nodes that the adversary knew before are no attempts and in no figure."
        + (" Nor are those of which the truth says nothing." if findings.truth_unknown else ""),
        "The probability of a candidate is its score over the sum of the scores that were compared when the node was "
        "decided. A node that the attack settled on nobody for was not attempted: it has no probabilities, counts as "
        "hidden and as innocent, and lowers overall success.",
        "Random guessing gives each attempted node any auxiliary node that the adversary did not know before.",
        "Nodes with the same neighbours can be exchanged and nobody sees it: of c such nodes, in the release or in the "
        "auxiliary graph, each is found with a chance of at most 1/c. That bounds what any attack finds on average, if "
        "numbers and names tell nothing; other symmetries, which were not looked for, may leave less.",
        "Where the true node was given no probability, surprise would be infinite; it is capped at that of a "
        "probability of 1e-12.",
    ]
    sentences += [*edge_method(findings), *value_method(findings)]
    if findings.calibrated is not None:
        sentences += calibration_words(findings.calibrated)
    if many > 1:
        sentences.append(
            f"Intervals are those of Student's t at 95% over {many} repetitions, cut where the range of the metric "
            "ends: the mean of many more repetitions would lie in them, not a single one. Where all agree, an interval "
            "has no width, which does not say that the next would agree too. A repetition in which nothing was "
            "attempted has no share of right attempts."
        )
    if findings.chunk is not None:
        sentences.append(
            f"The attack compares {findings.chunk} nodes at a time, of about as many connections. So no node has more "
            f"candidates than {findings.chunk}, and metrics that grow with their number have a ceiling."
        )
    sources = dict.fromkeys(each.metric.source for each in findings.metrics)
    return (*sentences, f"Definitions of the metrics: {'; '.join(sources)}.")


def _how_it_was_run(findings: GraphFindings) -> list[str]:
    many, anew = len(findings.repetitions), " anew" if findings.repeated else ""
    seeds = count(findings.seed_pairs, "node", "nodes")
    attack = f"the attack {findings.attack}{f' (a {findings.scope} one)' if findings.scope else ''}"
    if findings.graph is None:
        drawn = "were given" if findings.given_seeds else f"were drawn{anew} from the truth"
        times = f" {many} times" if findings.repeated else ""
        return [
            "The released and the auxiliary graph were made elsewhere.",
            f"They met {attack}{times}. Seed pairs (the adversary knew {seeds}) {drawn}.",
        ]
    edges = decimal(findings.auxiliary.edges, places=1)
    kept = " First kept were edges that connect whatever the original connects." if findings.connected else ""
    times = f"In each of {many} repetitions the" if findings.repeated else "The"
    return [
        f"{times} graph was protected{anew} by {findings.protect}, and what the adversary knows (an auxiliary graph "
        f"with "
        f"{edges} of the original edges, and {seeds}) was drawn{anew}; both met {attack}.{kept}"
    ]


def _settings(findings: GraphFindings) -> list[str]:
    """Return all settings in words, where there are any."""
    both = (("the protection", findings.protect_settings), ("the attack", findings.attack_settings))
    return [
        f"Settings of {what}: {', '.join(f'{name}={value}' for name, value in settings.items())}."
        for what, settings in both
        if settings
    ]

"""How probable the true matches are, and whether stated probabilities can be believed."""

import math
from collections.abc import Iterator

import numpy as np

from unveil.questions.graph.findings import TRUTH_BARS, CalibratedFindings, GraphFindings
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, TableBlock
from unveil.report.text import about, count, mean_count, percent

#: A true match with less probability looks hidden.
_UNLIKELY = 0.1


def section(findings: GraphFindings, context: PageContext) -> Section | None:
    """Return the section on the probability of the true matches; None where nothing was attempted."""
    del context
    if not findings.attempted or not findings.nodes.degree.size:
        return None
    charts = [truth_chart(findings)]
    if findings.calibrated is not None:
        charts.insert(0, reliability_chart(findings.calibrated))
    return Section(
        heading="Confidence",
        question="Which probability does the attacker give to the true match?",
        lead=" ".join(_lead(findings)),
        blocks=tuple(charts),
        data=(attempt_table(findings),),
    )


def _lead(findings: GraphFindings) -> Iterator[str]:
    hidden = hidden_but_matched(findings)
    first = " of the first repetition" if findings.repeated else ""
    if hidden:
        yield (
            f"{count(hidden, 're-identified node', 're-identified nodes')}{first} {'looks' if hidden == 1 else 'look'} "
            f"hidden: the true match has a probability below {_UNLIKELY:.0%}, but it is the highest."
        )
    else:
        yield f"No re-identified node{first} gives its true match a probability below {_UNLIKELY:.0%}."
    learned = findings.calibrated
    if learned is not None:
        error, overall = "expected_calibration_error", findings.metric("adversary_overall_success").mean
        yield (
            f"The calibration error is {percent(findings.metric(error).mean)} for raw scores and "
            f"{percent(learned.metric(error).mean)} after calibration ({percent(learned.error_by_chance)} by chance). "
            f"The attacker expects to re-identify {about(learned.expected_success)} of the nodes; {about(overall)} is "
            "true."
        )


def hidden_but_matched(findings: GraphFindings) -> int:
    """Return the number of re-identified nodes whose true match has a low probability."""
    nodes = findings.nodes
    return int(((nodes.right > 0.5) & (nodes.probability < _UNLIKELY)).sum())


def truth_chart(findings: GraphFindings) -> Chart:
    """Return the distribution of the probability of the true match over attempted nodes."""
    number = int(findings.truth_counts.sum())
    share = findings.truth_counts / max(number, 1)
    filled = np.flatnonzero(share)
    highest = float(share.max(initial=0.0))
    repetitions = f" over {len(findings.repetitions)} repetitions" if findings.repeated else ""
    return Chart(
        title="Probability of the true match",
        x_label="probability of the true match",
        y_label="share of attempted nodes",
        series=(
            Series(
                name="attempted nodes",
                x=filled / TRUTH_BARS,
                y=share[filled],
                style="first",
                kind="bars",
                width=1 / TRUTH_BARS,
            ),
        ),
        caption=(
            f"{percent(float(share[0]) if share.size else 0.0)} of {count(number, 'attempt', 'attempts')}{repetitions} "
            "give the true match less than 5%."
        ),
        small=True,
        y_range=(0.0, 1.0 if highest >= 0.96 else min(1.0, max(0.1, math.ceil(highest * 10.5 - 1e-9) / 10))),
    )


def reliability_chart(learned: CalibratedFindings) -> Chart:
    """Return the share of correct choices by their stated probability, raw and calibrated."""
    diagonal = np.array([0.0, 1.0])
    return Chart(
        title="Reliability of stated probabilities",
        x_label="stated probability of the choice",
        y_label="share of choices that are correct",
        series=(
            Series(name="calibrated", x=learned.learned.stated, y=learned.learned.right, style="first"),
            Series(name="raw scores", x=learned.raw.stated, y=learned.raw.right, style="second"),
            Series(name="stated = correct", x=diagonal, y=diagonal, style="first-reference"),
        ),
        caption=(
            f"{count(int(learned.raw.size.sum()), 'attempt', 'attempts')} in groups of about equal size. Above the "
            "diagonal the attacker is correct more often than stated."
        ),
        small=True,
    )


def attempt_table(findings: GraphFindings) -> TableBlock:
    """Return the counts of attempts, with what each means."""
    tried = findings.mean(lambda each: each.matches.nobody_attempted)
    seeds, unknown, nobody = findings.seed_pairs, findings.truth_unknown, findings.without_original
    lost, hidden = findings.truth_not_considered, hidden_but_matched(findings)
    rows = [
        ("Seed pairs", seeds, "Known to the attacker; left out of every result."),
        ("Attempted nodes", findings.attempted, f"Of {count(findings.targets, 'node', 'nodes')} to attack."),
        ("Correct by random choice", findings.correct_by_chance, "Picking one of the candidates of each node."),
        ("True match not considered", lost, "The true match is no candidate and has probability 0."),
        ("Re-identified, but look hidden", hidden, f"True match below {_UNLIKELY:.0%}; metrics of uncertainty err."),
    ]
    if nobody:
        rate = percent(findings.false_alarms)
        rows.append(("Nodes without a true match", nobody, f"{mean_count(tried)} attempted ({rate}, false alarms)."))
    if unknown:
        rows.append(("Nodes with unknown truth", unknown, "Attacked, but left out of every result."))
    return TableBlock(
        caption="Attempts",
        columns=("Count", "Nodes", "Meaning"),
        rows=tuple((name, mean_count(value), meaning) for name, value, meaning in rows),
        align=("left", "right", "left"),
        prose=True,
    )


def method(findings: GraphFindings) -> Iterator[str]:
    """Yield how probabilities were calibrated."""
    learned = findings.calibrated
    if learned is None:
        return
    own = (
        "The attacker takes the released graph as an original, protects and attacks it the same way, at least twice "
        "and until it has 2,000 choices (20 times at most)."
        if learned.how == "simulate"
        else "The attacker attacks the release five times, each time without a fifth of the seed pairs."
    )
    yield (
        f"Calibration: {own} From {mean_count(learned.labels)} choices ({about(learned.labels_correct)} correct), a "
        "logistic regression, with 200 choices or more also a monotone curve, learns the probability of a correct "
        "choice. The rest goes to the other candidates and all free nodes. Calibrated metrics include nodes without "
        "an attempt; their anonymity set is the fewest candidates with 95% of the probability."
    )

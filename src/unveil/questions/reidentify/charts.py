"""What to draw of attacks on a masked release: hits and doubt, at the end and with more and more columns known."""

import math
from collections.abc import Callable

import numpy as np

from unveil.questions.reidentify.findings import AttackOutcome, KnowledgeStep, ReidentifyFindings
from unveil.questions.reidentify.words import spoken
from unveil.report.blocks import Chart, Series, Style, Threshold
from unveil.report.text import name, percent

_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")
_KNOWN = "columns known to the adversary"


def attack_chart(findings: ReidentifyFindings) -> Chart:
    """Return the hit rate of each attack with its interval, and whether it is valid."""
    rates = [each.hit_rate for each in findings.attacks]
    highest = max([findings.blind, *(_number(rate.high) for rate in rates)])
    return Chart(
        title="How often each attack names the right person",
        x_label="share of records",
        y_label="",
        series=(
            Series(
                name="best bet is right",
                x=np.array([rate.value for rate in rates]),
                y=np.arange(len(rates), dtype=np.float64),
                style="first",
                kind="points",
                low=np.array([rate.low for rate in rates]),
                high=np.array([rate.high for rate in rates]),
            ),
        ),
        caption="All columns known, 95% intervals. An attack that is not valid claims more than the masking allows: "
        "what it hits proves nothing.",
        x_range=(0.0, min(1.0, max(0.1, highest))),
        x_kind="share",
        thresholds=(Threshold(name=f"blind chance {percent(findings.blind)}", value=findings.blind, across="x"),),
        rows=tuple(f"{spoken(each)}: {_short(each)}" for each in findings.attacks),
    )


def _short(attacked: AttackOutcome) -> str:
    """Return whether an attack is valid, in so few words that they fit above its mark."""
    return {True: "valid", False: f"not valid for {attacked.refuted:,}", None: "validity not known"}[attacked.is_valid]


def charts(findings: ReidentifyFindings) -> tuple[Chart, Chart]:
    """Return the pictures of the hit rate and of the doubt that is left, against the number of columns known."""
    return hit_chart(findings), doubt_chart(findings)


def shown(findings: ReidentifyFindings) -> tuple[AttackOutcome, ...]:
    """Return the attacks that are drawn: as many as can be told apart, those that hit most often, in their order."""
    by_hits = sorted(findings.attacks, key=lambda each: _number(each.hit_rate.value), reverse=True)
    return tuple(each for each in findings.attacks if each in by_hits[: len(_STYLES)])


def hit_chart(findings: ReidentifyFindings) -> Chart:
    """Return the share of records whose right person is the best bet."""
    lines = _lines(findings, _hits)
    top = max([findings.blind, *(_number(y) for line in lines for y in line.y.tolist())])
    return Chart(
        title="How often the best bet is the right person",
        x_label=_KNOWN,
        y_label="share of records",
        series=lines,
        caption=(
            f"{learnt(findings)} Where several bets are as good, one is drawn by lot, and the rate is what to expect "
            f"of that.{_left_out(findings)}{_gaps(findings)}"
        ),
        x_range=(0.0, float(len(findings.known))),
        y_range=(0.0, min(1.0, max(0.1, math.ceil(top * 11) / 10))),
        x_kind="count",
        thresholds=(Threshold(name=f"blind chance {percent(findings.blind)}", value=findings.blind),),
    )


def doubt_chart(findings: ReidentifyFindings) -> Chart:
    """Return what each attack leaves open: nonspecificity of sets, entropy of probabilities."""
    highest = math.log(findings.originals)
    return Chart(
        title="How much doubt is left",
        x_label=_KNOWN,
        y_label="nats",
        series=_lines(findings, doubt),
        caption="The mean over the records. Of an attack that believes in sets it is the nonspecificity, the logarithm "
        "of how many people stay possible; of one that leaves a probability, whose nonspecificity is 0, the entropy. "
        f"With nothing known it is the logarithm of {findings.originals:,}. Little doubt says nothing about being "
        f"right: "
        "read it beside the hit rate.",
        x_range=(0.0, float(len(findings.known))),
        y_range=(0.0, max(1.0, math.ceil(highest * 2) / 2)),
        x_kind="count",
        y_kind="number",
    )


def _hits(attacked: AttackOutcome, step: KnowledgeStep) -> float:  # noqa: ARG001
    return step.hit_rate.value


def doubt(attacked: AttackOutcome, step: KnowledgeStep) -> float:
    """Return what is left open after a step: of sets, or of probabilities."""
    return step.nonspecificity if attacked.leaves == "Beliefs" else step.entropy


def learnt(findings: ReidentifyFindings) -> str:
    """Return in which order columns are learnt, as a sentence."""
    return f"Columns are learnt {findings.order}: {', '.join(name(each, 30) for each in findings.known)}."


def _lines(findings: ReidentifyFindings, value: Callable[[AttackOutcome, KnowledgeStep], float]) -> tuple[Series, ...]:
    return tuple(
        Series(
            name=name(attacked.attack, 40),
            x=np.array([float(step.known) for step in attacked.steps]),
            y=np.array([value(attacked, step) for step in attacked.steps]),
            style=style,
        )
        for attacked, style in zip(shown(findings), _STYLES, strict=False)
    )


def _left_out(findings: ReidentifyFindings) -> str:
    rest = len(findings.attacks) - len(shown(findings))
    return f" {rest} attacks that hit less often are not drawn." if rest else ""


def _gaps(findings: ReidentifyFindings) -> str:
    gap = any(step.why for attacked in shown(findings) for step in attacked.steps)
    return " Where a line has a gap, the attack cannot be run with so few columns." if gap else ""


def _number(value: float) -> float:
    return 0.0 if math.isnan(value) else value

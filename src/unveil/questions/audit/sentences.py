"""What one finding of an audit means, in sentences: what was reached, beside what, and whether that is proved."""

from math import isnan

from unveil.metrics.trials.risk import ExcessStatus
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import AttackFinding
from unveil.questions.audit.ranking import is_significant, too_blunt
from unveil.questions.audit.words import excess_text, finer, percent, rate_text
from unveil.report.blocks import Tone

#: From this low end of an excess on most people are given away, which is the only red without a limit.
MOST = 0.5


def sentence(finding: AttackFinding) -> str:
    """Return what the finding means: one attack, one adversary, in words for somebody who never saw such a figure."""
    attack = ATTACKS[finding.attack]
    if not finding.risk.attack_rate.defined:
        said = "" if attack.without_rate is None else attack.without_rate(finding)
        return said or finding.remark or f"{attack.title} could not be measured here."
    said = "" if attack.meaning is None else attack.meaning(finding)
    said = f"{said[:1].upper()}{said[1:]}"
    return " ".join(each for each in (said, comparison(finding), judgement(finding)) if each)


def comparison(finding: AttackFinding) -> str:
    """Return what the rate must be read beside: people who are not in the data, and blind chance."""
    risk = finding.risk
    chance = f"Blind chance gives {percent(risk.naive_rate.value)}." if risk.naive_rate.defined else ""
    if not risk.control_rate.defined:
        return chance
    outside = f"For people who are not in the data it is {rate_text(risk.control_rate, more=finer(risk))}."
    return " ".join(each for each in (outside, chance, excess_meaning(finding)) if each)


def excess_meaning(finding: AttackFinding) -> str:
    """Return what the excess over control says, or why there is none."""
    excess = finding.risk.excess_over_control
    if not excess.defined:
        return f"No excess can be given: {excess.why}." if excess.why else ""
    if too_blunt(finding):
        return f"These are {ExcessStatus.TOO_BLUNT}."
    return f"Being in the data adds {excess_text(finding.risk)}."


def judgement(finding: AttackFinding) -> str:
    """Return what the verdict says of one finding; nothing where it was not judged.

    >>> from unveil.questions.audit.attack_results import NOTHING
    >>> judgement(AttackFinding(attack="copies", targets=9, risk=NOTHING, p=0.2, p_adjusted=0.6))
    'Not proved (adjusted p 0.6).'
    """
    if is_significant(finding):
        clear = "" if isnan(finding.p_adjusted) else f" (adjusted p {p_text(finding.p_adjusted)})"
        return f"Proved{clear}."
    if not isnan(finding.p_adjusted):
        return f"Not proved (adjusted p {p_text(finding.p_adjusted)})."
    return f"Not judged: {finding.why_not_judged}." if finding.why_not_judged else ""


def p_text(p: float) -> str:
    """Return a probability as short as it can be: two digits, and none below 0.0001.

    >>> p_text(0.04321), p_text(0.00002), p_text(1.0)
    ('0.043', '<0.0001', '1')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


def tone_of(finding: AttackFinding) -> Tone:
    """Return how one finding should strike."""
    if not is_significant(finding):
        return "neutral"
    return "bad" if finding.risk.excess_over_control.low > MOST and not too_blunt(finding) else "warning"

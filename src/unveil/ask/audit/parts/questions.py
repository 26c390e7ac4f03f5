"""The three questions of opinion WP216, each with the worst that was found on it."""

from unveil.ask.audit.attacks.texts import ATTACK_TEXTS
from unveil.ask.audit.findings import Audit, Finding
from unveil.ask.audit.verdict import is_proved, severity, worst_of
from unveil.ask.audit.words import listed, percent, rate_text
from unveil.show.blocks import Tone
from unveil.show.sign_off import BoxFact
from unveil.show.text import name


def box_facts(audit: Audit) -> dict[str, BoxFact]:
    """Return what was found on each of the three questions of opinion WP216, at its worst over the releases."""
    return {attack: _box(audit, attack) for attack, text in ATTACK_TEXTS.items() if text.answers is not None}


def _box(audit: Audit, attack: str) -> BoxFact:
    if attack not in audit.attacks:
        return BoxFact(tested=False, why_not="This attack was not asked for (--attacks).")
    found = [(release, finding) for release in audit.releases if (finding := worst_of(release, attack)) is not None]
    if not found:
        remarks = [finding.remark for release in audit.releases for finding in release.of(attack) if finding.remark]
        return BoxFact(tested=False, why_not=next(iter(remarks), "It could not be measured on these tables."))
    release, finding = max(found, key=lambda each: severity(each[1]))
    where = f"On {name(release.name, 40)!r}. " if len(audit.releases) > 1 else ""
    return BoxFact(rate=rate_text(finding.risk.attack_rate), beside=f"{where}{_beside(finding)}", tone=_tone(finding))


def _beside(finding: Finding) -> str:
    risk = finding.risk
    whom = f"{listed([finding.secret])}: " if finding.secret else ""
    parts = []
    if risk.control_rate.defined:
        parts.append(f"{rate_text(risk.control_rate)} for people who are not in the data")
    if risk.naive_rate.defined:
        parts.append(f"{percent(risk.naive_rate.value)} by blind chance")
    excess = risk.excess_over_control
    added = f" Being in the data adds {rate_text(excess)}." if excess.defined else ""
    return f"{whom}{'; '.join(parts) or 'nothing to compare with'}.{added}"


def _tone(finding: Finding) -> Tone:
    if not is_proved(finding):
        return "neutral"
    return "bad" if finding.worse.low >= 0.5 else "warning"

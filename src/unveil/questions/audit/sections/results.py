"""Shared parts of attack sections: result sentence and attacker table."""

from collections.abc import Iterator, Sequence

from unveil.metrics.verdict.levels import LEVEL_WORDS, Level
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.findings import RISKS, AttackEffect, ReleaseDecision, RiskRow
from unveil.questions.audit.decision.rule import row_rank
from unveil.questions.audit.decision.templates import (
    WITHHELD,
)
from unveil.questions.audit.decision.text import (
    effect_name,
    excess_text,
    is_hidden,
    leading_release,
    p_text,
)
from unveil.questions.audit.findings import AttackScenario, Audit
from unveil.questions.audit.words import LONGEST_NAME, listed, percent
from unveil.report.blocks import TableBlock, sides
from unveil.report.text import count, name

#: Attackers without columns of their own.
_SCORES = frozenset({"DCR score", "density-ratio score", "DCR-difference score", "learned score"})
#: At most so many attackers per release are in a table; the JSON output has all.
MOST_ATTACKERS = 30


def charted(audit: Audit) -> tuple[str, ...]:
    """Return the release in charts: a passing recommended one, else the worst."""
    decision = audit.decision
    leading = leading_release(decision)
    passing = [each.name for each in decision.releases if each.decision == "pass" and each.name == decision.recommended]
    return tuple(passing) or (() if leading is None else (leading.name,))


def strongest(audit: Audit, risk: str) -> tuple[ReleaseDecision, RiskRow] | None:
    """Return the release with the highest result on a risk."""
    place = list(RISKS).index(risk)
    rows = [(each, each.risks[place]) for each in audit.decision.releases if not each.is_reference and each.risks]
    tested = [(release, row) for release, row in rows if row.effect is not None and row.level is not None]
    return max(tested, key=lambda each: row_rank(each[1]), default=None)


def result_sentence(audit: Audit, risk: str) -> str:
    """Return the strongest result on a risk in one sentence."""
    found = strongest(audit, risk)
    if found is None:
        reasons = [each.risks[list(RISKS).index(risk)].why_not_tested for each in audit.decision.releases if each.risks]
        why = next(filter(None, reasons), "the attacks were not run").removeprefix("not tested: ")
        return f"Not tested: {why}."
    release, row = found
    effect = row.effect
    if effect is None or row.level is None:
        return ""
    where = f"{name(release.name, LONGEST_NAME)}: " if len(audit.decision.releases) > 1 else ""
    if is_hidden(effect):
        return f"{where}{_risk_by(row.level, effect)} ({WITHHELD})."
    state = "significant" if effect.is_significant else "not significant"
    p = "" if effect.counted else f", adjusted p {p_text(effect.p_adjusted)}"
    result = f"{where}{_risk_by(row.level, effect)}. Excess {excess_text(effect)} points, {state}{p}."
    return f"{result} {knowledge_sentence(audit, release, effect)}".rstrip()


def _risk_by(level: Level, effect: AttackEffect) -> str:
    """Return the level of a risk and its worst attack.

    >>> from unveil.metrics.verdict.effects import EffectSize
    >>> _risk_by("very_low", AttackEffect(attack="linkability", excess=EffectSize(0.04, 0.01, 0.07)))
    'Very low risk by linkability'
    """
    if level == "none_found":
        return f"Nothing significant; highest by {effect_name(effect)}"
    if level == "inconclusive":
        return f"Inconclusive for {effect_name(effect)}"
    words = LEVEL_WORDS[level]
    return f"{words[:1].upper()}{words[1:]} risk by {effect_name(effect)}"


def knowledge_sentence(audit: Audit, release: ReleaseDecision, effect: AttackEffect) -> str:
    """Return the attacker's columns as a sentence, or ""."""
    scenario = _scenario(audit, release.name, effect)
    if scenario is None or not scenario.first:
        return ""
    if scenario.second:
        return (
            f"The attacker knows {listed(scenario.first)} from one source and {listed(scenario.second)} from another."
        )
    return f"The attacker knows {listed(scenario.first)}."


def _scenario(audit: Audit, release: str, effect: AttackEffect) -> AttackScenario | None:
    """Return the attacker's scenario, shared by every number of nearest rows."""
    names = {effect.attacker, effect.attacker.partition(", ")[0]}
    return next(
        (
            finding.scenario
            for each in audit.releases
            if each.name == release
            for finding in each.findings
            if finding.scenario is not None
            and finding.scenario.name in names
            and finding.secret == effect.sensitive
            and ATTACKS[finding.attack].effect == effect.attack
        ),
        None,
    )


def attacker_text(audit: Audit, release: str, effect: AttackEffect) -> str:
    """Return an attacker by its columns or its score."""
    score = effect.attacker.partition(",")[0]
    if score in _SCORES:
        return score
    scenario = _scenario(audit, release, effect)
    wider = effect.attacker.partition(", ")[2]
    if scenario is not None and scenario.second:
        split = f"{listed(scenario.first, at_most=4)} | {listed(scenario.second, at_most=4)}"
        return f"{split} ({wider})" if wider else split
    if effect.attack == "memorization":
        method = scenario.reason if scenario is not None else ""
        return name(method or effect.attacker, 60)
    return name(effect.attacker, 60) if effect.attacker else "all columns"


def result_table(audit: Audit, attacks: Sequence[str], caption: str) -> TableBlock | None:
    """Return each attacker's result, the strongest first, or None."""
    releases = [each for each in audit.decision.releases if not each.is_reference]
    several, rows, left_out = len(releases) > 1, [], 0
    has_sensitive = False
    for release in releases:
        own = [each for each in release.effects if each.attack in attacks]
        has_sensitive |= any(each.sensitive for each in own)
        own.sort(key=lambda each: (not each.excess.is_tested, not each.is_significant, -_size(each)))
        left_out += max(0, len(own) - MOST_ATTACKERS)
        rows += [(release, each) for each in own[:MOST_ATTACKERS]]
    if not rows:
        return None
    many_attacks = len({effect.attack for _, effect in rows}) > 1
    heads = [
        *(["Release"] if several else []),
        *(["Attack"] if many_attacks else []),
        "Attacker",
        *(["Attribute"] if has_sensitive else []),
    ]
    return TableBlock(
        caption=caption,
        columns=(*heads, "Attack success", "Baseline", "Excess (at least, at most)", "Adjusted p", "Level"),
        rows=tuple(
            (
                *([name(release.name, LONGEST_NAME)] if several else []),
                *([effect_name(effect, of=False)] if many_attacks else []),
                attacker_text(audit, release.name, effect),
                *([name(effect.sensitive, LONGEST_NAME) if effect.sensitive else "all"] if has_sensitive else []),
                *_cells(effect),
            )
            for release, effect in rows
        ),
        align=sides("l" * len(heads) + "rrrrl"),
        note=f"{count(left_out, 'more attacker is', 'more attackers are')} in the JSON output." if left_out else "",
    )


def _size(effect: AttackEffect) -> float:
    return float(effect.excess.value) if effect.excess.is_tested else 0.0


def _cells(effect: AttackEffect) -> Iterator[str]:
    if is_hidden(effect):
        yield from ("not shown", "not shown", "not shown", "–", "–")
        return
    excess = effect.excess
    yield percent(excess.attack_rate)
    kind = "" if effect.baseline_kind == "control" else f" ({effect.baseline_kind})"
    yield f"{percent(excess.baseline)}{kind}" if excess.baseline == excess.baseline else "–"
    if not excess.is_tested:
        yield from (f"not tested: {excess.why_not_tested}", "–", "–")
        return
    yield excess_text(effect)
    yield "counted" if effect.counted else p_text(effect.p_adjusted)
    mark = "●" if effect.is_significant else "○"
    yield f"{mark} {LEVEL_WORDS[effect.level]}" if effect.level else "–"

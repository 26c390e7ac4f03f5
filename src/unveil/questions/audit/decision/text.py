"""Texts of the decision: headline, numbers behind it, next steps, and summary.

All templates stand in `unveil.questions.audit.decision.templates`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, isnan

from unveil.metrics.verdict.effects import FEWEST_ATTEMPTS, EffectSize
from unveil.metrics.verdict.levels import LEVEL_WORDS
from unveil.questions.audit.decision.findings import (
    NO_CONTROL,
    SIBLINGS,
    AttackEffect,
    AuditDecision,
    GroupEffect,
    ReleaseDecision,
)
from unveil.questions.audit.decision.rule import height
from unveil.questions.audit.decision.templates import (
    BOUNDS,
    CAUSES,
    DECLARED,
    EFFECT_NAMES,
    HEADLINES,
    HEADLINES_OF_SEVERAL,
    INDIVIDUALS,
    NEXT,
    OPEN,
    PHRASE_OF_GENERATOR,
    PHRASES,
    REASONS,
    STEPS,
    SUBLINES,
    WITHHELD,
)
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.reference.findings import SiblingFinding
from unveil.questions.audit.words import LONGEST_NAME, listed, number_of, percent
from unveil.report.blocks import Tone
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name

#: Where more of the people are copied, removing their records leaves no release.
MOST_REMOVED = 0.5
#: With more words a headline has no room for the two rates.
_MOST_WORDS = 20


def with_text(decision: AuditDecision, audit: Audit) -> AuditDecision:
    """Return the decision with headline, sub-line, and next steps."""
    leading = leading_release(decision)
    if leading is None:
        return decision
    several = [each for each in decision.releases if not each.is_reference]
    headline = _of_several(decision, several) if len(several) > 1 and audit.way is None else ""
    return replace(
        decision,
        headline=headline or headline_of(leading, decision),
        subline=" ".join(
            filter(
                None,
                (
                    _sentence("; ".join(_subline(leading, decision, audit, several=bool(headline)))),
                    DECLARED if decision.basis == "siblings" else "",
                ),
            )
        ),
        next=tuple(dict.fromkeys((*_next_of_several(decision, several), *_next(leading, decision, audit))))[:3],
    )


def _sentence(text: str) -> str:
    return text and f"{text[:1].upper()}{text[1:]}."


def leading_release(decision: AuditDecision) -> ReleaseDecision | None:
    """Return the release that decides: the highest level with the audit's decision."""
    own = [each for each in decision.releases if each.decision == decision.decision and not each.is_reference]
    return max(own or decision.releases, key=lambda each: height(each.level), default=None)


def tone(decision: AuditDecision) -> Tone:
    """Return how the headline should strike; nothing found is neutral, never good."""
    if decision.decision == "fail":
        return "bad"
    if decision.decision == "none" and decision.level in ("medium", "high"):
        return "bad"
    open_or_low = decision.decision == "inconclusive" or decision.level in ("very_low", "low", "inconclusive")
    return "warning" if open_or_low and decision.decision != "pass" else "neutral"


def headline_of(release: ReleaseDecision, decision: AuditDecision) -> str:
    """Return the headline of one release: level, who is affected, one number.

    Where a threshold is set, the sentence begins with pass, fail or inconclusive.
    """
    level, decision_word = level_text(release), release.decision
    if decision_word == "pass":
        return HEADLINES["pass"].format(level=level, bound=_bound_of_pass(release))
    if decision_word == "inconclusive":
        return _inconclusive(release)
    if decision_word == "fail":
        return HEADLINES["fail"].format(level=level, reached=reached(release))
    if release.level == "none_found" and decision.basis == "siblings":
        return HEADLINES["none found"].format(ruled=BOUNDS["none found, siblings"].format(k=decision.siblings))
    if release.level == "none_found":
        most = LEVEL_WORDS[release.at_most or "high"]
        withheld = isinstance(release.highest, SuppressedNumber)
        template = BOUNDS["none found, withheld" if withheld else "none found"]
        ruled = template.format(most=most, high="" if withheld else _bound(release.highest))
        return HEADLINES["partial, none found" if decision.partial else "none found"].format(ruled=ruled)
    if release.level == "inconclusive":
        return HEADLINES["open"].format(why=_why_open(release))
    if decision.partial:
        return HEADLINES["partial"].format(level=level, reached=reached(release))
    return HEADLINES["level"].format(level=f"{level[:1].upper()}{level[1:]}", reached=reached(release))


def _bound_of_pass(release: ReleaseDecision) -> str:
    if isinstance(release.highest, SuppressedNumber):
        return BOUNDS["pass, withheld"]
    return BOUNDS["pass, limits"] if isnan(release.highest) else BOUNDS["pass"].format(high=_bound(release.highest))


def level_text(release: ReleaseDecision) -> str:
    """Return the level of a release in words."""
    if release.level == "none_found":
        return "nothing significant"
    if release.level == "inconclusive":
        return "level open"
    # Nothing is above high.
    bound = "at least " if release.at_least and release.level != "high" else ""
    return f"{bound}{LEVEL_WORDS[release.level]} risk"


def _inconclusive(release: ReleaseDecision) -> str:
    """Return why a decision is inconclusive."""
    is_open, level = release.level == "inconclusive", level_text(release)
    if release.lacks and release.lacks[0] == "not run" and not is_open and "control" not in release.lacks:
        why = reached(release) if release.cause else REASONS["not run"]
        return HEADLINES["partial"].format(level=level, reached=why)
    if "control" in release.lacks and not is_open:
        why = OPEN["control"]
    elif release.lacks:
        why = REASONS[release.lacks[0]]
    elif release.limit:
        why = OPEN["limit"].format(name=release.limit)
    elif release.cause == "class":
        risk = _class_risk(release)
        why = OPEN["class, bounded" if isinstance(risk, SuppressedNumber) else "class"].format(r=percent(risk))
    else:
        why = _why_open(release)
    return HEADLINES["open" if is_open else "inconclusive"].format(level=level, why=why)


def _why_open(release: ReleaseDecision) -> str:
    """Return which excess is not ruled out, or why nothing is known."""
    effect = release.worst
    compares = not set(NO_CONTROL) & set(release.lacks)
    if effect is None or not effect.excess.is_tested or not compares:
        return REASONS[release.lacks[0]] if release.lacks else CAUSES["untested"]
    if isinstance(effect.excess.high, SuppressedNumber):
        return OPEN["excess, withheld"].format(attack=effect_name(effect))
    return OPEN["excess"].format(attack=effect_name(effect), high=_bound(effect.excess.high))


def effect_name(effect: AttackEffect, *, of: bool = True) -> str:
    """Return the name of an effect in a sentence, with its attribute."""
    about = f" of {name(effect.sensitive, LONGEST_NAME)}" if of and effect.sensitive else ""
    return f"{EFFECT_NAMES[effect.attack]}{about}"


def _class_risk(release: ReleaseDecision) -> float:
    smallest = release.individuals.smallest_class
    if isinstance(smallest, SuppressedNumber):
        return SuppressedNumber(1 / smallest.most, 1.0)
    return 1 / smallest if smallest else 1.0


def reached(release: ReleaseDecision) -> str:
    """Return what an attacker reaches, by the cause of the level."""
    people = release.individuals
    if release.cause == "claim":
        return CAUSES["claim"]
    if release.cause == "limit":
        return CAUSES["limit"].format(name=release.limit)
    leads = _copied_rows_lead(release) and people.copies_seen
    if release.cause == "copies" or (release.cause in ("", "effect") and leads):
        seen, expected, kind = people.copies_seen or people.unmistakable, people.copies_expected, "copies"
        # Rare copies raise the level of a release whose mean is small; a large mean speaks of all copies.
        if not leads and people.rare_beyond_chance and people.rare_copies and people.rare_copies != seen:
            seen, expected, kind = people.rare_copies, people.rare_copies_expected, "rare copies"
        known = INDIVIDUALS[kind].format(k=number_of(seen, "", ""), x=_expected(expected))
        return known if not isnan(expected) else known.partition(",")[0]
    if release.cause == "members":
        return INDIVIDUALS["members"].format(k=number_of(people.flagged, "", ""))
    if release.cause == "class":
        below = people.people_in_classes_below
        least = next((each for each in (3, 11, 20) if below.get(each)), 0)
        if not least:
            return CAUSES["class"].format(r=percent(_class_risk(release)))
        return INDIVIDUALS["class"].format(k=number_of(below[least], "", ""), n=least)
    if release.cause == "group" and release.group is not None:
        group = release.group
        effect = AttackEffect(attack=group.attack, excess=group.excess)
        called = name(group.group, LONGEST_NAME)
        withheld = CAUSES["withheld"].format(attack=EFFECT_NAMES[group.attack])
        phrase = withheld if is_hidden(effect) else _phrase(effect)
        return INDIVIDUALS["group"].format(p=phrase, g=called, k=number_of(group.people))
    return _of_effect(release.worst)


def _expected(number: float) -> str:
    return f"{number:.0f}" if isnan(number) or number >= 1 or number == 0 else "fewer than 1"


def _of_effect(effect: AttackEffect | None) -> str:
    """Return an effect in words, with both rates where it stays short."""
    if effect is None:
        return CAUSES["untested"]
    if is_hidden(effect):
        return f"{CAUSES['withheld'].format(attack=EFFECT_NAMES[effect.attack])} ({WITHHELD})"
    phrase, rates = _phrase(effect), _rates(effect)
    if effect.attack in ("reidentification", "row_order"):
        return phrase
    if effect.baseline_kind == "theoretical":
        return phrase.replace("without the release", "the theoretical baseline")
    return f"{phrase} ({rates})" if len(f"{phrase} {rates}".split()) <= _MOST_WORDS - 3 else phrase


def _phrase(effect: AttackEffect) -> str:
    points = round(100 * effect.excess.value)
    # Of a generator the attacker says so: its own people are nearest to each release.
    phrase = PHRASE_OF_GENERATOR if effect.attacker == "generator" else PHRASES[effect.attack]
    more = "more" if effect.attack == "singling_out" else "more people"
    if points < 1:
        some = "fewer than 1 more person" if effect.attack != "singling_out" else "fewer than 1 more"
        phrase = phrase.replace("{e}", some)
    elif points == 1 and effect.attack != "singling_out":
        phrase = phrase.replace("{e}", "1 more person")
    rate = percent(effect.excess.attack_rate)
    at_most = "at most " if effect.counted and effect.excess.low < effect.excess.value else ""
    return phrase.format(e=f"{points} {more}", r=f"{at_most}{rate}", c=name(effect.sensitive, LONGEST_NAME))


def _rates(effect: AttackEffect) -> str:
    excess = effect.excess
    return f"{percent(excess.attack_rate)}, {effect.baseline_kind} {percent(excess.baseline)}"


def is_hidden(effect: AttackEffect) -> bool:
    """Return whether the redacted report withholds the rates of an effect."""
    return isinstance(effect.excess.value, SuppressedNumber)


def _points(excess: float) -> str:
    """Return an excess in points."""
    if isinstance(excess, SuppressedNumber) or isnan(excess):
        return "not shown"
    text = f"{100 * excess:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text.replace("-", "−")


def _in_points(excess: float) -> str:
    text = _points(excess)
    return f"{text} point" if text == "1" else f"{text} points"


def _bound(high: float) -> str:
    """Return an upper limit in points, rounded up.

    >>> _bound(0.0551), _bound(0.058)
    ('5.6', '5.8')
    """
    if isinstance(high, SuppressedNumber) or isnan(high):
        return _points(high)
    return _points(ceil(round(1000 * high, 6)) / 1000)


def excess_text(effect: AttackEffect) -> str:
    """Return an excess in points with its two limits.

    >>> from unveil.metrics.verdict.effects import EffectSize
    >>> excess_text(AttackEffect(attack="membership", excess=EffectSize(0.038, 0.02, 0.048)))
    '3.8 (2, 4.8)'
    """
    if is_hidden(effect):
        return "not shown"
    return excess_of(effect.excess)


def excess_of(excess: EffectSize) -> str:
    """Return an excess in points with its two limits, where they are shown."""
    if isinstance(excess.high, SuppressedNumber):
        return _points(excess.value)
    return f"{_points(excess.value)} ({_points(excess.low)}, {_bound(excess.high)})"


def p_text(p: float) -> str:
    """Return an adjusted p-value."""
    return "–" if isnan(p) else "<0.001" if p < 0.001 else f"{p:.2g}"


def _of_several(decision: AuditDecision, releases: Sequence[ReleaseDecision]) -> str:
    """Return the headline of several releases."""
    number, texts = len(releases), HEADLINES_OF_SEVERAL
    if decision.decision == "none":
        worst = max(releases, key=lambda each: height(each.level))
        best = next((each for each in releases if each.name == decision.recommended), None)
        level, where = level_text(worst), name(worst.name, LONGEST_NAME)
        if best is not None and worst.level == "none_found":
            return texts["none found"].format(n=number, best=_bounded(best))
        level = f"{level[:1].upper()}{level[1:]}"
        if best is None or best is worst:
            return texts["worst"].format(level=level, name=where)
        return texts["worst and best"].format(level=level, name=where, best=_bounded(best))
    passing = [name(each.name, LONGEST_NAME) for each in releases if each.decision == "pass"]
    if passing:
        verb = "passes" if len(passing) == 1 else "pass"
        return texts["passing"].format(k=len(passing), n=number, verb=verb, names=", ".join(passing[:3]))
    closest = _closest(releases)
    return texts["none passes"] if closest is None else texts["closest"].format(best=_bounded(closest))


def _bounded(release: ReleaseDecision) -> str:
    lacks = [REASONS[each] for each in release.lacks[:1] if each in ("type", "sensitive", "quasi-identifiers")]
    template = HEADLINES_OF_SEVERAL["best, lacking" if lacks else "best"]
    called, high = name(release.name, LONGEST_NAME), _bound(release.highest)
    return template.format(name=called, high=high, lack="".join(lacks))


def _subline(release: ReleaseDecision, decision: AuditDecision, audit: Audit, *, several: bool) -> Iterator[str]:
    """Yield the numbers behind the headline."""
    effect, texts, where = _subject(release), SUBLINES, ""
    if several and decision.decision == "none":
        where = texts["release"].format(name=name(release.name, LONGEST_NAME))
    elif several:
        yield texts["worst"].format(name=name(release.name, LONGEST_NAME), level=level_text(release))
    if effect is not None and effect.excess.is_tested and not is_hidden(effect):
        excess = effect.excess
        bounded = texts["limits"].format(low=_points(excess.low), high=_bound(excess.high))
        points = f"{_in_points(excess.value)}{'' if isinstance(excess.high, SuppressedNumber) else bounded}"
        view = "" if audit.tables is None else audit.tables.view_of(effect.attacker)
        attack = f"{effect_name(effect)} ({name(view, LONGEST_NAME)})" if view else effect_name(effect)
        yield texts["effect"].format(where=where, attack=attack, rates=_rates(effect), points=points)
        if not isnan(effect.uncorrected):
            yield texts["corrected"].format(points=_points(effect.uncorrected))
        if effect.attack == SIBLINGS and audit.siblings is not None:
            yield from _among_siblings(audit.siblings)
        elif not isnan(effect.p_adjusted):
            tests = count(audit.verdict.figures, "test", "tests")
            yield texts["test"].format(p=p_text(effect.p_adjusted), tests=tests)
    if release.individuals.unmistakable and release.cause == "copies":
        yield texts["beyond chance"].format(k=number_of(release.individuals.unmistakable, "", ""))
    group = _copied_group(release)
    if group is not None:
        called, size = name(group.group, LONGEST_NAME), number_of(group.people)
        yield texts["group"].format(g=called, k=size, points=_points(group.excess.value))
    if release.group is not None and effect is not None and release.cause == "group":
        excess = release.group.excess
        yield texts["group limits"].format(low=_points(excess.low), high=_bound(excess.high))
    if decision.threshold is not None and decision.threshold.value is not None:
        yield texts["threshold"].format(points=_in_points(decision.threshold.value))
    if release.decision == "fail" and release.cause in ("copies", "members"):
        yield texts["individuals"]
    if release.decision == "inconclusive" and effect is not None and effect.people_needed:
        yield from _planned(effect, release, audit)
    if decision.not_run and release.decision != "fail":
        names = [EFFECT_NAMES[each] for each in decision.not_run]
        more = f" and {len(names) - 3} more" if names[3:] else ""
        yield texts["not run"].format(names=f"{', '.join(names[:3])}{more}")


def _among_siblings(siblings: SiblingFinding) -> Iterator[str]:
    """Yield the p of the test with siblings, and what it rests on."""
    is_of_release = siblings.test == "release"
    template = SUBLINES["siblings" if is_of_release else "assignment"]
    number = siblings.number + (not is_of_release)
    if not isnan(siblings.p):
        yield template.format(p=p_text(siblings.p), k=number, least=f"{siblings.smallest_p:.2g}")


def threshold_source(release: ReleaseDecision, source: str) -> str:
    """Return who set the threshold, and whether that was for other risks."""
    applied = any(each.convention for each in release.effects if each.status is not None)
    return f"{source}, published for re-identification" if source and applied else source or "set for this audit"


def _copied_group(release: ReleaseDecision) -> GroupEffect | None:
    """Return the subgroup with most copies, where it sets the level."""
    if release.cause != "copies":
        return None
    found = [
        each
        for each in release.individuals.groups
        if each.attack == "copies" and not isinstance(each.excess.value, SuppressedNumber) and each.is_significant
    ]
    worst = max(found, key=lambda each: each.excess.value, default=None)
    return worst if worst is not None and height(worst.level) >= height(release.level) else None


def _subject(release: ReleaseDecision) -> AttackEffect | None:
    """Return the effect that the numbers below the headline are about."""
    is_held = release.decision != "none"
    tested = [
        each for each in release.effects if each.excess.is_tested and each.blocks_pass and (each.status or not is_held)
    ]
    is_bound = release.decision == "pass" or (release.decision == "none" and release.level == "none_found")
    if tested and is_bound and not release.cause:
        # The headline names the largest upper limit.
        return max(tested, key=lambda each: each.excess.high)
    attack = {"copies": "copies", "members": "membership"}.get(release.cause)
    own = [each for each in release.effects if each.attack == attack and each.excess.is_tested]
    leads = release.worst if attack is None or (release.worst is not None and release.worst.is_significant) else None
    return max(own, key=lambda each: each.excess.value, default=leads)


def _planned(effect: AttackEffect, release: ReleaseDecision, audit: Audit) -> Iterator[str]:
    """Yield what an audit of this size can show of an effect."""
    from unveil.metrics.verdict.plan import plan

    yield SUBLINES["needed"].format(k=count(effect.people_needed or 0))
    sizes = audit.attacked or audit.people, audit.attacked_outside
    if effect.threshold is None or min(sizes) < FEWEST_ATTEMPTS or not effect.threshold > 0:
        return
    attackers = sum(each.status is not None and each.blocks_pass for each in release.effects)
    found = plan(*sizes, effect.threshold, attackers=attackers, baseline=float(effect.excess.baseline))
    yield SUBLINES["chance"].format(n=f"{100 * found.pass_chance:.0f}")
    if not isnan(found.smallest_found):
        yield SUBLINES["smallest"].format(points=_in_points(found.smallest_found))


def _next_of_several(decision: AuditDecision, releases: Sequence[ReleaseDecision]) -> Iterator[str]:
    """Yield what to do with the best of several releases."""
    if len(releases) < 2 or decision.decision == "none":
        return
    if decision.recommended is not None and any(each.decision == "pass" for each in releases):
        yield STEPS["release"].format(name=name(decision.recommended, LONGEST_NAME))
        return
    closest = _closest(releases)
    if closest is not None and closest.decision == "inconclusive":
        yield STEPS["closest"].format(name=name(closest.name, LONGEST_NAME))


def _closest(releases: Sequence[ReleaseDecision]) -> ReleaseDecision | None:
    known = [each for each in releases if not isnan(each.highest)]
    return min(known, key=lambda each: each.highest, default=None)


def _next(release: ReleaseDecision, decision: AuditDecision, audit: Audit) -> Iterator[str]:
    """Yield what to do next, the most urgent first."""
    shown = {each.name for each in audit.releases}
    shown |= set() if audit.tables is None else {f"table {each!r} of the release" for each in audit.tables.names}
    flagged = dict.fromkeys(flag.column for each in audit.flags if each.table in shown for flag in each.flags)
    if flagged:
        yield STEPS["flagged"].format(columns=listed(list(flagged)))
    if decision.decision == "pass":
        yield STEPS["pass"]
        return
    if audit.verdict.control.is_clustered:
        yield STEPS["identifier"]
    if decision.decision == "inconclusive" and release.lacks:
        yield from (NEXT[each] for each in release.lacks if each != "not tested")
    leading = "" if release.worst is None else release.worst.attack
    if (release.cause == "copies" or _copied_rows_lead(release)) and _copies(release) > 0:
        few = _copies(release) < MOST_REMOVED * decision.people
        copied = number_of(_copies(release), "copied record", "copied records")
        yield STEPS["copies"].format(copies=copied) if few else STEPS["many copies"]
    order_leads = leading == "row_order" and release.cause in ("", "effect", "limit")
    if order_leads or any(each.attack == "row_order" and _is_high(each) for each in release.effects):
        yield STEPS["order"]
    if release.level in ("low", "medium", "high") or decision.decision == "fail":
        columns = [each for each in _telling_columns(audit, release.name) if each not in flagged]
        step = STEPS["generalize one" if len(audit.releases) > 1 else "generalize"] if columns else STEPS["protect"]
        yield step.format(columns=listed(columns) if columns else "", name=name(release.name, LONGEST_NAME))
    if decision.decision == "none":
        yield from (NEXT[each] for each in release.lacks if each in NO_CONTROL)
        yield STEPS["threshold"]
    if decision.decision == "inconclusive":
        effect = release.worst
        if effect is not None and effect.attack == "singling_out" and decision.control_people < decision.people:
            # From a smaller one only bounds of the baseline of singling out follow.
            yield STEPS["half"]
        needed = 0 if effect is None else effect.people_needed or 0
        yield STEPS["people"].format(k=count(needed)) if needed else STEPS["more people"]


def _copied_rows_lead(release: ReleaseDecision) -> bool:
    """Return whether copies of rows are the worst attack; copies of whole histories name their table."""
    return release.worst is not None and release.worst.attack == "copies" and not release.worst.attacker


def _copies(release: ReleaseDecision) -> int:
    people = release.individuals
    return people.copies_seen or people.unmistakable


def _is_high(effect: AttackEffect) -> bool:
    return effect.is_significant and effect.level in ("medium", "high")


def _telling_columns(audit: Audit, release: str) -> list[str]:
    """Return the columns without which the worst attacker loses most."""
    weights = [
        each
        for one in audit.releases
        if one.name == release
        for each in one.weights
        if not any(isinstance(rate.value, SuppressedNumber) for rate in (each.whole, each.without)) and each.loss > 0
    ]
    columns = [each.column for each in sorted(weights, key=lambda each: -each.loss)[:3]]
    return columns if audit.tables is None else audit.tables.in_words(columns)

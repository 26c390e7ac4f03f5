"""Put the decision of an audit into words: headline, numbers behind it, next steps, and the summary table.

All templates stand in this file, so that one person can read them in one sitting.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, isnan
from types import MappingProxyType

from unveil.metrics.verdict.effects import FEWEST_ATTEMPTS
from unveil.metrics.verdict.levels import Level
from unveil.questions.audit.decision.findings import (
    AttackEffect,
    AuditDecision,
    DecisionWord,
    GroupEffect,
    Lack,
    ReleaseDecision,
)
from unveil.questions.audit.decision.rule import height
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.words import LONGEST_NAME, listed, number_of, percent
from unveil.report.blocks import Tone
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name

LEVEL_WORDS: Mapping[Level, str] = MappingProxyType(
    {
        "none_found": "none found",
        "very_low": "very low",
        "low": "low",
        "medium": "medium",
        "high": "high",
        "inconclusive": "inconclusive",
    }
)
DECISION_WORDS: Mapping[DecisionWord, str] = MappingProxyType(
    {"pass": "Pass", "fail": "Fail", "inconclusive": "Inconclusive", "none": "No threshold set"}
)
#: What an effect means: {e} is the excess in people per 100, {r} the success rate, {c} the sensitive column.
PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "singling_out": "{e} of 100 predicates single out a person than without the release",
        "reidentification": "{r} of records can be re-identified",
        "row_order": "{r} of records can be re-identified by their position in the file",
        "copies": "the records of {e} per 100 are released unchanged than by coincidence",
        "linkability": "{e} per 100 can be linked than without the release",
        "inference": "{c} can be inferred for {e} per 100 than without the release",
        "attribute_disclosure": "{c} can be inferred for {e} per 100 than without the release",
        "memorization": "{c} can be inferred for {e} per 100 than without the release",
        "membership": "membership is disclosed for {e} per 100",
    }
)
#: What raises a level although the mean is small.
INDIVIDUALS: Mapping[str, str] = MappingProxyType(
    {
        "copies": "{k} people's records are released unchanged, {x} expected by chance",
        "rare copies": "{k} people's rare records are released unchanged, {x} expected by chance",
        "members": "{k} people can be recognized as members, at most 5% of them wrongly",
        "class": "{k} people are in equivalence classes smaller than {n}",
        "group": "{p} in the group {g} ({k})",
    }
)
EFFECT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "singling_out": "singling out",
        "reidentification": "re-identification",
        "row_order": "re-identification by row order",
        "copies": "exact copies",
        "linkability": "linkability",
        "inference": "inference",
        "attribute_disclosure": "attribute disclosure",
        "memorization": "memorization",
        "membership": "membership inference",
    }
)
#: Why a pass is not possible yet.
REASONS: Mapping[Lack, str] = MappingProxyType(
    {
        "control": "without a control group the excess risk cannot be estimated",
        "usable control": "the control group cannot be used",
        "type": "state the release type: masked or synthetic",
        "sensitive": "state the sensitive columns",
        "quasi-identifiers": "state the quasi-identifiers",
        "not run": "not all attacks were run",
        "not tested": "not all risks could be tested",
    }
)
NEXT: Mapping[Lack, str] = MappingProxyType(
    {
        "control": (
            "Keep a random fifth of the people (at least 200) out, make the release again from the rest, and audit "
            "with them as the control group."
        ),
        "usable control": "Take a control group from the same population: keep people out before the release is made.",
        "type": "State the release type: masked (each row was made from one person's row) or synthetic.",
        "sensitive": "State the sensitive columns, or that there are none.",
        "quasi-identifiers": "State the quasi-identifiers: the columns that an attacker may know.",
        "not run": "Run all attacks.",
        "not tested": "See the table for the reason why a risk was not tested.",
    }
)
THRESHOLD_STEP = "Choose a threshold to get pass or fail."
#: What a control group needs whose rows are too similar to be separate people.
IDENTIFIER_STEP = "State the column that identifies a person, or that each row is one person."
#: The options that a terminal names behind a next step.
OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        NEXT["type"]: "--release-type masked|synthetic",
        NEXT["sensitive"]: "--sensitive COLUMNS|none",
        NEXT["quasi-identifiers"]: "--quasi-identifiers COLUMNS",
        NEXT["control"]: "--control FILE",
        NEXT["not run"]: "leave out --attacks",
        THRESHOLD_STEP: "--threshold 0.09 or --profile",
        IDENTIFIER_STEP: "--id COLUMN|none",
    }
)
#: Where more of the people are copied, removing their records leaves no release.
MOST_REMOVED = 0.5
#: With more words a headline has no room for the two rates.
_MOST_WORDS = 20
#: What stands for the rates of an effect that the redacted report withholds.
WITHHELD = "rates withheld"


def with_text(decision: AuditDecision, audit: Audit) -> AuditDecision:
    """Return the decision with its headline, the numbers behind it, and what to do next."""
    leading = leading_release(decision)
    if leading is None:
        return decision
    several = [each for each in decision.releases if not each.is_reference]
    headline = _of_several(decision, several) if len(several) > 1 and audit.way is None else ""
    return replace(
        decision,
        headline=headline or headline_of(leading, decision),
        subline=_sentence("; ".join(_subline(leading, decision, audit, several=bool(headline)))),
        next=tuple(dict.fromkeys((*_next_of_several(decision, several), *_next(leading, decision, audit))))[:3],
    )


def _sentence(text: str) -> str:
    return text and f"{text[:1].upper()}{text[1:]}."


def leading_release(decision: AuditDecision) -> ReleaseDecision | None:
    """Return the release that decides: the one with the decision of the audit that has the highest level."""
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
    """Return the decision on one release in a sentence: level, who is affected, one number.

    Where a threshold is set, the sentence begins with pass, fail or inconclusive.
    """
    level = level_text(release)
    start = f"{DECISION_WORDS[release.decision]} ({level}): " if release.decision != "none" else ""
    if release.decision == "pass" and isinstance(release.highest, SuppressedNumber):
        return f"{start}every excess is below the threshold."
    if release.decision == "pass" and isnan(release.highest):
        return f"{start}every limit holds."
    if release.decision == "pass":
        return f"{start}every excess is below {_bound(release.highest)} points."
    if release.decision == "inconclusive":
        return _inconclusive(release, start)
    if release.decision == "fail":
        return f"{start}{reached(release)}."
    if release.level == "none_found":
        most = LEVEL_WORDS[release.at_most or "high"]
        if isinstance(release.highest, SuppressedNumber):
            ruled = f"the excess is {most} at most"
        else:
            ruled = f"an excess above {_bound(release.highest)} points is ruled out (at most {most})"
        return f"{'Partial audit – nothing' if decision.partial else 'Nothing'} significant: {ruled}."
    if release.level == "inconclusive":
        return f"Inconclusive: {_why_open(release)}."
    partial = f"Partial audit – {level}" if decision.partial else f"{level[:1].upper()}{level[1:]}"
    return f"{partial}: {reached(release)}."


def level_text(release: ReleaseDecision) -> str:
    """Return the level of a release in words."""
    if release.level == "none_found":
        return "nothing significant"
    if release.level == "inconclusive":
        return "level open"
    # Nothing is above high.
    bound = "at least " if release.at_least and release.level != "high" else ""
    return f"{bound}{LEVEL_WORDS[release.level]} risk"


def _inconclusive(release: ReleaseDecision, start: str) -> str:
    """Return why a pass is not shown: what is missing first, then the widest limit."""
    if release.level == "inconclusive":
        start = "Inconclusive: "
    if "control" in release.lacks and release.level != "inconclusive":
        return f"{start}no control group."
    if release.lacks and (release.lacks[0] != "not run" or release.level == "inconclusive"):
        return f"{start}{REASONS[release.lacks[0]]}."
    if release.lacks:
        return f"Partial audit – {level_text(release)}: {reached(release) if release.cause else REASONS['not run']}."
    if release.limit:
        return f"{start}the limit on {release.limit} cannot be tested."
    if release.cause == "class":
        risk = _class_risk(release)
        bound = "" if isinstance(risk, SuppressedNumber) else "up to "
        return f"{start}one person's risk could be {bound}{percent(risk)}."
    return f"{start}{_why_open(release)}."


def _why_open(release: ReleaseDecision) -> str:
    """Return which excess is not ruled out, or why nothing is known."""
    effect = release.worst
    compares = not {"control", "usable control"} & set(release.lacks)
    if effect is None or not effect.excess.is_tested or not compares:
        return REASONS[release.lacks[0]] if release.lacks else "no attack could be tested"
    if isinstance(effect.excess.high, SuppressedNumber):
        return f"the excess in {effect_name(effect)} is not ruled out"
    return f"the excess in {effect_name(effect)} could be up to {_bound(effect.excess.high)} points"


def effect_name(effect: AttackEffect, *, of: bool = True) -> str:
    """Return what an attack is called in a sentence, with the attribute that it infers."""
    about = f" of {name(effect.sensitive, LONGEST_NAME)}" if of and effect.sensitive else ""
    return f"{EFFECT_NAMES[effect.attack]}{about}"


def _class_risk(release: ReleaseDecision) -> float:
    smallest = release.individuals.smallest_class
    if isinstance(smallest, SuppressedNumber):
        return SuppressedNumber(1 / smallest.most, 1.0)
    return 1 / smallest if smallest else 1.0


def reached(release: ReleaseDecision) -> str:
    """Return what an attacker reaches, by the effect or the people that set the level."""
    people = release.individuals
    if release.cause == "claim":
        return "the claimed epsilon is refuted"
    if release.cause == "limit":
        return f"the limit on {release.limit} is exceeded"
    leads = release.worst is not None and release.worst.attack == "copies" and people.copies_seen
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
            return f"one person's risk is {percent(_class_risk(release))}"
        return INDIVIDUALS["class"].format(k=number_of(below[least], "", ""), n=least)
    if release.cause == "group" and release.group is not None:
        group = release.group
        effect = AttackEffect(attack=group.attack, excess=group.excess)
        called = name(group.group, LONGEST_NAME)
        said = f"{EFFECT_NAMES[group.attack]} succeeds" if is_hidden(effect) else _phrase(effect)
        return INDIVIDUALS["group"].format(p=said, g=called, k=number_of(group.people))
    return _of_effect(release.worst)


def _expected(number: float) -> str:
    return f"{number:.0f}" if isnan(number) or number >= 1 or number == 0 else "fewer than 1"


def _of_effect(effect: AttackEffect | None) -> str:
    """Return what an effect means, with its two rates where the sentence stays short."""
    if effect is None:
        return "no attack could be tested"
    if is_hidden(effect):
        return f"{EFFECT_NAMES[effect.attack]} succeeds ({WITHHELD})"
    said, rates = _phrase(effect), _rates(effect)
    if effect.attack in ("reidentification", "row_order"):
        return said
    if effect.baseline_kind == "theoretical":
        return said.replace("without the release", "the theoretical baseline")
    return f"{said} ({rates})" if len(f"{said} {rates}".split()) <= _MOST_WORDS - 3 else said


def _phrase(effect: AttackEffect) -> str:
    points = round(100 * effect.excess.value)
    said = PHRASES[effect.attack]
    more = "more" if effect.attack == "singling_out" else "more people"
    if points < 1:
        some = "fewer than 1 more person" if effect.attack != "singling_out" else "fewer than 1 more"
        said = said.replace("{e}", some)
    elif points == 1 and effect.attack != "singling_out":
        said = said.replace("{e}", "1 more person")
    rate = percent(effect.excess.attack_rate)
    at_most = "at most " if effect.counted and effect.excess.low < effect.excess.value else ""
    return said.format(e=f"{points} {more}", r=f"{at_most}{rate}", c=name(effect.sensitive, LONGEST_NAME))


def _rates(effect: AttackEffect) -> str:
    kinds = {"control": "control", "chance": "chance", "theoretical": "theoretical"}
    excess = effect.excess
    return f"{percent(excess.attack_rate)}, {kinds[effect.baseline_kind]} {percent(excess.baseline)}"


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
    """Return an upper limit in points, rounded up, so that what is said to be below it is.

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
    excess = effect.excess
    if isinstance(excess.high, SuppressedNumber):
        return _points(excess.value)
    return f"{_points(excess.value)} ({_points(excess.low)}, {_bound(excess.high)})"


def p_text(p: float) -> str:
    """Return an adjusted p-value."""
    return "–" if isnan(p) else "<0.001" if p < 0.001 else f"{p:.2g}"


def _of_several(decision: AuditDecision, releases: Sequence[ReleaseDecision]) -> str:
    """Return the decision on several releases in a sentence: which passes, or which comes closest."""
    number = len(releases)
    if decision.decision == "none":
        worst = max(releases, key=lambda each: height(each.level))
        highest = f"Highest risk: {name(worst.name, LONGEST_NAME)} ({level_text(worst)})"
        best = next((each for each in releases if each.name == decision.recommended), None)
        if best is None or best is worst:
            return f"{highest}."
        return f"{highest}; lowest: {_bounded(best)}."
    passing = [name(each.name, LONGEST_NAME) for each in releases if each.decision == "pass"]
    if passing:
        verb = "passes" if len(passing) == 1 else "pass"
        return f"{len(passing)} of {number} releases {verb}: {', '.join(passing[:3])}."
    closest = _closest(releases)
    return "No release passes." if closest is None else f"No release passes; closest: {_bounded(closest)}."


def _bounded(release: ReleaseDecision) -> str:
    called = name(release.name, LONGEST_NAME)
    lacks = [REASONS[each] for each in release.lacks[:1] if each in ("type", "sensitive", "quasi-identifiers")]
    return f"{called} ({'; '.join([f'excess at most {_bound(release.highest)} points', *lacks])})"


def _subline(release: ReleaseDecision, decision: AuditDecision, audit: Audit, *, several: bool) -> Iterator[str]:
    """Yield the numbers behind the headline."""
    effect = _subject(release)
    if several:
        yield f"worst: {name(release.name, LONGEST_NAME)}, {level_text(release)}"
    if effect is not None and effect.excess.is_tested and not is_hidden(effect):
        excess = effect.excess
        limits = f" (at least {_points(excess.low)}, at most {_bound(excess.high)})"
        bounded = "" if isinstance(excess.high, SuppressedNumber) else limits
        yield f"{effect_name(effect)}: {_rates(effect)}; excess {_in_points(excess.value)}{bounded}"
        if not isnan(effect.uncorrected):
            yield f"corrected for the choice of the worst attacker ({_points(effect.uncorrected)} before)"
        if not isnan(effect.p_adjusted):
            yield f"adjusted p {p_text(effect.p_adjusted)} ({count(audit.verdict.figures, 'test', 'tests')})"
    if release.individuals.unmistakable and release.cause == "copies":
        yield f"{number_of(release.individuals.unmistakable)} beyond any coincidence"
    group = _copied_group(release)
    if group is not None:
        called, size = name(group.group, LONGEST_NAME), number_of(group.people)
        yield f"in the group {called} ({size}): excess {_points(group.excess.value)} points"
    if release.group is not None and effect is not None and release.cause == "group":
        excess = release.group.excess
        yield f"in the group: at least {_points(excess.low)}, at most {_bound(excess.high)}"
    if decision.threshold is not None and decision.threshold.value is not None:
        yield f"threshold {_in_points(decision.threshold.value)}"
    if release.decision == "fail" and release.cause in ("copies", "members"):
        yield "exposed people fail at any threshold"
    if release.decision == "inconclusive" and effect is not None and effect.people_needed:
        yield from _planned(effect, release, audit)
    if decision.not_run and release.decision != "fail":
        names = [EFFECT_NAMES[each] for each in decision.not_run]
        yield f"not run: {', '.join(names[:3])}{f' and {len(names) - 3} more' if names[3:] else ''}"


def threshold_source(release: ReleaseDecision, source: str) -> str:
    """Return who set the threshold, and whether that was for other risks."""
    applied = any(each.convention for each in release.effects if each.status is not None)
    return f"{source}, published for re-identification" if source and applied else source or "set for this audit"


def _copied_group(release: ReleaseDecision) -> GroupEffect | None:
    """Return the group whose people are copied most, where copies lead and the group alone has as high a level."""
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
    return max(own, key=lambda each: each.excess.value, default=release.worst)


def _planned(effect: AttackEffect, release: ReleaseDecision, audit: Audit) -> Iterator[str]:
    """Yield what an audit of this size can show of an effect that is open."""
    from unveil.metrics.verdict.plan import plan

    yield f"about {count(effect.people_needed or 0)} people per table needed"
    sizes = audit.attacked or audit.people, audit.attacked_outside
    if effect.threshold is None or min(sizes) < FEWEST_ATTEMPTS or not effect.threshold > 0:
        return
    attackers = sum(each.status is not None and each.blocks_pass for each in release.effects)
    found = plan(*sizes, effect.threshold, attackers=attackers, baseline=float(effect.excess.baseline))
    yield f"a leak-free release of this size passes in about {100 * found.pass_chance:.0f} of 100 audits"
    if not isnan(found.smallest_found):
        yield f"smallest leak found {_in_points(found.smallest_found)}"


def _next_of_several(decision: AuditDecision, releases: Sequence[ReleaseDecision]) -> Iterator[str]:
    """Yield what to do with the best of several releases."""
    if len(releases) < 2 or decision.decision == "none":
        return
    if decision.recommended is not None and any(each.decision == "pass" for each in releases):
        yield f"Release {name(decision.recommended, LONGEST_NAME)}, and record the threshold and this report."
        return
    closest = _closest(releases)
    if closest is not None and closest.decision == "inconclusive":
        yield f"Audit {name(closest.name, LONGEST_NAME)} again, with more people: it is closest to a pass."


def _closest(releases: Sequence[ReleaseDecision]) -> ReleaseDecision | None:
    known = [each for each in releases if not isnan(each.highest)]
    return min(known, key=lambda each: each.highest, default=None)


def _next(release: ReleaseDecision, decision: AuditDecision, audit: Audit) -> Iterator[str]:
    """Yield what to do next, the most urgent first."""
    shown = {each.name for each in audit.releases}
    flagged = dict.fromkeys(flag.column for each in audit.flags if each.table in shown for flag in each.flags)
    if flagged:
        yield f"Check columns that look like direct identifiers: {listed(list(flagged))}."
    if decision.decision == "pass":
        yield "Record the threshold and this report, then release."
        return
    if audit.verdict.control.is_clustered:
        yield IDENTIFIER_STEP
    if decision.decision == "inconclusive" and release.lacks:
        yield from (NEXT[each] for each in release.lacks if each != "not tested")
    leading = "" if release.worst is None else release.worst.attack
    if release.cause == "copies" or leading == "copies":
        few = _copies(release) < MOST_REMOVED * decision.people
        copied = number_of(_copies(release), "copied record", "copied records")
        most = "Mask or synthesize the data: most records are copies."
        yield f"Remove the {copied}, then audit again." if few else most
    if leading == "row_order" or any(each.attack == "row_order" and _is_high(each) for each in release.effects):
        yield "Shuffle the rows of the release, then audit again."
    if release.level in ("low", "medium", "high") or decision.decision == "fail":
        columns = [each for each in _telling_columns(audit, release.name) if each not in flagged]
        of = f" in {name(release.name, LONGEST_NAME)}" if len(audit.releases) > 1 else ""
        change = f"Generalize {listed(columns)}{of}" if columns else "Protect the data further"
        yield f"{change}, then audit again."
    if decision.decision == "none":
        yield from (NEXT[each] for each in release.lacks if each in ("control", "usable control"))
        yield THRESHOLD_STEP
    if decision.decision == "inconclusive":
        effect = release.worst
        if effect is not None and effect.attack == "singling_out" and decision.control_people < decision.people:
            # From a smaller one only bounds of the baseline of singling out follow.
            yield "Hold out half of the people at random as the control group, and release the other half."
        needed = 0 if effect is None else effect.people_needed or 0
        yield f"Audit about {count(needed)} people per table." if needed else "Audit more people."


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
    return [each.column for each in sorted(weights, key=lambda each: -each.loss)[:3]]

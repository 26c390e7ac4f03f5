"""The sentences of the report on linking: headline, explanation and next steps."""

from math import isnan

from unveil.data.histories import GAP, Lifetime
from unveil.metrics.verdict.levels import LEVEL_WORDS, band
from unveil.questions.link.findings import LEARNED, LINKED, LinkEffect, LinkFindings
from unveil.report.blocks import NextStep, Tone
from unveil.report.text import about, count, name, together

_UNITS = {"min": "minute", "h": "hour", "d": "day", "w": "week"}
#: A column is named in a next step if the attack loses at least this much without it.
_NOTABLE = 0.05
#: So many next steps are shown.
_MOST_STEPS = 3


def lifetime_words(text: str) -> str:
    """Return a lifetime in words.

    >>> lifetime_words("7d"), lifetime_words("1d"), lifetime_words("none"), lifetime_words("5 records")
    ('7 days', '1 day', '1 record', '5 records')
    """
    lifetime = Lifetime.of(text)
    if lifetime.records:
        return count(lifetime.records, "record", "records")
    amount, unit = text.strip().rstrip("minhdw").strip(), text.strip().lstrip("0123456789. ")
    return f"{amount} {_UNITS[unit]}{'' if float(amount) == 1 else 's'}"


def headline(findings: LinkFindings, decision: str = "none") -> str:
    """Return level and largest effect in at most 20 words."""
    effect = findings.worst
    level = LEVEL_WORDS[effect.level]
    if effect.level == "inconclusive":
        return _inconclusive(findings)
    if effect.level == "none_found":
        highest = max(each.excess.high for each in findings.verdict.effects)
        at_most = LEVEL_WORDS[band(highest)]
        found = f"an excess above {_points(highest)} points is ruled out (at most {at_most})."
        return f"{decision.capitalize()}: {found}" if decision != "none" else f"Nothing significant: {found}"
    start = f"{decision.capitalize()} ({level} risk)" if decision != "none" else f"{level.capitalize()} risk"
    return f"{start}: {_phrase(findings, effect)}."


def _inconclusive(findings: LinkFindings) -> str:
    people = findings.history.people
    if findings.two_periods is not None:
        people = findings.two_periods.attacks[0].people
    if not findings.verdict.tests:
        who = "have records in both periods" if findings.two_periods is not None else "have records"
        return f"Inconclusive: {count(people, 'person', 'people')} {who}, but a test needs 20."
    effect = findings.worst
    return f"Inconclusive: an excess of up to {_points(effect.excess.high)} points in linked records is not ruled out."


def _phrase(findings: LinkFindings, effect: LinkEffect) -> str:
    share = about(effect.success.value)
    if effect.rank_only:
        return f"true partners rank above chance, but only {share} of people are linked"
    if effect.name == LINKED:
        by = " by a trained attacker" if effect.attacker == LEARNED else ""
        return f"{share} of people can be linked {between(findings)}{by}"
    return f"{across(findings)}{share} of a person's records can be linked{_periods(findings)}"


def between(findings: LinkFindings) -> str:
    """Return which two periods are linked, as in "from wave1.csv to wave2.csv"."""
    if findings.two_periods is None or findings.history.lifetime:
        return "from one pseudonym to the next"
    return f"from {name(findings.two_periods.earlier, 24)} to {name(findings.two_periods.later, 24)}"


def across(findings: LinkFindings) -> str:
    """Return the rule of pseudonyms at the start of a phrase; empty without a lifetime."""
    lifetime = findings.history.lifetime
    if not lifetime:
        return ""
    if Lifetime.of(lifetime).records:
        return f"with a new pseudonym every {lifetime_words(lifetime)}, ".replace("every 1 record", "for each record")
    return f"with pseudonyms that change every {lifetime_words(lifetime)}, ".replace("every 1 day", "every day")


def _periods(findings: LinkFindings) -> str:
    history = findings.history
    if history.lifetime:
        return ""
    return f" across {count(history.periods)} periods" if history.periods > 1 else " across pseudonyms"


def cautions(findings: LinkFindings) -> tuple[str, ...]:
    """Return what must stand above the headline: identifiers, and exchanged people."""
    said = []
    if findings.history.shuffled:
        said.append("People were exchanged at random before the attack: all results below are those of chance.")
    for column in findings.history.identifiers:
        kept = column in findings.history.compared
        rest = "The attacker uses it here." if kept else "It is left out of the attacks below."
        said.append(f"Column {name(column, 40)!r} identifies each person: released, it links every record. {rest}")
    return tuple(said)


def explanation(findings: LinkFindings) -> tuple[str, ...]:
    """Return the numbers behind the headline and their meaning."""
    effect, people = findings.worst, findings.linked_people
    said = [_numbers(findings, effect)]
    if effect.level in ("none_found", "inconclusive"):
        share = findings.verdict.detectable
        if not isnan(share) and findings.two_periods is not None:
            number = findings.two_periods.attacks[0].people
            said.append(
                f"If {about(share)} of {count(number, 'person', 'people')} had been linked, the test would have found "
                "it in 8 of 10 cases."
            )
        return tuple(said)
    others = about(1 - people.own_share.value)
    said.append(f"Of a profile that the attacker makes, {others} belongs to other people.")
    said.append(
        "This is linkability in the sense of WP216: two records of one person can be linked. No name is needed, and a "
        "name for one record names the rest."
    )
    return tuple(said)


def _numbers(findings: LinkFindings, effect: LinkEffect) -> str:
    success = f"{about(effect.success.value)} (95% CI {interval(effect)})"
    people, found = findings.linked_people, findings.two_periods
    if effect.name == LINKED and found is not None:
        attack = next(each for each in found.attacks if each.attacker == effect.attacker)
        how = "After training on other people" if effect.attacker == LEARNED else "By the records alone"
        said = f"{how}, an attacker links {success} of {count(attack.people, 'person', 'people')}"
        baseline = f"chance {about(attack.chance)}"
    else:
        said = f"By the records alone, an attacker puts {success} of a person's records into one profile"
        baseline = f"pseudonym alone {about(people.linked_alone)}, chance {about(people.chance)}"
    tests = count(len(findings.verdict.tests), "test", "tests")
    p = "" if isnan(effect.adjusted_p) else f"; {p_text(effect.adjusted_p)} ({tests})"
    return f"{said}; {baseline}{p}."


def interval(effect: LinkEffect) -> str:
    """Return the 95% CI of the success of an attack."""
    return f"{about(effect.success.low).removesuffix('%')}–{about(effect.success.high)}"


def p_text(p: float) -> str:
    """Return an adjusted p.

    >>> p_text(0.0005), p_text(0.0312), p_text(float("nan"))
    ('adjusted p < 0.001', 'adjusted p 0.031', 'not tested')
    """
    return "not tested" if isnan(p) else "adjusted p < 0.001" if p < 0.001 else f"adjusted p {p:.2g}"


def next_steps(findings: LinkFindings, *, has_limits: bool) -> tuple[str, ...]:
    """Return what to do next, the most useful first."""
    steps: list[str] = []
    identifiers = findings.history.identifiers
    if identifiers:
        steps.append(f"Remove {together([name(each, 30) for each in identifiers])} before the release.")
    if findings.worst.level not in ("none_found", "inconclusive"):
        steps += [*_shorter(findings), *_coarser(findings)]
    elif not findings.verdict.tests:
        steps.append("Repeat with at least 20 people who have records in both periods.")
    if not has_limits:
        steps.append(
            NextStep("Choose a threshold to get pass or fail.", option="--threshold 0.09 or --limit NAME=VALUE")
        )
    attacks = () if findings.two_periods is None else findings.two_periods.attacks
    if attacks and not any(each.attacker == LEARNED for each in attacks):
        steps.append(NextStep("Attack again with weights learned on other people.", option="--learned"))
    return tuple(steps[:_MOST_STEPS]) or ("Repeat the measurement before each release.",)


def _shorter(findings: LinkFindings) -> list[str]:
    """Return a lifetime that links fewer records, if there is one."""
    shown = findings.history.lifetime
    now = findings.linked_people.records_linked.value
    shorter = [each for each in findings.lifetimes if not each.why and each.lifetime != shown]
    best = min(shorter, key=lambda each: each.records_linked.value, default=None)
    if best is None or best.records_linked.value >= now - _NOTABLE:
        return []
    words = lifetime_words(best.lifetime)
    every = "for each record" if words == "1 record" else "every day" if words == "1 day" else f"every {words}"
    return [f"Change pseudonyms {every}: {about(best.records_linked.value)} of records are then linked."]


def _coarser(findings: LinkFindings) -> list[str]:
    """Return the column that links most, if one does."""
    now = success(findings)
    best = min(findings.columns, key=lambda each: each.all_but, default=None)
    if best is None or isnan(now) or best.all_but > now - _NOTABLE:
        return []
    what = "people" if findings.column_measure == LINKED else "records"
    step = f"Generalize column {name(best.column, 30)}: without it"
    if best.column == GAP:
        step = "Change all pseudonyms at the same time: without gaps of a person's own"
    return [f"{step}, {about(best.all_but)} of {what} are linked."]


def success(findings: LinkFindings) -> float:
    """Return the success that the columns are compared by."""
    if findings.column_measure == LINKED and findings.two_periods is not None:
        return findings.two_periods.attacks[0].linked.value
    return findings.linked_people.records_linked.value


def tone(findings: LinkFindings) -> Tone:
    """Return how the headline should strike."""
    level = findings.verdict.level
    return "bad" if level in ("medium", "high") else "neutral" if level in ("none_found", "inconclusive") else "warning"


def _points(excess: float) -> str:
    return f"{100 * excess:.0f}" if excess >= 0.1 else f"{100 * excess:.1f}"

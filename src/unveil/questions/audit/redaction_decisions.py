"""The decision on an audit as others may see it: no excess, rate or number that rests on a few people."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan

from unveil.metrics.trials.risk import Rate, clopper_pearson
from unveil.metrics.verdict.effects import EffectSize
from unveil.questions.audit.decision.findings import (
    AttackEffect,
    AuditDecision,
    ExposedIndividuals,
    GroupEffect,
    ReleaseDecision,
)
from unveil.questions.audit.redaction_rates import SmallNumbers
from unveil.report.suppressed_number import SuppressedNumber

#: What stands for the name of a group that has few people.
SMALL_GROUP = "a small group"


def shared_decision(small: SmallNumbers, decision: AuditDecision) -> AuditDecision:
    """Return the decision without numbers of few people; its words are made of it anew."""
    return replace(
        decision,
        headline="",
        subline="",
        next=(),
        releases=tuple(_release(small, each, decision) for each in decision.releases),
    )


def _release(small: SmallNumbers, release: ReleaseDecision, decision: AuditDecision) -> ReleaseDecision:
    few_in_classes = any(map(small.is_small, release.individuals.people_in_classes_below.values()))
    effects = tuple(_effect(small, each, few_in_classes=few_in_classes) for each in release.effects)
    # The largest limit of an attack may be that of an attacker whose limits are withheld.
    withheld = {each.attack for each in effects if isinstance(each.excess.high, SuppressedNumber)}

    def worst(effect: AttackEffect | None) -> AttackEffect | None:
        made = None if effect is None else _effect(small, effect, few_in_classes=few_in_classes)
        return _without_limits(made) if made is not None and made.attack in withheld else made

    return replace(
        release,
        effects=effects,
        worst=worst(release.worst),
        highest=release.highest
        if any(each.excess.high == release.highest for each in effects)
        else SuppressedNumber.withheld(),
        group=None if release.group is None else _group(small, release.group, release.effects),
        risks=tuple(replace(each, effect=worst(each.effect)) for each in release.risks),
        individuals=_individuals(small, release.individuals, decision.people, decision.control_people),
    )


def _effect(small: SmallNumbers, effect: AttackEffect, *, few_in_classes: bool) -> AttackEffect:
    # Attempts of singling out are predicates, of which nobody is left out.
    has_people = effect.attack != "singling_out"
    inside = (*small.attacked, *small.tables) if has_people else ()
    outside = small.outside if has_people else ()
    attempts = _near(small, effect.attempts, inside), _near(small, effect.control_attempts, outside)
    excess = _excess(small, effect.excess, (effect.attempts, effect.control_attempts), (inside, outside))
    # The rate before a correction is one of whole people; the mean over classes tells how many are in small ones.
    before = (effect.uncorrected + effect.excess.baseline) * effect.attempts
    is_few = small.is_small(effect.attempts - before) or small.is_small(before) or (effect.counted and few_in_classes)
    excess = _withheld(excess) if is_few else excess
    made = replace(
        effect,
        excess=excess,
        attempts=attempts[0],
        control_attempts=attempts[1],
        auc=round(effect.auc, 2),
        variance=nan,
    )
    if isinstance(excess.value, SuppressedNumber) or isnan(excess.attack_rate):
        return replace(made, p_adjusted=nan, people_needed=None, auc=nan, uncorrected=nan)
    if attempts != (effect.attempts, effect.control_attempts):
        # Limits tell how many attempts they rest on.
        return replace(_without_limits(made), uncorrected=nan)
    return made


def _without_limits(effect: AttackEffect) -> AttackEffect:
    withheld = SuppressedNumber.withheld()
    return replace(effect, excess=replace(effect.excess, low=withheld, high=withheld), uncorrected=nan)


def _withheld(excess: EffectSize) -> EffectSize:
    gone = SuppressedNumber.withheld()
    return EffectSize(gone, gone, gone, gone, gone, excess.why_not_tested)


def _near(small: SmallNumbers, attempts: int, sizes: Sequence[int]) -> int:
    """Return attempts as they are shown: those on everybody where only a few were left out."""
    return next((each for each in sizes if attempts and small.is_small(abs(each - attempts))), attempts)


def _excess(
    small: SmallNumbers, excess: EffectSize, attempts: tuple[int, int], sizes: tuple[Sequence[int], Sequence[int]]
) -> EffectSize:
    """Return an excess as it is, moved to the totals that are shown, or withheld where it rests on few."""
    shown = [
        small.rate(clopper_pearson(min(max(rate, 0.0) * tries, tries), tries), total)
        for rate, tries, total in zip((excess.attack_rate, excess.baseline), attempts, sizes, strict=True)
        if tries and not isnan(rate)
    ]
    if any(_is_few(rate) for rate in shown):
        return _withheld(excess)
    if not shown:
        return excess
    rates = [excess.attack_rate, excess.baseline]
    rates[: len(shown)] = [rate.value for rate in shown]
    change = rates[0] - rates[1] - excess.value
    return EffectSize(
        excess.value + change, excess.low + change, excess.high + change, rates[0], rates[1], excess.why_not_tested
    )


def _is_few(rate: Rate) -> bool:
    return isinstance(rate.value, SuppressedNumber) or not rate.defined


def _group(small: SmallNumbers, group: GroupEffect, effects: Sequence[AttackEffect]) -> GroupEffect:
    """Return a group without its name if it is small, and without its excess if that leaves a few of all hits."""
    excess = _excess(small, group.excess, (group.people, group.control_people), ((), ()))
    is_small = any(map(small.is_small, (group.people, group.control_people, small.rows - group.people)))
    hits = group.excess.attack_rate * group.people
    is_rest = any(
        small.is_small(each.excess.attack_rate * each.attempts - hits)
        for each in effects
        if each.attack == group.attack
    )
    if is_small or is_rest:
        excess = _withheld(excess)
    is_few = isinstance(excess.value, SuppressedNumber)
    return replace(
        group,
        group=SMALL_GROUP if is_small else group.group,
        excess=excess,
        p_adjusted=nan if is_few else group.p_adjusted,
    )


def _individuals(small: SmallNumbers, people: ExposedIndividuals, number: int, control: int) -> ExposedIndividuals:
    """Return exposed people by bounds where they are few, or all but a few of those whom they are part of."""
    seen = _counts(small, [people.copies_seen], number)[0]
    below = people.people_in_classes_below
    return replace(
        people,
        unmistakable=_part(small, people.unmistakable, people.copies_seen, seen),
        copies_seen=seen,
        copies_expected=_expected(small, people.copies_expected, number, control),
        rare_copies=_part(small, people.rare_copies, people.copies_seen, seen),
        rare_copies_expected=_expected(small, people.rare_copies_expected, number, control),
        flagged=_counts(small, [people.flagged], number)[0],
        people_in_classes_below=dict(
            zip(sorted(below), _counts(small, [below[size] for size in sorted(below)], number), strict=True)
        ),
        # The sizes of all groups of a column leave the size of a hidden one.
        groups=(),
    )


def _counts(small: SmallNumbers, numbers: Sequence[int], total: int) -> list[int]:
    """Return numbers of people that contain one another, the least first, such that no difference is small."""
    shares = small.ladder([each / total for each in numbers], total) if total else []
    made = list[int]()
    for number, share in zip(numbers, shares, strict=False):
        if isinstance(share, SuppressedNumber) and not share.told:
            number = share  # type: ignore[assignment]
        elif isinstance(share, SuppressedNumber):
            least, most = share.least * total, share.most * total
            words = f"at least {round(least)}" if least > 0 else f"fewer than {round(most)}"
            number = SuppressedNumber(least, most, words=words)  # type: ignore[assignment]
        made.append(number)
    return made


def _part(small: SmallNumbers, part: int, whole: int, shown: int) -> int:
    """Return a part of copied people, which may be all but a few of them."""
    if not small.is_small(whole - part) and not (isinstance(shown, SuppressedNumber) and part == whole):
        return part
    if isinstance(shown, SuppressedNumber) and not shown.told:
        return shown
    least = max((shown.least if isinstance(shown, SuppressedNumber) else whole) - small.minimum, 0)
    return SuppressedNumber(least, float(shown), words=f"at least {round(least)}" if least else "some")  # type: ignore[return-value]


def _expected(small: SmallNumbers, expected: float, number: int, control: int) -> float:
    """Return how many chance explains, or nothing where that tells of a few of the control group."""
    hits = expected * control / number if number else nan
    is_few = any(map(small.is_small, (expected, hits, control - hits)))
    return SuppressedNumber.withheld() if is_few else expected

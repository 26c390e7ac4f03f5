"""The level of each effect, and of the release."""

from math import nan

import numpy as np

from unveil.metrics.trials.risk import Rate
from unveil.metrics.verdict.effects import EffectSize
from unveil.metrics.verdict.exchanged_people import LinkTest
from unveil.metrics.verdict.levels import ALPHA, LEVELS, Level, effect_level
from unveil.questions.link.findings import (
    LEARNED,
    LINKED,
    RECORDS_LINKED,
    WITHOUT_TRUTH,
    LinkedPeople,
    LinkEffect,
    LinkVerdict,
    TwoPeriods,
)

_POWER = 0.8


def verdict_on(
    two_periods: TwoPeriods | None, people: LinkedPeople, tests: tuple[LinkTest, ...], measure: str
) -> LinkVerdict:
    """Return the level of each effect and of the worst one."""
    p = {each.name: each.adjusted_p for each in tests}
    effects = []
    for attack in () if two_periods is None else two_periods.attacks[:2]:
        ending = ", learned" if attack.attacker == LEARNED else ""
        ps = p.get(f"links{ending}", nan), p.get(f"ranks{ending}", nan)
        effects.append(_effect(LINKED, attack.attacker, attack.linked, attack.excess, *ps))
    effects.append(_effect(RECORDS_LINKED, WITHOUT_TRUTH, people.records_linked, people.excess, p.get("pairs", nan)))
    order = sorted(effects, key=lambda each: (-_height(each.level), each.name != measure, -_value(each)))
    return LinkVerdict(
        level=order[0].level, effects=tuple(order), tests=tests, detectable=_detectable(two_periods, len(p))
    )


def _effect(name: str, attacker: str, success: Rate, excess: EffectSize, p: float, rank_p: float = nan) -> LinkEffect:
    significant, by_rank = p <= ALPHA, rank_p <= ALPHA
    level: Level = "inconclusive"
    if excess.is_tested and not np.isnan(p):
        level = effect_level(excess, is_significant=significant) or "inconclusive"
        if by_rank and not significant:
            level = "very_low"
    return LinkEffect(
        name=name,
        attacker=attacker,
        success=success,
        baseline=excess.baseline,
        excess=excess,
        adjusted_p=p,
        significant=bool(significant),
        rank_only=bool(by_rank and not significant),
        level=level,
    )


def _height(level: Level) -> float:
    return 0.5 if level == "inconclusive" else LEVELS.index(level)


def _value(effect: LinkEffect) -> float:
    return effect.excess.value if effect.excess.is_tested else -1.0


def _detectable(two_periods: TwoPeriods | None, tests: int) -> float:
    """Return the smallest share of people whose links are found in 8 of 10 cases, if other links are right by chance.

    Links that are right by chance are taken to be Poisson distributed.
    """
    from scipy.stats import poisson

    if two_periods is None or not tests:
        return nan
    attack = two_periods.attacks[0]
    chance = attack.chance * attack.people
    critical = int(poisson.isf(ALPHA / tests, chance)) + 1
    for linked in range(critical + 1):
        if poisson.sf(critical - linked - 1, chance) >= _POWER:
            return min(linked / attack.people, 1.0)
    return nan

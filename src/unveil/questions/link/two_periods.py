"""Link the pseudonyms of two neighboring periods, with and without people to learn from."""

from dataclasses import replace
from math import nan
from typing import NamedTuple

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks import PeriodMatch, ProfileMatching
from unveil.data.histories import History
from unveil.errors import InputError
from unveil.metrics.trials.risk import Rate, wilson
from unveil.metrics.verdict.exchanged_people import (
    FEWEST_PEOPLE,
    LogRank,
    RightLinks,
    expected_links,
    link_effect,
)
from unveil.questions.link.findings import LEARNED, WITHOUT_TRUTH, ProfileAttack, TwoPeriods

#: A statistic of the links between two periods.
TwoPeriodStatistic = RightLinks | LogRank


def neighbors(history: History) -> tuple[int, int] | None:
    """Return the two neighboring periods with the most people in both; None without periods."""
    if not history.separate or len(history.periods) < 2:
        return None
    period, person = history.released.period, history.item_person
    present = np.zeros((len(history.periods), history.people), np.bool_)
    present[period, person] = True
    both = (present[:-1] & present[1:]).sum(axis=1)
    earlier = int(both.argmax())
    return earlier, earlier + 1


def two_periods(history: History, periods: tuple[int, int], attacks: list[ProfileAttack]) -> TwoPeriods:
    """Return the attacks with the names of their periods."""
    earlier, later = names_of(history, periods)
    return TwoPeriods(earlier=earlier, later=later, attacks=tuple(attacks))


def names_of(history: History, periods: tuple[int, int]) -> tuple[str, str]:
    """Return the names of two periods."""
    return history.periods[periods[0]], history.periods[periods[1]]


def testable(history: History, periods: tuple[int, int] | None) -> bool:
    """Return whether there are enough people for a test."""
    people = history.people if periods is None else int((history.partners(*periods) >= 0).sum())
    return people >= FEWEST_PEOPLE


def attacked(
    history: History,
    method: ProfileMatching,
    stratum: IntArray | None,
    effects: int,
    rng: np.random.Generator,
    *,
    knowledge: History | None = None,
) -> tuple[ProfileAttack, dict[str, TwoPeriodStatistic]]:
    """Return how many people one attacker links, and the statistics to test."""
    match = method.match(history.released, knowledge, rng=rng)
    truth = history.partners(*(history.periods.index(name) for name in method.periods or ()))
    shared = truth >= 0
    people, linked = int(shared.sum()), match.partner >= 0
    right = (match.partner == truth) & shared
    chance = _expected_links(match, truth, stratum)
    entries = match.probability[match.partner[linked], np.flatnonzero(linked)]
    stated = entries if isinstance(entries, np.ndarray) else entries.toarray()
    attack = ProfileAttack(
        attacker=WITHOUT_TRUTH if knowledge is None else LEARNED,
        people=people,
        first_guess=_share(_first_guesses(match, truth), people),
        linked=_share(float(right.sum()), people),
        chance=chance / people if people else nan,
        excess=link_effect(int(right.sum()), people, chance, effects=effects),
        claimed=float(stated.mean()) if stated.size else nan,
        came_true=float(right[linked].mean()) if stated.size else nan,
    )
    statistics: dict[str, TwoPeriodStatistic] = {"links": RightLinks(match.earlier, match.later, match.partner)}
    if isinstance(match.scores, np.ndarray):  # of very many people, only some pairs are compared
        statistics["ranks"] = LogRank.of(match.earlier, match.later, match.scores)
    return attack, statistics


def _first_guesses(match: PeriodMatch, truth: IntArray) -> float:
    """Return the expected number of people whose best candidate is correct; ties share."""
    if isinstance(match.scores, np.ndarray):
        best = match.scores == match.scores.max(axis=0)
        later = np.flatnonzero(truth >= 0)
        return float((best[truth[later], later] / best.sum(axis=0)[later]).sum())
    pairs = match.scores.tocoo()
    highest = np.full(truth.size, -np.inf)
    np.maximum.at(highest, pairs.col, pairs.data)
    top = pairs.data == highest[pairs.col]
    ties = np.bincount(pairs.col[top], minlength=truth.size)
    return float((1 / ties[pairs.col[top & (pairs.row == truth[pairs.col])]]).sum())


def _expected_links(match: PeriodMatch, truth: IntArray, stratum: IntArray | None) -> float:
    """Return the correct links when people are exchanged at random."""
    sides = match.earlier, match.later
    earlier, later = (np.zeros(side.size, np.int64) if stratum is None else stratum[side] for side in sides)
    return expected_links(match.partner, truth, earlier, later)


class TaughtAttack(NamedTuple):
    """Attacks on a half of the people, one of them taught by the other half."""

    attacks: list[ProfileAttack]
    statistics: dict[str, TwoPeriodStatistic]
    #: The half of each item's person; people are exchanged within it, because the other half's truth is used.
    half: IntArray


def learned(
    history: History, periods: tuple[str, str], stratum: IntArray | None, effects: int, rng: np.random.Generator
) -> TaughtAttack:
    """Return the attacks on a random half of the people, taught by the other half."""
    if history.people < 4:
        raise InputError(f"There are {history.people} people, too few to teach an attacker. Remove learned")
    order = rng.permutation(history.people)
    middle = history.people // 2
    items = np.isin(history.item_person, order[middle:])
    teachers, targets = history.of_people(order[:middle]), history.of_people(order[middle:])
    if any(name not in each.periods for each in (teachers, targets) for name in periods):
        raise InputError("Too few people are in both periods to teach an attacker. Remove learned")
    own = None if stratum is None else stratum[items]
    method = ProfileMatching(periods=periods, learn="other people")
    taught, statistics = attacked(targets, method, own, effects, rng, knowledge=teachers)
    plain, _ = attacked(targets, ProfileMatching(periods=periods), own, effects, rng)
    number = np.flatnonzero(items)
    moved: dict[str, TwoPeriodStatistic] = {
        f"{name}, learned": replace(each, earlier=number[each.earlier], later=number[each.later])
        for name, each in statistics.items()
    }
    return TaughtAttack([taught, plain], moved, items.astype(np.int64))


def _share(hits: float, tries: int) -> Rate:
    return wilson(hits, tries) if tries else Rate(nan, nan, nan)

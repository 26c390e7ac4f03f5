"""Exact test of links: persons are exchanged at random.

The guess is a function of the release alone. If persons are exchanged between the items of a period (and a group), the
release stays the same, and so does the guess. The distribution over exchanges is thus exact for any attack and size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Protocol

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray, IntArray
from unveil._kernels.verdict.step_down import step_down
from unveil.errors import InputError, whole_number
from unveil.guesses import Partition
from unveil.metrics.verdict.effects import EffectSize, RatePair

#: Exchanges of persons.
DRAWS = 2_000
#: With fewer people in both periods nothing is tested.
FEWEST_PEOPLE = 20


class LinkStatistic(Protocol):
    """A number that is larger the more of the truth the attacker finds."""

    def __call__(self, person: IntArray) -> float:
        """Return the statistic if each item belongs to this person."""


@dataclass(frozen=True, eq=False)
class RightLinks:
    """Number of people whose two items the assignment links.

    ``partner`` is the assigned earlier place of each later item, -1 for none.
    """

    earlier: IntArray
    later: IntArray
    partner: IntArray

    def __call__(self, person: IntArray) -> float:
        """Return the number of right links."""
        has = self.partner >= 0
        return float((person[self.earlier[self.partner[has]]] == person[self.later[has]]).sum())


@dataclass(frozen=True, eq=False)
class LogRank:
    """Sum over people of -ln(1 - R + 1/n) for the rank R of the true partner's score."""

    earlier: IntArray
    later: IntArray
    gain: FloatArray

    @classmethod
    def of(cls, earlier: IntArray, later: IntArray, scores: FloatArray) -> "LogRank":
        """Return the statistic of a matrix of scores, earlier by later; ties share their ranks."""
        from scipy.stats import rankdata

        n = later.size
        rank = (rankdata(scores, axis=1) - 1) / max(1, n - 1)
        return cls(earlier, later, -np.log(1 - rank + 1 / n))

    def __call__(self, person: IntArray) -> float:
        """Return the log rank statistic."""
        place = np.full(int(person.max()) + 1, -1, np.int64)
        place[person[self.earlier]] = np.arange(self.earlier.size)
        row = place[person[self.later]]
        both = row >= 0
        return float(self.gain[row[both], np.flatnonzero(both)].sum())


@dataclass(frozen=True, eq=False)
class RightPairs:
    """Number of pairs of items of one person in one cluster."""

    label: IntArray

    @classmethod
    def of(cls, guess: Partition) -> "RightPairs":
        """Return the statistic of a partition."""
        return cls(guess.codes.astype(np.int64))

    def __call__(self, person: IntArray) -> float:
        """Return the number of right pairs."""
        key = np.sort(self.label * (int(person.max()) + 1) + person)
        edge = np.flatnonzero(np.concatenate([[True], np.diff(key) > 0, [True]]))
        size = np.diff(edge)
        return float((size * (size - 1) // 2).sum())


@dataclass(frozen=True, kw_only=True)
class LinkTest:
    """One statistic against its distribution when people are exchanged."""

    name: str = figure("What the statistic counts.")
    seen: float = figure("The statistic with the true persons.", counts="people")
    chance: float = figure("Its mean when persons are exchanged.")
    p: float = figure("Share of exchanges with at least the seen statistic.")
    adjusted_p: float = figure("The same for the whole family of tests (step-down min-p).")


def exchange_tests(
    statistics: Mapping[str, LinkStatistic],
    person: IntArray,
    period: IntArray,
    *,
    stratum: IntArray | None = None,
    draws: int = DRAWS,
    rng: np.random.Generator,
) -> tuple[LinkTest, ...]:
    """Return the exact tests of all statistics, over shared exchanges of people.

    Parameters
    ----------
    statistics
        The statistics by name; together they are the family.
    person, period
        The person and the period of each item.
    stratum
        The group of each item: people are exchanged within groups alone, so that a finding is beyond the group.
    draws
        How often people are exchanged.
    rng
        Draws the exchanges.

    Examples
    --------
    >>> items = np.arange(6), np.arange(6, 12)
    >>> links = RightLinks(*items, np.arange(6))
    >>> person, period = np.tile(np.arange(6), 2), np.repeat([0, 1], 6)
    >>> (test,) = exchange_tests({"links": links}, person, period, draws=999, rng=np.random.default_rng(1))
    >>> test.seen, round(test.chance), test.p < 0.01
    (6.0, 1, True)
    """
    if not statistics:
        raise InputError("No statistic was passed. Pass at least one")
    whole_number(draws, "draws")
    groups = exchangeable(period, stratum)
    values = np.empty((draws + 1, len(statistics)))
    values[0] = [each(person) for each in statistics.values()]
    for draw in range(1, draws + 1):
        drawn = exchange(person, groups, rng)
        values[draw] = [each(drawn) for each in statistics.values()]
    found = step_down(values)
    return tuple(
        LinkTest(
            name=name,
            seen=float(values[0, place]),
            chance=float(values[1:, place].mean()),
            p=float(found.p[place]),
            adjusted_p=float(found.adjusted[place]),
        )
        for place, name in enumerate(statistics)
    )


def exchangeable(period: IntArray, stratum: IntArray | None = None) -> tuple[IntArray, ...]:
    """Return the groups of items whose people can be exchanged."""
    key = period if stratum is None else period * (int(stratum.max()) + 1) + stratum
    order = np.argsort(key, kind="stable")
    ends = np.flatnonzero(np.diff(key[order])) + 1
    return tuple(each for each in np.split(order, ends) if each.size > 1)


def exchange(person: IntArray, groups: Sequence[IntArray], rng: np.random.Generator) -> IntArray:
    """Return the persons of all items after an exchange within groups."""
    drawn = person.copy()
    for group in groups:
        drawn[group] = person[rng.permutation(group)]
    return drawn


def expected_links(partner: IntArray, truth: IntArray, earlier: IntArray, later: IntArray) -> float:
    """Return the mean number of right links when people are exchanged within groups.

    Parameters
    ----------
    partner, truth
        The assigned and the true earlier place of each later item, -1 for none.
    earlier, later
        The group of each earlier and each later item; all 0 without groups.

    Examples
    --------
    >>> everyone = np.zeros(5, int)
    >>> expected_links(np.arange(5), np.arange(5), everyone, everyone)
    1.0
    """
    groups = int(max(earlier.max(), later.max())) + 1
    both = np.zeros((groups, groups))
    has = truth >= 0
    np.add.at(both, (earlier[truth[has]], later[has]), 1.0)
    size = np.bincount(earlier, minlength=groups)[:, None] * np.bincount(later, minlength=groups)
    chance = both / np.maximum(size, 1)
    linked = partner >= 0
    return float(chance[earlier[partner[linked]], later[linked]].sum())


def link_effect(right: int, people: int, chance: float, *, effects: int = 1) -> EffectSize:
    """Return the share of people linked minus chance, with limits.

    ``right`` of ``people`` in both periods are linked; ``chance`` is the expected number. Limits are those of Newcombe.
    Wrong links of an assignment come at least in pairs, so that a share p of n people varies as that of n / (1 + p)
    independent ones. With fewer than 20 people nothing is tested.
    """
    if people < FEWEST_PEOPLE:
        why = f"there are fewer than {FEWEST_PEOPLE} people in both periods"
        return RatePair(attack_rate=nan, attack_attempts=0, baseline=nan, why_not_tested=why).effect()
    share = right / people
    pair = RatePair(attack_rate=share, attack_attempts=people / (1 + share), baseline=chance / people, people=people)
    return pair.effect(effects)

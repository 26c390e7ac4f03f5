"""Probability that an attacker resolves whole sets of items.

The pseudonyms of a set may be found in any order, or each for its own item.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf, lgamma, sqrt
from typing import Any

import numpy as np

from unveil._figure import figure
from unveil._kernels.matching import Edges, permanent, solve
from unveil._kernels.types import BoolArray, IntArray
from unveil.errors import InputError
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.guesses.unequal_matching import UnequalMatching, truth_of
from unveil.metrics.matchings._random_matchings import LISTED, ROUNDING, Attack, EstimatedValue

#: Of this many sets at most all are looked at together: twice as many chances with each further one.
MOST_TOGETHER = 8

Sets = Mapping[Any, Iterable[Any]]


@dataclass(frozen=True, kw_only=True)
class Itemset:
    """One set of items.

    Attributes
    ----------
    name, size
        The set, and how many items it has.
    found
        The chance that its items get exactly the set's pseudonyms, in any order.
    by_chance
        The same if every matching were equally likely.
    cracked
        The chance that each of its items gets its own pseudonym.
    """

    name: str = figure("Name of the set.")
    size: int = figure("Number of items.", name="items")
    found: EstimatedValue = figure("Probability that its items get exactly the set's pseudonyms, in any order.")
    by_chance: float = figure("The same if every matching were equally likely.")
    cracked: EstimatedValue = figure("Probability that each of its items gets its own pseudonym.")


@dataclass(frozen=True, kw_only=True)
class Itemsets:
    """Sets of items, which may overlap.

    Attributes
    ----------
    sets
        Every set, by name.
    expected
        How many of them are found on average: the sum of their chances, whether or not they overlap.
    any_found
        The chance that at least one is found. With more than eight sets, or where chances were sampled, it is a
        bracket: at least the largest of them, at most their sum.
    """

    expected: EstimatedValue = figure(
        "Expected number of sets found: the sum of their probabilities, whether or not they overlap."
    )
    any_found: EstimatedValue = figure(
        "Probability that at least one is found. With more than eight sets, or sampled probabilities, it is a "
        "bracket: at least the largest of them, at most their sum."
    )
    sets: tuple[Itemset, ...] = figure("Results per set.")


def itemsets(guess: Attack, truth: Any, *, sets: Sets, rng: np.random.Generator, precision: float = 0.01) -> Itemsets:
    """Return the probability that whole sets of items are resolved.

    A set is found when its items get exactly the set's pseudonyms, in any order: who looks for frequent sets, or for
    categories, needs no more. Formula: ``permanent(P restricted) / permanent(P)``, where rows of the set keep their
    items in the set's columns alone, and others lose theirs there. Where a permanent cannot be counted, rows and
    columns are restricted one after the other, and the chance of each step is sampled.

    Parameters
    ----------
    guess, truth
        As for :func:`~unveil.metrics.matchings.cracks.cracks`. An item without pseudonym can be in a set: the set is
        then found when that item is left alone.
    sets
        For each name of a set its items, by name or, where the attack has none, by number from 0.
    rng
        Used only where chances must be sampled.
    precision
        As in :func:`~unveil.metrics.matchings.cracks.cracks`, of which steps take half, because chances of sets are
        small.

    Examples
    --------
    Of five matchings four give the first two items their pseudonyms in some order, two of these in the right one:

    >>> from unveil.guesses.matching import Matching
    >>> guess = Matching([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
    >>> found = itemsets(guess, range(4), sets={"first": [0, 1]}, rng=np.random.default_rng(1))
    >>> round(found.sets[0].found.value, 9), round(found.sets[0].cracked.value, 9)
    (0.8, 0.4)
    """
    columns = truth_of(guess, truth)
    members = members_of(guess, sets)
    listed = isinstance(guess, MatchingDistribution)
    chances = (
        _ListedMatchings(guess, columns)
        if isinstance(guess, MatchingDistribution)
        else _RestrictedMatchings(guess, columns, rng, precision / 2)
    )
    found = tuple(
        Itemset(
            name=name,
            size=len(rows),
            found=chances.found([rows]),
            by_chance=_by_chance(guess, rows, columns),
            cracked=chances.cracked(rows),
        )
        for name, rows in sorted(members.items())
    )
    total, exact = sum(each.found.value for each in found), all(each.found.exact for each in found)
    error = sqrt(sum(each.found.error**2 for each in found)) if not exact else ROUNDING * guess.n
    method = LISTED if listed else ", ".join(dict.fromkeys(each.found.method for each in found))
    expected = EstimatedValue(total, error, method, _worst(found), "exact" if exact else "sampled")
    return Itemsets(sets=found, expected=expected, any_found=_any(found, list(members.values()), chances, exact))


def members_of(guess: Attack, sets: Sets) -> dict[str, list[int]]:
    """Return the item numbers of each set; raise InputError on bad sets."""
    place = {str(key): k for k, key in enumerate(range(guess.n) if guess.items is None else guess.items)}
    found: dict[str, list[int]] = {}
    for number, (name, items) in enumerate(sets.items(), start=1):
        listed = [str(item) for item in ([items] if isinstance(items, str) else items)]
        strange = sum(item not in place for item in listed)
        if strange or not listed:
            seen = f"{strange} of its {len(listed)} are not" if listed else "it is empty"
            raise InputError(
                f"set {number} (counted from 1) has unknown items: {seen}. "
                "Check the spelling, and that both files match"
            )
        if len(set(listed)) < len(listed):
            raise InputError(f"set {number} (counted from 1) repeats an item. Remove the repeat")
        found[str(name)] = [place[item] for item in listed]
    if not found:
        raise InputError("no set of items was given. Name one, with its items")
    return found


class _ListedMatchings:
    """Probabilities from listed matchings."""

    def __init__(self, guess: MatchingDistribution, truth: IntArray) -> None:
        self.guess, self.truth = guess, truth

    def found(self, sets: Sequence[Sequence[int]]) -> EstimatedValue:
        """Return the chance that all of these sets are found."""
        hit = np.ones(self.guess.count, np.bool_)
        for rows in sets:
            hit &= (np.sort(self.guess.matchings[:, rows], axis=1) == np.sort(self.truth[list(rows)])).all(axis=1)
        return self._figure(hit)

    def cracked(self, rows: Sequence[int]) -> EstimatedValue:
        """Return the probability that each item has its pseudonym."""
        return self._figure((self.guess.matchings[:, rows] == self.truth[list(rows)]).all(axis=1))

    def _figure(self, hit: BoolArray) -> EstimatedValue:
        return EstimatedValue(min(1.0, float(self.guess.probability[hit].sum())), ROUNDING * self.guess.n, LISTED)


class _RestrictedMatchings:
    """Probabilities from removing edges: exact permanents, else sampled line by line."""

    def __init__(self, guess: Any, truth: IntArray, rng: np.random.Generator, precision: float) -> None:
        square = guess.padded if isinstance(guess, UnequalMatching) else guess
        self.edges: Edges = square.edges
        self.pseudonym_count = guess.pseudonym_count if isinstance(guess, UnequalMatching) else guess.n
        self.truth, self.rng, self.precision = truth, rng, precision
        self.whole = np.concatenate([truth, np.full(square.n - truth.size, -1)])
        self.full = permanent(self.edges)

    def found(self, sets: Sequence[Sequence[int]]) -> EstimatedValue:
        """Return the chance that all of these sets are found."""
        return self._chance([line for rows in sets for line in self._lines(rows)])

    def cracked(self, rows: Sequence[int]) -> EstimatedValue:
        """Return the probability that each item gets its existing pseudonym."""
        row, column = self.edges.row, self.edges.column
        return self._chance([(row == i) & (column != self.truth[i]) for i in rows if self.truth[i] >= 0])

    def _lines(self, rows: Sequence[int]) -> list[BoolArray]:
        """Return the edges that resolving the set excludes, per pseudonym and item."""
        row, column = self.edges.row, self.edges.column
        pseudonyms = [int(self.truth[i]) for i in rows if self.truth[i] >= 0]
        inside, ours = np.isin(row, list(rows)), np.isin(column, pseudonyms) | (column >= self.pseudonym_count)
        return [(column == pseudonym) & ~inside for pseudonym in pseudonyms] + [(row == i) & ~ours for i in rows]

    def _chance(self, lines: Sequence[BoolArray]) -> EstimatedValue:
        gone = np.zeros(self.edges.weight.size, np.bool_)
        for line in lines:
            gone |= line
        if not gone.any():
            return EstimatedValue(1.0, 0.0, "single")
        if not self.full.low < self.full.high:
            left = permanent(_without(self.edges, gone))
            if not left.low < left.high:
                value = exp(min(left.log - self.full.log, 0.0))
                return EstimatedValue(
                    value, (left.error + self.full.error) * value + ROUNDING * value, self.full.method
                )
        return self._by_lines(lines, gone)

    def _by_lines(self, lines: Sequence[BoolArray], gone: BoolArray) -> EstimatedValue:
        if permanent(_without(self.edges, gone)).low == -inf:
            return EstimatedValue(0.0, 0.0, self.full.method)
        away = np.zeros_like(gone)
        value, variance, r_hat, methods, solved = 1.0, 0.0, float("nan"), [], None
        chance = np.zeros(gone.size)
        for line in lines:
            if solved is None:
                solved = solve(
                    _without(self.edges, away), self.whole, rng=self.rng, distribution=False, precision=self.precision
                )
                chance = np.zeros(gone.size)
                chance[~away] = solved.marginal
                methods += solved.methods["marginals"].split(", ")
            lost = float(chance[line & ~away].sum())
            if lost <= 1e-12:
                continue
            step = max(0.0, 1.0 - lost)
            if not solved.exact:  # as with one further sample of each kind: what was never seen is not impossible
                step = (step * solved.effective_samples + 1) / (solved.effective_samples + 2)
                variance += (1 - step) / step / solved.effective_samples
                r_hat = float(np.fmax(r_hat, solved.r_hat))
            value, away, solved = value * step, away | line, None
        method = ", ".join(dict.fromkeys(methods))
        if variance == 0.0:
            return EstimatedValue(value, ROUNDING * len(lines) * value, method)
        return EstimatedValue(value, value * sqrt(variance), method, r_hat, "sampled")


def _without(edges: Edges, gone: BoolArray) -> Edges:
    kept = ~gone
    start = np.concatenate([[0], np.cumsum(np.bincount(edges.row[kept], minlength=edges.n))]).astype(np.int64)
    return Edges(start, edges.column[kept], edges.weight[kept])


def _any(itemsets: Sequence[Itemset], members: list[list[int]], chances: Any, exact: bool) -> EstimatedValue:
    """Return the probability, or bounds, that at least one set is resolved."""
    values = [each.found.value for each in itemsets]
    if len(itemsets) == 1:
        return itemsets[0].found
    if exact and len(itemsets) <= MOST_TOGETHER:
        total = 0.0
        for count in range(1, len(members) + 1):
            for some in combinations(members, count):
                total += (-1) ** (count + 1) * chances.found(some).value
        return EstimatedValue(min(1.0, max(total, max(values))), ROUNDING * 2 ** len(members), itemsets[0].found.method)
    low, high = max(values), min(1.0, sum(values))
    return EstimatedValue(low, high - low, itemsets[0].found.method, _worst(itemsets), "bracket")


def _worst(itemsets: Sequence[Itemset]) -> float:
    return float(np.fmax.reduce([each.found.r_hat for each in itemsets]))


def _by_chance(guess: Attack, rows: Sequence[int], truth: IntArray) -> float:
    """Return the probability if every pairing is equally likely."""
    size, pseudonyms = len(rows), int((truth[list(rows)] >= 0).sum())
    n, m, pairs = guess.n, guess.n, guess.n
    if isinstance(guess, UnequalMatching):
        m, pairs = guess.pseudonym_count, guess.pair_count
    rest = n - size, m - pseudonyms, pairs - pseudonyms
    if rest[2] < 0 or rest[2] > min(rest[:2]):
        return 0.0
    inside = lgamma(size + 1) - lgamma(size - pseudonyms + 1)  # ordered choices of the items that get the pseudonyms
    return exp(min(0.0, inside + _log_pairings(*rest) - _log_pairings(n, m, pairs)))


def _log_pairings(n: int, m: int, pairs: int) -> float:
    items = lgamma(n + 1) - lgamma(n - pairs + 1)
    return items + lgamma(m + 1) - lgamma(m - pairs + 1) - lgamma(pairs + 1)

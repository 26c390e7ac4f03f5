"""Gradient boosting by its definition: every division of every leaf is tried on the rows themselves."""

from typing import Any

import numpy as np

Rows = Any
#: Feature, bins on the first side, how much better, rows on the first side.
Division = tuple[int, frozenset[int], float, Rows]


def boosted_scores(bins: Any, is_category: Any, classes: Any, people: Any, growth: Any) -> Any:
    """Return the score of each class for each person."""
    number, rows = int(classes.max()) + 1, classes.size
    own = np.array([[np.log(np.sum(classes == each) / rows)] * rows for each in range(number)])
    theirs = np.array([[each[0]] * people.shape[1] for each in own])
    for _ in range(growth.rounds):
        chance = np.exp(own) / np.exp(own).sum(axis=0)
        for each in [1] if number == 2 else range(number):
            slope, curve = chance[each] - (classes == each), chance[each] * (1 - chance[each])
            for leaf, persons in _grown(bins, is_category, slope, curve, people, growth.leaves):
                value = -growth.rate * slope[leaf].sum() / (curve[leaf].sum() + 1)
                own[each, leaf] += value
                theirs[each, persons] += value
    return theirs.T


def _grown(bins: Any, is_category: Any, slope: Any, curve: Any, people: Any, most: int) -> list[tuple[Rows, Rows]]:
    """Return the rows and the people of each leaf."""
    leaves = [(np.arange(slope.size), np.arange(people.shape[1]))]
    while len(leaves) < most:
        divisions = [_best(bins, is_category, slope, curve, rows) for rows, _ in leaves]
        best = 0
        for at, division in enumerate(divisions):
            if division[2] > divisions[best][2] * (1 + 1e-9):
                best = at
        feature, first_bins, better, first = divisions[best]
        if better <= 0:
            break
        rows, persons = leaves[best]
        goes_first = np.isin(people[feature, persons], list(first_bins))
        leaves[best] = (first, persons[goes_first])
        leaves.append((np.setdiff1d(rows, first), persons[~goes_first]))
    return leaves


def _best(bins: Any, is_category: Any, slope: Any, curve: Any, rows: Rows) -> Division:
    def good(some: Rows) -> float:
        return float(slope[some].sum() ** 2 / (curve[some].sum() + 1))

    best: Division = (-1, frozenset(), 0.0, rows)
    for feature in range(len(bins)):
        held = {int(place): rows[bins[feature, rows] == place] for place in np.unique(bins[feature, rows])}
        order = sorted(held)
        if is_category[feature]:
            order = [place for place in order if held[place].size >= 10]
            order.sort(key=lambda place: round(slope[held[place]].sum() / (curve[held[place]].sum() + 10), 8))
        for cut in range(1, len(order) + 1):
            first = np.concatenate([held[place] for place in order[:cut]])
            second = np.setdiff1d(rows, first)
            if min(first.size, second.size) < 20:
                continue
            better = good(first) + good(second) - good(rows)
            if better > best[2] * (1 + 1e-9) + 1e-9:
                up_to = order[:cut] if is_category[feature] else range(order[cut - 1] + 1)
                best = (feature, frozenset(up_to), better, np.sort(first))
    return best

"""Attacks on people with several rows, person by person and pair by pair."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import exp, lgamma, log

import numpy as np

from unveil._kernels.types import FloatArray

#: The scores of one target with each released person.
Row = list[float]


def value_score(one: Counter[Hashable], other: Counter[Hashable], share: Mapping[Hashable, float]) -> float:
    """Return the log Bayes factor that two sets of values are draws from one urn of concentration 1."""
    if not one or not other:
        return 0.0

    def chance(counts: Counter[Hashable]) -> float:
        total = lgamma(1.0) - lgamma(1.0 + sum(counts.values()))
        return total + sum(lgamma(share[value] + times) - lgamma(share[value]) for value, times in counts.items())

    return chance(one + other) - chance(one) - chance(other)


def number_score(one: FloatArray, other: FloatArray, total: FloatArray, same: float = 0.95) -> float:
    """Return the log Bayes factor that two vectors share ``same`` of their covariance."""

    def density(values: FloatArray, covariance: FloatArray) -> float:
        return -0.5 * float(np.linalg.slogdet(covariance)[1] + values @ np.linalg.solve(covariance, values))

    both = np.block([[total, same * total], [same * total, total]])
    return density(np.concatenate([one, other]), both) - density(one, total) - density(other, total)


def excess(scores: Sequence[Row], among: Sequence[Row]) -> list[Row]:
    """Return the scores of targets minus that of the nearest other target."""
    found = []
    for target, row in enumerate(scores):
        others = [score for other, score in enumerate(among[target]) if other != target]
        best = max(others) if others else 0.0
        found.append([score - best for score in row])
    return found


def joined(views: Sequence[Row]) -> float:
    """Return the largest sum over views of log(1 + exp(excess)) for one released person."""
    return max(sum(log(1 + exp(view[person])) for view in views) for person in range(len(views[0])))


def distance(one: Sequence[object], other: Sequence[object], spans: Sequence[float | None]) -> float:
    """Return the distance of two rows: a share of the span for numbers, 1 for other categories."""
    total = 0.0
    for left, right, span in zip(one, other, spans, strict=True):
        if span is None:
            total += left != right
        elif span:
            total += abs(float(str(left)) - float(str(right))) / span
    return total


def closest_row(
    own: Sequence[Sequence[object]],
    released: Sequence[Sequence[object]],
    others: Sequence[Sequence[object]],
    spans: Sequence[float | None],
) -> float:
    """Return the best score of the rows of a person, by minus the ratio of two distances."""

    def nearest(row: Sequence[object], rows: Sequence[Sequence[object]]) -> float:
        return min(distance(row, each, spans) for each in rows)

    def score(row: Sequence[object]) -> float:
        near = nearest(row, released)
        return -(near + 1e-4) / ((nearest(row, others) if others else near) + 1e-4)

    return max(score(row) for row in own)


def best_people(row: Row) -> dict[int, float]:
    """Return the released people with the highest score, each with the same chance."""
    best = [person for person, score in enumerate(row) if score > max(row) - 1e-9]
    return dict.fromkeys(best, 1 / len(best))


def same_person(one: Row, other: Row) -> float:
    """Return the chance that two sources point to the same released person."""
    first, second = best_people(one), best_people(other)
    return sum(chance * second.get(person, 0.0) for person, chance in first.items())


def own_history(parent: Row, histories: Sequence[Row]) -> float:
    """Return the chance that the first history is taken for that of the parent row."""
    fits = [
        max(a + b for a, b in zip(parent, history, strict=True)) - max(parent) - max(history) for history in histories
    ]
    best = [place for place, fit in enumerate(fits) if fit > max(fits) - 1e-9]
    return (0 in best) / len(best)


def modes(values: Sequence[Hashable]) -> set[Hashable]:
    """Return the most frequent values."""
    counts = Counter(values)
    return {value for value, times in counts.items() if times == max(counts.values())}


def guessed(truth: set[Hashable], released: Sequence[set[Hashable]], scores: Row) -> float:
    """Return the chance that a most frequent value of the nearest released person is one of the target."""
    nearest = best_people(scores)
    return sum(chance * len(released[person] & truth) / len(released[person]) for person, chance in nearest.items())


def isolated(events: Sequence[int], people: Sequence[set[int]]) -> list[int]:
    """Return the people who have all events."""
    return [person for person, held in enumerate(people) if set(events) <= held]

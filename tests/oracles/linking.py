"""Linking by definition: urns, Gaussians, all partitions, all permutations."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import exp, lgamma, log, prod

import numpy as np


def log_urn(values: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return the log probability of drawing these values one by one, each adding a ball of its kind."""
    balls, total = dict(weights), sum(weights.values())
    result = 0.0
    for value in values:
        result += log(balls[value] / total)
        balls[value], total = balls[value] + 1, total + 1
    return result


def urn_score(one: Sequence[str], other: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return ln P(both from one urn) / (P(one) P(other))."""
    return log_urn([*one, *other], weights) - log_urn(one, weights) - log_urn(other, weights)


def log_normal(values: Sequence[float], between: float, within: float) -> float:
    """Return the log density of a person's records: N(0, within I + between 11')."""
    size = len(values)
    covariance = within * np.eye(size) + between
    x = np.asarray(values)
    return float(-0.5 * (size * log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + x @ np.linalg.solve(covariance, x)))


def number_score(one: Sequence[float], other: Sequence[float], between: float, within: float) -> float:
    """Return the log ratio of joint and separate densities."""
    parts = log_normal(one, between, within) + log_normal(other, between, within)
    return log_normal([*one, *other], between, within) - parts


def covariance_score(one: np.ndarray, other: np.ndarray, between: np.ndarray, within: np.ndarray) -> float:
    """Return the log ratio for records of several numbers: rows are records."""

    def density(records: np.ndarray) -> float:
        n = len(records)
        covariance = np.kron(np.ones((n, n)), between) + np.kron(np.eye(n), within)
        x = records.ravel()
        return float(
            -0.5 * (x.size * log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + x @ np.linalg.solve(covariance, x))
        )

    return density(np.vstack([one, other])) - density(one) - density(other)


def exclusion_score(expected: float, shared: int, error: float) -> float:
    """Return the log ratio of Poisson probabilities with mean error x expected, and expected."""

    def log_poisson(mean: float) -> float:
        return shared * log(mean) - mean - lgamma(shared + 1)

    return log_poisson(error * expected) - log_poisson(expected)


def marginals(weights: np.ndarray) -> np.ndarray:
    """Return each pair's probability over all one-to-one assignments."""
    n = len(weights)
    result, total = np.zeros((n, n)), 0.0
    for order in permutations(range(n)):
        weight = prod(weights[row, column] for row, column in enumerate(order))
        total += weight
        for row, column in enumerate(order):
            result[row, column] += weight
    return result / total


def partial_marginals(weights: np.ndarray, odds: float) -> np.ndarray:
    """Return each pair's probability over all sets of disjoint pairs, with these odds of one more pair."""
    rows, columns = weights.shape
    result, total = np.zeros((rows, columns)), 0.0
    for size in range(min(rows, columns) + 1):
        for some in combinations(range(rows), size):
            for order in permutations(range(columns), size):
                weight = prod(odds * weights[row, column] for row, column in zip(some, order, strict=True))
                total += weight
                for row, column in zip(some, order, strict=True):
                    result[row, column] += weight
    return result / total


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield all partitions of the items."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in partitions(rest):
        yield [[first], *partition]
        for place, cluster in enumerate(partition):
            yield [*partition[:place], [first, *cluster], *partition[place + 1 :]]


def log_partition(
    clusters: Sequence[Sequence[int]], items: Sequence[Sequence[str]], weights: Mapping[str, float], prior: float
) -> float:
    """Return ln P of all values by cluster, plus the prior for each merging."""
    urns = sum(log_urn([value for item in cluster for value in items[item]], weights) for cluster in clusters)
    return urns + prior * (len(items) - len(clusters))


def right_links(size: int, strata: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return the distribution of right links when people change places within strata."""
    orders = [dict(enumerate(range(size)))]
    for stratum in strata:
        drawn = []
        for order in orders:
            drawn += [order | dict(zip(stratum, places, strict=True)) for places in permutations(stratum)]
        orders = drawn
    count = Counter(sum(place == item for item, place in order.items()) for order in orders)
    return {number: times / len(orders) for number, times in sorted(count.items())}


def unicity(points: Mapping[str, set[str]], known: int) -> dict[str, tuple[float, float]]:
    """Return each person's share of unique subsets of points, and mean of 1 / candidates."""
    found = {}
    for person, own in points.items():
        subsets = list(combinations(sorted(own), known))
        if subsets:
            candidates = [sum(set(subset) <= other for other in points.values()) for subset in subsets]
            found[person] = (
                sum(each == 1 for each in candidates) / len(subsets),
                sum(1 / each for each in candidates) / len(subsets),
            )
    return found


def linked(guess: Sequence[int], truth: Sequence[int], weights: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Return records linked and own share of each person, by drawing a record and looking at its cluster."""
    found = {}
    for person in sorted(set(truth)):
        own = [item for item, owner in enumerate(truth) if owner == person]
        total = sum(weights[item] for item in own)
        recall = precision = 0.0
        for drawn in own:
            cluster = [item for item, label in enumerate(guess) if label == guess[drawn]]
            together = sum(weights[item] for item in cluster if item in own)
            recall += weights[drawn] / total * together / total
            precision += weights[drawn] / total * together / sum(weights[item] for item in cluster)
        found[person] = (recall, precision)
    return found


def mean_bayes_factor(scores: Sequence[float], factor: float) -> float:
    """Return the mean of exp(factor x score)."""
    return sum(exp(factor * score) for score in scores) / len(scores)


def log_gap_ratios(gaps: Sequence[float], within: Sequence[float], bins: int = 20) -> list[float]:
    """Return ln of the share of each gap's bin at changes over that among all gaps, by counting.

    Half of the weight of gaps within items is equal, half is in proportion to their length. Bins end at the quantiles
    of this weight.
    """
    total = sum(within)
    weight = [0.5 / len(within) + (0.5 * each / total if total else 0.0) for each in sorted(within)]
    edges = set()
    for place in range(1, bins):
        level, sum_of_weights = place / bins * sum(weight), 0.0
        for gap, each in zip(sorted(within), weight, strict=True):
            sum_of_weights += each
            if sum_of_weights >= level - 1e-12:
                edges.add(gap)
                break

    def bin_of(gap: float) -> int:
        return sum(edge < gap for edge in edges)

    number = len(edges) + 1
    changes, pairs = [0.5] * number, [0.5] * number
    for gap, each in zip(sorted(within), weight, strict=True):
        changes[bin_of(gap)] += each * len(within)
    for gap in gaps:
        pairs[bin_of(gap)] += 1
    return [log(changes[bin_of(gap)] / sum(changes) / (pairs[bin_of(gap)] / sum(pairs))) for gap in gaps]

"""Unlinkability as the paper defines it: sets of items and exact fractions, slow and obvious.

Names follow the paper's algorithms. "Reading k" means the k-th reading of the specification of partitions, given where
the paper is silent or wrong. Items are positions; a subject is the label of a true cluster; subjects are sorted.
"""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, groupby, permutations, product
from typing import Any, Literal

Cluster = frozenset[int]
Point = tuple[Fraction, Fraction]
Guesses = Sequence[tuple[Sequence[Any], Fraction]]
AtBreach = Literal["nan", "limit"]

ONE = Fraction(1)


@dataclass(frozen=True)
class Weights:
    """What each item weighs for one subject: its own weight where it has one, else everybody's, else 1."""

    n: int
    everybody: Mapping[int, Fraction]
    own: Mapping[int, Fraction]
    everybody_total: Fraction

    def of(self, items: Collection[int]) -> Fraction:
        if not self.everybody and not self.own:
            return Fraction(len(items))
        return total(self.own.get(item, self.everybody.get(item, ONE)) for item in items)

    @cached_property
    def everything(self) -> Fraction:
        return self.everybody_total + total(w - self.everybody.get(item, ONE) for item, w in self.own.items())


def equal_weights(n: int) -> Weights:
    return Weights(n, {}, {}, Fraction(n))


def total(numbers: Iterable[Fraction]) -> Fraction:
    """Return the exact sum, over one common denominator because thousands of additions are slow otherwise."""
    fractions = list(numbers)
    common = math.lcm(*{number.denominator for number in fractions})
    return Fraction(sum(number.numerator * (common // number.denominator) for number in fractions), common)


def mean(numbers: Iterable[Fraction]) -> Fraction:
    listed = list(numbers)
    return total(listed) / len(listed)


def clusters_of(labels: Sequence[Any]) -> dict[Any, Cluster]:
    members: dict[Any, set[int]] = {}
    for item, label in enumerate(labels):
        members.setdefault(label, set()).add(item)
    return {label: frozenset(members[label]) for label in sorted(members)}


def related(subject: Cluster, guess: Mapping[Hashable, Cluster], labels: Sequence[Any]) -> list[Cluster]:
    """L(C, Π'): the adversary's clusters with at least one element of C, whatever it weighs (reading 8)."""
    return [guess[label] for label in sorted({labels[item] for item in subject})]


def miss(subject: Cluster, taken: Collection[int], weights: Weights) -> Fraction:
    return weights.of(subject.difference(taken))


def include(subject: Cluster, taken: Cluster, weights: Weights) -> Fraction:
    return weights.of(taken - subject)


def cost(subject: Cluster, taken: Cluster, alpha: Fraction, weights: Weights) -> Fraction:
    """Readings 1 and 2: alpha weighs what is missed, 1 - alpha what is foreign; the priority 1/cost is never formed."""
    return alpha * miss(subject, taken, weights) + (1 - alpha) * include(subject, taken, weights)


def most_relevant(subject: Cluster, linked_to: Sequence[Cluster], alpha: Fraction, weights: Weights) -> list[Cluster]:
    """R_α(C, Π'): all the related clusters of least cost. Reading 3: costs are compared exactly."""
    costs = [cost(subject, taken, alpha, weights) for taken in linked_to]
    return [taken for taken, its_cost in zip(linked_to, costs, strict=True) if its_cost == min(costs)]


def primary_errors(subject: Cluster, linked_to: Sequence[Cluster], alpha: Fraction, weights: Weights) -> Point:
    """m(C, Π', α) and i(C, Π', α): averages over the clusters that tie for most relevant."""
    tied = most_relevant(subject, linked_to, alpha, weights)
    return mean(miss(subject, taken, weights) for taken in tied), mean(include(subject, t, weights) for t in tied)


def merges(subject: Cluster, linked_to: Sequence[Cluster], alpha: Fraction, weights: Weights) -> list[Cluster]:
    """Return what is merged after 0, 1, ... merges, cheapest first."""
    order = list(chain.from_iterable(tied_groups(subject, linked_to, alpha, weights)))
    return [frozenset().union(*order[: j + 1]) for j in range(len(order))]


def plot_for_cluster(
    subject: Cluster, linked_to: Sequence[Cluster], alpha: Fraction, contaminate: bool, weights: Weights, norm: str
) -> list[Point]:
    """Fig. 1, PlotForCluster: (linked, mixed) after j = 0, 1, ... merges.

    Reading 4: order by cost, then foreign, then miss; what then still ties gives the same graphs in any order.
    """
    points = []
    for merged in merges(subject, linked_to, alpha, weights):
        linked, mixed = share_linked(subject, merged, weights, norm), share_mixed(subject, merged, weights, norm)
        # Reading 11: |C| = n gives y = 0, and so 1 - 0 = 1 when contamination is desirable.
        points.append((linked, 1 - mixed if contaminate else mixed))
    return points


def share_linked(subject: Cluster, merged: Cluster, weights: Weights, norm: str) -> Fraction:
    """Reading 8: relative to w(C), and 1 if C weighs nothing; the literal paper divides by |C|."""
    if norm == "literal":
        return 1 - miss(subject, merged, weights) / len(subject)
    own = weights.of(subject)
    return weights.of(subject & merged) / own if own else ONE


def share_mixed(subject: Cluster, merged: Cluster, weights: Weights, norm: str) -> Fraction:
    """Reading 8: relative to the weight of all foreign items, and 0 if they weigh nothing; literally, to n - |C|."""
    all_foreign = Fraction(weights.n - len(subject)) if norm == "literal" else weights.everything - weights.of(subject)
    return include(subject, merged, weights) / all_foreign if all_foreign else Fraction(0)


def at(points: Sequence[Point], j: int) -> Point:
    """The point after j merges; graphs go on flat once everything is linked (section 3.2)."""
    return points[min(j, len(points) - 1)]


def weighted_graph(graphs: Sequence[Sequence[Point]], shares: Sequence[Fraction], length: int) -> list[Point]:
    averages: list[Point] = []
    longest = max(map(len, graphs))
    for j in range(min(length, longest)):
        here = [at(graph, j) for graph in graphs]
        averages.append(
            (
                total(share * point[0] for share, point in zip(shares, here, strict=True)),
                total(share * point[1] for share, point in zip(shares, here, strict=True)),
            )
        )
    return averages + averages[-1:] * (length - longest)


def plot_for_cluster_given_view(graphs: Sequence[Sequence[Point]], probabilities: Sequence[Fraction]) -> list[Point]:
    """Fig. 3. Reading 13: the graphs are averaged, then one β point is found."""
    return weighted_graph(graphs, probabilities, max(map(len, graphs)))


def plot_for_partition(graphs: Sequence[Sequence[Point]], cluster_count: int) -> list[Point]:
    """Fig. 2. Reading 7: it runs to |Π'| - 1, not to the printed |Π| - 1."""
    return weighted_graph(graphs, [Fraction(1, len(graphs))] * len(graphs), cluster_count)


def is_breached(points: Sequence[Point], beta: Fraction) -> bool:
    return beta <= points[0][0]


def beta_point(points: Sequence[Point], beta: Fraction) -> tuple[Fraction, Fraction]:
    """Return x and the height of the mixed graph there. Reading 5: both graphs are straight between two merges."""
    if is_breached(points, beta):
        return Fraction(0), points[0][1]
    j = next(j for j, (linked, _) in enumerate(points) if linked >= beta)
    (linked_before, mixed_before), (linked_after, mixed_after) = points[j - 1], points[j]
    part = (beta - linked_before) / (linked_after - linked_before)
    return j - 1 + part, mixed_before + part * (mixed_after - mixed_before)


def risk_slope(points: Sequence[Point], alpha: Fraction, beta: Fraction, at_breach: AtBreach = "nan") -> float:
    """Reading 6: undefined once breached, or (on request) the limit in which both vectors stand upright."""
    x, mixed = beta_point(points, beta)
    if is_breached(points, beta):
        return float(alpha + (1 - alpha) * (mixed > 0)) if at_breach == "limit" else math.nan
    return 2 / math.pi * (float(alpha) * math.atan(beta / x) + float(1 - alpha) * math.atan(mixed / x))


def others_in(subject: Cluster, taken: Cluster, truth_labels: Sequence[Any]) -> tuple[int, float | None]:
    """Return how many other subjects sit in a cluster, and how evenly: 2**entropy / others, or None with no others."""
    foreign = Counter(truth_labels[item] for item in taken - subject)
    if not foreign:
        return 0, None
    entropy = -sum(k / foreign.total() * math.log2(k / foreign.total()) for k in foreign.values())
    return len(foreign), 2**entropy / len(foreign)


def tied_groups(
    subject: Cluster, linked_to: Sequence[Cluster], alpha: Fraction, weights: Weights
) -> list[list[Cluster]]:
    """Return the related clusters, cheapest first, in groups that tie in cost, foreign and missed items."""

    def key(taken: Cluster) -> tuple[Fraction, Fraction, Fraction]:
        return cost(subject, taken, alpha, weights), include(subject, taken, weights), miss(subject, taken, weights)

    return [list(group) for _, group in groupby(sorted(linked_to, key=key), key)]


def orders(
    subject: Cluster, linked_to: Sequence[Cluster], alpha: Fraction, weights: Weights
) -> Iterator[tuple[Cluster, ...]]:
    """Yield every order of the related clusters that puts no dearer one first; each is equally likely."""
    groups = tied_groups(subject, linked_to, alpha, weights)
    for chosen in product(*(permutations(group) for group in groups)):
        yield tuple(chain.from_iterable(chosen))


def others_after(
    subject: Cluster, linked_to: Sequence[Cluster], alpha: Fraction, weights: Weights, truth_labels: Sequence[Any]
) -> list[tuple[float, float]]:
    """Return the number of other subjects in the merged clusters and their effective number, after each merging.

    Both are means over all orders of tied clusters.
    """
    found = []
    every = list(orders(subject, linked_to, alpha, weights))
    for j in range(len(linked_to)):
        crowds = [others_in(subject, frozenset().union(*order[: j + 1]), truth_labels) for order in every]
        number = sum(number for number, _ in crowds) / len(every)
        found.append((number, sum(number * (even or 0.0) for number, even in crowds) / len(every)))
    return found

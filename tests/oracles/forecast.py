"""Every future of one subject by enumeration, with exact probabilities: slow and obvious, for tiny partitions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.oracles import unlinkability as paper
from tests.oracles.unlinkability import Cluster, Point

#: What is held of the subject: the clusters that were merged, and the foreign items that are still there.
State = tuple[frozenset[Any], Cluster]
Future = tuple[Fraction, list[Point]]
Rates = Callable[[State], tuple[dict[Any, Fraction], dict[Any, Fraction]]]


def futures(
    truth_labels: Sequence[Any],
    guess_labels: Sequence[Any],
    subject: Any,
    *,
    alpha: Fraction,
    linkage: str | Mapping[tuple[Any, Any], Fraction],
    split: Fraction,
) -> list[Future]:
    """Return all futures of a subject: how likely each is, and (linked, mixed) after 0, 1, ... pieces of evidence."""
    n = len(truth_labels)
    cluster, guess = paper.clusters_of(truth_labels)[subject], paper.clusters_of(guess_labels)
    names = sorted({guess_labels[item] for item in cluster})
    weights = paper.equal_weights(n)

    def key(name: Any) -> tuple[Fraction, Fraction, Fraction]:
        return (
            paper.cost(cluster, guess[name], alpha, weights),
            paper.include(cluster, guess[name], weights),
            paper.miss(cluster, guess[name], weights),
        )

    def cheapest(left: Sequence[Any]) -> list[Any]:
        """Return the clusters that tie for the next place in the paper's order; each is as likely."""
        return [name for name in left if key(name) == min(map(key, left))]

    def point(state: State) -> Point:
        own = sum(len(guess[name] & cluster) for name in state[0])
        return Fraction(own, len(cluster)), Fraction(len(state[1]), n - len(cluster)) if n > len(cluster) else Fraction(
            0
        )

    def rates(state: State) -> tuple[dict[Any, Fraction], dict[Any, Fraction]]:
        left = [name for name in names if name not in state[0]]
        items = {name: Fraction(len(guess[name] & cluster)) for name in left}
        by_other: dict[Any, Fraction] = {}
        for item in state[1]:
            by_other[truth_labels[item]] = by_other.get(truth_labels[item], Fraction(0)) + split
        if linkage == "any":
            return dict.fromkeys(left, Fraction(1)), dict.fromkeys(by_other, split)
        if linkage == "cheapest":
            first = cheapest(left) if left else []
            return dict.fromkeys(first, sum(items.values(), Fraction(0)) / max(1, len(first))), by_other
        if linkage == "pairs":
            return items, by_other
        assert not isinstance(linkage, str)
        given = {
            name: sum((linkage.get((a, name), linkage.get((name, a), Fraction(0))) for a in state[0]), Fraction(0))
            for name in left
        }
        return given, by_other

    def follow(state: State) -> Iterator[Future]:
        merging, splitting = rates(state)
        total = sum(merging.values(), Fraction(0)) + sum(splitting.values(), Fraction(0))
        if len(state[0]) == len(names) or total == 0:
            yield Fraction(1), [point(state)]
            return
        for name, rate in merging.items():
            if rate:
                after = (state[0] | {name}, state[1] | (guess[name] - cluster))
                yield from ((rate / total * p, [point(state), *rest]) for p, rest in follow(after))
        for other, rate in splitting.items():
            if rate:
                after = (state[0], frozenset(item for item in state[1] if truth_labels[item] != other))
                yield from ((rate / total * p, [point(state), *rest]) for p, rest in follow(after))

    starts = cheapest(names)
    return [
        (p / len(starts), points) for name in starts for p, points in follow((frozenset([name]), guess[name] - cluster))
    ]

"""Partitions of items into clusters, and views: weighted partitions."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import Int32Array, IntArray
from unveil.errors import InputError
from unveil.guesses._entries import factorize

Number = int | float | str | Fraction


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """A partition of items into clusters.

    As truth a cluster is a subject (all that belongs to Alice); as guess it is what the attacker thinks belongs
    together. Build one with :meth:`from_labels` or :meth:`from_clusters`.

    Attributes
    ----------
    codes
        The number of each item's cluster, from 0 to ``cluster_count - 1``; read-only.
    clusters
        The name behind each number; read-only.
    items
        The name of each item, or None where items are known by their position alone; read-only.
    """

    codes: Int32Array
    clusters: NDArray[Any]
    items: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.codes.size == 0:
            raise InputError("a partition needs at least one item, but there are none. Pass one label per item")
        if self.items is not None and self.items.size != self.codes.size:
            raise InputError(
                f"a partition of {self.codes.size} items cannot have {self.items.size} item names. "
                "Pass one name per item"
            )
        if self.codes.min() < 0 or self.sizes.size != self.cluster_count or self.sizes.min() == 0:
            raise InputError(
                f"the items of a partition with {self.cluster_count} clusters must be numbered 0 to "
                f"{self.cluster_count - 1}, and each number be used. Build it with Partition.from_labels"
            )
        for array in (self.codes, self.clusters, self.items):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def from_labels(cls, labels: Any, *, items: Any = None) -> "Partition":
        """Return the partition that puts items with equal labels together.

        ``labels`` is a sequence of hashables, a numpy array or a column of any DataFrame; ``items`` names the items
        (else they are known by their position).

        >>> Partition.from_labels(["Alice", "Bob", "Alice"]).sizes
        array([2, 1])
        """
        codes, clusters = factorize(labels, what="cluster")
        return cls(codes, clusters.copy(), None if items is None else _distinct_items(items))

    @classmethod
    def from_clusters(
        cls, clusters: Mapping[Hashable, Iterable[Hashable]] | Iterable[Iterable[Hashable]]
    ) -> "Partition":
        """Return the partition with these clusters, from a mapping or collections.

        >>> Partition.from_clusters([["o", "x"], ["y"]]).items
        array(['o', 'x', 'y'], dtype=object)
        """
        named = dict(clusters) if isinstance(clusters, Mapping) else dict(enumerate(clusters))
        members = {name: list(items) for name, items in named.items()}
        empty = sum(not items for items in members.values())
        if empty:
            raise InputError(f"every cluster needs an item, but {empty} have none. Leave empty clusters out")
        items = [item for group in members.values() for item in group]
        labels = np.repeat(np.arange(len(members)), [len(group) for group in members.values()])
        names = np.empty(len(members), dtype=object)
        names[:] = list(members)
        return cls(labels.astype(np.int32), names, _distinct_items(items))

    @property
    def n(self) -> int:
        """The number of items."""
        return int(self.codes.size)

    @property
    def cluster_count(self) -> int:
        """The number of clusters."""
        return int(self.clusters.size)

    @cached_property
    def sizes(self) -> IntArray:
        """The number of items in each cluster."""
        return np.bincount(self.codes, minlength=self.cluster_count).astype(np.int64, copy=False)

    @cached_property
    def by_first_item(self) -> IntArray:
        """Clusters in the order of their first items."""
        first = np.empty(self.cluster_count, np.int64)
        first[self.codes[::-1]] = np.arange(self.n - 1, -1, -1)  # the last one written is the first item
        return np.argsort(first)

    def numbered_by_items(self) -> "Partition":
        """Return this partition, clusters numbered by their first items.

        >>> Partition.from_labels("ba").numbered_by_items().clusters
        array(['b', 'a'], dtype=object)
        """
        number = np.empty(self.cluster_count, np.int32)
        number[self.by_first_item] = np.arange(self.cluster_count, dtype=np.int32)
        return Partition(number[self.codes], self.clusters[self.by_first_item], self.items)

    def aligned_to(self, other: "Partition") -> "Partition":
        """Return this partition with its items in the order of ``other``.

        Partitions without item names are taken to be in the same order already.
        """
        if self.n != other.n:
            raise InputError(
                f"guess and truth have different items: one has {self.n} and the other {other.n}. "
                "Leave out the items that only one of them has"
            )
        if self.items is None or other.items is None or self.items is other.items:
            return self
        if np.array_equal(self.items, other.items):
            return self
        place = {item: index for index, item in enumerate(self.items)}
        try:
            order = np.fromiter((place[item] for item in other.items), np.int64, self.n)
        except KeyError:
            unknown = sum(item not in place for item in other.items)
            raise InputError(
                f"guess and truth have different items: {unknown} of {self.n} items are only in one of them. "
                "Leave those out, or correct their names"
            ) from None
        return Partition(self.codes[order], self.clusters, other.items)

    def __repr__(self) -> str:
        return f"Partition({self.n} items in {self.cluster_count} clusters)"


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """An uncertain attacker's partitions of the same items, with probabilities.

    >>> unsure = View([Partition.from_labels("aab"), Partition.from_labels("abb")], ["1/3", "2/3"])
    >>> unsure.probabilities
    (Fraction(1, 3), Fraction(2, 3))
    """

    partitions: Sequence[Partition]
    probabilities: Sequence[Number]

    def __post_init__(self) -> None:
        if len(self.partitions) != len(self.probabilities) or not self.partitions:
            raise InputError(
                f"a view has {len(self.partitions)} partitions and {len(self.probabilities)} probabilities. Pass one "
                "probability per partition, at least one"
            )
        exact = [exact_fraction(p, what="a probability") for p in self.probabilities]
        if min(exact) <= 0:
            raise InputError("some partitions of the view have no probability above 0. Leave them out")
        total = sum(exact, Fraction(0))
        if abs(total - 1) > Fraction(1, 10**9):
            raise InputError(f"the probabilities of the view sum to {float(total):g}, not 1. Divide each by the sum")
        first = self.partitions[0]
        object.__setattr__(self, "partitions", tuple(p.aligned_to(first) for p in self.partitions))
        object.__setattr__(self, "probabilities", tuple(p / total for p in exact))

    @property
    def n(self) -> int:
        """The number of items."""
        return self.partitions[0].n

    def __repr__(self) -> str:
        return f"View({len(self.partitions)} partitions of {self.n} items)"


def exact_fraction(value: Number, *, what: str) -> Fraction:
    """Return the number as written: 0.1 is one tenth.

    >>> exact_fraction(0.1, what="alpha"), exact_fraction("2/3", what="alpha")
    (Fraction(1, 10), Fraction(2, 3))
    """
    try:
        if isinstance(value, (int, Fraction)) or (isinstance(value, str) and "e" not in value.lower()):
            return Fraction(value)
        return Fraction(repr(float(value)))  # a float bounds the exponent: 1e99999999 is no number to compute with
    except (ValueError, ZeroDivisionError, TypeError, OverflowError) as error:
        raise InputError(f"{what} must be a number such as 0.5 or 1/2, but is not. Write it so") from error


def _distinct_items(items: Any) -> NDArray[Any]:
    codes, names = factorize(items, what="item name")
    if names.size != codes.size:
        raise InputError(
            f"{codes.size - names.size} item names are repeated, but each item is in one cluster. Keep one row per item"
        )
    ordered: NDArray[Any] = names[codes]
    return ordered

"""Which groups of people may be shown, so that no small one can be computed from the others and the total."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Label = str | None
GroupKind = Literal["named", "missing", "pooled", "everybody"]

MOST_GROUPS = 20
MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class ShownGroups:
    """The groups to show: names, kinds and numbers of people, and the group of each label.

    ``pooled`` is how many labels stand together in one group, or in none where nothing may be shown; a label that goes
    to no group has no ``place``.
    """

    names: tuple[str, ...]
    kinds: tuple[GroupKind, ...]
    people: tuple[int, ...]
    place: Mapping[Label, int]
    pooled: int

    @property
    def all(self) -> range:
        """The numbers of the groups."""
        return range(len(self.names))


def arranged(people: Mapping[Label, int], tries: Mapping[Label, int], minimum: int) -> ShownGroups:
    """Return the groups to show for labels that so many people have, of whom so many were attacked.

    Groups with fewer than ``minimum`` people or tries, and those beyond the 20 largest, stand together. That pool has
    at least two groups, and ``minimum`` people and tries, if need be with the next larger ones: one group alone would
    be the total less all others. Where that leaves only the pool, nothing is shown.

    >>> sizes = {"f": 60, "m": 40, "x": 2, None: 20}
    >>> cells = arranged(sizes, sizes, 11)
    >>> cells.names, cells.people, cells.pooled
    (('f', 'm', 'all other groups'), (60, 40, 22), 2)
    """
    least = {label: min(people[label], tries.get(label, 0)) for label in people}
    by_size = sorted(people, key=lambda label: (-least[label], -people[label], label is None, label or ""))
    kept = [label for label in by_size if least[label] >= minimum][:MOST_GROUPS]
    pool = by_size[len(kept) :]
    while pool and kept and (len(pool) == 1 or sum(least[label] for label in pool) < minimum):
        pool.insert(0, kept.pop())
    if not kept:
        return ShownGroups(names=(), kinds=(), people=(), place={}, pooled=len(pool))
    names = [_called(label, people) for label in kept]
    kinds: list[GroupKind] = ["missing" if label is None else "named" for label in kept]
    sizes = [people[label] for label in kept]
    place = {label: at for at, label in enumerate(kept)}
    if pool:
        small = all(people[label] < minimum for label in pool)
        names.append(f"groups of fewer than {minimum} people" if small else "all other groups")
        kinds.append("pooled")
        sizes.append(sum(people[label] for label in pool))
        place |= dict.fromkeys(pool, len(kept))
    return ShownGroups(names=tuple(names), kinds=tuple(kinds), people=tuple(sizes), place=place, pooled=len(pool))


def _called(label: Label, sizes: Mapping[Label, int]) -> str:
    if label is not None:
        return label
    return f"{MISSING} (no value)" if MISSING in sizes else MISSING


def hidden(counts: Sequence[int], others: int, minimum: int) -> tuple[bool, ...]:
    """Return which cells must not be shown, so that none of fewer than ``minimum`` can be computed from the total.

    ``others`` are in the total but in no cell. An empty cell hides nobody.

    >>> hidden([3, 20, 30, 0], 0, 11), hidden([20, 30], 0, 11), hidden([20, 30], 5, 11)
    ((True, True, False, False), (False, False), (True, False))
    """
    is_gone = [0 < count < minimum for count in counts]
    spare = sorted((count, at) for at, count in enumerate(counts) if count >= minimum)
    gone = [count for count in counts if 0 < count < minimum] + ([others] if others else [])
    while spare and gone and min(gone) < minimum and (len(gone) == 1 or sum(gone) < minimum):
        count, at = spare.pop(0)
        is_gone[at] = True
        gone.append(count)
    return tuple(is_gone)

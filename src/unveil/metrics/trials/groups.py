"""Attack success per subgroup, with CIs corrected for multiple subgroups."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, Literal

import numpy as np

from unveil._figure import derived, figure
from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError, whole_number
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.trials._bands import bands
from unveil.metrics.trials.risk import (
    ATTACK_RATE,
    CONFIDENCE,
    CONTROL_RATE,
    EXCESS,
    NO_CONTROL,
    Rate,
    clopper_pearson,
    excess,
)

__all__ = ["EVERYBODY", "MINIMUM", "GroupRates", "RatesByGroup", "bands", "compared", "group_rates"]

Figure = Literal["attack_rate", "excess_over_control"]

#: A group of fewer people is never shown by its name.
MINIMUM = 11
EVERYBODY = "everybody"
NOBODY = "no person of this subgroup was attacked"
UNGROUPED = "the control group has no subgroups"
NO_STRANGER = "the control group has no person of this subgroup"
FEW_STRANGERS = "the control group has too few people of this subgroup to show a rate"


# Which groups of people may be shown, so that no small one can be computed from the others and the total.

Label = str | None
GroupKind = Literal["named", "missing", "pooled", "everybody"]

MOST_GROUPS = 20
MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class ShownGroups:
    """Subgroups to show: names, kinds, sizes, and subgroup of each label.

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
    """Return the subgroups to show, by people and attempts.

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
    """Return the cells to suppress, so that none follows from totals.

    ``others`` are in the total but in no cell. An empty cell hides no person.

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


@dataclass(frozen=True, kw_only=True)
class GroupRates:
    """The rates of an attack on one group of people."""

    COUNTS = "people"

    name: str = figure("The subgroup: a value of the column, or the name of pooled small subgroups.")
    #: Whether it is a value of the column, those without one, or several groups taken together.
    kind: GroupKind
    people: int = figure("Number of people in the data in this subgroup; 0 for the overall rate.")
    tries: int = figure("Number of attempts; 0 without control attempts.", counts="attempts")
    #: How many people of the group outside the data were attacked; 0 where there are none, or too few to be shown.
    control_tries: int
    #: With exact intervals that hold for all groups together.
    attack_rate: Rate = figure(ATTACK_RATE)
    control_rate: Rate = figure(CONTROL_RATE)
    excess_over_control: Rate = figure(EXCESS, name="normalized_excess")

    def rate(self, figure: str) -> Rate:
        """Return the rate of this name."""
        rate: Rate = getattr(self, figure)
        return rate


@dataclass(frozen=True, kw_only=True)
class RatesByGroup:
    """Attack success of every shown subgroup, worst first, and overall."""

    COUNTS = "nothing private"

    #: Everyone, with the usual intervals.
    overall: GroupRates
    #: The groups by ``ranked_by``, from the highest; empty where no two can be shown.
    ranked_by: Figure
    #: The group with the highest value; None where there are not two groups to compare.
    worst: GroupRates | None
    #: The groups whose interval lies above the value of everyone, also after having looked at all of them.
    worse: tuple[GroupRates, ...]

    @derived("Ranking criterion: normalized excess where a subgroup has one, else attack success.", name="ranked_by")
    def ranked_by_name(self) -> str:
        """The ranking criterion, by its name in JSON."""
        return "normalized_excess" if self.ranked_by == "excess_over_control" else self.ranked_by

    @derived("Subgroup with the highest value; null without two subgroups to compare.", name="worst")
    def worst_name(self) -> str | None:
        """Name of the worst subgroup."""
        return None if self.worst is None else self.worst.name

    @derived(
        "Subgroups whose CI lies above the overall value: significantly worse, corrected for the number of subgroups.",
        name="worse",
    )
    def worse_names(self) -> tuple[str, ...]:
        """The names of the groups that are measurably worse off."""
        return tuple(group.name for group in self.worse)

    pooled: int = figure("Number of subgroups pooled as too small or too many to show.")
    minimum: int = figure("Smallest subgroup shown, in people.")
    groups: tuple[GroupRates, ...] = figure("One entry for each subgroup.")
    #: With which all intervals of one value hold together, and the one each is computed with.
    confidence: float
    each_confidence: float
    #: How many such divisions into groups the intervals allow for.
    looks: int = 1


def group_rates(
    trials: Trials | Attempts,
    labels: Sequence[Label],
    control_labels: Sequence[Label] | None = None,
    *,
    everybody: Sequence[Label] | None = None,
    confidence: float = CONFIDENCE,
    minimum: int = MINIMUM,
    looks: int = 1,
) -> RatesByGroup:
    """Return the attack success in each subgroup, compared with its controls.

    All intervals of one value hold together with the given confidence: each is computed with 1 - (1 - confidence) / m
    for m groups (Bonferroni), so that the worst of many is no worse by the mere number of them.

    Groups of which there are fewer than ``minimum`` people, or of which fewer were attacked, are taken together as one,
    and so is what lies beyond the 20 largest. What is left out can be had by subtracting the rest from the total: so
    the groups taken together are at least two and have at least ``minimum`` people, if need be with the next larger
    ones. Where no other person is left, no group is shown. The same holds for people outside the data: where fewer than
    ``minimum`` of a group were attacked its control rate is undefined, and so are further ones until it cannot be
    computed from the others.

    Parameters
    ----------
    trials
        What the attack achieved; its attempts must say which row each try is about (``Attempts.rows``).
    labels
        The group of each row of the attacked table, None where it is missing; see :func:`unveil.metrics.bands`.
    control_labels
        The same for the rows of the control table.
    everybody
        The groups of all people in the data, where only some of them are in the attacked table.
    confidence
        With which the intervals of all groups hold together.
    minimum
        The fewest people in the data that a group must have to be shown.
    looks
        How many such divisions into groups are read together; each interval allows for all of them.

    Raises
    ------
    InputError
        If it is not known which row a try is about, or a row has no label.

    Examples
    --------
    >>> hits = Attempts.from_chances([1.0] * 15 + [0.0] * 45, rows=range(60))
    >>> found = group_rates(hits, ["north"] * 20 + ["south"] * 40)
    >>> [(group.name, group.people, group.attack_rate.value) for group in found.groups]
    [('north', 20, 0.75), ('south', 40, 0.0)]
    >>> found.overall.attack_rate.value, [group.name for group in found.worse]
    (0.25, ['north'])
    """
    whole_number(minimum, "minimum", at_least=2, advice="A subgroup of one person is never shown: take more")
    whole_number(looks, "looks")
    every = Trials(attack=trials, naive=trials, control=None, what="") if isinstance(trials, Attempts) else trials
    own = _checked(labels, "labels")
    sizes = Counter(own if everybody is None else _checked(everybody, "everybody"))
    sizes.update(dict.fromkeys(set(own), 0))
    cells = arranged(sizes, Counter(own[row] for row in _rows(every.attack, own, "the attack")), minimum)
    attack = _tally(every.attack, own, cells, "the attack")
    control = _control_tally(every, control_labels, cells, minimum)
    each = 1 - (1 - confidence) / (looks * max(1, len(cells.all)))
    groups = [_group(at, cells, attack, control, each) for at in cells.all]
    overall = _overall(every, sum(sizes.values()), confidence)
    return compared(
        groups, overall, pooled=cells.pooled, confidence=confidence, each_confidence=each, minimum=minimum, looks=looks
    )


def compared(groups: Sequence[GroupRates], overall: GroupRates, **settings: Any) -> RatesByGroup:
    """Return the subgroups, worst first, and those worse than overall.

    ``settings`` are the other fields of `RatesByGroup`.
    """
    figure: Figure = "attack_rate"
    if overall.excess_over_control.defined and any(group.excess_over_control.defined for group in groups):
        figure = "excess_over_control"
    ordered = tuple(sorted(groups, key=lambda group: _worse_first(group, figure)))
    known = [group for group in ordered if group.rate(figure).defined]
    known = known if len(known) > 1 else []
    return RatesByGroup(
        groups=ordered,
        overall=overall,
        ranked_by=figure,
        worst=known[0] if known else None,
        worse=tuple(group for group in known if group.rate(figure).low > overall.rate(figure).value),
        **settings,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tally:
    """Successes and attempts per subgroup, and the reason if suppressed."""

    hits: FloatArray
    tries: IntArray
    why: tuple[str, ...]


def _checked(labels: Sequence[Label], which: str) -> list[Label]:
    known = list(labels)
    if not all(label is None or isinstance(label, str) for label in known):
        raise InputError(f"{which} must be texts, or None for missing ones. Use unveil.metrics.bands to get them")
    return known


def _rows(attempts: Attempts, labels: list[Label], whose: str) -> list[int]:
    """Return the row of each try, which must have a label."""
    if attempts.chances is None or attempts.rows is None:
        raise InputError(
            f"subgroup rates need the chance and row of each attempt, but {whose} has only totals. "
            "Use an attack on people, such as linkability"
        )
    if attempts.rows.min() < 0 or attempts.rows.max() >= len(labels):
        raise InputError(
            f"{whose} has row {int(attempts.rows.max()) + 1}, but there are {len(labels)} labels. "
            "Pass one label for each row of the attacked table"
        )
    rows: list[int] = attempts.rows.tolist()
    return rows


def _tally(attempts: Attempts, labels: list[Label], cells: ShownGroups, whose: str) -> _Tally:
    # One more place, the last, gathers those who are in no group that is shown.
    count = len(cells.all)
    group = np.array([cells.place.get(labels[row], count) for row in _rows(attempts, labels, whose)], np.int64)
    chances = np.asarray(attempts.chances, np.float64)
    # Added up in the order of the chances, so that the order of the rows does not even show in the last digit.
    order = np.lexsort((chances, group))
    hits = np.bincount(group[order], chances[order], minlength=count + 1)[:count]
    return _Tally(
        hits=hits.astype(np.float64),
        tries=np.bincount(group, minlength=count + 1)[:count],
        why=(NOBODY,) * count,
    )


def _control_tally(trials: Trials, labels: Sequence[Label] | None, cells: ShownGroups, minimum: int) -> _Tally:
    """Return the control attempts per subgroup, small subgroups left out."""
    control, count = trials.control, len(cells.all)
    if control is None or labels is None or control.chances is None or control.rows is None:
        why = NO_CONTROL if control is None else UNGROUPED
        return _Tally(hits=np.zeros(count), tries=np.zeros(count, np.int64), why=(why,) * count)
    known = _checked(labels, "control_labels")
    tally = _tally(control, known, cells, "the control")
    gone = hidden(tally.tries.tolist(), control.tries - int(tally.tries.sum()), minimum)
    return _Tally(
        hits=np.where(gone, 0.0, tally.hits),
        tries=np.where(gone, 0, tally.tries),
        why=tuple(FEW_STRANGERS if each else NO_STRANGER for each in gone),
    )


def _group(at: int, cells: ShownGroups, tally: _Tally, control: _Tally, confidence: float) -> GroupRates:
    attack, outside = (_rate(each, at, confidence) for each in (tally, control))
    return GroupRates(
        name=cells.names[at],
        kind=cells.kinds[at],
        people=cells.people[at],
        tries=int(tally.tries[at]),
        control_tries=int(control.tries[at]),
        attack_rate=attack,
        control_rate=outside,
        excess_over_control=excess(attack, outside) if attack.defined else Rate(nan, nan, nan, NOBODY),
    )


def _rate(tally: _Tally, at: int, confidence: float) -> Rate:
    if tally.tries[at] == 0:
        return Rate(nan, nan, nan, tally.why[at])
    return clopper_pearson(float(tally.hits[at]), int(tally.tries[at]), confidence=confidence)


def _overall(trials: Trials, people: int, confidence: float) -> GroupRates:
    attack = clopper_pearson(trials.attack.expected, trials.attack.tries, confidence=confidence)
    control = trials.control
    outside = (
        Rate(nan, nan, nan, NO_CONTROL)
        if control is None
        else clopper_pearson(control.expected, control.tries, confidence=confidence)
    )
    return GroupRates(
        name=EVERYBODY,
        kind="everybody",
        people=people,
        tries=trials.attack.tries,
        control_tries=0 if control is None else control.tries,
        attack_rate=attack,
        control_rate=outside,
        excess_over_control=excess(attack, outside),
    )


def _worse_first(group: GroupRates, figure: Figure) -> tuple[bool, float, float, int, str]:
    rate = group.rate(figure)
    # A group whose value is undefined comes last; NaN would not sort.
    value, low = (-rate.value, -rate.low) if rate.defined else (0.0, 0.0)
    return not rate.defined, value, low, -group.people, group.name

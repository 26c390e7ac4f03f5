"""How well all records of each person are linked, over everyone and by group."""

from itertools import pairwise
from math import nan
from statistics import NormalDist

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.histories import History
from unveil.errors import InputError
from unveil.guesses import Partition
from unveil.metrics import unlinkability
from unveil.metrics.partitions.fairness import gini
from unveil.metrics.partitions.linked_records import RecordsLinked, linked_records
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings
from unveil.metrics.trials.risk import Rate
from unveil.metrics.verdict.effects import LOWER_ERROR, UNSEEN, UPPER_ERROR, EffectSize
from unveil.metrics.verdict.exchanged_people import FEWEST_PEOPLE, exchange, exchangeable
from unveil.questions.link.findings import GroupShare, LinkedPeople, NamedPerson
from unveil.questions.link.read import LinkInputs

#: Exchanges of people behind the chance of records linked.
_CHANCE_DRAWS = 100
#: People of whom so large a share of records is linked are mostly linked.
_MOSTLY = 0.8
#: Groups of fewer people are not shown.
_SMALLEST_GROUP = 10
_MOST_GROUPS, _MOST_EXPOSED = 20, 10
_NORMAL_QUANTILE = 1.96


def linked_people(
    guess: Partition,
    truth: Partition,
    records: RecordsLinked,
    chance: float,
    effects: int,
    policy: UnlinkabilitySettings,
) -> LinkedPeople:
    """Return how well the records of each person are linked, with errors in the sense of unlinkability."""
    overall = unlinkability(guess, truth, **policy).overall
    return LinkedPeople(
        linked_alone=records.linked_alone,
        records_linked=mean_rate(records.linked),
        own_share=mean_rate(records.share),
        chance=chance,
        excess=excess_linked(records, chance, effects),
        profiles=guess.cluster_count,
        breached_share=overall.breached_share,
        mostly_linked=mostly_linked(records),
        miss=overall.miss / truth.cluster_count,
        include=overall.include / truth.cluster_count,
        risk_slope=overall.risk_slope,
        linked_after=tuple(float(each) for each in overall.linked[:3]),
        gini=gini(records.linked),
    )


def mean_rate(values: FloatArray) -> Rate:
    """Return the mean over people with its interval, within 0 and 1."""
    value = float(values.mean())
    half = _NORMAL_QUANTILE * _error(values)
    return Rate(value, max(0.0, value - half), min(1.0, value + half))


def _error(values: FloatArray) -> float:
    return float(values.std(ddof=1)) / values.size**0.5 if values.size > 1 else nan


def _careful_error(values: FloatArray) -> float:
    """Return the standard error of a mean between 0 and 1, with two people of 0 and two of 1 added to the squares.

    Without them, limits miss the few people who are linked where everyone of the sample is not.
    """
    n, mean = values.size, float(values.mean())
    squares = float(((values - mean) ** 2).sum()) + UNSEEN * (mean**2 + (1 - mean) ** 2)
    return float((squares / (n - 1) / n) ** 0.5)


def mostly_linked(records: RecordsLinked) -> float:
    """Return the share of people with at least 80% of their records linked."""
    return float((records.linked >= _MOSTLY - 1e-9).mean())


def chance_linked(history: History, guess: Partition, stratum: IntArray | None, rng: np.random.Generator) -> float:
    """Return the records linked when people are exchanged at random."""
    groups = exchangeable(history.released.period, stratum)
    linked = []
    for _ in range(_CHANCE_DRAWS):
        truth = Partition.from_labels(exchange(history.item_person, groups, rng))
        linked.append(linked_records(guess, truth, weights=history.sizes).records_linked)
    return float(np.mean(linked))


def excess_linked(records: RecordsLinked, chance: float, effects: int) -> EffectSize:
    """Return the records linked beyond the pseudonym alone, or beyond chance where that is more."""
    baseline = max(records.linked_alone, chance)
    value = records.records_linked - baseline
    if records.linked.size < FEWEST_PEOPLE:
        why = f"there are fewer than {FEWEST_PEOPLE} people"
        return EffectSize(nan, nan, nan, records.records_linked, baseline, why)
    error = _careful_error(records.excess)
    low, high = (NormalDist().inv_cdf(1 - each) * error for each in (LOWER_ERROR / effects, UPPER_ERROR))
    return EffectSize(value, value - low, min(value + high, 1.0), records.records_linked, baseline)


def groups(inputs: LinkInputs, history: History, records: RecordsLinked) -> tuple[GroupShare, ...]:
    """Return the records linked by number of records and by the asked columns."""
    number = np.bincount(history.person, minlength=history.people)
    found = []
    edges = np.unique(np.quantile(number, [0, 1 / 3, 2 / 3, 0.9, 1], method="higher"))
    for low, high in pairwise(edges.tolist()):
        inside = (number >= low) & ((number < high) | (high == edges[-1]))
        last = high if high == edges[-1] else high - 1
        name = f"{low} to {last}" if last > low else f"{low}"
        found.append(_group("number of records", name, inside, records))
    for column in inputs.settings.group_by:
        found += _by_column(history, column, records)
    return tuple(each for each in found if each.people >= _SMALLEST_GROUP)


def _group(by: str, name: str, inside: BoolArray, records: RecordsLinked) -> GroupShare:
    some = inside.any()
    return GroupShare(
        group_by=by,
        group=name,
        people=int(inside.sum()),
        records_linked=mean_rate(records.linked[inside]) if some else Rate(nan, nan, nan),
        linked_alone=float(records.alone[inside].mean()) if some else nan,
    )


def _by_column(history: History, column: str, records: RecordsLinked) -> list[GroupShare]:
    import polars as pl

    values = history.records.series(column).cast(pl.String).fill_null("missing")
    names = values.unique().sort()
    if names.len() > _MOST_GROUPS:
        raise InputError(
            f"Column {column!r} makes {names.len()} groups, but at most {_MOST_GROUPS} are compared. Group by another"
        )
    codes = values.rank("dense").to_numpy().astype(np.int64) - 1
    often = np.zeros((history.people, names.len()), np.int64)
    np.add.at(often, (history.person, codes), 1)
    own = often.argmax(axis=1)
    return [_group(column, name, own == place, records) for place, name in enumerate(names.to_list())]


def exposed(inputs: LinkInputs, history: History, records: RecordsLinked) -> tuple[NamedPerson, ...]:
    """Return the people with most of their records linked, where they are to be named."""
    if not inputs.settings.show_people or inputs.settings.shuffle:
        return ()
    names = history.records.series(inputs.settings.person)
    number = np.bincount(history.person, minlength=history.people)
    first = np.unique(history.person, return_index=True)[1]
    order = np.lexsort((-number, -records.share, -records.linked))[:_MOST_EXPOSED]
    return tuple(
        NamedPerson(
            person=str(names[int(first[each])]),
            records=int(number[each]),
            records_linked=float(records.linked[each]),
            own_share=float(records.share[each]),
        )
        for each in order
    )

"""Records linked: how much of a person one record discloses."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from unveil._figure import figure
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics._listing import metric

_SOURCE = "Bagga and Baldwin, 1998, B-cubed recall and precision of one subject"
_NORMAL_QUANTILE = 1.96


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordsLinked:
    """Records linked and own share of each person, and their means.

    Attributes
    ----------
    linked, share, alone
        By person, in the order of the truth's clusters: records linked, own share, and records linked by the items
        alone, before any linking.
    """

    linked: FloatArray = field(repr=False)
    share: FloatArray = field(repr=False)
    alone: FloatArray = field(repr=False)
    records_linked: float = figure(
        "Records linked: expected share of a person's records in the cluster of one of them."
    )
    records_linked_error: float = figure("Half width of the 95% CI of the records linked.")
    own_share: float = figure("Own share: expected share of that cluster that is the person's.")
    own_share_error: float = figure("Half width of the 95% CI of the own share.")
    linked_alone: float = figure("Records linked by each pseudonym alone.")

    @property
    def excess(self) -> FloatArray:
        """Records linked beyond the pseudonym alone, by person."""
        return self.linked - self.alone


def linked_records(guess: Partition | View, truth: Partition, *, weights: ArrayLike | None = None) -> RecordsLinked:
    """Return how much of each person one of the person's records discloses.

    Draw one of the person's records at random. Its cluster holds an expected share of the person's records (records
    linked), and an expected share of the cluster is the person's (own share). For a view both are means over its
    partitions.

    Parameters
    ----------
    guess, truth
        Items by cluster, and by person.
    weights
        Number of records of each item; None for one each.

    Examples
    --------
    >>> found = linked_records(Partition.from_labels("xxyyz"), Partition.from_labels("aaabb"))
    >>> found.linked.round(3), found.share.round(3)
    (array([0.556, 0.5  ]), array([0.833, 0.75 ]))
    """
    view = guess if isinstance(guess, View) else View([guess], [1])
    weight = _weights(weights, truth)
    linked, share = np.zeros(truth.cluster_count), np.zeros(truth.cluster_count)
    for partition, probability in zip(view.partitions, view.probabilities, strict=True):
        recall, precision = _of_partition(partition.aligned_to(truth), truth, weight)
        linked += float(probability) * recall
        share += float(probability) * precision
    alone = Partition(np.arange(truth.n, dtype=np.int32), np.arange(truth.n), truth.items)
    return RecordsLinked(
        linked=linked,
        share=share,
        alone=_of_partition(alone, truth, weight)[0],
        records_linked=float(linked.mean()),
        records_linked_error=_half_width(linked),
        own_share=float(share.mean()),
        own_share_error=_half_width(share),
        linked_alone=float(_of_partition(alone, truth, weight)[0].mean()),
    )


@metric(category="unlinkability", per="subject", more_means="less private", bounds=(0, 1), source=_SOURCE)
def records_linked(guess: Partition | View, truth: Partition, *, weights: ArrayLike | None = None) -> FloatArray:
    """Return the share of each subject's records that one of them discloses.

    Formula: the sum over clusters C' of ``(|C & C'| / |C|) ** 2`` with C the subject's records. 1 means that any record
    discloses all of them. Items that stay alone have the sum of their squared shares. It is never undefined.

    >>> records_linked(Partition.from_labels("xxyy"), Partition.from_labels("aaab")).round(3)
    array([0.556, 1.   ])
    """
    return linked_records(guess, truth, weights=weights).linked


@metric(category="unlinkability", per="subject", more_means="less private", bounds=(0, 1), source=_SOURCE)
def own_share(guess: Partition | View, truth: Partition, *, weights: ArrayLike | None = None) -> FloatArray:
    """Return the share of a record's cluster that is the same subject's.

    Formula: the sum over clusters C' of ``(|C & C'| / |C|) * (|C & C'| / |C'|)`` with C the subject's records. 1 means
    that nothing foreign is mixed in. It is never undefined.

    >>> own_share(Partition.from_labels("xxyy"), Partition.from_labels("aaab")).round(3)
    array([0.833, 0.5  ])
    """
    return linked_records(guess, truth, weights=weights).share


def _weights(weights: ArrayLike | None, truth: Partition) -> FloatArray:
    if weights is None:
        return np.ones(truth.n)
    weight = np.asarray(weights, np.float64)
    if weight.shape != (truth.n,) or not (np.isfinite(weight) & (weight > 0)).all():
        raise InputError(f"weights must be a number above 0 for each of the {truth.n} items. Pass records per item")
    return weight


def _of_partition(guess: Partition, truth: Partition, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return records linked and own share of each person."""
    key = truth.codes.astype(np.int64) * guess.cluster_count + guess.codes
    cell, place = np.unique(key, return_inverse=True)
    person, cluster = cell // guess.cluster_count, cell % guess.cluster_count
    both = np.bincount(place, weights=weight)
    of_person = np.bincount(truth.codes, weights=weight)[person]
    of_cluster = np.bincount(guess.codes, weights=weight)[cluster]
    size = truth.cluster_count
    return (
        np.minimum(np.bincount(person, weights=(both / of_person) ** 2, minlength=size), 1.0),
        np.minimum(np.bincount(person, weights=both / of_person * both / of_cluster, minlength=size), 1.0),
    )


def _half_width(values: FloatArray) -> float:
    """Return the half width of the mean's 95% CI; NaN for one person."""
    return _NORMAL_QUANTILE * float(values.std(ddof=1)) / values.size**0.5 if values.size > 1 else float("nan")

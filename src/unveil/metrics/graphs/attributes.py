"""Attribute disclosure in a graph, compared with guessing without the release."""

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses.value_claims import NO_VALUE, ValueClaims
from unveil.metrics._listing import metric
from unveil.metrics.candidates._truth import correct
from unveil.metrics.trials.risk import Rate, clopper_pearson

_FACTS: dict[str, Any] = {"category": "attribute disclosure", "per": "release", "more_means": "less private"}
_SOURCE = "He, Chu and Liu (2006), inferring privacy information from social networks"


@dataclass(frozen=True, kw_only=True)
class ValueGain:
    """Share of correct claims about one value, and its baseline.

    ``value`` is its number; ``gain`` is a rate with the interval of Student's t over people, undefined where they do
    not differ.
    """

    value: int
    people: int
    accuracy: float
    guessing: float
    gain: Rate


@dataclass(frozen=True, kw_only=True)
class ValueDisclosure:
    """Accuracy of claims about node values, compared with guessing.

    ``read`` is how many of the ``people`` have a claim that was read off the release. The intervals take people for
    independent of one another. ``by_value`` is by falling number of people, so that the rarest value comes last.
    """

    people: int
    read: int
    accuracy: Rate
    guessing: Rate
    gain: Rate
    by_value: tuple[ValueGain, ...]

    @property
    def rarest(self) -> ValueGain | None:
        """The rarest value; None if there is none."""
        return self.by_value[-1] if self.by_value else None


@metric(bounds=(0, 1), source=_SOURCE, **_FACTS)
def attribute_disclosure_accuracy(guess: ValueClaims, truth: ArrayLike) -> float:
    """Return the share of unknown people whose attribute is inferred correctly, 0 to 1.

    Formula: ``#{right claims} / #{people whose value is known}``; of several values that are as likely each counts with
    its chance. 0 means that no person's value is given. 1 means that everyone's is. A node need not be found for that:
    it is enough that all who may be it have the same value. NaN where no person's value is known.

    >>> from unveil.guesses import Candidates
    >>> claims = Candidates([0, 1, 2], [0, 1], [1.0, 1.0])
    >>> attribute_disclosure_accuracy(ValueClaims(np.arange(2), claims, claims, np.ones(2, bool)), [0, 0])
    0.5
    """
    return _mean(_chances(guess, truth)[0])


@metric(bounds=(0, 1), source=_SOURCE, **_FACTS)
def attribute_guessing_accuracy(guess: ValueClaims, truth: ArrayLike) -> float:
    """Return the share of people inferred correctly without the released edges.

    Formula: ``#{right guesses} / #{people whose value is known}`` with the commonest value among a person's neighbors
    in the auxiliary graph that seed pairs tell, and the commonest of all where they tell none; ties at random, on
    average. 0 means that no guess is correct. 1 means that all are. NaN where no person's value is known.

    >>> from unveil.guesses import Candidates
    >>> claims = Candidates([0, 1, 2], [0, 1], [1.0, 1.0])
    >>> attribute_guessing_accuracy(ValueClaims(np.arange(2), claims, claims, np.ones(2, bool)), [0, 1])
    1.0
    """
    return _mean(_chances(guess, truth)[1])


@metric(category="attribute disclosure", per="release", more_means="less private", bounds=(-1, 1), source=_SOURCE)
def attribute_disclosure_gain(guess: ValueClaims, truth: ArrayLike) -> float:
    """Return the gain in accuracy from the release, -1 to 1.

    Formula: ``attribute_disclosure_accuracy - attribute_guessing_accuracy``. 0 means that nothing was learned, or as
    much as was unlearned. 1 means that everyone's value was learned, and no guess was right. Below 0 the mapping misled
    the attacker. NaN where no person's value is known.

    >>> from unveil.guesses import Candidates
    >>> claims, own = Candidates([0, 1, 2], [0, 1], [1.0, 1.0]), Candidates([0, 1, 2], [0, 0], [1.0, 1.0])
    >>> attribute_disclosure_gain(ValueClaims(np.arange(2), claims, own, np.ones(2, bool)), [0, 1])
    0.5
    """
    told, guessed, _, _ = _chances(guess, truth)
    return _mean(told - guessed)


def attribute_disclosure(guess: ValueClaims, truth: ArrayLike) -> ValueDisclosure:
    """Return the accuracy of attribute claims, overall and per value.

    >>> from unveil.guesses import Candidates
    >>> claims, own = Candidates([0, 1, 2], [0, 1], [1.0, 1.0]), Candidates([0, 1, 2], [0, 0], [1.0, 1.0])
    >>> found = attribute_disclosure(ValueClaims(np.arange(2), claims, own, np.ones(2, bool)), [0, 1])
    >>> found.accuracy.value, [(each.value, each.gain.value) for each in found.by_value]
    (1.0, [(0, 0.0), (1, 1.0)])
    """
    told, guessed, values, read = _chances(guess, truth)
    people, size = np.unique(values, return_counts=True)
    order = np.lexsort((people, -size))
    return ValueDisclosure(
        people=values.size,
        read=int(read.sum()),
        accuracy=_rate(told),
        guessing=_rate(guessed),
        gain=_paired(told - guessed),
        by_value=tuple(
            ValueGain(
                value=int(people[at]),
                people=int(size[at]),
                accuracy=_mean(told[values == people[at]]),
                guessing=_mean(guessed[values == people[at]]),
                gain=_paired((told - guessed)[values == people[at]]),
            )
            for at in order
        ),
    )


def _chances(guess: ValueClaims, truth: ArrayLike) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Return the accuracy of each claim and baseline, and the true value."""
    values = np.asarray(truth)
    if values.ndim != 1 or values.dtype.kind not in "iu" or values.size <= int(guess.people.max(initial=-1)):
        raise InputError(
            "the truth does not have one whole number per auxiliary node. Pass the number of each node's value, -1 if "
            "unknown"
        )
    own = values[guess.people]
    known = np.flatnonzero(own != NO_VALUE)
    if known.size == 0:
        nothing = np.zeros(0)
        return nothing, nothing, known, nothing
    told, guessed = (correct(each.only(known), own[known]) for each in (guess.claimed, guess.own))
    return told, guessed, own[known].astype(np.int64), guess.read[known].astype(np.float64)


def _mean(chances: FloatArray) -> float:
    return float(chances.mean()) if chances.size else nan


def _rate(chances: FloatArray) -> Rate:
    if chances.size == 0:
        return Rate(nan, nan, nan, "no person's value is known")
    return clopper_pearson(float(chances.sum()), chances.size)


def _paired(differences: FloatArray) -> Rate:
    """Return a mean paired difference with Student's t interval."""
    from scipy.special import stdtrit

    if differences.size < 2 or np.ptp(differences) == 0:
        return Rate(_mean(differences), nan, nan, "people do not differ" if differences.size else "there are no people")
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    reach = float(stdtrit(differences.size - 1, 0.975)) * spread / sqrt(differences.size)
    return Rate(mean, max(mean - reach, -1.0), min(mean + reach, 1.0), tries=differences.size)

"""Uncertainty of the attacker: metrics of the probabilities alone."""

from math import inf, log
from typing import Any, Literal

import numpy as np

from unveil._kernels.candidates import credible_sizes, entropy_above, power_excess, power_sums
from unveil._kernels.types import FloatArray
from unveil.errors import InputError, share
from unveil.guesses import Candidates
from unveil.guesses.candidates import Truth
from unveil.metrics._listing import metric
from unveil.metrics.candidates._truth import (
    binary_entropy,
    check_form,
    considered_count,
    considered_truth,
    defined,
    defined_with_truth,
    tied_with_truth,
)

Form = Literal["label", "prior"]

# Where the quotient of two small numbers would lose its digits.
_NEAR_ONE = 0.1
# Where every candidate has some probability, those count that hold this much together.
_CREDIBLE = 0.95

SOURCE = "Zhao & Wagner, Table 2"
CUT_OFFS = "Zhao & Wagner, Fig. 6"
FACTS: dict[str, Any] = {
    "category": "uncertainty",
    "per": "target",
    "more_means": "more private",
    "source": SOURCE,
}


@metric(bounds=(1, inf), affected_by_chunking=True, **FACTS)
def anonymity_set_size(guess: Candidates, *, credible: float | None = None) -> FloatArray:
    """Return the number of candidates with positive probability.

    Formula: ``#{p > 0}``; with ``credible``, the fewest candidates whose probabilities sum to at least that. Where some
    probability lies on candidates that are not listed, all of them have some, and ``credible`` is 0.95 by default. 1
    means a single candidate is left; there is no maximum. NaN where not attempted.

    >>> anonymity_set_size(Candidates.from_matrix([[0.5, 0.5, 0.0]]))
    array([2.])
    >>> anonymity_set_size(Candidates.from_matrix([[0.9, 0.06, 0.04]]), credible=0.95)
    array([2.])
    """
    if credible is None and guess.elsewhere is None:
        return defined(guess, guess.summary.support)
    mass = share(_CREDIBLE if credible is None else credible, "credible")
    sizes = credible_sizes(guess.start, guess.probability, guess.others, guess.each_other, mass)
    return defined(guess, np.maximum(sizes, 1.0))


def renyi_entropy(guess: Candidates, *, order: float) -> FloatArray:
    """Return the Rényi entropy of any order, in bits.

    Formula: ``log2(sum(p ** order)) / (1 - order)``; order 0 is max-entropy, 1 (the limit) Shannon entropy, 2 collision
    entropy, infinity min-entropy. It falls as the order rises. 0 means the attacker is certain; log2(k) means k
    candidates are equally likely. NaN where not attempted.

    >>> renyi_entropy(Candidates.from_matrix([[0.5, 0.5]]), order=3)
    array([1.])
    """
    if not order >= 0:
        raise InputError(f"the order of the Rényi entropy is {order:g}; it must be at least 0. Raise it")
    known, each = guess.summary, guess.each_other
    if order == 0:
        bits = np.log2(np.maximum(known.support, 1))
    elif order == 1:
        bits = known.entropy
    elif order == inf:
        bits = -_log2(known.largest)
    elif order == 2:
        bits = -_log2(known.squares)
    elif abs(order - 1) < _NEAR_ONE:
        excess = power_excess(guess.start, guess.probability, float(order))
        excess += guess.others * each * np.expm1((order - 1) * np.log(np.where(each > 0, each, 1.0)))
        bits = np.log1p(excess) / ((1 - order) * log(2))
    else:  # over the largest probability, so that a high power does not vanish
        sums = power_sums(guess.start, guess.probability, known.largest, float(order))
        sums += np.where(each > 0, guess.others * (each / np.where(known.largest > 0, known.largest, 1)) ** order, 0.0)
        bits = (order * _log2(known.largest) + _log2(sums)) / (1 - order)
    return defined(guess, np.maximum(bits, 0.0))


def _log2(values: FloatArray) -> FloatArray:
    """Return the logarithm; 0 for targets without candidates."""
    return np.log2(np.where(values > 0, values, 1.0))


@metric(bounds=(0, inf), affected_by_chunking=True, **FACTS)
def collision_entropy(guess: Candidates) -> FloatArray:
    """Return the Rényi entropy of order 2, in bits.

    Formula: ``-log2(sum(p ** 2))``: how unlikely two draws agree. 0 means the attacker is certain; log2(k) means k
    candidates are equally likely. NaN where not attempted.

    >>> collision_entropy(Candidates.from_matrix([[0.5, 0.5]]))
    array([1.])
    """
    return renyi_entropy(guess, order=2)


@metric(bounds=(0, inf), **FACTS)
def conditional_entropy(guess: Candidates, truth: Truth, *, form: Form = "label") -> FloatArray:
    """Return the entropy of the true match given the estimate, in bits.

    Formula: one truth and one distribution define no joint distribution, so there are two forms. ``label`` draws one of
    the c candidates considered at random, X says whether it is the true one, Y is its probability as a label: ``H(X|Y)
    = (t / c) * h(1 / t)`` with t candidates that tie with the truth. ``prior`` takes the match to be uniform before the
    attack: ``H(X|Y) = H``. 0 means nothing is left to learn, also where the truth was not considered (label form). NaN
    where not attempted or where the target has no true match.

    >>> conditional_entropy(Candidates.from_matrix([[0.5, 0.5], [0.9, 0.1]]), [0, 0])
    array([1., 0.])
    """
    check_form(form)
    if form == "prior":
        return defined_with_truth(guess, truth, guess.summary.entropy)
    tied = np.maximum(tied_with_truth(guess, truth), 1)
    left = tied / np.maximum(considered_count(guess), 1) * binary_entropy(1 / tied)
    return defined_with_truth(guess, truth, np.where(considered_truth(guess, truth), left, 0.0))


@metric(bounds=(1, inf), resources=True, **FACTS)
def conditional_privacy(guess: Candidates, truth: Truth, *, form: Form = "label") -> FloatArray:
    """Return 2 to the conditional entropy: the equivalent number of choices.

    Formula: ``2 ** H(X|Y)``; see :func:`conditional_entropy` for the two forms. 1 means nothing is left to learn. NaN
    where not attempted or where the target has no true match.

    >>> conditional_privacy(Candidates.from_matrix([[0.5, 0.5]]), [0])
    array([2.])
    """
    return np.exp2(conditional_entropy(guess, truth, form=form))


@metric(bounds=(0, inf), affected_by_chunking=True, resources=True, **FACTS)
def entropy(guess: Candidates) -> FloatArray:
    """Return the Shannon entropy of each target's candidates, in bits.

    Formula: ``-sum(p * log2(p))``. 0 means the attacker is certain; log2(k) means k candidates are equally likely. NaN
    where not attempted, never 0.

    >>> entropy(Candidates([0, 4, 5], [0, 1, 2, 3, 9], [0.25] * 4 + [1.0]))
    array([2., 0.])
    """
    return renyi_entropy(guess, order=1)


@metric(bounds=(1, inf), affected_by_chunking=True, resources=True, **FACTS)
def inherent_privacy(guess: Candidates) -> FloatArray:
    """Return 2 to the entropy: the equivalent number of equally likely candidates.

    Formula: ``2 ** H``. 1 means the attacker is certain; k means as unsure as among k equally likely ones. NaN where
    not attempted.

    >>> inherent_privacy(Candidates.from_matrix([[0.5, 0.5]]))
    array([2.])
    """
    return np.exp2(entropy(guess))


@metric(bounds=(0, inf), affected_by_chunking=True, **FACTS)
def max_entropy(guess: Candidates) -> FloatArray:
    """Return the logarithm of the anonymity set size, in bits.

    Formula: ``log2 #{p > 0}``. 0 means a single candidate is left. NaN where not attempted.

    >>> max_entropy(Candidates.from_matrix([[0.9, 0.1]]))
    array([1.])
    """
    return renyi_entropy(guess, order=0)


@metric(bounds=(0, inf), affected_by_chunking=True, **FACTS)
def min_entropy(guess: Candidates) -> FloatArray:
    """Return the surprisal of the most likely candidate, in bits.

    Formula: ``-log2(max p)``. 0 means the attacker is certain. NaN where not attempted.

    >>> min_entropy(Candidates.from_matrix([[0.5, 0.25, 0.25]]))
    array([1.])
    """
    return renyi_entropy(guess, order=inf)


@metric(bounds=(0, 1), **FACTS)
def normalized_entropy(guess: Candidates) -> FloatArray:
    """Return the entropy over its maximum, 0 to 1 (degree of anonymity).

    Formula: ``H / log2 #{p > 0}``. 0 means the attacker is certain (also with a single candidate), 1 that all
    candidates left are equally likely, however few. NaN where not attempted.

    >>> normalized_entropy(Candidates.from_matrix([[0.5, 0.5], [1.0, 0.0]]))
    array([1., 0.])
    """
    most = np.log2(np.maximum(guess.summary.support, 2))
    return defined(guess, np.minimum(1.0, renyi_entropy(guess, order=1) / most))


@metric(bounds=(0, inf), affected_by_chunking=True, **FACTS)
def quantiles_on_entropy(guess: Candidates, *, at_least: float = 0.001, renormalize: bool = False) -> FloatArray:
    """Return the entropy of candidates above a small probability, in bits.

    Formula: ``-sum(p * log2(p))`` over ``p >= least`` (0.001 in the source), as they are, or divided by their sum
    with ``renormalize``. It keeps a long tail of unlikely candidates from passing for privacy. 0 means the attacker
    is sure, or that no candidate reaches ``at_least``. NaN where not attempted.

    >>> quantiles_on_entropy(Candidates.from_matrix([[0.5, 0.4996, 0.0004]]), at_least=0.01).round(3)
    array([1.])
    """
    share(at_least, "least")
    bits, total = entropy_above(guess.start, guess.probability, float(at_least))
    if guess.elsewhere is not None:
        each = guess.each_other
        counted = np.where((each >= at_least) & (each > 0), guess.others * each, 0.0)
        bits, total = bits - counted * _log2(each), total + counted
    if renormalize:
        whole = np.where(total > 0, total, 1.0)
        bits = np.maximum(0.0, bits / whole + np.log2(whole))
    return defined(guess, bits)


@metric(bounds=(0, inf), affected_by_chunking=True, usual=False, **(FACTS | {"source": CUT_OFFS}))
def quantiles_on_entropy_low_cut(guess: Candidates) -> FloatArray:
    """Return the entropy of candidates with probability 0.0001 or more, in bits.

    Formula: ``-sum(p * log2(p))`` over ``p >= 0.0001``; see :func:`quantiles_on_entropy`, which cuts at 0.001. 0 means
    the attacker is sure, or that no candidate is as likely as that. NaN where not attempted.

    >>> quantiles_on_entropy_low_cut(Candidates.from_matrix([[0.5, 0.49995, 0.00005]])).round(3)
    array([1.])
    """
    return quantiles_on_entropy(guess, at_least=1e-4)


@metric(bounds=(0, inf), affected_by_chunking=True, usual=False, **(FACTS | {"source": CUT_OFFS}))
def quantiles_on_entropy_high_cut(guess: Candidates) -> FloatArray:
    """Return the entropy of candidates with probability 0.01 or more, in bits.

    Formula: ``-sum(p * log2(p))`` over ``p >= 0.01``; see :func:`quantiles_on_entropy`, which cuts at 0.001. 0 means
    the attacker is sure, or that no candidate is as likely as that. NaN where not attempted.

    >>> quantiles_on_entropy_high_cut(Candidates.from_matrix([[0.5, 0.495, 0.005]])).round(3)
    array([1.002])
    """
    return quantiles_on_entropy(guess, at_least=1e-2)

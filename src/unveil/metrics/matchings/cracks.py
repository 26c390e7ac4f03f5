"""Resolved pseudonyms (cracks) of an attack that matches pseudonyms with items.

A crack is an item that gets its own pseudonym. The attacker's matching is random: one of all that are possible, as
likely as the attack holds it to be. Every number says how it was found and how far it may be off.
"""

from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._figure import derived, figure, figure_at
from unveil._kernels.matching import Edges
from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses.matching import Matching
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.guesses.unequal_matching import UnequalMatching
from unveil.metrics._listing import metric
from unveil.metrics.matchings._balance import balanced
from unveil.metrics.matchings._random_matchings import (
    LISTED,
    Attack,
    EstimatedValue,
    MatchingSpace,
    RandomMatching,
    random_matching,
)
from unveil.metrics.matchings.degree_of_anonymity import degree, degree_by_permanent, degree_of_listed
from unveil.metrics.matchings.flatness import is_flat, nmape_of
from unveil.metrics.matchings.heuristic import bias, heuristic
from unveil.metrics.matchings.itemsets import Itemsets, Sets, itemsets
from unveil.metrics.matchings.permanents import permanent_figure
from unveil.metrics.matchings.set_cracks import Labels, SetCracks, by_groups, labels_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["SHARES", "Cracks", "EstimatedValue", "Quantile", "crack_probability", "cracks", "expected_cracks"]


#: For these probabilities it is said how many items are cracked at least.
SHARES = (0.5, 0.1, 0.05, 0.01)
# Truths are drawn for the NMAPE until this many numbers are, some tenths of a second: its error is given.
_MOST_DRAWN = 4_000_000
FACTS: dict[str, Any] = {"category": "cracks", "more_means": "less private"}
SOURCE = "Lakshmanan, Ng & Ramesh (2008) for 0/1 matrices; Bagai, Malik & Jadliwala (2017)"


@dataclass(frozen=True)
class Quantile:
    """Number of items resolved at least, at this probability.

    ``low`` and ``high`` are that number when the sampled chances are two standard errors lower and higher; where the
    distribution is exact all three are the same.

    >>> Quantile(0.05, 3, 3, 3, "subsets").at_least
    3
    """

    probability: float = figure("Probability, from 0 to 1, of reaching the number.")
    at_least: int = figure("Number of resolved pseudonyms reached with this probability.")
    low: int = figure("Lower end of that number.")
    high: int = figure("Upper end of that number.")
    method: str = figure(hidden=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cracks(MatchingSpace):
    """Everything about the cracks of an attack.

    Attributes
    ----------
    n, pseudonym_count, pairs
        The numbers of items and of pseudonyms, and how many items the attacker gives one; all n unless sizes are
        unequal.
    truth
        The true pseudonym of each item, -1 for items without.
    log_permanent, permanent
        The natural logarithm of the matrix's permanent, and the permanent itself where it is a whole number that was
        counted to the last digit (of a 0/1 matrix: the number of matchings). NaN and None where matchings were listed.
    d, d_by_permanent
        The degree of anonymity, and the form of it that looks at the permanent of the doubly stochastic matrix alone
        (:mod:`~unveil.metrics.degree_of_anonymity`). The latter is NaN where matchings were listed.
    expected_cracks
        The mean number of items cracked: Ψ, which is ε on a 0/1 matrix.
    crack_probability, crack_probability_error
        Of each item, the chance to be cracked, and its standard error (0 where exact).
    crack_distribution, crack_distribution_error, crack_distribution_method
        The chance of 0, 1, ..., n cracks, with standard errors (0 where exact). R-hat is that of ``r_hat``.
    quantiles
        How many items are cracked at least with probability 50, 10, 5 and 1 %.
    heuristic, matched_bias
        The heuristic H for the expected cracks, and by what share it misses those of a truth that the attacker's own
        matchings draw (:mod:`~unveil.metrics.matchings.heuristic`). NaN where matchings were listed: there
        is no matrix.
    flat
        Whether all matchings that are possible are equally likely, so that weights say no more than their zeros.
    nmape
        By how much H misses the expected cracks on average over all truths, in percent of n
        (:func:`~unveil.metrics.matchings.flatness.nmape`). NaN where matchings were listed or sizes are unequal.
    groups
        Items that get a pseudonym of their group, where groups were given.
    itemsets
        Sets of items that are found as a whole, where sets were given.
    no_pseudonym, no_pseudonym_error
        Of each item, the chance that the attacker leaves it without a pseudonym, and its standard error; 0 where there
        are as many pseudonyms as items.
    blind_cracks
        The mean number of cracks of an attacker who knows nothing: 1 where each item has a pseudonym.
    r_hat
        The worst R-hat of everything that was sampled; NaN where nothing was.
    notes
        Sentences to read next to the numbers, such as that the attack rules the truth out.
    """

    truth: IntArray
    d_by_permanent: EstimatedValue
    crack_probability: FloatArray
    crack_probability_error: FloatArray
    expected_cracks: EstimatedValue = figure("Expected number of items given their true pseudonym.")

    @derived("Expected cracks as a share of all items.")
    def cracked_share(self) -> EstimatedValue:
        """Expected share of items resolved, 0 to 1."""
        found = self.expected_cracks
        return EstimatedValue(found.value / self.n, found.error / self.n, found.method, found.r_hat, found.kind)

    heuristic_value = figure_at(
        "heuristic.value", "Expected number of cracks by a heuristic of the literature.", name="heuristic"
    )
    heuristic: EstimatedValue = figure("Value of the heuristic with its error.", name="heuristic_estimate")
    matched_bias_value = figure_at(
        "matched_bias.value", "Relative error of the heuristic for a best-informed attacker.", name="matched_bias"
    )
    matched_bias: EstimatedValue = figure("Matched bias with its error.", name="matched_bias_estimate")
    flat: bool = figure("Whether all possible matchings are equally likely.")
    nmape_value = figure_at(
        "nmape.value",
        "Mean distance of the heuristic from the expected cracks over all truths, in percent of items; null "
        "where it is undefined.",
        name="nmape",
    )
    nmape: EstimatedValue = figure("NMAPE with its error.", name="nmape_estimate")
    crack_distribution: FloatArray = figure("Probability of exactly 0, 1, … cracks.")
    crack_distribution_error: FloatArray = figure("Standard error of each probability.")
    crack_distribution_method: str = figure("Computation method of the distribution.")
    quantiles: tuple[Quantile, ...] = figure("Number of cracks reached at each probability.")
    groups: SetCracks | None
    itemsets: Itemsets | None
    no_pseudonym: FloatArray
    no_pseudonym_error: FloatArray
    blind_cracks: float
    _edges: Edges
    _effective: float

    def marginals(self) -> "csr_array":
        """Return the probability of each pair, as a sparse matrix.

        Rows are items and columns are pseudonyms.
        """
        from scipy.sparse import csr_array

        edges = self._edges
        return csr_array(
            (edges.weight.copy(), edges.column.copy(), edges.start.copy()), shape=(self.n, self.pseudonym_count)
        )

    def at_least(self, probability: float) -> Quantile:
        """Return the number of items resolved at least, at this probability.

        >>> found = cracks(Matching([[1, 1], [1, 1]]), [0, 1], rng=np.random.default_rng(1))
        >>> found.at_least(0.5).at_least, found.at_least(0.51).at_least
        (2, 0)
        """
        if not 0 < probability <= 1:
            raise InputError(f"probability is {probability:g}; it must be above 0 and at most 1. Write 0.05")
        return _quantile(self.crack_distribution, self._effective, self.crack_distribution_method, probability)


def _quantile(chances: FloatArray, effective: float, method: str, probability: float) -> Quantile:
    tail = np.cumsum(chances[::-1])[::-1]
    error = np.zeros(tail.size)
    if effective < inf:
        # As with one further sample of each kind: what was never seen is not impossible.
        likely = (tail * effective + 1) / (effective + 2)
        error = np.sqrt(np.maximum(likely * (1 - likely), 0) / effective)
    middle, low, high = (_last(tail + shift * error, probability) for shift in (0, -2, 2))
    return Quantile(float(probability), middle, low, high, method)


def _last(tail: FloatArray, probability: float) -> int:
    """Return the largest number with tail probability of at least ``probability``."""
    return int(np.flatnonzero(tail >= probability - 1e-12).max(initial=0))


def cracks(
    guess: Attack,
    truth: Any,
    *,
    groups: Labels | None = None,
    sets: Sets | None = None,
    rng: np.random.Generator,
    precision: float = 0.01,
) -> Cracks:
    """Return the resolved pseudonyms: expected number, probabilities, and distribution.

    Parameters
    ----------
    guess
        The attack: a matrix, one with unequal sizes, or matchings with probabilities.
    truth
        The true pseudonym of each item by number from 0, or pairs of names; every pseudonym once. A truth that the
        attack rules out has an answer like any other, and a note says so.
    groups
        Where a pseudonym of the right category is enough: one group per item, or a mapping from item to group.
    sets
        Sets of items to find as a whole, which may overlap: for each name the items.
    rng
        Used where the matrix is too large for exact methods only.
    precision
        Sampling stops when the standard error of the expected cracks of a block is below this share of them (of one
        crack if they are fewer).

    Examples
    --------
    The thesis's hospital unit has 18 possible matchings with 29 cracks among them:

    >>> attack = Matching([[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]])
    >>> found = cracks(attack, [2, 3, 4, 0, 1], rng=np.random.default_rng(1))
    >>> found.permanent, round(found.expected_cracks.value * 18, 9), found.expected_cracks.method
    (18, 29.0, 'subsets')
    >>> [(quantile.probability, quantile.at_least) for quantile in found.quantiles]
    [(0.5, 1), (0.1, 3), (0.05, 5), (0.01, 5)]
    """
    labels = None if groups is None else labels_of(guess, groups)
    if not 0 < precision <= 1:
        raise InputError(f"precision is {precision:g}; it must be above 0 and at most 1. Write 0.01")
    found = random_matching(guess, truth, rng=rng, distribution=True, precision=precision, sample_permanent=True)
    chances, errors = found.distribution, found.distribution_error
    if chances is None or errors is None:
        raise ValueError("the distribution of cracks was asked for")
    for array in (found.probability, found.probability_error, chances, errors):
        array.flags.writeable = False
    effective = found.effective if (errors > 0).any() else inf
    method = found.methods["crack_distribution"]
    return Cracks(
        n=found.n,
        truth=found.truth,
        expected_cracks=_expected(found),
        crack_probability=found.probability,
        crack_probability_error=found.probability_error,
        crack_distribution=chances,
        crack_distribution_error=errors,
        crack_distribution_method=method,
        quantiles=tuple(_quantile(chances, effective, method, share) for share in SHARES),
        groups=None if labels is None else by_groups(found, labels),
        itemsets=None if sets is None else itemsets(guess, truth, sets=sets, rng=rng, precision=precision),
        **_unpaired(guess, found),
        r_hat=found.r_hat,
        notes=found.notes,
        _edges=_real_edges(found),
        _effective=effective,
        **_of_matrix(guess, found, rng),
    )


def _real_edges(random_matching: RandomMatching) -> Edges:
    """Return the probabilities of pairs of item and pseudonym."""
    real, row = random_matching.real, random_matching.edges.row
    start = np.concatenate([[0], np.cumsum(np.bincount(row[real], minlength=random_matching.n))]).astype(np.int64)
    return Edges(start, random_matching.edges.column[real], random_matching.marginal[real])


def _unpaired(guess: Attack, random_matching: RandomMatching) -> dict[str, Any]:
    """Return notes on items or pseudonyms without a partner."""
    alone = random_matching.edges.column >= random_matching.pseudonym_count
    chance = np.bincount(random_matching.edges.row[alone], random_matching.marginal[alone], random_matching.edges.n)[
        : random_matching.n
    ].astype(np.float64)
    chance = np.minimum(chance, 1.0)
    likely = (
        (chance * random_matching.effective + 1) / (random_matching.effective + 2)
        if random_matching.sampled
        else chance
    )
    error = (
        np.sqrt(likely * (1 - likely) / random_matching.effective)
        if random_matching.sampled and alone.any()
        else np.zeros(random_matching.n)
    )
    pairs = guess.pair_count if isinstance(guess, UnequalMatching) else random_matching.n
    for array in (chance, error):
        array.flags.writeable = False
    return {
        "no_pseudonym": chance,
        "no_pseudonym_error": error,
        "pseudonym_count": random_matching.pseudonym_count,
        "pairs": pairs,
        "blind_cracks": int((random_matching.truth >= 0).sum())
        * pairs
        / (random_matching.n * random_matching.pseudonym_count),
    }


def _of_matrix(guess: Attack, random_matching: RandomMatching, rng: np.random.Generator) -> dict[str, Any]:
    """Return the values that need the matrix.

    Listed matchings have only d and flatness.
    """
    if isinstance(guess, MatchingDistribution):
        names = ("log_permanent", "d_by_permanent", "heuristic", "matched_bias", "nmape")
        known = {"d": degree_of_listed(guess), "permanent": None, "flat": is_flat(guess)}
        return known | dict.fromkeys(names, EstimatedValue(nan, nan, LISTED))
    square = guess.padded if isinstance(guess, UnequalMatching) else guess
    scaled = balanced(square)
    value, exact = permanent_figure(guess, random_matching.permanent)
    by_permanent = degree_by_permanent(random_matching.permanent, scaled, random_matching.n)
    return {
        "log_permanent": value,
        "permanent": exact,
        "d": degree(guess, random_matching, scaled),
        "d_by_permanent": by_permanent if square is guess else EstimatedValue(nan, nan, by_permanent.method),
        "heuristic": heuristic(square, random_matching.at_truth, scaled),
        "matched_bias": bias(square, random_matching, scaled),
        "flat": is_flat(square),
        "nmape": nmape_of(square, random_matching, scaled, rng=rng, most_drawn=_MOST_DRAWN)
        if square is guess
        else EstimatedValue(nan, nan, "undefined for unequal sizes"),
    }


def _expected(random_matching: RandomMatching) -> EstimatedValue:
    return random_matching.figure(float(random_matching.probability.sum()), random_matching.expected_error)


@metric(per="release", bounds=(0, inf), source=SOURCE, **FACTS)
def expected_cracks(guess: Matching | MatchingDistribution, truth: Any, *, rng: np.random.Generator) -> EstimatedValue:
    """Return the expected number of resolved pseudonyms (Ψ; ε on 0/1 matrices).

    Formula: ``sum(M[i, truth[i]])``, where ``M[i, j] = P[i, j] * permanent(P without row i and column j) /
    permanent(P)`` is the chance that item i gets pseudonym j. 0 means that no item is ever cracked, n that all always
    are; who knows nothing expects 1, whatever n is. Below 1 the attack misleads the attacker. It is never undefined.

    >>> expected_cracks(Matching([[1, 1], [3, 1]]), [0, 1], rng=np.random.default_rng(1)).value
    0.5
    """
    return _expected(random_matching(guess, truth, rng=rng))


@metric(per="target", bounds=(0, 1), source=SOURCE, **FACTS)
def crack_probability(guess: Matching | MatchingDistribution, truth: Any, *, rng: np.random.Generator) -> FloatArray:
    """Return the probability that each item is resolved, 0 to 1.

    Formula: ``P[i, j] * permanent(P without row i and column j) / permanent(P)`` with the true pseudonym j of item i. 0
    means that it never is, 1 that it always is. It is never undefined. :func:`cracks` has the errors where pairs must
    be sampled.

    >>> crack_probability(Matching([[1, 1], [3, 1]]), [1, 0], rng=np.random.default_rng(1))
    array([0.75, 0.75])
    """
    return random_matching(guess, truth, rng=rng).probability

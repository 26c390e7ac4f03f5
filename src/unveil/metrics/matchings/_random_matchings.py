"""The attacker's random matching, solved once for all crack metrics."""

import sys
from dataclasses import dataclass
from math import exp, inf, log, nan, sqrt
from typing import Any, ClassVar, Literal

import numpy as np

from unveil._figure import derived, figure, figure_at
from unveil._kernels.matching import Edges, LogPermanent, MatchingAnswer, as_edges, edge_at, solve
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.guesses.matching import Matching, matching_truth
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.guesses.unequal_matching import UnequalMatching, unequal_truth

LOWER_BOUND = "Certain lower bound of a sampled value; null where there is none."
UPPER_BOUND = "Certain upper bound of a sampled value; null where there is none."
#: What an attacker can hold.
Attack = Matching | MatchingDistribution | UnequalMatching
Kind = Literal["exact", "sampled", "bracket"]

LISTED = "listed matchings"
#: An exact number is given with no smaller error than this.
ROUNDING = 1e-15


@dataclass(frozen=True)
class EstimatedValue:
    """A number with its method and its error.

    Examples
    --------
    >>> EstimatedValue(1.5, 0.01, "worm", 1.001, "sampled").exact
    False
    """

    JSON_DEFINITION: ClassVar[str] = "estimate"

    value: float = figure("The value; null where it is undefined.")
    error: float = figure(
        'By `kind`: of "exact" the rounding error, of "sampled" the standard error, of "bracket" the width: the '
        "value lies between `value` and `value + error`."
    )
    method: str = figure("Computation method; several where blocks of the matrix needed different ones.")
    r_hat: float = figure(
        "Agreement of the chains of a sampled value: 1 is best, above 1.05 is unreliable; null where "
        "nothing was sampled.",
        default=nan,
        after="kind",
    )
    kind: Kind = figure('"exact", "sampled" or "bracket".', default="exact")
    low: float = figure(LOWER_BOUND, default=nan, optional=True)
    high: float = figure(UPPER_BOUND, default=nan, optional=True)

    @property
    def exact(self) -> bool:
        """Whether there is no other error than that of rounding."""
        return self.kind == "exact"


@dataclass(frozen=True)
class Permanent:
    """Permanent of a matrix: its logarithm with error, and the exact value."""

    logarithm: EstimatedValue
    counted: int | None
    log = figure_at("logarithm.value", "Natural logarithm of the permanent.")

    @derived("The permanent; null where it is out of range for a float.")
    def value(self) -> float | None:
        """The permanent as a float, or None if out of range.

        >>> Permanent(EstimatedValue(0.0, 0.0, "subsets"), None).value
        1.0
        >>> Permanent(EstimatedValue(800.0, 0.0, "Glynn"), None).value
        """
        if self.counted is not None:
            return float(self.counted) if self.counted <= sys.float_info.max else None
        if not log(sys.float_info.min) <= self.logarithm.value <= log(sys.float_info.max):
            return None
        return exp(self.logarithm.value)

    method = figure_at("logarithm.method", "Method, or several where blocks of the matrix needed different ones.")
    error = figure_at("logarithm.error", "Standard error of the logarithm; 0 where it is exact.")
    kind = figure_at("logarithm.kind", '"exact", "sampled" or "bracket".')

    @derived("The number itself, as text; empty where it is not known exactly.")
    def exact(self) -> str | None:
        """The permanent as text, with all digits."""
        return None if self.counted is None else str(self.counted)

    low = figure_at("logarithm.low", LOWER_BOUND, optional=True)
    high = figure_at("logarithm.high", UPPER_BOUND, optional=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchingSpace:
    """Possible matchings under an attack, with their number and degree of anonymity."""

    log_permanent: EstimatedValue
    permanent: int | None
    n: int = figure("Number of items.")
    pseudonym_count: int = figure("Number of pseudonyms.", name="pseudonyms")
    pairs: int = figure("Number of items with a pseudonym.")

    @derived("Permanent of the matrix: the weighted number of matchings.", name="permanent")
    def whole_permanent(self) -> Permanent:
        """The permanent with its logarithm."""
        return Permanent(self.log_permanent, self.permanent)

    d_value = figure_at("d.value", "Degree of anonymity: 0 one certain matching, 1 all equally likely.", name="d")
    d: EstimatedValue = figure("Degree of anonymity with its error.", name="d_estimate")
    r_hat: float
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomMatching:
    """Chances of the pairs of a random matching, and of its cracks.

    Attributes
    ----------
    edges, marginal
        The pairs that are possible, and the chance of each. Where there are more items than pseudonyms or fewer, these
        are the edges of the padded matrix.
    n, pseudonym_count
        How many rows of it are items, and how many columns are pseudonyms.
    truth, at_truth
        The true pseudonym of each item (-1 for none), and which pair that is: -1 where it is not possible.
    drawn
        Which rows have chances that were sampled.
    probability, probability_error
        Of each item, the chance to be cracked, and its standard error: 0 where exact, else positive.
    expected_error, log_weight_error
        The standard errors of the sum of these chances, and of the mean logarithm of a matching's weight.
    distribution, distribution_error
        The chance of each number of cracks, and standard errors; None where not asked for.
    log_permanent
        None where the matchings were listed.
    effective, togetherness
        How many independent samples tell as much as those drawn, and by what factor the error of a sum over items is
        larger than if items varied by themselves; infinite and 1 where nothing was drawn.
    methods, r_hat, notes
        As in ``MatchingAnswer`` of the kernels.
    """

    edges: Edges
    marginal: FloatArray
    n: int
    pseudonym_count: int
    truth: IntArray
    at_truth: IntArray
    drawn: BoolArray
    probability: FloatArray
    probability_error: FloatArray
    expected_error: float
    distribution: FloatArray | None
    distribution_error: FloatArray | None
    log_permanent: LogPermanent | None
    methods: dict[str, str]
    log_weight_error: float = 0.0
    effective: float = inf
    togetherness: float = 1.0
    r_hat: float = nan
    notes: tuple[str, ...] = ()

    @property
    def permanent(self) -> LogPermanent:
        """The log-permanent of a matrix."""
        if self.log_permanent is None:
            raise ValueError("listed matchings have no permanent")
        return self.log_permanent

    @property
    def sampled(self) -> bool:
        """Whether the chance of some pair was sampled."""
        return bool(self.drawn.any())

    @property
    def real(self) -> BoolArray:
        """Which edges pair an item and a pseudonym."""
        return np.asarray((self.edges.row < self.n) & (self.edges.column < self.pseudonym_count))

    def mean(self, score: FloatArray) -> tuple[float, float]:
        """Return the mean score sum of a matching, and its standard error.

        Only the cracks were followed from sample to sample, so items are taken to vary together as their cracks do.
        """
        value = float((self.marginal * score).sum())
        if not self.sampled:
            return value, 0.0
        row = self.edges.row
        first = np.bincount(row, self.marginal * score, self.edges.n)
        second = np.bincount(row, self.marginal * (score - first[row]) ** 2, self.edges.n)
        variance = float(second[self.drawn].sum())
        return value, self.togetherness * sqrt(variance / self.effective)

    def figure(self, value: float, error: float) -> EstimatedValue:
        """Return a number that comes from the chances of pairs."""
        if self.sampled:
            return EstimatedValue(value, error, self.methods["marginals"], self.r_hat, "sampled")
        return EstimatedValue(value, max(error, ROUNDING * self.n * abs(value)), self.methods["marginals"])


def random_matching(
    guess: Attack,
    truth: Any,
    *,
    rng: np.random.Generator,
    distribution: bool = False,
    precision: float = 0.01,
    sample_permanent: bool = False,
) -> RandomMatching:
    """Return the random matching of an attack.

    >>> guess = Matching([[1, 1], [3, 1]])
    >>> random_matching(guess, [0, 1], rng=np.random.default_rng(1)).probability
    array([0.25, 0.25])
    """
    if isinstance(guess, MatchingDistribution):
        return _listed(guess, matching_truth(guess, truth))
    columns = unequal_truth(guess, truth) if isinstance(guess, UnequalMatching) else matching_truth(guess, truth)
    square = guess.padded if isinstance(guess, UnequalMatching) else guess
    whole = np.concatenate([columns, np.full(square.n - columns.size, -1)])
    found = solve(
        square.edges,
        whole,
        rng=rng,
        distribution=distribution,
        precision=precision,
        sample_permanent=sample_permanent,
    )
    n = guess.n
    return RandomMatching(
        edges=found.edges,
        marginal=found.marginal,
        n=n,
        pseudonym_count=guess.pseudonym_count if isinstance(guess, UnequalMatching) else n,
        truth=columns,
        at_truth=edge_at(found.edges, whole)[:n],
        drawn=found.crack_probability_error > 0,
        probability=found.crack_probability[:n],
        probability_error=np.where(columns >= 0, found.crack_probability_error[:n], 0.0),
        expected_error=found.expected_cracks_error,
        log_weight_error=found.log_weight_error,
        distribution=None if found.crack_distribution is None else found.crack_distribution[: n + 1],
        distribution_error=None if found.crack_distribution_error is None else found.crack_distribution_error[: n + 1],
        log_permanent=found.log_permanent,
        methods=found.methods,
        effective=inf if np.isnan(found.effective_samples) else found.effective_samples,
        togetherness=_togetherness(found),
        r_hat=found.r_hat,
        notes=(*found.notes, *_unequal_notes(guess, columns)),
    )


def _unequal_notes(guess: Attack, truth: IntArray) -> tuple[str, ...]:
    """Return notes on the number of items that have a pseudonym."""
    truly = int((truth >= 0).sum())
    if not isinstance(guess, UnequalMatching) or truly == guess.pair_count:
        return ()
    return (f"The attacker assumes that {guess.pair_count} items have a pseudonym; the truth is {truly}.",)


def _togetherness(answer: MatchingAnswer) -> float:
    """Return the error inflation from dependent rows, at least 1."""
    chance = answer.crack_probability[answer.crack_probability_error > 0]
    alone = float((chance * (1 - chance)).sum())
    if alone == 0.0:
        return 1.0
    return max(1.0, answer.expected_cracks_error * sqrt(answer.effective_samples / alone))


def _listed(guess: MatchingDistribution, truth: IntArray) -> RandomMatching:
    edges = as_edges(guess.marginals)
    place = edge_at(edges, truth)
    count = (guess.matchings == truth).sum(axis=1)
    chance = np.bincount(count, guess.probability, guess.n + 1).astype(np.float64)
    notes = () if (count == guess.n).any() else ("The truth is not among the matchings: the attacker excludes it.",)
    return RandomMatching(
        edges=edges,
        marginal=edges.weight,
        n=guess.n,
        pseudonym_count=guess.n,
        drawn=np.zeros(guess.n, np.bool_),
        truth=truth,
        at_truth=place,
        probability=np.where(place >= 0, edges.weight[np.maximum(place, 0)], 0.0),
        probability_error=np.zeros(guess.n),
        expected_error=0.0,
        distribution=chance,
        distribution_error=np.zeros(guess.n + 1),
        log_permanent=None,
        methods=dict.fromkeys(("permanent", "marginals", "crack_distribution"), LISTED),
        notes=notes,
    )

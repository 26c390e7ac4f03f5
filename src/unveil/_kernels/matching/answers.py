"""Results on permanents, blocks, and matrices, with their methods."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.matching.chains import SampledMatchings
from unveil._kernels.matching.edges import Edges
from unveil._kernels.types import FloatArray

#: Python itself refuses to print longer whole numbers.
_MOST_DIGITS = 4000


class LogPermanent(NamedTuple):
    """Log-permanent with method and error.

    ``low <= log <= high`` is certain for the Bethe bracket, where ``log`` is the lower end, or lies between them with
    the standard error ``error`` where ``sampled``; other methods are exact up to rounding and have both ends at
    ``log``. Else ``error`` is the width of the bracket or the error by rounding: relative for the permanent, absolute
    for its logarithm. ``exact`` is the permanent of a matrix of whole numbers where it was counted to the last digit.
    The permanent of a matrix without a perfect matching is 0 and its logarithm -inf.
    """

    log: float
    method: str
    error: float
    low: float
    high: float
    exact: int | None = None
    sampled: bool = False

    @property
    def is_bracket(self) -> bool:
        """Return whether nothing is known but two bounds."""
        return self.low < self.high and not self.sampled

    def bounds(self) -> "LogPermanent":
        """Return the bounds of sampled values; exact ones stay."""
        if not self.sampled:
            return self
        return LogPermanent(self.low, "Bethe bracket", self.high - self.low, self.low, self.high)


class BlockAnswer(NamedTuple):
    """Block result: log-permanent, marginals, crack distribution, and methods."""

    log_permanent: LogPermanent
    marginal: FloatArray
    cracks: FloatArray | None
    cracks_error: FloatArray | None
    method: str
    cracks_method: str
    sampled: SampledMatchings | None = None


@dataclass(frozen=True, kw_only=True)
class MatchingAnswer:
    """Result on random weighted matchings, and the truth among them.

    Attributes
    ----------
    edges, marginal
        The positive entries of the matrix, and the chance of each to be in the matching; 0 between blocks.
    crack_probability, crack_probability_error
        Per row, the chance that the matching gives it its true column, with its standard error (0 where exact).
    expected_cracks, expected_cracks_error
        Their sum, and its standard error (0 where exact).
    log_weight_error
        The standard error of the mean logarithm of a matching's weight over the matchings drawn (0 where exact).
    crack_distribution, crack_distribution_error
        The chance of 0, 1, ..., n cracks, with standard errors (0 where exact); None where not asked for.
    methods
        How ``permanent``, ``marginals`` and ``crack_distribution`` were found.
    r_hat, effective_samples
        The worst R-hat and the fewest effective samples of all sampled blocks; NaN where none was.
    block_sizes
        Rows of each block, with the method of its marginals.
    notes
        Sentences a reader should see beside the numbers.
    """

    log_permanent: LogPermanent
    edges: Edges
    marginal: FloatArray
    crack_probability: FloatArray
    crack_probability_error: FloatArray
    expected_cracks: float
    expected_cracks_error: float
    log_weight_error: float
    crack_distribution: FloatArray | None
    crack_distribution_error: FloatArray | None
    methods: dict[str, str]
    r_hat: float
    effective_samples: float
    block_sizes: tuple[tuple[int, str], ...]
    notes: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Return whether marginals and expected cracks are exact up to rounding."""
        return not self.expected_cracks_error > 0 and "worm" not in self.methods["marginals"]

    def marginals(self) -> FloatArray:
        """Return the marginals as a full matrix."""
        return self.edges.with_weight(self.marginal).dense()


def joined(methods: list[str]) -> str:
    """Return the distinct methods, in order of first use.

    >>> joined(["single", "subsets", "single"])
    'single, subsets'
    """
    return ", ".join(dict.fromkeys(methods))


def product(parts: list[LogPermanent]) -> LogPermanent:
    """Return the log-permanent of a matrix from those of its blocks.

    >>> one, two = LogPermanent(0.0, "single", 0.0, 0.0, 0.0, 1), LogPermanent(0.7, "subsets", 0.0, 0.7, 0.7, 2)
    >>> product([one, two, two]).exact
    4
    """
    sampled = any(part.sampled for part in parts)
    if sampled and any(part.is_bracket for part in parts):  # then bounds are all that there is of the whole
        parts = [part.bounds() for part in parts]
        sampled = False
    log, error, low, high = (float(np.sum([part[k] for part in parts])) for k in (0, 2, 3, 4))
    if sampled:
        error = float(np.sqrt(np.sum([part.error**2 for part in parts])))
    exact: int | None = 1 if log < _MOST_DIGITS * np.log(10.0) else None
    for part in parts:
        exact = None if exact is None or part.exact is None else exact * part.exact
    return LogPermanent(log, joined([part.method for part in parts]), error, low, high, exact, sampled)

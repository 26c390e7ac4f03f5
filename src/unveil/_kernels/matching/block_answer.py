"""Exact or sampled results of one fully indecomposable block."""

from math import exp, factorial, lgamma, log
from typing import NamedTuple

import numpy as np

from unveil._kernels.matching import glynn_cracks, subsets
from unveil._kernels.matching.anneal import annealed
from unveil._kernels.matching.answers import BlockAnswer, LogPermanent
from unveil._kernels.matching.bethe import Scaling, bethe, sinkhorn
from unveil._kernels.matching.chains import sample
from unveil._kernels.matching.closed_form import cracks_of_even, is_even, log_permanent_of_even
from unveil._kernels.matching.edges import Edges, TooLargeError, edge_at
from unveil._kernels.matching.frontier import WIDEST, Plan, plan, sweep
from unveil._kernels.matching.glynn import LARGEST as LARGEST_GLYNN
from unveil._kernels.matching.glynn import glynn
from unveil._kernels.matching.glynn_marginals import glynn_marginals
from unveil._kernels.matching.integers import integer_permanent, whole
from unveil._kernels.matching.worm import MOST_ROWS
from unveil._kernels.types import IntArray

#: The sets of up to 16 columns take milliseconds in numpy; above, Glynn's formula is quicker.
BY_SUBSETS = 16
LARGEST_MARGINALS = 28
#: Transitions of the frontier, with and without polynomials: about ten seconds.
_MOST_WORK, _MOST_POLYNOMIAL_WORK = 8e8, 1.5e10
#: So much more is done where there are too many rows for worms, so that the only other answer is none.
_ONLY_WAY = 10
MOST_EDGES = 20_000_000
#: Sixteen runs over all steps take more choices than chains of worms do: with these, up to about 5,000 rows.
_ANNEALING = 4
#: Above, whole numbers too large for a float are not counted to the last digit: it would take most of the time.
_MOST_COUNTED = 24


class BlockSettings(NamedTuple):
    """The requested results for a block: see ``solve``."""

    distribution: bool
    precision: float
    budget: int
    permanent: bool = False


def answer(edges: Edges, truth: IntArray, settings: BlockSettings, rng: np.random.Generator) -> BlockAnswer:
    """Return the results of a block; ``truth`` is each row's true column."""
    n = edges.n
    if n == 1:
        value = _counted(edges, log(edges.weight[0]), "single", 0.0)
        hit = float(truth[0] == 0)
        return BlockAnswer(value, np.ones(1), np.array([1.0 - hit, hit]), None, "single", "single")
    if is_even(edges):
        value = _counted(edges, log_permanent_of_even(edges), "closed form", 1e-15 * n)
        return BlockAnswer(value, np.full(n * n, 1.0 / n), cracks_of_even(n, truth), None, "closed form", "closed form")
    if n <= BY_SUBSETS:
        return _by_subsets(edges, truth, settings)
    sweeping = feasible_plan(edges)
    if sweeping is not None:
        return _by_frontier(edges, truth, settings, rng, sweeping)
    if n <= LARGEST_MARGINALS:
        return _by_glynn(edges, truth, settings, rng)
    return _by_worms(edges, truth, settings, rng)


def feasible_plan(edges: Edges) -> Plan | None:
    """Return a frontier plan if it is cheap, else None."""
    n = edges.n
    if edges.weight.size > WIDEST * n:  # some column then has more rows than may be open
        return None
    found = plan(edges)
    limit = min(_MOST_WORK, 2.0**n * n / 20) if n <= LARGEST_MARGINALS else _MOST_WORK * _patience(n)
    return found if found is not None and found.work <= limit else None


def _patience(n: int) -> int:
    return _ONLY_WAY if n > MOST_ROWS else 1


def scaled(edges: Edges) -> Scaling:
    """Return the block scaled to row and column sums near 1."""
    return sinkhorn(edges, tolerance=1e-2, rounds=200)


def _by_subsets(edges: Edges, truth: IntArray, settings: BlockSettings) -> BlockAnswer:
    scaling = scaled(edges)
    matrix = scaling.edges.dense()
    value, marginal = subsets.marginals_by_subsets(matrix)
    number = _counted(edges, log(value) + scaling.log_factor, "subsets", 1e-15 * edges.n)
    cracks = subsets.cracks_by_subsets(matrix, truth) if settings.distribution else None
    return BlockAnswer(number, marginal[edges.row, edges.column], cracks, None, "subsets", "subsets")


def _by_frontier(
    edges: Edges, truth: IntArray, settings: BlockSettings, rng: np.random.Generator, sweeping: Plan
) -> BlockAnswer:
    n, scaling = edges.n, scaled(edges)
    edge = edge_at(edges, truth)
    terms = min(n + 1.0, 9.0 * n**0.5 + 20.0)  # no more numbers of cracks than these have a chance worth keeping
    polynomials = settings.distribution and sweeping.work * terms <= _MOST_POLYNOMIAL_WORK * _patience(n)
    if settings.distribution and not polynomials and n > MOST_ROWS:
        raise TooLargeError(
            f"the distribution of cracks of {n:,} rows must be sampled, limited to {MOST_ROWS:,} rows. Ask for "
            "the marginals and the expected number alone, or measure a part of the rows with its columns"
        )
    found = sweep(sweeping, scaling.edges.weight, edge[(edge >= 0) & (truth >= 0)], cracks=polynomials)
    number = _counted(edges, found.log_permanent + scaling.log_factor, "frontier", 1e-15 * n)
    if polynomials or not settings.distribution:
        return BlockAnswer(number, found.marginal, found.cracks, None, "frontier", "frontier")
    exact = BlockAnswer(number, found.marginal, None, None, "frontier", "none")
    return _with_sampled_cracks(exact, scaling, truth, settings, rng)


def _by_glynn(edges: Edges, truth: IntArray, settings: BlockSettings, rng: np.random.Generator) -> BlockAnswer:
    n, scaling = edges.n, scaled(edges)
    matrix = scaling.edges.dense()
    value, marginal, error = glynn_marginals(matrix)
    number = _counted(edges, log(value) + scaling.log_factor, "Glynn", error)
    found = BlockAnswer(number, marginal[edges.row, edges.column], None, None, "Glynn", "none")
    if not settings.distribution:
        return found
    if n <= subsets.LARGEST_CRACKS:
        return found._replace(cracks=subsets.cracks_by_subsets(matrix, truth), cracks_method="subsets")
    if n <= glynn_cracks.LARGEST:
        return found._replace(cracks=glynn_cracks.cracks_by_roots(matrix, truth), cracks_method="Glynn")
    return _with_sampled_cracks(found, scaling, truth, settings, rng)


def _with_sampled_cracks(
    answer: BlockAnswer, scaling: Scaling, truth: IntArray, settings: BlockSettings, rng: np.random.Generator
) -> BlockAnswer:
    """Return the exact result with a sampled distribution of cracks."""
    drawn = sample(scaling.edges, truth, rng=rng, precision=settings.precision, budget=settings.budget)
    cracks, error = drawn.distribution(truth.size)
    return answer._replace(cracks=cracks, cracks_error=error, cracks_method="worm", sampled=drawn)


def _by_worms(edges: Edges, truth: IntArray, settings: BlockSettings, rng: np.random.Generator) -> BlockAnswer:
    if edges.n > MOST_ROWS or edges.weight.size > MOST_EDGES:
        raise TooLargeError(
            f"a block of {edges.n:,} rows with {edges.weight.size:,} positive values must be sampled, which is limited "
            f"to {MOST_EDGES:,} values in {MOST_ROWS:,} rows. Set nearly impossible values to 0, or "
            "measure a part of the rows with its columns"
        )
    scaling = scaled(edges)
    drawn = sample(scaling.edges, truth, rng=rng, precision=settings.precision, budget=settings.budget)
    cracks, error = drawn.distribution(edges.n)
    value = (
        block_permanent(edges)
        if edges.n <= LARGEST_GLYNN
        else sampled_permanent(edges, settings, rng)
        if settings.permanent
        else bracket(edges)
    )
    return BlockAnswer(value, drawn.marginal, cracks, error, "worm", "worm", drawn)


def bracket(edges: Edges) -> LogPermanent:
    """Return the Bethe bracket."""
    found = bethe(edges)
    return LogPermanent(found.low, "Bethe bracket", found.high - found.low, found.low, found.high)


def sampled_permanent(edges: Edges, settings: BlockSettings, rng: np.random.Generator) -> LogPermanent:
    """Return the sampled log-permanent within the Bethe bounds, or these.

    The logarithm of the permanent is that of n! at most, so a tenth of the wanted precision is taken of that.
    """
    bounds = bracket(edges)
    if edges.n > MOST_ROWS or edges.weight.size > MOST_EDGES:
        return bounds
    scaling = scaled(edges)
    wanted = settings.precision / 10 * lgamma(edges.n + 1)
    found = annealed(scaling.edges, rng=rng, error=wanted, budget=_ANNEALING * settings.budget)
    if found is None:
        return bounds
    value = min(max(found.log + scaling.log_factor, bounds.low), bounds.high)
    return LogPermanent(value, "annealing", found.error, bounds.low, bounds.high, None, sampled=True)


def block_permanent(
    edges: Edges, settings: BlockSettings | None = None, rng: np.random.Generator | None = None
) -> LogPermanent:
    """Return the log-permanent by the cheapest exact method, sampling, or bounds."""
    n = edges.n
    if n == 1:
        return _counted(edges, log(edges.weight[0]), "single", 0.0)
    if is_even(edges):
        return _counted(edges, log_permanent_of_even(edges), "closed form", 1e-15 * n)
    if n <= 14:
        scaling = scaled(edges)
        value = float(subsets.permanent_by_subsets(scaling.edges.dense()))
        return _counted(edges, log(value) + scaling.log_factor, "subsets", 1e-15 * n)
    sweeping = feasible_plan(edges)
    if sweeping is not None:
        scaling = scaled(edges)
        found = sweep(sweeping, scaling.edges.weight, np.zeros(0, np.int64), cracks=False)
        return _counted(edges, found.log_permanent + scaling.log_factor, "frontier", 1e-15 * n)
    if n <= LARGEST_GLYNN:
        scaling = scaled(edges)
        value, error = glynn(scaling.edges.dense())
        return _counted(edges, log(value) + scaling.log_factor, "Glynn", error)
    return bracket(edges) if settings is None or rng is None else sampled_permanent(edges, settings, rng)


def _counted(edges: Edges, log_value: float, method: str, error: float) -> LogPermanent:
    """Return the exact integer permanent of a small whole-number block."""
    n, exact = edges.n, None
    if whole(edges.weight):
        if edges.weight.size == n * n and (edges.weight == edges.weight[0]).all():
            exact = factorial(n) * int(edges.weight[0]) ** n
        elif log_value < 30.0 and exp(log_value) * error < 0.01:
            exact = round(exp(log_value))
        elif n <= _MOST_COUNTED:
            exact = integer_permanent(edges.dense())
    return LogPermanent(log_value, method, error, log_value, log_value, exact)

"""From counted cells and a policy to errors, graphs and risk slopes."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isclose, lcm, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.partitions.contingency import column_crowds
from unveil._kernels.partitions.unlinkability import add_graphs, beta_points, divide_rows, mean_graph, order_cells
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.metrics.partitions._contingency import Contingency
from unveil.metrics.partitions._mixing import Mixing, gains, mixed_wholes
from unveil.metrics.partitions._policy import ExactShares
from unveil.metrics.partitions._tally import Tallies, Tally, Wholes

# What rounding may take from an average that reaches beta exactly; far below the step of any share of items.
ROUNDING = 1e-12
_LARGEST_INTEGER = 2**62
_LARGEST_IN_A_FLOAT = 2**53


@dataclass(frozen=True, kw_only=True, eq=False)
class Policy:
    """Policy of the subjects, and the treatment of undefined values."""

    alpha: ExactShares
    beta: ExactShares
    contamination_desirable: BoolArray
    literal: bool = False
    limit_at_breach: bool = False
    mixing: Mixing = "items"
    overall_alpha: Fraction | None = None
    overall_beta: Fraction | None = None

    def overall(self) -> tuple[float, float]:
        """Return alpha and beta of the overall risk slope (default: means)."""
        alpha = self.alpha.mean() if self.overall_alpha is None else self.overall_alpha
        beta = self.beta.mean() if self.overall_beta is None else self.overall_beta
        return float(alpha), float(beta)

    def take(self, subjects: IntArray) -> "Policy":
        """Return the same policy with the subjects in this order."""
        desirable = self.contamination_desirable[subjects]
        alpha, beta = self.alpha.take(subjects), self.beta.take(subjects)
        return replace(self, alpha=alpha, beta=beta, contamination_desirable=desirable)

    def wholes(self, counted: Tallies) -> Wholes:
        """Return the totals behind the shares of both graphs."""
        return mixed_wholes(counted.wholes(literal=self.literal), self.mixing)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Related clusters of each subject by relevance, with ties."""

    order: IntArray
    tied: IntArray
    best: IntArray
    best_start: IntArray

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over each subject's most relevant clusters."""
        return np.add.reduceat(values[self.best], self.best_start)


def evaluate(counted: Tallies, policy: Policy) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of every subject and the overall ones."""
    rankings = [rank(tally, counted, policy.alpha) for tally in counted.guesses]
    subjects = _primary(counted, rankings, policy) | _mixing(counted, rankings)
    subjects |= _graphs(counted, rankings, policy)
    alpha, beta, slack = policy.alpha.value, policy.beta.value, subjects.pop("slack")
    start, linked, mixed = subjects["graph_start"], subjects["linked"], subjects["mixed"]
    merges, mixed_there = beta_points(start, linked, mixed, beta, slack)
    linked0, mixed0 = linked[start[:-1]], mixed[start[:-1]]
    breached = linked0 >= beta - slack
    slope = risk_slope(alpha, beta, mixed_there, merges)
    at_breach = alpha + (1 - alpha) * (mixed0 > 0) if policy.limit_at_breach else np.nan
    subjects |= {
        "alpha": alpha,
        "beta": beta,
        "contamination_desirable": policy.contamination_desirable,
        "size": counted.truth.sizes,
        "linked0": linked0,
        "mixed0": mixed0,
        "breached": breached,
        "merges": merges,
        "risk_slope": np.where(breached, at_breach, slope),
    }
    return subjects, _overall(counted, subjects, policy)


def rank(tally: Tally, counted: Tallies, alpha: ExactShares) -> Ranking:
    """Order related clusters by cost ``alpha * miss + (1 - alpha) * include``.

    Costs are whole numbers.

    The paper's priority is one over the cost, which may be zero: nothing is divided here.
    """
    table = tally.table
    price_missed, price_foreign = tally.tiled(alpha.numerator), tally.tiled(alpha.denominator - alpha.numerator)
    counts = (tally.own, tally.foreign, tally.tiled(counted.own_total), price_missed, price_foreign)
    dearest = int(price_missed.max()) * int(counted.own_total.max()) + int(price_foreign.max()) * int(
        tally.foreign.max()
    )
    room = max(int(counted.own_total.max()), int(tally.foreign.max())) + 1
    if dearest * room >= _LARGEST_INTEGER:
        room = 0
    # Python's own integers do not overflow; they must not meet those of numpy, which do.
    if dearest >= _LARGEST_INTEGER or price_foreign.dtype == object:
        counts = tuple(numbers.astype(object) for numbers in counts)  # type: ignore[assignment]
    order, tied = order_cells(table.row_start, *counts, room)
    best_start = np.cumsum(tied) - tied
    best = order[np.repeat(table.row_start[:-1] - best_start, tied) + np.arange(int(tied.sum()))]
    return Ranking(order, tied, best, best_start)


def errors(tally: Tally, ranking: Ranking, counted: Tallies) -> tuple[FloatArray, FloatArray]:
    """Return miss and include errors of the most relevant cluster."""
    whole = ranking.tied * counted.grid
    missed = ranking.tied * tally.tiled(counted.own_total) - ranking.sum(tally.own)
    return missed / whole, ranking.sum(tally.foreign) / whole


def _primary(counted: Tallies, rankings: list[Ranking], policy: Policy) -> dict[str, Any]:
    rows = counted.own_total.size
    miss, include, related = np.zeros(rows), np.zeros(rows), np.zeros(rows)
    for tally, ranking in zip(counted.guesses, rankings, strict=True):
        missed, included = errors(tally, ranking, counted)
        miss += tally.mean(missed)
        include += tally.mean(included)
        related += tally.mean(np.diff(tally.table.row_start))
    alpha = policy.alpha.value
    error = alpha * miss + (1 - alpha) * include
    n = counted.truth.n
    normalized = error / (n - 1) if n > 1 else np.full(rows, np.nan)
    return {"related": related, "miss": miss, "include": include, "error": error, "normalized_error": normalized}


def _mixing(counted: Tallies, rankings: list[Ranking]) -> dict[str, Any]:
    """Return other subjects in the most relevant cluster, and their evenness.

    Both are averages over ties and views.
    """
    rows = counted.own_total.size
    others, evenness, defined = np.zeros(rows), np.zeros(rows), np.zeros(rows)
    for tally, ranking in zip(counted.guesses, rankings, strict=True):
        count, even = _crowd(tally.table, ranking.best)
        others += tally.mean(np.add.reduceat(count, ranking.best_start) / ranking.tied)
        evenness += tally.mean(np.add.reduceat(even, ranking.best_start) / ranking.tied)
        defined += tally.mean(np.add.reduceat(count > 0, ranking.best_start, dtype=np.float64) / ranking.tied)
    with np.errstate(invalid="ignore"):
        return {"others": others, "others_evenness": np.where(defined > 0, evenness / defined, np.nan)}


def _crowd(table: Contingency, cells: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return other subjects per cell, and their effective share.

    The effective number is 2 to the entropy of the items of other subjects by subject; with one other subject it is 1.
    """
    subjects, bits = column_crowds(table.column, table.count, table.column_total.size)
    others = subjects[table.column[cells]] - 1
    evenness = np.where(others > 0, 1.0, 0.0)
    several = np.flatnonzero(others > 1)
    if several.size:
        column, own = table.column[cells[several]], table.count[cells[several]]
        foreign = table.column_total[column] - own
        entropy = np.log2(foreign) - (bits[column] - own * np.log2(own)) / foreign
        evenness[several] = np.minimum(1.0, np.exp2(np.maximum(0.0, entropy)) / others[several])
    return others.astype(np.float64), evenness


def _graphs(counted: Tallies, rankings: list[Ranking], policy: Policy) -> dict[str, Any]:
    """Return the linked and mixed graphs of all subjects.

    Numerators stay whole numbers, also over a view with a common denominator, so that each share is ONE division
    and meets beta exactly where it should.
    """
    common = lcm(*(p.denominator for p in counted.probabilities))
    exact = common * counted.truth.n * counted.grid < _LARGEST_IN_A_FLOAT
    scale = common if exact else 1
    steps = counted.steps()
    start = np.concatenate([[0], np.cumsum(steps)])
    linked, mixed = np.full((2, start[-1]), 0.0)  # np.zeros would get its memory in small pages, which takes longer
    for tally, ranking in zip(counted.guesses, rankings, strict=True):
        gain = gains(tally, ranking.order, policy.mixing)
        add_graphs(linked, mixed, start, tally.table.row_start, ranking.order, tally.own, gain, tally.share(scale))
    whole = policy.wholes(counted)
    divide_rows(start, linked, scale * whole.base, scale * whole.own, 1.0)
    divide_rows(start, mixed, np.zeros(steps.size), scale * whole.foreign, 0.0)
    if not exact:  # probabilities that are rounded must not make a trace of items of other subjects out of none
        linked, mixed = snap(linked), snap(mixed)
    if policy.contamination_desirable.any():
        mixed = np.where(np.repeat(policy.contamination_desirable, steps), 1 - mixed, mixed)
    return {"graph_start": start, "linked": linked, "mixed": mixed, "slack": 0.0 if exact else ROUNDING}


def snap(graph: FloatArray) -> FloatArray:
    """Return the graph with 0 and 1 restored after rounding."""
    return np.where(graph > 1 - ROUNDING, 1.0, np.where(graph < ROUNDING, 0.0, graph))


def _overall(counted: Tallies, subjects: dict[str, Any], policy: Policy) -> dict[str, Any]:
    alpha, beta = policy.overall()
    miss, include = float(subjects["miss"].sum()), float(subjects["include"].sum())
    linked = mean_graph(subjects["graph_start"], subjects["linked"], counted.longest)
    mixed = mean_graph(subjects["graph_start"], subjects["mixed"], counted.longest)
    merges, mixed_there = beta_point(linked, mixed, np.array([beta]))
    breached = bool(linked[0] >= beta - ROUNDING)
    slope = float(risk_slope(alpha, beta, mixed_there, merges)[0])
    limit = alpha + (1 - alpha) * bool(mixed[0] > 0) if policy.limit_at_breach else np.nan
    count = int(subjects["breached"].sum())
    same = isclose(miss, include, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return {
        "alpha": alpha,
        "beta": beta,
        "miss": miss,
        "include": include,
        "kind": "neutral" if same else "conservative" if miss > include else "liberal",
        "normalized_error": float(subjects["normalized_error"].mean()),
        "linked": linked,
        "mixed": mixed,
        "breached": breached,
        "merges": float(merges[0]),
        "risk_slope": limit if breached else slope,
        "breached_subjects": count,
        "breached_share": count / subjects["breached"].size,
    }


def beta_point(linked: FloatArray, mixed: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the merges that reach each beta, and the mixed share there."""
    after = np.minimum(np.searchsorted(linked, beta - ROUNDING), linked.size - 1)
    before = np.maximum(after - 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(after > 0, np.minimum(1.0, (beta - linked[before]) / (linked[after] - linked[before])), 0.0)
    return before + part, mixed[before] + part * (mixed[after] - mixed[before])


def risk_slope(alpha: Any, beta: Any, mixed_there: FloatArray, merges: FloatArray) -> FloatArray:
    """Return the risk slope, 0 (far from a breach) to 1."""
    slope: FloatArray = 2 / pi * (alpha * np.arctan2(beta, merges) + (1 - alpha) * np.arctan2(mixed_there, merges))
    return slope

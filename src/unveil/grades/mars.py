"""Multivariate adaptive regression splines: sums of hinges and indicators.

After J. H. Friedman, "Multivariate adaptive regression splines", The Annals of Statistics 19 (1991), 1-67.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unveil._figure import derived, figure
from unveil._kernels.types import BoolArray, FloatArray
from unveil.errors import InputError

# A column of which less than this share (of its sum of squares) is new says nothing that the model does not say.
_NEW = 1e-8
# Gains this near are a tie: the first is taken, so that rounding decides nothing.
_TIE = 1e-7
# A sum of squares below this share of the total is rounding: the fit is perfect.
_PERFECT = 1e-14


@dataclass(frozen=True)
class Hinge:
    """Hinge ``max(0, ±(x - knot))`` of a feature, or an indicator."""

    feature: int
    name: str
    knot: float
    rising: bool = True
    indicator: bool = False

    def of(self, features: FloatArray) -> FloatArray:
        """Return its value for each row of the features."""
        away = features[:, self.feature] - self.knot
        return np.maximum(0.0, away if self.rising else -away)

    def text(self, digits: int = 6) -> str:
        """Return the hinge as text, its knot with N digits.

        >>> Hinge(0, "nodes", 7118).text(), Hinge(0, "nodes", -3, rising=False).text(), Hinge(0, "nodes", -3).text()
        ('max(0, nodes - 7118)', 'max(0, -3 - nodes)', 'max(0, nodes + 3)')
        """
        if self.indicator:
            return self.name
        if not self.rising:
            return f"max(0, {self.knot:.{digits}g} - {self.name})"
        return f"max(0, {self.name} {'+' if self.knot < 0 else '-'} {abs(self.knot):.{digits}g})"


@dataclass(frozen=True)
class MarsTerm:
    """Summand: coefficient times a product of hinges.

    ``importance`` is by how much R² falls when all terms of the same features are left out and the rest is fitted anew.
    """

    hinges: tuple[Hinge, ...]

    @derived("Factor, or part of its range, in the term.", name="factor")
    def text(self) -> str:
        """Product of hinges as text."""
        return " * ".join(hinge.text() for hinge in self.hinges)

    coefficient: float = figure("Change of the score per unit of the term.")
    importance: float = figure("Increase of the GCV without it.")

    def written(self, digits: int = 2) -> str:
        """Return the summand with its sign, as it stands in a formula."""
        parts = [f"{abs(self.coefficient):.{digits}g}", *(hinge.text(max(6, digits)) for hinge in self.hinges)]
        return f"{'-' if self.coefficient < 0 else '+'} {' * '.join(parts)}"


@dataclass(frozen=True, kw_only=True)
class Mars:
    """A fitted sum of terms, the most important ones first.

    Attributes
    ----------
    intercept, terms
        What is predicted is the intercept plus all terms.
    r_squared
        The share of the response's variance that is explained, from 0 to 1; NaN if the response does not vary.
    gcv
        The mean squared error, raised by the generalised cross validation for the number of terms.
    rows
        How many rows it was fitted to.
    """

    intercept: float = figure("Intercept of the prediction.")
    r_squared: float = figure(
        "Share of the response's variance explained, from 0 to 1; null if the response does not vary."
    )
    gcv: float = figure("Generalized cross-validation error: mean squared error with a penalty for terms.")
    terms: tuple[MarsTerm, ...] = figure("Terms of the prediction, in addition to the intercept.")
    rows: int

    def predict(self, features: ArrayLike) -> FloatArray:
        """Return the predicted response of each row of features."""
        table = np.asarray(features, np.float64)
        total = np.full(table.shape[0], self.intercept)
        for term in self.terms:
            total += term.coefficient * _product(term.hinges, table)
        return total

    def formula(self, response: str = "response", *, digits: int = 2) -> str:
        """Return the model as text, one line per term, with N digits."""
        lines = [f"{self.intercept:.{digits}g}", *(term.written(digits) for term in self.terms)]
        return f"{response} =\n" + "\n".join(f"  {line}" for line in lines)


class _MarsSettings(NamedTuple):
    most_terms: int
    penalty: float
    interactions: int
    least_gain: float
    most_knots: int


def fit_mars(
    features: ArrayLike,
    names: Sequence[str],
    response: ArrayLike,
    *,
    most_terms: int | None = None,
    penalty: float = 3.0,
    interactions: int = 1,
    least_gain: float = 0.001,
    most_knots: int = 50,
) -> Mars:
    """Fit a sum of hinges: grow term by term, then prune.

    Forward, the feature and knot are found whose two hinges lower the sum of squares most, and both are added; a
    feature that is only 0 or 1 is an indicator and enters as it is. Backward, the term that is missed least is removed
    again and again; of all models on the way the one with the least ``GCV = (RSS / n) / (1 - C / n)²`` is returned,
    where ``C = terms + penalty * (terms - 1)``, the intercept being a term.

    Parameters
    ----------
    features
        One row per observation, one column per feature; all finite. A constant column is never used, and of columns
        that say the same the first is.
    names
        The name of each feature.
    response
        One finite number per row. The order of the rows does not matter.
    most_terms
        Where growing ends, the intercept included; None for twice the features, from 21 to 201.
    penalty
        What the search for a feature and knot costs, in terms; Friedman found 2 to 4 best.
    interactions
        How many features a term may have: 1 for a sum of functions of one feature each, 2 for products of two.
    least_gain
        Growing also ends when R² rises by less than this.
    most_knots
        Knots are values that the feature has; of a feature with more values than this, its quantiles.

    Raises
    ------
    InputError
        If the shapes do not fit, something is not finite, or a setting is out of its range.

    Examples
    --------
    >>> size = np.arange(20.0)
    >>> social = np.tile([1.0, 0.0], 10)
    >>> model = fit_mars(np.column_stack([size, social]), ["size", "social"], 2 + np.maximum(0, size - 7) - social)
    >>> print(model.formula("score"))
    score =
      2
      + 1 * max(0, size - 7)
      - 1 * social
    >>> round(model.r_squared, 6)
    1.0
    """
    table, values = np.asarray(features, np.float64), np.asarray(response, np.float64)
    _check(table, names, values)
    terms = min(201, max(21, 2 * len(names) + 1)) if most_terms is None else most_terms
    settings = _MarsSettings(terms, penalty, interactions, least_gain, most_knots)
    for setting, value in settings._asdict().items():
        least = 0 if setting in ("penalty", "least_gain") else 1
        if not least <= value < inf:
            raise InputError(f"{setting} must be at least {least}, but is {value!r}. Raise it")
    if values.size == 0 or np.ptp(values) == 0:
        constant = float(values[0]) if values.size else nan
        return Mars(intercept=constant, terms=(), r_squared=nan, gcv=0.0 if values.size else nan, rows=values.size)
    rows = _distinct(table, values)
    basis = _Growth(rows, _hinges(table, names, most_knots)).grown(settings)
    return _pruned(rows, basis, penalty)


def _check(table: FloatArray, names: Sequence[str], values: FloatArray) -> None:
    if table.ndim != 2 or values.ndim != 1 or table.shape != (values.size, len(names)):
        raise InputError(
            "features must have one row per response and one column per name, but their shape is "
            f"{table.shape} for {values.size} responses and {len(names)} names. Pass tables that fit"
        )
    if not (np.isfinite(table).all() and np.isfinite(values).all()):
        raise InputError("features and responses must be finite, but some are not. Leave those rows or columns out")


class _Rows(NamedTuple):
    """Distinct feature rows with their frequency and mean response."""

    features: FloatArray
    root: FloatArray  # of how often it is there: what rows are multiplied with for weighted least squares
    response: FloatArray  # less the mean of all
    mean: float
    number: int
    within: float  # the sum of squares among equal rows, which nothing explains
    total: float


def _distinct(table: FloatArray, values: FloatArray) -> _Rows:
    order = np.lexsort((values, *table.T[::-1]))
    table, values = table[order], values[order]
    mean = float(values.mean())
    values = values - mean
    first = np.flatnonzero(np.r_[True, (table[1:] != table[:-1]).any(axis=1)])
    counts = np.diff(np.r_[first, values.size])
    means = np.add.reduceat(values, first) / counts
    within = float(((values - np.repeat(means, counts)) ** 2).sum())
    total = within + float((counts * means**2).sum())
    return _Rows(table[first], np.sqrt(counts), means, mean, values.size, within, total)


def _hinges(table: FloatArray, names: Sequence[str], at_most: int) -> list[Hinge]:
    """Return the increasing hinge of every knot."""
    found = []
    for number, name in enumerate(names):
        column = table[:, number]
        knots = np.unique(column)
        if knots.size > at_most + 1:
            knots = np.unique(np.quantile(column, np.linspace(0, 1, at_most + 1), method="inverted_cdf"))
        indicator = knots.size == 2 and tuple(knots) == (0.0, 1.0)
        found += [Hinge(number, name, float(knot), indicator=indicator) for knot in knots[:-1]]
    return found


def _product(hinges: tuple[Hinge, ...], table: FloatArray) -> FloatArray:
    found = np.ones(table.shape[0])
    for hinge in hinges:
        found *= hinge.of(table)
    return found


@dataclass
class _Growth:
    """Forward pass: updated gains of all candidate terms.

    A candidate is a parent (a term of the model) times a hinge. Of its part that is orthogonal to the model, ``size``
    is the sum of squares, ``toward`` the product with the residual, and ``across`` the product with the other hinge of
    its pair. One row per parent; one column per hinge, first all rising ones, then their mirror images.
    """

    rows: _Rows
    hinges: list[Hinge]
    terms: list[tuple[Hinge, ...]] = field(default_factory=lambda: [()])

    def __post_init__(self) -> None:
        features, root = self.rows.features, self.rows.root
        away = [features[:, hinge.feature] - hinge.knot for hinge in self.hinges]
        both = np.maximum(0.0, np.array([*away, *(-each for each in away)]).reshape(2 * len(away), root.size))
        self.columns = np.ascontiguousarray((both * root).T)
        self.residual = root * self.rows.response
        self.model = (root / np.linalg.norm(root))[None, :]
        self.parents: list[tuple[Hinge, ...]] = []
        self.parent_values = np.empty((0, root.size))
        self.whole, self.size, self.toward = (np.empty((0, both.shape[0])) for _ in range(3))
        self.across = np.empty((0, len(self.hinges)))
        self._add_parent(())

    def grown(self, settings: _MarsSettings) -> list[tuple[Hinge, ...]]:
        """Return the terms, the intercept first."""
        while self.hinges and float(self.residual @ self.residual) > _PERFECT * self.rows.total:
            alone, gain, pairs = self._gains()
            best = gain.max()
            if best <= 0 or best < settings.least_gain * self.rows.total:
                break
            parent, hinge = map(int, np.unravel_index(int(np.argmax(gain >= best * (1 - _TIE))), gain.shape))
            chosen: tuple[int, ...] = (hinge, hinge + len(self.hinges))
            if not pairs[parent, hinge]:
                rising, falling = alone[parent, chosen]
                chosen = chosen[:1] if rising >= falling * (1 - _TIE) else chosen[1:]
            if len(self.terms) + len(chosen) > settings.most_terms:
                break
            for column in chosen:
                self._add(parent, column, settings.interactions)
        return self.terms

    def _gains(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return the reduction in squares by each hinge and new pair."""
        half = len(self.hinges)
        new = self.size > _NEW * self.whole
        alone = np.divide(self.toward**2, self.size, out=np.zeros_like(self.size), where=new)
        (one, other), (a, b) = np.hsplit(self.size, [half]), np.hsplit(self.toward, [half])
        area = one * other - self.across**2
        pairs = new[:, :half] & new[:, half:] & (area > _NEW * one * other)
        both = other * a**2 - 2 * self.across * a * b + one * b**2
        single = np.maximum(alone[:, :half], alone[:, half:])
        return alone, np.divide(both, area, out=single, where=pairs), pairs

    def _add(self, parent: int, column: int, interactions: int) -> None:
        """Add a term to the model, and update all candidates."""
        direction = self.parent_values[parent] * self.columns[:, column]
        for _ in range(2):  # a second time, because the first leaves rounding
            direction = direction - self.model.T @ (self.model @ direction)
        direction /= np.linalg.norm(direction)
        step = float(direction @ self.residual)
        self.residual = self.residual - step * direction
        self.model = np.vstack([self.model, direction])
        with_it = (self.parent_values * direction) @ self.columns
        half = len(self.hinges)
        self.size -= with_it**2
        self.across -= with_it[:, :half] * with_it[:, half:]
        self.toward -= step * with_it
        self.size[parent, column] = 0.0  # it is in the model, whatever rounding left
        hinge = self.hinges[column % half]
        term = (*self.parents[parent], hinge if column < half else Hinge(hinge.feature, hinge.name, hinge.knot, False))
        self.terms.append(term)
        if len(term) < interactions:
            self._add_parent(term)

    def _add_parent(self, term: tuple[Hinge, ...]) -> None:
        """Let the products of a term with every hinge of other features be candidates."""
        values = _product(term, self.rows.features)
        half = len(self.hinges)
        with_model = (self.model * values) @ self.columns
        whole = np.einsum("i,ij,ij->j", values**2, self.columns, self.columns)
        used = {hinge.feature for hinge in term}
        whole[np.tile([hinge.feature in used for hinge in self.hinges], 2).astype(bool)] = 0.0
        self.parents.append(term)
        self.parent_values = np.vstack([self.parent_values, values])
        self.whole = np.vstack([self.whole, whole])
        self.size = np.vstack([self.size, whole - (with_model**2).sum(axis=0)])
        self.toward = np.vstack([self.toward, (self.residual * values) @ self.columns])
        # The two hinges of a pair are never above 0 together, so that their product is 0 before the model is taken out.
        self.across = np.vstack([self.across, -(with_model[:, :half] * with_model[:, half:]).sum(axis=0)])


class _Fit(NamedTuple):
    coefficients: FloatArray
    squares: float  # the residual sum of squares
    rises: FloatArray  # by how much that rises without each column


def _least_squares(columns: FloatArray, target: FloatArray) -> _Fit:
    """Return the fit of columns that are independent of one another."""
    directions, upper = np.linalg.qr(columns)
    inverse = np.linalg.inv(upper)
    along = directions.T @ target
    coefficients = inverse @ along
    left = target - directions @ along
    return _Fit(coefficients, float(left @ left), coefficients**2 / (inverse**2).sum(axis=1))


def _pruned(rows: _Rows, basis: list[tuple[Hinge, ...]], penalty: float) -> Mars:
    """Return the best submodel of the backward pass."""
    design = rows.root[:, None] * np.column_stack([_product(term, rows.features) for term in basis])
    scale = np.linalg.norm(design, axis=0)
    # The sums of squares of all smaller models are in this triangle, whatever the number of rows.
    triangle = np.asarray(np.linalg.qr(np.column_stack([design / scale, rows.root * rows.response]), mode="r"))
    columns, target = triangle[:, :-1], triangle[:, -1]
    kept = list(range(len(basis)))
    best, least = kept, inf
    while True:
        fit = _least_squares(columns[:, kept], target)
        gcv = _gcv(fit.squares, len(kept), rows, penalty)
        if gcv <= least:
            best, least = kept, gcv
        if len(kept) == 1:
            break
        rises = fit.rises[1:]
        near = np.flatnonzero(rises <= rises.min() * (1 + _TIE))
        kept = [each for place, each in enumerate(kept) if place != near[-1] + 1]
    fit = _least_squares(columns[:, best], target)
    found = fit.coefficients / scale[best]
    used = [{hinge.feature for hinge in term} for term in basis]
    terms = []
    for place, coefficient in zip(best[1:], found[1:], strict=True):
        without = _least_squares(columns[:, [each for each in best if used[each] != used[place]]], target)
        terms.append(MarsTerm(basis[place], float(coefficient), (without.squares - fit.squares) / rows.total))
    terms.sort(key=lambda term: (-round(term.importance, 9), [(hinge.feature, hinge.knot) for hinge in term.hinges]))
    explained = 1 - (fit.squares + rows.within) / rows.total
    return Mars(
        intercept=float(found[0]) + rows.mean,
        terms=tuple(terms),
        r_squared=max(0.0, explained),
        gcv=least,
        rows=rows.number,
    )


def _gcv(squares: float, terms: int, rows: _Rows, penalty: float) -> float:
    """Return the generalized cross-validation error, infinite if overfitted."""
    spent = terms + penalty * (terms - 1)
    left = max(squares + rows.within, _PERFECT * rows.total)
    return left / rows.number / (1 - spent / rows.number) ** 2 if spent < rows.number else inf

"""Regression splines by trying everything: a least-squares fit of every model at every step, however slow."""

from math import inf

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Column = tuple[frozenset[int], Floats]  # the features of a term, and its values


def squares(columns: list[Floats], response: Floats) -> float:
    """Return the residual sum of squares of a least-squares fit."""
    design = np.column_stack(columns)
    design = design / np.linalg.norm(design, axis=0)
    left = response - design @ np.linalg.lstsq(design, response, rcond=1e-8)[0]
    return float(left @ left)


def forward(features: Floats, response: Floats, steps: int, interactions: int = 1) -> list[float]:
    """Return the residual sum of squares of the intercept, and after each step that adds the best pair of hinges."""
    model: list[Column] = [(frozenset(), np.ones(response.size))]
    path = [squares([model[0][1]], response)]
    for _ in range(steps):
        tried: list[tuple[float, list[Column]]] = []
        for used, parent in model:
            for feature in sorted(set(range(features.shape[1])) - used) if len(used) < interactions else ():
                for knot in np.unique(features[:, feature])[:-1]:
                    away = features[:, feature] - knot
                    added = list(model)
                    for column in (parent * np.maximum(0, away), parent * np.maximum(0, -away)):
                        if is_new(column, [each for _, each in added]):
                            added.append((used | {feature}, column))
                    tried.append((path[-1] - squares([column for _, column in added], response), added))
        best = max(gain for gain, _ in tried)
        # Of those that gain the same, the first.
        gain, model = next(each for each in tried if each[0] >= best * (1 - 1e-7))
        path.append(path[-1] - gain)
    return path


def is_new(column: Floats, columns: list[Floats]) -> bool:
    """Return whether a column is no sum of multiples of others."""
    return bool(column.any()) and squares(columns, column) > 1e-8 * float(column @ column)


def backward(columns: list[Floats], response: Floats, penalty: float) -> float:
    """Return the least generalised cross validation among the models that lose one term after another."""
    rows, best = response.size, inf
    while columns:
        spent = len(columns) + penalty * (len(columns) - 1)
        if spent < rows:
            best = min(best, squares(columns, response) / rows / (1 - spent / rows) ** 2)
        rest = [columns[:place] + columns[place + 1 :] for place in range(1, len(columns))]
        columns = min(rest, key=lambda each: squares(each, response), default=[])
    return best

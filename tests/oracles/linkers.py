"""Slow, obvious answers to who is linked with whom, and people who are not easily told apart."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import exp, floor
from statistics import pstdev
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unveil.guesses import Candidates

Cells = Sequence[Any]


def found(guess: Candidates) -> list[dict[int, float]]:
    """The candidates of each target with their probabilities."""
    return [
        dict(zip(guess.candidate[a:b].tolist(), guess.probability[a:b].tolist(), strict=True))
        for a, b in pairwise(guess.start.tolist())
    ]


def rank_candidates(original: Sequence[Cells], released: Sequence[Cells], p: float) -> list[set[int]]:
    """The original rows within the window of each released row in every column; columns of cells, None for missing."""
    rows = [set(range(len(original[0]))) for _ in released[0]]
    for known, seen in zip(original, released, strict=True):
        filled = [sorted(cell for cell in column if cell is not None) for column in (seen, known)]
        ranked = filled[0] if len(filled[0]) >= len(filled[1]) else filled[1]
        window = floor(Fraction(str(p)) * len(ranked) / 100)
        for target, cell in enumerate(seen):
            rows[target] &= {i for i, other in enumerate(known) if _within(cell, other, ranked, window)}
    return rows


def _within(one: Any, other: Any, ranked: Cells, window: int) -> bool:
    if one is None or other is None:
        return one is None and other is None
    return any(abs(a - b) <= window for a in _ranks(one, ranked) for b in _ranks(other, ranked))


def _ranks(cell: Any, ranked: Cells) -> list[Fraction]:
    """The ranks that a value has; between two ranks if it is not there, so that the next whole window reaches it."""
    own = [Fraction(place) for place, other in enumerate(ranked) if other == cell]
    return own or [Fraction(sum(other < cell for other in ranked)) - Fraction(1, 2)]


def fitting_rows(original: Sequence[Cells], released: Sequence[Cells], reach: Sequence[float]) -> list[set[int]]:
    """The original rows that each released row can come from: near enough, equal, in the list, or left open."""
    rows = [set(range(len(original[0]))) for _ in released[0]]
    for known, seen, most in zip(original, released, reach, strict=True):
        for target, cell in enumerate(seen):
            rows[target] &= {i for i, other in enumerate(known) if _fits(cell, other, most)}
    return rows


def _fits(cell: Any, other: Any, reach: float) -> bool:
    if cell is None or cell == "*":
        return True
    if other is None:
        return False
    return other in cell.split(" | ") if isinstance(cell, str) else abs(cell - other) <= reach


def softmax(original: Sequence[Cells], released: Sequence[Cells], s: float) -> list[list[float]]:
    """One line per released row: exp(-d² / 2s²) of each original row over the sum of all."""
    pairs = list(zip(original, released, strict=True))
    lines = []
    for target in range(len(released[0])):
        squared = [sum(_squared(known, row, seen[target]) for known, seen in pairs) for row in range(len(original[0]))]
        lines.append(_normalized([exp(-one / 2 / s**2) for one in squared]))
    return lines


def _squared(known: Cells, row: int, cell: Any) -> float:
    if known[row] is None or cell is None or isinstance(cell, str):
        return float(known[row] != cell)
    values = [value for value in known if value is not None]
    spread = pstdev(values)
    return ((known[row] - cell) / spread) ** 2 if spread else 0.0


def bayes_factors(original: Sequence[Cells], released: Sequence[Cells], rounds: int = 1000) -> list[list[float]]:
    """One line per released row: the Bayes factor of each original row over the sum of all, columns equal or not.

    u is counted over all pairs; m by EM in which each released row has one match, and one imagined pair agrees by lot.
    """
    size, count, columns = len(original[0]), len(released[0]), len(original)
    level = [
        [
            [None if None in (x, y) else x == y for x, y in ((original[c][i], released[c][j]) for c in range(columns))]
            for i in range(size)
        ]
        for j in range(count)
    ]
    u = []
    for c in range(columns):
        known = [bool(level[j][i][c]) for j in range(count) for i in range(size) if level[j][i][c] is not None]
        u.append(sum(known) / len(known) if known else 0.0)
    m = [0.9 + 0.1 * by_lot if by_lot > 0 else 0.0 for by_lot in u]
    for _ in range(rounds):
        lines = [_normalized([_factor(level[j][i], m, u) for i in range(size)]) for j in range(count)]
        for c in range(columns):
            pairs = [(lines[j][i], level[j][i][c]) for j in range(count) for i in range(size)]
            total = sum(weight for weight, agrees in pairs if agrees is not None) + 1
            m[c] = (sum(weight for weight, agrees in pairs if agrees) + u[c]) / total
    return lines


def _factor(levels: Sequence[bool | None], m: Sequence[float], u: Sequence[float]) -> float:
    factor = 1.0
    for agrees, match, chance in zip(levels, m, u, strict=True):
        if agrees is not None:
            factor *= match / chance if agrees else (1 - match) / (1 - chance)
    return factor


def _normalized(weights: Sequence[float]) -> list[float]:
    return [weight / sum(weights) for weight in weights]


def person_file(size: int, *, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame, NDArray[np.int64]]:
    """Return a register of people, a second one with slips of the pen in another order, and whose its rows are.

    People live in households, which share the surname, the street and the town; few names are very frequent. So pairs
    agree in several columns at once that are not one person: what EM finds that may choose freely.
    """
    household = np.sort(rng.integers(0, size // 3, size))
    houses = size // 3
    surname = _zipf(houses, size // 6, rng)[household]
    street = rng.integers(0, size // 8, houses)[household]
    town = street // 12
    year = rng.integers(1935, 2015, size)
    first = _zipf(size, 250, rng)
    frame = pl.DataFrame(
        {
            "first": [f"f{k}" for k in first],
            "surname": [f"s{k}" for k in surname],
            "day": [f"{k:02}" for k in rng.integers(1, 29, size)],
            "month": [f"m{k}" for k in rng.integers(1, 13, size)],
            "year": [f"y{k}" for k in year],
            "street": [f"r{k}" for k in street],
            "town": [f"t{k}" for k in town],
        }
    )
    truth = rng.permutation(size)
    second = frame[truth].with_columns(_with_slips(frame[name][truth], rng) for name in frame.columns)
    return frame, second, truth


def _zipf(size: int, kinds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    weight = 1 / np.arange(1, kinds + 1)
    return rng.choice(kinds, size, p=weight / weight.sum())


def _with_slips(cells: pl.Series, rng: np.random.Generator) -> pl.Series:
    """One cell in twenty holds something else (half of them a value of somebody else), one in fifty nothing."""
    lot = rng.random(cells.len())
    other = cells[rng.permutation(cells.len())].to_list()
    made = [
        None if draw < 0.02 else (f"{cell}x" if draw < 0.045 else (strange if draw < 0.07 else cell))
        for cell, strange, draw in zip(cells.to_list(), other, lot.tolist(), strict=True)
    ]
    return pl.Series(cells.name, made, pl.String)


def free_links(
    first: pl.DataFrame, second: pl.DataFrame, blocks: Sequence[Sequence[str]], rounds: int = 200
) -> list[tuple[int, int]]:
    """Return the links of EM that learns m, u and the share of matches all at once from blocked pairs.

    This is the textbook way: pairs above one half are links. Links are (row of the second, row of the first).
    """
    pairs = _blocked(first, second, blocks)
    agrees = np.column_stack(
        [(second[name][pairs[:, 0]] == first[name][pairs[:, 1]]).fill_null(False).to_numpy() for name in first.columns]
    )
    bits = 1 << np.arange(agrees.shape[1])
    codes, which, count = np.unique(agrees @ bits, return_inverse=True, return_counts=True)
    patterns = codes[:, None] // bits % 2 == 1
    m, u, share = np.full(agrees.shape[1], 0.9), np.full(agrees.shape[1], 0.1), 0.1
    for _ in range(rounds):
        one = share * np.where(patterns, m, 1 - m).prod(axis=1)
        other = (1 - share) * np.where(patterns, u, 1 - u).prod(axis=1)
        weight = count * one / (one + other)
        m = ((weight @ patterns) / weight.sum()).clip(1e-6, 1 - 1e-6)
        u = (((count - weight) @ patterns) / (count - weight).sum()).clip(1e-6, 1 - 1e-6)
        share = weight.sum() / count.sum()
    chosen = (one / (one + other) > 0.5)[which.ravel()]
    return [(int(target), int(row)) for target, row in pairs[chosen]]


def _blocked(first: pl.DataFrame, second: pl.DataFrame, blocks: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    parts = [
        second.with_row_index("j")
        .select("j", *block)
        .drop_nulls()
        .join(first.with_row_index("i").select("i", *block), on=list(block))
        .select("j", "i")
        for block in blocks
    ]
    return pl.concat(parts).unique().sort("j", "i").to_numpy().astype(np.int64)

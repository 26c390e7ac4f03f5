"""Slow, obvious answers to who is linked with whom, and people who are not easily told apart."""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unveil.guess import Candidates

Cells = Sequence[Any]


def found(guess: Candidates) -> list[dict[int, float]]:
    """The candidates of each target with their probabilities."""
    return [
        dict(zip(guess.candidate[a:b].tolist(), guess.probability[a:b].tolist(), strict=True))
        for a, b in pairwise(guess.start.tolist())
    ]


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

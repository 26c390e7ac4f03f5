"""Make synthetic rows by a tree for each column, whose leaves draw from their few people; nothing keeps it private.

    python cart.py people.csv made.csv [leaf] [--seed 1]

Columns are made from left to right. A tree (CART) guesses each from those before it, and a made person gets the value
of one of the people in the same leaf, of whom there are at least ``leaf``: the fewer, the more of them is told.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Rows = NDArray[np.int64]
Numbers = NDArray[np.float64]


def made_rows(people: pl.DataFrame, leaf: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return as many made people as there are; each cell is that of somebody in the same leaf."""
    numbers = np.column_stack([as_numbers(cells) for cells in people.iter_columns()])
    # Whose cell each made person has, column by column; the first is anybody's.
    donors = rng.integers(0, people.height, (people.height, 1))
    for place, cells in enumerate(people.iter_columns()):
        if place:
            kind = DecisionTreeRegressor if cells.dtype.is_numeric() else DecisionTreeClassifier
            tree = kind(min_samples_leaf=leaf, random_state=int(rng.integers(2**31)))
            tree.fit(numbers[:, :place], numbers[:, place])
            made = np.column_stack([numbers[donors[:, before], before] for before in range(place)])
            donors = np.column_stack([donors, drawn(tree.apply(numbers[:, :place]), tree.apply(made), rng)])
    return pl.DataFrame([cells[donors[:, place]] for place, cells in enumerate(people.iter_columns())])


def drawn(leaves: Rows, of_made: Rows, rng: np.random.Generator) -> Rows:
    """Return for each made person somebody in the same leaf."""
    order = np.argsort(leaves, kind="stable")
    low, high = (np.searchsorted(leaves[order], of_made, side=side) for side in ("left", "right"))
    return order[rng.integers(low, high)]


def as_numbers(cells: pl.Series) -> Numbers:
    """Return the place of each value among those of its column, and 0 for what is missing."""
    return cells.rank("dense").fill_null(0).cast(pl.Float64).to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("people", type=Path)
    parser.add_argument("made", type=Path)
    parser.add_argument("leaf", type=int, nargs="?", default=5)
    parser.add_argument("--seed", type=int)
    told = parser.parse_args()
    people = pl.read_csv(told.people, infer_schema_length=None)
    made_rows(people, told.leaf, np.random.default_rng(told.seed)).write_csv(told.made)


if __name__ == "__main__":
    main()

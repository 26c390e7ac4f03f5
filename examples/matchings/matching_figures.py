"""What the figures on matchings share: options, all matchings of many small matrices at once, and where results go."""

import argparse
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# How many numbers an array of intermediate results may hold: 32 MB.
_AT_ONCE = 4_000_000


class Matched(NamedTuple):
    """What all matchings of each matrix say, with the matrices along the first axis.

    ``marginal`` is the chance of each edge to be in a matching drawn in proportion to its weight, and ``error`` the
    heuristic H minus the metric Ψ for each truth that is possible at all, in the order of ``truths``.
    """

    permanent: Floats
    marginal: Floats
    error: Floats


def options(description: str, *, small: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have; ``small`` says what the option of that name leaves."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent, help="folder for the picture and its numbers"
    )
    parser.add_argument("--small", action="store_true", help=small)
    return parser


def seed_of(text: str) -> int:
    """Return the whole number that ``--seed`` must be."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, but is {text}")
    return int(text)


@cache
def truths(n: int) -> Integers:
    """Return every bijection of ``n`` items and pseudonyms: a row each, with the pseudonym of each item.

    >>> truths(2).tolist()
    [[0, 1], [1, 0]]
    """
    every = np.array(list(permutations(range(n))), np.int64)
    every.flags.writeable = False
    return every


def matched(matrices: Floats) -> Matched:
    """Return permanents, marginals and errors of the heuristic, by going through all n! matchings of each matrix.

    >>> pair = np.array([[[0.6, 0.4], [0.4, 0.6]]])
    >>> found = matched(pair)
    >>> found.permanent.round(3).tolist(), found.marginal[0, 0].round(3).tolist(), found.error.round(3).tolist()
    ([0.52], [0.692, 0.308], [[-0.185, 0.185]])
    """
    n = matrices.shape[1]
    every = truths(n)
    edges = np.equal.outer(every, np.arange(n)).reshape(len(every), n * n).astype(np.float64)
    size = max(1, _AT_ONCE // every.size)
    parts = [_matched(matrices[first : first + size], every, edges) for first in range(0, len(matrices), size)]
    return Matched(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _matched(matrices: Floats, every: Integers, edges: Floats) -> Matched:
    weight = matrices[:, np.arange(every.shape[1]), every].prod(axis=2)
    permanent = weight.sum(axis=1)
    marginal = (weight @ edges).reshape(matrices.shape) / permanent[:, None, None]
    error = (matrices - marginal).reshape(len(matrices), -1) @ edges.T
    return Matched(permanent, marginal, error)


def nmape(error: Floats, n: int) -> Floats:
    """Return the normalized mean absolute percentage error of each matrix: the mean over all truths, in % of ``n``."""
    return np.asarray(100 * np.abs(error).mean(axis=-1) / n)


def matched_bias(matrices: Floats, marginal: Floats) -> Floats:
    """Return by which share H is off where the truth is drawn from the adversary's own distribution; below 0: too low.

    >>> pair = np.array([[[0.6, 0.4], [0.4, 0.6]]])
    >>> matched_bias(pair, matched(pair).marginal).round(3).tolist()
    [-0.062]
    """
    own = (marginal * marginal).sum(axis=(1, 2))
    return np.asarray(((matrices * marginal).sum(axis=(1, 2)) - own) / own)


def ring(n: int, stay: float) -> Floats:
    """Return the matrix: item i is pseudonym i with chance ``stay``, else pseudonym i + 1 (cyclically)."""
    identity = np.eye(n)
    return np.asarray(stay * identity + (1 - stay) * np.roll(identity, 1, axis=1))


def write_numbers(rows: Sequence[Mapping[str, Any]], name: str, out: Path) -> None:
    """Write the numbers behind a picture as CSV, with ten significant digits."""
    import polars as pl
    import polars.selectors as cs

    out.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame([dict(row) for row in rows], infer_schema_length=None)
    frame.with_columns(cs.float().round_sig_figs(10)).write_csv(out / f"{name}.csv")
    print(f"wrote {out / name}.csv")


def save_picture(figure: "Figure", name: str, out: Path) -> None:
    """Write the picture as PNG."""
    from matplotlib import pyplot
    from PIL import Image

    out.mkdir(parents=True, exist_ok=True)
    image = BytesIO()
    figure.savefig(image, format="png", dpi=100)
    pyplot.close(figure)
    # A palette is a third of the size, and lines and letters need no more colours.
    Image.open(image).convert("RGB").quantize(128).save(out / f"{name}.png", optimize=True)
    print(f"wrote {out / name}.png")

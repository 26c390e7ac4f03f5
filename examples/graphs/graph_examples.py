"""What the examples on graphs share: options, a small made-up graph, and where pictures and numbers go."""

import argparse
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil.data.graph import Graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, GREY = "#0b61a4", "#b3470b", "#1b7350", "#5b6570"


def options(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent, help="folder for the picture and its numbers"
    )
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same numbers")
    parser.add_argument("--repeat", type=int, default=10, help="how often each case is tried")
    return parser


def acquaintances(nodes: int, rng: np.random.Generator) -> Graph:
    """Return a made-up graph of people who know a friend, three friends of that friend, and so mostly popular people.

    >>> acquaintances(50, np.random.default_rng(1)).nodes
    50
    """
    known: list[set[int]] = [set() for _ in range(nodes)]
    for new in range(1, nodes):
        friend = int(rng.integers(new))
        around = sorted(known[friend])
        met = {friend, *rng.permutation(around)[:3].tolist()}
        for other in met:
            known[new].add(other)
            known[other].add(new)
    pairs = [(one, other) for one, others in enumerate(known) for other in sorted(others) if one < other]
    return Graph.from_edges([one for one, _ in pairs], [other for _, other in pairs], nodes=nodes)


def write_numbers(rows: Sequence[Mapping[str, Any]], name: str, out: Path) -> None:
    """Write the numbers behind a picture as CSV."""
    import polars as pl
    import polars.selectors as cs

    out.mkdir(parents=True, exist_ok=True)
    pl.DataFrame([dict(row) for row in rows]).with_columns(cs.float().round_sig_figs(10)).write_csv(out / f"{name}.csv")
    print(f"wrote {out / name}.csv")


def save_picture(figure: "Figure", name: str, out: Path) -> None:
    """Write the picture as a small PNG."""
    from matplotlib import pyplot
    from PIL import Image

    out.mkdir(parents=True, exist_ok=True)
    image = BytesIO()
    figure.savefig(image, format="png", dpi=100)
    pyplot.close(figure)
    Image.open(image).convert("RGB").quantize(128).save(out / f"{name}.png", optimize=True)
    print(f"wrote {out / name}.png")

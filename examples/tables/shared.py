"""What the examples on tables share: their options, where data is found, and where results go."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: How a script ends that lacks its data, so that others can tell that from a failure.
NO_DATA = 2


def options(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have; each may add its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for the table and the picture")
    parser.add_argument("--seed", type=at_least(0), default=1, help="the same seed gives the same numbers")
    return parser


def at_least(least: int) -> Callable[[str], int]:
    """Return what reads an option that must be a whole number from ``least`` on."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, but is {text}")
        return int(text)

    return read


def data_files(folder: str, names: Sequence[str]) -> list[Path]:
    """Return the paths of these files below the folder that UNVEIL_DATA names, or end with one sentence."""
    root = os.environ.get("UNVEIL_DATA")
    if not root:
        _leave(f"this example needs data that is not part of unveil: set UNVEIL_DATA to a folder that has {folder}/")
    paths = [Path(root) / folder / name for name in names]
    absent = next((path for path in paths if not path.is_file()), None)
    if absent is not None:
        _leave(f"UNVEIL_DATA must name a folder that has {folder}/{absent.name}, but there is none: correct it")
    return paths


def _leave(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(NO_DATA)


def write_table(rows: Sequence[Mapping[str, Any]], name: str, out: Path) -> None:
    """Write the rows as CSV; numbers keep four decimals, and what is undefined is empty."""
    import polars as pl
    import polars.selectors as cs

    out.mkdir(parents=True, exist_ok=True)
    frame = pl.DataFrame([dict(row) for row in rows], infer_schema_length=None)
    frame.with_columns(cs.float().round(4).fill_nan(None)).write_csv(out / f"{name}.csv")
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

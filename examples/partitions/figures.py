"""What the figures share: options, means over runs that say what they leave out, curves, and where results go."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

# A mean over fewer than half of the runs is drawn faint, because it speaks of the others only; one over fewer than a
# twentieth is noise and not drawn at all.
MOSTLY_DEFINED = 0.5
ENOUGH_TO_DRAW = 0.05


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of a curve: a value, or a mean with its standard error and the share of runs that have no value."""

    panel: str
    curve: str
    x: float
    y: float
    undefined: float = 0.0
    standard_error: float = 0.0


def options(description: str, arguments: Sequence[str] | None, *, runs: int) -> argparse.Namespace:
    """Return the options of a script; ``runs`` is how often it repeats an experiment unless told otherwise."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    if runs:
        parser.add_argument("--runs", type=int, default=runs, help="repetitions of each experiment")
        parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same numbers")
    parser.add_argument("--quick", action="store_true", help="fewer points, for a first look")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for the picture")
    parser.add_argument("--numbers", action="store_true", help="also write the numbers behind the picture, as CSV")
    chosen = parser.parse_args(arguments)
    if runs and chosen.runs < 1:
        parser.error(f"--runs must be at least 1, but is {chosen.runs}")
    return chosen


def mean_points(values: Mapping[tuple[str, str, float], Sequence[float]]) -> list[Point]:
    """Return, by panel, curve and x, the mean over the runs that have a value and the share of those that have none."""
    points = []
    for (panel, curve, x), runs in values.items():
        known = np.array([value for value in runs if not np.isnan(value)])
        mean = float(known.mean()) if known.size else float("nan")
        spread = float(known.std(ddof=1) / np.sqrt(known.size)) if known.size > 1 else float("nan")
        undefined = 1 - known.size / len(runs)
        points.append(Point(panel=panel, curve=curve, x=x, y=mean, undefined=undefined, standard_error=spread))
    return points


def curves_of(points: Iterable[Point], panel: str) -> dict[str, list[Point]]:
    """Return the points of one panel, by curve and in order of x."""
    found: dict[str, list[Point]] = {}
    for point in points:
        if point.panel == panel:
            found.setdefault(point.curve, []).append(point)
    return {curve: sorted(members, key=lambda point: point.x) for curve, members in found.items()}


def draw_curves(
    axes: "Axes", points: Iterable[Point], panel: str, *, colours: Sequence[Any] | None = None, **style: Any
) -> None:
    """Draw the curves of one panel; a mean over fewer than half of the runs is drawn faint and dotted."""
    for index, (curve, members) in enumerate(curves_of(points, panel).items()):
        x = np.array([point.x for point in members])
        y = np.array([point.y for point in members])
        mostly = np.array([point.undefined <= MOSTLY_DEFINED for point in members])
        look = {"color": colours[index] if colours is not None else f"C{index}", "markersize": 4, **style}
        axes.plot(x, np.where(mostly, y, np.nan), label=curve, **look)
        if not mostly.all():
            enough = np.array([point.undefined <= 1 - ENOUGH_TO_DRAW for point in members])
            axes.plot(x, np.where(enough, y, np.nan), **{**look, "linestyle": ":", "alpha": 0.45, "marker": ""})


def draw_undefined(axes: "Axes", points: Iterable[Point], panel: str, *, colours: Sequence[Any] | None = None) -> None:
    """Draw the share of runs in which the average subject is already breached, so that no value exists."""
    for index, members in enumerate(curves_of(points, panel).values()):
        colour = colours[index] if colours is not None else f"C{index}"
        axes.plot([point.x for point in members], [point.undefined for point in members], color=colour)
    axes.set(ylim=(-0.05, 1.05), yticks=(0, 0.5, 1), ylabel="undefined")
    axes.grid(alpha=0.3)


def alpha_colours(count: int) -> list[Any]:
    """Return one colour per alpha, dark to light."""
    from matplotlib import colormaps

    return [colormaps["viridis"](0.9 * k / max(1, count - 1)) for k in range(count)]


def save(figure: "Figure", points: Sequence[Point], name: str, chosen: argparse.Namespace) -> None:
    """Write the picture, and on demand the numbers behind it, and say where."""
    from matplotlib import pyplot
    from PIL import Image

    chosen.out.mkdir(parents=True, exist_ok=True)
    image = BytesIO()
    figure.savefig(image, format="png", dpi=100)
    pyplot.close(figure)
    # A palette is a third of the size, and lines and letters need no more colours.
    Image.open(image).convert("RGB").quantize(128).save(chosen.out / f"{name}.png", optimize=True)
    print(f"wrote {chosen.out / name}.png")
    if chosen.numbers:
        import polars as pl

        # Whole numbers among the values must not make a column of whole numbers.
        columns = {field.name: pl.Float64 if field.type is float else pl.String for field in fields(Point)}
        pl.DataFrame([vars(point) for point in points], schema=columns).write_csv(chosen.out / f"{name}.csv")

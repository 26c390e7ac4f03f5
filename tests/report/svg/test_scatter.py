"""Points with names stand where their numbers say, on the page and in matplotlib."""

from xml.etree import ElementTree

import numpy as np

from unveil.report.blocks import Chart, Series
from unveil.report.draw.lines import draw
from unveil.report.svg.figures import figure_of
from unveil.report.svg.lines import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, describe, svg

HOSTILE = "<script>alert(1)</script>"


def named(name: str, x: float, y: float, low: float, high: float) -> Series:
    values = {"x": np.array([x]), "y": np.array([y]), "low": np.array([low]), "high": np.array([high])}
    return Series(name=name, style="first", kind="points", **values)  # type: ignore[arg-type]


CHART = Chart(
    title="T", x_label="lost", y_label="risk", x_range=(0.0, 1.0),
    series=(named("left", 0.0, 0.5, 0.25, 1.0), named(HOSTILE, 1.0, 0.0, 0.0, 0.0), named("none", np.nan, 0.1, 0, 1)),
)  # fmt: skip


def test_points_have_their_place_their_interval_and_their_name() -> None:
    root = ElementTree.fromstring(svg(CHART, identity="c"))  # noqa: S314
    marks = [str(each.get("d")) for each in root.iter("path") if str(each.get("class")).startswith("point")]
    bottom, middle = HEIGHT - BOTTOM, TOP + (HEIGHT - BOTTOM - TOP) / 2
    assert [mark.partition("a")[0] for mark in marks] == [
        f"M{LEFT - 6:.1f} {middle:.1f}",
        f"M{WIDTH - RIGHT - 6:.1f} {bottom:.1f}",
    ]
    bars = [str(each.get("d")) for each in root.iter("path") if str(each.get("class")).startswith("interval")]
    assert bars[0] == f"M{LEFT:.1f} {TOP:.1f}V{TOP + 0.75 * (bottom - TOP):.1f}"
    names = {each.text: each.get("class") for each in root.iter("text") if "label" in str(each.get("class"))}
    # A name at the right edge ends before its point.
    assert (names["left"], names[HOSTILE[:12] + "…" + HOSTILE[-11:]]) == ("label", "label end")
    assert "left: 50% at 0" in describe(CHART)
    assert figure_of(CHART, "c")["legend"] == []


def test_matplotlib_draws_the_same_points() -> None:
    from matplotlib import pyplot

    axes = draw(CHART)
    points = [container.lines[0].get_xydata().tolist() for container in axes.containers]  # type: ignore[attr-defined]
    assert points[:2] == [[[0.0, 0.5]], [[1.0, 0.0]]]
    pyplot.close(axes.figure)  # type: ignore[arg-type]

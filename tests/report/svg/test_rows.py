"""Charts of points with intervals: where the marks lie, what is said about them, and that nothing in them is run."""

import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot

from unveil.report.blocks import Chart, Page, Section, Series, Threshold
from unveil.report.draw.lines import draw
from unveil.report.page import render
from unveil.report.svg.lines import describe, svg, swatch
from unveil.report.svg.rows import WIDTH

ATTACK = Series(
    name="attack",
    x=np.array([0.5, 0.0]),
    y=np.array([0.0, 1.0]),
    style="first",
    kind="points",
    low=np.array([0.25, 0.0]),
    high=np.array([0.75, 0.0076]),
)
CONTROL = replace(ATTACK, name="control", style="second", x=np.array([1.0, math.nan]), low=None, high=None)
CHART = Chart(
    title="T",
    x_label="share",
    y_label="",
    series=(ATTACK, CONTROL),
    x_kind="share",
    rows=("first release", "second release"),
    thresholds=(Threshold(name="all: 50%", value=0.5, across="x"),),
)


def parts(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(svg(chart, identity="c"))  # noqa: S314


def by_class(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if str(each.get("class")).startswith(kind)]


def start(path: ElementTree.Element) -> tuple[float, float]:
    """Return where a path begins."""
    x, y = str(path.get("d")).removeprefix("M").replace("a", " ").replace("m", " ").replace("H", " ").split()[:2]
    return float(x), float(y)


def test_points_and_intervals_lie_where_the_numbers_say() -> None:
    root = parts(CHART)
    left, right = 16.0, WIDTH - 30.0
    points = [start(path)[0] + 6 for path in by_class(root, "point first")]
    assert points == pytest.approx([left + 0.5 * (right - left), left], abs=0.1)
    (wide, narrow) = by_class(root, "interval first")
    ends = [float(end) for end in str(wide.get("d")).removeprefix("M").split(" ")[0:1]]
    assert ends == pytest.approx([left + 0.25 * (right - left)], abs=0.1)
    assert float(str(narrow.get("d")).split("H")[1]) == pytest.approx(left + 0.0076 * (right - left), abs=0.1)
    # Without an interval there is a point only, and without a value nothing.
    assert len(by_class(root, "interval second")) == 0
    assert len(by_class(root, "point second")) == 1


def test_rows_come_from_the_top_and_make_the_picture_as_high_as_they_need() -> None:
    root = parts(CHART)
    heights = [float(str(text.get("y"))) for text in by_class(root, "row-name")]
    assert heights == sorted(heights)
    assert [text.text for text in by_class(root, "row-name")] == list(CHART.rows)
    first, second = (start(path)[1] for path in by_class(root, "point first"))
    assert heights[0] < first < heights[1] < second
    more = replace(CHART, rows=(*CHART.rows, "third"))
    heights_of = [float(str(parts(each).get("viewBox")).split()[3]) for each in (CHART, more)]
    assert heights_of[1] - heights_of[0] == 30 + 2 * 25 + 14


def test_values_stand_beside_their_points_and_inside_the_picture() -> None:
    texts = {str(text.text): text for text in by_class(parts(CHART), "value")}
    assert set(texts) == {"50.0%", "0%", "100%"}
    assert "start" in str(texts["50.0%"].get("class"))
    assert "end" in str(texts["100%"].get("class"))
    assert float(str(texts["100%"].get("x"))) < WIDTH - 30


def test_the_description_holds_every_value_with_its_interval() -> None:
    assert describe(CHART) == (
        "Across: share. attack: 50.0% (25.0% to 75.0%) for first release, 0.0% (0.0% to 0.8%) for second release. "
        "control: 100.0% for first release. all: 50%."
    )
    empty = replace(CHART, series=(replace(CONTROL, x=np.array([math.nan, math.nan])),), thresholds=())
    assert describe(empty) == "Across: share. control: undefined everywhere."


def test_a_value_beyond_the_axis_stays_in_the_frame() -> None:
    far = replace(CHART, x_range=(0.0, 0.2))
    assert max(start(path)[0] + 6 for path in by_class(parts(far), "point")) <= WIDTH - 30


def test_names_are_escaped_shortened_and_never_run() -> None:
    bad = "<script>alert(1)</script>" * 9
    text = svg(replace(CHART, rows=(bad, "ok"), x_label=bad), identity="c")
    assert "<script" not in text
    page = Page(
        title="T", question="Q", headline="H", tone="bad", sections=(Section(heading="S", lead="", blocks=(CHART,)),)
    )
    assert render(page).count('class="point') >= 4


def test_every_style_of_a_point_has_a_shape_of_its_own() -> None:
    shapes = {swatch(style, kind="point").split("d=")[-1] for style in ("first", "second", "third", "fourth", "fifth")}
    assert len(shapes) == 5


def test_matplotlib_draws_the_same_numbers() -> None:
    axes = draw(CHART)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first release", "second release"]
    bars = [container for container in axes.containers if container.get_label() == "attack"]
    (line, _, reaches) = bars[0]
    assert line.get_xdata().tolist() == [0.5, 0.0]
    ends = [segment[:, 0].tolist() for segment in reaches[0].get_segments()]
    assert ends == [[0.25, 0.75], [0.0, pytest.approx(0.0076)]]
    assert axes.get_ylim() == (2.0, 0.0)
    axes.figure.canvas.draw()
    pyplot.close("all")

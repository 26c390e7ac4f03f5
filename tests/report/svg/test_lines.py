import re
from xml.etree import ElementTree

import numpy as np
import pytest

from unveil.report.blocks import Chart, Series, Threshold, Vector
from unveil.report.draw.lines import draw
from unveil.report.svg.figures import figure_of
from unveil.report.svg.lines import BOTTOM, HEIGHT, LEFT, LOOKS, MOST_MARKS, RIGHT, TOP, WIDTH, describe, svg, swatch


def line(y: list[float], **changes: object) -> Series:
    given = {"name": "linked", "x": np.arange(len(y), dtype=np.float64), "y": np.array(y), "style": "first"}
    return Series(**(given | changes))  # type: ignore[arg-type]


def chart(*series: Series, **changes: object) -> Chart:
    given = {"title": "T", "x_label": "mergings", "y_label": "share", "series": series, "x_range": (0.0, 2.0)}
    return Chart(**(given | changes))  # type: ignore[arg-type]


def parts(drawn: Chart) -> ElementTree.Element:
    # An XML parser is stricter than a browser: what it takes, every browser takes.
    return ElementTree.fromstring(svg(drawn, identity="c"))  # noqa: S314


def path(root: ElementTree.Element, kind: str) -> str:
    return next(str(each.get("d")) for each in root.iter("path") if str(each.get("class")).startswith(kind))


def test_points_lie_where_the_numbers_say() -> None:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    middle_x, middle_y = LEFT + (right - LEFT) / 2, TOP + (bottom - TOP) / 2
    expected = f"M{LEFT:.1f} {bottom:.1f}L{middle_x:.1f} {middle_y:.1f}L{right:.1f} {TOP:.1f}"
    assert path(parts(chart(line([0.0, 0.5, 1.0]))), "line") == expected


def test_a_gap_breaks_the_line() -> None:
    drawn = path(parts(chart(line([0.0, np.nan, 1.0, 0.5]), x_range=(0.0, 3.0))), "line")
    assert re.sub(r"[\d. ]", "", drawn) == "MML"


def test_marks_are_there_while_they_can_be_told_apart() -> None:
    few, many = line([0.5] * MOST_MARKS), line([0.5] * (MOST_MARKS + 1))
    assert path(parts(chart(few)), "marks").count("M") == MOST_MARKS
    assert path(parts(chart(many)), "marks") == ""


def test_a_curve_has_at_most_200_points() -> None:
    drawn = path(parts(chart(line(list(np.linspace(0, 1, 5000))), x_range=(0.0, 5000.0))), "line")
    assert len(re.findall("[ML]", drawn)) == 200


def test_the_arrow_starts_at_the_origin_and_ends_at_its_point() -> None:
    arrow = Vector(name="β-linked", x=1.0, y=1.0, style="first")
    drawn = next(e for e in parts(chart(line([0.5, 1.0]), vectors=(arrow,))).iter("line") if e.get("data-vector"))
    assert (drawn.get("x1"), drawn.get("y1")) == (f"{LEFT:.1f}", f"{HEIGHT - BOTTOM:.1f}")
    assert (drawn.get("x2"), drawn.get("y2")) == (f"{LEFT + (WIDTH - LEFT - RIGHT) / 2:.1f}", f"{TOP:.1f}")
    assert drawn.get("visibility") == "visible"


def test_an_arrow_to_nowhere_is_hidden() -> None:
    arrow = Vector(name="β-linked", x=np.nan, y=np.nan, style="first")
    text = svg(chart(line([0.5]), vectors=(arrow,)), identity="c")
    assert 'visibility="hidden"' in text
    assert "nan" not in text
    assert "β-linked" not in describe(chart(line([0.5]), vectors=(arrow,)))


@pytest.mark.parametrize(("across", "value", "end"), [("y", 0.5, True), ("x", 1.8, True), ("x", 0.2, False)])
def test_a_threshold_is_named(across: str, value: float, end: bool) -> None:
    threshold = Threshold(name="β = 80%", value=value, across=across)  # type: ignore[arg-type]
    root = parts(chart(line([0.5, 1.0]), thresholds=(threshold,)))
    text = next(e for e in root.iter("text") if "threshold-name" in str(e.get("class")))
    assert text.text == "β = 80%"
    assert ("end" in str(text.get("class"))) == end


def test_bars_stand_on_the_axis() -> None:
    bars = line([0.25, 1.0, np.nan], kind="bars", width=1.0)
    drawn = [e for e in parts(chart(bars, x_range=(0.0, 3.0))).iter("rect") if e.get("class") == "bar first"]
    full = HEIGHT - TOP - BOTTOM
    assert [float(str(e.get("height"))) for e in drawn] == [full / 4, full]
    assert all(float(str(e.get("y"))) + float(str(e.get("height"))) == HEIGHT - BOTTOM for e in drawn)


def test_everything_is_escaped() -> None:
    bad = '<b>&"</b>'
    drawn = chart(
        line([1.0], name=bad), title=bad, x_label=bad, y_label=bad, thresholds=(Threshold(name=bad, value=0.5),)
    )
    texts = [e.text for e in parts(drawn).iter() if e.text and "<b>" in e.text]
    assert len(texts) == 6
    assert "<b>" not in svg(drawn, identity="c")


def test_there_is_neither_script_nor_style_inside() -> None:
    arrow = Vector(name="v", x=1.0, y=1.0, style="second")
    for text in (svg(chart(line([0.1, 1.0]), vectors=(arrow,)), identity="c"), swatch("second", kind="marked line")):
        assert not re.search(r"<style|style=|<script|\son\w+=|href", text)


def test_the_description_holds_the_numbers() -> None:
    arrow = Vector(name="β-linked vector", x=1.07, y=0.8, style="first")
    text = describe(chart(line([0.458, 1.0]), line([np.nan], name="mixed"), vectors=(arrow,), x_kind="count"))
    assert "linked: 45.8% at 0, 100% at 1." in text
    assert "mixed: undefined everywhere." in text
    assert "β-linked vector: to 80% at 1.07." in text


def test_no_two_styles_differ_by_colour_alone() -> None:
    assert len({(look.dashes, look.mark) for look in LOOKS.values()}) == len(LOOKS)


@pytest.mark.parametrize("kind", ["line", "marked line", "arrow", "bar"])
def test_swatches_are_hidden_from_screen_readers(kind: str) -> None:
    root = ElementTree.fromstring(swatch("first", kind=kind))  # type: ignore[arg-type]  # noqa: S314
    assert root.get("aria-hidden") == "true"
    assert len(root) >= 1


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

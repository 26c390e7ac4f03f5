"""Small charts side by side, and bars that are mirrored or hatched."""

from xml.etree import ElementTree

import numpy as np
import pytest

from unveil.errors import InputError
from unveil.report.blocks import NO_CELL, CellGrid, Chart, Page, Section, Series
from unveil.report.blocks_spread import DistributionPanel, DistributionPanels, Triangle, Triangles
from unveil.report.draw.lines import draw
from unveil.report.page import render
from unveil.report.svg.lines import BOTTOM, HEIGHT, TOP, svg
from unveil.report.svg.panels import HEIGHT as PANEL_HEIGHT
from unveil.report.svg.panels import step_of, svg_panels, svg_triangles


def panel(**changes: object) -> DistributionPanel:
    given = {
        "name": "age",
        "distance": "KS 0.10",
        "first": (0.5, 0.25, 0.25),
        "second": (0.2, 0.3, 0.5),
        "first_hatched": (False, False, True),
        "second_hatched": (False, False, False),
    }
    return DistributionPanel(**(given | changes))  # type: ignore[arg-type]


def panels(*several: DistributionPanel) -> DistributionPanels:
    return DistributionPanels(title="T", panels=several, names=("original", "released"), hatched="few")


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # noqa: S314 - our own text


def test_bars_and_outline_of_a_panel_are_as_high_as_their_shares() -> None:
    root = parsed(svg_panels(panels(panel()), identity="p"))
    bars = [float(str(each.get("height"))) for each in root.iter("rect") if each.get("class") == "bar first"]
    assert [round(height / max(bars), 2) for height in bars] == [0.4, 0.6, 1.0]
    outline = next(str(each.get("d")) for each in root.iter("path") if each.get("class") == "outline")
    tops = [float(step.split("H")[0]) for step in outline.split("V")[1:4]]
    assert [round((PANEL_HEIGHT - top) / max(bars), 2) for top in tops] == [1.0, 0.5, 0.5]
    assert sum(each.get("class") == "hatched" for each in root.iter("rect")) == 1


def test_categories_have_a_bar_of_each_table() -> None:
    root = parsed(svg_panels(panels(panel(categories=("a <", "b", "other"))), identity="p"))
    assert len(list(root.iter("rect"))) == 6
    assert [each.text for each in root.iter("text")] == ["a <", "b", "other"]


def test_a_panel_has_as_many_bars_of_each_table() -> None:
    with pytest.raises(InputError, match="as many bars"):
        panel(first=(1.0,))
    with pytest.raises(InputError, match="square"):
        Triangles(title="T", columns=("a",), triangles=(Triangle(name="n", values=np.zeros((2, 2))),))


@pytest.mark.parametrize("number", [3, 14])
def test_a_triangle_has_a_cell_for_each_pair(number: int) -> None:
    values = np.where(np.tri(number, k=-1) > 0, 0.5, np.nan)
    values[2, 0] = np.nan
    block = Triangles(
        title="T",
        columns=tuple(f"c{at}" for at in range(number)),
        triangles=(Triangle(name="original", values=values), Triangle(name="difference", values=-values, limit=0.5)),
    )
    text = svg_triangles(block, identity="t")
    parsed(text)
    pairs = number * (number - 1) // 2
    assert text.count("z") >= 2 * pairs
    assert f'class="diverging-{step_of(-0.5, 0.5)}"' in text
    assert text.count(">0.50</text>") == (pairs - 1 if number <= 10 else 0)
    assert len(draw(block).child_axes) == 2


def test_mirrored_bars_reach_down_and_the_axis_has_no_signs() -> None:
    up = Series(name="up", x=np.array([0.0]), y=np.array([0.5]), style="first", kind="bars", width=1.0)
    down = Series(
        name="down", x=np.array([0.0]), y=np.array([-0.25]), style="fifth", kind="bars", width=1.0,
        hatched=np.array([True]),
    )  # fmt: skip
    chart = Chart(
        title="T", x_label="x", y_label="y", series=(up, down), y_range=(-0.25, 0.5), mirrored=True,
        x_names=((0.5, "copies"),), hatched="few",
    )  # fmt: skip
    text = svg(chart, identity="c")
    heights = [float(str(each.get("height"))) for each in parsed(text).iter("rect") if each.find("title") is not None]
    whole = HEIGHT - TOP - BOTTOM
    assert heights == pytest.approx([whole * 2 / 3, whole / 3], abs=0.1)
    assert "down: few" in text
    assert ">copies</text>" in text
    assert ">-" not in text
    draw(chart)


def test_a_map_of_risks_has_its_levels_and_the_meaning_of_its_sign() -> None:
    levels = ("none found", "very low", "low", "medium", "high", "inconclusive")
    grid = CellGrid(
        title="T",
        rows=("income",),
        columns=("Inference", "Memorization"),
        level=np.array([[4, NO_CELL]]),
        texts=(("40 ●", ""),),
        tips=(("income: 40 points", ""),),
        levels=levels,
        palette="risk",
    )
    text = render(
        Page(
            title="T",
            question="Q",
            headline="H",
            tone="neutral",
            sections=(Section(heading="h", lead="l", blocks=(grid,)),),
        )
    )
    assert 'class="risk-4"' in text
    assert "income: 40 points." in text
    assert [each.get_text() for each in draw(grid).texts] == ["40 ●"]

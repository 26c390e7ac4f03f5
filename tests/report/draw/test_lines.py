from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from tests.questions.unlinkability.example import attacking_names, conservative, large
from unveil.questions.unlinkability.sections.merges import overall_chart
from unveil.questions.unlinkability.sections.sensitivity import slope_chart
from unveil.questions.unlinkability.sections.subjects import linked_chart
from unveil.report.blocks import Vector
from unveil.report.draw.lines import draw, draw_all


@pytest.fixture(autouse=True)
def _close_figures() -> object:
    yield
    pyplot.close("all")


def curve(axes: Axes, label: str) -> np.ndarray:
    return np.asarray(next(line for line in axes.get_lines() if line.get_label() == label).get_xydata())


def test_the_lines_are_the_numbers_of_the_chart() -> None:
    chart = overall_chart(conservative().result)
    axes = draw(chart)
    for series in chart.series:
        np.testing.assert_array_equal(curve(axes, series.name), np.column_stack([series.x, series.y]))
    arrows = [child for child in axes.get_children() if isinstance(child, Annotation)]
    assert [tuple(arrow.xy) for arrow in arrows] == [(v.x, v.y) for v in chart.vectors]
    assert all(tuple(arrow.xyann) == (0.0, 0.0) for arrow in arrows)
    assert curve(axes, "β = 80%")[:, 1].tolist() == [0.8, 0.8]
    assert axes.get_xlabel() == chart.x_label


def test_ticks_are_those_of_the_page() -> None:
    axes = draw(slope_chart(conservative().grid, beta=0.8))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert curve(axes, "β = 80%")[:, 0].tolist() == [0.8, 0.8]


def test_bars_have_the_heights_of_the_chart() -> None:
    chart = linked_chart(large().result)
    axes = draw(chart)
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [bar.get_height() for bar in bars] == chart.series[0].y.tolist()
    np.testing.assert_allclose([bar.get_x() for bar in bars], chart.series[0].x, atol=0.005)


def test_given_axes_are_used_and_returned() -> None:
    _, mine = pyplot.subplots()
    assert draw(overall_chart(conservative().result), mine) is mine


def test_an_arrow_to_nowhere_is_not_drawn() -> None:
    chart = overall_chart(conservative().result)
    nowhere = Vector(name="v", x=np.nan, y=np.nan, style="first")
    axes = draw(type(chart)(title="T", x_label="x", y_label="y", series=chart.series, vectors=(nowhere,)))
    assert not [child for child in axes.get_children() if isinstance(child, Annotation)]


def test_all_charts_come_side_by_side_and_can_be_drawn() -> None:
    built = conservative()
    axes = draw_all([overall_chart(built.result), slope_chart(built.grid), linked_chart(built.result)])
    assert axes.shape == (3,)
    axes[0].figure.canvas.draw()


def test_a_name_is_no_formula() -> None:
    axes = draw(replace(overall_chart(attacking_names().result), title="$\\frac{1}{$"))
    axes.figure.canvas.draw()
    assert "$\\frac{1}{$" in axes.get_title(loc="left")

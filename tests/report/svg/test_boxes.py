import io
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.patches import Rectangle
from rich.console import Console

from tests.end_to_end.visits import visit
from tests.report.test_page import Reader, small
from unveil.errors import InputError
from unveil.report.blocks import Block, Page, PrivateText, Section, TableBlock, Threshold
from unveil.report.blocks_spread import MOST_BEYOND, BoxRow, BoxRows, box_of, spread_of
from unveil.report.draw.lines import draw
from unveil.report.editions import shareable
from unveil.report.figure_tables import across_of, boxes_table, describe_row, figure_text, mean_text, number_text
from unveil.report.page import render
from unveil.report.svg.boxes import legend, svg_row
from unveil.report.terminal import show_figure

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(autouse=True)
def _close_figures() -> object:
    yield
    pyplot.close("all")


def rows(*boxes: BoxRow, **changes: object) -> BoxRows:
    given = {"title": "T", "x_label": "score", "rows": boxes, "row_label": "Metric", "number_label": "Cases"}
    return BoxRows(**(given | changes))  # type: ignore[arg-type]


def with_blocks(*blocks: Block) -> Page:
    return small(sections=(Section(heading="S", lead="L", blocks=blocks),))


def picture(block: BoxRows, row: int = 0) -> ElementTree.Element:
    return ElementTree.fromstring(svg_row(block.rows[row], block, across_of(block)))  # noqa: S314


def percents(root: ElementTree.Element, kind: str, *keys: str) -> list[tuple[float, ...]]:
    found = [each for each in root.iter() if str(each.get("class", "")).split(" ")[0] == kind]
    return [tuple(float(str(each.get(key)).rstrip("%")) for key in keys) for each in found]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-20, 20).map(lambda k: k / 4), min_size=1, max_size=30))
def test_a_box_is_that_of_its_definition(values: list[float]) -> None:
    found = spread_of(values)
    ordered = sorted(values)

    def quantile(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    lower, upper = quantile(0.25), quantile(0.75)
    assert (found.lower, found.median, found.upper) == pytest.approx((lower, quantile(0.5), upper))
    near = [v for v in values if lower - 1.5 * (upper - lower) <= v <= upper + 1.5 * (upper - lower)]
    assert (found.low, found.high) == (min(near), max(near))
    assert set(found.beyond) == {v for v in values if v < min(near) or v > max(near)}
    assert found.extremes == (min(values), max(values))
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert found.number == len(values)


def test_what_is_undefined_is_left_out_and_counted() -> None:
    found = spread_of([0.5, np.nan, np.inf, 0.7])
    assert (found.number, found.undefined) == (2, 2)
    assert found.mean == pytest.approx(0.6)
    assert number_text(found) == "2 of 4"
    nothing = spread_of([np.nan])
    assert (nothing.number, nothing.undefined) == (0, 1)
    assert np.isnan([nothing.low, nothing.median, nothing.mean]).all()


def test_many_values_beyond_the_whiskers_keep_their_ends() -> None:
    values = np.concatenate([np.zeros(1000), np.linspace(1, 2, 300)])
    found = spread_of(values)
    assert len(found.beyond) == MOST_BEYOND
    assert found.extremes == (0.0, 2.0)


def test_a_box_lies_where_its_figures_say() -> None:
    block = rows(box_of("a", [0.0, 0.2, 0.4, 0.6, 0.8]))
    root = picture(block)
    assert percents(root, "box-body", "x", "width") == [(20.0, 40.0)]
    assert percents(root, "median", "x1", "x2") == [(40.0, 40.0)]
    assert percents(root, "whisker", "x1", "x2")[:2] == [(0.0, 20.0), (60.0, 80.0)]
    mark = next(each for each in root.iter("svg") if each.get("x") is not None)
    assert mark.get("x") == "40.00%"


def test_values_beyond_and_the_interval_of_the_mean_are_drawn() -> None:
    block = rows(box_of("a", spread_of([0.1, 0.11, 0.12, 0.13, 0.9], interval=(0.05, 0.5))))
    root = picture(block)
    assert percents(root, "beyond", "cx") == [(90.0,)]
    assert percents(root, "mean-interval", "x1", "x2") == [(5.0, 50.0)]
    assert mean_text(block.rows[0].boxes[0], block) == "0.272 (0.050–0.500)"
    assert any("95% CI" in name for _, name in legend(block))


def test_what_lies_outside_the_range_widens_it() -> None:
    block = rows(box_of("a", [-0.5, 0.5, 2.0]), box_of("b", [np.nan]), box_of("c", None))
    across = across_of(block)
    assert (across.low, across.high) == (-0.5, 2.0)


def test_thresholds_run_through_every_row_and_are_named_in_the_legend() -> None:
    limit = Threshold(name="0.5: <half>", value=0.5, across="x")
    block = rows(box_of("a", [0.1]), box_of("b", [0.9]), thresholds=(limit,))
    html = render(with_blocks(block))
    assert html.count('class="threshold" d="M50.00 0v1"') == 2
    assert "0.5: &lt;half&gt;" in html


def test_two_series_stand_below_one_another_and_differ_by_more_than_colour() -> None:
    block = rows(box_of("NS", [0.2, 0.3], [0.1, 0.2]), box_of("KL", None, [0.5]), series=("rate", "overall"))
    tops = [float(str(each.get("y"))) for each in picture(block).iter("rect")]
    assert tops[1] - tops[0] == 24
    marks = re.findall(r'class="point (\w+)" d="([^"]+)"', svg_row(block.rows[0], block, across_of(block)))
    assert len({path for _, path in marks}) == 2
    assert [name for _, name in legend(block)][:2] == ["rate", "overall"]
    assert describe_row(block.rows[1], block).startswith("overall: median 0.500")
    assert len(list(picture(block, 1).iter("rect"))) == 1


def test_a_page_has_a_table_with_the_figures_of_each_row() -> None:
    block = rows(
        box_of("amount of leaked information", [0.2, 0.4], bold=True, note="affected by chunks"),
        box_of("entropy", [np.nan]),
        bold_meaning="metrics of a release",
        more_private="left",
    )
    html = render(with_blocks(block))
    reader = Reader(html)
    assert [th["scope"] for th in reader.all("th")] == ["col"] * 4 + ["row"] * 2
    assert reader.text_of("bdi") == ["amount of leaked information", "entropy"]
    assert "← more private" in html
    labels = [svg["aria-label"] for svg in reader.all("svg") if svg.get("role") == "img"]
    assert labels == [
        "median 0.300, middle half from 0.250 to 0.350, whiskers from 0.200 to 0.400",
        "no value",
    ]
    assert {"0.300", "2", "undefined", "0 of 1"} <= set(reader.text_of("span"))
    assert len([th for th in reader.all("th") if th.get("class") == "set-apart"]) == 1


def test_small_ones_stand_side_by_side_and_say_once_how_many_values_there_are() -> None:
    level = rows(box_of("0.5", [1.0, 2.0]), box_of("0.9", [1.0, 3.0]), x_range=(0.0, 4.0), small=True)
    html = render(with_blocks(level, level))
    assert html.count('<div class="small-charts">') == 1
    assert html.count("Cases in each box: 2.") == 2
    assert '<th role="columnheader" scope="col" class="right">Cases</th>' not in html
    uneven = rows(box_of("0.5", [1.0, 2.0]), box_of("0.9", [1.0]), x_range=(0.0, 4.0), small=True)
    assert "in each box" not in render(with_blocks(uneven))


def test_everything_is_escaped_and_nothing_needs_a_weaker_policy() -> None:
    bad = '<b>&"</b>'
    block = rows(
        box_of(bad, [0.1], [0.2], note=bad),
        title=bad,
        x_label=bad,
        row_label=bad,
        number_label=bad,
        series=(bad, "second"),
        caption=bad,
        bold_meaning=bad,
        thresholds=(Threshold(name=bad, value=0.5, across="x"),),
    )
    html = render(with_blocks(block))
    assert "<b>" not in html
    for _, attributes in Reader(html).elements:
        assert not [key for key in attributes if key == "style" or key.startswith("on")]


@pytest.mark.parametrize(
    ("kind", "reach", "value", "text"),
    [
        ("number", (0.0, 1.0), 2 / 3, "0.667"),
        ("number", (0.0, 0.01), 0.00123456, "0.0012"),
        ("number", (0.0, 5000.0), 1234.5678, "1,235"),
        ("number", (0.0, 1.0), -1e-9, "0.000"),
        ("share", (0.0, 1.0), 0.125, "12.5%"),
        ("count", (0.0, 100.0), 7.25, "7.2"),
        ("power", (0.0, 4.0), 3.0, "1,000"),
        ("power of share", (-3.0, 0.0), -2.0, "1%"),
    ],
)
def test_figures_have_the_decimals_of_the_axis(kind: str, reach: tuple[float, float], value: float, text: str) -> None:
    assert figure_text(value, rows(x_kind=kind, x_range=reach)) == text


def test_the_table_has_the_same_figures() -> None:
    block = rows(box_of("a", [0.1, 0.2, 0.3], None), box_of("b", [0.5], [0.7, 0.9]), series=("rate", "overall"))
    table = boxes_table(block)
    assert table.columns == ("Metric", "", "Mean", "Median", "25%", "75%", "Low", "High", "Cases")
    assert table.rows[0] == ("a", "rate", "0.200", "0.200", "0.150", "0.250", "0.100", "0.300", "3")
    assert [row[:2] for row in table.rows] == [("a", "rate"), ("b", "rate"), ("b", "overall")]
    file = io.StringIO()
    show_figure(block, console=Console(file=file, force_terminal=False, soft_wrap=True))
    assert "0.150   0.250" in re.sub(" +", "   ", file.getvalue())


def narrow() -> BoxRows:
    """Return levels of a metric whose values differ from the fourth decimal on."""
    means = (0.9997926, 0.9996059, 0.9996693, 0.9995655)
    boxes = (
        box_of(f"{number}0%", spread_of([mean - 1e-5, mean, mean + 1e-5], interval=(mean - 3e-5, mean + 3e-5)))
        for number, mean in enumerate(means, 6)
    )
    return rows(*boxes, x_range=(0.9995, 0.9999), x_label="normalized entropy", number_label="Replications")


def test_means_have_as_few_decimals_as_tell_rows_apart() -> None:
    block = narrow()
    shown = [mean_text(row.boxes[0], block) for row in block.rows]
    assert shown[0] == "0.99979 (0.99976–0.99982)"
    assert len({text.split()[0] for text in shown}) == len(shown)
    # One more decimal where two would read the same, and never more than four digits of the range.
    near = rows(box_of("a", [0.9995514]), box_of("b", [0.9995496]), x_range=(0.9995, 0.9999))
    assert [mean_text(row.boxes[0], near) for row in near.rows] == ["0.999551", "0.999550"]


@pytest.mark.parametrize(
    ("reach", "texts"),
    [
        ((0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ((0.9995, 0.9999), ["0.9995", "0.9996", "0.9997", "0.9998", "0.9999"]),
        ((1_000_000.0, 1_000_004.0), ["1,000,000", "", "1,000,002", "", "1,000,004"]),
        ((0.0, 4e-14), ["0", "1e-14", "2e-14", "3e-14", "4e-14"]),
    ],
)
def test_labels_of_an_axis_differ_and_have_room(reach: tuple[float, float], texts: list[str]) -> None:
    ticks = across_of(rows(x_range=reach)).ticks
    assert [text for _, text in ticks] == texts
    assert sum(len(text) + 2 for text in texts if text) <= 40


def test_on_every_width_figures_stay_in_their_columns(browser: "Browser", tmp_path: Path) -> None:
    path = tmp_path / "narrow.html"
    path.write_text(render(with_blocks(narrow())), encoding="utf-8")
    for width in (1100, 700, 320):
        with visit(browser, path, width=width) as page:
            assert page.evaluate("document.documentElement.scrollWidth") == width
            cells = "[...document.querySelectorAll('.box-rows .right, .box-rows .right span')]"
            assert page.evaluate(f"{cells}.every(each => each.scrollWidth <= each.clientWidth + 1)")
            # A head of one word is one line.
            head = "document.querySelector('.box-rows thead th:nth-child(4)')"
            lines = f"(() => {{ const r = document.createRange(); r.selectNodeContents({head}); return r; }})()"
            assert page.evaluate(f"{lines}.getClientRects().length") == 1


def test_a_note_and_the_figure_after_it_do_not_touch(browser: "Browser", tmp_path: Path) -> None:
    table = TableBlock(caption="C", columns=("a",), rows=(("1",),), align=("left",), note="Below the table.")
    path = tmp_path / "note.html"
    path.write_text(render(with_blocks(table, narrow())), encoding="utf-8")
    with visit(browser, path, width=1100) as page:
        bottom = "document.querySelector('p.note').getBoundingClientRect().bottom"
        gap = page.evaluate(f"document.querySelector('figure').getBoundingClientRect().top - {bottom}")
        assert gap >= 20


def test_in_a_narrow_terminal_no_number_is_broken() -> None:
    file = io.StringIO()
    show_figure(
        replace(narrow(), row_label="Share of the edges that the adversary knows", x_range=(0.9, 1.0)),
        console=Console(file=file, force_terminal=True, width=80, no_color=True),
    )
    assert "replications in each row: 3" in file.getvalue()
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in file.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    found = re.findall(r"(?<![\d.])\d[\d.]*", "\n".join(lines[4:]))
    assert all(re.fullmatch(r"\d0%?|\d+|95|0\.\d{4}|1\.\d{4}", number.rstrip("%")) for number in found), found


def test_matplotlib_has_the_same_boxes() -> None:
    block = rows(
        box_of("$a", spread_of([0.0, 0.2, 0.4, 0.6, 0.8], interval=(0.3, 0.5)), [0.1, 0.1, 0.1, 0.1, 0.9], bold=True),
        box_of("b", None, [np.nan]),
        series=("one", "two"),
        thresholds=(Threshold(name="half", value=0.5, across="x"),),
        more_private="right",
    )
    axes = draw(block)
    axes.figure.canvas.draw()
    bodies = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [(each.get_x(), each.get_width()) for each in bodies] == [(0.2, pytest.approx(0.4)), (0.1, 0.0)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$a", "b"]
    assert [label.get_fontweight() for label in axes.get_yticklabels()] == ["bold", "normal"]
    # The first row is at the top.
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert {text.get_text() for text in axes.texts} >= {"0.400 (0.300–0.500)", "0.260", "mean"}
    assert draw(rows(), pyplot.subplots()[1]).get_yticks().size == 0


def test_rows_that_do_not_fit_the_series_are_refused() -> None:
    with pytest.raises(InputError, match="each row must have one box per series"):
        rows(box_of("a", [0.1], [0.2]))
    with pytest.raises(InputError, match="must have 1 to 5 series"):
        rows(series=())


def test_no_rows_and_one_constant_value_can_be_drawn() -> None:
    assert "<tfoot" in render(with_blocks(rows()))
    html = render(with_blocks(rows(box_of("a", [3.0] * 5), x_range=(3.0, 3.0))))
    assert "nan" not in html.split("<main", 1)[1]


def test_the_shareable_edition_reaches_names_in_rows() -> None:
    page = with_blocks(rows(box_of(PrivateText("/data/a.csv", shared="a.csv"), [0.5])))
    assert "/data/" not in render(shareable(page))


@pytest.mark.parametrize("width", [320, 768, 1200])
def test_names_and_figures_have_room_on_every_screen(browser: "Browser", tmp_path: Path, width: int) -> None:
    rng = np.random.default_rng(1)
    boxes = [spread_of(rng.random(1440), interval=(0.48, 0.52)), spread_of(np.append(rng.random(99), np.nan))]
    ranking = rows(*(box_of(name, boxes[0]) for name in ("amount of leaked information", "entropy")))
    beside = rows(box_of("ji-li-srivatsa-beyah", *boxes, note="global"), series=("rate", "overall"))
    levels = rows(box_of("0.25", rng.random(20)), box_of("1", rng.random(20)), small=True, more_private="right")
    path = tmp_path / "page.html"
    path.write_text(render(with_blocks(ranking, beside, levels, levels)), encoding="utf-8")
    with visit(browser, path, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        clashes = page.evaluate(
            """() => [...document.querySelectorAll(".box-rows tr")].flatMap((row) => {
                const parts = [...row.querySelectorAll("bdi, small, td span, th span, .row")].map(
                    (each) => [each, each.getBoundingClientRect()]);
                const meet = (a, b) =>
                    a.left + 1 < b.right && b.left + 1 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
                return parts.flatMap(([x, a], at) => parts.slice(at + 1).filter(([y, b]) => meet(a, b)).map(
                    ([y, b]) => `${x.textContent} meets ${y.textContent}`));
            })"""
        )
        assert clashes == []
        # The boxes of all rows have the same axis below them.
        places = page.evaluate(
            """() => [...document.querySelectorAll(".box-rows")].map((table) => [
                ...table.querySelectorAll("svg.row"), table.querySelector("tfoot svg")].map((each) => {
                    const box = each.getBoundingClientRect();
                    return [box.left, box.right];
                }))"""
        )
        assert len(places) == 4
        assert all(np.ptp(each, axis=0).max() < 0.5 for each in places)
        sizes = page.evaluate(
            """() => [...document.querySelectorAll(".box-rows text")].map(
                (each) => parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a)"""
        )
        assert min(sizes) >= 10
        # Room to see something.
        assert page.evaluate("Math.min(...[...document.querySelectorAll('svg.row')].map((x) => x.clientWidth))") > 180

import io
import re
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from rich.console import Console

from tests.end_to_end.visits import visit
from tests.report.svg.test_boxes import with_blocks
from tests.report.test_page import Reader
from tests.report.test_style import DARK, LIGHT, SHEET, contrast, luminance
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.report.blocks_spread import HeatMap
from unveil.report.draw.heat import COLOURS, LIGHT_STEPS
from unveil.report.draw.lines import draw
from unveil.report.figure_tables import heat_table
from unveil.report.page import render
from unveil.report.svg.heads import heads_of, orders, tiers
from unveil.report.svg.heat import STEPS, describe_heat, legend, steps_of, svg_heat
from unveil.report.terminal import show_figure

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ATTACKS = ("NS", "KL", "YG", "DV", "JLSB", "ADA")
PROTECTIONS = tuple(f"protection {letter}" for letter in "abcdefghijk")
GRAPHS = tuple(f"graph {letter}" for letter in "abcdefghijk")


@pytest.fixture(autouse=True)
def _close_figures() -> object:
    yield
    pyplot.close("all")


def heat(values: list[list[float]] | FloatArray, **changes: object) -> HeatMap:
    array = np.asarray(values, np.float64)
    given = {
        "title": "T",
        "rows": tuple(f"metric {k}" for k in range(array.shape[0])),
        "columns": tuple((f"c{k}",) for k in range(array.shape[1])),
        "levels": ("column",),
        "value_label": "Monotonicity",
        "values": array,
    }
    return HeatMap(**(given | changes))  # type: ignore[arg-type]


def large(rng: np.random.Generator) -> HeatMap:
    columns = tuple(product(ATTACKS, PROTECTIONS, GRAPHS))
    values = rng.random((26, len(columns)))
    return heat(values, columns=columns, levels=("attack", "protection", "data set"))


def cells(drawn: HeatMap) -> np.ndarray:
    """Return the steps that the paths of a picture paint, by following the pen."""
    root = ElementTree.fromstring(svg_heat(drawn, identity="h"))  # noqa: S314
    field = next(each for each in root.iter("svg") if each.get("class") == "field")
    painted = np.full(drawn.values.shape, -9)
    for path in field.iter("path"):
        step = -1 if path.get("stroke") else int(str(path.get("class")).removeprefix("heat-")) - 1
        x = y = 0
        for letter, numbers in re.findall(r"([Mmh])([-\d ]+)", str(path.get("d"))):
            if letter == "M":
                x, y = map(int, numbers.split())
            elif letter == "m":
                x += int(numbers.split()[0])
            else:
                assert (painted[y, x : x + int(numbers)] == -9).all()
                painted[y, x : x + int(numbers)] = step
                x += int(numbers)
    return painted


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 5), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_every_cell_is_painted_once_in_its_step(height: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((height, width)) < 0.2, np.nan, rng.integers(0, 11, (height, width)) / 10)
    slow = [[-1 if np.isnan(v) else min(round(v * 100) // 10, 9) for v in row] for row in values.tolist()]
    np.testing.assert_array_equal(steps_of(heat(values)), slow)
    np.testing.assert_array_equal(cells(heat(values)), slow)


def test_runs_of_the_same_step_are_one_line() -> None:
    text = svg_heat(heat([[0.51] * 50 + [np.nan] * 50 + [0.59] * 50]), identity="h")
    assert 'd="M0 0h50m50 0h50"' in text
    assert 'stroke="url(#h-hatch)" d="M50 0h50"' in text


def test_other_ranges_and_values_outside_them() -> None:
    found = steps_of(heat([[-5.0, -1.0, 0.0, 0.99, 1.0, 7.0]], low=-1.0, high=1.0))
    assert found.tolist() == [[0, 0, 5, 9, 9, 9]]
    assert steps_of(heat([[0.5]], low=0.5, high=0.5)).tolist() == [[0]]


def test_a_map_of_26_by_726_stays_below_250_kb() -> None:
    whole = large(np.random.default_rng(1))
    assert len(whole.columns) == 726
    assert len(svg_heat(whole, identity="h").encode()) < 250_000
    assert len(render(with_blocks(whole)).encode()) < 400_000


def test_columns_stand_under_heads_on_every_level_that_has_room() -> None:
    whole = large(np.random.default_rng(1))
    assert [(tier.way, len(tier.heads)) for tier in tiers(whole)] == [("level", 6), ("turned", 66), ("none", 726)]
    assert [(head.first, head.last) for head in heads_of(whole, 0)[:2]] == [(0, 121), (121, 242)]
    said = orders(whole)
    assert said[0] == (f"Within each attack, columns from the left by protection: {', '.join(PROTECTIONS)}.", True)
    assert said[1] == (f"Within each protection, columns from the left by data set: {', '.join(GRAPHS)}.", False)


def test_a_long_head_is_written_in_lines_before_it_is_turned() -> None:
    columns = tuple(product(("DV:theta=0,chunk=100", "NS:theta=0.5"), map(str, range(20))))
    drawn = heat(np.zeros((1, 40)), columns=columns, levels=("attack", "data set"))
    assert tiers(drawn)[0].lines == (("DV:theta=0,chunk=100",), ("NS:theta=0.5",))
    narrow = tuple(product(("DV:theta=0,chunk=100", "NS:theta=0.5"), map(str, range(2))))
    drawn = heat(np.zeros((1, 4)), columns=narrow, levels=("attack", "data set"))
    assert tiers(drawn)[0].lines == (("DV:theta=0,", "chunk=100"), ("NS:theta=0.5",))
    assert ">chunk=100</text>" in svg_heat(drawn, identity="h")


def test_a_head_that_comes_again_later_is_another_one() -> None:
    columns = (("a", "x"), ("b", "x"), ("b", "y"), ("a", "x"))
    drawn = heat(np.zeros((1, 4)), columns=columns, levels=("outer", "inner"))
    assert [(head.name, head.first, head.last) for head in heads_of(drawn, 0)] == [
        ("a", 0, 1),
        ("b", 1, 3),
        ("a", 3, 4),
    ]
    # The same name below two heads is not one head.
    assert [head.name for head in heads_of(drawn, 1)] == ["x", "x", "y", "x"]


def test_columns_that_are_missing_somewhere_are_said_to_be() -> None:
    columns = tuple(each for each in product(("a", "b"), map(str, range(100))) if each != ("b", "7"))
    (said,) = orders(heat(np.zeros((1, 199)), columns=columns, levels=("attack", "data set")))
    assert said[0].startswith("Within each attack, columns from the left by data set, where it is there: 0, 1, 2")


@pytest.mark.parametrize(("columns", "numbers"), [(12, 24), (13, 0)])
def test_few_columns_show_their_numbers(columns: int, numbers: int) -> None:
    text = svg_heat(heat(np.full((2, columns), 0.667)), identity="h")
    assert text.count(">0.67</text>") == numbers
    assert text.count("middle on-7") == numbers


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_numbers_can_be_read_on_every_step(theme: dict[str, str]) -> None:
    inks: dict[int, str] = {}
    for names, ink in re.findall(r"^(svg \.on-[^{]*) \{ fill: var\(--([\w-]+)\); \}", SHEET, re.MULTILINE):
        inks |= dict.fromkeys(map(int, re.findall(r"on-(\d+)", names)), ink)
    assert sorted(inks) == list(range(1, STEPS + 1))
    for step, ink in inks.items():
        assert contrast(theme[ink], theme[f"heat-{step}"]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_each_step_is_darker_than_the_one_before(theme: dict[str, str]) -> None:
    colours = [theme[f"heat-{step}"] for step in range(1, STEPS + 1)]
    for light, dark in pairwise(colours):
        assert luminance(dark) < luminance(light)
        assert contrast(light, dark) >= 1.2
    # Hatching is seen on the paper between its lines.
    assert contrast(theme["unknown"], theme["paper"]) >= 3


def test_every_step_has_its_colour_in_the_style_sheet() -> None:
    for step in range(1, STEPS + 1):
        assert f"svg .heat-{step} {{ stroke: var(--heat-{step}); }}" in SHEET


def test_matplotlib_has_the_colours_of_the_page() -> None:
    assert [LIGHT[f"heat-{step}"] for step in range(1, STEPS + 1)] == list(COLOURS)
    assert f"svg .on-{LIGHT_STEPS} {{ fill: var(--on-light)" in SHEET


def test_the_legend_has_ten_steps_with_their_edges_and_what_is_hatched() -> None:
    root = ElementTree.fromstring(legend(heat([[0.5, np.nan]], undefined="not <tested>"), identity="h"))  # noqa: S314
    assert [str(line.get("class")) for line in root.iter("line")] == [f"heat-{step}" for step in range(1, 11)]
    texts = [str(text.text) for text in root.iter("text")]
    assert texts == ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]
    assert "not <tested>" in "".join(root.itertext())
    assert "pattern" not in legend(heat([[0.5]]), identity="h")


def test_the_picture_is_said_in_words() -> None:
    said = describe_heat(heat([[0.2, 0.4, np.nan], [np.nan] * 3]))
    assert "metric 0: mean 0.3 (0.2 to 0.4), undefined in 1." in said
    assert "metric 1: undefined everywhere." in said


def test_a_page_scrolls_the_map_and_not_itself() -> None:
    html = render(with_blocks(large(np.random.default_rng(1)), heat([[0.5]], bold=(True,), bold_meaning="mine")))
    reader = Reader(html)
    regions = [each for each in reader.all("div") if each.get("class") == "wide heat"]
    assert [each["tabindex"] for each in regions] == ["0", "0"]
    assert all(each["aria-label"] == "T" for each in regions)
    pictures = [each for each in reader.all("svg") if each.get("role") == "img"]
    names = {each["id"] for tag in ("title", "desc") for each in reader.all(tag) if "id" in each}
    assert all(set(each["aria-labelledby"].split()) <= names for each in pictures)
    identities = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    assert html.count("<summary>Data</summary>") == 2
    assert "In bold: mine." in html


def test_everything_is_escaped_and_nothing_needs_a_weaker_policy() -> None:
    bad = '<b>&"</b>'
    changes = {"title": bad, "rows": (bad,), "columns": ((bad,),), "levels": (bad,), "value_label": bad}
    html = render(with_blocks(heat([[np.nan]], **changes, caption=bad, undefined=bad, bold=(True,), bold_meaning=bad)))
    assert "<b>" not in html
    for _, attributes in Reader(html).elements:
        assert not [key for key in attributes if key == "style" or key.startswith("on")]


def test_the_table_of_a_large_map_has_means_by_its_outermost_head() -> None:
    columns = tuple(product(("a", "b"), map(str, range(10))))
    values = np.concatenate([np.full((1, 10), 0.25), np.full((1, 10), 0.75)], axis=1)
    values[0, 0] = np.nan
    table = heat_table(heat(values, columns=columns, levels=("attack", "data set")))
    assert table.columns == ("", "a", "b", "All columns", "Undefined")
    assert table.rows == (("metric 0", "0.25", "0.75", "0.51", "1"),)
    many = heat_table(heat(np.full((1, 20), np.nan)))
    assert many.rows == (("metric 0", "undefined", "20"),)
    file = io.StringIO()
    show_figure(heat([[0.125, np.nan]]), console=Console(file=file, force_terminal=False, soft_wrap=True))
    assert file.getvalue().splitlines()[-1].split() == ["metric", "0", "0.12", "undefined"]


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (1, 1)])
def test_nothing_can_be_drawn_too(shape: tuple[int, int]) -> None:
    empty = heat(np.zeros(shape))
    assert "nan" not in svg_heat(empty, identity="h")
    render(with_blocks(empty))
    draw(empty).figure.canvas.draw()


def test_matplotlib_draws_the_same_steps_and_hatches_the_rest() -> None:
    values = np.random.default_rng(3).random((3, 24))
    values[1, 4] = np.nan
    columns = tuple(product(("a", "$b"), map(str, range(12))))
    drawn = heat(values, columns=columns, levels=("attack", "data set"), bold=(True, False, False))
    axes = draw(drawn)
    axes.figure.canvas.draw()
    np.testing.assert_array_equal(np.ma.filled(np.ma.asarray(axes.images[0].get_array()), -1), steps_of(drawn))
    assert axes.patch.get_hatch()
    assert [label.get_fontweight() for label in axes.get_yticklabels()] == ["bold", "normal", "normal"]
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(k) for k in range(12)] * 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows": ("a", "b")}, "must have one value for each"),
        ({"levels": ("one", "two")}, "one name per level"),
        ({"levels": ()}, "one name per level"),
        ({"bold": (True, False)}, "for each of its 1 rows"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        heat([[0.5]], **changes)


def test_a_wide_map_scrolls_in_its_own_box_below_names_that_stay(browser: "Browser", tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(render(with_blocks(large(np.random.default_rng(1)))), encoding="utf-8")
    with visit(browser, path, width=320) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        box = page.locator(".heat")
        assert box.evaluate("(each) => each.scrollWidth - each.clientWidth") > 2000
        before = page.locator(".names").bounding_box()
        box.evaluate("(each) => { each.scrollLeft = 1500; }")
        assert page.locator(".names").bounding_box() == before
        assert before is not None
        assert before["width"] < 140
        sizes = page.evaluate(
            """() => [...document.querySelectorAll(".heat text, .scale text")].map(
                (each) => parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a)"""
        )
        assert min(sizes) >= 10
        # Each name stands beside its row.
        rows = page.evaluate(
            """() => {
                const bottom = document.querySelector("svg.cells").getBoundingClientRect().bottom;
                return [...document.querySelectorAll(".names li")].reverse().map(
                    (each, row) => Math.round(bottom - 26 * row - each.getBoundingClientRect().bottom));
            }"""
        )
        assert len(rows) == 26
        assert set(rows) == {0}


def test_on_paper_the_whole_map_is_there(browser: "Browser", tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(render(with_blocks(large(np.random.default_rng(1)))), encoding="utf-8")
    with visit(browser, path, width=673) as page:
        page.emulate_media(media="print")
        right = page.locator(".heat > svg").evaluate("(each) => each.getBoundingClientRect().right")
        assert right <= 673
        shown = page.locator(".heat .heads text:visible").all_text_contents()
        assert shown == list(ATTACKS)
        assert page.get_by_text("Within each attack, columns from the left by protection").is_visible()

"""What the script of every page does in a real browser, and what a page does without it."""

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.end_to_end.visits import visit
from unveil.report.blocks import Chart, Page, Section, Series, TableBlock
from unveil.report.blocks_spread import BoxRows, HeatMap, box_of
from unveil.report.export import tables_of
from unveil.report.page import METHODS, render

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Opened

pytestmark = pytest.mark.browser

RATES = Series(
    name="attack", x=np.array([0.2, 0.9]), y=np.array([0.0, 1.0]), style="first", kind="points",
    low=np.array([0.1, 0.8]), high=np.array([0.3, 1.0]),
)  # fmt: skip
CHANCE = Series(name="chance", x=np.array([0.1, 0.1]), y=np.array([0.0, 1.0]), style="second", kind="points")
PICTURE = Chart(
    title="Each release", x_label="share", y_label="", x_kind="share", series=(RATES, CHANCE), rows=("masked", "coarse")
)
BARS = Series(name="share", x=np.array([0.0, 0.5]), y=np.array([0.25, 0.75]), style="first", kind="bars", width=0.5)
CURVE = Series(name="linked", x=np.array([0.0, 3.0]), y=np.array([0.4, 1.0]), style="second")
WIDE = TableBlock(
    caption="Figures",
    columns=("=head", *(f"a long name of column {number}" for number in range(11))),
    rows=tuple((f"row {at}", *["12.3% (10.1% to 14.5%)"] * 9, "-5", "@bob, x") for at in range(30)),
    align=("left",) + ("right",) * 11,
)
SMALL = TableBlock(caption="Sizes", columns=("group", "people"), rows=(("a", "40"),), align=("left", "right"))
PAGE = Page(
    title="T",
    question="May it go out?",
    headline="No: 90% (80–100%) of 50 people are found in 'coarse', and 10% would be by chance.",
    tone="bad",
    explanation=("'masked' is the safer one: 20% (10–30%) are found.",),
    next_steps=("Release 'masked'.", "Audit it again when it changes."),
    picture=(PICTURE,),
    sections=(
        Section(heading="Settings", lead="How.", blocks=()),
        Section(
            heading="Values",
            lead="Each.",
            blocks=(
                Chart(title="Bars", x_label="x", y_label="y", series=(BARS, CURVE), x_range=(0, 3)),
                HeatMap(
                    title="Heat", rows=("r", "s"), columns=(("a",), ("b",)), levels=("l",), value_label="v",
                    values=np.array([[0.5, np.nan], [0.0, 1.0]]),
                ),
                BoxRows(title="Boxes", x_label="score", rows=(box_of("a", [0.1, 0.2, 0.3]), box_of("b", [0.4]))),
                WIDE,
            ),
        ),
        Section(heading="Groups", lead="Whom.", blocks=(), data=(SMALL,), is_open=True),
    ),
    notes=("Three rows were left out.",),
    limitations=("Longer attacks.",),
    method=("At random.",),
)  # fmt: skip
HEADINGS = ["Settings", "Values", "Groups", METHODS]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page."""
    path = tmp_path_factory.mktemp("script") / "page.html"
    path.write_text(render(PAGE), encoding="utf-8")
    return path


def unfolded(page: "Opened") -> list[str]:
    return page.locator("details.part[open] > summary").all_text_contents()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_first_screen_has_the_finding_what_to_do_and_the_picture(
    browser: "Browser", path: Path, size: tuple[int, int]
) -> None:
    with visit(browser, path, unfold=False, width=size[0]) as page:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        for shown in ("h1", ".explanation", ".next-steps", ".pictures svg[role=img]"):
            box = page.locator(shown).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= size[1], shown


def test_without_the_script_parts_fold_and_links_and_paper_unfold_them(browser: "Browser", path: Path) -> None:
    with visit(browser, path, unfold=False, java_script_enabled=False) as page:
        assert page.locator("summary h2").all_text_contents() == HEADINGS
        assert unfolded(page) == ["Groups"]
        assert page.get_by_role("button").count() == 0
        assert not page.get_by_text("At random.").is_visible()
        page.get_by_role("navigation").get_by_role("link", name=METHODS).click()
        assert page.get_by_text("At random.").is_visible()
        assert not page.get_by_text("How.", exact=True).is_visible()
        page.emulate_media(media="print")
        for sentence in ("Longer attacks.", "Three rows were left out.", "How."):
            assert page.get_by_text(sentence, exact=True).is_visible()
        assert not page.get_by_role("navigation").is_visible()


def test_contents_stand_at_the_side_of_wide_screens_and_stay_in_sight(browser: "Browser", path: Path) -> None:
    with visit(browser, path, width=1280) as page:
        contents = page.get_by_role("navigation")
        assert contents.get_by_role("link").all_text_contents() == HEADINGS
        page.evaluate("scrollTo(0, 1e6)")
        box = contents.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < 40
        assert box["x"] + box["width"] <= (page.locator(".rest").bounding_box() or box)["x"]
    with visit(browser, path, width=390, unfold=False) as page:
        assert not page.get_by_role("link", name="Values").is_visible()
        page.get_by_text("On this page").click()
        page.get_by_role("link", name="Values").click()
        assert "Values" in unfolded(page)


def test_no_table_is_cut_off_on_a_wide_screen_and_a_phone_scrolls_it(browser: "Browser", path: Path) -> None:
    for width, scrolls in ((1280, False), (390, True)):
        with visit(browser, path, width=width) as page:
            table = page.get_by_role("region", name="Figures", exact=False).last
            assert table.evaluate("e => e.scrollWidth > e.clientWidth + 1") == scrolls
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_one_button_unfolds_all_and_paper_leaves_folds_as_they_were(browser: "Browser", path: Path) -> None:
    with visit(browser, path, unfold=False) as page:
        assert unfolded(page) == ["Groups"]
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert unfolded(page) == HEADINGS
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert unfolded(page) == ["Groups"]
        page.get_by_role("button", name="Unfold all").click()
        assert unfolded(page) == HEADINGS
        page.get_by_role("button", name="Fold all").click()
        assert unfolded(page) == []
    with visit(browser, path, unfold=False) as page:
        page.evaluate("location.hash = 'methods'")
        page.get_by_text("Longer attacks.").wait_for()


def test_data_are_a_fold_of_their_own_that_unfolding_all_leaves_closed(browser: "Browser", path: Path) -> None:
    with visit(browser, path, unfold=False) as page:
        page.get_by_role("button", name="Unfold all").click()
        sizes = page.get_by_role("region", name="Sizes")
        assert not sizes.is_visible()
        page.locator("details.data > summary").click()
        assert sizes.is_visible()


def test_every_mark_tells_its_value_to_the_pointer_and_to_the_keys(browser: "Browser", path: Path) -> None:
    with visit(browser, path) as page:
        tip = page.get_by_role("status")
        assert not tip.is_visible()
        page.locator(".bar").first.hover()
        assert tip.inner_text() == "share: 25% from 0 to 0.5"

        def stepped(chart: str, keys: str) -> list[str]:
            page.locator(chart).focus()
            told = []
            for key in keys.split():
                page.keyboard.press(f"Arrow{key}")
                told.append(tip.inner_text())
            page.keyboard.press("Escape")
            assert not tip.is_visible()
            return told

        assert stepped(".pictures svg[role=img]", "Right Right Down Right Right Left") == [
            "masked, attack: 20.0% (10.0% to 30.0%)",
            "masked, chance: 10.0%",
            "coarse, attack: 90.0% (80.0% to 100.0%)",
            "coarse, chance: 10.0%",
            "coarse, chance: 10.0%",
            "coarse, attack: 90.0% (80.0% to 100.0%)",
        ]
        curve = stepped(".folded .picture > svg", "Right Right Right Right")
        assert curve[2:] == ["linked: 40% at 0", "linked: 100% at 3"]
        assert stepped(".heat", "Right Right Down Left") == [
            "r, a: 0.50",
            "r, b: undefined",
            "s, b: 1.00",
            "s, a: 0.00",
        ]
        assert stepped("table.box-rows", "Right")[0].startswith("a: mean 0.200, median 0.200, middle half from 0.150")


def test_a_table_is_copied_as_the_command_line_writes_it(browser: "Browser", path: Path) -> None:
    with visit(browser, path) as page:
        page.evaluate(
            "addEventListener('copy', (event) => { window.copied = event.clipboardData.getData('text/plain'); })"
        )
        button = page.get_by_role("region", name="Figures").last.get_by_role("button")
        button.click()
        assert page.evaluate("window.copied").encode() == tables_of(PAGE)["03-figures.csv"]
        assert button.inner_text() == "Copied"


def test_a_chart_is_saved_with_all_that_belongs_to_it(browser: "Browser", path: Path) -> None:
    with visit(browser, path, color_scheme="dark") as page:
        figure = page.locator(".pictures figure")
        with page.expect_download() as saved:
            figure.get_by_role("button", name="Save as SVG").click()
        text = saved.value.path().read_text(encoding="utf-8")
        assert saved.value.suggested_filename == "each-release.svg"
        for word in ("masked", "20.0%", "attack", "chance", "Each release.", "rgb(20, 24, 29)"):
            assert word in text
        assert "var(" not in text
        assert "Save as" not in text
        with page.expect_download() as saved:
            figure.get_by_role("button", name="Save as PNG").click()
        width, height = struct.unpack(">II", saved.value.path().read_bytes()[16:24])
        assert min(width, height) > 300
        # Beside a picture of several parts stands its table.
        boxes = page.locator("figure", has=page.locator(".box-rows"))
        assert boxes.get_by_role("button").all_inner_texts() == ["Save as SVG", "Save as PNG", "Copy as CSV"]

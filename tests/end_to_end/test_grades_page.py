"""The page on grades in a real browser: small screens, the dark, paper, by ear, and no network."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.visits import visit, visit_at
from tests.questions.grade_metrics.test_view import findings
from unveil.questions.grade_metrics.view import page as page_of
from unveil.report.page import render

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of planted grades."""
    file = tmp_path_factory.mktemp("pages") / "grades.html"
    file.write_text(render(page_of(findings(), seed=0)), encoding="utf-8")
    return file


def test_the_answer_is_seen_first_and_pictures_are_named(browser: "Browser", path: Path) -> None:
    with visit(browser, path) as page:
        assert "follow the adversary's strength in" in (page.get_by_role("heading", level=1).text_content() or "")
        headings = page.get_by_role("heading", level=2).all_text_contents()
        wanted = ["Every metric", "Monotonicity", "Evenness", "Level by level"]
        assert [text for text in headings if text in wanted] == wanted
        rows = page.get_by_role("region", name="10 metrics").locator("tbody tr")
        assert rows.count() == 10
        assert rows.last.locator("td").first.text_content() == "no grade"
        assert page.get_by_text("The metrics to use first").first.is_visible()


def test_a_small_screen_needs_no_sideways_scrolling(browser: "Browser", path: Path) -> None:
    for page, width in visit_at(browser, path, 320, 768):
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_dark_and_paper_show_everything(browser: "Browser", path: Path) -> None:
    colour = "getComputedStyle(document.body).color"
    with visit(browser, path, color_scheme="dark") as page:
        dark = page.evaluate(colour)
        page.emulate_media(media="print")
        assert page.evaluate(colour) != dark
        assert page.get_by_role("heading", name="What explains the scores").is_visible()


def test_nothing_needs_javascript(browser: "Browser", path: Path) -> None:
    with visit(browser, path, java_script_enabled=False) as page:
        assert page.get_by_role("heading", name="Better suites").is_visible()

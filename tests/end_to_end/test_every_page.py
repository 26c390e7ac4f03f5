"""One page of every question in a real browser: first screen, small screens, the dark, paper, no script, no network."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.shared_calls import CALLS, Calls
from tests.end_to_end.visits import barriers, visit, visit_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
#: The text of pictures: how large each is on the screen, and what sticks out of its picture.
TEXTS = (
    "[...document.querySelectorAll('figure svg[role=img] text')].filter((text) => text.getBoundingClientRect().width)"
)
SIZES = f"{TEXTS}.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
CUT = (
    f"{TEXTS}.filter((text) => {{ const own = text.getBoundingClientRect(), "
    "frame = text.ownerSVGElement.getBoundingClientRect(); "
    "return own.left < frame.left - 1 || own.right > frame.right + 1; }).map((text) => text.textContent)"
)


#: Pictures that a screen reader could not name.
NAMELESS = "svg[role=img]:not([aria-label]):not([aria-labelledby]):not(:has(> title))"


@pytest.mark.parametrize("name", [name for name in CALLS if name != "study_run"])
def test_a_page_can_be_read_everywhere(browser: "Browser", calls: Calls, name: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    calls.run(name, "--quiet", "--html", str(path))
    with visit(browser, path, unfold=False) as page:
        headline = page.get_by_role("heading", level=1)
        place = headline.bounding_box()
        assert headline.text_content()
        assert place is not None
        assert place["y"] + place["height"] < 800
        assert page.evaluate(f"[...document.querySelectorAll('{NAMELESS}')].length") == 0
        assert barriers(page) == []
        page.emulate_media(color_scheme="dark")
        assert barriers(page) == []
    for page, width in visit_at(browser, path, 320, 360, 768, 1200):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width >= 360:
            assert min(page.evaluate(SIZES), default=10) >= 10
            assert page.evaluate(CUT) == []
    with visit(browser, path, color_scheme="dark", java_script_enabled=False) as page:
        assert page.evaluate(BACKGROUND) == "rgb(20, 24, 29)"
        page.emulate_media(media="print")
        assert page.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
        for picture in page.locator("figure:not(details.data figure) svg[role=img]").all()[-1:]:
            assert picture.is_visible()

"""The audit page in a real browser: pictures, hostile names, small screens, dark, paper, silence on the network."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from tests.end_to_end.visits import visit, visit_at
from unveil.questions.audit.answer import audit, sample_releases
from unveil.questions.audit.findings import Audit
from unveil.questions.result import Result
from unveil.report.page import METHODS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

SCRIPT = "<script>document.title = 'run'</script>"
IMAGE = '<img src=x onerror="alert(1)">'


@cache
def sample(profile: str = "") -> Result[Audit]:
    """Return the answer to the embedded sample."""
    rng = np.random.default_rng(0)
    original, control, releases = sample_releases(rng)
    return audit(original, list(releases), control, profile=profile, rng=rng)


@cache
def example() -> str:
    """Return the page of the embedded sample, which is what most people see first."""
    return sample().to_html(seed=0)


@cache
def hostile() -> str:
    """Return a page about columns and releases whose names attack it."""
    rng = np.random.default_rng(1)
    names = [SCRIPT, IMAGE, "x" * 300, "\u202egnirts", "{{ 7 * 7 }}"]
    frame = pl.DataFrame({name: rng.choice([SCRIPT, IMAGE, "c", "d"], 60) for name in names})
    answer = audit(
        frame,
        {SCRIPT: frame.reverse(), IMAGE: frame.head(40)},
        frame.sample(20, seed=1),
        targets=20,
        neighbors=2,
        rng=rng,
    )
    return answer.to_html(seed=0)


def saved(folder: Path, html: str) -> Path:
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.mark.parametrize("built", [example, hostile])
def test_no_screen_needs_sideways_scrolling(browser: "Browser", tmp_path: Path, built: object) -> None:
    for page, width in visit_at(browser, saved(tmp_path, built()), 320, 360, 768, 1200):  # type: ignore[operator]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outside = page.evaluate(
            """() => [...document.querySelectorAll("figure svg[role=img] text")].filter((text) => {
                const own = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
                return own.left < frame.left - 1 || own.right > frame.right + 1;
            }).map((text) => text.textContent)"""
        )
        assert outside == []


def test_text_in_pictures_can_be_read_on_a_phone(browser: "Browser", tmp_path: Path) -> None:
    with visit(browser, saved(tmp_path, example()), width=360) as page:
        sizes = page.evaluate(
            """() => [...document.querySelectorAll("figure svg[role=img] text")].map(
                (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
        )
        assert min(sizes) >= 10


def test_the_headline_comes_first_and_what_an_audit_is_not_among_the_limitations(
    browser: "Browser", tmp_path: Path
) -> None:
    with visit(browser, saved(tmp_path, example())) as page:
        headline = page.get_by_role("heading", level=1)
        assert headline.count() == 1
        assert headline.bounding_box()["y"] < 300  # type: ignore[index]
        assert page.get_by_text("not a legal determination of anonymity").first.is_visible()


def test_the_sections_stand_in_their_order_and_open_with_their_result(browser: "Browser", tmp_path: Path) -> None:
    with visit(browser, saved(tmp_path, example())) as page:
        made = sample().page()
        headings = page.locator("main .part h2").all_inner_texts()
        assert headings == [*(section.heading for section in made.sections), METHODS]
        assert headings[:5] == [
            "Singling out and re-identification", "Linkability", "Attribute inference", "Membership inference",
            "Copies and distances",
        ]  # fmt: skip
        assert page.locator("main .part .lead").all_inner_texts() == [section.lead for section in made.sections]
        # Each attack has its results behind one of the toggles.
        page.evaluate("document.querySelectorAll('details.data').forEach((each) => { each.open = true; })")
        assert page.locator(".data table").count() >= len(made.sections)
        assert page.get_by_role("img", name="Risk and utility").count() == 1
        # What the picture shows is said to those who do not see it.
        said = page.locator("figure svg[role=img] desc").first.text_content() or ""
        assert "shuffled: 99.71% at 0%." in said
        assert "gaussian-copula: " in said


def test_points_do_not_leave_the_frame_and_rows_do_not_overlap(browser: "Browser", tmp_path: Path) -> None:
    with visit(browser, saved(tmp_path, example()), width=360) as page:
        clashes = page.evaluate(
            """() => [...document.querySelectorAll("figure svg[role=img]")].flatMap((svg) => {
                const names = [...svg.querySelectorAll(".row-name")].map((each) => each.getBoundingClientRect());
                const values = [...svg.querySelectorAll(".value")].map((each) => each.getBoundingClientRect());
                const meet = (a, b) =>
                    a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
                return names.flatMap((a) => values.filter((b) => meet(a, b))).map(() => svg.id);
            })"""
        )
        assert clashes == []


def test_hostile_names_are_shown_and_not_run(browser: "Browser", tmp_path: Path) -> None:
    with visit(browser, saved(tmp_path, hostile())) as page:
        assert page.title() == "Audit of 2 releases"
        assert page.locator("img").count() == 0
        assert page.get_by_text(SCRIPT, exact=True).count() >= 1


def test_without_javascript_the_page_is_the_same(browser: "Browser", tmp_path: Path) -> None:
    with visit(browser, saved(tmp_path, example()), java_script_enabled=False) as page:
        plain = page.locator("main").inner_text()
        assert page.get_by_role("button").count() == 0
    assert "Risks by release" in plain
    assert METHODS in plain


def test_tables_can_be_reached_by_keyboard(browser: "Browser", tmp_path: Path) -> None:
    with visit(browser, saved(tmp_path, example()), width=360) as page:
        page.evaluate("document.querySelectorAll('details.data').forEach((each) => { each.open = true; })")
        box = page.get_by_role("region", name="Linkability: all column splits")
        assert box.evaluate("e => e.scrollWidth > e.clientWidth")
        box.focus()
        assert box.evaluate("e => document.activeElement === e")

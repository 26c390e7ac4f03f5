"""The page about candidates in a real browser: small screens, the dark, paper, by ear, and silence on the network."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.end_to_end.visits import visit, visit_at
from unveil.cli import main
from unveil.data import samples
from unveil.measure import METRICS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PER_TARGET = [m for m in METRICS.values() if m.on == "Candidates" and m.per == "target"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the page of the example, with its truth and without."""
    folder = tmp_path_factory.mktemp("pages")
    calls = {"with truth": ["--sample"], "without truth": [str(samples.path("candidates_guess.csv"))]}
    found = {}
    for name, call in calls.items():
        found[name] = folder / f"{name}.html"
        run = CliRunner().invoke(main, ["candidates", *call, "--quiet", "--html", str(found[name])])
        assert run.exit_code == 0, run.output
    return found


def test_the_answer_and_the_two_success_figures_are_seen_first(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["with truth"]) as page:
        assert "14.5 of 29 targets" in (page.get_by_role("heading", level=1).text_content() or "")
        first = page.locator("section").first
        assert first.locator(".value").all_text_contents()[:2] == ["58.0%", "50.0%"]
        assert first.locator(".reference").all_text_contents() == ["Random guessing: 15.3%", "Random guessing: 13.2%"]
        assert "They differ because" in (first.locator(".lead").text_content() or "")


def test_every_metric_of_targets_has_a_picture_with_a_name_and_a_description(
    browser: "Browser", pages: dict[str, Path]
) -> None:
    with visit(browser, pages["with truth"]) as page:
        pictures = page.locator("figure svg[role=img]")
        assert pictures.count() == len(PER_TARGET)
        for metric in PER_TARGET:
            title = metric.name.replace("_", " ").capitalize()
            assert page.get_by_role("img", name=title, exact=False).first.is_visible(), title
        told = page.locator("figure desc").all_text_contents()
        assert all("targets: " in text and "mean " in text for text in told)
        assert page.locator("figure .bar").first.is_visible()


def test_small_pictures_stand_side_by_side_where_there_is_room(browser: "Browser", pages: dict[str, Path]) -> None:
    lefts = "() => new Set([...document.querySelectorAll('figure')].map(f => f.getBoundingClientRect().left)).size"
    for width, columns in ((1200, 2), (360, 1)):
        with visit(browser, pages["with truth"], width=width) as page:
            assert page.evaluate(lefts) == columns


@pytest.mark.parametrize("which", ["with truth", "without truth"])
def test_a_small_screen_needs_no_sideways_scrolling(browser: "Browser", pages: dict[str, Path], which: str) -> None:
    for page, width in visit_at(browser, pages[which], 320, 360, 768):
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_text_in_pictures_can_be_read_and_is_not_cut(browser: "Browser", pages: dict[str, Path]) -> None:
    for page, _ in visit_at(browser, pages["with truth"], 360, 768, 1200):
        sizes = page.evaluate(
            """() => [...document.querySelectorAll("figure svg[role=img] text")].map(
                (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
        )
        assert min(sizes) >= 10
        outside = page.evaluate(
            """() => [...document.querySelectorAll("figure svg[role=img] text")].filter((text) => {
                const own = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
                return own.left < frame.left - 1 || own.right > frame.right + 1;
            }).map((text) => text.textContent)"""
        )
        assert outside == []


def test_the_name_of_the_mean_does_not_lie_on_a_bar(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["with truth"]) as page:
        covered = page.evaluate(
            """() => [...document.querySelectorAll("figure svg")].filter((svg) => {
                const name = svg.querySelector(".threshold-name")?.getBoundingClientRect();
                return name && [...svg.querySelectorAll(".bar")].some((bar) => {
                    const box = bar.getBoundingClientRect();
                    return box.left < name.right && box.right > name.left && box.top < name.bottom - 2;
                });
            }).map((svg) => svg.querySelector("title").textContent)"""
        )
        assert covered == []


def test_without_truth_what_is_missing_is_listed(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["without truth"]) as page:
        assert page.get_by_role("heading", name="What could not be measured").count() == 1
        rows = page.get_by_role("region", name="Metrics that compare with the truth").locator("tbody tr")
        assert rows.count() == 17
        assert page.get_by_text("Success rate", exact=True).count() == 0


def test_dark_on_screen_and_light_on_paper(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["with truth"], color_scheme="dark") as page:
        background = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(background) == "rgb(20, 24, 29)"
        page.emulate_media(media="print")
        assert page.evaluate(background) == "rgb(255, 255, 255)"
        assert page.locator("figure svg[role=img]").last.is_visible()


def test_nothing_needs_javascript(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["with truth"], java_script_enabled=False) as page:
        assert page.locator("figure svg[role=img]").last.is_visible()

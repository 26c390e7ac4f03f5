"""The page about candidates in a real browser: small screens, the dark, paper, by ear, and silence on the network."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.end_to_end.visits import visit
from unveil.cli import main
from unveil.data import samples
from unveil.questions.attack_metrics.sections.metrics import FIRST

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the page of the example, with its truth and without."""
    folder = tmp_path_factory.mktemp("pages")
    calls = {"with truth": ["--sample"], "without truth": [str(samples.path("candidates_guess.csv"))]}
    found = {}
    for name, call in calls.items():
        found[name] = folder / f"{name}.html"
        run = CliRunner().invoke(main, ["attack-metrics", *call, "--quiet", "--html", str(found[name])])
        assert run.exit_code == 0, run.output
    return found


def test_the_answer_and_the_two_success_figures_are_seen_first(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["with truth"]) as page:
        assert "14.5 of 29 targets" in (page.get_by_role("heading", level=1).text_content() or "")
        rows = page.get_by_role("region", name="Accuracy").first.locator("tbody tr")
        assert rows.nth(0).locator("td").all_text_contents() == ["58.0% (14.5 of 25)", "15.3%"]
        assert rows.nth(1).locator("td").all_text_contents() == ["50.0% (14.5 of 29)", "13.2%"]


def test_the_overview_is_on_the_first_screen_and_is_read_out(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["with truth"]) as page:
        overview = page.get_by_role("table", name="Metrics relative to the baseline").first
        assert overview.is_visible()
        rows = overview.locator("tbody tr")
        assert rows.count() == FIRST
        assert rows.first.get_by_role("img").first.get_attribute("aria-label")
        top = overview.bounding_box()
        assert top is not None
        assert top["y"] < 800


def test_without_truth_what_is_missing_is_listed(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["without truth"]) as page:
        assert page.get_by_role("heading", name="Accuracy").count() == 1
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        rows = page.get_by_role("region", name="Metrics that need the true matches").locator("tbody tr")
        assert rows.count() == 18
        assert page.get_by_text("Success of attempted targets", exact=False).count() == 0

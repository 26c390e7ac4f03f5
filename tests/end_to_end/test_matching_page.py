"""The page about matchings in a real browser: small screens, the dark, paper, by ear, and silence on the network."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from tests.end_to_end.visits import visit
from unveil.cli import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the page of the example, and of a large attack that is sampled, with groups and a limit."""
    folder = tmp_path_factory.mktemp("pages")
    n, rng = 40, np.random.default_rng(1)
    np.save(folder / "large.npy", np.exp(rng.standard_normal((n, n))) + 30 * np.eye(n))
    numbers = range(1, n + 1)
    (folder / "truth.csv").write_text("item,pseudonym\n" + "".join(f"{k},{k}\n" for k in numbers))
    (folder / "groups.csv").write_text("item,group\n" + "".join(f"{k},group {k % 3}\n" for k in numbers))
    large = [str(folder / "large.npy"), "--truth", str(folder / "truth.csv"), "--groups", str(folder / "groups.csv")]
    calls = {"example": [], "large": [*large, "--limit", "cracked_share.high=1"]}
    found = {}
    for name, call in calls.items():
        found[name] = folder / f"{name}.html"
        run = CliRunner().invoke(main, ["matching", *call, "--quiet", "--html", str(found[name])])
        assert run.exit_code == 0, run.output
    return found


def test_the_answer_and_the_expected_cracks_are_seen_first(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["example"]) as page:
        assert "1.6 of 5 pseudonyms" in (page.get_by_role("heading", level=1).text_content() or "")
        assert page.get_by_text("Internal – do not share").first.is_visible()
        table = page.get_by_role("region", name="Resolved pseudonyms").first
        assert table.locator("tbody tr").first.locator("td").all_text_contents() == ["1.611 of 5", "1", "exact"]


def test_the_distribution_has_its_5_percent_point_and_a_description(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["example"]) as page:
        picture = page.get_by_role("img", name="Distribution of resolved pseudonyms")
        assert picture.is_visible()
        assert picture.locator(".bar").count() == 5
        assert picture.locator(".threshold-name").text_content() == "with 5% probability all 5"
        told = picture.locator("desc").text_content() or ""
        assert "attack: 22.22% from -0.5 to 0.5" in told
        assert "baseline: " in told


def test_entries_are_listed_by_risk_without_their_tokens(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["example"]) as page:
        rows = page.get_by_role("region", name="Items most at risk").locator("tbody th")
        assert rows.all_text_contents() == ["Asthma", "Tuberculosis", "Viral Fever", "Flu", "Cold"]
        cells = page.locator("td, th").all_text_contents()
        assert not {"u", "v", "x", "y", "z"} & set(cells)
    with visit(browser, pages["large"]) as page:
        assert page.get_by_role("region", name="Items most at risk").locator("tbody tr").count() == 10
        assert page.get_by_role("region", name="Groups resolved").locator("tbody tr").count() == 3
        assert page.get_by_role("img", name="Probability to be resolved").is_visible()


def test_method_and_error_are_in_words(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["large"]) as page:
        told = page.locator("#methods").text_content() or ""
        assert "R-hat" in told
        assert "worm Monte Carlo" in told


@pytest.mark.parametrize("which", ["example", "large"])
def test_the_name_of_the_mark_does_not_lie_on_a_bar(browser: "Browser", pages: dict[str, Path], which: str) -> None:
    with visit(browser, pages[which]) as page:
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

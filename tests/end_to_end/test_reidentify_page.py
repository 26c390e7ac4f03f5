"""The page about re-identification in a real browser: the verdict first, small screens, paper, and no network."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.end_to_end.visits import visit
from unveil.cli import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

FIVE = ("intersection", "intersection:p=5", "nearest", "bayes", "softmax:s=0.3")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of the example, with as many attacks as are drawn, and a limit."""
    target = tmp_path_factory.mktemp("pages") / "report.html"
    attacks = [word for attack in FIVE for word in ("--attack", attack)]
    run = CliRunner().invoke(
        main, ["reidentify", *attacks, "--quiet", "--limit", "attack_rate=1", "--html", str(target)]
    )
    assert run.exit_code == 0, run.output
    return target


def test_the_verdict_and_the_attacks_side_by_side_are_seen_first(browser: "Browser", path: Path) -> None:
    with visit(browser, path) as page:
        headline = page.get_by_role("heading", level=1).text_content() or ""
        assert " re-identifies " in headline
        rows = page.get_by_role("region", name="Attacks").first.locator("tbody tr")
        assert [row.locator("th").text_content() for row in rows.all()] == ["intersection:p=10", *FIVE[1:]]
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        validity = page.get_by_role("region", name="Validity by attack").locator("tbody tr")
        assert "no candidate is left" in (validity.nth(1).text_content() or "")
        assert page.get_by_role("heading", name="Conflicting attacks").count() == 1


def test_all_pictures_have_a_name_and_are_described(browser: "Browser", path: Path) -> None:
    with visit(browser, path) as page:
        assert page.locator("figure svg[role=img]").count() == 3
        for title in (
            "Success by attack",
            "Success by columns known",
            "Remaining uncertainty by columns known",
        ):
            assert page.get_by_role("img", name=title, exact=False).first.is_visible()
        assert all(attack in text for text in page.locator("figure desc").all_text_contents() for attack in FIVE[1:])

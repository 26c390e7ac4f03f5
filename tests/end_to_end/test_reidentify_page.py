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
    run = CliRunner().invoke(main, ["reidentify", *attacks, "--quiet", "--limit", "hit_rate=1", "--html", str(target)])
    assert run.exit_code == 0, run.output
    return target


def test_the_verdict_and_the_attacks_side_by_side_are_seen_first(browser: "Browser", path: Path) -> None:
    with visit(browser, path) as page:
        headline = page.get_by_role("heading", level=1).text_content() or ""
        assert "is valid for every record" in headline
        assert page.locator("section").first.locator(".value").count() == 2
        rows = page.get_by_role("region", name="The attacks side by side").locator("tbody tr")
        assert rows.count() == len(FIVE)
        told = [(row.locator("th, td").all_text_contents()) for row in rows.all()]
        assert [cells[0].strip() for cells in told] == ["intersection:p=10", *FIVE[1:]]
        assert "not valid for" in told[1][1]
        witnesses = page.get_by_role("region", name="The worst claim of each attack").locator("tbody tr")
        assert "nobody is left possible" in (witnesses.nth(1).text_content() or "")
        assert page.get_by_role("heading", name="Attacks that cannot both be valid").count() == 1
        assert page.get_by_role("heading", name="Limits").count() == 1


def test_all_pictures_have_a_name_and_are_described(browser: "Browser", path: Path) -> None:
    with visit(browser, path) as page:
        assert page.locator("figure svg[role=img]").count() == 3
        for title in (
            "How often each attack names",
            "How often the best bet is the right person",
            "How much doubt is left",
        ):
            assert page.get_by_role("img", name=title, exact=False).first.is_visible()
        assert all(attack in text for text in page.locator("figure desc").all_text_contents() for attack in FIVE[1:])

"""The page about an attacked graph in a real browser: small screens, the dark, paper, by ear, and no network."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.end_to_end.visits import visit
from tests.graph_strategies import heavy_tail
from unveil.cli import main
from unveil.data.graph.files import write_edges
from unveil.metrics import METRICS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

METRIC_TABLES = "reliable metrics", "other metrics"
CALLS = {"sample": ["--attack", "ns", "--repeat", "2"], "large": ["large.csv", "--attack", "dv", "--seed-pairs", "20"]}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the page of the example, and that of a graph with more nodes than marks."""
    folder = tmp_path_factory.mktemp("pages")
    write_edges(folder / "large.csv", heavy_tail(1500, 3, 1))
    found = {}
    for name, call in CALLS.items():
        found[name] = folder / f"{name}.html"
        call = [str(folder / each) if each.endswith(".csv") else each for each in call]
        run = CliRunner().invoke(main, ["graph", *call, "--quiet", "--html", str(found[name])])
        assert run.exit_code == 0, run.output
    return found


def test_the_answer_is_seen_first_and_the_picture_is_named(browser: "Browser", pages: dict[str, Path]) -> None:
    with visit(browser, pages["sample"]) as page:
        assert "re-identifies" in (page.get_by_role("heading", level=1).text_content() or "")
        picture = page.get_by_role("img", name="Re-identified nodes")
        assert picture.is_visible()
        assert "950 nodes on rings" in (picture.locator("desc").text_content() or "")
        number = sum(metric.on == "Candidates" and metric.usual for metric in METRICS.values())
        rows = [
            page.get_by_role("region", name=name, include_hidden=True).locator("tbody tr").count()
            for name in METRIC_TABLES
        ]
        assert sum(rows) == number


@pytest.mark.parametrize("which", CALLS)
def test_every_mark_lies_inside_the_picture(browser: "Browser", pages: dict[str, Path], which: str) -> None:
    with visit(browser, pages[which]) as page:
        outside = page.evaluate(
            """() => [...document.querySelectorAll("figure svg[role=img] .node")].filter((path) => {
                const own = path.getBBox({stroke: true}), frame = path.ownerSVGElement.viewBox.baseVal;
                return own.x < 0 || own.y < 0 || own.x + own.width > frame.width || own.y + own.height > frame.height;
            }).length"""
        )
        assert outside == 0
        assert page.locator("figure svg[role=img] .node").count() >= 2


def test_colours_follow_the_theme_and_paper_is_light(browser: "Browser", pages: dict[str, Path]) -> None:
    colour = "getComputedStyle(document.querySelector('figure svg[role=img] .node.level-2')).stroke"
    with visit(browser, pages["sample"], color_scheme="dark") as page:
        assert page.evaluate(colour) == "rgb(240, 154, 120)"
        page.emulate_media(media="print")
        assert page.evaluate(colour) == "rgb(156, 47, 31)"
        assert page.get_by_role("img", name="Re-identified nodes").is_visible()

"""What every answer can do, whatever the question was."""

import html
import json
import re

import unveil
from unveil.ask.answer import Answer
from unveil.ask.partition.findings import PartitionFindings


def answer() -> Answer[PartitionFindings]:
    return unveil.partition(guess=["x", "x", "y", "y"], truth=["Alice", "Alice", "Bob", "Alice"])


def test_a_notebook_shows_the_whole_page_in_a_frame_of_its_own() -> None:
    found = answer()
    shown = found._repr_html_()
    inside = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" width="100%" height="\d+"></iframe>', shown
    )
    assert inside is not None
    assert html.unescape(inside[1]) == found.to_html()


def test_the_short_form_is_the_headline() -> None:
    found = answer()
    assert repr(found) == f"<Answer: {found.page().headline}>"
    assert len(repr(found)) < 300


def test_limits_and_seed_are_in_json_and_on_the_page() -> None:
    found = answer()
    limits = [{"quantity": "breached_share", "limit": 0.1, "value": 0.5, "exceeded": True}]
    told = json.loads(found.to_json(limits=limits, seed=7))
    assert (next(iter(told)), told["limits"], told["seed"]) == ("schema", limits, 7)
    assert found.page(limits=limits).sections[1].heading == "Limits"
    assert [section.heading for section in found.page().sections].count("Limits") == 0

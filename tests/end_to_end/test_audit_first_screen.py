"""Whoever sees the first screen alone can say which release may go out: five audits with a limit, in a real browser."""

from dataclasses import dataclass
from functools import cache
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from tests.end_to_end.visits import visit
from unveil.questions.audit.answer import audit
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import ReportContext
from unveil.questions.audit.terminal_view import short
from unveil.questions.result import Result
from unveil.report.blocks import Answers, brief_table
from unveil.report.figures import json_of
from unveil.report.limits import Limits, check_limits
from unveil.report.terminal import Headline, show_headline, show_table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

LIMIT: Limits = (("linkability.excess_over_control", 0.2),)
#: All text whose place lies within the window as it opens, without any scrolling.
VISIBLE = """() => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = [];
    while (walk.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(walk.currentNode);
        const boxes = [...range.getClientRects()];
        if (boxes.length && boxes.every((box) => box.bottom <= innerHeight && box.right <= innerWidth && box.width > 1))
            seen.push(walk.currentNode.textContent.trim());
    }
    return seen.filter(Boolean).join(" ");
}"""


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return made-up people who differ in enough columns to be told apart."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, size, rows) for name, size in (("town", 40), ("work", 30), ("school", 6))}
    return pl.DataFrame({"age": rng.integers(20, 70, rows), "hours": rng.integers(0, 40, rows), **columns})


@dataclass(frozen=True)
class Asked:
    """An audit with a limit, and what must be told from its first screen."""

    original: pl.DataFrame
    released: dict[str, pl.DataFrame]
    control: pl.DataFrame | None
    #: The word above the headline, what may go out and what may not; each is said in words.
    word: str
    said: tuple[str, ...]

    @property
    def answer(self) -> Result[Audit]:
        rng, attacks = np.random.default_rng(3), ["linkability", "copies", "membership"]
        return audit(self.original, self.released, self.control, attacks=attacks, rng=rng)

    def html(self, **choices: Any) -> str:
        answer = self.answer
        checked = check_limits(answer.quantities, LIMIT)
        return answer.to_html(limits=[json_of(each) for each in checked], **choices)


ORIGINAL, CONTROL, FRESH = people(300, 1), people(300, 2), people(300, 3)
SHUFFLED = ORIGINAL.sample(fraction=1.0, shuffle=True, seed=1)
HALF = pl.concat([ORIGINAL.head(150), FRESH.head(150)]).sample(fraction=1.0, shuffle=True, seed=1)
FEW = (people(60, 5), people(60, 6), people(60, 7))
AUDITS = {
    "kept": Asked(ORIGINAL, {"fresh": FRESH}, CONTROL, "LIMIT KEPT", ("By the limit the release may go out",)),
    "exceeded": Asked(
        ORIGINAL, {"shuffled": SHUFFLED}, CONTROL, "LIMIT EXCEEDED", ("Do not release it as it is", "is exceeded")
    ),
    "not shown": Asked(
        FEW[0], {"few": FEW[1]}, FEW[2], "LIMIT UNDECIDED", ("Do not release it on this evidence", "lies between")
    ),
    "one of three": Asked(
        ORIGINAL,
        {"shuffled": SHUFFLED, "half": HALF, "fresh": FRESH},
        CONTROL,
        "1 OF 3 KEEPS THE LIMIT",
        (
            "by the figures tested only 'fresh' keeps the limit that was set; 'shuffled' and 'half' exceed it",
            "By the limit 'fresh' may go out",
            "Do not release 'shuffled' and 'half'",
            "Limit kept; nothing proved",
            "Limit exceeded; gives most people away",
        ),
    ),
    "no control": Asked(
        ORIGINAL,
        {"shuffled": SHUFFLED},
        None,
        "LIMIT UNDECIDED",
        ("Do not release it on this evidence", "Keep a random fifth of the people"),
    ),
}


@cache
def page_of(name: str) -> str:
    return AUDITS[name].html()


def opened(browser: "Browser", folder: Path, name: str, width: int, height: int) -> "Page":
    path = folder / "page.html"
    path.write_text(page_of(name), encoding="utf-8")
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("name", AUDITS)
def test_the_first_screen_says_which_release_may_go_out(browser: "Browser", tmp_path: Path, name: str) -> None:
    asked = AUDITS[name]
    page = opened(browser, tmp_path, name, 1280, 800)
    seen = page.evaluate(VISIBLE)
    assert asked.word.lower() in seen.lower()
    for sentence in asked.said:
        assert sentence in seen
    may_go = "may go out" in seen
    assert may_go == (name in ("kept", "one of three"))
    # The marks of the picture are on it too, in words.
    assert "Which records belong together?" in seen
    assert any(mark in seen for mark in ("proved", "not tested"))
    page.context.close()


def test_a_phone_has_the_answer_and_each_release_by_itself(browser: "Browser", tmp_path: Path) -> None:
    page = opened(browser, tmp_path, "one of three", 390, 844)
    assert "only 'fresh' keeps the limit" in page.evaluate(VISIBLE)
    tops = page.evaluate(
        """() => [1, 2, 3].map((place) => [...document.querySelectorAll(`.answers .place-${place}`)].map(
            (cell) => cell.getBoundingClientRect()).map((box) => [box.top, box.bottom]))"""
    )
    # All cells of one release lie above all those of the next.
    for above, below in pairwise(tops):
        assert max(bottom for _, bottom in above) <= min(top for top, _ in below) + 1
    page.context.close()


@pytest.mark.parametrize("profile", [None, "ema"])
def test_the_short_answer_fits_a_terminal(profile: str | None) -> None:
    """With what stands above and below it, the example and the seed, it is at most 30 lines of 80 columns."""
    from tests.end_to_end.test_audit_page import sample

    console = Console(width=80, force_terminal=True, color_system=None, file=StringIO(), markup=False)
    for part in short(sample().findings, sample().page(context=ReportContext(profile=profile))):
        match part:
            case Headline():
                show_headline(part.text, console=console)
            case Answers():
                show_table(brief_table(part), console=console)
            case _:
                console.print(str(part))
    printed = console.file.getvalue().rstrip("\n").split("\n")  # type: ignore[attr-defined]
    assert len(printed) + 5 <= 30, "\n".join(printed)
    assert max(map(len, printed)) <= 80
    assert any("gaussian-copula" in line for line in printed)


def test_pages_are_as_short_as_they_open(browser: "Browser", tmp_path: Path) -> None:
    from tests.end_to_end.test_audit_page import example

    path = tmp_path / "page.html"
    path.write_text(example(), encoding="utf-8")
    with visit(browser, path, width=1280, unfold=False) as page:
        words = "document.body.innerText.split(/\\s+/).filter(Boolean).length"
        assert page.evaluate("document.documentElement.scrollHeight") <= 6 * 800
        assert page.evaluate(words) <= 1500
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.evaluate(words) <= 7200

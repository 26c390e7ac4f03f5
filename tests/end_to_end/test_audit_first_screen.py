"""The first screen alone tells which release may go out: audits with a threshold, in a real browser."""

from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from unveil.questions.audit.terminal_view import short

from tests.end_to_end.visits import visit
from unveil.questions.audit.answer import audit
from unveil.report.terminal import ColumnSubset, Headline, show_headline, show_table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

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
class Case:
    """An audit with a threshold, and what its first screen must tell."""

    released: dict[str, pl.DataFrame]
    #: The word above the headline.
    word: str
    said: tuple[str, ...]
    threshold: float | None = 0.3
    has_control: bool = True
    people: int = 300

    def html(self) -> str:
        control = CONTROL.head(self.people) if self.has_control else None
        settings: dict[str, Any] = {"kind": "synthetic", "sensitive": ["none"], "guesses": 200}
        answer = audit(
            ORIGINAL.head(self.people),
            self.released,
            control,
            threshold=self.threshold,
            rng=np.random.default_rng(3),
            **settings,
        )
        return answer.to_html()


ORIGINAL, CONTROL, FRESH = people(300, 1), people(300, 2), people(300, 3)
SHUFFLED = ORIGINAL.sample(fraction=1.0, shuffle=True, seed=1)
HALF = pl.concat([ORIGINAL.head(150), FRESH.head(150)]).sample(fraction=1.0, shuffle=True, seed=1)
CASES = {
    "pass": Case({"fresh": FRESH}, "Pass", ("every excess is below", "Record the threshold and this report")),
    "fail": Case({"shuffled": SHUFFLED}, "Fail", ("Fail (high risk): ", "100 points", "Generalize ")),
    "few people": Case(
        {"few": FRESH.head(60)}, "Inconclusive", ("could be up to", "Audit with more people"), threshold=0.02, people=60
    ),
    "one of three": Case(
        {"shuffled": SHUFFLED, "half": HALF, "fresh": FRESH},
        "Fail",
        ("1 of 3 releases passes: fresh.", "Decision", "Fail", "Pass"),
    ),
    "no threshold": Case(
        {"shuffled": SHUFFLED},
        "Level: high",
        ("High risk: ", "Choose a threshold to get pass or fail."),
        threshold=None,
    ),
    "no control": Case(
        {"fresh": FRESH},
        "Inconclusive",
        ("without a control group the excess risk cannot be estimated", "Keep a random fifth of the people"),
        has_control=False,
    ),
}


@cache
def page_of(name: str) -> str:
    return CASES[name].html()


def opened(browser: "Browser", folder: Path, name: str, width: int, height: int) -> "Page":
    path = folder / "page.html"
    path.write_text(page_of(name), encoding="utf-8")
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("name", CASES)
def test_the_first_screen_tells_the_decision_and_the_next_step(browser: "Browser", tmp_path: Path, name: str) -> None:
    case = CASES[name]
    page = opened(browser, tmp_path, name, 1280, 800)
    seen = " ".join(page.evaluate(VISIBLE).split())
    assert case.word.lower() in seen.lower()
    for sentence in case.said:
        assert sentence in seen
    for risk in ("Singling out and re-identification", "Linkability", "Inference", "Membership"):
        assert risk in seen
    # A mark stands next to a word, so that color is not needed.
    assert any(mark in seen for mark in ("● ", "○ ", "not tested"))
    page.context.close()


def test_a_phone_shows_the_decision_first(browser: "Browser", tmp_path: Path) -> None:
    page = opened(browser, tmp_path, "one of three", 390, 844)
    assert "1 of 3 releases passes: fresh." in " ".join(page.evaluate(VISIBLE).split())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


@pytest.mark.parametrize("profile", ["", "ema"])
def test_the_short_answer_fits_a_terminal(profile: str) -> None:
    """With what stands above and below it, the example and the seed, it is at most 30 lines of 80 columns."""
    from tests.end_to_end.test_audit_page import sample

    made = sample(profile)
    console = Console(width=80, force_terminal=True, color_system=None, file=StringIO(), markup=False)
    for part in short(made.findings, made.page()):
        match part:
            case Headline():
                show_headline(part.text, console=console)
            case ColumnSubset():
                show_table(part.table, columns=part.columns, console=console)
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

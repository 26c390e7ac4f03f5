"""The first screen alone tells which release may go out: audits with a threshold, in a real browser."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from tests.end_to_end.visits import visit
from unveil.questions.audit.answer import audit
from unveil.report.terminal import page_parts, show_parts

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
    #: The decision next to the levels, and the current level.
    word: str
    level: str
    said: tuple[str, ...]
    threshold: float | None = 0.3
    has_control: bool = True
    people: int = 300

    def html(self) -> str:
        control = CONTROL.head(self.people) if self.has_control else None
        settings: dict[str, Any] = {"release_type": "synthetic", "sensitive": ["none"], "predicates": 200}
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
    "pass": Case(
        {"fresh": FRESH}, "Pass", "none found", ("every excess is below", "Record the threshold and this report")
    ),
    "fail": Case({"shuffled": SHUFFLED}, "Fail", "high", ("Fail (high risk): ", "Generalize ")),
    "few people": Case(
        {"few": FRESH.head(60)},
        "Inconclusive",
        "inconclusive",
        ("could be up to", "Audit "),
        threshold=0.02,
        people=60,
    ),
    "one of three": Case(
        {"shuffled": SHUFFLED, "half": HALF, "fresh": FRESH},
        "Fail",
        "high",
        ("1 of 3 releases passes: fresh.", "Decision", "Fail", "Pass"),
    ),
    "no threshold": Case(
        {"shuffled": SHUFFLED},
        "No threshold set",
        "high",
        ("High risk: ", "Choose a threshold to get pass or fail."),
        threshold=None,
    ),
    "no control": Case(
        {"fresh": FRESH},
        "Inconclusive",
        "inconclusive",
        ("without a control group the excess risk cannot be estimated", "Hold a random fifth of the people out"),
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


#: The parts of a first screen; of several releases a table stands in place of the chart.
PARTS = (".strip .levels", ".strip .decision", "h1", ".explanation", ".pictures table", ".next-steps")


@pytest.mark.parametrize("name", CASES)
def test_the_first_screen_tells_the_decision_and_the_next_step(browser: "Browser", tmp_path: Path, name: str) -> None:
    case = CASES[name]
    page = opened(browser, tmp_path, name, 1280, 900)
    seen = " ".join(page.evaluate(VISIBLE).split())
    assert page.locator(".decision strong").text_content() == case.word
    assert (page.locator(".levels [aria-current=true]").text_content() or "").removeprefix("at least ") == case.level
    for sentence in case.said:
        assert sentence in seen
    for risk in ("Singling out and re-identification", "Linkability", "Inference", "Membership"):
        assert risk in seen
    # A mark stands next to a word, so that color is not needed.
    assert any(mark in seen for mark in ("● ", "○ ", "not tested"))
    for part in PARTS:
        box = page.locator(part).first.bounding_box()
        assert box is not None, part
        assert box["y"] + box["height"] <= 900, part
    page.context.close()


@pytest.mark.parametrize("name", CASES)
def test_a_phone_shows_the_decision_first_and_scrolls_down_only(browser: "Browser", tmp_path: Path, name: str) -> None:
    page = opened(browser, tmp_path, name, 390, 844)
    seen = " ".join(page.evaluate(VISIBLE).split())
    assert CASES[name].word.lower() in seen.lower()
    assert " ".join(page.locator("h1").inner_text().split()) in seen
    for width in (390, 600, 768, 1024):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
    page.context.close()


def test_another_threshold_is_previewed_and_the_decision_stays(browser: "Browser", tmp_path: Path) -> None:
    page = opened(browser, tmp_path, "fail", 1280, 900)
    rows = page.locator(".risk-rows tbody tr[data-low]")
    limits = [
        (float(low), float(high), significant)
        for low, high, significant in rows.evaluate_all(
            "rows => rows.map(({dataset}) => [dataset.low, dataset.high, 'significant' in dataset])"
        )
    ]
    assert len(limits) == 3  # nothing is sensitive
    slider, output = page.locator(".preview input"), page.locator(".preview output")
    assert slider.input_value() == "30"
    recorded = page.locator(".strip").inner_text()
    for points in (0, 9, 50):
        slider.fill(str(points))
        threshold = points / 100
        states = [
            "fail" if low > threshold and significant else "pass" if high <= threshold else "inconclusive"
            for low, high, significant in limits
        ]
        assert rows.locator(".of-level").evaluate_all("cells => cells.map((cell) => cell.dataset.preview)") == states
        assert output.inner_text().startswith(f"{points} points: ")
        for state in set(states):
            assert f"{states.count(state)} {state}" in output.inner_text()
        lines = page.locator(".risk-threshold").evaluate_all(
            "lines => lines.map((each) => parseFloat(each.getAttribute('x1')))"
        )
        assert lines == pytest.approx([100 * (threshold + 0.1) / 1.1] * len(limits))
    assert page.locator(".strip").inner_text() == recorded
    page.context.close()


def test_without_the_script_there_is_no_preview(browser: "Browser", tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_of("fail"), encoding="utf-8")
    with visit(browser, path, unfold=False, java_script_enabled=False) as page:
        assert not page.locator(".preview").is_visible()
        assert page.locator(".risk-rows").is_visible()


def test_marks_of_the_chart_are_told_to_the_keys(browser: "Browser", tmp_path: Path) -> None:
    page = opened(browser, tmp_path, "fail", 1280, 900)
    page.locator(".risk-rows").focus()
    told = []
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        told.append(page.locator(".tip").inner_text())
    assert len(set(told)) == 6
    assert sum(": attack success " in each for each in told) == sum(": excess " in each for each in told) == 3
    page.context.close()


@pytest.mark.parametrize("profile", ["", "ema"])
def test_the_short_answer_fits_a_terminal(profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With what stands above and below it, the example and the seed, it is at most 30 lines."""
    from tests.end_to_end.test_audit_page import sample

    show_parts(page_parts(sample(profile).page()))
    printed = capsys.readouterr().out.rstrip("\n").split("\n")
    assert len(printed) + 5 <= 30, "\n".join(printed)
    assert any("gaussian-copula" in line for line in printed)


def test_pages_are_as_short_as_they_open(browser: "Browser", tmp_path: Path) -> None:
    from tests.end_to_end.test_audit_page import example

    path = tmp_path / "page.html"
    path.write_text(example(), encoding="utf-8")
    with visit(browser, path, width=1280, unfold=False) as page:
        words = "document.body.innerText.split(/\\s+/).filter(Boolean).length"
        height = "document.documentElement.scrollHeight"
        assert page.evaluate(height) <= 2.5 * 900
        assert page.evaluate(words) <= 700
        page.evaluate("document.querySelectorAll('details.part').forEach((each) => { each.open = true; })")
        assert page.evaluate(height) <= 8 * 900
        assert page.evaluate(words) <= 2500

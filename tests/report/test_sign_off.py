"""The sheet that is signed: what it states, that it fits on one page of paper, and that nothing of it is lost."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.visits import visit
from tests.report.sign_off_example import DECISION, overfull, page_of, plain
from tests.report.test_page import Reader
from unveil.errors import InputError
from unveil.report.blocks import Page, Section, TableBlock
from unveil.report.editions import internal
from unveil.report.page import render, sheet_document
from unveil.report.sign_off import (
    CONTEXT,
    FOR_WHOM,
    IN_FULL,
    NO_LIMIT,
    QUESTIONS,
    SIGNATURES,
    STATEMENT,
    BoxFact,
    SignOff,
    sheet,
    sign_off_section,
    three_boxes,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: Width and height of the paper in millimetres; the margins are those of the style sheet.
PAPERS = {"A4": (210.0, 297.0), "Letter": (215.9, 279.4)}
PIXELS = 96 / 25.4
LONG = "Linkability: " + "anyone who holds age and occupation can link people " * 12


def made_of(what: str) -> SignOff:
    """Return a sheet that is plain, full of a letter, or full where it can be while little is said elsewhere."""
    if what == "plain":
        return plain()
    full = overfull(what if len(what) == 1 else "x")
    if what == "for whom":
        return replace(full, context=dict.fromkeys(CONTEXT, full.utility))
    if what == "few figures":
        return replace(full, figures=(), adversaries=())
    return replace(full, files=full.files[:2], figures=full.figures[:2]) if what == "few files" else full


def shown(page: Page) -> str:
    return " ".join(text.strip() for _, text in Reader(render(page)).texts if text.strip())


def test_the_sheet_states_everything_that_is_signed_for() -> None:
    text = shown(page_of(plain()))
    for part in (
        "3f" * 32,
        "12,000",
        "age: known, number; bands of 5 years",
        "postcode: known, category; not stated",
        "neighbour: knows age and postcode. They live next door.",
        "88.1% (85.0–90.7%)",
        "masked keeps 92% of the associations",
        "Membership: whether somebody is in the data at all.",
        "unveil 1.2.3, seed 3, run on 2 May 2025; to be reviewed by May 2026; decided by the board.",
        "--missing Smith",
        DECISION,
        STATEMENT,
        "Date and signature",
    ):
        assert part in text, part


def test_what_nobody_said_is_called_so(approved: Approved) -> None:
    empty = replace(
        plain(),
        columns=tuple(replace(each, technique="") for each in plain().columns),
        adversaries=(),
        figures=(),
        utility="",
        untested=(),
        seed=None,
        command=(),
        date="",
        review_date="",
        decides="",
        decision="",
        is_decided=False,
    )
    made = sheet(empty)
    lines = {entry.label: entry.lines for entry in made.entries}
    assert made.limit == NO_LIMIT
    assert lines["3 columns: role, kind, technique not stated for all"][1] == "age: known, number"
    assert lines["Adversaries, and why to expect them"] == ("None was named.",)
    assert lines["Usefulness"] == ("Not measured.",)
    assert lines["Not tested"] == ("not stated",)
    approved(lines["How it was made"])
    assert [table.caption for table in made.tables] == ["Files"]
    assert made.tables[0].rows[3][3] == "no file"


def test_the_sheet_states_the_decision_and_whether_a_threshold_was_set() -> None:
    assert (sheet(plain()).limit, sheet(plain()).limit_tone) == (DECISION, "bad")
    level = replace(plain(), decision="Low risk.", is_decided=False, decision_tone="warning")
    assert sheet(level).limit == f"{NO_LIMIT} Low risk."


def test_the_three_questions_are_always_there_in_their_order() -> None:
    boxes = three_boxes({"inference": BoxFact(rate="3%", beside="b", tone="bad"), "linkability": BoxFact(tested=False)})
    assert [(box.title, box.value, box.tested) for box in boxes.boxes] == [
        ("Singling out", "Not tested", False),
        ("Linkability", "Not tested", False),
        ("Inference", "3%", True),
    ]
    # What was not tested never looks as if it were fine.
    assert [box.tone for box in boxes.boxes] == ["neutral", "neutral", "bad"]
    page = Page(
        title="T",
        question="Q",
        headline="H",
        tone="bad",
        sections=(Section(heading="S", lead="", blocks=(boxes,)),),
    )
    assert render(page).count("box neutral untested") == 2


def test_what_is_cut_says_so_and_stands_in_full_at_the_end() -> None:
    full = overfull("x")
    made = sheet(full)
    columns = made.entries[0].lines
    assert len(columns) == 4
    assert columns[-1] == f"… and 297 more under “{IN_FULL}” at the end."
    assert len(made.entries[3].lines) == 4
    assert made.tables[0].note == f"10 more releases and 12 more figures under “{IN_FULL}” at the end."
    assert made.tables[1].note == f"10 more files under “{IN_FULL}” at the end."
    section = sign_off_section(full)
    tables = {block.caption: block for block in section.blocks if isinstance(block, TableBlock)}
    assert section.heading == IN_FULL
    assert len(tables["Files"].rows) == 15
    assert len(tables["Columns, and what was done to each"].rows) == 300
    assert len(tables["Adversaries"].rows) == 20
    assert len(tables["Figures before and after"].columns) == 15
    for table in tables.values():
        assert all(len(row) == len(table.columns) == len(table.align) for row in table.rows)


def test_the_sheet_asks_for_whom_until_that_is_told() -> None:
    asked = sheet(plain())
    assert asked.signatures == (*CONTEXT.values(), *SIGNATURES)
    told = replace(plain(), context={"recipient": "two universities"})
    made = sheet(told)
    assert made.signatures == SIGNATURES
    (lines,) = (entry.lines for entry in made.entries if entry.label == FOR_WHOM)
    assert lines[:2] == ("Purpose (safe projects): not stated", "Recipient (safe people): two universities")
    (rows,) = (
        block.rows
        for block in sign_off_section(told).blocks
        if isinstance(block, TableBlock) and block.caption == FOR_WHOM
    )
    assert [row[1] for row in rows] == ["not stated", "two universities", "not stated", "not stated"]


def test_the_document_holds_the_whole_sheet_in_plain_tables() -> None:
    full = replace(overfull("x"), decides="</td><script>alert(1)</script>")
    page = internal(page_of(full))
    reader = Reader(sheet_document(page))
    assert reader.open == []
    # What word processors open: no style, script, picture or link.
    assert not {tag for tag, _ in reader.elements} & {"style", "script", "img", "svg", "a", "link", "div"}
    text = " ".join(text.strip() for _, text in reader.texts)
    # Nothing is cut, whatever the sheet of paper had to cut.
    for column in (full.columns[0], full.columns[-1]):
        assert column.technique.strip() in text
    for label in (*CONTEXT.values(), *SIGNATURES, STATEMENT, page.headline, QUESTIONS["inference"][0]):
        assert label in text
    with pytest.raises(InputError, match="no sheet to sign"):
        sheet_document(Page(title="T", question="Q", headline="H", tone="bad", sections=()))


def test_lines_that_are_left_are_used() -> None:
    full = made_of("few figures")
    # 8 lines for figures and 3 for adversaries are free: first for what was not tested, then for the columns.
    assert [len(sheet(full).entries[at].lines) for at in (3, 0)] == [3 + 11, 4]
    brief = sheet(replace(full, untested=full.untested[:6]))
    assert [len(brief.entries[at].lines) for at in (3, 0)] == [6, 4 + 2 * 8]


def test_the_page_is_sound_and_needs_no_weaker_policy() -> None:
    hostile = replace(plain(), utility="</dd><script>alert(1)</script>", decides='"><img src=x>')
    reader = Reader(render(internal(page_of(hostile))))
    assert reader.open == []
    assert (len(reader.all("script")), reader.all("img")) == (1, [])
    names = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(names) == len(set(names))
    assert not [key for _, attributes in reader.elements for key in attributes if key == "style"]
    assert len(render(page_of(overfull("x"))).encode()) < 1_000_000


def test_a_page_without_a_sheet_has_none() -> None:
    html = render(Page(title="T", question="Q", headline="H", tone="bad", sections=()))
    body = html.split("</style>")[1]
    assert "sheet" not in body.split("<script>")[0]
    assert "edition" not in body


@pytest.mark.browser
@pytest.mark.parametrize("context", PAPERS)
@pytest.mark.parametrize("what", ["plain", "x", "W", "語", "few figures", "few files", "for whom"])
def test_the_sheet_is_a_printed_page_after_the_findings_and_alone(
    browser: "Browser", tmp_path: Path, context: str, what: str
) -> None:
    made = page_of(made_of(what), headline=LONG)
    path = tmp_path / "page.html"
    # Nothing but the answer, the sheet and the short end of the page is left: one page of paper each.
    path.write_text(render(internal(replace(made, sections=(), notes=()))), encoding="utf-8")
    width, height = PAPERS[context]
    with visit(browser, path, width=int((width - 28) * PIXELS)) as page:
        page.emulate_media(media="print")
        sheet_height = page.evaluate("document.querySelector('.sheet').getBoundingClientRect().height")
        assert sheet_height <= (height - 18) * PIXELS - 8
        pdf = page.pdf(format=context)
    assert pdf.count(b"/Type /Page\n") == 3


@pytest.mark.browser
def test_no_cell_of_a_plain_sheet_is_cut_on_paper(browser: "Browser", tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    three = replace(
        plain(),
        releases=("masked", "synthetic", "rank-swapped"),
        figures=tuple(replace(each, after=(*each.after, "100.0% (99.2–100.0%)")) for each in plain().figures),
    )
    path.write_text(render(page_of(three)), encoding="utf-8")
    with visit(browser, path, width=int(182 * PIXELS)) as page:
        page.emulate_media(media="print")
        cut = page.evaluate(
            """() => [...document.querySelectorAll('.sheet :is(th, td, dd, dt, p, h2)')]
                .filter((each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 2)
                .map((each) => each.textContent.trim())"""
        )
        assert cut == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 768])
def test_no_screen_needs_sideways_scrolling(browser: "Browser", tmp_path: Path, width: int) -> None:
    path = tmp_path / "page.html"
    path.write_text(render(internal(page_of(overfull("W")))), encoding="utf-8")
    with visit(browser, path, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width

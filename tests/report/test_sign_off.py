"""The sheet that is signed: what it states, that it fits its paper, and that nothing of it is lost."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.approved.sentences import Approved
from tests.end_to_end.visits import visit
from tests.report.sign_off_example import overfull, page_of, plain
from tests.report.test_page import Reader
from unveil.errors import InputError
from unveil.report.blocks import Page, Section
from unveil.report.page import render, sheet_document
from unveil.report.sign_off import (
    CONTEXT,
    FOR_WHOM,
    QUESTIONS,
    SIGNATURES,
    STATEMENT,
    BoxFact,
    record_tables,
    sheet,
    three_boxes,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def shown(html: str) -> str:
    return " ".join(text.strip() for _, text in Reader(html).texts if text.strip())


def test_the_sheet_states_everything_that_is_signed_for() -> None:
    text = shown(sheet_document(page_of(plain())))
    for part in (
        "Linkability: 31.2% of people.",
        "3f" * 32,
        "12,000",
        "age known number bands of 5 years",
        "postcode known category not stated",
        "neighbour age and postcode They live next door.",
        "88.1% (85.0–90.7%)",
        "masked keeps 92% of the associations",
        "Membership: whether somebody is in the data at all.",
        "unveil 1.2.3, seed 3, run on 2 May 2025; to be reviewed by May 2026; decided by the board.",
        "--missing Smith",
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
        seed=None,
        command=(),
        date="",
        review_date="",
        decides="",
    )
    made = sheet(empty)
    tables = {table.caption: table.rows for table in record_tables(empty)}
    assert made.facts == ("Utility was not measured.",)
    assert list(tables) == ["Files", "Provenance"]
    assert tables["Files"][3][3] == "no file"
    approved(tuple(text for _, text in tables["Provenance"]))


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


def test_the_sheet_asks_for_whom_until_that_is_stated() -> None:
    assert sheet(plain()).signatures == (*CONTEXT.values(), *SIGNATURES)
    stated = replace(plain(), context={"recipient": "two universities"})
    assert sheet(stated).signatures == SIGNATURES
    (rows,) = (table.rows for table in record_tables(stated) if table.caption == FOR_WHOM)
    assert [row[1] for row in rows] == ["not stated", "two universities", "not stated", "not stated"]


def test_tables_are_whole_and_even() -> None:
    tables = {table.caption: table for table in record_tables(overfull("x"))}
    sizes = {caption: (len(table.rows), len(table.columns)) for caption, table in tables.items()}
    assert sizes == {
        "Files": (15, 4),
        "Techniques by column": (300, 4),
        "Attackers": (20, 3),
        "Results before and after": (20, 15),
        "Provenance": (2, 2),
    }
    for table in tables.values():
        assert all(len(row) == len(table.columns) == len(table.align) for row in table.rows)


def test_the_document_holds_the_whole_sheet_in_plain_tables() -> None:
    full = replace(overfull("x"), decides="</td><script>alert(1)</script>")
    page = page_of(full, edition="internal")
    reader = Reader(sheet_document(page))
    assert reader.open == []
    # What word processors open: no style, script, picture or link.
    assert not {tag for tag, _ in reader.elements} & {"style", "script", "img", "svg", "a", "link", "div"}
    text = " ".join(text.strip() for _, text in reader.texts)
    # Nothing is cut, whatever the sheet of paper had to cut.
    for column in (full.columns[0], full.columns[-1]):
        assert column.technique.strip() in text
    assert text.count("12,000,000") == len(full.files)
    for label in (*CONTEXT.values(), *SIGNATURES, STATEMENT, page.headline, QUESTIONS["inference"][0]):
        assert label in text
    with pytest.raises(InputError, match="Only an audit has a sign-off sheet"):
        sheet_document(Page(title="T", question="Q", headline="H", tone="bad", sections=()))


def test_the_page_is_sound_and_needs_no_weaker_policy() -> None:
    hostile = replace(plain(), utility="</dd><script>alert(1)</script>", decides='"><img src=x>')
    reader = Reader(render(page_of(hostile, edition="internal")))
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
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_a_plain_sheet_is_short_on_paper_and_none_of_it_is_cut(browser: "Browser", tmp_path: Path, paper: str) -> None:
    path = tmp_path / "sheet.html"
    path.write_text(sheet_document(page_of(plain())), encoding="utf-8")
    with visit(browser, path, width=720, unfold=False) as page:
        page.emulate_media(media="print")
        cut = """() => [...document.querySelectorAll('th, td, p, h1, h2')]
            .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent.trim())"""
        assert page.evaluate(cut) == []
        assert page.pdf(format=paper).count(b"/Type /Page\n") <= 3


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 768])
def test_no_screen_needs_sideways_scrolling(browser: "Browser", tmp_path: Path, width: int) -> None:
    path = tmp_path / "page.html"
    path.write_text(render(page_of(overfull("W"), edition="internal")), encoding="utf-8")
    with visit(browser, path, width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width

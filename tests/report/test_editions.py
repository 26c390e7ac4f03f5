"""The edition that may be passed on: no records, no small counts, no folders, no cells in the command."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.sign_off_example import COMMAND, FOLDER, page_of, plain
from unveil.errors import InputError
from unveil.report.blocks import Chart, Number, Page, PrivateText, Section, Series, TableBlock
from unveil.report.editions import (
    FILE_OPTIONS,
    FLAGS,
    SHOWN_OPTIONS,
    command_text,
    file_name,
    last_part,
    people,
    shareable,
)
from unveil.report.page import render


def page(*blocks: Number | Chart | TableBlock, **changes: object) -> Page:
    given = {"title": "T", "question": "Q", "headline": "H", "tone": "bad"} | changes
    return Page(**given, sections=(Section(heading="S", lead="L", blocks=blocks),))  # type: ignore[arg-type]


def test_small_counts_of_people_are_hidden_and_nothing_else() -> None:
    table = TableBlock(
        caption="C",
        columns=("a", "b"),
        rows=(("3", people(3)), ("x", people(10)), ("y", people(11)), ("z", people(0)), ("w", people(12_000))),
        align=("left", "right"),
        note=people(1, "person", "people", pattern="{} stands alone."),
    )
    number = Number(label="Hits", value=people(2, pattern="{} of 500"), meaning="M")
    section = shareable(page(table, number)).sections[0]
    hidden, shown = section.blocks
    assert isinstance(hidden, TableBlock)
    assert isinstance(shown, Number)
    assert [row[1] for row in hidden.rows] == ["fewer than 11", "fewer than 11", "11", "0", "12,000"]
    # A text that is a number and no count of people stays as it is.
    assert hidden.rows[0][0] == "3"
    assert hidden.note == "Fewer than 11 people stands alone."
    assert shown.value == "fewer than 11 of 500"
    assert type(hidden.rows[2][1]) is str


def test_the_minimum_can_be_chosen() -> None:
    small = shareable(page(Number(label="n", value=people(4), meaning="")), minimum_cell=5).sections[0].blocks[0]
    assert isinstance(small, Number)
    assert small.value == "fewer than 5"
    one = shareable(page(Number(label="n", value=people(4), meaning="")), minimum_cell=1).sections[0].blocks[0]
    assert isinstance(one, Number)
    assert one.value == "4"
    with pytest.raises(InputError, match="must be 1 or more, but is 0"):
        shareable(page(), minimum_cell=0)


@given(st.integers(0, 50), st.integers(1, 30))
def test_no_small_number_is_left_at_any_minimum(number: int, minimum: int) -> None:
    text = shareable(page(title=people(number, "person", "people")), minimum_cell=minimum).title
    hidden = 0 < number < minimum
    assert text == (f"fewer than {minimum} people" if hidden else str(people(number, "person", "people")))


def test_the_editions_say_what_they_are() -> None:
    texts = {edition: render(page(edition=edition)).split("</style>")[1] for edition in ("internal", "")}
    texts["shareable"] = render(shareable(page(edition="internal"))).split("</style>")[1]
    assert {edition: "do not share" in text for edition, text in texts.items()} == {
        "internal": True, "": False, "shareable": False,
    }  # fmt: skip
    assert {edition: "Redacted" in text for edition, text in texts.items()} == {
        "internal": False, "": False, "shareable": True,
    }  # fmt: skip


def test_a_page_with_records_is_refused() -> None:
    with pytest.raises(InputError, match="Make it without records"):
        shareable(page(holds_records=True))


def test_pictures_stay_as_they_are() -> None:
    line = Series(name="linked", x=np.array([1.0]), y=np.array([2.0]), style="first")
    chart = Chart(title="T", x_label="x", y_label="y", series=(line,))
    (drawn,) = shareable(page(chart)).sections[0].blocks
    assert isinstance(drawn, Chart)
    assert drawn.series[0].x is line.x


def test_a_whole_sheet_loses_folders_cells_and_small_tables() -> None:
    whole = page_of(plain())
    private = render(replace(whole, edition="internal"))
    shared = render(shareable(whole, paths=[f"{FOLDER}/people.csv"]))
    for text in (FOLDER, "Smith", "/usr/local", "out/masked", "3</td>"):
        assert text in private, text
        assert text not in shared, text
    words = shared.replace('<span class="option">', "").replace("</span>", "")
    assert "unveil audit people.csv masked.csv synthetic.csv --control others.csv --missing … --profile=ema" in words
    assert "people.csv: 2 rows are equal." in shared
    # Rows of the control table, and of people without an age.
    assert shared.count("fewer than 11") == 2
    assert "Fewer than 11 people have no age." in shared
    # Whoever knows nearly all of a file could try the rest against its hash.
    assert "3f" * 32 in private
    assert "3f" * 32 not in shared


@pytest.mark.parametrize(
    ("arguments", "shared"),
    [
        (COMMAND[:3], "unveil audit people.csv"),
        (("unveil", "audit", "a.csv", "--missing=Smith"), "unveil audit a.csv --missing=…"),
        # What follows an option is its value, whatever it begins with.
        (("unveil", "audit", "--missing", "--", "a.csv"), "unveil audit --missing … a.csv"),
        (("unveil", "audit", "--missing", "--Smith", "--seed", "1"), "unveil audit --missing … --seed 1"),
        (("unveil", "--quiet", "/x/a b.csv"), "unveil --quiet 'a b.csv'"),
        (("unveil", "--html", "C:\\x\\r.html", "--seed", "7"), "unveil --html r.html --seed 7"),
        (("unveil", "--known", "a/b,c", "--link=a/b:c"), "unveil --known a/b,c --link=a/b:c"),
        # An option that nobody decided about stays private.
        (("unveil", "--new-one", "Smith", "--other=Smith"), "unveil --new-one … --other=…"),
    ],
)
def test_a_command_is_shown_without_folders_and_cells(arguments: tuple[str, ...], shared: str) -> None:
    assert command_text(arguments).shared == shared


def test_every_option_of_an_audit_is_decided_about() -> None:
    from unveil.cli.question import command_of

    params = command_of("audit").params
    options = {name for option in params for name in option.opts if name.startswith("--")}
    undecided = options - SHOWN_OPTIONS - FILE_OPTIONS - FLAGS
    # These hold cells of the data (levels are cells too), a folder, or secrets of a generator; list a new one in
    # unveil.report.editions if not.
    assert undecided == {"--cluster", "--env", "--generator", "--hierarchy", "--kinds", "--missing", "--run", "--table"}
    flags = {name for option in params if getattr(option, "is_flag", False) for name in option.opts}
    assert flags == FLAGS & options


def test_names_of_files() -> None:
    assert file_name("/a/b/people.csv") == "/a/b/people.csv"
    assert file_name("people.csv").shared == "people.csv"
    assert [last_part(path) for path in ("/", "", "a/b/", "a\\b")] == ["/", "", "b", "b"]
    assert PrivateText("x", shared="y") == "x"

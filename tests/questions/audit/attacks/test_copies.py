"""Records of the original: on no output but the internal edition of the page, and there escaped and few."""

from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil.errors import InputError
from unveil.questions.audit.answer import audit
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.view import VIEW
from unveil.questions.result import Result
from unveil.report.blocks import TableBlock

MARK = "Zephyrine"
CELLS = [f"<b>{MARK}</b>", f"=1+{MARK}", f'"{MARK}"', f"{MARK}\x1b[2J"]


def marked(rows: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "town": [CELLS[at % 4] for at in range(rows)],
            "age": [20 + at // 2 for at in range(rows)],
            "income": [500.5 + at for at in range(rows)],
            "illness": [f"ailment{at % 3}" for at in range(rows)],
            "patient": [f"case{at}x" for at in range(rows)],
        }
    )


def ask(original: Any, released: Any, **settings: Any) -> Result[Audit]:
    return audit(original, released, attacks=["copies"], rng=np.random.default_rng(5), **settings)


def edition(original: Any, released: Any, **settings: Any) -> Result[Audit]:
    roles: dict[str, Any] = {"sensitive": ["illness"], "identifiers": ["patient"]}
    return ask(original, released, **roles, **settings)


def test_without_being_asked_no_output_holds_a_cell() -> None:
    answer = edition(marked(40), marked(40))
    for text in (answer.to_html(), answer.to_json(), repr(answer), str(answer.page()), str(answer.to_polars().rows())):
        assert MARK not in text
        assert "ailment" not in text
        assert "case1x" not in text
    assert "Records at stake" not in answer.to_html()
    assert answer.to_html(show_records=False) == answer.to_html()


def test_copied_records_are_shown_escaped_and_in_known_columns_only() -> None:
    changed = marked(40).with_columns(income=pl.Series([500.5 + at + (at >= 4) / 4 for at in range(40)]))
    page = edition(marked(40), changed).to_html(show_records=True)
    section = page.partition(">Records at stake</h2>")[2].partition("</details>")[0]
    assert section.count("<tr>") == 1 + 4
    assert f'<td class="left">&lt;b&gt;{MARK}&lt;/b&gt;</td>' in section
    assert f">=1+{MARK}<" in section
    assert f">&#34;{MARK}&#34;<" in section
    assert f">{MARK}\ufffd[2J<" in section
    assert [each for each in ("500.5", "501.5", "502.5", "503.5", "504.5") if f">{each}<" in section] == [
        "500.5", "501.5", "502.5", "503.5",
    ]  # fmt: skip
    assert "not shown" not in section
    assert "Do not share or publish it" in section
    assert ">secret<" not in page
    assert "case1x" not in page
    assert "<b>" not in page


def test_a_copy_must_agree_in_sensitive_columns_too_as_in_the_attack() -> None:
    changed = marked(40).with_columns(illness=pl.Series(["other"] * 39 + ["ailment0"]))
    answer = edition(marked(40), changed)
    assert answer.to_polars()["successes_expected"].to_list() == [1]


@pytest.mark.parametrize("seed", [1, 2])
def test_which_records_are_shown_does_not_depend_on_the_order_of_rows(seed: int) -> None:
    original = pl.concat([marked(40), marked(12).with_columns(pl.col("patient") + "y")])
    mixed = [original.sample(fraction=1.0, shuffle=True, seed=each) for each in (seed, seed + 5)]
    plain = edition(original, original).to_html(show_records=True)
    assert edition(*mixed).to_html(show_records=True) == plain
    # 28 records belong to one person each, and come before the 12 that two people share.
    assert plain.count('<th scope="row" class="right"><bdi>1</bdi></th>') == 20


def test_records_are_divided_among_the_releases_that_have_some() -> None:
    foreign = marked(40).with_columns(age=pl.Series([90] * 40))
    releases = {"all": marked(40), "none": foreign, "three": pl.concat([marked(3), foreign])}
    page = edition(marked(40), releases).to_html(show_records=True)
    section = page.partition(">Records at stake</h2>")[2].partition("</details>")[0]
    assert section.count("<tr>") == 1 + 10 + 1 + 3
    assert "Records released unchanged in &#39;none&#39;" in section
    many = {f"release {at}": marked(40) for at in range(22)}
    page = edition(marked(40), many).to_html(show_records=True)
    assert page.partition(">Records at stake</h2>")[2].partition("</details>")[0].count("<tr>") == 2 * 20
    assert page.count("None of them is shown, to keep this page short.") == 2


def test_a_release_without_copies_says_so() -> None:
    foreign = marked(40).with_columns(age=pl.Series([90] * 40))
    page = edition(marked(40), foreign).to_html(show_records=True)
    assert MARK not in page


def test_all_kinds_of_cells_are_shown_as_a_person_writes_them() -> None:
    frame = pl.DataFrame(
        {
            "day": [date(2020, 1, 2), None],
            "at": [datetime(2020, 1, 2, 3, 4, 5), datetime(2021, 1, 1)],
            "size": [1.0, -0.0],
            "level": pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"])),
            "well": [True, None],
        }
    )
    whole = frame.with_columns(size=pl.Series([1, 0]))
    (table,) = ask(frame, whole, quasi_identifiers=frame.columns).page(show_records=True).sections[-1].blocks
    assert isinstance(table, TableBlock)
    assert {row[1:] for row in table.rows} == {
        ("2020-01-02", "2020-01-02 03:04:05", "1", "low", "True"),
        ("(missing)", "2021-01-01", "0", "high", "(missing)"),
    }


@pytest.mark.unwatched
def test_a_wide_table_of_hostile_cells_stays_a_small_page() -> None:
    wide = pl.DataFrame({f"c{at}": ['"' * 300 + str(row) for row in range(50)] for at in range(60)})
    page = ask(wide, wide, quasi_identifiers=wide.columns).to_html(show_records=True)
    assert len(page) < 1_000_000


def test_an_answer_without_tables_has_no_records() -> None:
    with pytest.raises(InputError, match="without the tables"):
        Result(edition(marked(9), marked(9)).findings, VIEW).to_html(show_records=True)

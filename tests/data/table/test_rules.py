from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from unveil.data.table import Table, agree, kind_notes
from unveil.data.table.kinds import guess_role, settle
from unveil.data.table.rules import lower_end
from unveil.data.table.words import telling_word, words_of

CODES = [1, 2, 3, 4] * 10


def guess(name: str, cells: Sequence[Any]) -> tuple[str, str]:
    settled = settle(pl.Series(name, cells))
    return settled.kind, settled.confidence


@pytest.mark.parametrize(
    ("rule", "name", "cells", "kind", "confidence"),
    [
        (1, "x", [None] * 30, "category", "sure"),
        (1, "x", [7] * 30, "category", "sure"),
        (2, "x", [0, 1] * 15, "boolean", "sure"),
        (2, "x", ["0.0", "1.0", "NA"] * 15, "boolean", "sure"),
        (2, "x", ["oui", "Non"] * 15, "boolean", "sure"),
        (2, "x", [1, 2] * 15, "category", "sure"),
        (2, "x", ["f", "m"] * 15, "category", "sure"),
        (2, "income", [500, 1500] * 15, "category", "sure"),
        (3, "x", ["2020-01-31", "2020-02-01", "2020-02-02"] * 9, "date", "sure"),
        (3, "x", ["31.1.2020", "1.2.2020", "2.2.2020"] * 9, "date", "sure"),
        (3, "x", ["31.1.20", "1.2.20", "2.2.71"] * 9, "date", "sure"),
        (3, "x", ["2020/1/31", "2020/2/1", "2020/2/2"] * 9, "date", "sure"),
        (3, "x", ["31/1/2020", "1/2/2020", "2/2/2020"] * 9, "date", "sure"),
        (3, "x", ["1/31/2020", "2/1/2020", "2/2/2020"] * 9, "date", "sure"),
        (3, "x", ["1/3/2020", "2/1/2020", "2/2/2020"] * 9, "date", "uncertain"),
        (3, "x", ["31-1-2020", "1-2-2020", "2-2-2020"] * 9, "date", "sure"),
        (3, "x", ["3 Jan 2020", "4 March 2020", "5 dec 1999"] * 9, "date", "sure"),
        (3, "x", [20200101, 20200102, 20200103, 20210104, 19991231] * 5, "date", "sure"),
        (3, "x", ["08:30", "9:15", "23:59:59"] * 9, "date", "sure"),
        (4, "x", ["02139", "10001", "94103"] * 9, "category", "sure"),
        (6, "x", [0.5, 1.0, 2.5] * 9, "number", "sure"),
        (6, "sex", ["0.5", "1.0", "2.5"] * 9, "number", "sure"),
        (7, "RAC1P", CODES, "category", "likely"),
        (7, "RAC1P", [float(code) for code in CODES], "category", "likely"),
        (7, "zip", [10_000 + 7 * (at % 29) for at in range(60)], "category", "likely"),
        (7, "marriage_type", CODES, "category", "likely"),
        (7, "hispanica", CODES, "category", "likely"),
        (8, "x", [at % 21 for at in range(63)], "number", "likely"),
        (9, "party_size", CODES, "ordered", "likely"),
        (9, "number_of_rooms_total", [0, 1, 2, 3] * 10, "number", "likely"),
        (9, "grade", [at % 13 + 1 for at in range(39)], "number", "likely"),
        (10, "x", [-1, 0, 1] * 10, "ordered", "likely"),
        (10, "x", [2, 3, 4] * 10, "number", "likely"),
        (10, "x", [0, 1, 2, 9] * 10, "number", "likely"),
        (11, "x", [0] * 100 + [1] * 40 + [2] * 12 + [3] * 3, "number", "likely"),
        (11, "x", [0] * 50 + [1] * 100 + [2] * 12 + [3] * 3, "number", "likely"),
        (13, "x", [0] * 100 + [1] * 40 + [2] * 90 + [3] * 3, "category", "uncertain"),
        (13, "x", [0] * 100 + [1] * 40 + [2] * 12 + [3] * 6, "category", "uncertain"),
        (13, "x", CODES, "category", "uncertain"),
        (14, "x", ["2500-5000", "$5,001 to 9000", "lt $1000", "80+", "other"] * 9, "ordered", "likely"),
        (14, "x", ["25-00503", "25-00703", "25-01000"] * 9, "category", "sure"),
        (15, "x", [f"word{at}" for at in range(30)], "text", "likely"),
        (16, "x", [f"all of us are {at % 29}" for at in range(30)], "text", "likely"),
        (17, "x", [f"all of us are {at % 9}" for at in range(30)], "category", "sure"),
        (17, "x", ["a", "b", "c"] * 9, "category", "sure"),
    ],
)
def test_each_rule_on_a_made_up_column(rule: int, name: str, cells: Any, kind: str, confidence: str) -> None:
    assert guess(name, list(cells)) == (kind, confidence), rule
    # Numbers as text, and the same in another order, are read the same way.
    texts = [None if cell is None else str(cell) for cell in cells]
    assert guess(name, texts[::-1]) == (kind, confidence)


@pytest.mark.parametrize(
    ("name", "cells", "why"),
    [
        ("person_id", [3 * at * at for at in range(30)], "the name suggests it"),
        ("case_nr", [3 * at * at for at in range(30)], "the name suggests it"),
        ("x", range(7, 40), "counts the rows"),
        ("x", [at + at // 7 for at in range(60)], "few numbers are possible"),
        ("x", [f"word{at}" for at in range(30)], "a different value"),
        ("x", [3 * at * at for at in range(30)], ""),
        ("idea", [3 * at * at for at in range(30)], ""),
        ("x", [at + at // 7 for at in range(60)] * 2, ""),
        ("age", range(20, 60), ""),
        ("row_number", range(20, 60), "counts the rows"),
    ],
)
def test_rules_5_and_15_tell_identifiers(name: str, cells: Any, why: str) -> None:
    settled = settle(pl.Series(name, list(cells)))
    role, reason = guess_role(settled.values, settled.kind)
    assert role == ("identifier" if why else "known")
    assert why in reason


def test_rule_12_finds_the_order_that_other_columns_show() -> None:
    rng = np.random.default_rng(3)
    level = rng.integers(1, 7, 400)
    town = rng.integers(1, 7, 400)
    frame = pl.DataFrame(
        {
            "q1": level,
            "q2": town,
            "q3": np.array([5, 2, 6, 1, 3, 4])[level - 1],
            "pay": 10 * level + rng.normal(0, 8, 400),
            "rooms": np.round(level / 2 + rng.normal(0, 0.5, 400), 1),
            "club": np.where(level + rng.normal(0, 1, 400) > 4, "yes please", "no way"),
            "height": np.array([1.6, 1.9, 1.5, 1.8, 1.4, 1.7])[town - 1] + rng.normal(0, 0.1, 400),
        }
    )
    table = Table.from_frame(frame)
    assert [table.column(name).kind for name in ("q1", "q2", "q3")] == ["ordered", "category", "category"]
    assert [table.column(name).confidence for name in ("q1", "q2", "q3")] == ["likely", "uncertain", "uncertain"]
    assert "codes 1 to 6, and other columns rise or fall along them" in table.column("q1").reason
    assert kind_notes(table)[0].startswith("The types of 2 of 7 columns ('q2', 'q3')")
    shuffled = Table.from_frame(frame.sample(fraction=1, shuffle=True, seed=1))
    assert [column.reason for column in shuffled.columns] == [column.reason for column in table.columns]


def test_questions_are_asked_and_not_answered() -> None:
    codes = settle(pl.Series("q7", [1, 2, 3, 8, 9] * 9))
    assert codes.question == "8 and 9 may stand for no answer in 'q7'. If so, name them as missing"
    assert codes.markers == ()
    for cells in ([1, 2, 3, 4, 5, 6, 9], [1, 3, 9], [2, 3, 9], [1, 2, 3], [9, 9, 9]):
        assert settle(pl.Series("q7", cells * 9)).question == ""
    dates = settle(pl.Series("born", ["31/12/1990", "12/31/1990", "1/2/1990"] * 9))
    assert dates.kind == "category"
    assert "mix day/month/year and month/day/year" in dates.question
    assert "1990" not in dates.question


def test_a_word_on_no_list_that_is_taken_for_missing_makes_the_kind_unsure() -> None:
    assert guess("age", ["39", "41", "7", "12", "80", "top"] * 5) == ("number", "uncertain")
    assert guess("age", ["39", "41", "7", "12", "80", "N", "-9"] * 5) == ("number", "likely")
    assert guess("age", ["?", "N/A"]) == ("category", "sure")


def test_few_rows_of_numbers_are_numbers_unless_their_name_says_codes() -> None:
    assert guess("x", [0, 1]) == ("number", "likely")
    assert guess("sex", [1, 2, 2]) == ("category", "likely")
    assert guess("sex", [1.5, 2, 2]) == ("number", "likely")


@pytest.mark.parametrize(
    ("name", "words", "tells"),
    [
        ("HOUSING_TYPE", ["housing", "type"], "group"),
        ("party_size", ["party", "size"], "amount"),
        ("PatientID2", ["patient", "id"], "group"),
        ("NumberOfKids", ["number", "of", "kids"], "amount"),
        ("XMLHttp", ["xml", "http"], None),
        ("economic.cond.national", ["economic", "cond", "national"], "amount"),
        ("rate_marriage", ["rate", "marriage"], "amount"),
        ("age_at_marriage", ["age", "at", "marriage"], "amount"),
        ("YearsMarried", ["years", "married"], "amount"),
        ("marriage_rate", ["marriage", "rate"], "amount"),
        ("rate_type", ["rate", "type"], "group"),
        ("age_group", ["age", "group"], "group"),
        ("marital_status", ["marital", "status"], "group"),
        ("school_district", ["school", "district"], "group"),
        ("religious", ["religious"], None),
        ("größeCode", ["grösse", "code"], "group"),
        ("", [], None),
    ],
)
def test_names_are_cut_into_words_of_which_one_decides(name: str, words: list[str], tells: Any) -> None:
    assert words_of(name) == words
    found = telling_word(name)
    assert (found and found[0]) == tells


def test_a_rating_is_a_number_whatever_is_rated() -> None:
    rates = np.random.default_rng(1).integers(1, 6, 300).tolist()
    assert guess("rate_marriage", rates)[0] in ("number", "ordered")
    assert guess("marriage", rates) == ("category", "likely")


@pytest.mark.parametrize(
    ("cell", "low"),
    [
        ("20-29", 20),
        ("20 – 29", 20),
        ("20 to 29 years", 20),
        ("20..29", 20),
        ("20 bis 29", 20),
        ("€1,000 - €2,000", 1000),
        ("[20;30]", 20),
        ("]19,30[", 19),
        ("(-inf, 20]", -np.inf),
        ("75+", 75),
        ("75 and over", 75),
        ("75 or more", 75),
        (">= 75", 75),
        ("ab 75", 75),
        ("under 5", -np.inf),
        ("<5", -np.inf),
        ("up to 5 %", -np.inf),
        ("45,100", None),
        ("25-00503", None),
        ("30-20", None),
        ("1. Never Married", None),
        ("12", None),
        ("", None),
    ],
)
def test_bands_are_read_from_their_lower_end(cell: str, low: float | None) -> None:
    assert lower_end(cell) == low


def test_bands_are_ordered_and_those_of_a_release_join_them() -> None:
    original = Table.from_frame(pl.DataFrame({"age": ["30-39", "<20", "40+", "20-29"] * 6}), name="original")
    assert original.frame["age"].dtype == pl.Enum(["<20", "20-29", "30-39", "40+"])
    released = Table.from_frame(pl.DataFrame({"age": ["20-29", "50+"] * 12}), name="released")
    one, other = agree(original, released)
    assert one.frame["age"].dtype == other.frame["age"].dtype == pl.Enum(["<20", "20-29", "30-39", "40+", "50+"])
    assert one.frame["age"].to_list() == original.frame["age"].to_list()

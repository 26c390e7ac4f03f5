import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.report.text import count, decimal, fixed, name, percent, plain, shorten, slope


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.0, "12"), (0.5, "0.5"), (1234567.891, "1,234,567.891"), (0.00002, "2.0e-05"), (-1e-17, "0"), (100.0, "100")],
)
def test_decimal(value: float, text: str) -> None:
    assert decimal(value) == text


def test_undefined_is_said_and_never_a_number() -> None:
    assert [form(math.nan) for form in (decimal, fixed, percent)] == ["undefined"] * 3
    assert slope(math.nan) == "already breached"


def test_the_slope_is_printed_as_in_the_paper() -> None:
    assert (slope(0.23197), slope(0.35028)) == ("23.20%", "35.03%")


@given(st.floats(0, 1))
def test_a_share_is_shown_as_nothing_or_all_only_if_it_is(share: float) -> None:
    assert (percent(share) == "0.0%") == (share == 0)
    assert (percent(share) == "100.0%") == (share == 1)


@given(st.integers(0, 10_000))
def test_a_rounded_share_is_shown_as_a_browser_shows_it(ten_thousandths: int) -> None:
    share = round(ten_thousandths / 10_000, 4)
    whole, part = divmod(ten_thousandths, 100)
    assert slope(share) == f"{whole}.{part:02d}%"


def test_count_has_the_right_word() -> None:
    assert (count(1, "item", "items"), count(0, "item", "items")) == ("1 item", "0 items")


@given(st.text(st.characters(exclude_categories=())))
def test_a_name_can_be_saved_and_moves_no_cursor(text: str) -> None:
    shown = plain(text)
    shown.encode()
    assert shown.strip()
    assert not any(letter < " " or "\x7f" <= letter <= "\x9f" for letter in shown)
    assert not set(shown) & set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.mark.parametrize("text", ["Zoë", "李雷", "می\u200cخواهم", "-3", "a b"])
def test_ordinary_names_stay_as_they_are(text: str) -> None:
    assert plain(text) == text


def test_empty_names_are_seen() -> None:
    assert plain("") == plain("  ") == "(empty)"


@given(st.text(), st.integers(3, 30))
def test_a_long_name_keeps_its_ends(text: str, most: int) -> None:
    short = shorten(text, most)
    assert len(short) <= most
    if len(text) > most:
        head, tail = short.split("…", 1) if "…" not in text else (short[0], short[-1])
        assert text.startswith(head)
        assert text.endswith(tail)


def test_a_name_may_be_a_megabyte_long() -> None:
    assert name("a" * 1_000_000 + "\n", 9) == "aaaa…aaa�"

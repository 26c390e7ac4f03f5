"""Numbers as they are written on a command line."""

from fractions import Fraction
from pathlib import Path

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.cli.question import read_guess
from unveil.cli.values import refuse_blank, refuse_overwriting
from unveil.report.limits import parse_number
from unveil.report.text import one_line


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.1", Fraction(1, 10)), (".5", Fraction(1, 2)), ("5.", Fraction(5)), ("1/3", Fraction(1, 3)),
     ("-2", Fraction(-2)), ("+1e-3", Fraction(1, 1000)), (" 1 ", Fraction(1))],
)  # fmt: skip
def test_a_number_is_read_exactly(text: str, number: Fraction) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "1/0", "1/2/3", "0x1", "1,5", "1e9999", "½", "１", "1_000", ".", "/2", "--1", "1\n2"]
)
def test_no_number_is_none(text: str) -> None:
    assert parse_number(text) is None


@settings(deadline=None)
@given(st.text(max_size=12))
def test_every_text_is_a_number_or_none_and_agrees_with_fraction(text: str) -> None:
    number = parse_number(text)
    assert number is None or number == Fraction(text.strip())


@pytest.mark.parametrize(
    ("text", "files", "path", "probability"),
    [
        ("guess.csv", (), "guess.csv", None),
        ("guess.csv=0.25", (), "guess.csv", Fraction(1, 4)),
        ("guess.csv=1/3", ("guess.csv",), "guess.csv", Fraction(1, 3)),
        ("a=b.csv", (), "a=b.csv", None),
        ("a=b.csv=0.5", ("a=b.csv",), "a=b.csv", Fraction(1, 2)),
        ("guess=1", ("guess=1",), "guess=1", None),
        ("guess=1", ("guess=1", "guess"), "guess", Fraction(1)),
        ("guess=1=1/2", ("guess=1",), "guess=1", Fraction(1, 2)),
        ("guess.csv=", (), "guess.csv=", None),
        ("x" * 5000 + "=0.5", (), "x" * 5000, Fraction(1, 2)),
    ],
)
def test_the_probability_of_a_guess_stands_after_the_last_equals_sign(
    text: str,
    files: tuple[str, ...],
    path: str,
    probability: Fraction | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in files:
        (tmp_path / name).touch()
    assert read_guess(text) == (Path(path), probability)


def test_a_report_must_not_replace_an_input(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").touch()
    (tmp_path / "link.html").symlink_to("truth.csv")
    refuse_overwriting(tmp_path / "new.html", [tmp_path / "truth.csv", None, tmp_path / "missing.csv"])
    refuse_overwriting(None, [tmp_path / "truth.csv"])
    with pytest.raises(click.BadParameter, match="is an input"):
        refuse_overwriting(tmp_path / "link.html", [None, tmp_path / "truth.csv"])


@settings(deadline=None)
@given(st.text())
def test_one_line_holds_printable_characters_only(text: str) -> None:
    assert one_line(text).isprintable()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (("audit", "--sensitive", ""), "The value of '--sensitive' is empty"),
        (("audit", "--sensitive", " \t"), "The value of '--sensitive' is empty"),
        (("audit", "--id="), "The value of '--id' is empty"),
        (("audit", "", "b.csv"), "Argument 2 is empty"),
        (("",), "Argument 1 is empty"),
    ],
)
def test_a_blank_argument_is_refused(written: tuple[str, ...], said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        refuse_blank(written)


def test_arguments_with_letters_are_not_blank() -> None:
    refuse_blank(("audit", "--technique", "age=", "--scenario=n=", "-", "--json"))

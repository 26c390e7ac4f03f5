"""What was said of a setting is read exactly, or refused in words, through either door."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import InputError
from unveil.questions import QUESTIONS, question
from unveil.questions.request import SettingError
from unveil.questions.settings import Door, Question, Setting
from unveil.questions.values import cells, columns_in, row, value_of, values_of

ASKED = question("unlinkability")
ALPHA = ASKED.setting("alpha")
SIZE = Setting(name="memory", label="Memory", kind="size")


@pytest.mark.parametrize("text", ["-0.1", "1.0000000000000000001", "3/2", "x"])
def test_a_share_lies_between_0_and_1(text: str) -> None:
    with pytest.raises(InputError, match=r"0\.5 or 1/2"):
        value_of(ALPHA, text, ASKED)


@pytest.mark.parametrize("text", ["0", "1", "1.0", "1/3"])
def test_a_share_may_be_either_end(text: str) -> None:
    assert value_of(ALPHA, text, ASKED) == Fraction(text)


def test_a_number_of_many_digits_is_not_written_out() -> None:
    for setting in (ALPHA, ASKED.setting("seed")):
        with pytest.raises(InputError) as caught:
            value_of(setting, "9" * 400, ASKED)
        assert len(str(caught.value)) < 150


@pytest.mark.parametrize("written", [(",",), (" , ", ",,"), ('""',)])
def test_a_list_of_no_names_is_refused(written: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="it names none"):
        columns_in(written)


@pytest.mark.parametrize(("text", "size"), [("4GB", 4 * 10**9), ("1.5 GiB", 3 * 2**29), ("2000", 2000), ("1kb", 1000)])
def test_a_size_is_a_number_of_bytes(text: str, size: int) -> None:
    assert value_of(SIZE, text, ASKED) == size


@pytest.mark.parametrize("text", ["much", "0", "-1GB", "4 G", "9" * 400])
def test_a_size_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="such as 4GB"):
        value_of(SIZE, text, ASKED)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("door", ["page", "command line"])
def test_what_is_not_said_is_the_default(name: str, door: Door) -> None:
    asked = question(name)
    values = values_of(asked, {}, sample=True, door=door)
    assert set(values) == {each.name for each in asked.settings if not each.is_file}
    for each in asked.settings:
        usual = asked.of_sample.get(each.name, each.default)
        if not each.is_file and not each.beside and usual is not None:
            assert values[each.name] == value_of(each, usual, asked, sample=True), each.name


@pytest.mark.parametrize("name", QUESTIONS)
def test_settings_are_named_once_and_say_what_they_are(name: str) -> None:
    asked = question(name)
    assert asked.name == name
    names = [each.name for each in asked.settings]
    assert len(set(names)) == len(names)
    assert asked.lead.endswith("?")
    assert asked.sample.endswith(".")
    for each in asked.settings:
        assert each.label[0].isupper() or each.label[0] in "αβδε"
        assert not each.words or each.words.endswith(".")
        assert not each.of or asked.setting(each.of).is_file
        assert not each.beside or asked.setting(each.beside).kind == "tables"
        assert (
            each.option
            or each.is_file
            or each.kind in ("folder", "roles")
            or each.only == "page"
            or each.beside
            or (each.name == asked.sample_of)
        ), each.name


@pytest.mark.parametrize("name", QUESTIONS)
def test_options_and_keys_are_told_apart_at_each_door(name: str) -> None:
    asked = question(name)
    for door in ("page", "command line"):
        options = [each.option for each in asked.on(door) if each.option and not each.or_file]
        assert len(set(options)) == len(options)


@pytest.mark.parametrize("sent", [True, 3, 2.5, {"a": 1}])
def test_a_folder_that_is_neither_text_nor_list_is_refused(sent: Any) -> None:
    with pytest.raises(SettingError, match="not a list"):
        values_of(QUESTIONS["study_run"].question, {"out": sent}, door="page")


def test_an_error_says_which_setting_it_is_about() -> None:
    with pytest.raises(SettingError) as caught:
        values_of(ASKED, {"alpha": "2"})
    assert caught.value.field == "alpha"


@given(st.lists(st.text(alphabet="abc, \"'é=#", min_size=1).filter(str.strip).map(str.strip), min_size=1, max_size=4))
def test_texts_with_commas_are_read_back(texts: list[str]) -> None:
    assert cells(row(texts)) == tuple(texts)


def test_a_listed_protection_is_written_with_what_differs_from_its_defaults() -> None:
    asked: Question = question("protect_graph")
    chosen = {"name": "k-degree", "settings": {"k": "7", "attempts": "100"}}
    assert value_of(asked.setting("method"), chosen, asked) == "k-degree:k=7"
    assert value_of(asked.setting("method"), "k-degree:k=3", asked) == "k-degree:k=3"
    for other in ("os:system", {"name": "os:system"}, {"name": "mondrian", "settings": {}}, "tests.masks:Mask"):
        with pytest.raises(InputError, match="Unknown name"):
            value_of(asked.setting("method"), other, asked)


def test_the_command_line_may_name_a_class_of_its_own() -> None:
    asked = question("protect_graph")
    assert value_of(asked.setting("method"), "my.module:Mask", asked, door="command line") == "my.module:Mask"

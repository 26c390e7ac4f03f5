"""Settings are declared once: each declaration refuses bad values, and is a keyword of the function of its command."""

import inspect
import re
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest

import unveil
from unveil.errors import InputError
from unveil.questions import QUESTIONS, question
from unveil.questions.settings import Door, Setting, Settings
from unveil.questions.values import value_of


def settings_class(name: str) -> type[Settings]:
    """Return the class that declares the settings of a question."""
    entry = QUESTIONS[name]
    module = import_module(f"unveil.questions.{entry.folder}.{entry.table.partition(':')[0]}")
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Settings)]
    named = {each.name for each in question(name).settings}
    return next(kind for kind in classes if {each.name for each in kind.table() if each.only != "python"} == named)


def bad_values(each: Setting) -> Iterator[Any]:
    """Yield values that the declaration of a setting excludes."""
    if each.kind == "number":
        yield from ([] if each.or_file else ["many"])
        yield from (True, [3])
        yield from ([1.5] if each.whole else [])
        yield from ([] if each.least is None else [each.least - 1])
        yield from ([] if each.most is None else [each.most * 2 + 1])
    elif each.kind == "share":
        yield from ("half", -0.1, 1.5, Fraction(3, 2))
    elif each.kind == "choice":
        yield from ("no such name", 3)
    elif each.kind == "several":
        yield ["no such name"]
    elif each.kind == "switch":
        yield from ("maybe", 1)
    elif each.kind == "size":
        yield from ("much", 0, -1)
    elif each.form:
        yield from (["no equals sign"], "=", ["name="])
    elif each.kind in ("text", "column"):
        yield "x" * 5_000
    elif each.kind in ("texts", "columns"):
        yield ["x" * 5_000]


def label(name: str, each: Setting, value: Any, *more: str) -> str:
    """Return the name of a case."""
    return "-".join([name, each.name, str(value)[:12], *more])


DECLARED: list[tuple[str, Setting, Any]] = [
    (name, each, value)
    for name in QUESTIONS
    for each in question(name).settings
    if not each.beside
    for value in bad_values(each)
    if not (each.objects and isinstance(value, list) and each.kind not in ("texts", "several"))
]
CASES = [pytest.param(*case, id=label(*case)) for case in DECLARED]


@pytest.mark.parametrize(("name", "each", "value"), CASES)
def test_a_value_that_its_declaration_excludes_is_refused_in_one_sentence(name: str, each: Setting, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        settings_class(name)(**{each.name: value})
    sentence = str(caught.value)
    assert sentence.startswith(each.name)
    assert "\n" not in sentence
    assert len(sentence) < 700


#: Settings with another name than their option: ``id`` is a function of Python, and a form has a file apart.
OTHER_NAMES = {"identifiers": "id", "identifier": "id", "pairs": "seed_pairs"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_setting_is_called_as_its_option_or_the_plural_of_it(name: str) -> None:
    for each in question(name).settings:
        if OTHER_NAMES.get(each.name) != each.key:
            assert each.name in (each.key, f"{each.key}s", f"{each.key.removesuffix('y')}ies")


DOORS: tuple[Door, ...] = ("page", "command line")
AT_DOORS = [
    pytest.param(name, each, value, door, id=label(name, each, value, door))
    for name, each, value in DECLARED
    for door in DOORS
    if each.only in (None, door) and not each.form and not (door == "command line" and each.kind == "switch")
]


@pytest.mark.parametrize(("name", "each", "value", "door"), AT_DOORS)
def test_front_ends_refuse_the_same_values(name: str, each: Setting, value: Any, door: Door) -> None:
    with pytest.raises(InputError) as caught:
        value_of(each, value, question(name), door=door)
    assert "\n" not in str(caught.value)


def test_settings_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError, match="settings is a dict"):
        settings_class("audit").merge({"seed": 1}, {})  # type: ignore[arg-type]


def test_every_kind_of_setting_with_a_rule_has_bad_values() -> None:
    tried = {each.kind for name in QUESTIONS for each in question(name).settings if any(True for _ in bad_values(each))}
    ruled = {each.kind for name in QUESTIONS for each in question(name).settings if each.least is not None}
    assert ruled | {"share", "choice", "several", "switch", "size", "texts", "columns", "text"} <= tried
    assert len(CASES) > 300


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_command_is_a_function_whose_keywords_are_its_settings(name: str) -> None:
    function = getattr(unveil, QUESTIONS[name].command.replace(" ", "_").replace("-", "_"))
    shown = inspect.signature(function).parameters
    keywords = [each for each in settings_class(name).table() if each.is_keyword]
    assert "settings" in shown
    assert [each.name for each in keywords if each.name not in shown] == []
    entries = re.findall(r"^    ([a-z_, ]+)$", function.__doc__, re.MULTILINE)
    assert {each.name for each in keywords} <= {entry for line in entries for entry in line.split(", ")}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_unknown_name_gets_a_suggestion(name: str) -> None:
    kind = settings_class(name)
    first = next(each.name for each in kind.table() if each.is_keyword)
    with pytest.raises(InputError, match=f"Unknown setting '{first}x'. Did you mean '{first}'"):
        kind.merge(None, {f"{first}x": 1})


@pytest.mark.parametrize("name", QUESTIONS)
def test_settings_that_were_checked_are_accepted_again(name: str) -> None:
    usual = settings_class(name)()
    values = {each.name: getattr(usual, each.name) for each in usual.table()}
    assert settings_class(name)(**values) == usual


def test_one_text_stands_for_a_list_of_one_and_texts_for_a_mapping() -> None:
    kind = settings_class("columns")
    assert kind(missing="?").missing == ("?",)  # type: ignore[call-arg,attr-defined]
    assert kind(rename="old=new").rename == kind(rename={"old": "new"}).rename  # type: ignore[call-arg,attr-defined]

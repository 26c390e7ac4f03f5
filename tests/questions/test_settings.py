"""Settings are declared once: each declaration refuses bad values, and is a keyword of the function of its command."""

import inspect
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest

import unveil
from unveil.errors import InputError
from unveil.questions import QUESTIONS, question
from unveil.questions.settings import Setting, Settings

#: The questions whose settings are a class.
DECLARED = [name for name in QUESTIONS if name not in ("audit", "protect")]


def settings_class(name: str) -> type[Settings]:
    """Return the class that declares the settings of a question."""
    entry = QUESTIONS[name]
    module = import_module(f"unveil.questions.{entry.folder}.{entry.table.partition(':')[0]}")
    classes = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Settings)]
    return next(each for each in classes if each.table() == question(name).settings)


def bad_values(each: Setting) -> Iterator[Any]:
    """Yield values that the declaration of a setting excludes."""
    if each.kind == "number":
        yield from ("many", True, [3])
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


CASES = [
    pytest.param(name, each, value, id=f"{name}-{each.name}-{str(value)[:12]}")
    for name in DECLARED
    for each in question(name).settings
    if not each.beside
    for value in bad_values(each)
    if not (each.objects and isinstance(value, list) and each.kind not in ("texts", "several"))
    and not (each.objects and each.kind == "text" and not isinstance(value, str))
]


@pytest.mark.parametrize(("name", "each", "value"), CASES)
def test_a_value_that_its_declaration_excludes_is_refused_in_one_sentence(name: str, each: Setting, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        settings_class(name)(**{each.name: value})
    sentence = str(caught.value)
    assert sentence.startswith(each.name)
    assert "\n" not in sentence
    assert len(sentence) < 700


def test_every_kind_of_setting_with_a_rule_has_bad_values() -> None:
    tried = {each.kind for name in DECLARED for each in question(name).settings if any(True for _ in bad_values(each))}
    ruled = {each.kind for name in DECLARED for each in question(name).settings if each.least is not None}
    assert ruled | {"share", "choice", "several", "switch", "size", "texts", "columns", "text"} <= tried
    assert len(CASES) > 200


@pytest.mark.parametrize("name", DECLARED)
def test_every_command_is_a_function_whose_keywords_are_its_settings(name: str) -> None:
    function = getattr(unveil, QUESTIONS[name].command.replace(" ", "_").replace("-", "_"))
    shown = inspect.signature(function).parameters
    keywords = [each for each in settings_class(name).table() if each.is_keyword]
    assert "settings" in shown
    assert [each.name for each in keywords if each.name not in shown] == []
    for each in keywords:
        if shown[each.name].kind is inspect.Parameter.KEYWORD_ONLY and each.name in (function.__doc__ or ""):
            assert each.label in (function.__doc__ or "") or shown[each.name].default != each.default


@pytest.mark.parametrize("name", DECLARED)
def test_an_unknown_name_gets_a_suggestion(name: str) -> None:
    kind = settings_class(name)
    first = next(each.name for each in kind.table() if each.is_keyword)
    with pytest.raises(InputError, match=f"there is no setting '{first}x'. Did you mean '{first}'"):
        kind.merge(None, {f"{first}x": 1})


@pytest.mark.parametrize("name", DECLARED)
def test_settings_that_were_checked_are_accepted_again(name: str) -> None:
    usual = settings_class(name)()
    values = {each.name: getattr(usual, each.name) for each in usual.table()}
    assert settings_class(name)(**values) == usual


def test_one_text_stands_for_a_list_of_one_and_texts_for_a_mapping() -> None:
    kind = settings_class("columns")
    assert kind(missing="?").missing == ("?",)  # type: ignore[call-arg,attr-defined]
    assert kind(rename="old=new").rename == kind(rename={"old": "new"}).rename  # type: ignore[call-arg,attr-defined]

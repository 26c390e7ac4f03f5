"""The forms: they hold what the command line has, and say what is wrong with each field before anything runs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.approved.sentences import Approved
from unveil.questions import QUESTIONS, question
from unveil.questions.roles import roles_of
from unveil.questions.settings import Question, Setting
from unveil.questions.values import MOST_FILES, value_of
from unveil.web.command import command
from unveil.web.pages import said
from unveil.web.questions import check

FORMS = {name: question(name) for name in QUESTIONS}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_example_needs_nothing_and_a_question_needs_its_files(form: Question) -> None:
    assert check(form, {}, {"sample": True}) == {}
    wrong = check(form, {}, {})
    # Where one of several files is needed, the first of them says so.
    assert set(wrong) == ({field.name for field in form.on("page") if field.required} or {form.files[0].name})


@pytest.mark.parametrize(
    ("asked", "name", "value", "words"),
    [
        ("audit", "tolerance", "nan", "a number"),
        ("audit", "profile", ["ema"], "no name"),
        ("audit", "attacks", "linkability", "list"),
        ("audit", "missing", "a\0b", "letters"),
        ("audit", "limits", [{"quantity": "luck", "limit": "1"}], "names no result"),
        ("audit", "limits", [{"quantity": "copies", "limit": "much"}], "not a number"),
        ("audit", "limits", [{"quantity": "copies", "limit": "1e999"}], "not a number"),
        ("audit", "limits", [{"quantity": "linkability", "limit": "9"}], "share from 0 to 1"),
        ("audit", "scenarios", [{"name": "", "columns": ["a"]}], "name"),
        ("audit", "scenarios", [{"name": "a=b", "columns": ["a"]}], "="),
        ("audit", "scenarios", [{"name": "x", "columns": []}], "at least one column"),
        ("audit", "scenarios", ["x=a"], "damaged"),
        ("audit", "columns", [{"name": "a", "role": "king"}], "unknown role or type"),
        ("audit", "columns", ["a"], "damaged"),
        ("audit", "release_type", ["masked", "masked"], "more of these than files"),
        ("unlinkability", "alpha", "1/0", "0.5 or 1/2"),
        ("unlinkability", "probabilities", ["often"], "0.5 or 1/2"),
        ("attack_metrics", "limits", [{"quantity": "adversary_overall_success", "limit": "0.1"}], "candidates"),
        ("graph", "method", "no-such-protection", "nknown name"),
        ("graph", "method", "rank-swapping", "nknown name"),
        ("graph", "method", {"name": "os:system", "settings": {}}, "nknown name"),
        ("graph", "method", {"name": "k-degree", "settings": {"k": "none"}}, "whole number"),
        ("graph", "method", {"name": "k-degree", "settings": {"zz": "3"}}, "no setting 'zz'"),
        ("graph", "attack", {"name": "yartseva-grossglauser", "settings": "x"}, "damaged"),
    ],
)
def test_what_cannot_be_asked_is_said_at_its_field(asked: str, name: str, value: Any, words: str) -> None:
    form = FORMS[asked]
    files = {field.name: "one" for field in form.files if field.required}
    wrong = check(form, files, {name: value})
    assert list(wrong) == [name]
    assert words in wrong[name]


def test_files_that_do_not_go_together() -> None:
    matching, graph = FORMS["matching"], FORMS["graph"]
    assert list(check(matching, {"truth": "t"}, {})) == ["matrix"]
    assert list(check(matching, {"truth": "t", "matrix": "m", "frequency_ranges": "r"}, {})) == ["frequency_ranges"]
    assert list(check(matching, {"truth": "t", "frequency_ranges": "r"}, {})) == ["transactions"]
    both = {"truth": "t", "frequency_ranges": "r", "transactions": "a", "frequencies": "f"}
    assert list(check(matching, both, {})) == ["frequencies"]
    assert list(check(matching, {"truth": "t", "matrix": "m", "frequencies": "f"}, {})) == ["frequency_ranges"]
    assert check(matching, {"truth": "t", "frequency_ranges": "r", "frequencies": "f"}, {}) == {}
    assert list(check(graph, {"edges": "e", "auxiliary": "a"}, {})) == ["truth"]
    assert list(check(graph, {"edges": "e", "truth": "t"}, {})) == ["auxiliary"]
    assert list(check(FORMS["audit"], {"original": ["a", "b"], "released": ["r"]}, {})) == ["original"]
    many = {"original": "a", "released": ["r"] * (MOST_FILES + 1)}
    assert list(check(FORMS["audit"], many, {})) == ["released"]


def test_a_field_that_there_is_none_of_is_refused() -> None:
    assert "nonsense" in check(FORMS["audit"], {}, {"sample": True, "nonsense": 1})[""]
    assert "nonsense" in check(FORMS["audit"], {"nonsense": "file"}, {})[""]


def test_the_command_says_no_more_than_was_chosen() -> None:
    form = FORMS["audit"]
    plain = {field.name: field.default for field in form.on("page") if field.default not in (None, ())}
    plain.pop("release_type")
    names = {"original": ["people.csv"], "released": ["masked.csv"]}
    assert command(form, names, plain).line == "unveil audit people.csv masked.csv --html report.html"
    quoted = command(form, {"original": ["a b.csv"], "released": ["$(rm -rf ~).csv"]}, {}).line
    assert quoted == "unveil audit 'a b.csv' '$(rm -rf ~).csv' --html report.html"


def test_roles_that_were_suggested_are_not_said_again() -> None:
    column = {"name": "id", "role": "identifier", "suggested": "identifier", "kind": "number", "guessed": "number"}
    assert roles_of([column]).identifiers == ()
    assert roles_of([{**column, "role": "known"}]).known == ("id",)
    also = {**column, "name": "mail", "suggested": "known"}
    assert roles_of([column, also]).identifiers == ("id", "mail")
    weight = {**column, "name": "w", "suggested": "known", "role": "weight"}
    assert roles_of([weight]).weight == "w"
    assert roles_of([{**weight, "role": "household"}]).household == "w"


def test_what_was_asked_is_said_in_words(approved: Approved) -> None:
    form = FORMS["audit"]
    names = {"original": ["people.csv"], "released": ["masked.csv"]}
    column = {"name": "vote", "role": "sensitive", "suggested": "known", "kind": "category", "guessed": "category"}
    settings = {
        "columns": [column],
        "release_type": ["masked"],
        "scenarios": [{"name": "neighbour", "columns": ["age", "sex"]}],
        "limits": [{"quantity": "copies", "limit": "0.1"}],
        "attacks": ["linkability"],
    }
    told = dict(said(form, names, settings))
    assert told["Original data, one row per person"] == "people.csv"
    approved(told["Roles and types of columns"])
    assert told["Attack scenarios"] == "neighbour knows age, sex"
    approved(told["Release type"])
    assert told["Limits"] == "copies: 0.1"
    assert "People to attack" not in told
    assert dict(said(form, {}, {"sample": True}))["Data"].startswith("Built-in example")
    assert dict(said(FORMS["study"], {}, {"folder": "/home/me/x"}))["Folder of the study"] == "/home/me/x"


def test_a_number_of_many_digits_is_refused_and_not_computed() -> None:
    field = Setting(name="n", label="N", kind="number", whole=False)
    form = FORMS["audit"]
    for text in ("9" * 5000, "1e99999", "1/" + "3" * 5000):
        with pytest.raises(ValueError, match=r"not a number|digits; at most"):
            value_of(field, text, form)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PARTS = ("name", "role", "suggested", "kind", "guessed", "levels", "columns", "quantity", "limit", "settings")


@given(
    st.sampled_from(list(FORMS)),
    st.data(),
)
def test_whatever_is_sent_is_taken_or_refused_in_words(asked: str, data: st.DataObject) -> None:
    form = FORMS[asked]
    field = data.draw(st.sampled_from([each for each in form.on("page") if not each.is_file]))
    entry = st.dictionaries(st.sampled_from(PARTS), ANYTHING, max_size=6)
    value = data.draw(ANYTHING | st.lists(entry, max_size=2) | entry)
    files = {each.name: "one" for each in form.files if each.required}
    wrong = check(form, files, {field.name: value})
    assert all(isinstance(sentence, str) and sentence for sentence in wrong.values())

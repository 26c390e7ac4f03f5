"""The forms: they hold what the command line has, and say what is wrong with each field before anything runs."""

from importlib import import_module
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.cli import COMMANDS
from unveil.web.command import command, roles_of
from unveil.web.fields import Field, Form
from unveil.web.forms import FORMS, check
from unveil.web.summary import said
from unveil.web.values import MOST_FILES, cells, row, value_of

#: What the command line has and the page does not, and why: it says where answers go, or can be done on the page.
NOT_ON_THE_PAGE = {
    "audit": {
        *("--config", "--sample", "--compare", "--technique", "--show-records", "--compatibility", "--link"),
        "--header",  # the page asks for a file with names
    },
    "partition": {"--top"},
    "matching": {"--top", "--sample"},
    "graph": {"--sample"},
    "grades": {"--latex"},
}
SHARED = {"--json", "--html", "--quiet", "--help"}
ROLES = {"--id", "--sensitive", "--known", "--weight", "--household"}


def click_command(form: Form) -> click.Command:
    module, _, name = COMMANDS[form.command[0]][0].partition(":")
    found: click.Command = getattr(import_module(module), name)
    for word in form.command[1:]:
        assert isinstance(found, click.Group)
        found = found.commands[word]
    return found


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_option_of_the_command_line_is_a_field_and_none_is_made_up(form: Form) -> None:
    options = {
        name for each in click_command(form).params if isinstance(each, click.Option) for name in each.opts
    } - SHARED
    on_page = {field.option for field in form.fields if field.option} | set(form.command_of_sample)
    on_page |= ROLES if form.question == "audit" else set()
    on_page |= {"--sample"} if form.question == "partition" else set()
    assert on_page <= options
    assert options - on_page == NOT_ON_THE_PAGE.get(form.question, set())


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_defaults_are_those_of_the_command_line(form: Form) -> None:
    written = {name: each for each in click_command(form).params for name in each.opts}
    for field in form.settings:
        default = getattr(written.get(field.option), "default", None)
        if field.kind in ("number", "share", "choice", "text") and isinstance(default, str | int | float) and default:
            if isinstance(default, bool):
                continue
            assert value_of(field, None, form) == value_of(field, default, form), field.name


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_example_needs_nothing_and_a_question_needs_its_files(form: Form) -> None:
    assert check(form, {}, {"sample": True}) == {}
    assert form.sample.endswith(".")
    wrong = check(form, {}, {})
    assert set(wrong) == {field.name for field in form.fields if field.required}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_fields_are_named_once_and_say_what_they_are(form: Form) -> None:
    names = [field.name for field in form.fields]
    assert len(set(names)) == len(names)
    for field in form.fields:
        assert field.label[0].isupper()
        assert not field.help or field.help.endswith(".")
        assert not field.of or form.field(field.of).is_file
        assert not field.beside or form.field(field.beside).kind == "tables"


@pytest.mark.parametrize(
    ("question", "name", "value", "words"),
    [
        ("audit", "neighbours", "0", "at least 1"),
        ("audit", "neighbours", "1.5", "whole number"),
        ("audit", "neighbours", "ten", "whole number"),
        ("audit", "neighbours", True, "whole number"),
        ("audit", "tolerance", "1.5", "at most 1"),
        ("audit", "tolerance", "nan", "a number"),
        ("audit", "seed", "-1", "at least 0"),
        ("audit", "edition", "secret", "one of those offered"),
        ("audit", "profile", ["ema"], "one of those offered"),
        ("audit", "attacks", ["linkability", "magic"], "one of those offered"),
        ("audit", "attacks", "linkability", "list"),
        ("audit", "missing", "x" * 5000, "4,000 letters"),
        ("audit", "missing", "a\0b", "letters"),
        ("audit", "limits", [{"quantity": "luck", "limit": "1"}], "figures offered"),
        ("audit", "limits", [{"quantity": "copies.attack_rate", "limit": "much"}], "must be a number"),
        ("audit", "limits", [{"quantity": "copies.attack_rate", "limit": "1e999"}], "must be a number"),
        ("audit", "limits", [{"quantity": "linkability.excess_over_control", "limit": "0.1"}], "not in the data"),
        ("audit", "limits", [{"quantity": "linkability.worst_group", "limit": "0.1"}], "groups"),
        ("audit", "scenarios", [{"name": "", "columns": ["a"]}], "name"),
        ("audit", "scenarios", [{"name": "a=b", "columns": ["a"]}], "="),
        ("audit", "scenarios", [{"name": "x", "columns": []}], "at least one column"),
        ("audit", "scenarios", ["x=a"], "damaged"),
        ("audit", "columns", [{"name": "a", "role": "king"}], "role or a kind"),
        ("audit", "columns", ["a"], "damaged"),
        ("audit", "release_kinds", ["masked", "masked"], "more of these than files"),
        ("partition", "alpha", "2", "between 0 and 1"),
        ("partition", "alpha", "1/0", "0.5 or 1/2"),
        ("partition", "probabilities", ["often"], "0.5 or 1/2"),
        ("partition", "contamination_desirable", "yes", "chosen or not"),
        ("candidates", "limits", [{"quantity": "adversary_overall_success", "limit": "0.1"}], "truth"),
        ("graph", "protect", "no-such-protection", "one of those offered"),
        ("graph", "protect", "rank-swapping", "one of those offered"),
        ("graph", "protect", {"name": "os:system", "settings": {}}, "one of those offered"),
        ("graph", "protect", {"name": "k-degree", "settings": {"k": "none"}}, "whole number"),
        ("graph", "protect", {"name": "k-degree", "settings": {"zz": "3"}}, "no setting 'zz'"),
        ("graph", "attack", {"name": "yartseva-grossglauser", "settings": "x"}, "damaged"),
        ("graph", "repeat", "100000", "at most 10,000"),
    ],
)
def test_what_cannot_be_asked_is_said_at_its_field(question: str, name: str, value: Any, words: str) -> None:
    form = FORMS[question]
    files = {field.name: "one" for field in form.files if field.required}
    wrong = check(form, files, {name: value})
    assert list(wrong) == [name]
    assert words in wrong[name]


def test_files_that_do_not_go_together() -> None:
    matching, graph = FORMS["matching"], FORMS["graph"]
    assert list(check(matching, {"truth": "t"}, {})) == ["matrix"]
    assert list(check(matching, {"truth": "t", "matrix": "m", "ranges": "r"}, {})) == ["ranges"]
    assert list(check(matching, {"truth": "t", "ranges": "r"}, {})) == ["transactions"]
    both = {"truth": "t", "ranges": "r", "transactions": "a", "frequencies": "f"}
    assert list(check(matching, both, {})) == ["frequencies"]
    assert list(check(matching, {"truth": "t", "matrix": "m", "frequencies": "f"}, {})) == ["ranges"]
    assert check(matching, {"truth": "t", "ranges": "r", "frequencies": "f"}, {}) == {}
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
    plain = {field.name: field.default for field in form.settings if field.default not in (None, ())}
    plain.pop("release_kinds")
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


def test_what_was_asked_is_said_in_words() -> None:
    form = FORMS["audit"]
    names = {"original": ["people.csv"], "released": ["masked.csv"]}
    column = {"name": "vote", "role": "sensitive", "suggested": "known", "kind": "category", "guessed": "category"}
    settings = {
        "columns": [column],
        "release_kinds": ["masked"],
        "scenarios": [{"name": "neighbour", "columns": ["age", "sex"]}],
        "limits": [{"quantity": "copies.attack_rate", "limit": "0.1"}],
        "attacks": ["linkability"],
    }
    told = dict(said(form, names, settings))
    assert told["The original table"] == "people.csv"
    assert told["What each column is"] == "vote: Sensitive: nobody should learn it"
    assert told["Who might try"] == "neighbour knows age, sex"
    assert told["How it was made"] == "Masked: each row stems from one person"
    assert told["Limits"] == "copies.attack_rate: 0.1"
    assert "People to attack" not in told
    assert dict(said(form, {}, {"sample": True}))["Data"].startswith("The example inside unveil")
    assert (
        dict(said(FORMS["study"], {}, {"folder": "/home/me/x"}))["Folder of the study on this machine"] == "/home/me/x"
    )


@pytest.mark.parametrize("texts", [["a"], ["a, b", 'c"d', "é"], ["x=1", "#"]])
def test_texts_with_commas_are_read_back(texts: list[str]) -> None:
    assert cells(row(texts)) == texts


def test_a_number_of_many_digits_is_refused_and_not_computed() -> None:
    field = Field(name="n", label="N", kind="number", whole=False)
    form = FORMS["audit"]
    for text in ("9" * 5000, "1e99999", "1/" + "3" * 5000):
        with pytest.raises(ValueError, match="must be a number"):
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
def test_whatever_is_sent_is_taken_or_refused_in_words(question: str, data: st.DataObject) -> None:
    form = FORMS[question]
    field = data.draw(st.sampled_from(form.settings))
    entry = st.dictionaries(st.sampled_from(PARTS), ANYTHING, max_size=6)
    value = data.draw(ANYTHING | st.lists(entry, max_size=2) | entry)
    files = {each.name: "one" for each in form.files if each.required}
    wrong = check(form, files, {field.name: value})
    assert all(isinstance(sentence, str) and sentence for sentence in wrong.values())

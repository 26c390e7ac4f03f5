"""The schemas of answers: each answer has one, each field has words, and what is new does not go unnoticed."""

import json
import re
from importlib import import_module
from typing import Any

import fastjsonschema
import pytest
from click.testing import CliRunner

from tools.answer_schemas import check
from unveil.cli import main
from unveil.errors import InputError
from unveil.questions import QUESTIONS, schema, schema_names, schema_text

each_schema = pytest.mark.parametrize("name", schema_names())


def test_every_question_has_the_schema_that_its_answers_name() -> None:
    views = {home.folder: import_module(f"unveil.questions.{home.folder}.view").VIEW for home in QUESTIONS.values()}
    assert {view.schema for view in views.values()} <= set(schema_names().values())


@each_schema
def test_the_schema_is_one_with_its_name_and_words(name: str) -> None:
    whole = schema(name)
    assert whole["description"].endswith(".")
    assert whole["properties"]["schema"]["const"] == whole["title"] == schema_names()[name]
    assert whole["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert callable(fastjsonschema.compile({key: whole[key] for key in whole if key != "$id"}))


def vague(node: Any, place: str = "") -> list[str]:
    """Return the fields whose words say nothing of their own, or speak of Python where JSON has null."""
    if isinstance(node, list):
        return [found for each in node for found in vague(each, place)]
    if not isinstance(node, dict):
        return []
    fields = node.get("properties", {}) if isinstance(node.get("properties"), dict) else {}
    words = {name: each["description"] for name, each in fields.items()}
    own = [
        f"{place}{name}"
        for name, said in words.items()
        if len(said.split()) < 3 or re.search(r"\b(NaN|None)\b", said) or list(words.values()).count(said) > 1
    ]
    return own + [found for name, each in node.items() for found in vague(each, f"{place}{name}.")]


@each_schema
def test_every_field_has_words_of_its_own(name: str) -> None:
    assert vague(schema(name)) == []


def test_vague_words_are_seen() -> None:
    said = ["The value.", "NaN where nobody was asked.", "How many of both.", "How many of both.", "The share of rows."]
    fields = {f"field{place}": {"description": each} for place, each in enumerate(said)}
    found = vague({"properties": {"deep": {"description": "What lies below it.", "items": {"properties": fields}}}})
    assert found == [f"properties.deep.items.field{place}" for place in range(4)]


def test_a_field_that_is_not_named_and_a_wrong_type_are_seen() -> None:
    answer: dict[str, Any] = {name: {} for name in schema("study-status")["required"]} | {
        "schema": "unveil.study-status/1"
    }
    with pytest.raises(AssertionError, match=r"data\.version must be string.*Declare what is new"):
        check(json.dumps(answer))
    fine = {"total": 2, "fine": 1, "failed": 0, "damaged": 0, "missing": 1}
    answer |= {"version": "1", "name": "a", "folder": "b", "scenarios": fine, "running": None, "seconds": 1.5}
    answer["seconds_left"] = None
    check(json.dumps(answer))
    with pytest.raises(AssertionError, match=r"must not contain \{'more'\} properties"):
        check(json.dumps(answer | {"more": 1}))


def test_the_command_prints_a_schema_by_question_by_command_and_by_whole_name() -> None:
    def said(*words: str) -> str:
        run = CliRunner().invoke(main, ["schema", *words])
        assert run.exit_code == 0, run.stderr
        return run.stdout

    assert said("audit") == said("protect") == said("unveil.audit/4") == schema_text("audit")
    assert said("grade-metrics") == schema_text("grades")
    assert [line.split() for line in said().splitlines()] == [list(pair) for pair in schema_names().items()]


@pytest.mark.parametrize("name", ["audi", "unveil.audit/99", "../schemas/unveil.audit/4", ""])
def test_an_unknown_schema_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InputError, match="Unknown schema"):
        schema_text(name)

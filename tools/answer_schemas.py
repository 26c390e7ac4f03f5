"""Every answer that a test makes as JSON is held to its schema, with no field that the schema does not name."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import fastjsonschema

from unveil.questions import schema


def closed(node: Any) -> Any:
    """Return a schema that allows no further fields, as readers must, so that a new one cannot go unnoticed."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    inner = {key: closed(each) for key, each in node.items()}
    return {"additionalProperties": False, **inner} if isinstance(node.get("properties"), dict) else inner


@cache
def validator(name: str) -> Callable[[Any], Any]:
    """Return what checks an answer of a schema such as ``unveil.audit/4``."""
    whole = closed(schema(name))
    compiled: Callable[[Any], Any] = fastjsonschema.compile({key: whole[key] for key in whole if key != "$id"})
    return compiled


def check(text: str) -> None:
    """Fail where an answer is not as its schema says."""
    answer = json.loads(text)
    try:
        validator(answer["schema"])(answer)
    except fastjsonschema.JsonSchemaValueException as error:
        said = f"{error.message[:300]} ({error.rule} of {error.name})"
        raise AssertionError(
            f"{answer['schema']} is not as its schema says: {said}. Declare what is new as a figure of the findings"
        ) from None


def checked(dumps: Callable[[Mapping[str, Any]], str]) -> Callable[[Mapping[str, Any]], str]:
    """Return the function that writes JSON, with a look at every answer of unveil that it writes."""

    def write(payload: Mapping[str, Any]) -> str:
        text = dumps(payload)
        if str(payload["schema"]).startswith("unveil."):
            check(text)
        return text

    return write

"""Add to the schemas in the package what answers have and they lack: a field, a type, or null.

    unveil audit --json | .venv/bin/python tools/schemas.py

A field that is new gets no words: write its ``description`` by hand, which a test asks for. Nothing is ever taken away,
because a version of a schema promises its fields; what must be taken away or means something else needs a new version.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "src" / "unveil" / "report" / "schemas"
#: In the order in which they are written.
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
Node = dict[str, Any]


def main(texts: list[str]) -> None:
    """Widen the schema of each answer, and say which fields want words."""
    for text in texts:
        answer = json.loads(text)
        path = path_of(answer["schema"])
        schema = json.loads(path.read_text(encoding="utf-8")) if path.exists() else begun(answer["schema"])
        widen(schema, answer, schema)
        path.write_text(written(schema), encoding="utf-8")
        for place in without_words(schema):
            print(f"{path.name}: {place} has no description yet")


def path_of(name: str) -> Path:
    """Return the file of a schema such as ``unveil.audit/3``."""
    return FOLDER / f"{name.replace('/', '.v')}.json"


def begun(name: str) -> Node:
    """Return a schema that says its name alone."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"urn:{name.replace('/', ':').replace('.', ':')}",
        "title": name,
        "description": "",
        "type": "object",
        "properties": {"schema": {"description": "Name and version of this schema.", "const": name}},
    }


def written(schema: Node) -> str:
    """Return the text of a schema."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def widen(node: Node, value: Any, root: Node) -> None:
    """Change a part of a schema so that it accepts a value."""
    if "const" in node:
        return
    if "$ref" in node or "anyOf" in node:  # the latter is a reference that may be null
        if value is None:
            _allow_null(node)
        else:
            reference = node["$ref"] if "$ref" in node else node["anyOf"][0]["$ref"]
            widen(root["definitions"][reference.rpartition("/")[2]], value, root)
        return
    node["type"] = _types(_types_of(node), type_of(value))
    if isinstance(value, dict):
        _widen_object(node, value, root)
    elif isinstance(value, list):
        for each in value:
            widen(node.setdefault("items", {}), each, root)


def _allow_null(node: Node) -> None:
    if "$ref" in node:
        node["anyOf"] = [{"$ref": node.pop("$ref")}, {"type": "null"}]


def _widen_object(node: Node, value: Node, root: Node) -> None:
    if "additionalProperties" in node:  # a map: its keys are names of columns, metrics or settings
        for each in value.values():
            widen(node["additionalProperties"], each, root)
        return
    fields = node.setdefault("properties", {})
    for name, each in value.items():
        widen(fields.setdefault(name, {"description": ""}), each, root)
    # What the first answer had, less what a later one did without.
    node["required"] = [name for name in node.get("required", value) if name in value]


def _types_of(node: Node) -> list[str]:
    told = node.get("type", [])
    return [told] if isinstance(told, str) else told


def _types(known: list[str], new: str) -> str | list[str]:
    all_of = {*known, new}
    if "number" in all_of:  # any figure may be undefined, which is null; a whole number is a number too
        all_of = all_of - {"integer"} | {"null"}
    types = [each for each in TYPES if each in all_of]
    return types if len(types) > 1 else types[0]


def type_of(value: Any) -> str:
    """Return what JSON Schema calls the type of a value."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    names = {dict: "object", list: "array", str: "string", int: "integer", float: "number"}
    return names[type(value)]


def without_words(schema: Node, place: str = "") -> Iterator[str]:
    """Yield every field that has no description; one that is told by a reference has its own too."""
    for name, field in (schema.get("properties") or {}).items():
        if not field.get("description"):
            yield f"{place}{name}"
        yield from without_words(field, f"{place}{name}.")
    for deeper in ("items", "additionalProperties"):
        if isinstance(schema.get(deeper), dict):
            yield from without_words(schema[deeper], place)
    for name, definition in (schema.get("definitions") or {}).items():
        yield from without_words(definition, f"{name}: ")


if __name__ == "__main__":
    files = [Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]]
    main(files or [sys.stdin.read()])

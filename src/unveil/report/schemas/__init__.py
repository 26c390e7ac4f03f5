"""The shape of every answer in JSON: a JSON Schema for each name and version, in the files of this folder.

Within a version fields are only added, so whoever reads an answer ignores fields that it does not know; what is
renamed, taken away or means something else gets a new version, and the old schema stays here.
"""

import json
import re
from pathlib import Path
from typing import Any

from unveil.errors import InputError, did_you_mean, shortened

_FOLDER = Path(__file__).parent
_FILE = re.compile(r"unveil\.(?P<name>[a-z-]+)\.v(?P<version>\d+)\.json")


def schema_names() -> dict[str, str]:
    """Return the latest schema of each kind of answer, such as ``unveil.audit/3`` for ``audit``.

    >>> schema_names()["partition"]
    'unveil.partition/1'
    """
    found = [match for path in _FOLDER.iterdir() if (match := _FILE.fullmatch(path.name))]
    latest = {each["name"]: max(int(one["version"]) for one in found if one["name"] == each["name"]) for each in found}
    return {name: f"unveil.{name}/{latest[name]}" for name in sorted(latest)}


def schema_text(name: str) -> str:
    """Return the text of a schema, by its whole name with the version or by the kind of answer alone.

    >>> schema_text("audit") == schema_text("unveil.audit/3")
    True
    """
    known = schema_names()
    path = _FOLDER / f"{known.get(name, name).replace('/', '.v')}.json"
    if not _FILE.fullmatch(path.name) or not path.is_file():
        hint = did_you_mean(name, known) or f" Choose from {', '.join(known)}."
        raise InputError(f"there is no schema {shortened(name)}.{hint}")
    return path.read_text(encoding="utf-8")


def schema(name: str) -> dict[str, Any]:
    """Return a schema as data, by its whole name with the version or by the kind of answer alone.

    >>> schema("study")["title"]
    'unveil.study/1'
    """
    read: dict[str, Any] = json.loads(schema_text(name))
    return read

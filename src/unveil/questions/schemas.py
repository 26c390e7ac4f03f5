"""Return the JSON Schema of every answer: generated from declared figures, or from a file.

Within a version fields are only added, so whoever reads an answer ignores fields that it does not know; what is
renamed, taken away or means something else gets a new version.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from unveil.errors import InputError, did_you_mean, shortened
from unveil.questions import QUESTIONS
from unveil.report.figures import schema_of

_FOLDER = Path(__file__).parents[1] / "report" / "schemas"
_FILE = re.compile(r"unveil\.(?P<name>[a-z-]+)\.v(?P<version>\d+)\.json")


@cache
def _generated() -> dict[str, dict[str, Any]]:
    """Return the schemas that are generated from the declared figures of a question."""
    views = (entry.view for entry in QUESTIONS.values())
    return {
        view.schema: schema_of(view.findings, view.schema, view.about) for view in views if view.findings is not None
    }


def schema_names() -> dict[str, str]:
    """Return the latest schema of each kind of answer, such as ``unveil.audit/3`` for ``audit``.

    >>> schema_names()["partition"]
    'unveil.partition/1'
    """
    files = [match for path in _FOLDER.iterdir() if (match := _FILE.fullmatch(path.name))]
    versions = [(each["name"], int(each["version"])) for each in files]
    for whole in _generated():
        name, _, version = whole.removeprefix("unveil.").partition("/")
        versions.append((name, int(version)))
    return {name: f"unveil.{name}/{version}" for name, version in sorted(versions)}


def schema_text(name: str) -> str:
    """Return the text of a schema, by its whole name with the version or by the kind of answer alone.

    >>> schema_text("audit") == schema_text("unveil.audit/3")
    True
    """
    known = schema_names()
    whole = known.get(name, name)
    if whole in _generated():
        return json.dumps(_generated()[whole], indent=1, ensure_ascii=False) + "\n"
    path = _FOLDER / f"{whole.replace('/', '.v')}.json"
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

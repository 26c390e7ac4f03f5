"""Read small text, TOML, or JSON documents with limited size and depth."""

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unveil.data.files.source import GZIP, decompressed, pipe_content, shown, unreadable
from unveil.errors import InputError

#: A document is written by people or by unveil; a longer one is another kind of file.
_LARGEST = 1 << 26
#: Deeper tables and lists are no settings, and would exhaust whatever goes through them.
_DEEPEST = 40


def read_document(path: Path) -> str:
    """Return the text of a small UTF-8 file, unpacked if gzipped.

    Raises
    ------
    InputError
        If it cannot be read, is a device, is longer than 64 MB or is not in UTF-8.
    """
    try:
        content = pipe_content(path)
        if content is None:
            with path.open("rb") as stream:
                content = stream.read(_LARGEST + 1)
        if content.startswith(GZIP):
            content = decompressed(path, content, _LARGEST)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise unreadable(path, error) from error
    if len(content) > _LARGEST:
        raise InputError(
            f"the file {shown(path)} must have at most {_LARGEST:,} bytes, but has more. "
            "Check that it is the right file"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"the file {shown(path)} must be text in UTF-8, but is not. Save it as UTF-8") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; errors name the position."""
    told: dict[str, Any] = _parsed(path, tomllib.loads, "TOML")
    return told


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; errors do not show content."""
    return _parsed(path, json.loads, "JSON")


def _parsed(path: Path, parse: Callable[[str], Any], kind: str) -> Any:
    text = read_document(path)
    try:
        told = parse(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the file {shown(path)} must be TOML, but is not: {error}. Correct that place") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"the file {shown(path)} must be JSON, but is not (line {error.lineno}). Write the file again"
        ) from None
    except RecursionError:
        raise _too_deep(path) from None
    except ValueError:  # Python converts no number of thousands of digits
        raise _too_long(path, kind) from None
    level = [told]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if any(isinstance(each, int) and abs(each) > sys.float_info.max for each in level):
            raise _too_long(path, kind)
        if not level:
            return told
    raise _too_deep(path)


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _too_long(path: Path, kind: str) -> InputError:
    return InputError(
        f"the file {shown(path)} must be {kind} with numbers that fit, but one has hundreds of digits. "
        "Write a shorter one"
    )


def _too_deep(path: Path) -> InputError:
    return InputError(
        f"the file {shown(path)} must have tables and lists at most {_DEEPEST} deep in one another, but has deeper "
        "ones. Check that it is the right file"
    )

"""Small documents: settings and results of earlier runs, bounded in size, depth and digits."""

import gzip
import os
from pathlib import Path

import pytest

from tests.data.refusals import refusal
from unveil.data.files import documents as _documents
from unveil.data.files.documents import read_document, read_json, read_toml


def make(folder: Path, content: str | bytes, name: str = "file.toml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert read_toml(make(tmp_path, '\ufeffa = [1, 2]\n[b]\nc = "ü"\n')) == {"a": [1, 2], "b": {"c": "ü"}}
    assert read_json(make(tmp_path, '{"a": [1, {"b": null}]}')) == {"a": [1, {"b": None}]}
    packed = gzip.compress(b'{"a": 1}')
    assert read_json(make(tmp_path, packed, "file.json.gz")) == {"a": 1}
    assert "cut short or damaged" in refusal(lambda: read_json(make(tmp_path, packed[:-9], "file.json.gz")))


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "[" * 60 + "]" * 60,
        ".".join(["a"] * 5_000) + " = 1\n",
        "[" + "a." * 50 + "a]\n",
    ],
    ids=["open", "closed", "dotted", "header"],
)
def test_a_document_that_is_too_deep_is_refused(tmp_path: Path, text: str) -> None:
    assert "at most 40 deep in one another" in refusal(lambda: read_toml(make(tmp_path, text)))


def test_json_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, "[" * 60 + "]" * 60):
        assert "at most 40 deep" in refusal(lambda text=text: read_json(make(tmp_path, text)))  # type: ignore[misc]


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_hundreds_of_digits_is_refused(tmp_path: Path, digits: int) -> None:
    number = "9" * digits
    assert "one has hundreds of digits. Write a shorter one" in refusal(
        lambda: read_toml(make(tmp_path, f"a = [{number}]\n"))
    )
    assert "one has hundreds of digits" in refusal(lambda: read_json(make(tmp_path, f"[-{number}]")))


def test_other_trouble_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "must be TOML, but is not: " in refusal(lambda: read_toml(make(tmp_path, "a = \n")))
    assert "must be JSON, but is not (line 2)" in refusal(lambda: read_json(make(tmp_path, "[1,\nCELL]")))
    assert "must be text in UTF-8" in refusal(lambda: read_toml(make(tmp_path, b"a = '\xff'\n")))
    assert "does not exist" in refusal(lambda: read_document(tmp_path / "gone"))
    assert "is a folder" in refusal(lambda: read_document(tmp_path))
    assert "is a device" in refusal(lambda: read_document(Path(os.devnull)))
    monkeypatch.setattr(_documents, "_LARGEST", 10)
    assert "at most 10 bytes, but has more" in refusal(lambda: read_document(make(tmp_path, "a" * 11)))

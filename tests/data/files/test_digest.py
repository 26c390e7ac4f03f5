"""Digests that only the owner of a key can try: compared with the definition of HMAC, and with the reports."""

import hashlib
import re
from pathlib import Path

import polars as pl
import pytest

from tests.end_to_end.commands import Command
from unveil.data.files.digest import digest_of_file, keyed_digest, new_key, read_key
from unveil.errors import InputError


def by_definition(key: bytes, message: bytes) -> str:
    """Return HMAC-SHA-256 as RFC 2104 defines it."""
    block = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(each ^ 0x36 for each in block) + message).digest()
    return hashlib.sha256(bytes(each ^ 0x5C for each in block) + inner).hexdigest()


def test_it_is_the_hmac_of_the_hash_of_the_file(tmp_path: Path) -> None:
    path, key = tmp_path / "people.csv", new_key()
    path.write_bytes(b"age\n31\n")
    sha256 = hashlib.sha256(b"age\n31\n")
    assert keyed_digest(sha256.hexdigest(), key) == by_definition(key, sha256.digest()) == digest_of_file(path, key)
    assert digest_of_file(path, new_key()) != digest_of_file(path, key)


def test_what_is_no_key_or_no_file_is_refused(tmp_path: Path) -> None:
    assert read_key(" " + "0F" * 32 + "\n") == b"\x0f" * 32
    for wrong in ("", "0f", "0g" * 32, "0f" * 33):
        with pytest.raises(InputError, match="64 digits"):
            read_key(wrong)
    with pytest.raises(InputError, match="cannot be read"):
        digest_of_file(tmp_path / "nowhere.csv", b"k")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"age": [20 + row % 30 for row in range(60)], "town": ["Ulm", "Bonn"] * 30})
    frame.write_csv("people.csv")
    frame.reverse().write_csv("masked.csv")
    return tmp_path


FILES = ("people.csv", "masked.csv", "--attacks", "copies", "--seed", "1")


def digits(text: str) -> set[str]:
    return set(re.findall(r"\b[0-9a-f]{64}\b", text))


def test_the_owner_can_prove_which_files_were_audited_and_nobody_else_can_try(folder: Path) -> None:
    audit = Command("audit").ask
    run = audit(*FILES, "--html", "i.html", "--shareable", "s.html", "--quiet")
    assert (run.exit_code, run.stdout, run.stderr) == (0, "", "")
    inside, shared = ((folder / page).read_text(encoding="utf-8") for page in ("i.html", "s.html"))
    plain = {hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in FILES[:2]}
    assert plain < digits(inside)
    (key,) = digits(inside) - plain
    assert key not in shared
    assert not plain & digits(shared)
    assert digits(shared) == {digest_of_file(folder / file, bytes.fromhex(key)) for file in FILES[:2]}
    assert "unveil verify" in inside
    assert "unveil verify" in shared
    told = Command("verify").ask(*FILES[:2], "--key", key)
    assert told.exit_code == 0, told.stderr
    assert digits(told.stdout) == digits(shared)
    assert Command("verify").ask("people.csv", "--key", "12").exit_code == 2
    # The seed says nothing about the key.
    audit(*FILES, "--html", "i.html", "--shareable", "s.html", "--quiet")
    assert not digits((folder / "s.html").read_text(encoding="utf-8")) & digits(shared)


def test_without_an_internal_report_the_key_is_said_once(folder: Path) -> None:
    run = Command("audit").ask(*FILES, "--shareable", "s.html", "--json")
    assert run.exit_code == 0
    (key,) = digits(run.stderr)
    assert key not in run.stdout
    shared = (folder / "s.html").read_text(encoding="utf-8")
    assert digest_of_file(folder / "people.csv", bytes.fromhex(key)) in shared

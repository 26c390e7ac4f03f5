"""Seals: every changed byte is seen by all, and what another user wrote by those who have the key."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.files.test_column_store import on_unix
from unveil.errors import InputError
from unveil.work.seal import Seal, SealKey, key_file, parts_of, seal_of, sealed_parts, user_key

SEAL = Seal("name", "digest", "failed")
KEY, OTHER = SealKey(b"k" * 32), SealKey(b"o" * 32)


@given(st.lists(st.binary(max_size=40), max_size=4), st.sampled_from([None, KEY]), st.integers(0, 10**6))
def test_parts_come_back_and_every_changed_byte_is_seen(parts: list[bytes], key: SealKey | None, place: int) -> None:
    content = sealed_parts(parts, SEAL, key)
    assert parts_of(content) == parts
    assert seal_of(content) == seal_of(content, key) == SEAL
    changed = bytearray(content)
    changed[place % len(content)] ^= 1
    assert seal_of(bytes(changed)) is None
    assert seal_of(content[: place % len(content)]) is None


def test_only_the_key_that_sealed_a_file_accepts_it() -> None:
    content = sealed_parts([b"one"], SEAL, KEY)
    assert (seal_of(content, KEY), seal_of(content, OTHER)) == (SEAL, None)
    assert seal_of(sealed_parts([b"one"], SEAL), KEY) is None, "anybody can write a hash"
    # The keyed hash of one file does not fit another one.
    other = sealed_parts([b"two"], SEAL, OTHER)
    mac = content[len("unveil-seal:") + 65 :][:64]
    forged = other.replace(other[len("unveil-seal:") + 65 :][:64], mac)
    assert seal_of(forged, KEY) is None


def test_a_key_is_never_shown() -> None:
    assert repr(KEY) == str(KEY) == f"{KEY}" == "SealKey(…)"
    assert "kkk" not in repr((KEY, {"key": KEY}))
    assert pickle.loads(pickle.dumps(KEY)) == KEY  # noqa: S301 (our own)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a key."""
    monkeypatch.delenv("UNVEIL_KEY")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@on_unix
def test_the_key_of_a_user_is_made_once_and_private(home: Path) -> None:
    old = os.umask(0)
    try:
        first = user_key()
    finally:
        os.umask(old)
    assert key_file() == home / "unveil" / "key"
    assert (first, len(first)) == (user_key(), 32)
    assert [oct(path.stat().st_mode & 0o777) for path in (key_file(), key_file().parent)] == ["0o600", "0o700"]
    assert [path.name for path in key_file().parent.iterdir()] == ["key"]


def test_processes_that_begin_together_have_one_key(home: Path) -> None:
    program = "from unveil.work.seal import user_key; print(bytes(user_key()).hex())"
    started = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        for _ in range(3)
    ]
    assert len({each.communicate(timeout=60)[0] for each in started}) == 1
    assert (home / "unveil" / "key").stat().st_size == 32


@on_unix
@pytest.mark.parametrize("what", ["open", "short", "long", "link", "pipe", "folder"])
def test_a_key_that_others_could_have_put_there_is_refused(home: Path, tmp_path: Path, what: str) -> None:
    user_key()
    path = key_file()
    if what == "open":
        path.chmod(0o640)
    elif what in ("short", "long"):
        path.write_bytes(b"k" * (31 if what == "short" else 33))
    else:
        path.rename(tmp_path / "elsewhere")
        if what == "link":
            path.symlink_to(tmp_path / "elsewhere")
        elif what == "pipe":
            os.mkfifo(path, 0o600)
        else:
            path.mkdir(0o700)
    with pytest.raises(InputError, match="must be a private file of 32 bytes"):
        user_key()


@on_unix
def test_a_folder_in_which_others_can_put_a_key_is_refused(home: Path) -> None:
    user_key()
    (home / "unveil").chmod(0o770)
    with pytest.raises(InputError, match="is writable by other users"):
        user_key()


def test_without_a_home_the_key_is_that_of_the_process(home: Path) -> None:
    home.write_text("not a folder")
    assert user_key() == user_key()
    assert home.read_text() == "not a folder"


def test_a_variable_can_hold_the_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    for text in ("a" * 32, "a" * 64):
        monkeypatch.setenv("UNVEIL_KEY", text)
        keys.append(user_key())
    assert len(set(keys)) == 2
    assert not home.exists()
    monkeypatch.setenv("UNVEIL_KEY", "short")
    with pytest.raises(InputError, match="UNVEIL_KEY must have at least 32 characters, but has 5"):
        user_key()

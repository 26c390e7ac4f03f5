"""Keyed digests that identify a file without revealing its content."""

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from unveil.data.files.source import shown
from unveil.errors import InputError

_KEY_BYTES = 32


def new_key() -> bytes:
    """Return an unguessable random key, never derived from a seed."""
    return secrets.token_bytes(_KEY_BYTES)


def keyed_digest(sha256: str, key: bytes) -> str:
    """Return the HMAC-SHA-256 of a file's SHA-256 (64 digits) under a key.

    A plain hash of a table with few possible values lets everybody try these values; without the key nobody can try.

    >>> keyed_digest("00" * 32, b"k" * 32)[:8]
    '825bc05d'
    """
    return hmac.new(key, bytes.fromhex(sha256), hashlib.sha256).hexdigest()


def digest_of_file(path: str | os.PathLike[str], key: bytes) -> str:
    """Return the keyed digest of a file, as in the redacted report."""
    try:
        with Path(path).open("rb") as stream:
            return keyed_digest(hashlib.file_digest(stream, "sha256").hexdigest(), key)
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise InputError(f"the file {shown(Path(path))} cannot be read ({reason}). Check the path") from error


def read_key(written: str) -> bytes:
    """Parse the key of an internal report: 64 hexadecimal digits.

    >>> len(read_key("0f" * 32))
    32
    """
    text = written.strip().lower()
    if not re.fullmatch(f"[0-9a-f]{{{2 * _KEY_BYTES}}}", text):
        raise InputError(
            f"a key must have {2 * _KEY_BYTES} digits from 0 to f, which this one has not. Copy it from the internal "
            "edition of the report"
        )
    return bytes.fromhex(text)

"""Whose program is at the other end of a connection on this machine, where the system tells."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

#: Where Linux lists connections: by their two ends, with the user and the number of the open file.
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
#: Nobody has it open any more: it was closed right after something was sent.
NOBODY = -1


def is_ours(client: int, server: int) -> bool:
    """Return whether the program that connected from a port is this user's, or root's, who may do everything anyway.

    A cookie does not keep to its port, and an address can be read over a shoulder: neither helps another user of the
    same machine. Where the system does not tell whose program it is, the token and the cookie have to do.
    """
    owner = owner_of(client, server)
    return owner is None or owner in (0, os.getuid())


def owner_of(client: int, server: int) -> int | None:
    """Return the number of the user whose program connected from port ``client`` to ``server``; None if untold."""
    for fields in _rows():
        if _port(fields[1]) == client and _port(fields[2]) == server:
            return int(fields[7]) if fields[9] != "0" else NOBODY
    return None


def _rows() -> Iterator[list[str]]:
    for table in TABLES:
        with contextlib.suppress(OSError):
            for line in table.read_text(encoding="ascii", errors="replace").splitlines()[1:]:
                fields = line.split()
                # An address is written backwards, four bytes at a time; 127.0.0.1 may stand inside a longer one.
                if len(fields) > 9 and all(end.rpartition(":")[0].endswith("0100007F") for end in fields[1:3]):
                    yield fields


def _port(end: str) -> int:
    return int(end.rpartition(":")[2], 16)

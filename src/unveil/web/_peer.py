"""Whose program is at the other end of a connection on this machine, where the system tells."""

import os
import socket
import struct
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

#: An end of a connection: its address and its port.
End = tuple[str, int]

#: Where Linux lists connections: by their two ends, with the user and the number of the open file.
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
#: Nobody has it open any more: it was closed right after something was sent.
NOBODY = -1
#: A table is not read at one instant, so that a connection may be missed where others come and go.
_READINGS = 3


def is_ours(client: End, server: End) -> bool:
    """Return whether the program that connected is this user's, or root's, who may do everything anyway.

    Who cannot be named is a stranger. Only where the system never tells, as on macOS and Windows, the other locks have
    to do; `system_tells` finds out beforehand, with a connection that is surely ours.
    """
    if not _is_of_this_machine(client[0]):
        return False
    return not system_tells() or owner_of(client, server) in (0, os.getuid())


@cache
def system_tells() -> bool:
    """Return whether this system tells whose program connects: whether it does so of a connection of our own."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as connection,
    ):
        owner = owner_of(connection.getsockname(), connection.getpeername())
    return owner is not None and owner == os.getuid()


def owner_of(client: End, server: End) -> int | None:
    """Return the number of the user whose program connected from ``client`` to ``server``; None if untold."""
    wanted = [f" {_written(client, mapped)} {_written(server, mapped)} " for mapped in (False, True)]
    for _ in range(_READINGS):
        for table in TABLES:
            try:
                text = table.read_text(encoding="ascii", errors="replace")
            except OSError:
                continue
            # Searched as text: a table of thousands of connections is read each time that somebody connects.
            place = max(text.find(each) for each in wanted)
            if place >= 0:
                fields = text[place : text.find("\n", place)].split()
                return int(fields[6]) if fields[8] != "0" else NOBODY
    return None


def _is_of_this_machine(address: str) -> bool:
    number = ip_address(address)
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (mapped or number).is_loopback


def _written(end: End, mapped: bool) -> str:
    """Return an end as the tables write it: a number for each four bytes, and the port; IPv4 may stand inside IPv6."""
    number = ip_address(end[0])
    if isinstance(number, IPv4Address) and mapped:
        number = IPv6Address(f"::ffff:{number}")
    packed = number.packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return f"{''.join(f'{word:08X}' for word in words)}:{end[1]:04X}"

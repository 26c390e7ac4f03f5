"""Identify the user behind a local connection, where possible."""

import errno
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

# Linux can also be asked about one connection (sock_diag(7)), in a thousandth of the time that its tables take to read.
_DIAGNOSIS = 4  # the family of such questions, and the kind of this one
_BY_FAMILY = 20
_ONE = 1
_ANY_STATE = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBBI")
_ENDS = struct.Struct("!HH16s16s")
_NO_COOKIE = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
_ANSWER = struct.Struct("=BBBB48sIIIII")


def is_ours(client: End, server: End) -> bool:
    """Return whether the connected program is this user's, or root's.

    Who cannot be named is a stranger. Only where the system never tells, as on macOS and Windows, the other locks have
    to do; `system_tells` finds out beforehand, with a connection that is surely ours.
    """
    if not _is_of_this_machine(client[0]):
        return False
    return not system_tells() or owner_of(client, server) in (0, os.getuid())


@cache
def system_tells() -> bool:
    """Return whether this system reports the user behind a connection."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as connection,
    ):
        owner = owner_of(connection.getsockname(), connection.getpeername())
    return owner is not None and owner == os.getuid()


def owner_of(client: End, server: End) -> int | None:
    """Return the user ID behind a connection, or None."""
    try:
        return asked(client, server)
    except (OSError, AttributeError):  # not Linux, or one that does not answer such questions
        return listed(client, server)


def asked(client: End, server: End) -> int | None:
    """Return the kernel's owner of one connection, or None."""
    family = socket.AF_INET if ip_address(client[0]).version == 4 else socket.AF_INET6
    ends, mapped = (
        _ENDS.pack(client[1], server[1], *(_packed(each, as_six) for each in (client, server)))
        for as_six in (False, True)
    )
    body = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, _ANY_STATE) + ends + _NO_COOKIE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _DIAGNOSIS) as kernel:
        kernel.settimeout(1)
        kernel.send(_HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _ONE, 0, 0) + body)
        answer = kernel.recv(4096)
    kind = _HEADER.unpack_from(answer)[1]
    if kind != _BY_FAMILY:
        (number,) = struct.unpack_from("=i", answer, _HEADER.size)
        if -number == errno.ENOENT:
            return None
        raise OSError(-number, os.strerror(-number))
    found = _ANSWER.unpack_from(answer, _HEADER.size)
    # Where the connection is gone, somebody who listens at the same port may be named instead.
    if found[4][: _ENDS.size] not in (ends, mapped):
        return None
    return int(found[8]) if found[9] else NOBODY


def listed(client: End, server: End) -> int | None:
    """Return a connection's owner from the connection tables, or None."""
    wanted = [f" {_written(client, as_six)} {_written(server, as_six)} " for as_six in (False, True)]
    for _ in range(_READINGS):
        for table in TABLES:
            try:
                text = table.read_text(encoding="ascii", errors="replace")
            except OSError:
                continue
            place = max(text.find(each) for each in wanted)
            if place >= 0:
                fields = text[place : text.find("\n", place)].split()
                return int(fields[6]) if fields[8] != "0" else NOBODY
    return None


def _is_of_this_machine(address: str) -> bool:
    number = ip_address(address)
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return (mapped or number).is_loopback


def _packed(end: End, as_six: bool) -> bytes:
    """Return the bytes of an address, also IPv4 within IPv6."""
    number = ip_address(end[0])
    return IPv6Address(f"::ffff:{number}").packed if as_six and isinstance(number, IPv4Address) else number.packed


def _written(end: End, as_six: bool) -> str:
    """Return an endpoint as the tables write it."""
    packed = _packed(end, as_six)
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return f"{''.join(f'{word:08X}' for word in words)}:{end[1]:04X}"

"""Damage to a good call: bytes of its files, cells and keys in them, and what is written on the command line."""

import gzip
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import click

from tests.fuzz.questions import Call
from unveil.cli import main

#: Texts that stand where a number, a name or a file is expected.
NASTY = (
    "", " ", ",", ",,", "-1", "0", "1", "2", "nan", "NaN", "inf", "-inf", "1e309", "1e-400", "-0", "1/0", "1/8", "0x1F",
    "9" * 30, "9" * 400, "9" * 5000, "1e400", "1_000", "١٢", "=1+1", "@x", "true", "null", "[]", "{}", "[[[[", "'", '"',
    '""', "\\", "%s", "{0}", "ä", "Zoë\u202e", "\u200b", "\ud7ff", "x" * 300, "a=b", "a:b=c", "name:key=", ":", "=",
    "2024-02-30", "all", "help", ".", "..", "/", "/dev/null", "/dev/zero", "/dev/full", "gone.csv", "gone/x", "--json",
    "\x1b[2J", "\t", "a\nb", "--", "-",
)  # fmt: skip
#: Options that compute elsewhere or start processes, which this test must not.
_LEFT_ALONE = {"--cluster", "--workers", "--help"}
_TOKEN = re.compile(rb"[\w.+-]+")


@dataclass(frozen=True)
class Damaged:
    """A call that may be wrong, and what was done to it; a file that is None has become a folder."""

    arguments: tuple[str, ...]
    files: Mapping[str, bytes | None]
    done: tuple[str, ...] = ()


def damaged(call: Call, rng: random.Random) -> Damaged:
    """Return the call with one to three things wrong."""
    made = Damaged(call.arguments, dict(call.files))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        made = _file_damaged(made, rng) if made.files and rng.random() < 0.6 else _arguments_damaged(made, rng)
    return made


def _file_damaged(made: Damaged, rng: random.Random) -> Damaged:
    name = rng.choice(sorted(made.files))
    content = made.files[name]
    if content is None or rng.random() < 0.03:
        return replace(made, files={**made.files, name: None}, done=(*made.done, f"{name} is a folder"))
    how = rng.choice(_CONTENT if b"\0" not in content else _BYTES)
    note = f"{name}: {how.__name__.strip('_')}"
    return replace(made, files={**made.files, name: how(content, rng)}, done=(*made.done, note))


def _truncated(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20)) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _inserted(content: bytes, rng: random.Random) -> bytes:
    strange = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b'"', b"\xc3", b"\n\n", b"\x1a", b"\xf0\x9f\x98\x80", b"#", b"%")
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice(strange) + content[place:]


def _of_another_kind(content: bytes, rng: random.Random) -> bytes:
    others = (
        b"", b"\n", b"\0" * 64, b"PK\x03\x04", b"PAR1", b"%PDF-1.4", b"\x93NUMPY\x01\x00", b"{}", b"ARROW1", b"$FL2",
        b"[" * 50_000,
    )  # fmt: skip
    text = content.decode("utf-8", "replace")
    encoded = (text.encode("utf-16"), text.encode("utf-8-sig"), text.replace("\n", "\r").encode())
    written = (text.encode("cp437", "replace"), text.replace(",", ";").encode("cp1252", "replace"))
    compressed = gzip.compress(content)
    return rng.choice((*others, *encoded, *written, compressed, compressed[:-9], rng.randbytes(200)))


def _with_nasty_token(content: bytes, rng: random.Random) -> bytes:
    tokens = list(_TOKEN.finditer(content))
    if not tokens:
        return content
    found = rng.choice(tokens)
    return content[: found.start()] + rng.choice(NASTY).encode() + content[found.end() :]


def _with_other_lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b"\n"]
    place = rng.randrange(len(lines))
    line = lines[place].rstrip(b"\n")
    # The first line stays: without it the first person's cells would be the names of columns, which messages may show.
    gone = lines[:place] + lines[place + 1 :] if place else lines[:1]
    return b"".join(
        rng.choice((
            gone,
            [*lines, lines[place]],
            [*lines[:place], line + b",x\n", *lines[place + 1 :]],
            [*lines[:place], line.rpartition(b",")[0] + b"\n", *lines[place + 1 :]],
            [*lines[:place], line + b"y" * 100_000 + b"\n", *lines[place + 1 :]],
            [*lines[:place], line.replace(b",", b";") + b"\n", *lines[place + 1 :]],
            [lines[0].replace(b",", b",,"), *lines[1:]],
            [b",".join([lines[0].split(b",")[0].strip()] * len(lines[0].split(b","))) + b"\n", *lines[1:]],
        ))
    )  # fmt: skip


Change = Callable[[bytes, random.Random], bytes]
_BYTES: tuple[Change, ...] = (_truncated, _flipped, _flipped, _inserted, _of_another_kind)
_CONTENT: tuple[Change, ...] = (*_BYTES, _with_nasty_token, _with_nasty_token, _with_nasty_token, _with_other_lines)


def _arguments_damaged(made: Damaged, rng: random.Random) -> Damaged:
    changes = (_replaced, _replaced, _dropped, _doubled, _swapped, _extended, _extended, _extended)
    how = rng.choice(changes) if _free(made.arguments) else _extended
    return replace(made, arguments=how(made.arguments, rng), done=(*made.done, how.__name__.strip("_")))


def _free(arguments: tuple[str, ...]) -> list[int]:
    """Return the places that may be changed: not the command, and not what keeps the call in this process."""
    first = 2 if arguments[0] == "study" else 1
    kept = {place + step for place, text in enumerate(arguments) if text in _LEFT_ALONE for step in (0, 1)}
    return [place for place in range(first, len(arguments)) if place not in kept]


def _replaced(arguments: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    place = rng.choice(_free(arguments))
    return (*arguments[:place], rng.choice(NASTY), *arguments[place + 1 :])


def _dropped(arguments: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    place = rng.choice(_free(arguments))
    return (*arguments[:place], *arguments[place + 1 :])


def _doubled(arguments: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    place = rng.choice(_free(arguments))
    return (*arguments[: place + 1], *arguments[place:])


def _swapped(arguments: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    free = _free(arguments)
    changed = list(arguments)
    if len(free) > 1:
        one, other = rng.sample(free, 2)
        changed[one], changed[other] = changed[other], changed[one]
    return tuple(changed)


def _extended(arguments: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Return the arguments with any option of the command, and mostly something nasty after it."""
    command = main.get_command(click.Context(main), arguments[0])
    if isinstance(command, click.Group):
        command = command.get_command(click.Context(command), arguments[1])
    options = [] if command is None else [each for each in command.params if isinstance(each, click.Option)]
    names = sorted({name for each in options for name in each.opts} - _LEFT_ALONE) or ["--nothing"]
    written = rng.choice((rng.choice(names), rng.choice(names), "--nothing", "-x"))
    value = rng.choice((rng.choice(NASTY), *(each for each in arguments if "." in each)))
    return (*arguments, written, value) if rng.random() < 0.85 else (*arguments, written)

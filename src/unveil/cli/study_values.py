"""What is written after ``--memory``: a size such as 4GB."""

import re

import click

_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>[kmgt]i?b|b)?", re.IGNORECASE | re.ASCII)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


def memory_size(ctx: click.Context, param: click.Parameter, text: str | None) -> int | None:
    """Return a size in bytes, or None where none is given; the callback of an option."""
    if text is None:
        return None
    size = parse_size(text)
    if size is None:
        raise click.BadParameter(f"it must be a size such as 4GB or 512MiB, but is {text!r}", ctx, param)
    return size


def parse_size(text: str) -> int | None:
    """Return how many bytes a text means (1 GB is 10⁹ of them, 1 GiB is 2³⁰), or None if it is no size above 0.

    >>> parse_size("4GB"), parse_size("1.5 GiB"), parse_size("2000"), parse_size("much")
    (4000000000, 1610612736, 2000, None)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    unit = (found["unit"] or "b").lower()
    factor = 1 if unit == "b" else (1024 if "i" in unit else 1000) ** _POWERS[unit[0]]
    size = float(found["number"]) * factor
    return int(size) if 1 <= size < 2**63 else None

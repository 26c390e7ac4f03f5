"""What is written after an option: exact numbers, limits, and the file that a report goes to."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any, Protocol

import click

from unveil.errors import did_you_mean

# An exponent of more than three digits would make an exact fraction too large to compute with.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?|[+-]?\d+/0*[1-9]\d*", re.ASCII)
_LONGEST_NUMBER = 100

#: The quantities that were named with ``--limit``, and how much of each is too much.
Limits = tuple[tuple[str, float], ...]


class Quantity(Protocol):
    """A figure of an answer that ``--limit`` can watch."""

    @property
    def value(self) -> float:
        """The figure, or NaN where it is undefined."""

    @property
    def exceeded_when_undefined(self) -> bool:
        """Whether undefined means that the harm has already happened."""

    @property
    def more_is_worse(self) -> bool:
        """Whether a greater value exceeds the limit; else a lesser one does."""


@dataclass(frozen=True, kw_only=True)
class CheckedLimit:
    """A limit, the value it was compared with, and the outcome."""

    quantity: str
    limit: float
    value: float
    exceeded: bool
    more_is_worse: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the fields under their names in JSON."""
        return {"quantity": self.quantity, "limit": self.limit, "value": self.value, "exceeded": self.exceeded}

    @property
    def message(self) -> str:
        """One line for whoever set the limit, or nothing where the limit is kept."""
        if self.exceeded:
            value = "undefined because it is already breached" if isnan(self.value) else f"{self.value:.6g}"
            # Where less is worse, "the limit" alone would leave open on which side of it the value should lie.
            bound = "the limit is" if self.more_is_worse else "it must be at least"
            return f"limit exceeded: {self.quantity} is {value}, {bound} {self.limit:.6g}"
        return f"limit not checked: {self.quantity} is undefined here" if isnan(self.value) else ""


def parse_number(text: str) -> Fraction | None:
    """Return the number exactly as written (``0.1``, ``1e-3``, ``1/3``), or None if the text is no number.

    >>> parse_number("1/3"), parse_number("0.1"), parse_number("nan")
    (Fraction(1, 3), Fraction(1, 10), None)
    """
    text = text.strip()
    return Fraction(text) if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) else None


def share(text: str) -> Fraction:
    """Return a number from 0 to 1 as the exact fraction that was written; the type of an option.

    >>> share("0.1")
    Fraction(1, 10)
    """
    number = parse_number(text)
    if number is None:
        raise click.BadParameter(f"{text!r} is not a number. Write it as 0.5 or 1/2")
    if not 0 <= number <= 1:
        raise click.BadParameter(f"it must lie between 0 and 1, but is {text}")
    return number


def limit_reader(meanings: Callable[[], Mapping[str, str]]) -> Callable[..., Limits]:
    """Return the callback of ``--limit`` for a question whose quantities have these meanings.

    ``meanings`` is called only when the option is used. The value ``help`` lists them and ends the command.
    """

    def read(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Limits:
        if not texts:
            return ()
        known = meanings()
        if "help" in texts:
            formatter = ctx.make_formatter()
            formatter.write_dl(list(known.items()))
            click.echo(formatter.getvalue(), nl=False)
            ctx.exit()
        return tuple(_read_limit(text, known, ctx, param) for text in texts)

    return read


def _read_limit(text: str, known: Mapping[str, str], ctx: click.Context, param: click.Parameter) -> tuple[str, float]:
    name, _, written = text.partition("=")
    if name not in known:
        hint = did_you_mean(name, known) or f" Choose from {', '.join(known)}."
        raise click.BadParameter(f"there is no quantity {name!r}.{hint}", ctx, param)
    number = parse_number(written)
    # A limit beyond every float would never be exceeded, which nobody means.
    if number is None or abs(number) > Fraction(sys.float_info.max):
        raise click.BadParameter(f"{name} needs a number, as in {name}=0.5", ctx, param)
    return name, float(number)


def check_limits(quantities: Mapping[str, Quantity], limits: Limits) -> list[CheckedLimit]:
    """Return each limit with the value it is compared with; a value that equals its limit does not exceed it."""
    checked = []
    for name, limit in limits:
        quantity = quantities[name]
        value = float(quantity.value)
        worse = value > limit if quantity.more_is_worse else value < limit
        exceeded = quantity.exceeded_when_undefined if isnan(value) else worse
        checked.append(
            CheckedLimit(
                quantity=name, limit=limit, value=value, exceeded=exceeded, more_is_worse=quantity.more_is_worse
            )
        )
    return checked


def report_target(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Return the file of a report, or refuse one that cannot be written before anything long is computed for it."""
    if path is None:
        return None
    try:
        target = path.resolve()
        if target.is_dir():
            raise click.BadParameter(f"{str(path)!r} is a folder. Add the name of the file", ctx, param)
        if not target.parent.is_dir():
            raise click.BadParameter(f"the folder of {str(path)!r} does not exist. Make it first", ctx, param)
        # A file is replaced through its folder; a device or a pipe is written to directly.
        written = (target,) if target.exists() and not target.is_file() else (target.parent, target)
        if not all(os.access(place, os.W_OK) for place in written if place.exists()):
            raise click.BadParameter(f"{str(path)!r} may not be written by this user", ctx, param)
    except (OSError, ValueError, RuntimeError) as error:  # a name that is too long, links that go round in circles
        raise click.BadParameter(f"{str(path)!r} is no usable file name", ctx, param) from error
    return path


def refuse_overwriting(target: Path | None, inputs: Iterable[Path | None], *, option: str = "--html") -> None:
    """Raise an error if the report would replace one of the files it is made from."""
    for path in inputs:
        if target is not None and path is not None and exists(target) and exists(path) and target.samefile(path):
            raise click.BadParameter(
                f"{str(target)!r} is an input, which a report must not replace. Name another file",
                param_hint=f"'{option}'",
            )


def exists(path: Path | str) -> bool:
    """Return whether there is such a file; a name that no file can have (too long, say) is not an error.

    >>> exists("x" * 10_000)
    False
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False

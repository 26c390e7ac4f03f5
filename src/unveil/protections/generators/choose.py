"""Which generator is meant: a command, a protection or a function."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from unveil._specification import own_module
from unveil.data.table import Table
from unveil.data.table.release import ReleaseKind
from unveil.errors import InputError, did_you_mean
from unveil.protections._listing import TableProtection
from unveil.protections.generators.command import PLACES, CommandGenerator
from unveil.protections.generators.environment import variables_from
from unveil.protections.generators.function import FunctionGenerator
from unveil.protections.generators.generator import Generator
from unveil.protections.generators.protection import ProtectionGenerator
from unveil.protections.specification import protection_from

# Something of a user's module, without the settings that only a class can have.
_OWN = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")


def generator_from(
    source: "str | Callable[..., Any] | TableProtection",
    *,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    output_limit: float | None = None,
    env: Iterable[str] | Mapping[str, str] = (),
    read: Callable[[Any], Table] | None = None,
    kind: ReleaseKind | None = None,
) -> Generator:
    """Return the generator for a text, function, or protection.

    Parameters
    ----------
    source
        A command that holds ``{in}`` and ``{out}``; a protection as it is written, such as ``mondrian:k=5``; or
        ``package.module:function`` for a function ``(frame, rng) -> frame``, or that function itself.
    time_limit, memory_limit, output_limit
        Seconds that a run of a command may take, GB that each of its processes may hold, and GB of each file that it
        writes.
    env
        Variables that a command is given, beyond those that programs need to run: names, whose values this process
        has, or names with values.
    read
        Turns into a table what is made: the path of a file that a command wrote, or the frame that a function returned.
        `Table.read` and `Table.from_frame` if not told.
    kind
        What is made, where a command or a function makes it; a protection tells that itself.

    Raises
    ------
    InputError
        If there is no such protection, program, module or function.

    Examples
    --------
    >>> generator_from("mondrian:k=5").written
    'mondrian:k=5'
    >>> generator_from("mondrain:k=5")
    Traceback (most recent call last):
    unveil.errors.InputError: there is no protection 'mondrain'. Did you mean 'mondrian'?
    """
    variables = variables_from(env)
    if isinstance(source, str) and _is_command(source.strip()):
        return CommandGenerator(
            written=source.strip(),
            read=read or _read_file,
            time_limit=time_limit,
            memory_limit=memory_limit,
            output_limit=output_limit,
            kind=kind,
            env=variables,
        )
    if variables:
        raise InputError(
            "variables (env) are only for commands; this generator runs inside unveil and sees all variables. "
            "Leave them out"
        )
    if isinstance(source, str):
        return _written(source.strip(), read, kind)
    if callable(getattr(source, "apply", None)) and not isinstance(source, type):
        return ProtectionGenerator(protection=source)  # type: ignore[arg-type]  # whatever has the method is one
    if not callable(source) or isinstance(source, type):
        raise InputError(
            "the generator is "
            f"{'the class' if isinstance(source, type) else 'a'} "
            f"{getattr(source, '__name__', type(source).__name__)}. Pass a command, a protection, "
            "or a function of a frame and a random generator"
        )
    return FunctionGenerator(function=source, read=read or Table.from_frame, kind=kind)


def _written(text: str, read: Callable[[Any], Table] | None, kind: ReleaseKind | None) -> Generator:
    own = _OWN.fullmatch(text)
    if own is not None:
        found = _found(own["module"], own["name"])
        if not isinstance(found, type):
            return FunctionGenerator(function=found, written=text, read=read or Table.from_frame, kind=kind)
    return ProtectionGenerator(protection=protection_from(text), written=text)


def _is_command(text: str) -> bool:
    """Return whether a text is a command with the required placeholders."""
    name = text.partition(":")[0]
    return any(place in text for place in PLACES) or " " in name or "/" in name or "\\" in name


def _read_file(path: Path) -> Table:
    # What it was given had a header; without one, columns are missing.
    return Table.read(path, name="released", header="yes")


def _found(module: str, name: str) -> Any:
    """Return the function or class of a user's module."""
    home = own_module(module, "generator")
    found = getattr(home, name, None)
    if not callable(found):
        have = [word for word, value in vars(home).items() if callable(value)]
        raise InputError(
            f"the module {module!r} has no function {name!r}.{did_you_mean(name, have)} Name a function of a frame and "
            "a random generator, or a class with the method 'apply'"
        )
    return found

"""Parse and write attacks and protections: a name, a colon, and settings."""

import csv
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import MISSING, Field, fields, is_dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Literal, get_args, get_origin

from unveil._registry import RegistryEntry
from unveil.errors import InputError, UnveilError, did_you_mean, mark_own, own_error, shortened

# The class of a user: a module that may lie in packages, a colon, a name, and perhaps settings after a second colon.
_OWN_CLASS = re.compile(
    r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)(?::(?P<settings>.*))?", re.DOTALL
)

#: Whether a user's module may be imported.
_RUNS_OWN_CODE: ContextVar[bool] = ContextVar("runs_own_code", default=True)

_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


def from_text(
    text: str,
    known: Mapping[str, Callable[..., Any]],
    *,
    what: str,
    method: str | tuple[str, ...],
    aka: Mapping[str, str] | None = None,
) -> Any:
    """Return the attack or protection that ``text`` describes.

    Written ``name``, ``name:key=value,key=value``, ``package.module:Class`` or ``package.module:Class:key=value``.
    Several values of one setting follow one another, as in ``name:columns=age,income,share=0.1``; a value with a comma
    in it needs the quotes of a CSV file around its piece, as in ``name:"columns=town, county",age``. ``none`` is no
    value. A user's class needs no registration; its module must be importable.

    Parameters
    ----------
    text
        What was written.
    known
        The classes that have a name.
    what
        The word for such a thing in messages, as in "protection".
    method
        The method that a user's class must have, or several of which it must have one.
    aka
        Names that others use for a thing, and its name here: they are not understood, but lead to the right one.

    Raises
    ------
    InputError
        If there is no such name, module, class or setting, or a value is not of the kind of its setting.

    Examples
    --------
    >>> from_text("fractions.Fraction", {}, what="number", method="limit_denominator")
    Traceback (most recent call last):
    unveil.errors.InputError: there is no number 'fractions.Fraction'. Write package.module:Class for one of your own
    >>> from_text("fractions:Fraction:numerator=3", {}, what="number", method="limit_denominator")
    Fraction(3, 1)
    """
    name, _, settings = text.strip().partition(":")
    if name in known:
        return _made(known[name], name, settings)
    own = _OWN_CLASS.fullmatch(text.strip())
    if own is None:
        raise _unknown(name, known, aka or {}, what)
    make = _own_class(own["module"], own["name"], what, method)
    try:
        return _made(make, f"{own['module']}:{own['name']}", own["settings"] or "")
    except UnveilError:
        raise
    except Exception as error:  # whatever a user's class raises
        raise own_error(error, make.__module__, with_text=True) or error from error


def understood(listed: Iterable[RegistryEntry]) -> tuple[dict[str, Callable[..., Any]], dict[str, str]]:
    """Return the accepted names, and suggestions for foreign names.

    The letters by which a paper calls a thing (all capitals, as in NS) are understood, in capitals or not.
    """
    known, aka = {}, {}
    for each in listed:
        known[each.name] = each.make
        for other in each.aka:
            if other.isupper():
                known |= {other: each.make, other.lower(): each.make}
            else:
                aka[other] = each.name
    return known, aka


def to_text(thing: object, listed: Iterable[RegistryEntry]) -> str:
    """Return the text of an object: its name and non-default settings.

    What cannot be written, such as a mechanism, is left out.
    """
    kind = type(thing)
    name = next((each.name for each in listed if each.make is kind), f"{kind.__module__}:{kind.__qualname__}")
    if not is_dataclass(thing):
        return name
    told = [(each.name, getattr(thing, each.name), _default(each)) for each in fields(thing) if each.repr]
    settings = [f"{key}={_written(value)}" for key, value, usual in told if value != usual]
    return f"{name}:{','.join(settings)}" if settings else name


def settings_of(thing: object) -> dict[str, str]:
    """Return every setting of an object as text, including defaults."""
    if not is_dataclass(thing):
        return {}
    return {each.name: _written(getattr(thing, each.name)) for each in fields(thing) if each.repr}


def _default(setting: "Field[Any]") -> Any:
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def _written(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ",".join(_written(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _unknown(name: str, known: Mapping[str, Any], aka: Mapping[str, str], what: str) -> InputError:
    if name in aka:
        return InputError(f"there is no {what} {name!r}; here it is called {aka[name]!r}. Write that name")
    hint = did_you_mean(name, [*known, *aka])
    if not hint:
        hint = f" Choose from {', '.join(known)}, or write" if known else " Write"
        hint += " package.module:Class for one of your own"
    return InputError(f"there is no {what} {name!r}.{hint}")


@contextmanager
def without_own_code() -> Iterator[None]:
    """Reject users' modules, for input from other people.

    >>> with without_own_code():
    ...     own_module("json")
    Traceback (most recent call last):
    unveil.errors.InputError: the module 'json' is code, which is not run here. Name what 'unveil list' shows, or ...
    """
    before = _RUNS_OWN_CODE.set(False)
    try:
        yield
    finally:
        _RUNS_OWN_CODE.reset(before)


def own_module(name: str, what: str = "") -> types.ModuleType:
    """Import a user's module, or raise an error with the fix.

    >>> own_module("no_such_module", "attack")
    Traceback (most recent call last):
    unveil.errors.InputError: the module 'no_such_module' of your attack cannot be imported (ModuleNotFoundError: No...
    """
    if not _RUNS_OWN_CODE.get():
        raise InputError(
            f"the module {shortened(name)} is code, which is not run here. Name what 'unveil list' shows, "
            "or ask on the command line"
        )
    mark_own(name)
    try:
        return import_module(name)
    except Exception as error:  # whatever a user's module raises
        own = own_error(error, with_text=True)
        if own is not None:
            raise own from error
        raise InputError(
            f"the module {shortened(name)}{f' of your {what}' if what else ''} cannot be imported "
            f"({type(error).__name__}: {error}). "
            "Correct the name or the module, and put the folder it lies in on PYTHONPATH"
        ) from error


def _own_class(module: str, name: str, what: str, method: str | tuple[str, ...]) -> Callable[..., Any]:
    methods = (method,) if isinstance(method, str) else method
    home = own_module(module, what)
    found = getattr(home, name, None)
    if found is None:
        have = [word for word, value in vars(home).items() if inspect.isclass(value)]
        raise InputError(f"the module {module!r} has no class {name!r}.{did_you_mean(name, have)} Correct the name")
    if not inspect.isclass(found) or not any(callable(getattr(found, each, None)) for each in methods):
        wanted = " or ".join(map(repr, methods))
        raise InputError(
            f"a {what} must be a class with the method {wanted}, but {module}:{name} is not. Name such a class"
        )
    # The module may only hand it on, and methods may be those of a class that it stands on.
    mark_own(*(each.__module__ for each in found.__mro__ if each is not object))
    return found


def _made(make: Callable[..., Any], name: str, settings: str) -> Any:
    parameters = inspect.signature(make).parameters
    hints = _hints(make)
    given = {}
    for key, values in _pieces(settings, name).items():
        if key not in parameters:
            hint = did_you_mean(key, parameters) or f" It has {', '.join(parameters) or 'none'}."
            raise InputError(f"{name} has no setting {key!r}.{hint} Correct the name, or leave the setting out")
        given[key] = _value(values, hints.get(key, Any), f"{key} of {name}")
    required = [key for key, parameter in parameters.items() if parameter.default is parameter.empty]
    lacking = [key for key in required if key not in given and parameters[key].kind.name.endswith(("ONLY", "KEYWORD"))]
    if lacking:
        raise InputError(f"{name} needs the setting {lacking[0]!r}. Write it as {name}:{lacking[0]}=VALUE")
    return make(**given)


def _hints(make: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(make) | typing.get_type_hints(make.__init__)
    except (NameError, TypeError):  # names that only type checkers see: the values then decide for themselves
        return {}


def _pieces(settings: str, name: str) -> dict[str, list[str]]:
    """Return the values of each setting; a piece without "=" continues it."""
    found: dict[str, list[str]] = {}
    last = None
    try:
        pieces = next(csv.reader([settings], strict=True), [])
    except csv.Error as error:
        raise InputError(f"the settings of {name} have a quote that is not closed. Close it") from error
    for piece in pieces:
        key, equals, value = piece.partition("=")
        if equals:
            last = key.strip()
            if last in found:
                raise InputError(f"{name} has the setting {last!r} twice. Keep one")
            found[last] = [value.strip()]
        elif last is None:
            raise InputError(f"the settings of {name} must be written key=value,key=value, but begin without a key")
        else:
            found[last].append(piece.strip())
    for key, values in found.items():
        if "" in values:
            raise InputError(
                f"the setting {key!r} of {name} has an empty value. Write {key}=VALUE ({key}=none for no value), or "
                "leave it out"
            )
    return found


def _value(values: list[str], hint: Any, where: str) -> Any:
    """Return the values as the first matching type of the setting."""
    choices = get_args(hint) if get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if type(None) in choices and values == ["none"]:
        return None
    kinds = [choice for choice in choices if choice is not type(None)]
    for kind in kinds:
        try:
            return _as(values, kind)
        except ValueError:
            continue
    wanted = " or ".join(_said(kind) for kind in kinds)
    raise InputError(f"{where} must be {wanted}, but is {','.join(values)!r}. Write such a value")


def _as(values: list[str], kind: Any) -> Any:
    """Return the values as one type, or raise a ValueError."""
    if get_origin(kind) in (tuple, list) or kind in (tuple, list):
        inner = (get_args(kind) or (str,))[0]
        return tuple(_as([value], inner) for value in values)
    if len(values) > 1 and kind is Any:
        return tuple(_guessed(value) for value in values)
    if len(values) > 1:
        raise ValueError
    (text,) = values
    if get_origin(kind) is Literal or kind is bool:
        named = _TRUTHS if kind is bool else {str(choice): choice for choice in get_args(kind)}
        if text not in named:
            raise ValueError
        return named[text]
    if kind in (int, float, Fraction):
        return _number(text, kind)
    return text if kind is str else _guessed(text)


def _number(text: str, kind: Any) -> Any:
    try:
        return float(Fraction(text)) if kind is float and "/" in text else kind(text)
    except (ZeroDivisionError, OverflowError) as error:
        raise ValueError from error


def _guessed(text: str) -> Any:
    """Return the value of an untyped setting, by its notation."""
    if text == "none" or text in _TRUTHS:
        return _TRUTHS.get(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _said(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, get_args(kind)))
    if get_origin(kind) in (tuple, list):
        return "values with commas between them"
    words = {int: "a whole number", float: "a number", Fraction: "a number", bool: "yes or no"}
    return words.get(kind, getattr(kind, "__name__", str(kind)))

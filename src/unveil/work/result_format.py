"""Store results as JSON and arrays; a file can name types from a fixed list only, and reading it runs no code."""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

_PLAIN = (type(None), bool, int, float, str)


class UnreadableResultError(ValueError):
    """A stored result is damaged, or names what results are not made of."""


def types_within(*roots: type) -> tuple[type, ...]:
    """Return the dataclasses that values of these classes may hold, by the types of their fields."""
    known: dict[type, None] = {}
    hints: list[Any] = list(roots)
    while hints:
        hint = hints.pop()
        hints += get_args(hint)
        if isinstance(hint, type) and is_dataclass(hint) and hint not in known:
            known[hint] = None
            hints += get_type_hints(hint).values()
    return tuple(known)


@dataclass(frozen=True)
class ResultFormat:
    """Writes and reads values made of plain numbers, texts, arrays and the types and functions listed here.

    Reading builds data only. A type is looked up by its bare name in the list and filled field by field, without
    calling its constructor; a function is looked up the same way and not called.

    Parameters
    ----------
    types
        Dataclasses and named tuples that results consist of.
    functions
        Functions that results may refer to, alone or as :func:`functools.partial`.
    """

    types: Iterable[type]
    functions: Iterable[Callable[..., Any]] = ()
    _types: dict[str, type] = field(init=False, repr=False)
    _functions: dict[str, Callable[..., Any]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_types", {each.__name__: each for each in self.types})
        object.__setattr__(self, "_functions", {each.__name__: each for each in self.functions})

    def write(self, value: Any) -> list[bytes]:
        """Return the value as parts: a JSON text, then one ``.npy`` file per array.

        >>> parts = ResultFormat([]).write({"rates": (0.5, np.array([1, 2]))})
        >>> parts[0], len(parts)
        (b'["dict",[["rates",["tuple",[0.5,["array",0]]]]]]', 2)
        """
        writer = _Writer(self._types, self._functions)
        tree = writer.tree(value)
        return [json.dumps(tree, separators=(",", ":")).encode(), *(_array_bytes(each) for each in writer.arrays)]

    def read(self, parts: Iterable[bytes]) -> Any:
        """Return the value of these parts, or raise `UnreadableResultError`.

        >>> ResultFormat([]).read([b'["tuple",[0.5,null]]'])
        (0.5, None)
        """
        try:
            text, *arrays = parts
            return _Reader(self._types, self._functions, [_array_of(each) for each in arrays]).value(json.loads(text))
        except Exception as error:  # NumPy lets errors of its parser and of memory pass at a forged array
            raise UnreadableResultError("a stored result cannot be read") from error


@dataclass
class _Writer:
    types: Mapping[str, type]
    functions: Mapping[str, Callable[..., Any]]
    arrays: list[NDArray[Any]] = field(default_factory=list)
    #: Places of arrays by identity: an array that several findings share is stored once.
    _places: dict[int, int] = field(default_factory=dict)

    def tree(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind in (tuple, list):
            return [kind.__name__, [self.tree(each) for each in value]]
        if isinstance(value, np.generic):
            return ["scalar", self._place(np.asarray(value))]
        if isinstance(value, np.ndarray):
            return ["array", self._place(value)]
        if isinstance(value, partial):
            return ["partial", self._named(value.func), self.tree(value.args), self.tree(value.keywords)]
        if self.types.get(kind.__name__) is kind:
            return ["object", kind.__name__, {name: self.tree(getattr(value, name)) for name in _names(kind)}]
        if isinstance(value, Mapping):
            return ["dict", [[self.tree(key), self.tree(each)] for key, each in value.items()]]
        if callable(value):
            return ["function", self._named(value)]
        raise TypeError(f"results may not hold a {kind.__module__}.{kind.__qualname__}: list its type")

    def _named(self, function: Callable[..., Any]) -> str:
        name = getattr(function, "__name__", "")
        if self.functions.get(name) is not function:
            raise TypeError(f"results may not refer to the function {name!r}: list it")
        return name

    def _place(self, array: NDArray[Any]) -> int:
        if id(array) not in self._places:
            self._places[id(array)] = len(self.arrays)
            self.arrays.append(array)  # which also keeps its identity from being used again
        return self._places[id(array)]


@dataclass(frozen=True)
class _Reader:
    types: Mapping[str, type]
    functions: Mapping[str, Callable[..., Any]]
    arrays: list[NDArray[Any]]

    def value(self, tree: Any) -> Any:
        if not isinstance(tree, list):
            if type(tree) in _PLAIN:
                return tree
            raise UnreadableResultError("an object without a tag")
        tag, *told = tree
        return getattr(self, _TAGS[tag])(*told)

    def _tuple(self, items: list[Any]) -> tuple[Any, ...]:
        return tuple(map(self.value, items))

    def _list(self, items: list[Any]) -> list[Any]:
        return list(map(self.value, items))

    def _dict(self, items: list[Any]) -> dict[Any, Any]:
        return {self.value(key): self.value(each) for key, each in items}

    def _array(self, place: int) -> NDArray[Any]:
        return self.arrays[place]

    def _scalar(self, place: int) -> Any:
        return self.arrays[place][()]

    def _function(self, name: str) -> Callable[..., Any]:
        return self.functions[name]

    def _partial(self, name: str, arguments: Any, keywords: Any) -> "partial[Any]":
        return partial(self.functions[name], *self.value(arguments), **self.value(keywords))

    def _object(self, name: str, fields: dict[str, Any]) -> Any:
        kind = self.types[name]
        names = _names(kind)
        if set(fields) != set(names):
            raise UnreadableResultError(f"{name} with other fields")
        values = [self.value(fields[each]) for each in names]
        if issubclass(kind, tuple):
            return tuple.__new__(kind, values)
        made: Any
        if issubclass(kind, float):
            *values, number = values
            made = float.__new__(kind, number)
        else:
            made = object.__new__(kind)
        for each, value in zip(names, values, strict=False):
            object.__setattr__(made, each, value)
        return made


#: What each tag of a stored tree is read by; a file can choose among these and nothing else.
_TAGS = {each: f"_{each}" for each in ("tuple", "list", "dict", "array", "scalar", "function", "partial", "object")}


def _names(kind: Any) -> tuple[str, ...]:
    """Return the fields of a declared type; those of a float end with its value."""
    if issubclass(kind, float):
        return (*kind.__slots__, "real")
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else tuple(kind._fields)


def _array_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
    return stream.getvalue()


def _array_of(content: bytes) -> NDArray[Any]:
    return np.asarray(np.lib.format.read_array(io.BytesIO(content), allow_pickle=False))

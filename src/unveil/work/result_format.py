"""Store results as JSON and arrays; reading runs no code."""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from unveil.data.table.coded_columns import codes_of

if TYPE_CHECKING:
    import polars as pl

_PLAIN = (type(None), bool, int, float, str)
#: The types of columns in data frames: numbers are stored as they are, other values as codes of their words.
_NUMBERS = (
    *("Boolean", "Datetime", "Float32", "Float64", "Int8", "Int16", "Int32", "Int64"),
    *("UInt8", "UInt16", "UInt32", "UInt64"),
)
_WORDS = ("String", "Enum", "Int128")


class UnreadableResultError(ValueError):
    """A stored result is damaged, or names what results are not made of."""


def types_within(*roots: type) -> tuple[type, ...]:
    """Return the dataclasses that these classes may contain, by field types."""
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
    """Reader and writer of values with listed types and functions.

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
        """Return the value as parts: JSON text, then ``.npy`` arrays.

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
        if hasattr(value, "get_columns"):
            return self._frame(value)
        if isinstance(value, partial):
            return ["partial", self._named(value.func), self.tree(value.args), self.tree(value.keywords)]
        if self.types.get(kind.__name__) is kind:
            return ["object", kind.__name__, {name: self.tree(getattr(value, name)) for name in _names(kind)}]
        if isinstance(value, Mapping):
            return ["dict", [[self.tree(key), self.tree(each)] for key, each in value.items()]]
        if callable(value):
            return ["function", self._named(value)]
        raise TypeError(f"results may not hold a {kind.__module__}.{kind.__qualname__}: list its type")

    def _frame(self, frame: "pl.DataFrame") -> Any:
        by_type: dict[str, list[int]] = {}
        for place, dtype in enumerate(frame.dtypes):
            by_type.setdefault(type(dtype).__name__, []).append(place)
        return ["frame", frame.columns, [self._columns(frame, *each) for each in by_type.items()]]

    def _columns(self, frame: "pl.DataFrame", kind: str, places: list[int]) -> Any:
        """Return typed columns: positions, arrays, and missing cells or words."""
        import polars as pl

        columns = [frame.to_series(place) for place in places]
        more: Any = None
        if kind in _WORDS:
            coded = [_coded(each) for each in columns]
            more = [words for _, words in coded]
            values = np.array([codes for codes, _ in coded], np.min_scalar_type(max(map(len, more))))
        elif kind in _NUMBERS:
            missing = np.array([each.is_null().to_numpy() for each in columns])
            more = self._place(np.packbits(missing)) if missing.any() else None
            numbers = [each.cast(pl.UInt8) if kind == "Boolean" else each.to_physical() for each in columns]
            values = _narrow(np.array([each.fill_null(0).to_numpy() for each in numbers]))
        else:
            raise TypeError(f"results may not hold a column of the type {kind}")
        return [kind, places, self._place(values), more]

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

    def _frame(self, names: list[str], groups: list[Any]) -> "pl.DataFrame":
        import polars as pl

        columns = {place: each for group in groups for place, each in self._columns(*group)}
        if len(columns) != len(names) or len({each.len() for each in columns.values()}) > 1:
            raise UnreadableResultError("columns that do not fit together")
        return pl.DataFrame([columns[place].alias(name) for place, name in enumerate(names)])

    def _columns(self, kind: str, places: list[int], array: int, more: Any) -> "Iterable[tuple[int, pl.Series]]":
        import polars as pl

        values = self.arrays[array]
        if values.ndim != 2:
            raise UnreadableResultError("columns are the rows of an array")
        if kind in _WORDS:
            types = [pl.Enum(words) if kind == "Enum" else getattr(pl, kind) for words in more]
            words = [pl.Series([None, *each], dtype=dtype) for each, dtype in zip(more, types, strict=True)]
            return zip(places, (each.gather(codes) for each, codes in zip(words, values, strict=True)), strict=True)
        dtype = pl.Datetime("us") if kind == "Datetime" else getattr(pl, _NUMBERS[_NUMBERS.index(kind)])
        made = [pl.Series(each).cast(dtype) for each in values]
        if more is not None:
            missing = np.unpackbits(self.arrays[more], count=values.size).reshape(values.shape).astype(bool)
            made = [each.set(pl.Series(gone), None) for each, gone in zip(made, missing, strict=True)]
        return zip(places, made, strict=True)

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
_TAGS = {
    each: f"_{each}" for each in ("tuple", "list", "dict", "array", "scalar", "frame", "function", "partial", "object")
}


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Return integers in their smallest type, other values unchanged."""
    if values.dtype.kind not in "iu" or not values.size:
        return values
    kind = np.promote_types(*map(np.min_scalar_type, (values.min(), values.max())))
    return values.astype(kind) if kind.kind in "iu" else values


def _coded(column: "pl.Series") -> tuple[NDArray[Any], list[Any]]:
    """Return cell codes (0 is missing) and the coded words."""
    import polars as pl

    if isinstance(column.dtype, pl.Enum):
        codes = (column.to_physical().cast(pl.Int64) + 1).fill_null(0).to_numpy()
        return codes, column.dtype.categories.to_list()
    if column.dtype == pl.Int128:  # its values may need more than 64 bits
        codes, words = codes_of(column.cast(pl.String))
        return codes, [int(word) for word in words.to_list()]
    codes, words = codes_of(column)
    return codes, words.to_list()


def _names(kind: Any) -> tuple[str, ...]:
    """Return the fields of a declared type, floats with their value."""
    if issubclass(kind, float):
        return (*kind.__slots__, "real")
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else tuple(kind._fields)


def _array_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
    return stream.getvalue()


def _array_of(content: bytes) -> NDArray[Any]:
    return np.asarray(np.lib.format.read_array(io.BytesIO(content), allow_pickle=False))

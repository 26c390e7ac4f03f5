"""Declare a result field once: meaning, JSON name, limit, and unit."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from itertools import count
from operator import attrgetter
from typing import Any, Literal

from unveil._version import __version__

_DECLARED = count()
_KEY = "figure"
#: The attribute of a class with the name of its definition in schemas, where several figures share it.
DEFINITION = "JSON_DEFINITION"

#: The attribute of a class with the meanings of the objects that dotted names of its figures make.
GROUPS = "GROUPS"
#: The meanings of figures that several answers have.
VERSION = "The version of unveil."
NOTES = "Notes for the reader: dropped data, assumptions, and interpretations."

#: What a number is based on. The shareable report shows a number of people or rows by bounds where it is small, and
#: numbers without a basis never. A statistic (a rate, a mean, a share) is made safe before, by rules of its own.
Basis = Literal["", "people", "rows", "columns", "attempts", "statistic", "nothing private"]
#: The attribute of a class with the basis of its numbers, unless a figure declares its own.
COUNTS = "COUNTS"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Declaration of one result value.

    Attributes
    ----------
    meaning
        The description in the JSON Schema: one sentence.
    name
        The name in JSON; the name of the field unless given. ``group.name`` stands in the object ``group``, whose
        meaning the class declares in ``GROUPS``.
    hidden
        Whether JSON leaves it out, as it only carries a limit.
    optional
        Whether JSON leaves it out where it is None, NaN or empty.
    blank
        Whether an empty text is null in JSON.
    inline
        Whether its figures stand in the object around it; none do where it is None.
    limit
        The name of a limit on it; no limit can be set where it is empty.
    limit_meaning
        The line of ``--limit help``.
    worse
        Whether more or less of it is worse.
    breached
        Whether an undefined value exceeds every limit, because the harm has happened.
    counts
        What the number is based on.
    after
        The figure that it follows in JSON, where that is not the one declared before it.
    rows
        For a data frame, the class whose figures are its columns.
    without
        For findings, the names in JSON of their figures that stand in no object under this name.
    column
        Whether it is an array with a value for each row of a table. JSON has it in the rows alone.
    row
        For the values at one place of the columns of a class, that class.
    path
        For a figure of an inner object, the path of attributes that leads to it. Its meaning is the one declared there
        unless given.
    """

    meaning: str = ""
    name: str = ""
    hidden: bool = False
    optional: bool = False
    blank: bool = False
    inline: bool = False
    limit: str = ""
    limit_meaning: str = ""
    worse: Literal["more", "less"] = "more"
    breached: bool = False
    counts: Basis = ""
    after: str = ""
    rows: type | None = None
    without: tuple[str, ...] = ()
    column: bool = False
    row: type | None = None
    path: str = ""
    #: The place in the order of declarations, which is the order in JSON.
    place: int = field(default_factory=lambda: next(_DECLARED), compare=False)


def figure(
    meaning: str = "",
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    repr: bool = True,  # noqa: A002
    **facts: Any,
) -> Any:
    """Return a dataclass field for a result value.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class ExampleFindings:
    ...     rows: int = figure("Number of rows.")
    >>> [(name, each.meaning) for name, each in declared_figures(ExampleFindings)]
    [('rows', 'Number of rows.')]
    """
    metadata = {_KEY: Figure(meaning=meaning, **facts)}
    return field(default=default, default_factory=default_factory, repr=repr, metadata=metadata)


def column(meaning: str, **facts: Any) -> Any:
    """Return a dataclass field for an array with one value per row."""
    return figure(meaning, column=True, **facts)


class DerivedFigure(property):
    """Property of findings that is a result value."""

    figure: Figure


def derived(meaning: str = "", **facts: Any) -> Callable[[Callable[[Any], Any]], DerivedFigure]:
    """Return a decorator that declares a property as a result value."""
    declared = Figure(meaning=meaning, **facts)

    def decorate(function: Callable[[Any], Any]) -> DerivedFigure:
        made = DerivedFigure(function)
        # Otherwise it has the docstring of its class.
        made.__doc__ = function.__doc__
        made.figure = declared
        return made

    return decorate


def bases(kind: type) -> dict[str, Basis]:
    """Return the basis of the numbers in each field of a class."""
    whole: Basis = vars(kind).get(COUNTS, "")
    return {each.name: each.metadata[_KEY].counts or whole if _KEY in each.metadata else whole for each in fields(kind)}


def version_figure() -> DerivedFigure:
    """Return a property that is the version of unveil."""

    def version(_: Any) -> str:
        """Return the version of unveil."""
        return __version__

    return derived(VERSION)(version)


def figure_at(path: str, meaning: str = "", **facts: Any) -> Any:
    """Return a result property of an inner object, by attribute path.

    >>> @dataclass(frozen=True)
    ... class ExampleRate:
    ...     rate: complex
    ...     low = figure_at("rate.real", "The lower end.")
    >>> ExampleRate(0.25 + 0.5j).low
    0.25
    """
    made = derived(meaning, path=path, **facts)(attrgetter(path))
    made.__doc__ = meaning
    return made


def declared_figures(kind: type) -> list[tuple[str, Figure]]:
    """Return the declared results of a class with their attribute names, in order."""
    own = [(each.name, each.metadata[_KEY]) for each in fields(kind) if _KEY in each.metadata]
    more = {
        name: each.figure
        for base in reversed(kind.__mro__)
        for name, each in vars(base).items()
        if isinstance(each, DerivedFigure)
    }
    places = {name: (each.place, 0) for name, each in (*own, *more.items())}
    return sorted(
        [*own, *more.items()],
        key=lambda pair: (places[pair[1].after][0], 1) if pair[1].after else places[pair[0]],
    )


def row_of(columns: Any, at: int) -> dict[str, Any]:
    """Return the values at one place of the columns that a class declares.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class ExampleColumns:
    ...     size: list[int] = column("Size of each.")
    >>> row_of(ExampleColumns(size=[3, 5]), 1)
    {'size': 5}
    """
    return {name: getattr(columns, name)[at] for name in column_names(type(columns))}


def column_names(kind: type) -> list[str]:
    """Return the names of the columns that a class declares."""
    return [name for name, each in declared_figures(kind) if each.column]

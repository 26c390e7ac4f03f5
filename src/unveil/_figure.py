"""Declare a figure of findings once: meaning, name in JSON, limit, and what it counts."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from itertools import count
from typing import Any, Literal

_DECLARED = count()
_KEY = "figure"
#: The attribute of a class with the name of its definition in schemas, where several figures share it.
DEFINITION = "JSON_DEFINITION"

#: The attribute of a class with the meanings of the objects that dotted names of its figures make.
GROUPS = "GROUPS"
#: The meanings of figures that several answers have.
VERSION = "The version of unveil that answered."
NOTES = "What a reader has to know: what was dropped, assumed or read in a certain way."

#: What a number is based on. The shareable report shows a number of people or rows by bounds where it is small, and
#: numbers without a basis never. A statistic (a rate, a mean, a share) is made safe before, by rules of its own.
Basis = Literal["", "people", "rows", "columns", "attempts", "statistic", "nothing private"]
#: The attribute of a class with the basis of its numbers, unless a figure declares its own.
COUNTS = "COUNTS"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The declaration of one figure.

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
    """Return the field of a figure, for the body of a dataclass.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class ExampleFindings:
    ...     rows: int = figure("Number of rows.")
    >>> [(name, each.meaning) for name, each in declared_figures(ExampleFindings)]
    [('rows', 'Number of rows.')]
    """
    metadata = {_KEY: Figure(meaning=meaning, **facts)}
    return field(default=default, default_factory=default_factory, repr=repr, metadata=metadata)


class DerivedFigure(property):
    """A property of findings that is a figure."""

    figure: Figure


def derived(meaning: str = "", **facts: Any) -> Callable[[Callable[[Any], Any]], DerivedFigure]:
    """Return a decorator that makes a property of findings a figure."""
    declared = Figure(meaning=meaning, **facts)

    def decorate(function: Callable[[Any], Any]) -> DerivedFigure:
        made = DerivedFigure(function)
        # A subclass of property has the docstring of its class unless it is set.
        made.__doc__ = function.__doc__
        made.figure = declared
        return made

    return decorate


def bases(kind: type) -> dict[str, Basis]:
    """Return the basis of the numbers in each field of a class."""
    whole: Basis = vars(kind).get(COUNTS, "")
    return {each.name: each.metadata[_KEY].counts or whole if _KEY in each.metadata else whole for each in fields(kind)}


def declared_figures(kind: type) -> list[tuple[str, Figure]]:
    """Return the figures of a class with the names of their attributes, in the order of declaration."""
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

"""Match the texts of a released column with the original values."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.table._cell_texts import WrittenInterval, folded, intervals_in, is_suppressed, number_in
from unveil.data.table._intervals import Interval, as_float, closed, moments_in, ranges_of, scale_of
from unveil.data.table.cells import (
    ABSENT,
    NOBODY,
    SHOWN,
    SUPPRESSED,
    Cells,
    CodeColumn,
    OrderedCells,
    UnorderedCells,
    texts_of,
)
from unveil.data.table.words import TRUTH_PAIRS

if TYPE_CHECKING:
    from unveil.data.table.hierarchy import Hierarchy
    from unveil.data.table.kinds import Kind

# One x beside digits is more often a slip of the pen than a digit that is hidden.
_MASK = re.compile(r"(?=.*[^*])[^*]*\*.*|(?=.*\d)(?=.*x.*x)[\dx.-]+")
_SEPARATORS = ("|", "/", " or ", " oder ", ";")
#: How the masks of unveil write a set: it is one whatever the parts are.
_BETWEEN = " | "

#: What a cell was read as: its state, and an interval, the places of values, or the text of what is none.
ReadCell = tuple[int, Any]


class PeopleValues:
    """Distinct original values of a column, with counts in original and control."""

    def __init__(self, parts: Sequence[CodeColumn]) -> None:
        import polars as pl

        frames = [part.values.alias("value").to_frame() for part in parts]
        every = pl.concat(frames, how="vertical_relaxed").to_series()
        counted = every.drop_nulls().value_counts(name="people").sort("value")
        self.values = counted["value"]
        self.rows = every.len()
        self.up_to: IntArray = np.concatenate([[0], np.cumsum(counted["people"].to_numpy().astype(np.int64))])
        #: How many people hold each marker instead of a value; nothing stands for none.
        self.gaps: dict[str, int] = {}
        for part in parts:
            for number, count in part.gaps().items():
                self.gaps[part.key(number)] = self.gaps.get(part.key(number), 0) + count
        #: Whether a missing cell can be one: the original has none where no value is missing.
        self.can_miss = can_miss(parts[0])

    def inside(self, ranges: OrderedCells) -> IntArray:
        """Return how many people have a value in each range."""
        return np.asarray(self.up_to[np.maximum(ranges.last + 1, ranges.first)] - self.up_to[ranges.first])

    def share(self, people: IntArray) -> FloatArray:
        """Return shares of people from their numbers, at least half a person."""
        return np.asarray(np.maximum(people, 0.5) / self.rows)


def can_miss(held: CodeColumn) -> bool:
    """Return whether some cells of a column say that the value is missing."""
    return any(map(held.misses, held.gaps()))


class ColumnTexts(ABC):
    """Base class for matching released texts with original values."""

    def __init__(
        self, people: PeopleValues, kind: "Kind", hierarchy: "Hierarchy | None", suppressed: Collection[str] = ()
    ) -> None:
        self.people, self.kind, self.hierarchy, self.suppressed = people, kind, hierarchy, suppressed
        self.as_written = texts_of(people.values).to_list()
        self.written = [folded(text) for text in self.as_written]
        self._lengths = {len(word) for word in self.written}
        # The values by the signs that a mask of this length, or of none, leaves to be seen.
        self._shapes: dict[tuple[int, tuple[int, ...]], dict[str, list[int]]] = {}

    def read_all(self, texts: Sequence[str]) -> list[ReadCell]:
        """Return what each text is read as."""
        return [self.read(folded(text)) for text in texts]

    def read(self, text: str) -> ReadCell:
        """Return the cell of a folded text, trying the documented readings in order."""
        found = self.equal(text)
        if found is None and (is_suppressed(text) or text in self.suppressed):
            return SUPPRESSED, None
        if found is None and self.hierarchy is not None:
            below = self.hierarchy.below(text)
            found = None if below is None else self.among(self._places(below))
        for attempt in (self.interval, self.masked, self.listed):
            found = attempt(text) if found is None else found
        return (NOBODY, (text,)) if found is None else (SHOWN, found)

    @abstractmethod
    def equal(self, text: str) -> Any:
        """Return the cell of a text that is one value."""

    @abstractmethod
    def among(self, places: Sequence[int]) -> Any:
        """Return the cell of the values at these positions, or None."""

    def interval(self, text: str) -> Any:  # noqa: ARG002
        """Return the cell of an interval; None without an order."""
        return None

    def _places(self, words: frozenset[str]) -> list[int]:
        return [place for place, word in enumerate(self.written) if word in words]

    def masked(self, text: str) -> Any:
        """Return the values that match a text with stars."""
        if not _MASK.fullmatch(text):
            return None
        sign = "*" if "*" in text else "x"
        kept = tuple(place for place, letter in enumerate(text) if letter != sign)
        length = len(text) if len(text) in self._lengths else 0
        if not length and kept != tuple(range(len(kept))):
            return None  # a star before the end stands for one sign
        shape = self._shapes.get((length, kept))
        if shape is None:
            shape = self._shapes[length, kept] = {}
            for place, word in enumerate(self.written):
                if len(word) == length or (not length and len(word) >= len(kept)):
                    shape.setdefault("".join(word[each] for each in kept), []).append(place)
        return self.among(shape.get("".join(text[each] for each in kept), []))

    def listed(self, text: str) -> Any:
        """Return the values of a list, which braces or bars may mark."""
        inner = text[1:-1] if text[:1] == "{" and text[-1:] == "}" else None
        tries = [text.split(_BETWEEN)] if _BETWEEN in text else []
        tries += [inner.split(sign) for sign in (",", ";", "|")] if inner is not None else []
        sure = len(tries)
        tries += [text.split(sign) for sign in _SEPARATORS if sign in text]
        for number, parts in enumerate(tries):
            known = [set(self.places_equal(part.strip())) for part in parts]
            if all(known) or (number < sure and any(known)):
                return self.among(sorted(set().union(*known)))
        return None

    @abstractmethod
    def places_equal(self, word: str) -> Sequence[int]:
        """Return the places of the values that are written so."""

    @abstractmethod
    def cells(self, order: Sequence[ReadCell], of_row: Int32Array) -> Cells:
        """Return the cells of a column from its distinct texts."""

    def _finished(
        self, order: Sequence[ReadCell], of_row: Int32Array, holds: OrderedCells | UnorderedCells, inside: IntArray
    ) -> Cells:
        state = np.array([state for state, _ in order], np.uint8)
        marker = tuple(what[0] if state == ABSENT else "" for state, what in order)
        return weighed(self.people, of_row, state, holds, inside, marker)


def weighed(
    people: PeopleValues,
    of_row: Int32Array,
    state: NDArray[np.uint8],
    holds: OrderedCells | UnorderedCells,
    inside: IntArray,
    marker: tuple[str, ...],
) -> Cells:
    """Return cells weighted by the share of people with each."""
    gaps = [people.gaps.get(key, 0) for key in marker]
    count = np.select([state == SUPPRESSED, state == ABSENT, state == NOBODY], [people.rows, gaps, 0], inside)
    markers = tuple(sorted({*marker, *people.gaps} - {""}))
    return Cells(of_row, state, holds, people.values, people.share(count), marker, markers)


class UnorderedTexts(ColumnTexts):
    """Categories, texts, and booleans: a cell holds some of their positions."""

    def __init__(
        self, people: PeopleValues, kind: "Kind", hierarchy: "Hierarchy | None", suppressed: Collection[str] = ()
    ) -> None:
        super().__init__(people, kind, hierarchy, suppressed)
        self.where: dict[str, list[int]] = {}
        for place, word in enumerate(self.written):
            self.where.setdefault(word, []).append(place)
        if kind == "boolean":
            for pair in TRUTH_PAIRS:
                for truth, word in zip(("false", "true"), pair, strict=True):
                    self.where.setdefault(word, self.where.get(truth, []))

    def read_all(self, texts: Sequence[str]) -> list[ReadCell]:
        """Return the cell of each text; exact spelling takes precedence."""
        same = {word: place for place, word in enumerate(self.as_written)}
        return [(SHOWN, (same[text],)) if text in same else self.read(folded(text)) for text in texts]

    def places_equal(self, word: str) -> Sequence[int]:
        """Return the places of the values that are this word, in any case."""
        return self.where.get(word, ())

    def equal(self, text: str) -> tuple[int, ...] | None:
        """Return the value of the text; several if they differ by case."""
        return tuple(self.where.get(text, ())) or None

    def among(self, places: Sequence[int]) -> tuple[int, ...] | None:
        """Return the set."""
        return tuple(places) or None

    def cells(self, order: Sequence[ReadCell], of_row: Int32Array) -> Cells:
        """Return the cells as lists of places."""
        members = [what if state == SHOWN else () for state, what in order]
        start = np.concatenate([[0], np.cumsum([len(each) for each in members])]).astype(np.int64)
        member = np.array([place for each in members for place in each], np.int32)
        people = np.concatenate([[0], np.cumsum(np.diff(self.people.up_to)[member])])
        return self._finished(order, of_row, UnorderedCells(start, member), people[start[1:]] - people[start[:-1]])


class OrderedTexts(ColumnTexts):
    """Numbers, dates, and ordered levels: a cell holds an interval."""

    def __init__(
        self, people: PeopleValues, kind: "Kind", hierarchy: "Hierarchy | None", suppressed: Collection[str] = ()
    ) -> None:
        super().__init__(people, kind, hierarchy, suppressed)
        self.scale = scale_of(people.values)
        self.levels = {folded(word): place for place, word in enumerate(self.scale.words)}

    def read_all(self, texts: Sequence[str]) -> list[ReadCell]:
        """Return the cell of each text, inferring whether ``20-30`` includes 30."""
        read = super().read_all(texts)
        bands = sorted({band for _, what in read if (band := _band(what)) is not None})
        begins = {low for low, _ in bands}
        # Bands that touch and overlap elsewhere come from recoding class by class, where both ends are values.
        apart = all(one[1] <= other[0] for one, other in pairwise(bands))
        made: list[ReadCell] = []
        for text, (state, what) in zip(texts, read, strict=True):
            if isinstance(what, Interval):
                band = _band(what)
                shared = band is not None and apart and band[1] in begins
                what = closed(what._replace(high_out=what.high_out or shared, dashed=False), self.scale.steps)
            made.append((NOBODY, (folded(text),)) if what is None and state == SHOWN else (state, what))
        return made

    def equal(self, text: str) -> Interval | None:
        """Return the value; a day or year is an interval of finer values."""
        ends = self._ends(text, False)
        return None if ends is None else Interval(*ends)

    def interval(self, text: str) -> Interval | None:
        """Return the interval that the text is."""
        for spelled in intervals_in(text, lambda part, comma: self._ends(part, comma) is not None):
            return self._interval(spelled)
        return None

    def _interval(self, spelled: WrittenInterval) -> Interval:
        # An end such as a year is itself an interval: what is above it begins where it ends.
        low, high = (None if text is None else self._ends(text, spelled.comma) for text in (spelled.low, spelled.high))
        return Interval(
            None if low is None else low[spelled.low_out],
            None if high is None else high[not spelled.high_out],
            spelled.low_out,
            spelled.high_out,
            spelled.dashed,
        )

    def _ends(self, text: str, comma: bool) -> tuple[Fraction, Fraction] | None:
        """Return the least and the greatest value that one word or number stands for."""
        if self.scale.words:
            place = self.levels.get(text)
            return None if place is None else (Fraction(place), Fraction(place))
        if self.kind == "date":
            return moments_in(text)
        number = number_in(text, comma_ends=comma)
        if number is None:
            return None
        # Real numbers are written as the nearest that a float can be.
        exact = Fraction(number) if self.scale.steps is not None else as_float(number)
        return exact, exact

    def places_equal(self, word: str) -> Sequence[int]:
        """Return the places of the values that are this number, day or level."""
        ends = self.equal(word)
        if ends is None:
            return ()
        first, last = self.scale.span(ends)
        return range(first, last + 1)

    def among(self, places: Sequence[int]) -> Interval | None:
        """Return the interval from the least to the greatest of the values."""
        if not places:
            return None
        return Interval(self.scale.exact(min(places)), self.scale.exact(max(places)))

    def cells(self, order: Sequence[ReadCell], of_row: Int32Array) -> Cells:
        """Return the cells as intervals."""
        shown = [what if state == SHOWN else Interval(Fraction(0), Fraction(0)) for state, what in order]
        ranges = ranges_of(shown, self.scale)
        return self._finished(order, of_row, ranges, self.people.inside(ranges))


def _band(what: Any) -> tuple[Fraction, Fraction] | None:
    """Return the ends of a dash range, if it spans several values."""
    if not isinstance(what, Interval) or not what.dashed or what.low is None or what.high is None:
        return None
    return (what.low, what.high) if what.low < what.high else None

"""Read the cells of a released column as sets of the values that people have; any text gives a set, all or none."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.table._cell_texts import Spelled, folded, intervals_in, is_suppressed, number_in
from unveil.data.table._intervals import Interval, as_float, closed, moments_in, ranges_of, scale_of
from unveil.data.table.cells import ABSENT, NOBODY, SHOWN, SUPPRESSED, Cells, Held, Ranges, Sets, texts_of
from unveil.data.table.words import TRUTH_PAIRS

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.hierarchy import Hierarchy
    from unveil.data.table.kinds import Kind

#: The kinds whose values lie in an order, so that a cell may be an interval.
WITH_ORDER = ("number", "ordered", "date")

# One x beside digits is more often a slip of the pen than a digit that is hidden.
_MASK = re.compile(r"(?=.*[^*])[^*]*\*.*|(?=.*\d)(?=.*x.*x)[\dx.-]+")
_SEPARATORS = ("|", "/", " or ", " oder ", ";")
#: How the masks of unveil write a set: it is one whatever the parts are.
_BETWEEN = " | "


#: What a cell was read as: its state, and an interval, the places of values, or the text of what is none.
Read = tuple[int, Any]


class People:
    """The different values of people in one column, and how many have each: the original's, and the control's."""

    def __init__(self, parts: Sequence[Held]) -> None:
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
        self.can_miss = _can_miss(parts[0])

    def inside(self, ranges: Ranges) -> IntArray:
        """Return how many people have a value in each range."""
        return np.asarray(self.up_to[np.maximum(ranges.last + 1, ranges.first)] - self.up_to[ranges.first])

    def share(self, people: IntArray) -> FloatArray:
        """Return shares of people from their numbers, at least half a person."""
        return np.asarray(np.maximum(people, 0.5) / self.rows)


def read_texts(people: People, released: Held, kind: "Kind", hierarchy: "Hierarchy | None", *, masked: bool) -> Cells:
    """Return the cells of a released column of texts; each different text is looked at once.

    A missing cell is a missing value where the original has such, and else one that was taken out, if the release is
    masked or has other cells that stand for several values.
    """
    sort = _Ordered if kind in WITH_ORDER else _Unordered
    hidden = {folded(each.text) for number, each in enumerate(released.markers, 1) if released.hides(number)}
    words: _Texts = sort(people, kind, hierarchy, hidden)
    texts = released.values.unique().drop_nulls().to_list()
    read = words.read_all(texts)
    gaps = released.gaps()
    if gaps:
        masked = masked or not words.cells(read, np.arange(len(read), dtype=np.int32)).single.all()
    empty = {number: _gap(people, released, number, masked=masked) for number in gaps}
    order = sorted({*read, *empty.values()}, key=_rank)
    place = {each: at for at, each in enumerate(order)}
    of_row = _numbered(released.values, texts, [place[each] for each in read])
    return words.cells(order, _with_gaps(of_row, released, {number: place[each] for number, each in empty.items()}))


def _can_miss(held: Held) -> bool:
    return any(map(held.misses, held.gaps()))


def taken_out(original: Held, released: Held) -> bool:
    """Return whether cells of a masked release are missing although no value of the original is."""
    return _can_miss(released) and not _can_miss(original)


def _gap(people: People, released: Held, number: int, *, masked: bool) -> Read:
    """Return what a cell without a value is read as, by the number of its marker."""
    if released.hides(number) or (masked and not people.can_miss and released.misses(number)):
        return SUPPRESSED, None
    if number and released.markers[number - 1].kind_of_marker == "unreadable":
        return NOBODY, ("",)
    return ABSENT, (released.key(number),)


def _with_gaps(of_row: Int32Array, released: Held, cell: Mapping[int, int]) -> Int32Array:
    """Return the cell of each row where those without a value have the cell of their marker."""
    if not cell:
        return of_row
    by_marker = np.zeros(len(released.markers) + 1, np.int32)
    by_marker[list(cell)] = list(cell.values())
    number = 0 if released.marked is None else released.marked.to_numpy()
    return np.where(released.values.is_null().to_numpy(), by_marker[number], of_row)


def _rank(read: Read) -> tuple[Any, ...]:
    state, what = read
    if isinstance(what, Interval):
        ends = -inf if what.low is None else what.low, inf if what.high is None else what.high
        return state, *ends, what.low_out, not what.high_out
    return state, what or ()


def _numbered(released: "pl.Series", texts: Sequence[str], number: Sequence[int]) -> Int32Array:
    import polars as pl

    known = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String), "cell": pl.Series(number, dtype=pl.Int32)})
    rows = released.alias("text").to_frame()
    return rows.join(known, on="text", how="left", maintain_order="left")["cell"].fill_null(0).to_numpy()


class _Texts:
    """How the texts of a column meet the values of people: what both sorts of columns do alike."""

    def __init__(
        self, people: People, kind: "Kind", hierarchy: "Hierarchy | None", suppressed: Collection[str] = ()
    ) -> None:
        self.people, self.kind, self.hierarchy, self.suppressed = people, kind, hierarchy, suppressed
        self.as_written = texts_of(people.values).to_list()
        self.written = [folded(text) for text in self.as_written]
        self._lengths = {len(word) for word in self.written}
        # The values by the signs that a mask of this length, or of none, leaves to be seen.
        self._shapes: dict[tuple[int, tuple[int, ...]], dict[str, list[int]]] = {}

    def read_all(self, texts: Sequence[str]) -> list[Read]:
        """Return what each text is read as."""
        return [self.read(folded(text)) for text in texts]

    def read(self, text: str) -> Read:
        """Return what a folded text is read as; the order of the tries is that of the guide."""
        found = self.equal(text)
        if found is None and (is_suppressed(text) or text in self.suppressed):
            return SUPPRESSED, None
        if found is None and self.hierarchy is not None:
            below = self.hierarchy.below(text)
            found = None if below is None else self.among(self._places(below))
        for attempt in (self.interval, self.masked, self.listed):
            found = attempt(text) if found is None else found
        return (NOBODY, (text,)) if found is None else (SHOWN, found)

    def equal(self, text: str) -> Any:
        """Return what a text that is one value is read as."""
        raise NotImplementedError

    def among(self, places: Sequence[int]) -> Any:
        """Return what the values at these places are read as, None if there are none."""
        raise NotImplementedError

    def interval(self, text: str) -> Any:  # noqa: ARG002
        """Return what an interval is read as; a column without an order has none."""
        return None

    def _places(self, words: frozenset[str]) -> list[int]:
        return [place for place, word in enumerate(self.written) if word in words]

    def masked(self, text: str) -> Any:
        """Return the values that fit a text with stars for signs: one each, or any rest if no value is so long."""
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
        """Return the values of a list: all parts must be values, unless braces or a bar with blanks say it is one."""
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

    def places_equal(self, word: str) -> Sequence[int]:
        """Return the places of the values that are written so."""
        raise NotImplementedError

    def cells(self, order: Sequence[Read], of_row: Int32Array) -> Cells:
        """Return the cells of a column from what its different texts were read as."""
        raise NotImplementedError

    def _finished(self, order: Sequence[Read], of_row: Int32Array, holds: Ranges | Sets, inside: IntArray) -> Cells:
        state = np.array([state for state, _ in order], np.uint8)
        marker = tuple(what[0] if state == ABSENT else "" for state, what in order)
        return _weighed(self.people, of_row, state, holds, inside, marker)


def _weighed(
    people: People,
    of_row: Int32Array,
    state: NDArray[np.uint8],
    holds: Ranges | Sets,
    inside: IntArray,
    marker: tuple[str, ...],
) -> Cells:
    """Return cells with the share of people in each, of whom so many have a value that a cell shows."""
    gaps = [people.gaps.get(key, 0) for key in marker]
    count = np.select([state == SUPPRESSED, state == ABSENT, state == NOBODY], [people.rows, gaps, 0], inside)
    markers = tuple(sorted({*marker, *people.gaps} - {""}))
    return Cells(of_row, state, holds, people.values, people.share(count), marker, markers)


class _Unordered(_Texts):
    """Categories, texts and truth values: a cell holds the places of some of them."""

    def __init__(
        self, people: People, kind: "Kind", hierarchy: "Hierarchy | None", suppressed: Collection[str] = ()
    ) -> None:
        super().__init__(people, kind, hierarchy, suppressed)
        self.where: dict[str, list[int]] = {}
        for place, word in enumerate(self.written):
            self.where.setdefault(word, []).append(place)
        if kind == "boolean":
            for pair in TRUTH_PAIRS:
                for truth, word in zip(("false", "true"), pair, strict=True):
                    self.where.setdefault(word, self.where.get(truth, []))

    def read_all(self, texts: Sequence[str]) -> list[Read]:
        """Return what each text is read as: a value that is written just so before those in another case."""
        same = {word: place for place, word in enumerate(self.as_written)}
        return [(SHOWN, (same[text],)) if text in same else self.read(folded(text)) for text in texts]

    def places_equal(self, word: str) -> Sequence[int]:
        """Return the places of the values that are this word, in any case."""
        return self.where.get(word, ())

    def equal(self, text: str) -> tuple[int, ...] | None:
        """Return the value that the text is; several where they differ by case only."""
        return tuple(self.where.get(text, ())) or None

    def among(self, places: Sequence[int]) -> tuple[int, ...] | None:
        """Return the set."""
        return tuple(places) or None

    def cells(self, order: Sequence[Read], of_row: Int32Array) -> Cells:
        """Return the cells as lists of places."""
        members = [what if state == SHOWN else () for state, what in order]
        start = np.concatenate([[0], np.cumsum([len(each) for each in members])]).astype(np.int64)
        member = np.array([place for each in members for place in each], np.int32)
        people = np.concatenate([[0], np.cumsum(np.diff(self.people.up_to)[member])])
        return self._finished(order, of_row, Sets(start, member), people[start[1:]] - people[start[:-1]])


class _Ordered(_Texts):
    """Numbers, dates and ordered levels: a cell holds all values from one to another."""

    def __init__(
        self, people: People, kind: "Kind", hierarchy: "Hierarchy | None", suppressed: Collection[str] = ()
    ) -> None:
        super().__init__(people, kind, hierarchy, suppressed)
        self.scale = scale_of(people.values)
        self.levels = {folded(word): place for place, word in enumerate(self.scale.words)}

    def read_all(self, texts: Sequence[str]) -> list[Read]:
        """Return what each text is read as; whether ``20-30`` holds 30 is told by the other bands of the column."""
        read = super().read_all(texts)
        bands = sorted({band for _, what in read if (band := _band(what)) is not None})
        begins = {low for low, _ in bands}
        # Bands that touch and overlap elsewhere come from recoding class by class, where both ends are values.
        apart = all(one[1] <= other[0] for one, other in pairwise(bands))
        made: list[Read] = []
        for text, (state, what) in zip(texts, read, strict=True):
            if isinstance(what, Interval):
                band = _band(what)
                shared = band is not None and apart and band[1] in begins
                what = closed(what._replace(high_out=what.high_out or shared, dashed=False), self.scale.steps)
            made.append((NOBODY, (folded(text),)) if what is None and state == SHOWN else (state, what))
        return made

    def equal(self, text: str) -> Interval | None:
        """Return the one value that the text is; a day or a year is an interval where values are finer."""
        ends = self._ends(text, False)
        return None if ends is None else Interval(*ends)

    def interval(self, text: str) -> Interval | None:
        """Return the interval that the text is."""
        for spelled in intervals_in(text, lambda part, comma: self._ends(part, comma) is not None):
            return self._interval(spelled)
        return None

    def _interval(self, spelled: Spelled) -> Interval:
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

    def cells(self, order: Sequence[Read], of_row: Int32Array) -> Cells:
        """Return the cells as intervals."""
        shown = [what if state == SHOWN else Interval(Fraction(0), Fraction(0)) for state, what in order]
        ranges = ranges_of(shown, self.scale)
        return self._finished(order, of_row, ranges, self.people.inside(ranges))


def _band(what: Any) -> tuple[Fraction, Fraction] | None:
    """Return the ends of what was written with a dash, if it is more than one value."""
    if not isinstance(what, Interval) or not what.dashed or what.low is None or what.high is None:
        return None
    return (what.low, what.high) if what.low < what.high else None


def read_values(people: People, released: Held, kind: "Kind", *, masked: bool) -> Cells:
    """Return the cells of a released column of single values, some of which may have been taken out of a masked one."""
    import polars as pl

    known = released.values.unique().drop_nulls().sort()
    read = {number: _gap(people, released, number, masked=masked) for number in released.gaps()}
    gaps = sorted(set(read.values()), key=_rank)
    cell = {number: known.len() + gaps.index(each) for number, each in read.items()}
    of_row = _with_gaps(_places_among(known, released.values), released, cell)
    state = np.full(known.len(), SHOWN, np.uint8)
    first, last = np.zeros(len(gaps), np.int64), np.full(len(gaps), -1)
    if kind in WITH_ORDER:
        shown, values = (_physical(part) for part in (known, people.values))
        if shown.dtype != values.dtype:
            shown, values = shown.cast(pl.Float64), values.cast(pl.Float64)
        first = np.append(values.search_sorted(shown, side="left").to_numpy().astype(np.int64), first)
        last = np.append(values.search_sorted(shown, side="right").to_numpy().astype(np.int64) - 1, last)
        never = np.zeros(first.size, bool)
        shown = pl.concat([shown, shown.clear(len(gaps))])
        holds: Ranges | Sets = Ranges(shown, shown, never, never, first, last)
    else:
        place = _places_among(people.values, known)
        here = np.append(place < people.values.len(), np.zeros(len(gaps), bool))
        state[~here[: place.size]] = NOBODY
        first, last = np.zeros(here.size, np.int64), np.full(here.size, -1)
        first[here] = last[here] = place[here[: place.size]]
        holds = Sets(np.concatenate([[0], np.cumsum(here)]), first[here].astype(np.int32))
    inside = people.up_to[np.maximum(last + 1, first)] - people.up_to[first]
    state = np.append(state, np.array([each for each, _ in gaps], np.uint8))
    marker = ("",) * known.len() + tuple(what[0] if each == ABSENT else "" for each, what in gaps)
    return _weighed(people, of_row, state, holds, inside, marker)


def exact_values(cells: Cells, released: "pl.Series") -> "pl.Series":
    """Return the cells that are single values as these values, else null; a word that nobody has stays as it is."""
    import polars as pl

    there = ((cells.state == SHOWN) & cells.single)[cells.of_row]
    word = (cells.state == NOBODY)[cells.of_row] & (cells.values.dtype == pl.String)
    if isinstance(cells.holds, Ranges):
        number = cells.holds.low.gather(cells.of_row).set(pl.Series(~there), None)
        dtype = cells.values.dtype
        if isinstance(dtype, pl.Enum):
            return dtype.categories.gather(number).cast(dtype).alias(released.name)
        return (number.cast(dtype) if dtype == pl.Datetime else number).alias(released.name)
    row = np.where(there, cells.holds.start[cells.of_row], 0)
    member = np.append(cells.holds.member, 0)[np.minimum(row, cells.holds.member.size)]
    place = pl.Series(member).set(pl.Series(~there), None)
    if not cells.values.len():
        return released
    found = cells.values.gather(place)
    if word.any():
        found = found.zip_with(pl.Series(~word), released.cast(found.dtype))
    return found.alias(released.name)


def with_intervals(cells: Cells, intervals: Sequence[Interval], people: People) -> Cells:
    """Return the cells with these intervals instead of the single numbers that are shown, in their order."""
    every = [*intervals, *(Interval(Fraction(0), Fraction(0)) for _ in range(cells.state.size - len(intervals)))]
    ranges = ranges_of(every, scale_of(people.values))
    share = np.where(cells.state == SHOWN, people.share(people.inside(ranges)), cells.share)
    return replace(cells, holds=ranges, share=share)


def _physical(values: "pl.Series") -> "pl.Series":
    import polars as pl

    if isinstance(values.dtype, pl.Enum):
        return values.to_physical().cast(pl.Int64)
    return values.cast(pl.Int64) if values.dtype == pl.Datetime else values


def _places_among(known: "pl.Series", cells: "pl.Series") -> Int32Array:
    """Return where each cell is among different values, ascending; the number after the last where it is not."""
    import polars as pl

    if not cells.len():
        return np.empty(0, np.int32)
    where = known.alias("value").to_frame().with_row_index("place")
    rows = cells.alias("value").to_frame()
    found = rows.join(where, on="value", how="left", maintain_order="left")["place"]
    return found.cast(pl.Int32).fill_null(known.len()).to_numpy()

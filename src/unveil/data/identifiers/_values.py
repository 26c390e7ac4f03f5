"""Sample of one column: counts and some values as text."""

from functools import cached_property
from typing import TYPE_CHECKING

from unveil.data.identifiers import patterns
from unveil.data.table import Column
from unveil.data.table.coded_columns import CellColumn, lookup_of, value_counts

if TYPE_CHECKING:
    import polars as pl

#: So many different values are looked at, evenly spaced in their order.
SAMPLE = 4000
#: In fewer rows it says nothing that all values differ.
ENOUGH_ROWS = 20
#: Below this every whole number has a floating-point number of its own.
_EXACT = 2**53


class ColumnSample:
    """Column read once: counts of values and distinct values, and text samples."""

    def __init__(self, column: Column, cells: CellColumn) -> None:
        self.name, self.kind, self._cells = column.name, column.kind, cells
        #: Each value at least once.
        self.values = lookup_of(cells)[0]
        self.words = patterns.words_of(column.name)
        self.runs = patterns.runs_of(self.words)
        self.filled = cells.len() - cells.null_count()

    @cached_property
    def whole(self) -> bool:
        """True if all values are whole numbers, whatever their type."""
        if self.kind == "number" and self.values.dtype.is_float():
            return bool(((self.values == self.values.round(0)) & (self.values.abs() < _EXACT)).all())
        return self.values.dtype.is_integer()

    @cached_property
    def textual(self) -> bool:
        """True if the cells are text, not numbers or dates."""
        return self.kind in ("category", "text") or not (
            self.values.dtype.is_numeric() or self.values.dtype.is_temporal()
        )

    @cached_property
    def counted(self) -> "pl.DataFrame":
        """Different values, sorted, with how often each occurs."""
        import polars as pl

        counts = value_counts(self._cells)
        return counts.cast({"value": pl.Int64}) if self.whole and self.values.dtype.is_float() else counts

    @cached_property
    def distinct(self) -> int:
        """The number of different values."""
        return self.counted.height

    @cached_property
    def sample(self) -> "pl.DataFrame":
        """The different values that are looked at."""
        import polars as pl

        some = self.counted
        if self.distinct > SAMPLE:
            some = some[[place * (self.distinct - 1) // (SAMPLE - 1) for place in range(SAMPLE)]]
        return some.with_columns(pl.col("value").cast(pl.String).str.strip_chars())

    @cached_property
    def text(self) -> "pl.Series":
        """The sample's values as text."""
        return self.sample["value"]

    @cached_property
    def bare(self) -> "pl.Series":
        """The same in upper case without the signs that group digits."""
        return self.text.str.replace_all(r"[\s.\-/+]", "").str.to_uppercase()

    @cached_property
    def lettered(self) -> "pl.Series":
        """The same with an ``a`` for every letter of any alphabet."""
        return self.text.str.replace_all(r"\p{L}", "a")

    @cached_property
    def many(self) -> bool:
        """True if there are too many distinct values for categories."""
        return self.distinct >= min(ENOUGH_ROWS, self.filled / 2)

    @cached_property
    def length(self) -> float:
        """The middle number of signs of a value."""
        return float(self.text.str.len_chars().median() or 0)  # type: ignore[arg-type]

    def share(self, pattern: str) -> float:
        """Return the share of the values looked at that match."""
        return _share(self.text, pattern)

    @cached_property
    def dates(self) -> float:
        """The share of the values looked at that are written as dates are."""
        return _share(self.lettered, patterns.DATE)

    @cached_property
    def letters(self) -> float:
        """Share of sampled values that are a few words of letters."""
        return _share(self.lettered, patterns.LETTERS)


def _share(text: "pl.Series", pattern: str) -> float:
    return float(text.str.contains(pattern).mean() or 0.0)  # type: ignore[arg-type]

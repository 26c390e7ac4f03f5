"""Generalization hierarchies: original values of each level, read from a file."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.data.files.documents import read_document
from unveil.data.files.source import shown
from unveil.data.table._cell_texts import folded
from unveil.data.table.cells import texts_of
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Hierarchy"]


@dataclass(frozen=True, repr=False)
class Hierarchy:
    """Generalization hierarchy: each line lists a value and its broader levels.

    ``name`` is how messages call it. Words are compared without regard to case and outer blanks.

    Examples
    --------
    >>> jobs = Hierarchy((("nurse", "health", "*"), ("doctor", "health", "*"), ("cook", "kitchen", "*")), name="jobs")
    >>> sorted(jobs.below("Health".casefold()))
    ['doctor', 'nurse']
    """

    lines: tuple[tuple[str, ...], ...]
    name: str = "hierarchy"

    def __post_init__(self) -> None:
        lines = tuple(tuple(folded(word) for word in line) for line in self.lines)
        if not lines or any(len(line) < 2 for line in lines):
            short = next((number for number, line in enumerate(lines, 1) if len(line) < 2), 1)
            raise InputError(
                f"each line of the {self.name} must hold a value and at least one level, but line {short} does not. "
                "Write value;level;broader level, one value in each line"
            )
        object.__setattr__(self, "lines", lines)
        self._refuse_cycle()

    @classmethod
    def read(cls, path: str | Path) -> "Hierarchy":
        """Read a hierarchy file: ``value;level;broader level`` per line, as in ARX.

        Cells are separated by semicolons, or by tabs or commas where the first line has no semicolon.
        """
        path = Path(path)
        text = read_document(path)
        first = io.StringIO(text, newline=None).readline()
        sign = next((sign for sign in ";\t," if sign in first), ";")
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
        name = f"hierarchy {shown(path)}"
        try:
            return cls(tuple(tuple(line) for line in lines if any(map(str.strip, line))), name=name)
        except csv.Error:
            raise InputError(
                f"the {name} must hold words of at most {csv.field_size_limit():,} letters, but line "
                f"{lines.line_num} has a longer one. Check that every quote in it is closed"
            ) from None

    @cached_property
    def _below(self) -> dict[str, set[str]]:
        below: dict[str, set[str]] = {}
        for value, *labels in self.lines:
            for label in labels:
                below.setdefault(label, set()).add(value)
        return below

    def below(self, label: str) -> frozenset[str] | None:
        """Return the values below a folded label, None if it is none."""
        found = self._below.get(label)
        return None if found is None else frozenset(found)

    def wider(self, values: "pl.Series") -> "pl.Series":
        """Return a column generalized by one level; values without one stay.

        >>> import polars as pl
        >>> jobs = Hierarchy((("nurse", "health", "*"), ("cook", "kitchen", "*")))
        >>> jobs.wider(pl.Series("job", ["Nurse", "kitchen", None, "clerk"])).to_list()
        ['health', '*', None, 'clerk']
        """
        import polars as pl

        labels = {one: other for line in self.lines for one, other in pairwise(line)}
        texts = texts_of(values).to_list()
        shown = [None if text is None else labels.get(folded(text), text) for text in texts]
        return pl.Series(values.name, shown, dtype=pl.String)

    def check(self, values: "pl.Series", *, table: str) -> None:
        """Reject a hierarchy that lacks a value of the column."""
        have = {line[0] for line in self.lines}
        lost = [place for place, text in enumerate(_texts(values)) if text not in have]
        if lost:
            row = int(values.index_of(values.unique(maintain_order=True).drop_nulls()[lost[0]]) or 0)
            raise InputError(
                f"the {self.name} must hold every value of column {values.name!r} of the {table}, but lacks "
                f"{len(lost)} of them, the first in row {row + 1} (counted from 1 below the header). "
                "Add a line for each value"
            )

    def _refuse_cycle(self) -> None:
        """Refuse labels that are wider than themselves, in one line or over several."""
        wider: dict[str, set[str]] = {}
        for line in self.lines:
            for one, other in pairwise(line):
                if one != other:
                    wider.setdefault(one, set()).add(other)
        done: set[str] = set()
        for start in wider:
            path = _circle(start, wider, done)
            if path:
                number = next(place for place, line in enumerate(self.lines, 1) if set(path[:2]) <= set(line))
                raise InputError(
                    f"the levels of the {self.name} must not contain a cycle, but a level in line "
                    f"{number} is above itself. Give the broader level another name"
                )


def _texts(values: "pl.Series") -> Iterable[str]:
    return map(folded, texts_of(values.unique(maintain_order=True).drop_nulls()).to_list())


def _circle(start: str, wider: dict[str, set[str]], done: set[str]) -> Sequence[str]:
    """Return a cycle as a path, or an empty one."""
    path, on_path, open_ = [start], {start}, [iter(sorted(wider.get(start, ())))]
    while path:
        word = next(open_[-1], None)
        if word is None:
            open_.pop()
            on_path.discard(path[-1])
            done.add(path.pop())
        elif word in on_path:
            return [*path[path.index(word) :], word]
        elif word not in done:
            path.append(word)
            on_path.add(word)
            open_.append(iter(sorted(wider.get(word, ()))))
    return ()

"""Match column names across tables, allowing for spelling variants."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from unveil.data.table.table import Table

#: How alike two names must be, from 0 to 1, for the question whether one is meant for the other.
_NEARLY = 0.75


def plain_name(name: str) -> str:
    """Return a name without case, Unicode form, and separator differences.

    >>> plain_name(" Marital-STATUS "), plain_name("marital_status") == plain_name("marital.  status")
    ('marital status', True)
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s_.-]+", " ", unicodedata.normalize("NFKC", folded)).strip()


def renamed(names: Sequence[str], rename: Mapping[str, str], *, table: str) -> list[str]:
    """Return the new column names, which must be unused."""
    for old in rename:
        if old not in names:
            raise InputError(
                f"rename names column {old!r}, which is not in the {table}.{did_you_mean(old, names)} "
                "Correct the name, or leave it out"
            )
    new = [rename.get(name, name) for name in names]
    repeated = next((name for name, times in Counter(new).items() if times > 1), None)
    if repeated is not None:
        raise InputError(
            f"the columns of the {table} must have different names, but after rename more than one is called "
            f"{repeated!r}. Give each another name"
        )
    return new


def matched(original: "Table", other: "Table") -> "Table":
    """Return the other table with the original's spelling of names, and notes.

    A name is matched where its spelling is that of one column on either side; ``Age`` beside ``age`` in one table are
    two columns. A name that is left and nearly one of the original is asked about, because every column that is lost
    makes the risk look smaller.
    """
    own, theirs = (
        [name for name in one.column_names if name not in set(two.column_names)]
        for one, two in ((original, other), (other, original))
    )
    if not own or not theirs:
        return other
    spelled, times = _spellings(original.column_names), _spellings(other.column_names)
    taken = {
        name: spelled[plain][0]
        for name in theirs
        if len(times[plain := plain_name(name)]) == 1 and len(spelled.get(plain, ())) == 1 and spelled[plain][0] in own
    }
    notes = [f"{name!r} of the {other.name} is read as {meant!r}" for name, meant in taken.items()]
    renamed_there = [taken.get(name, name) for name in other.column_names]
    notes += [near_note(name, near, other.name) for name, near in _near(original.column_names, renamed_there)]
    columns = tuple(replace(column, name=taken.get(column.name, column.name)) for column in other.columns)
    new_notes = tuple(note for note in notes if note not in other.notes)
    return replace(other, columns=columns, content=other.content.rename(taken), notes=(*other.notes, *new_notes))


def near_names(original: "Table", other: "Table") -> tuple[tuple[str, str], ...]:
    """Return the unmatched columns with similar names in the original."""
    return _near(original.column_names, matched(original, other).column_names)


def _near(own: Sequence[str], theirs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    left = [name for name in own if name not in set(theirs)]
    odd = [name for name in theirs if name not in set(own)]
    return tuple((name, near) for name in odd if (near := _nearest(name, left)) is not None)


def near_note(name: str, near: str, table: str) -> str:
    """Return the question on an unmatched column with a similar name."""
    return (
        f"{name!r} of the {table} was left out; did you mean {near!r}? Rename it: {name}={near} (in Python "
        f"rename={{{name!r}: {near!r}}})"
    )


def _spellings(names: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(plain_name(name), []).append(name)
    return found


def _nearest(name: str, others: Sequence[str]) -> str | None:
    plain = {plain_name(other): other for other in others}
    near = difflib.get_close_matches(plain_name(name), plain, n=1, cutoff=_NEARLY)
    return plain[near[0]] if near else None

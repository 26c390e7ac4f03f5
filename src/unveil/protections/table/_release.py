"""Column choice and random row order shared by table protections."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.data.table.coded_columns import CellFrame
from unveil.data.table.release import Release, ReleaseKind
from unveil.errors import InputError, whole_number
from unveil.protections._listing import PROTECTIONS, facts_of
from unveil.protections.table._mechanism import MechanismPart, ProductMechanism, UnchangedColumns

if TYPE_CHECKING:
    import polars as pl


def released_columns(original: Table) -> list[str]:
    """Return the releasable columns: all but direct identifiers."""
    names = [column.name for column in original.columns if column.role != "identifier"]
    if not names:
        raise InputError(
            f"all {len(original.columns)} columns of the {original.name} are direct identifiers, so none can be "
            f"released. Give another role to those to be released"
        )
    return names


def named_columns(original: Table, columns: Sequence[str]) -> list[str]:
    """Return the named columns; raise InputError on unchangeable ones."""
    for name in columns:
        if original.column(name).role == "identifier":
            raise InputError(
                f"column {name!r} is a direct identifier and is not released, so it cannot be masked. "
                "Take it out of columns, or change its role"
            )
    return list(dict.fromkeys(columns))


def masked_columns(original: Table, columns: Sequence[str] | None, mask: object) -> list[str]:
    """Return the columns to mask (default: all of suitable type).

    Raises
    ------
    InputError
        If a column that was named is of another kind, or none was named and there is none of these kinds.
    """
    kept, facts = released_columns(original), facts_of(mask)
    wanted = f"{facts.name} is for columns of type {' or '.join(sorted(facts.suits))}"
    if columns is None:
        found = [name for name in kept if original.column(name).kind in facts.suits]
        if not found:
            others = _others_for({original.column(name).kind for name in kept})
            raise InputError(f"{wanted}, but the {original.name} has none. Take {others}")
        return found
    for name in named_columns(original, columns):
        kind = original.column(name).kind
        if kind not in facts.suits:
            raise InputError(
                f"{wanted}, but column {name!r} is of type {kind}. "
                f"Leave it out of columns, or take {_others_for({kind})} for it"
            )
    return named_columns(original, columns)


def _others_for(kinds: Collection[str]) -> str:
    """Return the methods that can mask columns of these types."""
    fitting = [
        each for each in PROTECTIONS.values() if set(kinds) <= set(each.suits) and "columns=none" in each.settings
    ]
    *names, last = (each.name for each in fitting)
    return f"{', '.join(names)} or {last}"


def check_columns(columns: object) -> None:
    """Refuse a setting that is neither a tuple of names nor None."""
    good = isinstance(columns, (tuple, list)) and columns and all(isinstance(name, str) for name in columns)
    if columns is not None and not good:
        raise InputError(f"columns is {columns!r}. Pass a tuple of column names, or None for all")


def check_group_size(k: object) -> None:
    """Refuse a setting that is no size of a group."""
    whole_number(k, "k", at_least=2, advice="A group of one is unique: take 2 or more")


def check_enough_rows(k: int, original: Table) -> None:
    """Refuse a group size above the number of rows."""
    if k > original.rows:
        raise InputError(
            f"k is {k}, but the {original.name} has {original.rows} rows. Take a smaller k, or a larger table"
        )


def said_to_stay(original: Table, masked: Collection[str]) -> tuple[str, ...]:
    """Return the note on unmasked columns, if any."""
    rest = [name for name in released_columns(original) if name not in masked]
    many = "columns" if len(rest) > 1 else "column"
    return (f"{len(rest)} {many} not changed: {', '.join(map(repr, rest))}",) if rest else ()


def masked_release(
    original: Table,
    frame: "pl.DataFrame",
    masked: Sequence[str],
    parts: Sequence[MechanismPart],
    *,
    name: str,
    shuffle: bool,
    rng: np.random.Generator,
    notes: tuple[str, ...] = (),
    mechanism: Callable[[tuple[MechanismPart, ...]], Mechanism] = ProductMechanism,
) -> Release:
    """Return the release of a mask with known likelihood parts.

    A masked column that no part speaks for is one with one value only.
    """
    spoken_for = {column for part in parts for column in part.names}
    rest = tuple(column for column in released_columns(original) if column not in spoken_for)
    stayed = tuple(
        f"column {column!r} has only one value and was not changed" for column in masked if column not in spoken_for
    )
    return release_of(
        original,
        frame,
        name=name,
        kind="masked",
        rng=rng,
        notes=said_to_stay(original, masked) + stayed + notes,
        shuffle=shuffle,
        mechanism=mechanism((*parts, UnchangedColumns(rest))),
    )


def _markers_of(
    before: "pl.Series",
    marked: "pl.Series",
    after: "pl.Series",
    truth: "IntArray | None",
    even: bool,
    rng: np.random.Generator,
) -> "pl.Series":
    """Return the marker that each released cell holds.

    A word has the marker that it has in the original. A missing value keeps the marker of the row that it was made
    from, and has none where that row had a value; where missing values were moved or drawn, each takes the marker of
    one of the original's, or any of these markers as likely where it must be ``even``.
    """
    import polars as pl

    held = np.zeros(after.len(), np.uint8)
    if before.dtype == pl.String:
        words = pl.DataFrame({"word": before, "marker": marked}).filter(before.is_not_null()).unique()
        found = after.replace_strict(words["word"], words["marker"], default=0, return_dtype=pl.UInt8)
        held = found.fill_null(0).to_numpy().copy()
    empty, gone = before.is_null().to_numpy(), after.is_null().to_numpy()
    if truth is not None and (empty[truth] <= gone).all():
        held[gone] = np.where(empty[truth], marked.to_numpy()[truth], 0)[gone]
    elif empty.any():
        own = np.unique(marked.to_numpy()[empty]) if even else marked.to_numpy()[empty]
        held[gone] = own[0] if (own == own[0]).all() else rng.choice(own, int(gone.sum()))
    return pl.Series(after.name, held)


def release_of(
    original: Table,
    frame: "pl.DataFrame",
    *,
    name: str,
    kind: ReleaseKind,
    rng: np.random.Generator,
    notes: tuple[str, ...] = (),
    shuffle: bool = True,
    mechanism: Mechanism | None = None,
    even_markers: bool = False,
) -> Release:
    """Return the release of protected cells ``frame``, types and roles kept.

    The rows of a masked one, of which row i was made from row i of the original, are put in random order unless
    ``shuffle`` says no, and the release knows whose each of them is. With ``even_markers`` drawn missing values tell
    nothing of how many of the original's have which marker.
    """
    truth = None
    if kind == "masked":
        truth = rng.permutation(frame.height) if shuffle else np.arange(frame.height)
        frame = frame[truth] if shuffle else frame
        if not shuffle and frame.height > 1:
            notes += ("the rows are in the order of the original, which reveals the person behind each",)
    # They have the kinds and markers of the original, and need not be read again to agree with it.
    columns = tuple(
        replace(original.column(series.name), missing=series.null_count(), follows=True) for series in frame
    )
    marked = {
        series.name: _markers_of(
            original.series(series.name), original.marked[series.name], series, truth, even_markers, rng
        )
        for series in frame
        if series.name in original.marked
    }
    released = Table(f"{name} table", columns, CellFrame(frame.to_dict()), marked=marked)
    return Release(original, released, kind=kind, name=name, notes=notes, truth=truth, mechanism=mechanism)

"""Mechanism of a file masked by a declared method, or evidence against."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.mechanism import Mechanism
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guesses.candidates import NOBODY
from unveil.guesses.posterior import likelihood_of
from unveil.protections.specification import protection_text
from unveil.protections.table._mechanism import MechanismPart, RecodedColumns, SingleColumn, UnchangedColumns
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism, Refutation, listed
from unveil.protections.table._release import released_columns

#: Releases that the declared method makes of the original, to see what it does.
_MADE = 24
#: Standard deviations from what they do at which a file is no longer one of them: less than one in 10,000.
_FAR = 5.0
#: Rows that are compared with these releases.
_COMPARED = 400
#: Rows whose chances are looked at together, and pairs of rows of a method of the user's own.
_AT_ONCE = 500
_PAIRS_AT_ONCE = 4_000_000
_NOT_THEIRS = "cannot come from their original row"


class DeclaredMethod(NamedTuple):
    """Mechanism of a declared method, or None with the refuting sentences."""

    mechanism: Mechanism | None
    against: tuple[str, ...] = ()
    #: How many released rows cannot have come from their original row; 0 where only all rows together show it.
    refuting: int = 0


def declared_mechanism(
    protection: object,
    original: Table,
    released: Table,
    truth: IntArray,
    *,
    only: Collection[str] | None = None,
    rng: np.random.Generator,
) -> DeclaredMethod:
    """Return the mechanism of a file with a declared protection.

    Parameters
    ----------
    protection
        A protection of tables that masks, or an object of your own class with the method ``log_likelihood``
        (:class:`unveil.data.mechanism.Mechanism`).
    original, released
        The tables, which must agree (:func:`unveil.data.table.agree`).
    truth
        The original row of each released one, counted from 0; -1 for none. Groups are read from it, and it shows
        where the method cannot have made the file.
    only
        The columns that the file is looked at in; all by default. What became of the others does not matter then.
    rng
        For releases that the method makes here, to compare the file with.

    Raises
    ------
    InputError
        If the method cannot be declared, or not for such tables.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.protections import AdditiveNoise
    >>> people = Table.from_frame(pl.DataFrame({"age": range(20, 60)}), name="original")
    >>> release = AdditiveNoise(scale=0.5).apply(people, rng=np.random.default_rng(1))
    >>> for scale in (0.5, 0.02):
    ...     found = declared_mechanism(
    ...         AdditiveNoise(scale=scale), people, release.released, release.truth, rng=np.random.default_rng(2)
    ...     )
    ...     print(found.mechanism is not None, len(found.against))
    True 0
    False 1
    """
    made = DeclaredFile(original, released, np.asarray(truth, np.int64))
    recognize = getattr(protection, "declared", None)
    if not callable(recognize):
        return _own_mechanism(protection, made, only)
    found: RecognizedMechanism = recognize(made)
    spoken_for = {name for part in found.parts for name in part.names}
    rest = tuple(name for name in released_columns(original) if name not in spoken_for)
    parts = (*found.parts, *((UnchangedColumns(rest),) if rest else ()))
    seen = DeclaredFile(original, released if only is None else released.select(list(only)), made.truth)
    against = (*found.against, *_impossible(seen, parts, found.against))
    if not against:
        against = tuple(_unlike(protection, seen, found.parts, rng))
    if not against:
        return DeclaredMethod(found.mechanism(parts))
    refuting = np.unique(np.concatenate([each.rows for each in against]))
    return DeclaredMethod(None, tuple(each.sentence for each in against if each.sentence), refuting.size)


def _own_mechanism(protection: Any, file: DeclaredFile, only: Collection[str] | None) -> DeclaredMethod:
    """Return a user's own mechanism, unless released rows are impossible."""
    if not callable(getattr(protection, "log_likelihood", None)):
        raise InputError(
            f"{protection_text(protection)} cannot be declared for a release made elsewhere, because it does not mask "
            "row by row. Choose a protection of kind masked ('unveil list protections'), "
            "or give your class the method log_likelihood"
        )
    names = list(file.released.column_names if only is None else only)
    before, after = file.original.select(names), file.released.select(names)
    somebody = np.flatnonzero(file.truth != NOBODY)
    step = max(1, _PAIRS_AT_ONCE // file.original.rows)
    own = [np.empty(0)]
    for begin in range(0, somebody.size, step):
        rows = somebody[begin : begin + step]
        own.append(likelihood_of(protection, before, after, rows)[np.arange(rows.size), file.truth[rows]])
    wrong = somebody[np.isneginf(np.concatenate(own))]
    if not wrong.size:
        return DeclaredMethod(protection)
    return DeclaredMethod(None, (f"{_which_rows(wrong, somebody)} {_NOT_THEIRS}",), wrong.size)


def _which_rows(wrong: IntArray, somebody: IntArray) -> str:
    first = f"the first of them released row {wrong[0] + 1} (counted from 1)"
    return f"{wrong.size} of {somebody.size} rows, {first},"


def _impossible(
    file: DeclaredFile, parts: Sequence[MechanismPart], known: Sequence[Refutation]
) -> Iterator[Refutation]:
    """Yield a refutation for each part with impossible rows.

    It has no sentence where one on the same columns is ``known``.
    """
    somebody = np.flatnonzero(file.truth != NOBODY)
    alone = [UnchangedColumns((name,)) for part in parts if isinstance(part, UnchangedColumns) for name in part.names]
    for part in (*(each for each in parts if not isinstance(each, UnchangedColumns)), *alone):
        names = [name for name in part.names if name in file.released.column_names]
        if isinstance(part, RecodedColumns) or not names:  # read from these very rows
            continue
        apart = _other_kind(file, names, part)
        if apart:
            sentence = "cells are ranges or not numbers, which the method does not produce"
            yield Refutation(f"{listed(apart)}: {sentence}", somebody[_of_other_kind(file, apart)[somebody]])
            continue
        wrong = somebody[np.isneginf(_own_chances(part, file.original, file.released, file.truth, somebody))]
        if not wrong.size:
            continue
        many = _which_rows(wrong, somebody)
        if any(listed(names) in each.sentence for each in known):
            sentence = ""
        elif isinstance(part, UnchangedColumns):
            sentence = f"{listed(names)}: changed in {many} although the method does not change it"
        else:
            sentence = f"{listed(names)}: the cells of {many} {_NOT_THEIRS}"
        yield Refutation(sentence, wrong)


def _other_kind(file: DeclaredFile, names: Sequence[str], part: MechanismPart) -> list[str]:
    """Return columns with released texts where the original has another type."""
    import polars as pl

    if not isinstance(part, SingleColumn):
        texts = [(file.released.series(name).dtype == pl.String, file.original.series(name).dtype) for name in names]
        return [name for name, (text, kind) in zip(names, texts, strict=True) if text and kind != pl.String]
    held = file.released.held(part.name).texts() if file.released.series(part.name).dtype == pl.String else None
    starred = type(part) is not SingleColumn
    return [part.name] if held is not None and part.values.dtype != pl.String and not starred else []


def _of_other_kind(file: DeclaredFile, names: Sequence[str]) -> BoolArray:
    """Return released rows with such a text in these columns."""
    texts = file.texts(names)
    kinds = file.original.content.schema
    wrong = np.zeros(file.released.rows, np.bool_)
    for name in names:
        wrong |= (texts[name].is_not_null() & texts[name].cast(kinds[name], strict=False).is_null()).to_numpy()
    return wrong


def _own_chances(part: MechanismPart, original: Table, released: Table, truth: IntArray, rows: IntArray) -> FloatArray:
    """Return log-probabilities of released rows given their own original row."""
    names = [name for name in part.names if name in released.column_names]
    if not names:
        return np.zeros(rows.size)
    before, after = original.select(names), released.select(names)
    found = [np.empty(0)]
    for begin in range(0, rows.size, _AT_ONCE):
        some = rows[begin : begin + _AT_ONCE]
        found.append(part.log_chance(before, after.take(some), np.arange(some.size), truth[some]))
    return np.concatenate(found)


def _unlike(
    protection: object, file: DeclaredFile, parts: Sequence[MechanismPart], rng: np.random.Generator
) -> Iterator[Refutation]:
    """Yield a refutation for each part with an implausible amount of change."""
    chance = [part for part in parts if not isinstance(part, (RecodedColumns, UnchangedColumns))]
    apply = getattr(protection, "apply", None)
    somebody = np.flatnonzero(file.truth != NOBODY)
    if not chance or apply is None or somebody.size < 2:
        return
    rows = rng.choice(somebody, min(somebody.size, _COMPARED), replace=False)
    own = [float(_own_chances(part, file.original, file.released, file.truth, rows).sum()) for part in chance]
    others: list[list[float]] = []
    for _ in range(_MADE):
        release = apply(file.original, rng=rng)
        some = rng.choice(release.released.rows, rows.size, replace=rows.size > release.released.rows)
        others.append(
            [float(_own_chances(part, file.original, release.released, release.truth, some).sum()) for part in chance]
        )
    middle, spread = np.mean(others, axis=0), np.std(others, axis=0, ddof=1)
    for part, mine, mean, size in zip(chance, own, middle, spread, strict=True):
        # Where all releases are alike by rounding only, there is nothing to compare with.
        if size > 1e-9 * max(1.0, abs(mean)) and abs(mine - mean) > _FAR * size:
            yield Refutation(
                f"{listed(list(part.names))}: the amount of change does not fit the declared method. {_MADE} test "
                f"releases lie {abs(mine - mean) / size:.0f} standard deviations away, so other settings or another "
                "method were used"
            )

"""Read the attacker's knowledge and the truth from files."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unveil.data.files.source import shown
from unveil.data.matrices.square_matrix import MatrixFile
from unveil.errors import InputError
from unveil.guesses import Dataflow, Matching, MatchingDistribution, UnequalMatching
from unveil.guesses._pairing import of_file
from unveil.metrics.matchings._random_matchings import Attack
from unveil.questions.matching.settings import MatchingSettings
from unveil.report.progress import Progress

PathLike = str | Path
#: The settings that can hold a release, in the order in which they are looked for.
_RELEASES = ("transactions", "frequencies", "matchings", "dataflow", "matrix")

# A matrix of weights in which the longer side is more than this many times the shorter is taken for a survey.
_LOPSIDED = 3


class MatchingInputs(NamedTuple):
    """The attacker's knowledge, the truth, groups, sets, and notes.

    ``releases`` are the attacks with one release alone, by the name of its file, where there are several.
    """

    guess: Attack
    truth: Any
    groups: Any
    sets: Any
    notes: tuple[str, ...]
    releases: tuple[tuple[str, Attack], ...] = ()


def read(guess: Any, truth: Any, settings: MatchingSettings, *, progress: Progress) -> MatchingInputs:
    """Return the attacker's knowledge and the truth, checked; arguments as in `matching`."""
    from unveil.data.matrices.matchings import read_truth

    settings = settings if guess is None else replace(settings, matrix=guess)
    given = [
        name for name in ("matrix", "frequency_ranges", "matchings", "dataflow") if getattr(settings, name) is not None
    ]
    if len(given) != 1:
        raise InputError(
            "The attacker's knowledge needs exactly one of guess, frequency_ranges, matchings and dataflow, but "
            f"{len(given)} were given. Pass one"
        )
    if truth is None and (settings.equivalent is not None or settings.sets is not None):
        raise InputError("Equivalent items and item sets need the true pseudonyms. Pass truth")
    progress("reading", 0.0)
    release = next(name for name in _RELEASES if getattr(settings, name) is not None or name == "matrix")
    further = [_further(settings, release, each, number) for number, each in enumerate(settings.also, start=2)]
    names = [_name(getattr(settings, release), 1), *(name for name, _ in further)]
    attacks = [_attack(settings), *(_attack(each) for _, each in further)]
    whole = combined([one for one, _ in attacks]) if further else attacks[0][0]
    progress("reading", 0.5)
    return MatchingInputs(
        whole,
        read_truth(truth, whole) if isinstance(truth, PathLike) else truth,
        read_groups(settings.equivalent, whole) if isinstance(settings.equivalent, PathLike) else settings.equivalent,
        read_sets(settings.sets, whole) if isinstance(settings.sets, PathLike) else settings.sets,
        tuple(note for _, some in attacks for note in some),
        tuple((name, one) for name, (one, _) in zip(names, attacks, strict=True)) if further else (),
    )


def _further(settings: MatchingSettings, release: str, given: Any, number: int) -> tuple[str, MatchingSettings]:
    """Return the name and settings of a further release."""
    named = isinstance(given, (list, tuple)) and len(given) == 2 and isinstance(given[0], str)
    name, one = given if named else (_name(given, number), given)
    return name, replace(settings, **{release: one})


def _name(given: Any, number: int) -> str:
    return Path(given).name if isinstance(given, PathLike) else f"release {number}"


def combined(attacks: Sequence[Attack]) -> Attack:
    """Return the attack on all releases together, which share one type."""
    first, *others = attacks
    for kind in (Matching, UnequalMatching, MatchingDistribution):
        if isinstance(first, kind):
            same = [other for other in others if isinstance(other, kind)]
            if len(same) == len(others):
                return first.combined(*same)  # type: ignore[arg-type]
    raise InputError(
        "The releases differ in type: all need the same pseudonyms and items, all matrices or all listed "
        "matchings. Give each the same rows and columns"
    )


def _attack(settings: MatchingSettings) -> tuple[Attack, tuple[str, ...]]:
    if settings.frequency_ranges is not None:
        return _of_ranges(settings)
    return _of_one(settings), ()


def _of_one(settings: MatchingSettings) -> Attack:
    from unveil.data.matrices.matchings import read_matrix

    if settings.matchings is not None:
        return MatchingDistribution.read(settings.matchings)
    if settings.dataflow is not None:
        network = Dataflow.read(settings.dataflow)
        with of_file(settings.dataflow):
            return Matching.from_dataflow(network)
    if not isinstance(settings.matrix, PathLike):
        return _of_matrix(settings.matrix, settings.matched)
    file = read_matrix(settings.matrix, square=False)
    rows, columns = file.matrix.shape
    if settings.matched is None:
        _refuse_survey(file, settings.matrix)
    with of_file(settings.matrix):
        if rows == columns and settings.matched in (None, rows):
            return Matching(*file)
        return UnequalMatching(*file, settings.matched)


def _of_matrix(guess: Any, pairs: int | None) -> Attack:
    if isinstance(guess, (Matching, MatchingDistribution, UnequalMatching)):
        return guess
    shape = tuple(guess.shape if hasattr(guess, "shape") else np.shape(guess) if _is_rows(guess) else ())
    if len(shape) == 2 and (len(set(shape)) == 2 or pairs not in (None, shape[0])):
        return UnequalMatching(guess, pairs=pairs)
    return Matching.from_matrix(guess)


def _is_rows(guess: Any) -> bool:
    """Return whether rows of one length were given; anything else is refused later, with a sentence."""
    return isinstance(guess, (list, tuple)) and len({len(row) for row in guess if hasattr(row, "__len__")}) == 1


def _refuse_survey(file: MatrixFile, path: PathLike) -> None:
    """Reject a matrix that looks like a table of people.

    A matrix of 0 and 1 or of probabilities may have any shape. Weights above 1 may too, but of a shape that leaves most
    items or pseudonyms alone somebody must have said how many pairs there are.
    """
    rows, columns = file.matrix.shape
    few, many = sorted((rows, columns))
    if many <= _LOPSIDED * few or float(file.matrix.max()) <= 1:
        return
    raise InputError(
        f"{shown(Path(path))} has {rows:,} rows, {columns:,} columns and numbers above 1, so it looks like a "
        f"table of people. Only {few:,} of {many:,} could be paired. Pass one row per item and one column per "
        "pseudonym ('unveil audit' takes tables of people). If these are weights, state how many items have "
        f"a pseudonym: {few}"
    )


def _of_ranges(settings: MatchingSettings) -> tuple[Attack, tuple[str, ...]]:
    from unveil.data.matrices.matchings import read_frequencies, read_ranges, read_transactions

    transactions, frequencies, pairs = settings.transactions, settings.frequencies, settings.matched
    if (transactions is None) == (frequencies is None):
        seen = "none" if transactions is None else "both"
        raise InputError(f"ranges needs transactions or frequencies, but {seen} were given. Pass one of the two")
    known = read_ranges(settings.frequency_ranges)
    counted = read_frequencies(frequencies) if transactions is None else read_transactions(transactions)
    source = frequencies if transactions is None else transactions
    names = {"items": known.items, "pseudonyms": counted.pseudonyms}
    with of_file(settings.frequency_ranges, f" beside {shown(Path(source))}"):
        if len(known.items) == len(counted.pseudonyms) and pairs in (None, len(known.items)):
            return Matching.from_ranges(known.low, known.high, counted.frequency, **names), counted.notes
        guess = UnequalMatching.from_ranges(known.low, known.high, counted.frequency, **names, pairs=pairs)
    return guess, counted.notes


def read_groups(path: PathLike, guess: Attack) -> tuple[str, ...]:
    """Return the group of each item, from columns ``item`` and ``group``.

    Where the adversary's matrix has no names, items are the numbers of its rows, counted from 1. Raises InputError
    with the row where a cell is empty, an item is unknown or comes twice, or if items are missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "groups.csv")
    ...     _ = file.write_text("item,group" + chr(10) + "2,viral" + chr(10) + "1,other" + chr(10))
    ...     read_groups(file, Matching([[1, 1], [1, 1]]))
    ('other', 'viral')
    """
    import polars as pl

    from unveil.data.files.read import read_table, refuse_cells, refuse_repeats

    frame = read_table(path, {"item": "item", "group": "group"}, complete=["item", "group"])
    refuse_repeats(frame, path, ["item"])
    known = pl.DataFrame({"item": pl.Series(_names(guess), dtype=pl.String)})
    refuse_cells(~frame["item"].is_in(known["item"].implode()), path, "item", _must(guess))
    if frame.height < guess.n:
        raise InputError(
            f"{shown(Path(path))} lacks the group of {guess.n - frame.height} of {guess.n} items. Add a row for each"
        )
    return tuple(known.join(frame, on="item", how="left", maintain_order="left")["group"])


def read_sets(path: PathLike, guess: Attack) -> dict[str, list[str]]:
    """Return the items of each set, from columns ``set`` and ``item``.

    An item may be in several sets, or in none. Items without names are the numbers of rows, counted from 1; what is
    returned then counts from 0, as :func:`unveil.matching` takes it. Raises InputError with the row where a cell is
    empty, an item is unknown, or a set has it twice.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "sets.csv")
    ...     _ = file.write_text("set,item" + chr(10) + "a,1" + chr(10) + "b,1" + chr(10) + "b,2" + chr(10))
    ...     read_sets(file, Matching([[1, 1], [1, 1]]))
    {'a': ['0'], 'b': ['0', '1']}
    """
    import polars as pl

    from unveil.data.files.read import read_table, refuse_cells, refuse_repeats

    frame = read_table(path, {"set": "set", "item": "item"}, complete=["set", "item"])
    refuse_repeats(frame, path, ["set", "item"])
    known = pl.Series(_names(guess), dtype=pl.String)
    refuse_cells(~frame["item"].is_in(known.implode()), path, "item", _must(guess))
    found: dict[str, list[str]] = {}
    for name, item in frame.iter_rows():
        found.setdefault(name, []).append(item if guess.items else str(int(item) - 1))
    return found


def _names(guess: Attack) -> tuple[str, ...]:
    return guess.items or tuple(str(number) for number in range(1, guess.n + 1))


def _must(guess: Attack) -> str:
    return "name an item of the attack" if guess.items else f"hold a whole number from 1 to {guess.n}"

"""The question about matchings asked of files: what the adversary holds, and the true token of each entry."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.data.matrices.square_matrix import MatrixFile
from unveil.errors import InputError
from unveil.guesses import Dataflow, Matching, MatchingDistribution, UnequalMatching
from unveil.guesses._pairing import of_file
from unveil.metrics.matchings._random_matchings import Attack
from unveil.report.progress import Progress

PathLike = str | Path

# A matrix of weights in which the longer side is more than this many times the shorter is taken for a survey.
_LOPSIDED = 3


class MatchingInputs(NamedTuple):
    """What the adversary holds, the true token, the group and the sets of entries if told, and what has to be said.

    ``releases`` are the attacks with one release alone, by the name of its file, where there are several.
    """

    guess: Attack
    truth: IntArray | None
    groups: tuple[str, ...] | None
    sets: dict[str, list[str]] | None
    notes: tuple[str, ...]
    releases: tuple[tuple[str, Attack], ...] = ()


class _KnowledgeFiles(NamedTuple):
    """The files with the attacker's knowledge, one of them given; ``pairs`` as in `matching_files`."""

    matrix: PathLike | None
    ranges: PathLike | None
    transactions: PathLike | None
    frequencies: PathLike | None
    matchings: PathLike | None
    dataflow: PathLike | None
    pairs: int | None

    def of_further(self, path: PathLike) -> "_KnowledgeFiles":
        """Return the same with a further release of the same kind."""
        if self.transactions is not None:
            return self._replace(transactions=path)
        if self.frequencies is not None:
            return self._replace(frequencies=path)
        if self.matchings is not None:
            return self._replace(matchings=path)
        return self._replace(matrix=path) if self.matrix is not None else self._replace(dataflow=path)

    @property
    def release(self) -> PathLike:
        """The file of the release."""
        files = (self.matrix, self.transactions, self.frequencies, self.matchings, self.dataflow)
        return next(path for path in files if path is not None)


def read(
    matrix: PathLike | None,
    truth: PathLike | None,
    *,
    ranges: PathLike | None,
    transactions: PathLike | None,
    frequencies: PathLike | None,
    matchings: PathLike | None,
    dataflow: PathLike | None,
    groups: PathLike | None,
    sets: PathLike | None,
    also: Sequence[PathLike],
    pairs: int | None,
    progress: Progress,
) -> MatchingInputs:
    """Return what the files hold, checked; the arguments are those of `matching_files`."""
    from unveil.data.matrices.matchings import read_truth

    told = [path for path in (matrix, ranges, matchings, dataflow) if path is not None]
    if len(told) != 1:
        raise InputError(
            "exactly one of matrix, ranges, matchings and dataflow must say what the adversary holds, but "
            f"{len(told)} of them do. Pass one"
        )
    if truth is None and (groups is not None or sets is not None):
        raise InputError("groups and sets are found by their true tokens, but no truth was given. Pass it too")
    progress("reading", 0.0)
    held = _KnowledgeFiles(matrix, ranges, transactions, frequencies, matchings, dataflow, pairs)
    guess, notes = _attack(held)
    releases: tuple[tuple[str, Attack], ...] = ()
    if also:
        further = [held, *(held.of_further(path) for path in also)]
        attacks = [(guess, notes), *(_attack(each) for each in further[1:])]
        releases = tuple((Path(each.release).name, one) for each, (one, _) in zip(further, attacks, strict=True))
        notes = tuple(note for _, some in attacks for note in some)
        guess = combined([one for one, _ in attacks])
    progress("reading", 0.5)
    return MatchingInputs(
        guess,
        None if truth is None else read_truth(truth, guess),
        None if groups is None else read_groups(groups, guess),
        None if sets is None else read_sets(sets, guess),
        notes,
        releases,
    )


def combined(attacks: Sequence[Attack]) -> Attack:
    """Return the attack with all releases together; they must be of one kind."""
    first, *others = attacks
    for kind in (Matching, UnequalMatching, MatchingDistribution):
        if isinstance(first, kind):
            same = [other for other in others if isinstance(other, kind)]
            if len(same) == len(others):
                return first.combined(*same)  # type: ignore[arg-type]
    raise InputError(
        "all releases must be under the same tokens and of the same kind, but some have as many entries as tokens and "
        "others have not, or some are matrices and others matchings. Give each the rows and columns of the others"
    )


def _attack(held: _KnowledgeFiles) -> tuple[Attack, tuple[str, ...]]:
    if held.ranges is not None:
        return _of_ranges(held.ranges, held.transactions, held.frequencies, held.pairs)
    return _of_one_file(held), ()


def _of_one_file(held: _KnowledgeFiles) -> Attack:
    from unveil.data.matrices.matchings import read_matrix

    if held.matchings is not None:
        return MatchingDistribution.read(held.matchings)
    if held.dataflow is not None:
        network = Dataflow.read(held.dataflow)
        with of_file(held.dataflow):
            return Matching.from_dataflow(network)
    if held.matrix is None:
        raise InputError("a file must say what the adversary holds, but there is none. Pass a matrix")
    file = read_matrix(held.matrix, square=False)
    rows, columns = file.matrix.shape
    if held.pairs is None:
        _refuse_survey(file, held.matrix)
    with of_file(held.matrix):
        if rows == columns and held.pairs in (None, rows):
            return Matching(*file)
        return UnequalMatching(*file, held.pairs)


def _refuse_survey(file: MatrixFile, path: PathLike) -> None:
    """Refuse a table of people and their answers: far from square, and with numbers that are no chances.

    A matrix of 0 and 1 or of probabilities may have any shape. Weights above 1 may too, but of a shape that leaves most
    entries or tokens alone somebody must have said how many pairs there are.
    """
    rows, columns = file.matrix.shape
    few, many = sorted((rows, columns))
    if many <= _LOPSIDED * few or float(file.matrix.max()) <= 1:
        return
    raise InputError(
        f"the matrix of {shown(Path(path))} has {rows:,} rows, {columns:,} columns and numbers above 1, so it looks "
        f"like a table of people and their answers, where only {few:,} of {many:,} could be paired. Pass one row per "
        "entry and one column per token, with the weight of each pair ('unveil audit' takes tables of people); if "
        f"these are weights, add how many entries have a token: --pairs {few}"
    )


def _of_ranges(
    ranges: PathLike, transactions: PathLike | None, frequencies: PathLike | None, pairs: int | None
) -> tuple[Attack, tuple[str, ...]]:
    from unveil.data.matrices.matchings import read_frequencies, read_ranges, read_transactions

    if (transactions is None) == (frequencies is None):
        seen = "none" if transactions is None else "both"
        raise InputError(
            f"ranges need the released transactions or the frequencies of tokens beside them, but {seen} were given. "
            "Pass one of the two"
        )
    known = read_ranges(ranges)
    if transactions is not None:
        counted, source = read_transactions(transactions), transactions
    else:
        counted, source = read_frequencies(str(frequencies)), str(frequencies)
    names = {"entries": known.entries, "tokens": counted.tokens}
    with of_file(ranges, f" beside {shown(Path(source))}"):
        if len(known.entries) == len(counted.tokens) and pairs in (None, len(known.entries)):
            return Matching.from_ranges(known.low, known.high, counted.frequency, **names), counted.notes
        guess = UnequalMatching.from_ranges(known.low, known.high, counted.frequency, **names, pairs=pairs)
    return guess, counted.notes


def read_groups(path: PathLike, guess: Attack) -> tuple[str, ...]:
    """Return the group of each entry, from the columns ``entry`` and ``group``.

    Where the adversary's matrix has no names, entries are the numbers of its rows, counted from 1. Raises InputError
    with the row where a cell is empty, an entry is unknown or comes twice, or if entries are missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "groups.csv")
    ...     _ = file.write_text("entry,group" + chr(10) + "2,viral" + chr(10) + "1,other" + chr(10))
    ...     read_groups(file, Matching([[1, 1], [1, 1]]))
    ('other', 'viral')
    """
    import polars as pl

    from unveil.data.files.read import read_table, refuse_cells, refuse_repeats

    frame = read_table(path, {"entry": "entry", "group": "group"}, complete=["entry", "group"])
    refuse_repeats(frame, path, ["entry"])
    known = pl.DataFrame({"entry": pl.Series(_names(guess), dtype=pl.String)})
    refuse_cells(~frame["entry"].is_in(known["entry"].implode()), path, "entry", _must(guess))
    if frame.height < guess.n:
        raise InputError(
            f"{shown(Path(path))} must give the group of each of the {guess.n} entries, but lacks "
            f"{guess.n - frame.height}. Add a row for each of them"
        )
    return tuple(known.join(frame, on="entry", how="left", maintain_order="left")["group"])


def read_sets(path: PathLike, guess: Attack) -> dict[str, list[str]]:
    """Return the entries of each set, from the columns ``set`` and ``entry``: a row for each entry of each set.

    An entry may be in several sets, or in none. Entries without names are the numbers of rows, counted from 1; what is
    returned then counts from 0, as :func:`unveil.matching` takes it. Raises InputError with the row where a cell is
    empty, an entry is unknown, or a set has it twice.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "sets.csv")
    ...     _ = file.write_text("set,entry" + chr(10) + "a,1" + chr(10) + "b,1" + chr(10) + "b,2" + chr(10))
    ...     read_sets(file, Matching([[1, 1], [1, 1]]))
    {'a': ['0'], 'b': ['0', '1']}
    """
    import polars as pl

    from unveil.data.files.read import read_table, refuse_cells, refuse_repeats

    frame = read_table(path, {"set": "set", "entry": "entry"}, complete=["set", "entry"])
    refuse_repeats(frame, path, ["set", "entry"])
    known = pl.Series(_names(guess), dtype=pl.String)
    refuse_cells(~frame["entry"].is_in(known.implode()), path, "entry", _must(guess))
    found: dict[str, list[str]] = {}
    for name, entry in frame.iter_rows():
        found.setdefault(name, []).append(entry if guess.entries else str(int(entry) - 1))
    return found


def _names(guess: Attack) -> tuple[str, ...]:
    return guess.entries or tuple(str(number) for number in range(1, guess.n + 1))


def _must(guess: Attack) -> str:
    return "name an entry of the attack" if guess.entries else f"hold a whole number from 1 to {guess.n}"

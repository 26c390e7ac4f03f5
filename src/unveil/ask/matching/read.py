"""The question about matchings asked of files: what the adversary holds, and the true token of each entry."""

from pathlib import Path
from typing import NamedTuple

from unveil._kernels.types import IntArray
from unveil.data.files.source import shown
from unveil.errors import InputError
from unveil.guess import Dataflow, Matching, MatchingDistribution
from unveil.guess._pairing import of_file
from unveil.show.progress import Progress

PathLike = str | Path
Guess = Matching | MatchingDistribution


class MatchingInputs(NamedTuple):
    """What the adversary holds, the true token and perhaps the group of each entry, and what has to be said."""

    guess: Guess
    truth: IntArray
    groups: tuple[str, ...] | None
    notes: tuple[str, ...]


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
    if truth is None:
        raise InputError("cracks are counted against the truth, but none was given. Pass the file with entry,token")
    progress("reading", 0.0)
    guess, notes = (
        _of_ranges(ranges, transactions, frequencies)
        if ranges is not None
        else (_of_one_file(matrix, matchings, dataflow), ())
    )
    progress("reading", 0.5)
    numbers = read_truth(truth, guess)
    return MatchingInputs(guess, numbers, None if groups is None else read_groups(groups, guess), notes)


def _of_one_file(matrix: PathLike | None, matchings: PathLike | None, dataflow: PathLike | None) -> Guess:
    if matchings is not None:
        return MatchingDistribution.read(matchings)
    if dataflow is not None:
        network = Dataflow.read(dataflow)
        with of_file(dataflow):
            return Matching.from_dataflow(network)
    if matrix is None:
        raise InputError("a file must say what the adversary holds, but there is none. Pass a matrix")
    return Matching.read(matrix)


def _of_ranges(
    ranges: PathLike, transactions: PathLike | None, frequencies: PathLike | None
) -> tuple[Matching, tuple[str, ...]]:
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
    with of_file(ranges, f" beside {shown(Path(source))}"):
        guess = Matching.from_ranges(
            known.low, known.high, counted.frequency, entries=known.entries, tokens=counted.tokens
        )
    return guess, counted.notes


def read_groups(path: PathLike, guess: Guess) -> tuple[str, ...]:
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
    names = guess.entries or tuple(str(number) for number in range(1, guess.n + 1))
    known = pl.DataFrame({"entry": pl.Series(names, dtype=pl.String)})
    must = "name an entry of the attack" if guess.entries else f"hold a whole number from 1 to {guess.n}"
    refuse_cells(~frame["entry"].is_in(known["entry"].implode()), path, "entry", must)
    if frame.height < guess.n:
        raise InputError(
            f"{shown(Path(path))} must give the group of each of the {guess.n} entries, but lacks "
            f"{guess.n - frame.height}. Add a row for each of them"
        )
    return tuple(known.join(frame, on="entry", how="left", maintain_order="left")["group"])

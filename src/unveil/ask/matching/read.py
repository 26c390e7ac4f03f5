"""The question about matchings asked of files: what the adversary holds, and the true token of each entry."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from unveil.ask.matching.answer import MatchingAnswer, matching
from unveil.data._source import shown
from unveil.errors import InputError
from unveil.guess import Dataflow, Matching, MatchingDistribution
from unveil.guess._pairing import of_file
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    import numpy as np

PathLike = str | Path


class _Read(NamedTuple):
    guess: Matching | MatchingDistribution
    notes: tuple[str, ...] = ()


def matching_files(
    matrix: PathLike | None = None,
    truth: PathLike | None = None,
    *,
    ranges: PathLike | None = None,
    transactions: PathLike | None = None,
    frequencies: PathLike | None = None,
    matchings: PathLike | None = None,
    dataflow: PathLike | None = None,
    groups: PathLike | None = None,
    rng: "np.random.Generator",
    progress: Progress = silent,
) -> MatchingAnswer:
    """Return how many entries an adversary cracks, from what it holds and the file ``truth``.

    Exactly one of ``matrix``, ``ranges``, ``matchings`` and ``dataflow`` says what it holds.

    Parameters
    ----------
    matrix
        A square matrix as :func:`unveil.data.matchings.read_matrix` takes it: rows are entries, columns are tokens.
    truth
        CSV or Parquet with the columns ``entry`` and ``token``, one row per entry.
    ranges
        CSV or Parquet with ``entry``, ``low`` and ``high``: how often the adversary knows each entry to occur. Needs
        one of the next two.
    transactions, frequencies
        The released transactions (``transaction``, ``token``), or how often each token occurs (``token``,
        ``frequency``).
    matchings
        Explicit matchings: a column per entry that holds the token, and the column ``probability``.
    dataflow
        A network of randomizing nodes as :func:`unveil.data.dataflows.read_dataflow` takes it.
    groups
        CSV or Parquet with ``entry`` and ``group``: an adversary who takes an entry for another of its group already
        knows the group.
    rng, progress
        As in :func:`unveil.matching`.
    """
    told = [path for path in (matrix, ranges, matchings, dataflow) if path is not None]
    if len(told) != 1:
        raise InputError(
            "exactly one of matrix, ranges, matchings and dataflow must say what the adversary holds, but "
            f"{len(told)} of them do. Pass one"
        )
    if truth is None:
        raise InputError("cracks are counted against the truth, but none was given. Pass the file with entry,token")
    progress("reading", 0.0)
    read = (
        _of_ranges(ranges, transactions, frequencies)
        if ranges is not None
        else _of_one_file(matrix, matchings, dataflow)
    )
    from unveil.data.matchings import read_truth

    progress("reading", 0.5)
    numbers = read_truth(truth, read.guess)
    members = None if groups is None else read_groups(groups, read.guess)
    return matching(read.guess, numbers, groups=members, rng=rng, progress=progress, notes=read.notes)


def _of_one_file(matrix: PathLike | None, matchings: PathLike | None, dataflow: PathLike | None) -> _Read:
    if matchings is not None:
        return _Read(MatchingDistribution.read(matchings))
    if dataflow is not None:
        network = Dataflow.read(dataflow)
        with of_file(dataflow):
            return _Read(Matching.from_dataflow(network))
    if matrix is None:
        raise InputError("a file must say what the adversary holds, but there is none. Pass a matrix")
    return _Read(Matching.read(matrix))


def _of_ranges(ranges: PathLike, transactions: PathLike | None, frequencies: PathLike | None) -> _Read:
    from unveil.data.matchings import read_frequencies, read_ranges, read_transactions

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
    return _Read(guess, counted.notes)


def read_groups(path: PathLike, guess: Matching | MatchingDistribution) -> tuple[str, ...]:
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

    from unveil.data.read import read_table, refuse_cells, refuse_repeats

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

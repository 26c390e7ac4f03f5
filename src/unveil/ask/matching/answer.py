"""Which token is which entry? How many entries does an adversary crack, and how sure are we?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unveil.ask.answer import Answer, randomness
from unveil.ask.matching.findings import MatchingFindings
from unveil.ask.matching.read import PathLike, read
from unveil.ask.matching.run import run
from unveil.ask.matching.view import VIEW, brief
from unveil.ask.told import Reply, Told
from unveil.guess import Matching, MatchingDistribution
from unveil.show.progress import Progress, silent


def matching(
    guess: Any,
    truth: Any,
    *,
    groups: Sequence[Any] | Mapping[Any, Any] | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> Answer[MatchingFindings]:
    """Return how many entries an adversary cracks, expected and with which distribution, and how sure that is.

    Parameters
    ----------
    guess
        A Matching, a MatchingDistribution, or a square matrix, dense or sparse: rows are entries, columns are tokens.
    truth
        The true token of each entry: one number from 0 per entry, or a mapping from entry name to token name.
    groups
        Where a token of the right group is as bad as the right token: one group per entry, or a mapping.
    rng
        Used only where the matrix is too large for exact methods; unless given it starts from seed 0, and the answer
        says so.
    progress
        Called with the name of a step and the share of it that is done.
    notes
        Sentences to carry into the report.

    Examples
    --------
    >>> answer = matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [0, 1, 2])
    >>> round(answer.findings.cracks.expected_cracks.value, 3), round(answer.quantities["d"].value, 3)
    (1.667, 0.613)
    """
    if not isinstance(guess, (Matching, MatchingDistribution)):
        guess = Matching.from_matrix(guess)
    rng, seed = randomness(rng)
    return Answer(run(guess, truth, groups=groups, rng=rng, progress=progress, notes=notes), VIEW, seed)


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
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Answer[MatchingFindings]:
    """Return how many entries an adversary cracks, from what it holds and the file ``truth``.

    Exactly one of ``matrix``, ``ranges``, ``matchings`` and ``dataflow`` says what it holds.

    Parameters
    ----------
    matrix
        A square matrix as :func:`~unveil.data.matrices.matchings.read_matrix` takes it: rows are entries,
        columns are tokens.
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
        A network of randomizing nodes as :func:`unveil.data.matrices.dataflows.read_dataflow` takes it.
    groups
        CSV or Parquet with ``entry`` and ``group``: an adversary who takes an entry for another of its group already
        knows the group.
    rng, progress
        As in :func:`unveil.matching`.
    """
    inputs = read(
        matrix,
        truth,
        ranges=ranges,
        transactions=transactions,
        frequencies=frequencies,
        matchings=matchings,
        dataflow=dataflow,
        groups=groups,
        progress=progress,
    )
    return matching(inputs.guess, inputs.truth, groups=inputs.groups, rng=rng, progress=progress, notes=inputs.notes)


def ask(told: Told) -> Reply:
    """Return the answer to what was asked through a door."""
    from unveil.data import samples

    if told.sample:
        files = {name: samples.path(f"matching_{name}.csv") for name in ("ranges", "transactions", "truth")}
    else:
        files = {each.name: path for each in told.question.files if (path := told.path(each.name)) is not None}
    answer = matching_files(**files, rng=told.rng, progress=told.progress)
    return Reply(answer=answer, brief=lambda: list(brief(answer.findings, top=told.values["top"])))

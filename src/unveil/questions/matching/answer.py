"""Which token is which entry? How many entries does an adversary crack, and how sure are we?"""

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from unveil.errors import InputError
from unveil.guesses import Matching, MatchingDistribution, UnequalMatching
from unveil.metrics.matchings._random_matchings import Attack
from unveil.metrics.matchings.itemsets import Sets
from unveil.questions.answer import Answer, randomness
from unveil.questions.matching.ambiguity_view import AMBIGUITY_VIEW, ambiguity_brief
from unveil.questions.matching.findings import AmbiguityFindings, MatchingFindings
from unveil.questions.matching.read import PathLike, combined, read
from unveil.questions.matching.run import run, run_without_truth
from unveil.questions.matching.view import VIEW, brief
from unveil.questions.request import Request, Response
from unveil.report.progress import Progress, silent


@overload
def matching(
    guess: Any,
    truth: None = None,
    *,
    precision: float = 0.01,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    releases: Sequence[Any] = (),
) -> Answer[AmbiguityFindings]: ...


@overload
def matching(
    guess: Any,
    truth: Any,
    *,
    groups: Sequence[Any] | Mapping[Any, Any] | None = None,
    sets: Sets | None = None,
    precision: float = 0.01,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    releases: Sequence[Any] = (),
) -> Answer[MatchingFindings]: ...


def matching(
    guess: Any,
    truth: Any = None,
    *,
    groups: Sequence[Any] | Mapping[Any, Any] | None = None,
    sets: Sets | None = None,
    precision: float = 0.01,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    releases: Sequence[Any] = (),
) -> Answer[Any]:
    """Return how many entries an adversary cracks, expected and with which distribution, and how sure that is.

    Without ``truth``: how many matchings are left, and how many entries may be cracked at least and at most.

    Parameters
    ----------
    guess
        A Matching, an UnequalMatching, a MatchingDistribution, or a matrix, dense or sparse: rows are entries, columns
        are tokens. A matrix with more rows than columns, or fewer, is taken as an UnequalMatching.
    truth
        The true token of each entry: one number from 0 per entry, or a mapping from entry name to token name.
    groups
        Where a token of the right group is as bad as the right token: one group per entry, or a mapping.
    sets
        Sets of entries that an adversary may find as a whole, which may overlap: the entries for each name.
    precision
        Where figures must be sampled: the standard error of the expected cracks as a share of them, a tenth of it for
        d.
    rng
        Used only where the matrix is too large for exact methods; unless given it starts from seed 0, and the answer
        says so.
    progress
        Called with the name of a step and the share of it that is done.
    notes
        Sentences to carry into the report.
    releases
        Further attacks of the kind of ``guess``, each with another release under the same tokens: the adversary has
        them all (see :meth:`Matching.combined <unveil.guesses.Matching.combined>`). Or pairs of a name and an attack.

    Examples
    --------
    >>> answer = matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [0, 1, 2])
    >>> round(answer.findings.cracks.expected_cracks.value, 3), round(answer.quantities["d"].value, 3)
    (1.667, 0.613)
    >>> matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).findings.ambiguity.permanent
    3
    """
    attack = _attack(guess)
    alone: list[tuple[str, Attack]] = []
    if releases:
        alone = [("release 1", attack)]
        for number, each in enumerate(releases, start=2):
            named = isinstance(each, (list, tuple)) and len(each) == 2 and isinstance(each[0], str)
            name, one = each if named else (f"release {number}", each)
            alone.append((name, _attack(one)))
        attack = combined([one for _, one in alone])
    return _answer(attack, truth, groups, sets, precision, rng, progress, notes, alone)


def _answer(
    guess: Attack,
    truth: Any,
    groups: Sequence[Any] | Mapping[Any, Any] | None,
    sets: Sets | None,
    precision: float,
    rng: np.random.Generator | None,
    progress: Progress,
    notes: Sequence[str],
    releases: Sequence[tuple[str, Attack]],
) -> Answer[Any]:
    rng, seed = randomness(rng)
    shared: dict[str, Any] = {"precision": precision, "rng": rng, "progress": progress, "notes": notes}
    if truth is not None:
        found = run(guess, truth, groups=groups, sets=sets, releases=releases, **shared)
        return Answer(found, VIEW, seed)
    if groups is not None or sets is not None:
        raise InputError("groups and sets are found by their true tokens, but no truth was given. Pass it too")
    return Answer(run_without_truth(guess, releases=releases, **shared), AMBIGUITY_VIEW, seed)


def _attack(guess: Any) -> Attack:
    if isinstance(guess, (Matching, MatchingDistribution, UnequalMatching)):
        return guess
    shape = tuple(guess.shape if hasattr(guess, "shape") else np.shape(guess) if _is_rows(guess) else ())
    unequal = len(shape) == 2 and len(set(shape)) == 2
    return UnequalMatching(guess) if unequal else Matching.from_matrix(guess)


def _is_rows(guess: Any) -> bool:
    """Return whether rows of one length were given; anything else is refused later, with a sentence."""
    return isinstance(guess, (list, tuple)) and len({len(row) for row in guess if hasattr(row, "__len__")}) == 1


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
    sets: PathLike | None = None,
    also: Sequence[PathLike] = (),
    pairs: int | None = None,
    precision: float = 0.01,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Answer[Any]:
    """Return how many entries an adversary cracks, from what it holds and the file ``truth``.

    Exactly one of ``matrix``, ``ranges``, ``matchings`` and ``dataflow`` says what it holds.

    Parameters
    ----------
    matrix
        A matrix as :func:`~unveil.data.matrices.matchings.read_matrix` takes it: rows are entries, columns are tokens,
        and there may be more of one than of the other.
    truth
        CSV or Parquet with the columns ``entry`` and ``token``, one row per entry. Without it the answer says how many
        matchings are left, and how many entries may be cracked at least and at most.
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
    sets
        CSV or Parquet with ``set`` and ``entry``, a row for each entry of each set: sets to find as a whole.
    also
        Further releases under the same tokens: files of the same kind as the first.
    pairs
        How many entries have a token; as many as can be unless given.
    precision, rng, progress
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
        sets=sets,
        also=also,
        pairs=pairs,
        progress=progress,
    )
    return _answer(
        inputs.guess,
        inputs.truth,
        inputs.groups,
        inputs.sets,
        precision,
        rng,
        progress,
        inputs.notes,
        inputs.releases,
    )


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
    from unveil.data import samples

    if request.sample:
        files: dict[str, Any] = {
            name: samples.path(f"matching_{name}.csv") for name in ("ranges", "transactions", "truth")
        }
    else:
        files = {
            each.name: path
            for each in request.question.files
            if each.name != "also" and (path := request.path(each.name)) is not None
        }
    answer = matching_files(
        **files,
        also=() if request.sample else request.files.get("also", ()),
        **request.pick("pairs", "precision"),
        rng=request.rng,
        progress=request.progress,
    )
    shown = brief if isinstance(answer.findings, MatchingFindings) else ambiguity_brief
    return Response(answer=answer, brief=lambda: list(shown(answer.findings, top=request.values["top"])))

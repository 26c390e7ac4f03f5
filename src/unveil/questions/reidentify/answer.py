"""Who is behind each masked row, and is the attack that says so valid under the masking used?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unveil.attacks.specification import TableAttack
from unveil.errors import whole_number
from unveil.metrics.beliefs.file_level import MATCHINGS
from unveil.protections import TableProtection
from unveil.questions.answer import Answer, randomness
from unveil.questions.reading import TableReading, hierarchies_of, reading_of
from unveil.questions.reidentify.findings import ReidentifyFindings
from unveil.questions.reidentify.read import PathLike, inputs_of, read, reidentify_sample
from unveil.questions.reidentify.run import run
from unveil.questions.reidentify.view import VIEW, brief
from unveil.questions.request import Request, Response
from unveil.report.progress import Progress, silent


def reidentify(
    original: Any,
    released: Any = None,
    *,
    attacks: Sequence[str | TableAttack],
    protect: str | TableProtection | None = None,
    truth: ArrayLike | None = None,
    known: Sequence[str] | None = None,
    pairs: int | None = None,
    matchings: int = MATCHINGS,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> Answer[ReidentifyFindings]:
    """Return how far attacks on a masked release get, and which of them are valid under the masking used.

    Parameters
    ----------
    original
        The people: any DataFrame, list of dicts or mapping of columns, or a `Table`.
    released
        What was released of them, in the same forms (then with ``truth``), or a `Release`, which knows its truth and
        perhaps how it was made. None where ``protect`` makes it.
    attacks
        Attacks, or how they are written (``"intersection:p=10"``). Where a setting is left open that whoever knows the
        protection would know, it is filled in: p of the rank swapping, and the mechanism.
    protect
        The protection that makes the release, or how it is written (``"rank-swapping:p=10"``). With ``released`` it is
        the method declared for a release made elsewhere, also as sdcMicro or ARX write it
        (:func:`unveil.protections.dialects.as_written`); where the file refutes that method, the answer says so.
    truth
        For each released row the original row that it was made from, counted from 0, each at most once; -1 for none.
    known
        The columns that the adversary knows, in the order in which they are learnt; all columns of that role that both
        tables have unless given, the most telling first.
    pairs
        The most pairs of records in one linear program of Definition 14; unless given 10,000, and fewer where there are
        many records. Few guesses need one.
    matchings
        How many random assignments of all rows are drawn where the file level is too large to be exact; 0 for none.
    rng
        Where randomness comes from; unless given it starts from seed 0, and the answer says so.
    progress, notes
        Called with the name of a step and the share done; sentences to carry into the report.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 60), "income": [7 * k % 41 for k in range(40)]})
    >>> answer = reidentify(people, protect="rank-swapping:p=10", attacks=["intersection", "intersection:p=5"])
    >>> [attacked.is_valid for attacked in answer.findings.attacks]
    [True, False]
    """
    rng, seed = randomness(rng)
    inputs = inputs_of(
        original,
        released,
        attacks=attacks,
        protect=protect,
        truth=truth,
        known=known,
        rng=rng,
        progress=progress,
        notes=notes,
    )
    for what, value in (("pairs", pairs), ("matchings", matchings)):
        if value is not None:
            whole_number(value, what, at_least=0)
    return Answer(run(inputs, rng=rng, progress=progress, pairs=pairs, matchings=matchings), VIEW, seed)


def reidentify_files(
    original: PathLike,
    released: PathLike | None = None,
    *,
    truth: PathLike | None = None,
    identifier: str | None = None,
    reading: TableReading | None = None,
    hierarchies: Mapping[str, PathLike] | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Answer[ReidentifyFindings]:
    """Return how far attacks on a release get, and which of them are valid.

    Parameters
    ----------
    original, released
        CSV or Parquet files with one row per person; without ``released``, ``protect`` makes the release, and with it
        ``protect`` is the method declared for it.
    truth
        CSV or Parquet with the columns ``released`` and ``original``: for each row of the release the row of the
        original it was made from, both counted from 1 below the header; empty for a row that comes from nobody.
    identifier
        Instead of ``truth``, a column of both files that names each person once. No attack sees it.
    reading
        How the tables are to be read, where that is not to be found out.
    hierarchies
        Files by column that say which values the labels of the release stand for, as in :func:`unveil.audit`.
    rng, progress, **settings
        As in :func:`unveil.reidentify`.
    """
    tables = read(
        original,
        released,
        truth=truth,
        identifier=identifier,
        reading=reading or TableReading(),
        hierarchies=hierarchies or {},
        progress=progress,
    )
    return reidentify(tables.original, tables.released, truth=tables.truth, rng=rng, progress=progress, **settings)


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
    values = request.values
    settings = {
        "protect": values["protect"] or None,
        "attacks": values["attacks"],
        "known": values["known"] or None,
        "pairs": values["pairs"],
        "matchings": values["matchings"],
    }
    if request.sample:
        answer = reidentify(reidentify_sample(), rng=request.rng, progress=request.progress, **settings)
    else:
        answer = reidentify_files(
            request.required_path("original"),
            request.path("released"),
            truth=request.path("truth"),
            identifier=values["identifier"] or None,
            reading=reading_of(request),
            hierarchies=hierarchies_of(request),
            rng=request.rng,
            progress=request.progress,
            **settings,
        )
    return Response(answer=answer, brief=lambda: list(brief(answer.findings)))

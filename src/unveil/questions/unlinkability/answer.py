"""Who belongs together? How well is each subject hidden in the adversary's partition?"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from unveil.guesses import Partition, View
from unveil.metrics.partitions.forecast import Linkage
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings
from unveil.questions.answer import Answer, randomness
from unveil.questions.request import Request, Response
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.questions.unlinkability.read import GuessFile, read
from unveil.questions.unlinkability.run import Guessing, Outlook, run
from unveil.questions.unlinkability.view import VIEW, brief
from unveil.report.progress import Progress, silent


def partition(
    guess: Any,
    truth: Any,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    subject: Hashable | None = None,
    guessing: Guessing = "uniform",
    draws: int | None = None,
    prior: Any = None,
    linkage: Linkage = "pairs",
    split: float = 1.0,
    **settings: Unpack[UnlinkabilitySettings],
) -> Answer[PartitionFindings]:
    """Return how well each subject of ``truth`` is hidden in ``guess``.

    Parameters
    ----------
    guess, truth
        Partitions of the same items, or plain labels, one per item; the guess may be a view.
    rng
        Where the random guessing comes from that stands beside the figures; unless given it starts from seed 0, and
        the answer says so.
    progress
        Called with the name of a step and the share of all work that is done.
    notes
        Sentences to carry into the report.
    subject
        The subject whose graphs are shown, by its name or its index; the one with the steepest risk slope unless given.
    guessing, prior, draws
        Who guesses, to compare with: every partition alike, clusters ``"growing"`` item by item, or clusters of the
        guess's ``"sizes"``; or a partition or view that the adversary held before, as ``prior``. ``draws`` is the
        number of random partitions. See :func:`unveil.metrics.random_guessing`.
    linkage, split
        How evidence comes in. See :func:`unveil.metrics.forecast`.
    **settings
        Those of :func:`unveil.metrics.unlinkability`: alpha, beta, weights and so on.

    Examples
    --------
    >>> answer = partition(guess=["x", "x", "y", "y"], truth=["Alice", "Alice", "Bob", "Alice"])
    >>> answer.quantities["breached_share"].value, answer.seed
    (0.5, 0)
    """
    truth = truth if isinstance(truth, Partition) else Partition.from_labels(truth)
    guess = guess if isinstance(guess, (Partition, View)) else Partition.from_labels(guess)
    if prior is not None and not isinstance(prior, (Partition, View)):
        prior = Partition.from_labels(prior)
    rng, seed = randomness(rng)
    outlook = Outlook(subject=subject, guessing=guessing, draws=draws, prior=prior, linkage=linkage, split=split)
    return Answer(run(guess, truth, rng=rng, progress=progress, notes=notes, outlook=outlook, **settings), VIEW, seed)


def partition_files(
    truth: str | Path,
    guesses: Sequence[GuessFile],
    *,
    item: str = "item",
    cluster: str = "cluster",
    policy_file: str | Path | None = None,
    weights_file: str | Path | None = None,
    prior_files: Sequence[GuessFile] = (),
    links_file: str | Path | None = None,
    drop_unmatched: bool = False,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    subject: str | None = None,
    guessing: Guessing = "uniform",
    draws: int | None = None,
    linkage: Linkage = "pairs",
    split: float = 1.0,
    **settings: Unpack[UnlinkabilitySettings],
) -> Answer[PartitionFindings]:
    """Return how well each subject of the file ``truth`` is hidden in the files ``guesses``.

    Parameters
    ----------
    truth, guesses
        CSV or Parquet files with the columns ``item`` and ``cluster`` (renamed by the arguments of that name); each
        guess with its probability, for all or for none.
    policy_file
        A file with ``subject`` and any of ``alpha``, ``beta``, ``contamination_desirable``; subjects it does not name
        keep the values passed here.
    weights_file
        A file with ``item,weight`` or ``subject,item,weight``; what it does not name weighs 1.
    prior_files
        What the adversary held before, as the guesses are given: it takes the place of random guessing.
    links_file
        A file with ``cluster,other,rate``: how likely evidence links two clusters of the guess; it takes the place of
        ``linkage``.
    drop_unmatched
        Leave out items that are not in every file, instead of refusing.
    rng, progress, subject, guessing, draws, linkage, split, **settings
        As in :func:`unveil.partition`.
    """
    progress("reading", 0.0)
    inputs = read(
        truth,
        guesses,
        item=item,
        cluster=cluster,
        policy_file=policy_file,
        weights_file=weights_file,
        prior_files=prior_files,
        links_file=links_file,
        drop_unmatched=drop_unmatched,
        settings=settings,
    )
    return partition(
        inputs.guess,
        inputs.truth,
        rng=rng,
        progress=progress,
        notes=inputs.notes,
        subject=subject,
        guessing=guessing,
        draws=draws,
        prior=inputs.prior,
        linkage=linkage if inputs.links is None else inputs.links,
        split=split,
        **inputs.settings,
    )


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
    from unveil.data import samples

    values = request.values
    if request.sample:
        truth = samples.path("partition_truth.csv")
        guesses: list[GuessFile] = [(samples.path(f"partition_guess_{values['adversary']}.csv"), None)]
    else:
        truth = request.required_path("truth")
        guesses = _with_chances(request.files["guesses"], values["probabilities"])
    overall = {name: values[name] for name in ("overall_alpha", "overall_beta") if values[name] is not None}
    answer = partition_files(
        truth,
        guesses,
        policy_file=request.path("policy_file"),
        weights_file=request.path("weights_file"),
        prior_files=_with_chances(request.files.get("prior", ()), values["prior_probabilities"]),
        links_file=request.path("links_file"),
        rng=request.rng,
        progress=request.progress,
        **request.pick("item", "cluster", "alpha", "beta", "contamination_desirable", "norm", "at_breach"),
        subject=values["subject"] or None,
        **request.pick("mixing", "guessing", "draws", "linkage", "split"),
        drop_unmatched=values["drop_unmatched"],
        **overall,
    )
    return Response(
        answer=answer, brief=lambda: list(brief(answer.findings, top=values["top"], subject=bool(values["subject"])))
    )


def _with_chances(files: Sequence[Path], chances: Sequence[Fraction | None]) -> list[GuessFile]:
    """Return each file with its probability, or with none where none was said."""
    return list(zip(files, (*chances, *[None] * len(files)), strict=False))

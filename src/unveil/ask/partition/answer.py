"""Who belongs together? How well is each subject hidden in the adversary's partition?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from unveil.ask.answer import Answer, randomness
from unveil.ask.partition.findings import PartitionFindings
from unveil.ask.partition.read import GuessFile, read
from unveil.ask.partition.run import run
from unveil.ask.partition.view import VIEW, brief
from unveil.ask.told import Reply, Told
from unveil.guess import Partition, View
from unveil.measure.partitions.unlinkability import Settings
from unveil.show.progress import Progress, silent


def partition(
    guess: Any,
    truth: Any,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **settings: Unpack[Settings],
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
    **settings
        Those of :func:`unveil.measure.unlinkability`: alpha, beta, weights and so on.

    Examples
    --------
    >>> answer = partition(guess=["x", "x", "y", "y"], truth=["Alice", "Alice", "Bob", "Alice"])
    >>> answer.quantities["breached_share"].value, answer.seed
    (0.5, 0)
    """
    truth = truth if isinstance(truth, Partition) else Partition.from_labels(truth)
    guess = guess if isinstance(guess, (Partition, View)) else Partition.from_labels(guess)
    rng, seed = randomness(rng)
    return Answer(run(guess, truth, rng=rng, progress=progress, notes=notes, **settings), VIEW, seed)


def partition_files(
    truth: str | Path,
    guesses: Sequence[GuessFile],
    *,
    item: str = "item",
    cluster: str = "cluster",
    policy_file: str | Path | None = None,
    weights_file: str | Path | None = None,
    drop_unmatched: bool = False,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **settings: Unpack[Settings],
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
    drop_unmatched
        Leave out items that are not in every file, instead of refusing.
    rng, progress, **settings
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
        drop_unmatched=drop_unmatched,
        settings=settings,
    )
    return partition(inputs.guess, inputs.truth, rng=rng, progress=progress, notes=inputs.notes, **inputs.settings)


def ask(told: Told) -> Reply:
    """Return the answer to what was asked through a door."""
    from unveil.data import samples

    values = told.values
    if told.sample:
        truth = samples.path("partition_truth.csv")
        guesses: list[GuessFile] = [(samples.path(f"partition_guess_{values['adversary']}.csv"), None)]
    else:
        truth, given = told.must("truth"), told.files["guesses"]
        chances = (*values["probabilities"], *[None] * len(given))
        guesses = list(zip(given, chances, strict=False))
    overall = {name: values[name] for name in ("overall_alpha", "overall_beta") if values[name] is not None}
    answer = partition_files(
        truth,
        guesses,
        policy_file=told.path("policy_file"),
        weights_file=told.path("weights_file"),
        rng=told.rng,
        progress=told.progress,
        **told.named("item", "cluster", "alpha", "beta", "contamination_desirable", "norm", "at_breach"),
        drop_unmatched=values["drop_unmatched"],
        **overall,
    )
    return Reply(answer=answer, brief=lambda: list(brief(answer.findings, top=values["top"])))

"""The partition question asked of files: a truth, one or more guesses, and what the subjects care about."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from unveil.ask.partition.answer import PartitionAnswer, partition
from unveil.errors import InputError
from unveil.guess import Partition, View
from unveil.measure.unlinkability import Settings
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    import polars as pl

#: A guess on disk, and how likely the adversary thinks it is.
GuessFile = tuple[str | Path, Fraction | None]


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
) -> PartitionAnswer:
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
    from unveil.data.partitions import read_partitions

    probabilities, notes = _probabilities(guesses)
    progress("reading", 0.0)
    paths = [path for path, _ in guesses]
    frame, read_notes = read_partitions(truth, paths, item=item, cluster=cluster, drop_unmatched=drop_unmatched)
    subjects = Partition.from_labels(frame["truth"])
    view = View([Partition.from_labels(frame[f"guess_{k}"]) for k in range(len(paths))], probabilities)
    if policy_file is not None:
        settings.update(_policy(policy_file, subjects, settings))
    if weights_file is not None:
        settings["weights"] = _weights(weights_file, subjects, frame["item"])
    guess = view if len(guesses) > 1 else view.partitions[0]
    return partition(guess, subjects, rng=rng, progress=progress, notes=(*notes, *read_notes), **settings)


def _probabilities(guesses: Sequence[GuessFile]) -> tuple[list[Fraction], list[str]]:
    given = [probability for _, probability in guesses if probability is not None]
    if not guesses:
        raise InputError("there is no guess to measure. Name at least one file with the adversary's clusters")
    if given and len(given) != len(guesses):
        raise InputError(
            f"{len(given)} of {len(guesses)} guesses have a probability. Give one to all of them (FILE=0.3), or to none"
        )
    if given:
        return given, []
    equal = Fraction(1, len(guesses))
    notes = [f"No probabilities were given, so each of the {len(guesses)} guesses counts alike."]
    return [equal] * len(guesses), notes if len(guesses) > 1 else []


def _policy(path: str | Path, truth: Partition, settings: Settings) -> Settings:
    """Return alpha, beta and contamination per subject: what the file says, else what was passed for everybody."""
    from unveil.data.partitions import read_policy

    frame = read_policy(path)
    _refuse_unknown(frame["subject"], truth.clusters.tolist(), path, "subject")
    place = {subject: index for index, subject in enumerate(truth.clusters.tolist())}

    def spread(name: str, everybody: Any) -> list[Any]:
        values = [everybody] * truth.cluster_count
        for subject, value in zip(frame["subject"], frame[name], strict=True):
            if value is not None:
                values[place[subject]] = value
        return values

    return {
        "alpha": spread("alpha", settings.get("alpha", Fraction(1, 2))),
        "beta": spread("beta", settings.get("beta", Fraction(4, 5))),
        "contamination_desirable": spread("contamination_desirable", settings.get("contamination_desirable", False)),
    }


def _weights(path: str | Path, truth: Partition, items: "pl.Series") -> dict[Any, float]:
    """Return the weights by position of the item, or by subject and position."""
    from unveil.data.partitions import read_weights

    frame = read_weights(path)
    names = items.to_list()
    _refuse_unknown(frame["item"], names, path, "item")
    place = {name: index for index, name in enumerate(names)}
    positions = [place[name] for name in frame["item"]]
    if "subject" not in frame.columns:
        return dict(zip(positions, frame["weight"], strict=True))
    _refuse_unknown(frame["subject"], truth.clusters.tolist(), path, "subject")
    return dict(zip(zip(frame["subject"], positions, strict=True), frame["weight"], strict=True))


def _refuse_unknown(names: "pl.Series", known: list[Any], path: str | Path, column: str) -> None:
    have = set(known)
    unknown = [row for row, name in enumerate(names, start=1) if name not in have]
    if unknown:
        raise InputError(
            f"{path}: every {column} must be in the truth, but {len(unknown)} of {len(names)} are not, "
            f"the first in column {column!r} at row {unknown[0]}. Correct those rows, or leave them out"
        )

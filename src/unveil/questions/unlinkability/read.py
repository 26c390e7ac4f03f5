"""The partition question asked of files: a truth, one or more guesses, and what the subjects care about."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings

if TYPE_CHECKING:
    import polars as pl

#: A guess on disk, and how likely the adversary thinks it is.
GuessFile = tuple[str | Path, Fraction | None]


class PartitionInputs(NamedTuple):
    """A truth and a guess that were read, with what single subjects and items matter, and what has to be said."""

    guess: Partition | View
    truth: Partition
    settings: UnlinkabilitySettings
    notes: tuple[str, ...]
    prior: View | None = None
    links: dict[tuple[Any, Any], float] | None = None


def read(
    truth: str | Path,
    guesses: Sequence[GuessFile],
    *,
    item: str,
    cluster: str,
    policy_file: str | Path | None,
    weights_file: str | Path | None,
    prior_files: Sequence[GuessFile],
    links_file: str | Path | None,
    drop_unmatched: bool,
    settings: UnlinkabilitySettings,
) -> PartitionInputs:
    """Return what the files hold, checked; the arguments are those of `partition_files`."""
    from unveil.data.partitions import read_partitions

    probabilities, notes = _probabilities(guesses)
    held = [path for path, _ in guesses]
    paths = [*held, *(path for path, _ in prior_files)]
    frame, read_notes = read_partitions(truth, paths, item=item, cluster=cluster, drop_unmatched=drop_unmatched)
    frame = frame.sort("item")  # what is drawn at random follows the items, so the order of rows must not matter
    subjects = Partition.from_labels(frame["truth"])
    partitions = [Partition.from_labels(frame[f"guess_{k}"]) for k in range(len(paths))]
    view = View(partitions[: len(held)], probabilities)
    prior = View(partitions[len(held) :], _probabilities(prior_files, "priors")[0]) if prior_files else None
    given: UnlinkabilitySettings = {**settings}
    if policy_file is not None:
        given.update(_policy(policy_file, subjects, settings))
    if weights_file is not None:
        given["weights"] = _weights(weights_file, subjects, frame["item"])
    guess = view if len(guesses) > 1 else view.partitions[0]
    links = None if links_file is None else _links(links_file, guess)
    return PartitionInputs(guess, subjects, given, (*notes, *read_notes), prior, links)


def _probabilities(guesses: Sequence[GuessFile], what: str = "guesses") -> tuple[list[Fraction], list[str]]:
    given = [probability for _, probability in guesses if probability is not None]
    if not guesses:
        raise InputError("there is no guess to measure. Name at least one file with the adversary's clusters")
    if given and len(given) != len(guesses):
        raise InputError(
            f"{len(given)} of {len(guesses)} {what} have a probability. Give one to all of them (FILE=0.3), or to none"
        )
    if given:
        return given, []
    equal = Fraction(1, len(guesses))
    notes = [f"No probabilities were given, so each of the {len(guesses)} guesses counts alike."]
    return [equal] * len(guesses), notes if len(guesses) > 1 else []


def _policy(path: str | Path, truth: Partition, settings: UnlinkabilitySettings) -> UnlinkabilitySettings:
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


def _links(path: str | Path, guess: Partition | View) -> dict[tuple[Any, Any], float]:
    """Return at which rate evidence links two clusters of the guess."""
    from unveil.data.partitions import read_links

    if isinstance(guess, View):
        raise InputError(
            f"{path}: rates between clusters belong to one guess, but there are {len(guess.partitions)}. "
            "Name one guess, or leave this file out"
        )
    frame = read_links(path)
    for column in ("cluster", "other"):
        _refuse_unknown(frame[column], guess.clusters.tolist(), path, column, "the guess")
    return dict(zip(zip(frame["cluster"], frame["other"], strict=True), frame["rate"], strict=True))


def _refuse_unknown(
    names: "pl.Series", known: list[Any], path: str | Path, column: str, where: str = "the truth"
) -> None:
    have = set(known)
    unknown = [row for row, name in enumerate(names, start=1) if name not in have]
    if unknown:
        raise InputError(
            f"{path}: every {column} must be in {where}, but {len(unknown)} of {len(names)} are not, "
            f"the first in column {column!r} at row {unknown[0]}. Correct those rows, or leave them out"
        )

"""Read truth, guesses, and policies of subjects from files."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.questions.unlinkability.settings import PartitionSettings

if TYPE_CHECKING:
    import polars as pl

#: A guess on disk, and how likely the adversary thinks it is.
GuessFile = tuple[str | os.PathLike[str], Fraction | None]


class PartitionInputs(NamedTuple):
    """A truth and a guess, the settings from files, and notes."""

    guess: Partition | View
    truth: Partition
    settings: PartitionSettings
    notes: tuple[str, ...] = ()


def inputs_of(guess: Any, truth: Any, settings: PartitionSettings) -> PartitionInputs:
    """Return what the arguments of `partition` hold, from files or as they are."""
    files = guess_files(guess)
    if (files is None) == is_path(truth):
        raise InputError(
            "guess and truth differ in form: one is a file, one is labels. Pass two files, or labels for both"
        )
    if files is not None:
        return read(truth, files, settings)
    named = [name for name in ("policy", "weights", "merge_rates") if is_path(getattr(settings, name))]
    if named or guess_files(settings.prior):
        raise InputError(
            f"{next(iter(named), 'prior')} is a file with names of items and clusters, but guess and truth "
            "are labels. Pass them as files too"
        )
    prior = settings.prior
    if prior == ():
        prior = None
    elif not isinstance(prior, Partition | View | None):
        prior = Partition.from_labels(prior)
    return PartitionInputs(
        guess if isinstance(guess, Partition | View) else Partition.from_labels(guess),
        truth if isinstance(truth, Partition) else Partition.from_labels(truth),
        replace(settings, prior=prior),
    )


def is_path(given: Any) -> bool:
    """Return whether a path was given, rather than single-letter labels.

    >>> is_path("guess.csv"), is_path("aabb")
    (True, False)
    """
    return isinstance(given, os.PathLike) or (isinstance(given, str) and Path(given).suffix != "")


def guess_files(given: Any) -> list[GuessFile] | None:
    """Return the files of a guess with their probabilities; None where it is no file.

    Several are a mapping from path to probability, or a list of paths or of such pairs. A list of texts is labels.

    >>> guess_files(["a", "a", "b"]), guess_files("guess.csv"), guess_files({"a.csv": 1})
    (None, [('guess.csv', None)], [('a.csv', 1)])
    """
    if is_path(given):
        return [(given, None)]
    if isinstance(given, Mapping):
        return list(given.items())
    if not isinstance(given, list | tuple):
        return None
    if all(isinstance(each, os.PathLike) for each in given):
        return [(each, None) for each in given] or None
    pairs = all(isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], os.PathLike) for each in given)
    return list(given) if pairs else None


def read(truth: str | os.PathLike[str], guesses: Sequence[GuessFile], settings: PartitionSettings) -> PartitionInputs:
    """Return what the files hold, checked."""
    from unveil.data.partitions import read_partitions

    probabilities, notes = _probabilities(guesses)
    priors = guess_files(settings.prior) or []
    held = [path for path, _ in guesses]
    paths = [*held, *(path for path, _ in priors)]
    frame, read_notes = read_partitions(
        truth, paths, item=settings.item_column, cluster=settings.cluster_column, drop_unmatched=settings.drop_unmatched
    )
    frame = frame.sort("item")  # what is drawn at random follows the items, so the order of rows must not matter
    subjects = Partition.from_labels(frame["truth"])
    partitions = [Partition.from_labels(frame[f"guess_{k}"]) for k in range(len(paths))]
    view = View(partitions[: len(held)], probabilities)
    prior = View(partitions[len(held) :], _probabilities(priors, "priors")[0]) if priors else None
    changes: dict[str, Any] = {"prior": prior}
    if settings.policy is not None:
        changes |= _policy(settings.policy, subjects, settings)
    if is_path(settings.weights):
        changes["weights"] = _weights(settings.weights, subjects, frame["item"])
    guess = view if len(guesses) > 1 else view.partitions[0]
    if is_path(settings.merge_rates):
        changes["merge_rates"] = _links(settings.merge_rates, guess)
    return PartitionInputs(guess, subjects, replace(settings, **changes), (*notes, *read_notes))


def _probabilities(guesses: Sequence[GuessFile], what: str = "guesses") -> tuple[list[Fraction], list[str]]:
    given = [probability for _, probability in guesses if probability is not None]
    if not guesses:
        raise InputError("No guess was given. Name at least one file with the attacker's clusters")
    if given and len(given) != len(guesses):
        raise InputError(
            f"{len(given)} of {len(guesses)} {what} have a probability. Give one to all of them (FILE=0.3), or to none"
        )
    if given:
        return given, []
    equal = Fraction(1, len(guesses))
    notes = [f"No probabilities were given, so each of the {len(guesses)} guesses has the same weight."]
    return [equal] * len(guesses), notes if len(guesses) > 1 else []


def _policy(path: Any, truth: Partition, settings: PartitionSettings) -> dict[str, Any]:
    """Return alpha, beta and contamination per subject, with defaults."""
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

    return {name: spread(name, getattr(settings, name)) for name in ("alpha", "beta", "contamination_desirable")}


def _weights(path: Any, truth: Partition, items: "pl.Series") -> dict[Any, float]:
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


def _links(path: Any, guess: Partition | View) -> dict[tuple[Any, Any], float]:
    """Return at which rate evidence links two clusters of the guess."""
    from unveil.data.partitions import read_links

    if isinstance(guess, View):
        raise InputError(
            f"{path}: rates between clusters belong to one guess, but there are {len(guess.partitions)}. Name "
            "one guess, or leave this file out"
        )
    frame = read_links(path)
    for column in ("cluster", "other"):
        _refuse_unknown(frame[column], guess.clusters.tolist(), path, column, "the guess")
    return dict(zip(zip(frame["cluster"], frame["other"], strict=True), frame["rate"], strict=True))


def _refuse_unknown(names: "pl.Series", known: list[Any], path: Any, column: str, where: str = "the truth") -> None:
    have = set(known)
    unknown = [row for row, name in enumerate(names, start=1) if name not in have]
    if unknown:
        raise InputError(
            f"{path}: {len(unknown)} of {len(names)} values of column {column!r} are not in {where}, the "
            f"first in row {unknown[0]}. Correct those rows, or leave them out"
        )

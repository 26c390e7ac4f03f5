"""The partition question measured: a guess and a truth in, findings out."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from unveil.guesses import Partition, View
from unveil.metrics import (
    Forecast,
    fairness,
    forecast,
    others_graphs,
    over_views,
    partition_distances,
    policy_grid,
    random_guessing,
    unlinkability,
)
from unveil.metrics.partitions.crowds import others_work
from unveil.metrics.partitions.forecast import DRAWS
from unveil.metrics.partitions.unlinkability import UnlinkabilitySettings
from unveil.questions.unlinkability.findings import PartitionFindings, place_of, steepest
from unveil.questions.unlinkability.settings import PartitionSettings
from unveil.report.progress import Progress
from unveil.report.text import count

# Beyond this many looks at cells nobody follows whom merges bring along, and only some subjects are forecast.
_MOST_LOOKS = 30_000_000


def run(
    guess: Partition | View,
    truth: Partition,
    asked: PartitionSettings,
    *,
    rng: np.random.Generator,
    progress: Progress,
    notes: Sequence[str],
) -> PartitionFindings:
    """Return how well each subject of ``truth`` is hidden in ``guess``; see :func:`unveil.unlinkability`."""
    settings = _settings_of(asked)
    named = None if asked.subject == "" else place_of(asked.subject, truth.clusters.tolist())
    progress("hiding", 0.2)
    result = unlinkability(guess, truth, **settings)
    shown = steepest(result, truth.by_first_item) if named is None else named
    progress("distances", 0.3)
    distances = partition_distances(guess, truth)
    reference = random_guessing(
        truth,
        rng=rng,
        guesser="growing" if asked.baseline == "growing" else "uniform",
        draws=asked.draws,
        like=guess if asked.baseline == "sizes" and asked.prior is None else None,
        prior=asked.prior,
        progress=lambda share: progress("guessing", 0.4 + share / 5),
        **settings,
    )
    progress("forecast", 0.7)
    looks = others_work(guess, truth)
    everybody, own, more = _outlook(guess, truth, shown, looks, asked, rng, settings)
    progress("policies", 0.8)
    grid = policy_grid(
        guess,
        truth,
        contamination_desirable=settings.get("contamination_desirable", False),
        weights=settings.get("weights"),
        norm=settings.get("norm", "weight"),
        mixing=settings.get("mixing", "items"),
    )
    several = isinstance(guess, View) and len(guess.partitions) > 1
    found = PartitionFindings(
        result=result,
        distances=distances,
        fairness=fairness(result),
        grid=grid,
        reference=reference,
        subject=shown,
        others=others_graphs(guess, truth, **settings) if looks <= _MOST_LOOKS else None,
        views=over_views(guess, truth, **settings) if several else None,
        forecast=everybody,
        own_forecast=own,
        weighted=settings.get("weights") is not None,
        notes=(*notes, *more),
    )
    progress("policies", 1.0)
    return found


def _settings_of(asked: PartitionSettings) -> UnlinkabilitySettings:
    """Return the settings of the metrics."""
    names = ("alpha", "beta", "contamination_desirable", "weights", "norm", "at_breach", "mixing")
    overall = [name for name in ("overall_alpha", "overall_beta") if getattr(asked, name) is not None]
    return cast("UnlinkabilitySettings", {name: getattr(asked, name) for name in (*names, *overall)})


def _outlook(
    guess: Partition | View,
    truth: Partition,
    shown: int,
    looks: int,
    asked: PartitionSettings,
    rng: np.random.Generator,
    settings: UnlinkabilitySettings,
) -> tuple[Forecast, Forecast, list[str]]:
    """Return the forecasts of subjects, and notes."""
    partitions = len(guess.partitions) if isinstance(guess, View) else 1
    each = max(1, looks // (partitions * truth.cluster_count)) * DRAWS
    most = max(1, _MOST_LOOKS // each)
    some, notes = None, []
    if most < truth.cluster_count:
        some = truth.by_first_item[np.sort(rng.choice(truth.cluster_count, most, replace=False))].tolist()
        notes.append(
            f"The forecast is of {count(most, 'subject', 'subjects')} drawn at random, as there are "
            f"{count(truth.cluster_count)} with crowded clusters."
        )
    if looks > _MOST_LOOKS:
        notes.append("The number of other subjects after merges is left out: clusters hold too many subjects.")
    evidence = {
        "rng": rng,
        "linkage": asked.merge_order if asked.merge_rates is None else asked.merge_rates,
        "split": asked.split_odds,
    }
    everybody = forecast(guess, truth, subjects=some, **evidence, **settings)  # type: ignore[arg-type]
    return everybody, forecast(guess, truth, subjects=[shown], **evidence, **settings), notes  # type: ignore[arg-type]

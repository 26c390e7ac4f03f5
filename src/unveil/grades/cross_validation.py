"""Cross-validated performance of suites, compared with the best metric."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unveil._figure import derived, figure
from unveil._kernels.types import FloatArray, IntArray
from unveil.grades.suite import Suite
from unveil.grades.suite_steps import RankingUnit, Steps

Grouping = Literal["attack", "data set"]
SuiteChoice = Literal["single metric", "equal weights", "optimized weights"]
WAYS: tuple[SuiteChoice, ...] = ("single metric", "equal weights", "optimized weights")

_RESAMPLES = 2000
_TAIL = 0.025


@dataclass(frozen=True)
class Gain:
    """Gain of a share over the best metric, with 95% CI."""

    JSON_DEFINITION: ClassVar = "interval"
    mean: float = figure("Mean over cases.")
    low: float = figure("Lower end of the 95% CI.")
    high: float = figure("Upper end of the 95% CI.")

    @property
    def shown(self) -> bool:
        """True if the 95% CI lies above 0."""
        return self.low > 0


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Shares of correctly ordered held-out cases.

    The cases are dealt into folds; what is chosen on all folds but one is evaluated on that one.

    Attributes
    ----------
    grouping
        What stays together in a fold: all levels and axes of one attack on one protected data set ("attack"), or all of
        one data set ("data set").
    cases, groups, folds
        How many there are.
    shares
        By way of choosing: the mean over all cases, each held out once.
    by_fold
        The same in each fold.
    gains
        How much more than the best single metric, which is chosen inside the folds too. The interval comes from
        resampling groups, wider where they are few, and wider because other cases would lead to other choices (Nadeau &
        Bengio 2003). In simulations with metrics that are all noise, about one in fifty shows a gain.
    chosen
        What was chosen for each fold.
    """

    grouping: Grouping = figure("Unit that is held out together.", name="by")
    cases: int = figure("Number of held-out cases.")
    groups: int = figure("Number of groups of cases.")
    folds: int = figure("Number of folds.")
    shares: Mapping[SuiteChoice, float] = figure("Share of cases in order, by search method.")
    by_fold: Mapping[SuiteChoice, tuple[float, ...]] = figure("Share of cases in order per fold, by search method.")
    gains: Mapping[SuiteChoice, Gain] = figure("Gain of each method over the best single metric.")
    chosen: tuple[Mapping[SuiteChoice, Suite], ...]

    @derived("Suite selected in each fold, by search method.", name="chosen")
    def chosen_weights(self) -> tuple[Mapping[SuiteChoice, Mapping[str, float]], ...]:
        """Weights of the suite selected in each fold."""
        return tuple({way: suite.weights for way, suite in fold.items()} for fold in self.chosen)


Choose = Callable[[Steps], Mapping[SuiteChoice, tuple[Suite, FloatArray]]]


def validate(
    steps: Steps,
    keys: Sequence[tuple[str, ...]],
    choose: Choose,
    *,
    grouping: Grouping,
    by: RankingUnit,
    folds: int,
    rng: np.random.Generator,
) -> Validation:
    """Return how well what ``choose`` picks does in cases it has not seen.

    Parameters
    ----------
    steps
        The cases.
    keys
        The group of each case; there are at least two.
    choose
        Given some cases, what each way of choosing picks: a suite and its weights.
    grouping
        The name of these groups.
    by
        Whether whole cases or shares of steps are counted.
    folds
        How many folds; not more than there are groups.
    rng
        Deals groups into folds and resamples them.
    """
    # Numbers of groups in the order of their names, so that the order of the cases does not matter.
    number = {key: place for place, key in enumerate(sorted(set(keys)))}
    group = np.array([number[key] for key in keys])
    folds = min(folds, len(number))
    fold = (rng.permutation(len(number)) % folds)[group]
    held_out = {way: np.empty(steps.cases) for way in WAYS}
    chosen: list[Mapping[SuiteChoice, Suite]] = []
    for each in range(folds):
        inside, outside = np.flatnonzero(fold != each), np.flatnonzero(fold == each)
        picked = choose(steps.only(inside))
        whole, pairs = steps.only(outside).ranked(np.array([picked[way][1] for way in WAYS]))
        for column, way in enumerate(WAYS):
            held_out[way][outside] = (whole if by == "whole" else pairs)[:, column]
        chosen.append({way: picked[way][0] for way in WAYS})
    single = held_out["single metric"]
    # Held-out cases of all folds share most of what was chosen by: their mean varies more than independent cases would.
    choices = float(np.sqrt(1 + folds / (folds - 1)))
    return Validation(
        grouping=grouping,
        cases=steps.cases,
        groups=len(number),
        folds=folds,
        shares={way: float(held_out[way].mean()) for way in WAYS},
        by_fold={way: tuple(float(held_out[way][fold == each].mean()) for each in range(folds)) for way in WAYS},
        gains={way: gain(held_out[way] - single, group, wider=choices, rng=rng) for way in WAYS[1:]},
        chosen=tuple(chosen),
    )


def gain(differences: FloatArray, group: IntArray, *, wider: float = 1.0, rng: np.random.Generator) -> Gain:
    """Return the mean difference of grouped cases, with its 95% CI.

    Groups are drawn anew, with all their cases. Their quantiles are too near to the mean where groups are few, so they
    are moved away from it by the factor that Student's t with one degree less than groups asks for.

    Parameters
    ----------
    differences
        Per case.
    group
        The group of each case, as numbers from 0; at least two.
    wider
        By what factor the interval is to be wider than resampling makes it.
    rng
        Draws the groups.

    Examples
    --------
    >>> gain(np.array([0.0, 0.0, 1.0, -1.0]), np.array([0, 1, 2, 3]), rng=np.random.default_rng(1)).shown
    False
    """
    from scipy.special import ndtri, stdtrit

    groups = int(group.max()) + 1
    total = np.bincount(group, weights=differences)
    size = np.bincount(group)
    draws = rng.multinomial(groups, np.full(groups, 1 / groups), size=_RESAMPLES)
    means = (draws @ total) / (draws @ size)
    mean = float(differences.mean())
    wider *= float(np.sqrt(groups / (groups - 1)) * stdtrit(groups - 1, 1 - _TAIL) / ndtri(1 - _TAIL))
    low, high = mean + wider * (np.quantile(means, [_TAIL, 1 - _TAIL]) - mean)
    return Gain(mean, float(min(low, mean)), float(max(high, mean)))

"""Search for better suites, with cross-validated results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from unveil._figure import figure, figure_at
from unveil._kernels.types import FloatArray
from unveil.errors import InputError, whole_number
from unveil.grades.cross_validation import WAYS, Grouping, SuiteChoice, Validation, validate
from unveil.grades.needs import checked_needs, ticking
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.suite import Suite, equal_suites
from unveil.grades.suite_steps import RankingUnit, Steps, WeightFilter, best_weights, merit, steps_of
from unveil.grades.suites import FLOOR, Zeros, quotients, weights_table

#: With fewer data sets than this, nothing can be learned about other ones.
_FEWEST_DATA_SETS = 3


@dataclass(frozen=True)
class SuiteTrial:
    """Suite with its ranking performance in the search cases."""

    JSON_DEFINITION: ClassVar = "weighting"
    suite: Suite
    weights = figure_at("suite.weights", "Weight of each metric.")
    whole: float = figure("Share of cases in order throughout.")
    pairs: float = figure("Share of pairs of levels in the right order.")


@dataclass(frozen=True, kw_only=True)
class SuiteSearch:
    """Best suites by ranking performance, with cross-validation.

    Attributes
    ----------
    metrics
        What suites were made of.
    by
        What was counted: cases in order throughout ("whole"), or neighbouring levels in order ("pairs").
    cases
        The number of cases with at least two levels at which all metrics are defined; only these were used.
    singles, equal
        Single metrics, and all suites of equal weights, the best ones first. Where two are alike, the one with fewer
        metrics is first, and then the order in which the metrics were given decides.
    optimized
        The suite with the weights that were found best, or None where no case could be used.
    validations
        Shares in held-out cases: by attack, and by data set where there are at least three. Empty where there are fewer
        than two groups.
    zeros
        What was done about zeros and negative values.
    needs
        What suites had to tell; single metrics are those that they are compared with, whatever these tell.
    notes
        What a reader must know, in sentences.
    """

    metrics: tuple[str, ...] = figure("Metrics available to suites.")
    needs: tuple[str, ...] = figure("Criteria that the suite must meet.", default=())
    by: RankingUnit
    cases: int = figure(
        "Number of cases with at least two levels at which all metrics are defined; only these were used."
    )
    singles: tuple[SuiteTrial, ...] = figure("Performance of each metric alone, best first.")
    equal: tuple[SuiteTrial, ...] = figure("Metrics with equal weights.")
    optimized: SuiteTrial | None = figure("Optimal weights; null if none were searched for.")
    validations: tuple[Validation, ...] = figure(
        "Performance of the selected suites on held-out cases.", name="held_out"
    )
    zeros: Zeros
    notes: tuple[str, ...] = figure("Notes on the search.")

    @property
    def apparent(self) -> Mapping[SuiteChoice, float]:
        """In-sample share of each method's best suite, which is optimistic."""
        if self.optimized is None:
            return dict.fromkeys(WAYS, float("nan"))
        best = (self.singles[0], self.equal[0], self.optimized)
        return {way: getattr(tried, self.by) for way, tried in zip(WAYS, best, strict=True)}

    @property
    def sentences(self) -> tuple[str, ...]:
        """Results in plain sentences."""
        return (*(_said(each, way, self.by) for each in self.validations for way in WAYS[1:]), *self.notes)


def best_suites(
    values: ReplicatedMetrics,
    metrics: Sequence[str],
    *,
    rng: np.random.Generator,
    folds: int = 5,
    by: RankingUnit = "whole",
    floor: float = FLOOR,
    needs: Sequence[str] = (),
) -> SuiteSearch:
    """Return the best suites of these metrics, with cross-validation.

    All suites with equal weights are tried. Other weights are sought from several starts, by moving weight between two
    metrics as long as that helps; they need not be the best there are. Each way of choosing is validated: it chooses
    anew without the cases of one fold, and is judged by that fold.

    Parameters
    ----------
    values
        Metrics in cases.
    metrics
        What suites are made of: 2 to 12 of the metrics of ``values``. Whoever picks them by these same cases has given
        the held-out cases that much say.
    rng
        Where random starts, folds and resampling begin.
    folds
        How many parts the cases are dealt into; both axes of one attack are always in the same part.
    by
        Count cases that are in order throughout, or neighbouring levels in order.
    floor
        What is added to the values of a metric that has a zero in a case, as a part of its largest value there.
    needs
        What suites must tell (see :data:`unveil.grades.needs.NEEDS`): only those are tried that tick all, with metrics
        of at least 0.05 of the weight. The best single metric, which they are compared with, is that of all.

    Raises
    ------
    InputError
        If a metric is unknown or not among the values, there are fewer than 2 folds, or no suite tells what is needed.
    """
    whole_number(folds, "folds", at_least=2, advice="Write folds=5")
    single = [Suite(name, {name: 1.0}) for name in metrics]
    needs = checked_needs(needs)
    allowed = partial(ticking, metrics=metrics, needs=needs)
    every = equal_suites(metrics)
    equal = [suite for suite, fine in zip(every, allowed(weights_table(every, metrics)), strict=True) if fine]
    if not equal:
        raise InputError(
            f"suites must tell {', '.join(needs)}, but no suite of {', '.join(metrics)} does. Add a metric that does "
            "('unveil list metrics' shows which), or need less"
        )
    logs, zeros = quotients(values, single, floor, means=True)
    steps, cases, levels_left_out = steps_of(logs)
    notes = _notes(values, len(cases), levels_left_out)
    choose = partial(_choose, single=single, equal=equal, by=by, rng=rng, allowed=allowed)
    found, validations = None, []
    if len(cases):
        found = _tried(steps, [choose(steps)["optimized weights"][0]], metrics, by)[0]
        for grouping, keys in _groupings([values.cases[case] for case in cases]).items():
            validations.append(validate(steps, keys, choose, grouping=grouping, by=by, folds=folds, rng=rng))
    return SuiteSearch(
        metrics=tuple(metrics),
        by=by,
        cases=len(cases),
        singles=_tried(steps, single, metrics, by),
        equal=_tried(steps, equal, metrics, by),
        optimized=found,
        validations=tuple(validations),
        zeros=zeros,
        needs=needs,
        notes=notes if validations else (*notes, "There are too few attacks to see what holds in other cases."),
    )


def _choose(
    steps: Steps,
    *,
    single: Sequence[Suite],
    equal: Sequence[Suite],
    by: RankingUnit,
    rng: np.random.Generator,
    allowed: WeightFilter,
) -> Mapping[SuiteChoice, tuple[Suite, FloatArray]]:
    """Return the best metric, equal-weight suite, and weighted suite."""
    names = [suite.name for suite in single]
    picked: dict[SuiteChoice, tuple[Suite, FloatArray]] = {}
    for way, suites in zip(WAYS, (single, equal), strict=False):
        table = weights_table(suites, names)
        best = int(merit(steps, table, by).argmax())
        picked[way] = (suites[best], table[best])
    starts = [weights for _, weights in picked.values()]
    weights = best_weights(steps, starts, by, rng, allowed=allowed)
    weights = np.round(weights / weights.sum(), 10)  # 0.45 instead of 0.44999999999999996
    shown = {name: float(weight) for name, weight in zip(names, weights, strict=True) if weight > 0}
    picked["optimized weights"] = (Suite("optimized", shown), weights)
    return picked


def _tried(steps: Steps, suites: Sequence[Suite], metrics: Sequence[str], by: RankingUnit) -> tuple[SuiteTrial, ...]:
    """Return suites, best first, with their shares."""
    if not steps.cases:
        return tuple(SuiteTrial(suite, float("nan"), float("nan")) for suite in suites)
    table = weights_table(suites, metrics)
    whole, pairs = steps.ranked(table)
    order = np.argsort(-merit(steps, table, by), kind="stable")
    return tuple(SuiteTrial(suites[k], float(whole[:, k].mean()), float(pairs[:, k].mean())) for k in order.tolist())


def _groupings(cases: Sequence[GradedCase]) -> dict[Grouping, list[tuple[str, ...]]]:
    """Return the groups for cross-validation: attacks and data sets."""
    attacks = [(case.data, case.protect, case.attack) for case in cases]
    data = [(case.data,) for case in cases]
    found: dict[Grouping, list[tuple[str, ...]]] = {}
    if len(set(attacks)) >= 2:
        found["attack"] = list(attacks)
    if len(set(data)) >= _FEWEST_DATA_SETS:
        found["data set"] = list(data)
    return found


def _notes(values: ReplicatedMetrics, used: int, levels: int) -> tuple[str, ...]:
    notes = []
    if used < len(values.cases):
        notes.append(
            f"{len(values.cases) - used} of {len(values.cases)} cases have fewer than two levels at which all these "
            "metrics are defined; the search leaves them out."
        )
    if levels:
        notes.append(
            f"{levels} {'level' if levels == 1 else 'levels'} at which only some of these metrics are defined "
            f"{'was' if levels == 1 else 'were'} left out for all, so that suites and single metrics are compared on "
            "the same levels."
        )
    return tuple(notes)


def _said(validation: Validation, way: SuiteChoice, by: RankingUnit) -> str:
    share, single = validation.shares[way], validation.shares["single metric"]
    gain = validation.gains[way]
    verdict = "a gain" if gain.shown else "a loss" if gain.high < 0 else "no significant difference"
    what = "cases" if by == "whole" else "neighbouring levels"
    held_out = "attacks" if validation.grouping == "attack" else "data sets"
    return (
        f"Of {what} of held-out {held_out}, suites with {way} rank {share * 100:.1f}% in order, "
        f"and the best single metric {single * 100:.1f}%. The difference is {gain.mean * 100:+.1f} points (95% CI "
        f"{gain.low * 100:+.1f} to {gain.high * 100:+.1f}): {verdict}."
    )

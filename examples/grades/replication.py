"""Which findings of Zhao and Wagner hold in a study of ours? Prints their figures beside ours, with intervals.

    unveil study run studies/paper-1.toml --out step1
    python examples/grades/replication.py step1

All intervals are of 95 % and come from drawing combinations of data set, protection and attack anew: what they say
holds for more such combinations, not for more graphs, of which there are few.
"""

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil.grade.data_facts import scope_of
from unveil.grade.grades import PAPER, Grades, grade
from unveil.grade.replicated import Case, Replicated
from unveil.grade.summary import groups_of
from unveil.study import Results

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Metrics that count nodes found: the most monotonic ones of the paper.
COUNTS = ("adversary_overall_success", "amount_of_leaked_information", "adversary_success_rate")
#: The metrics that the paper says not to rank by, though others do.
DOUBTED = ("entropy", "min_entropy", "normalized_entropy", "anonymity_set_size")
DRAWS = 500


class Found(NamedTuple):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return it as a page shows it."""
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def bootstrap(figure: Callable[[Rows], float], groups: Rows, rng: np.random.Generator) -> Found:
    """Return a figure of cases, and the middle 95 % of it over groups of cases that are drawn anew."""
    members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
    drawn = [
        figure(np.concatenate([members[each] for each in rng.integers(0, len(members), len(members))]))
        for _ in range(DRAWS)
    ]
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Found(figure(np.arange(groups.size)), float(low), float(high))


def shares_of_variance(score: Floats, values: Replicated, rows: Rows) -> tuple[float, float]:
    """Return the linear R² of the metric, and that of data set, protection and attack together."""
    score = score[rows]
    total = np.nansum((score - np.nanmean(score)) ** 2)
    number = (~np.isnan(score)).sum(axis=0)
    by_metric = (number * (np.nanmean(score, axis=0) - np.nanmean(score)) ** 2).sum()
    cases = [values.cases[row] for row in rows]
    columns = [
        np.array([case[part] == name for case in cases], float)
        for part in range(3)
        for name in sorted({case[part] for case in cases})[1:]
    ]
    design = np.column_stack([np.ones(len(cases)), *columns])
    mean, weight = np.nanmean(score, axis=1), (~np.isnan(score)).sum(axis=1).astype(float)
    there = weight > 0
    root = np.sqrt(weight[there])
    fitted = design[there] @ np.linalg.lstsq(design[there] * root[:, None], mean[there] * root, rcond=None)[0]
    by_setting = (weight[there] * (fitted - np.nanmean(score)) ** 2).sum()
    return float(by_metric / total), float(by_setting / total)


def lines(grades: Grades, rng: np.random.Generator) -> Iterator[str]:
    """Yield what was found, finding by finding."""
    values, score = grades.values, grades.scores.monotonicity.score
    groups, place = groups_of(values.cases), values.metrics.index
    counts = [place(name) for name in COUNTS]
    others = [column for column in range(len(values.metrics)) if column not in counts]
    ahead = bootstrap(lambda rows: float(np.nanmean(score[rows][:, counts]) - np.nanmean(score[rows][:, others])),
                      groups, rng)  # fmt: skip
    ranks = {each.metric: rank for rank, each in enumerate(grades.metrics, start=1)}
    yield f"1. Metrics that count nodes found are ahead of the others by {ahead}; their ranks: " + ", ".join(
        f"{name} {ranks[name]}" for name in COUNTS
    )
    for name in (*COUNTS, "hiding_property", "user_specified_innocence"):
        axes = grades.metric(name).by_axis
        yield f"   {name}: " + ", ".join(f"by {axis} {each.mean:.3f}" for axis, each in axes.items())
    for name in DOUBTED:
        each = grades.metric(name)
        found = Found(each.monotonicity.mean, each.monotonicity.low, each.monotonicity.high)
        yield f"2. {name}: {found}; wrong way in {each.against:.0%}, nothing significant in {each.undecided:.0%}"
    for name in ("pearson_correlation", "normalized_variance"):
        each = grades.metric(name)
        scores = (each.monotonicity, each.evenness, each.shared_range)
        yield f"3. {name}: " + ", ".join(str(Found(one.mean, one.low, one.high)) for one in scores)
    inflated = values.means[:, place("adversary_success_rate")] - values.means[:, place("adversary_overall_success")]
    scope = np.array([scope_of(case.attack) for case in values.cases])
    attacks = list(dict.fromkeys(case.attack for case in values.cases))
    for name in attacks:
        found = _mean([case for case in values.cases if case.attack == name], inflated, values, rng)
        yield f"4. {name.partition(':')[0]} ({scope_of(name)}): success rate less overall success {found}"
    less = bootstrap(lambda rows: _local_less_global(inflated[rows], scope[rows]), groups, rng)
    yield f"4. local less global: {less}"
    for name in attacks:
        its = np.array([case.attack == name for case in values.cases])
        highest = float(np.nanmax(values.values[its][:, place("entropy")]))
        yield f"5. {name}: highest entropy {highest:.3f} bits; 100 candidates allow {np.log2(100):.3f}"
    for validation in grades.searches[PAPER].validations:
        for way, gain in validation.gains.items():
            yield f"6. held out by {validation.grouping}, {way}: gain over the best single metric {Found(*gain)}"
    metric = bootstrap(lambda rows: shares_of_variance(score, values, rows)[0], groups, rng)
    setting = bootstrap(lambda rows: shares_of_variance(score, values, rows)[1], groups, rng)
    yield f"7. R² of the metric {metric}, of data set, protection and attack together {setting}"


def _mean(cases: list[Case], figure: Floats, values: Replicated, rng: np.random.Generator) -> Found:
    its = figure[[values.cases.index(case) for case in cases]]
    return bootstrap(lambda rows: float(np.nanmean(its[rows])), groups_of(cases), rng)


def _local_less_global(inflated: Floats, scope: NDArray[np.str_]) -> float:
    return float(np.nanmean(inflated[scope == "local"]) - np.nanmean(inflated[scope == "global"]))


def main() -> None:
    """Print what the studies in the named folders say to each finding."""
    values = Replicated.of(*(Results.read(folder) for folder in sys.argv[1:]))
    rng = np.random.default_rng(0)
    for line in lines(grade(values, rng=rng), rng):
        print(line)


if __name__ == "__main__":
    main()

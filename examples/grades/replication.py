"""Which findings of Zhao and Wagner hold in studies of ours? Writes Markdown: the figures, with their intervals.

    unveil study run studies/paper-1.toml --out one
    unveil study run studies/paper-2.toml --out two
    python examples/grades/replication.py one two > docs/research/replication-figures.md

Folders are graded together. All intervals are of 95 % and come from drawing combinations of data set, protection and
attack anew: what they say holds for more such combinations, not for more graphs.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil import grade_metrics
from unveil.errors import InputError
from unveil.grades.factors import scope_of
from unveil.grades.grades import PAPER, Grades
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.verdict import ScoreSummary, groups_of
from unveil.questions.grade_metrics.details import cases_with
from unveil.questions.grade_metrics.findings import GradesFindings
from unveil.questions.grade_metrics.sections.calibration import calibration_answer, calibration_table
from unveil.questions.grade_metrics.sections.metrics import node_table, ranking_table, span_table
from unveil.questions.grade_metrics.sections.suites import (
    case_table,
    held_out_table,
    suite_score_table,
    suite_table,
    sum_table,
)
from unveil.questions.grade_metrics.view import headline
from unveil.report.blocks import TableBlock

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Metrics that count nodes found: the most monotonic ones of the paper.
COUNTS = ("adversary_overall_success", "amount_of_leaked_information", "adversary_success_rate")
#: The metrics that the paper says not to rank by, though others do.
DOUBTED = ("entropy", "min_entropy", "normalized_entropy", "anonymity_set_size")
#: The metrics that the paper speaks of by the values of nodes, what Fig. 9 prints of two of them, and its rule.
PER_NODE = ("pearson_correlation", "normalized_variance", "absolute_error", "incorrectness", "anonymity_set_size")
FIGURE_9 = {"incorrectness": 0.14, "pearson_correlation": 0.89}
HALF = 0.5
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
    known = [each for each in drawn if not np.isnan(each)]
    low, high = np.quantile(known, [0.025, 0.975]) if known else (np.nan, np.nan)
    return Found(figure(np.arange(groups.size)), float(low), float(high))


def shares_of_variance(score: Floats, values: ReplicatedMetrics, rows: Rows) -> tuple[float, float]:
    """Return the linear R² of the metric, and that of data set, protection and attack together."""
    score = score[rows]
    total = np.nansum((score - np.nanmean(score)) ** 2)
    number = (~np.isnan(score)).sum(axis=0)
    by_metric = (number * (np.nanmean(score, axis=0) - np.nanmean(score)) ** 2).sum()
    cases = [values.cases[row] for row in rows]
    columns = [
        np.array([own == name for own in part], float)
        for part in list(zip(*cases, strict=True))[:3]
        for name in sorted(set(part))[1:]
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
        for way, measured in validation.gains.items():
            gain = Found(*astuple(measured))
            yield f"6. held out by {validation.grouping}, {way}: gain over the best single metric {gain}"
    metric = bootstrap(lambda rows: shares_of_variance(score, values, rows)[0], groups, rng)
    setting = bootstrap(lambda rows: shares_of_variance(score, values, rows)[1], groups, rng)
    yield f"7. R² of the metric {metric}, of data set, protection and attack together {setting}"


def _mean(cases: list[GradedCase], figure: Floats, values: ReplicatedMetrics, rng: np.random.Generator) -> Found:
    its = figure[[values.cases.index(case) for case in cases]]
    return bootstrap(lambda rows: float(np.nanmean(its[rows])), groups_of(cases), rng)


def _local_less_global(inflated: Floats, scope: NDArray[np.str_]) -> float:
    # A draw may hold attacks of one kind only.
    kinds = [inflated[scope == kind] for kind in ("local", "global")]
    if any(np.isnan(each).all() for each in kinds):
        return float("nan")
    return float(np.nanmean(kinds[0]) - np.nanmean(kinds[1]))


def node_lines(grades: Grades) -> Iterator[str]:
    """Yield the figures that the paper prints of single nodes (Figs 9, 11 and 12, Table 6), by both readings."""
    if grades.nodes is None:
        yield "The studies kept no values of nodes."
        return
    for name in PER_NODE:
        nodes, means = grades.nodes.metric(name), grades.metric(name)
        if nodes is None:
            continue
        yield (
            f"{name}: evenness of nodes {_found(nodes.evenness)}, of means {_found(means.evenness)}; range of nodes "
            f"{_found(nodes.shared_range)}, of means {_found(means.shared_range)}"
        )
    both = [
        each.metric
        for each in grades.nodes.metrics
        if min(grades.metric(each.metric).monotonicity.mean, each.evenness.mean, each.shared_range.mean) > HALF
    ]
    yield f"metrics of nodes above {HALF:g} in all three criteria: {', '.join(both) or 'none'}"
    scores = grades.nodes.scores
    for name, printed in FIGURE_9.items():
        column = scores.values.metrics.index(name) if name in scores.values.metrics else None
        for row, case in enumerate(scores.values.cases):
            fits = case.data == "manufacturing" and case.attack.startswith("DV") and "-dp" in case.protect
            if fits and column is not None:
                ours = scores.evenness[row, column]
                yield f"Fig. 9, {name} ({printed} printed), {case}: evenness of nodes {ours:.3f}"


def _found(score: ScoreSummary) -> Found:
    return Found(score.mean, score.low, score.high)


def markdown(table: TableBlock | None) -> Iterator[str]:
    """Yield a table of the page as Markdown; nothing where there is none."""
    if table is None:
        return
    yield f"**{table.caption}**"
    yield ""
    yield f"| {' | '.join(table.columns)} |"
    yield f"|{'---|' * len(table.columns)}"
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in table.rows)
    if table.note:
        yield ""
        yield table.note
    yield ""


def report(found: GradesFindings, rng: np.random.Generator, case: str) -> Iterator[str]:
    """Yield everything as Markdown: what was graded, the findings, both readings, calibration, suites and Table 8."""
    values = found.grades.values
    yield from ("# The figures of the replication", "")
    yield "Written by `examples/grades/replication.py`; [which findings hold](replication.md) says what they mean."
    yield from ("", "## What was graded")
    yield ""
    yield "| study | scenarios | data sets | protections | attacks | replications | values of nodes | calibrated |"
    yield f"|{'---|' * 8}"
    for each in found.studies:
        plan = each.study
        cells = (
            plan.name,
            f"{each.counts.fine} of {each.counts.total}",
            ", ".join(data.name for data in plan.data),
            len(plan.protections),
            len(plan.attacks),
            plan.replications.number or f"up to {plan.replications.cap}",
            "yes" if plan.node_values else "no",
            plan.calibrate or "no",
        )
        yield f"| {' | '.join(map(str, cells))} |"
    yield from ("", f"{len(values.cases)} cases, {len(values.metrics)} metrics.", "", "## The findings", "")
    yield headline(found)
    yield ""
    yield from (f"* {line.strip()}" for line in lines(found.grades, rng))
    yield from ("", "## Nodes and means", "")
    yield from (f"* {line}" for line in node_lines(found.grades))
    yield ""
    for table in (ranking_table(found), node_table(found), span_table(found)):
        yield from markdown(table)
    yield from ("## Raw scores and calibrated probabilities", "")
    yield from (f"* {line}" for line in calibration_answer(found) or ("No study has calibrated probabilities.",))
    yield ""
    yield from markdown(calibration_table(found))
    yield from ("## Suites: products and sums", "")
    searched = held_out_table(dict(found.grades.searches))
    for one in (suite_table(found), sum_table(found), suite_score_table(found), searched):
        yield from markdown(one)
    yield from ("", f"## Table 8 ({case})", "")
    if not found.asked:
        yield f"No case has the words {case}."
    for number in found.asked:
        yield from markdown(case_table(found, number))
    yield from ("", "## Notes", "", *(f"* {note}" for note in found.notes))


def main() -> None:
    """Write what the studies in the named folders say to each finding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="of a study; several are graded together")
    parser.add_argument("--case", default="elections,hrg-dp,JLSB", help="words of the case of Table 8")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    for line in report(findings_of(given.folders, given.case, rng), rng, given.case):
        print(line)


def findings_of(folders: list[str], case: str, rng: np.random.Generator) -> GradesFindings:
    """Return the grades of the studies, with the case where there is one."""
    found = grade_metrics(*folders, rng=rng).findings
    try:
        asked = tuple(cases_with(found.grades, case, "--case"))
    except InputError:  # these studies have no such case
        asked = ()
    return replace(found, asked=asked)


if __name__ == "__main__":
    main()

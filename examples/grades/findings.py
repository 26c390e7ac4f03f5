"""The findings of Zhao and Wagner, each by axis of strength: tables of figures with intervals over graphs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from examples.grades.axes import AXES, Floats, Found, Rows, by_axis, first, mean_over_graphs, over_graphs
from unveil.grades.factors import explain, scope_of
from unveil.grades.grades import Grades
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.scores import Scores
from unveil.grades.search import best_suites
from unveil.grades.suites import SUITES, Rankings, Suite, rankings, suite_values

#: Metrics that count nodes found: the most monotonic ones of the paper.
COUNTS = ("adversary_overall_success", "amount_of_leaked_information", "adversary_success_rate")
#: What the paper recommends for one number, and what its suites are compared with here.
SINGLE = "adversary_overall_success"
#: Numbers of replications that a study of many is cut to.
CUTS = (5, 10, 20, 50, 100)
#: The conventions: people whom the attacker knows are no targets, or they are targets and finds.
OURS, SEEDS = "seeds left out", "seeds counted"


Table = Iterator[str]
#: The same cases under each convention.
Conventions = Mapping[str, Scores]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Yield a table as Markdown, and an empty line."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |"
    yield ""


def words(name: str) -> str:
    """Return the name of a metric as the page writes it."""
    return name.replace("_", " ")


def percent(found: Found) -> str:
    """Return a share as percent, with its interval."""
    return found.text(".1f", 100)


def points(found: Found) -> str:
    """Return a difference of shares in points, with its interval."""
    return found.text("+.1f", 100)


def metric_table(scores: Conventions) -> Table:
    """Yield the monotonicity of each metric by axis; of those that count also with seeds counted."""
    ours = scores[OURS]
    values, score = ours.values, ours.monotonicity.score
    against = np.where(np.isnan(score), np.nan, (ours.monotonicity.wrong + ours.monotonicity.turns) > 0)
    axes = by_axis(values)
    order = sorted(range(len(values.metrics)), key=lambda column: -_mean(score[:, column]))
    head = ["metric", *(f"{AXES[name]}{more}" for name in axes for more in ("", ": wrong way", f": {SEEDS}"))]

    def row(column: int) -> Iterator[str]:
        yield words(values.metrics[column])
        for rows in axes.values():
            cases = [values.cases[each] for each in rows]
            other = scores[SEEDS].monotonicity.score[rows, column]
            yield str(mean_over_graphs(score[rows, column], cases))
            yield f"{_mean(against[rows, column]):.0%}"
            same = np.array_equal(other, score[rows, column], equal_nan=True)
            yield "–" if same else str(mean_over_graphs(other, cases))

    yield from table(head, (tuple(row(column)) for column in order))


def _mean(column: NDArray[np.generic]) -> float:
    there = ~np.isnan(column.astype(float))
    return float(column[there].mean()) if there.any() else float("nan")


def count_table(scores: Conventions) -> Table:
    """Yield how far metrics that count nodes found are ahead of the others, and their ranks."""
    rows = []
    for convention, each in scores.items():
        names = each.values.metrics
        counting = np.isin(names, COUNTS)
        for axis, cases in _cases_by_axis(each.values):
            score = each.monotonicity.score[cases]
            gap = [np.nanmean(row[counting]) - np.nanmean(row[~counting]) for row in score]
            means = np.nanmean(score, axis=0)
            ranks = ", ".join(str(1 + int((means > means[names.index(name)]).sum())) for name in COUNTS)
            found = mean_over_graphs(np.array(gap), [each.values.cases[case] for case in cases])
            rows.append((AXES[axis], convention, found.text("+.3f"), ranks, f"{means.min():.3f}"))
    yield from table(("axis", "convention", "ahead of the others", f"ranks of {_list(COUNTS)}", "lowest metric"), rows)


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(words, names))


def _cases_by_axis(values: ReplicatedMetrics) -> Iterator[tuple[str, Rows]]:
    axes = by_axis(values)
    return ((name, axes[name]) for name in AXES if name in axes)


def inflation_table(scores: Conventions) -> Table:
    """Yield the success rate less the overall success by attack; the paper finds it large for local attacks."""
    attacks = list(dict.fromkeys(case.attack for case in scores[OURS].values.cases))
    rows = []
    for convention, each in scores.items():
        values = each.values
        place = values.metrics.index
        inflated = np.nanmean(values.means[:, place(COUNTS[2])] - values.means[:, place(COUNTS[0])], axis=1)
        for axis, cases in _cases_by_axis(values):
            cells = [AXES[axis], convention]
            for attack in attacks:
                own = [case for case in cases if values.cases[case].attack == attack]
                cells.append(mean_over_graphs(inflated[own], [values.cases[case] for case in own]).text("+.2f"))
            rows.append(cells)
    names = [f"{attack.partition(':')[0]} ({scope_of(attack)})" for attack in attacks]
    yield from table(("axis", "convention", *names), rows)


def ceiling_table(values: ReplicatedMetrics) -> Table:
    """Yield the highest entropy and anonymity set of any release by attack: chunks of 100 allow 6.644 bits."""
    rows = []
    for attack in dict.fromkeys(case.attack for case in values.cases):
        own = np.array([case.attack == attack for case in values.cases])
        highest = [np.nanmax(values.values[own][:, values.metrics.index(name)]) for name in _CAPPED]
        rows.append((attack.partition(":")[0], f"{highest[0]:.3f}", f"{highest[1]:.1f}"))
    yield from table(("attack", "highest entropy (bits)", "largest anonymity set"), rows)


_CAPPED = ("entropy", "anonymity_set_size")


def cell_share(score: Floats, labels: Sequence[object] | None) -> float:
    """Return the share of variance that a metric within each group of cases explains; None is one group.

    >>> cell_share(np.array([[0.0, 1.0], [1.0, 0.0]]), ["overlap", "seed_pairs"])
    1.0
    """
    names = ["" if labels is None else str(label) for label in labels or [""] * len(score)]
    total = np.nansum((score - np.nanmean(score)) ** 2)
    explained = 0.0
    for name in set(names):
        part = score[np.array([each == name for each in names])]
        number = (~np.isnan(part)).sum(axis=0)
        means = np.divide(np.nansum(part, axis=0), number, out=np.zeros(number.size), where=number > 0)
        explained += float((number * (means - np.nanmean(score)) ** 2).sum())
    return explained / float(total)


def factor_table(scores: Scores) -> Table:
    """Yield the shares of variance of all three scores: of the metric, of the setting, and of their interactions."""
    values = scores.values
    three = {"monotonicity": scores.monotonicity.score, "evenness": scores.evenness, "range": scores.shared_range}
    parts = {
        "axis": [case.axis for case in values.cases],
        "scope (local, global)": [scope_of(case.attack) for case in values.cases],
        "attack": [case.attack for case in values.cases],
        "protection": [case.protect for case in values.cases],
        "data": [case.data for case in values.cases],
    }
    alone = ("metric", "setting", "axis", "scope")
    rows: list[list[str]] = [[name] for name in (*alone, *(f"metric × {name}" for name in parts))]
    rows += [["MARS without interactions"], ["MARS with two-way interactions"]]
    for score in three.values():
        cells = [str(over_graphs(partial(_metric_share, score), values.cases))]
        plain, crossed = (explain(score, values, interactions=degree) for degree in (1, 2))
        cells += [f"{plain.groups.get(name, 0.0):.3f}" for name in alone[1:]]
        cells += [f"{cell_share(score, labels):.3f}" for labels in parts.values()]
        cells += [f"{each.mars.r_squared:.3f} ({len(each.mars.terms)} terms)" for each in (plain, crossed)]
        for row, cell in zip(rows, cells, strict=True):
            row.append(cell)
    yield from table(("explained by", *three), rows)


def axis_factor_table(scores: Scores) -> Table:
    """Yield what the metric and the setting explain of the scores of one axis."""
    three = {"monotonicity": scores.monotonicity.score, "evenness": scores.evenness, "range": scores.shared_range}
    rows = []
    for axis, cases in _cases_by_axis(scores.values):
        values = scores.values.only(cases=cases)
        scope = [scope_of(case.attack) for case in values.cases]
        for name, score in three.items():
            groups = explain(score[cases], values).groups
            shares = (groups.get(group, 0.0) for group in ("metric", "setting", "scope"))
            cells = (*shares, cell_share(score[cases], scope))
            rows.append((AXES[axis], name, *(f"{share:.3f}" for share in cells)))
    yield from table(("axis", "score", "metric", "setting", "scope", "metric × scope"), rows)


def _metric_share(score: Floats, rows: Rows) -> float:
    return cell_share(score[rows], None)


def term_table(scores: Scores, at_most: int = 12) -> Table:
    """Yield the most important terms of the model of monotonicity with two-way interactions."""
    model = explain(scores.monotonicity.score, scores.values, interactions=2).mars
    yield from table(
        ("term", "coefficient", "R² lost without terms of these factors"),
        (
            (" × ".join(hinge.name.partition(":")[0] for hinge in term.hinges), f"{term.coefficient:+.2f}",
             f"{term.importance:.3f}") for term in model.terms[:at_most]
        ),
    )  # fmt: skip


def suite_table(scores: Conventions) -> Table:
    """Yield cases and pairs in order by suite, and the gain over the single metric, by axis and convention."""
    rows = []
    for convention, each in scores.items():
        found = suites_of(each.values)
        groups = {AXES[axis]: cases for axis, cases in _cases_by_axis(each.values)}
        for axis, cases in {**groups, "both": np.arange(len(found.cases))}.items():
            rows += [
                (axis, convention, suite.name, *_ordered(found, number, cases))
                for number, suite in enumerate(found.suites)
            ]
    head = ("axis", "convention", "suite", "cases in order, %", "pairs in order, %", "gain in cases, points",
            "gain in pairs, points")  # fmt: skip
    yield from table(head, rows)


def suites_of(values: ReplicatedMetrics) -> Rankings:
    """Return what the single metric (first) and the suites of the paper put in order."""
    return rankings(values, (Suite(words(SINGLE), {SINGLE: 1.0}), *SUITES.values()))


def _ordered(found: Rankings, suite: int, rows: Rows) -> Iterator[str]:
    cases = [found.cases[row] for row in rows]
    for what in (found.whole, found.pairs):
        yield percent(mean_over_graphs(what[suite, rows], cases))
    for what in (found.whole, found.pairs):
        yield points(mean_over_graphs(what[suite, rows] - what[0, rows], cases)) if suite else "–"


def suite_score_table(values: ReplicatedMetrics) -> Table:
    """Yield the three criteria of the paper's suites by axis."""
    scores = Scores.of(suite_values(values, list(SUITES.values())))
    three = (scores.monotonicity.score, scores.evenness, scores.shared_range)
    rows = [
        (AXES[axis], name, *(str(_of(score[cases, column], values, cases)) for score in three))
        for axis, cases in _cases_by_axis(values)
        for column, name in enumerate(scores.values.metrics)
    ]
    yield from table(("axis", "suite", "monotonicity", "evenness", "range"), rows)


def search_table(scores: Conventions, rng: np.random.Generator) -> Table:
    """Yield what suites of the paper's seven metrics gain in graphs that had no say in the choice."""
    rows = []
    for convention, each in scores.items():
        for axis, cases in _cases_by_axis(each.values):
            search = best_suites(each.values.only(cases=cases), SUITES["S5"].metrics, rng=rng)
            for one in search.validations:
                if one.grouping == "data set":
                    gains = [points(Found(gain.mean, gain.low, gain.high)) for gain in one.gains.values()]
                    rows.append((AXES[axis], convention, f"{one.shares['single metric']:.1%}", *gains))
    yield from table(("axis", "convention", "best single metric", "gain of equal weights, points",
                      "gain of best weights, points"), rows)  # fmt: skip


def replication_table(values: ReplicatedMetrics) -> Table:
    """Yield what the first 5, 10, ... replications of the same cases say of metrics."""
    rows = []
    column = {name: values.metrics.index(name) for name in _CUT if name in values.metrics}
    for number in (cut for cut in CUTS if cut <= values.values.shape[3]):
        score = Scores.of(first(values, number)).monotonicity
        for axis, cases in _cases_by_axis(values):
            undecided = score.undecided[cases, column[SINGLE]].mean()
            means = (f"{_mean(score.score[cases, at]):.3f}" for at in column.values())
            rows.append((number, AXES[axis], *means, f"{undecided:.0%}"))
    yield from table(("replications", "axis", *map(words, column), f"{words(SINGLE)} undecided"), rows)


def replication_suite_table(conventions: Mapping[str, ReplicatedMetrics]) -> Table:
    """Yield which share of cases, and of pairs of levels, suites order by the first 5, 10, ... replications."""
    rows = []
    suites: tuple[Suite, ...] = ()
    for convention, values in conventions.items():
        groups = {AXES[axis]: cases for axis, cases in _cases_by_axis(values)}
        groups["both"] = np.arange(len(values.cases))
        for number in (cut for cut in CUTS if cut <= values.values.shape[3]):
            found = suites_of(first(values, number))
            suites = found.suites
            for axis, cases in groups.items():
                whole, pairs = (np.nanmean(each[:, cases], axis=1) for each in (found.whole, found.pairs))
                shares = (f"{one:.1%} ({other:.1%})" for one, other in zip(whole, pairs, strict=True))
                rows.append((convention, number, axis, *shares))
    yield from table(("convention", "replications", "axis", *(each.name for each in suites)), rows)


#: The metrics that are shown by the number of replications.
_CUT = (SINGLE, "entropy", "mean_squared_error", "normalized_variance")


def criteria_table(grades: Grades, names: Sequence[str]) -> Table:
    """Yield the three criteria of metrics by axis, of means and of single nodes."""
    rows = []
    for name in names:
        column = grades.values.metrics.index(name)
        for axis, cases in _cases_by_axis(grades.values):
            three = (grades.scores.monotonicity.score, grades.scores.evenness, grades.scores.shared_range)
            cells = [str(_of(score[cases, column], grades.values, cases)) for score in three]
            rows.append((words(name), AXES[axis], *cells, *_node_cells(grades, name, axis)))
    head = ("metric", "axis", "monotonicity", "evenness", "range", "evenness (nodes)", "range (nodes)")
    yield from table(head, rows)


def _of(column: Floats, values: ReplicatedMetrics, rows: Rows) -> Found:
    return mean_over_graphs(column, [values.cases[row] for row in rows])


def _node_cells(grades: Grades, name: str, axis: str) -> tuple[str, str]:
    if grades.nodes is None or name not in grades.nodes.scores.values.metrics:
        return "–", "–"
    scores = grades.nodes.scores
    rows, column = by_axis(scores.values)[axis], scores.values.metrics.index(name)
    evenness, span = (_of(each[rows, column], scores.values, rows) for each in (scores.evenness, scores.shared_range))
    return str(evenness), str(span)


def mean_table(values: ReplicatedMetrics, names: Sequence[str]) -> Table:
    """Yield the mean of metrics and the monotonicity of overall success by data, protection and attack."""
    score = Scores.of(values).monotonicity.score[:, values.metrics.index(SINGLE)]
    groups: dict[tuple[str, str, str], list[int]] = {}
    for row, case in enumerate(values.cases):
        groups.setdefault((case.data, case.protect, case.attack), []).append(row)
    yield from table(
        ("data", "protection", "attack", *map(words, names), f"monotonicity of {words(SINGLE)}"),
        (
            (*key, *(f"{np.nanmean(values.means[rows, values.metrics.index(name)]):.3f}" for name in names),
             f"{_mean(score[rows]):.3f}") for key, rows in groups.items()
        ),
    )  # fmt: skip


def protection_table(scores: Scores, protection: str, notes: Mapping[str, str]) -> Table:
    """Yield the overall success under one protection and without any, by graph and axis, and a note on each graph."""
    values = scores.values
    column = values.metrics.index(SINGLE)
    rows = []
    for data in dict.fromkeys(case.data for case in values.cases):
        cells = [
            _mean(values.means[[row for row in cases if _is(values.cases[row], data, name)], column])
            for _, cases in _cases_by_axis(values)
            for name in (protection, "id-removal")
        ]
        if not np.isnan(cells).any():
            rows.append((data, *(f"{cell:.2%}" for cell in cells), notes.get(data, "not run")))
    columns = [f"{word}: {name}" for word in AXES.values() for name in (protection, "id-removal")]
    yield from table(("graph", *columns, "note of the release"), rows)


def _is(case: GradedCase, data: str, protection: str) -> bool:
    return case.data == data and case.protect.partition(":")[0] == protection

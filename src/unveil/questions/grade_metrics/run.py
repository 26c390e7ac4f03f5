"""Grade the metrics of studies: grades, explanations, and limits."""

from collections.abc import Mapping, Sequence
from math import comb

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.grades.evenness import constant, over_all_cases
from unveil.grades.factors import Factors, explain, statistics_of, types_of
from unveil.grades.grades import GradedValues, Grades, grade, groups_of
from unveil.grades.nodes import NodeSketches
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.suites import Suite
from unveil.questions.grade_metrics.details import MOST_DETAILS, cases_with, details_of
from unveil.questions.grade_metrics.findings import AttackFacts, GradedStudy, GradesFindings, NodeSpan, Span, named
from unveil.report.progress import Progress
from unveil.report.text import count, labels, significant
from unveil.studies import Results

#: With fewer scores, nothing is said about what explains them.
_FEWEST_SCORES = 20
#: With fewer replications than these the note on small samples is made.
FEW = 5
_MOST_NAMED = 6


def run(
    results: Sequence[Results],
    values: ReplicatedMetrics,
    *,
    nodes: NodeSketches | None,
    calibrated: ReplicatedMetrics | None,
    calibrated_nodes: NodeSketches | None,
    suites: Sequence[Suite],
    studies: tuple[GradedStudy, ...],
    attacks: Mapping[str, AttackFacts],
    protections: Mapping[str, str],
    details: Sequence[str],
    suite_needs: Sequence[str],
    of: GradedValues,
    case: str,
    interactions: int,
    level: float,
    strict: bool,
    rng: np.random.Generator,
    progress: Progress,
) -> GradesFindings:
    """Grade metrics; see :func:`unveil.grade_metrics`."""
    from unveil._version import __version__

    progress("comparing attackers", 0.3)
    search_rng, statistics_rng = rng.spawn(2)
    grades = grade(
        values,
        nodes=nodes,
        calibrated=calibrated,
        calibrated_nodes=calibrated_nodes,
        of=of,
        level=level,
        strict=strict,
        suites=suites,
        needs=suite_needs,
        rng=search_rng,
    )
    asked = tuple(cases_with(grades, case, "--case")[:MOST_DETAILS]) if case else ()
    shown, said = details_of(grades, details)
    progress("looking for what explains the scores", 0.7)
    factors, more = factors_of(grades, results, interactions=interactions, rng=statistics_rng)
    return GradesFindings(
        grades=grades,
        studies=studies,
        factors=factors,
        details=shown,
        asked=asked,
        spans=() if nodes is None else spans_of(nodes),
        attacks=attacks,
        protections=protections,
        notes=(*notes_of(grades, studies), *_about_nodes(grades, nodes, studies), *said, *more),
        version=__version__,
    )


def _about_nodes(grades: Grades, nodes: NodeSketches | None, studies: Sequence[GradedStudy]) -> list[str]:
    """Say in one sentence where there are no values of nodes, or which metrics have none."""
    if grades.of == "means":
        return []
    if nodes is None:
        which = f"The study '{studies[0].study.name}'" if len(studies) == 1 else "The studies"
        return [f"{which} kept no values of nodes: evenness and range are of means over targets alone."]
    said = []
    if any(each.study.kind == "table" for each in studies):
        said.append("Of tables, nodes are the released rows: scores of nodes are those of the values of single rows.")
    lacking = int((~nodes.cases).sum())
    if lacking:
        said.append(
            f"{count(lacking, 'case', 'cases')} of {len(nodes.cases):,} {'has' if lacking == 1 else 'have'} no values "
            "of nodes: scores of nodes leave them out."
        )
    if grades.of == "nodes":
        others = [name for name in grades.values.metrics if name not in nodes.values.metrics]
        said.append(
            "Tests are of the values of nodes, pooled over replications: they are many, so that small changes are "
            "significant, and not independent of one another. Suites are of means over targets"
            + (f"; so {'is' if len(others) == 1 else 'are'} {named(others, _MOST_NAMED)}." if others else ".")
        )
    return said


def factors_of(
    grades: Grades, studies: Sequence[Results], *, interactions: int = 1, rng: np.random.Generator
) -> tuple[tuple[Factors, ...], tuple[str, ...]]:
    """Return what explains each of the three scores, and notes; nothing where too few scores differ."""
    scores = grades.scores
    wanted = {
        "monotonicity": scores.monotonicity.score,
        "evenness": scores.evenness,
        "shared_range": scores.shared_range,
    }
    varied = {name: score for name, score in wanted.items() if _varied(score)}
    if not varied:
        return (), ("Too few scores differ to tell what explains them.",)
    statistics: dict[str, dict[str, float]] = {}
    notes: list[str] = []
    for each in studies:
        own, said = statistics_of(each, rng=rng)
        statistics |= own
        notes += _shortened(said)
    types = {name: label for each in studies for name, label in types_of(each.study).items()}
    factors = tuple(
        explain(score, grades.values, statistics, types, response=name, interactions=interactions)
        for name, score in varied.items()
    )
    return factors, tuple(dict.fromkeys([*notes, *(note for each in factors for note in each.notes)]))


def _shortened(sentences: Sequence[str]) -> list[str]:
    """Return the first of several similar sentences, and their number."""
    more = f" The same holds for {len(sentences) - 1} more of its data sets." if len(sentences) > 1 else ""
    return [f"{sentences[0]}{more}"] if sentences else []


def _varied(score: FloatArray) -> bool:
    known = score[np.isfinite(score)]
    return known.size >= _FEWEST_SCORES and bool(np.ptp(known) > 0)


def notes_of(grades: Grades, studies: Sequence[GradedStudy]) -> tuple[str, ...]:
    """Return everything that limits what the grades say, in sentences."""
    values = grades.values
    return (
        *(sentence for each in studies for sentence in _incomplete(each)),
        *_mixed(studies),
        *_missing_levels(values),
        *_few_replications(values, grades.level),
        *_without_values(values),
        *_constant(values),
        *_one_case(values),
        *_counting_targets(grades),
        *grades.left_out,
    )


def _counting_targets(grades: Grades) -> list[str]:
    found = [each.metric for each in grades.metrics if each.counts_targets]
    if not found:
        return []
    return [
        f"{_named(found)} count{'s' if len(found) == 1 else ''} targets. More seed pairs leave fewer targets "
        "to count, so the metric moves even if the attack learns nothing. Judge it by an axis with the same "
        "targets, such as edge overlap."
    ]


def _incomplete(each: GradedStudy) -> list[str]:
    counts, name = each.counts, each.study.name
    said = []
    if each.running:
        said.append(f"The study '{name}' is being computed now: grades will change as results come in.")
    if counts.left:
        parts = {"failed": counts.failed, "damaged": counts.damaged, "not computed": counts.missing}
        why = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number)
        said.append(
            f"{count(counts.left, 'scenario', 'scenarios')} of {counts.total:,} of the study '{name}' "
            f"{'has' if counts.left == 1 else 'have'} no results ({why}): the levels are missing, and a case without "
            "any level is left out."
        )
    return said


def _mixed(studies: Sequence[GradedStudy]) -> list[str]:
    """Say what is wrong with grading studies together that have little in common."""
    said = []
    if len({each.study.kind for each in studies}) > 1:
        said.append(
            "Attacks on graphs and on tables were graded together, so that a metric has one range for both and its "
            "evenness and range say little. Grade the studies one by one."
        )
    seen: dict[str, set[str]] = {}
    for each in studies:
        for name, digest in each.digests.items():
            seen.setdefault(name, set()).add(digest)
    different = [name for name, digests in seen.items() if len(digests) > 1]
    if different:
        said.append(
            f"The studies have different data by the name {', '.join(different)}: they count as one data set here. "
            "Give them names of their own."
        )
    return said


def _missing_levels(values: ReplicatedMetrics) -> list[str]:
    """Return a note on the cases that lack a level."""
    there = (values.replications > 0).any(axis=1)
    wanted = np.array([len(levels) for levels in values.levels])
    short = there.sum(axis=1) < wanted
    if not short.any():
        return []
    worst = _case(values, int(np.argmax(wanted - there.sum(axis=1))))
    one = int(short.sum()) == 1
    return [
        f"{count(int(short.sum()), 'case lacks', 'cases lack')} levels{',' if one else ', such as'} {worst}: levels "
        f"that are there count as adjacent, and {'its score rests' if one else 'their scores rest'} on fewer pairs."
    ]


def _case(values: ReplicatedMetrics, number: int) -> str:
    """Return a short name of a case, unique among all."""
    case = values.cases[number]
    protect = labels(tuple(dict.fromkeys(each.protect for each in values.cases)))[case.protect]
    attack = labels(tuple(dict.fromkeys(each.attack for each in values.cases)))[case.attack]
    return f"{case.data}, {protect}, {attack}, by {case.axis.replace('_', ' ')}"


def _few_replications(values: ReplicatedMetrics, level: float) -> list[str]:
    number = values.replications.max(axis=1)
    number = number[number > 0]
    if not number.size:
        return []
    least = int(number.min())
    if least >= FEW:
        return []
    where = "All levels have" if least == int(number.max()) else "Some levels have"
    if least == 1:
        return [
            f"{where} one replication only, which no test can compare: monotonicity is undefined there. Run the study "
            f"with at least {FEW} replications."
        ]
    smallest = 2 / comb(2 * least, least)
    have = f"{where} {least} replications"
    if smallest >= level:
        return [
            f"{have}. The exact rank-sum test then has no p value below {significant(smallest)} and cannot be "
            f"significant at {level:g}, so no score can exceed 0.833. Run at least {FEW} replications."
        ]
    return [
        f"{have}: only large changes are significant. Run at least {FEW}; else 0.667 may mean too few replications."
    ]


def _without_values(values: ReplicatedMetrics) -> list[str]:
    empty = [name for at, name in enumerate(values.metrics) if not (values.replications[:, at] > 0).any()]
    partly = np.isnan(values.means[:, [name not in empty for name in values.metrics]])
    said = []
    if empty:
        said.append(
            f"{_named(empty)} {'is' if len(empty) == 1 else 'are'} undefined in every case and {_has(empty)} no grade."
        )
    depth = np.array([len(levels) for levels in values.levels])
    real = np.arange(values.values.shape[2]) < depth[:, None]
    there = (values.replications > 0).any(axis=1)
    cases = (partly & (real & there)[:, None, :]).any(axis=(1, 2))
    if cases.any():
        number = int(cases.sum())
        said.append(
            f"In {count(number, 'case', 'cases')} a metric is undefined at a level that has results (nothing was "
            "attempted, say): that level is left out there."
        )
    return said


def _constant(values: ReplicatedMetrics) -> list[str]:
    found = []
    for at, name in enumerate(values.metrics):
        own = values.values[:, at]
        known = own[~np.isnan(own)]
        if known.size and known.min() == known.max():
            found.append(name)
    if not found:
        return []
    return [
        f"{_named(found)} {'has' if len(found) == 1 else 'have'} the same value everywhere: nothing is significant "
        f"(0.667), and evenness and range are 0."
    ]


def _one_case(values: ReplicatedMetrics) -> list[str]:
    if len(set(groups_of(values.cases))) > 1:
        return []
    return [
        "There is one combination of data, protection and attack: means have no interval, and nothing shows that the "
        "grades hold elsewhere."
    ]


def _named(metrics: Sequence[str]) -> str:
    said = named(metrics, _MOST_NAMED)
    return said[:1].upper() + said[1:]


def _has(metrics: Sequence[str]) -> str:
    return "has" if len(metrics) == 1 else "have"


# Where the values of nodes lie: for each metric, the case that uses most of its range and the one that uses least.

_QUARTILES = (0.25, 0.5, 0.75)
#: A whisker is at most so many times as long as the box.
_WHISKER = 1.5


def spans_of(nodes: NodeSketches) -> tuple[Span, ...]:
    """Return the spans of all varying metrics, widest narrowest case first."""
    lowest, highest = nodes.ranges()
    low, high = (each[0] for each in over_all_cases(lowest, highest))
    still = constant(low, high)
    found = []
    for column, name in enumerate(nodes.values.metrics):
        with_values = np.flatnonzero(nodes.count[:, column].sum(axis=1))
        if still[column] or not with_values.size:
            continue
        width = (highest - lowest)[with_values, column]
        ends = {"lowest": float(low[column]), "highest": float(high[column])}
        one, other = (
            _in_case(nodes, int(with_values[place]), column, **ends) for place in (width.argmax(), width.argmin())
        )
        found.append(Span(metric=name, widest=one, narrowest=other, **ends))
    return tuple(sorted(found, key=lambda each: each.narrowest.lowest - each.narrowest.highest))


def _in_case(nodes: NodeSketches, case: int, column: int, *, lowest: float, highest: float) -> NodeSpan:
    width = highest - lowest
    there = nodes.count[case, column] > 0
    count = int(nodes.count[case, column].sum())
    blocks, weights = nodes.pooled(case, column)
    ends = np.array([nodes.lowest[case, column, there].min(), nodes.highest[case, column, there].max()])
    low, high = ((ends - lowest) / width).tolist()
    quartiles = weighted_quantiles(blocks, weights, _QUARTILES)
    # Means of blocks may lie beyond the ends by rounding. The box itself is there too: a whisker begins at it.
    known = np.clip((np.concatenate([blocks, quartiles, ends]) - lowest) / width, low, high)
    first, median, third = known[blocks.size : blocks.size + quartiles.size].tolist()
    length = _WHISKER * (third - first)
    within = known[(known >= first - length) & (known <= third + length)]
    return NodeSpan(
        case=nodes.values.cases[case],
        lowest=low,
        quartiles=(first, median, third),
        whiskers=(float(within.min()), float(within.max())),
        highest=high,
        mean=(float(nodes.total[case, column].sum()) / count - lowest) / width,
        count=count,
    )


def weighted_quantiles(values: FloatArray, weights: FloatArray, shares: tuple[float, ...]) -> FloatArray:
    """Return the values below which these shares of all weight lie, for values in ascending order.

    Each value stands in the middle of its weight, and between two of them lie straight lines.

    >>> weighted_quantiles(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0]), (0.5,))
    array([2.])
    """
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    return np.interp(shares, middle, values)

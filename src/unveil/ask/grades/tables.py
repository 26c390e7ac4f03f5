"""Grades in rows: the ranking of metrics, suites, and one case in which a suite stands beside its metrics."""

import math
from collections.abc import Mapping

from unveil.ask.grades.findings import VERDICTS, GradesFindings, words
from unveil.ask.grades.words import zeros_of
from unveil.grade.cross_validation import WAYS
from unveil.grade.factors import Factors
from unveil.grade.grades import MetricGrade, Summary
from unveil.grade.search import SuiteSearch
from unveil.show.blocks import Side, Table
from unveil.show.text import UNDEFINED, fixed, percent, significant


def ranking_table(found: GradesFindings) -> Table:
    """Return the metrics by verdict, and of each the most monotonic first: all three scores, and the verdict."""
    order = _by_verdict(found)
    return Table(
        caption=f"{len(order)} metrics: those to use first, the most monotonic first",
        columns=("metric", "verdict", "monotonicity", "undecided", "wrong way", "evenness", "range"),
        rows=tuple(_metric_row(each) for each in order),
        align=sides(2, 5),
        note=_RANKING_NOTE,
    )


def verdict_tables(found: GradesFindings) -> tuple[Table, ...]:
    """Return the metrics with each verdict, narrow enough for a terminal; names are as they are written."""
    captions = {
        "use": "Use: they follow the adversary's strength",
        "with care": "With care",
        "do not rank by it": "Do not rank by them",
        "no grade": "No grade: nothing could be tested",
    }
    return tuple(
        Table(
            caption=captions[verdict],
            columns=("metric", "monotonicity", "undecided", "wrong", "even", "range"),
            rows=tuple(_short_row(each) for each in metrics),
            align=sides(1, 5),
        )
        for verdict in VERDICTS
        if (metrics := found.by_verdict(verdict))
    )


def _short_row(each: MetricGrade) -> tuple[str, ...]:
    return (
        each.metric,
        _score_text(each.monotonicity),
        percent(each.undecided, places=0),
        percent(each.against, places=0),
        fixed(each.evenness.mean),
        fixed(each.shared_range.mean),
    )


def _score_text(score: Summary) -> str:
    """Return a mean with three decimals, so that 0.667 is told from less, and its interval with two, for room."""
    return fixed(score.mean, places=3) + ("" if math.isnan(score.low) else f" ({fixed(score.low)}–{fixed(score.high)})")


def _by_verdict(found: GradesFindings) -> list[MetricGrade]:
    return [each for verdict in VERDICTS for each in found.by_verdict(verdict)]


def sides(names: int, numbers: int) -> tuple[Side, ...]:
    """Return where columns of names, and after them columns of numbers, are aligned."""
    return tuple("left" if place < names else "right" for place in range(names + numbers))


def why_table(found: GradesFindings) -> Table:
    """Return why each metric has its verdict, and its monotonicity by what makes the adversary stronger."""
    axes = list(dict.fromkeys(case.axis for case in found.grades.values.cases))
    shown = axes if len(axes) > 1 else []
    return Table(
        caption="Why, metric by metric" + (", and monotonicity by what makes the adversary stronger" if shown else ""),
        columns=("metric", "why", *(f"by {axis.replace('_', ' ')}" for axis in shown)),
        rows=tuple(
            (
                words(each.metric),
                f"{each.verdict}: {each.reason}",
                *(fixed(each.by_axis[axis].mean, places=3) for axis in shown),
            )
            for each in _by_verdict(found)
        ),
        align=sides(2, len(shown)),
        prose=True,
    )


_SCORES = ("monotonicity", "evenness", "range")
_SUITES_NOTE = (
    "In order: each stronger adversary gets a lower number, on means over replications; of whole cases (with 95% "
    "intervals), and of pairs of adjacent levels. S1 to S5 are those of Zhao and Wagner (Table 7)."
)
_RANKING_NOTE = (
    "Monotonicity is the mean over cases with its 95% interval. Undecided: the share of cases in which no test was "
    "significant, which score 0.667. Wrong way: the share in which a change in the wrong direction, or back "
    "and forth, was significant. Evenness and range are means over cases."
)


def _metric_row(each: MetricGrade) -> tuple[str, ...]:
    return (
        words(each.metric),
        each.verdict,
        _score_text(each.monotonicity),
        percent(each.undecided),
        percent(each.against),
        fixed(each.evenness.mean),
        fixed(each.shared_range.mean),
    )


def suite_table(found: GradesFindings) -> Table | None:
    """Return what suites are made of, and the share of cases they rank in order (Table 7); None without suites."""
    suites = found.grades.suites
    if not suites:
        return None
    return Table(
        caption="Suites, the highest share of monotonic rankings first",
        columns=("suite", "cases in order", "pairs in order", "metrics and weights"),
        rows=tuple(
            (each.suite.name, shares(each.whole), percent(each.pairs.mean), weights_text(dict(each.suite.weights)))
            for each in suites
        ),
        align=("left", "right", "right", "left"),
        note=_SUITES_NOTE,
        prose=True,
    )


def suite_score_table(found: GradesFindings) -> Table | None:
    """Return the three scores of suites, as those of metrics; None without suites."""
    suites = found.grades.suites
    if not suites:
        return None
    return Table(
        caption="The scores of suites",
        columns=("suite", *_SCORES),
        rows=tuple(
            (
                each.suite.name,
                *(
                    interval(one.mean, one.low, one.high)
                    for one in (each.monotonicity, each.evenness, each.shared_range)
                ),
            )
            for each in suites
        ),
        align=sides(1, 3),
        note=" ".join(zeros_of(found.grades)),
    )


def interval(mean: float, low: float, high: float, *, places: int = 3) -> str:
    """Return a mean with its interval.

    >>> interval(0.71234, 0.7, 0.75), interval(float("nan"), 0, 0), interval(0.5, float("nan"), float("nan"))
    ('0.712 (0.700–0.750)', 'undefined', '0.500')
    """
    if math.isnan(mean):
        return UNDEFINED
    if math.isnan(low):
        return fixed(mean, places=places)
    return f"{fixed(mean, places=places)} ({fixed(low, places=places)}–{fixed(high, places=places)})"


def shares(summary: Summary) -> str:
    """Return a mean share in percent, with its interval."""
    if math.isnan(summary.mean):
        return UNDEFINED
    if math.isnan(summary.low):
        return percent(summary.mean)
    return f"{percent(summary.mean)} ({100 * summary.low:.1f}–{100 * summary.high:.1f})"


def weights_text(weights: dict[str, float]) -> str:
    """Return metrics with their weights; equal ones are said once.

    >>> weights_text({"entropy": 0.5, "min_entropy": 0.5}), weights_text({"entropy": 0.9, "min_entropy": 0.1})
    ('entropy, min entropy (equal)', 'entropy 0.9, min entropy 0.1')
    """
    names = {words(name): weight for name, weight in weights.items()}
    if len(names) > 1 and max(names.values()) - min(names.values()) < 1e-9:
        return f"{', '.join(names)} (equal)"
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{name} {weight:.2g}" for name, weight in names.items())


def example_table(found: GradesFindings) -> Table | None:
    """Return one case in which a suite stands beside the metrics it is made of (Table 8); None without suites.

    The suite is the one with the most metrics, and the case that of the first detail.
    """
    grades = found.grades
    if grades.suite_scores is None or not grades.suites or not found.details:
        return None
    suite = max(grades.suites, key=lambda each: len(each.suite.weights)).suite
    case = found.details[0].case
    rows = []
    for scores, name, called in (
        *((grades.scores, metric, words(metric)) for metric in suite.weights),
        (grades.suite_scores, suite.name, f"suite {suite.name}"),
    ):
        column = scores.values.metrics.index(name)
        tested = scores.monotonicity
        rows.append(
            (
                called,
                fixed(float(tested.score[case, column]), places=3),
                f"{tested.significant[case, column]} of {tested.tests[case, column]}",
                significant(float(scores.evenness[case, column])),
                significant(float(scores.shared_range[case, column])),
            )
        )
    return Table(
        caption=f"The suite {suite.name} beside its metrics in one case: {found.case_words(grades.values.cases[case])}",
        columns=("metric", "monotonicity", "significant tests", "evenness", "range"),
        rows=tuple(rows),
        align=("left", "right", "right", "right", "right"),
    )


#: The groups of factors in words, in the order of the table.
GROUPS: Mapping[str, str] = {
    "metric": "the metric",
    "data": "the data set",
    "protection": "the protection",
    "attack": "the attack",
    "type": "the type of data",
    "setting": "data, protection, attack and type together",
    "statistics": "statistics of the data",
    "scope": "whether the attack is local or global",
    "axis": "what makes the adversary stronger",
    "everything but the metric": "everything but the metric",
    "metric, given the rest": "what the metric adds to that",
    "everything": "everything",
}
#: More terms than these are left to JSON and LaTeX.
MOST_TERMS = 15


def group_table(found: GradesFindings) -> Table | None:
    """Return how much of the variance of each score a group of factors explains; None where nothing was fitted."""
    if not found.factors:
        return None
    have = [group for group in GROUPS if any(group in each.shares for each in found.factors)]
    return Table(
        caption="Share of the variance that is explained (linear R²)",
        columns=("explained by", *(words(each.response) for each in found.factors), "by chance"),
        rows=tuple(
            (GROUPS[group], *(_share(each, group) for each in found.factors), _chance(found.factors[0], group))
            for group in have
        ),
        align=sides(1, len(found.factors) + 1),
        note="By chance: what so many factors would explain on average if they had nothing to do with the score.",
    )


def _share(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].r_squared) if group in factors.shares else UNDEFINED


def _chance(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].chance) if group in factors.shares else UNDEFINED


def term_table(found: GradesFindings, factors: Factors, *, most: int | None = None) -> Table:
    """Return the fitted model of a score, the most important terms first (Tables 4, 5 and 6)."""
    terms = factors.mars.terms[:most]
    over = len(factors.mars.terms) - len(terms)
    more = f" {over} more terms are in JSON and LaTeX." if over else ""
    return Table(
        caption=f"What {words(factors.response)} depends on: a model of {len(factors.mars.terms)} terms that explains "
        f"{percent(factors.mars.r_squared)} of the variance",
        columns=("factor", "adds", "importance"),
        rows=(
            ("(always)", f"{factors.mars.intercept:.3g}", ""),
            *(
                (_named(found, term.text), f"{term.coefficient:+.2g}", significant(term.importance, digits=2))
                for term in terms
            ),
        ),
        align=("left", "right", "right"),
        note="Importance: by how much R² falls without the factor. max(0, …) is a hinge: nothing up to a value, "
        f"and from there on a straight line.{more}",
    )


def _named(found: GradesFindings, text: str) -> str:
    """Return a factor as people write it: an attack or a protection without its settings, where that is enough."""
    group, _, name = text.partition(" ")
    if "max(0" in text or group not in ("metric", "attack", "protection", "data", "type", "scope", "axis"):
        return text
    called = found.attacks[name].called if group == "attack" and name in found.attacks else name
    if group == "protection":
        called = found.protections.get(name, name)
    return f"{group}: {words(called) if group in ('metric', 'axis') else called}"


def factors_sentence(found: GradesFindings) -> str:
    """Return whether the metric or its setting explains more, in one sentence; empty where nothing was fitted."""
    for each in found.factors:
        if each.response == "monotonicity" and {"metric", "setting"} <= each.shares.keys():
            metric, rest = each.shares["metric"].r_squared, each.shares["setting"].r_squared
            which = "more than" if metric > rest else "less than"
            return (
                f"Which metric it is explains {percent(metric)} of the variance of monotonicity, {which} data, "
                f"protection, attack and type of data together ({percent(rest)})."
            )
    return ""


#: So many of the suites with equal weights are shown.
MOST_EQUAL = 5


def found_table(name: str, search: SuiteSearch) -> Table:
    """Return the best single metric, the best suites with equal weights and the optimised one."""
    shown = [("single metric", each) for each in search.singles[:2]]
    shown += [("equal weights", each) for each in search.equal[:MOST_EQUAL]]
    shown += [("optimised weights", search.optimised)] if search.optimised is not None else []
    return Table(
        caption=f"Suites of {name}: those that do best in the cases that they were chosen by",
        columns=("way", "metrics and weights", "cases in order", "pairs in order"),
        rows=tuple(
            (way, weights_text(dict(each.suite.weights)), percent(each.whole), percent(each.pairs))
            for way, each in shown
        ),
        align=("left", "left", "right", "right"),
        note=" ".join(
            [f"{len(search.equal):,} suites with equal weights were tried, on {search.cases:,} cases.", *search.notes]
        ),
        prose=True,
    )


def held_out_table(searches: dict[str, SuiteSearch]) -> Table | None:
    """Return the shares in cases that had no say, and the gains over the best single metric; None without any."""
    rows = []
    for name, search in searches.items():
        for validation in search.validations:
            for way in WAYS:
                gain = validation.gains.get(way)
                told = (
                    "" if gain is None else f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
                )
                rows.append(
                    (
                        name,
                        f"{validation.groups} {validation.grouping}s",
                        way,
                        percent(search.apparent[way]),
                        percent(validation.shares[way]),
                        told,
                    )
                )
    if not rows:
        return None
    return Table(
        caption="Chosen by some cases, judged by others",
        columns=("suites of", "held out by", "way", "where chosen", "elsewhere", "gain over the best metric"),
        rows=tuple(rows),
        align=("left", "left", "left", "right", "right", "right"),
        note="The share of cases in order, and the gain in percentage points with its 95% interval. Elsewhere: in "
        "cases that had no say in the choice. All axes of an attack (or all of a data set) are held out together.",
    )

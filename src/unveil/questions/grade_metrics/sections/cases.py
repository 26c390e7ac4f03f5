"""Scores by case: heat map, single cases, attack success, and factors."""

import math
from collections.abc import Mapping

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.grades.factors import Factors
from unveil.grades.grades import NOTHING_SIGNIFICANT
from unveil.grades.suites import mean_of_defined
from unveil.metrics import METRICS
from unveil.questions.grade_metrics.findings import Detail, GradesFindings, words
from unveil.questions.grade_metrics.sections.metrics import BOLD, per_release, sides
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, TableBlock
from unveil.report.blocks_spread import BoxRow, BoxRows, HeatMap, box_of, spread_of
from unveil.report.scale import round_step, value_text
from unveil.report.text import AXES, UNDEFINED, fixed, percent, significant
from unveil.studies.precision import half_width

#: More terms than these are left to JSON and LaTeX.
MOST_TERMS = 15


def section(findings: GradesFindings, context: PageContext) -> Section | None:
    """Return the section on single cases; None without any detail and factor."""
    del context
    success, groups = success_boxes(findings), group_table(findings)
    details = tuple(detail_boxes(findings, each) for each in findings.details)
    if not details and groups is None:
        return None
    return Section(
        heading="Cases",
        question="Where does a metric succeed or fail?",
        lead=factors_sentence(findings) or "Too few scores to say what explains them.",
        blocks=details,
        data=(
            *((success,) if success is not None else ()),
            *maxima_boxes(findings),
            *((groups,) if groups is not None else ()),
            *(term_table(findings, each, at_most=MOST_TERMS) for each in findings.factors),
        ),
    )


def heat_map(findings: GradesFindings) -> HeatMap:
    """Return the monotonicity of each metric in each case, averaged over the strengths (Fig. 3)."""
    values = findings.grades.values
    names = [each.metric for each in findings.grades.metrics]
    attacks, protections = _attack_names(findings), findings.protections
    order: dict[tuple[str, str, str], list[int]] = {}
    for number, case in enumerate(values.cases):
        order.setdefault((attacks[case.attack], protections[case.protect], case.data), []).append(number)
    # Columns with the same first name stand beside one another, each in the order of the study.
    first = {name: at for at, name in enumerate(dict.fromkeys(key[0] for key in order))}
    second = {name: at for at, name in enumerate(dict.fromkeys(key[1] for key in order))}
    third = {name: at for at, name in enumerate(dict.fromkeys(key[2] for key in order))}
    columns = sorted(order, key=lambda key: (first[key[0]], second[key[1]], third[key[2]]))
    score = findings.grades.scores.monotonicity.score[:, [values.metrics.index(name) for name in names]]
    cells = np.stack([mean_of_defined(score[order[key]].T) for key in columns], axis=1)
    several = len({case.axis for case in values.cases}) > 1
    low = [name for name, row in zip(names, cells, strict=True) if (row < NOTHING_SIGNIFICANT - 0.01).any()]
    bold = tuple(per_release(name) for name in names)
    return HeatMap(
        title="Monotonicity by case",
        rows=tuple(words(name) for name in names),
        columns=tuple(columns),
        values=cells,
        levels=("attack", "protection", "data set"),
        value_label="Monotonicity",
        caption=(f"{len(low)} of {len(names)} metrics fail in at least one column: " if low else "No metric fails: ")
        + f"light cells are below 0.667. Each cell is {'a mean over strengths' if several else 'one case'}.",
        bold=bold,
        bold_meaning=BOLD if any(bold) else "",
        undefined="no pair of levels could be tested",
    )


def detail_boxes(findings: GradesFindings, detail: Detail) -> BoxRows:
    """Return a metric in a case by attacker strength, with its score (Fig. 2)."""
    grades, values = findings.grades, findings.grades.values
    column = values.metrics.index(detail.metric)
    at = values.cases.index(detail.case)
    own = values.values[at, column]
    axis, kind = AXES[detail.case.axis]
    rows = tuple(_level_row(value_text(level, kind), own[place]) for place, level in enumerate(values.levels[at]))
    found_score = grades.scores.monotonicity
    score = float(found_score.score[at, column])
    number = int(found_score.significant[at, column])
    tests = int(found_score.tests[at, column])
    text = f"Monotonicity {fixed(score, places=3)}: {number} of {tests} tests are significant." if tests else _UNTESTED
    if grades.of == "nodes" and grades.nodes is not None and grades.nodes.metric(detail.metric) is not None:
        text += " Tests are of the values of nodes, boxes of means over targets."
    shown = detail.why[:1].upper() + detail.why[1:]
    return BoxRows(
        title=f"{words(detail.metric)}: {findings.case_words(detail.case)}",
        x_label=words(detail.metric),
        row_label=axis[:1].upper() + axis[1:],
        number_label="Replications",
        rows=rows,
        x_range=value_range(own),
        more_private="left" if values.rising[column] else "right",
        small=True,
        caption=f"{text} {shown}. Stronger attackers are below.",
    )


_UNTESTED = "No pair of levels could be tested, so there is no monotonicity."


def _level_row(name: str, values: FloatArray) -> BoxRow:
    there = values[~np.isnan(values)]
    if there.size < 2:
        return box_of(name, values)
    mean, half = float(there.mean()), float(half_width(there.std(ddof=1), there.size))
    return box_of(name, spread_of(there, interval=(mean - half, mean + half)))


def value_range(values: FloatArray) -> tuple[float, float]:
    """Return a round range that holds all values; never of no width."""
    there = values[np.isfinite(values)]
    if not there.size:
        return 0.0, 1.0
    low, high = float(there.min()), float(there.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-12):
        room = max(abs(low), 1.0) / 2
        return (0.0, high + room) if low >= 0 and low - room < 0 else (low - room, high + room)
    step = round_step((high - low) / 5)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def _attack_names(findings: GradesFindings) -> dict[str, str]:
    return {attack: facts.called for attack, facts in findings.attacks.items()}


#: The metrics of the figure on chunks, where they were computed; the last one is not affected and stands beside them.
CHUNKED = ("anonymity_set_size", "mutual_information", "entropy", "adversary_success_rate")
SUCCESS = ("adversary_success_rate", "adversary_overall_success")


def maxima_boxes(findings: GradesFindings) -> tuple[BoxRows, ...]:
    """Return the largest value of metrics by attack (Fig. 7)."""
    if not any(facts.chunk for facts in findings.attacks.values()):
        return ()
    values, rows_of = findings.grades.values, _cases_by_attack(findings)
    shown = [name for name in CHUNKED if name in values.metrics]
    pictures = []
    for name in shown:
        own = values.values[:, values.metrics.index(name)]
        flat = own.reshape(len(own), -1)
        most = np.where(np.isnan(flat), -np.inf, flat).max(axis=1, initial=-np.inf)
        most = np.where(np.isfinite(most), most, np.nan)
        affected = METRICS[name].affected_by_chunking
        pictures.append(
            BoxRows(
                title=f"Largest {words(name)} of each case",
                x_label=words(name),
                row_label="Attack",
                number_label="Cases",
                rows=tuple(
                    box_of(findings.attacks[attack].called, most[rows], note=_chunk(findings, attack))
                    for attack, rows in rows_of.items()
                ),
                small=True,
                x_range=(0.0, max(value_range(most)[1], 1e-9)),
                caption="Attacks that compare nodes in chunks share a ceiling."
                if affected
                else "Not affected by chunks.",
            )
        )
    return tuple(pictures)


def _chunk(findings: GradesFindings, attack: str) -> str:
    chunk = findings.attacks[attack].chunk
    return f"chunks of {chunk}" if chunk else ""


def success_boxes(findings: GradesFindings) -> BoxRows | None:
    """Return precision and recall, by attack (Fig. 8); None without both."""
    values = findings.grades.values
    if any(name not in values.metrics for name in SUCCESS):
        return None
    rate, overall = (values.means[:, values.metrics.index(name)] for name in SUCCESS)
    rows = tuple(
        box_of(_with_scope(findings, attack), rate[rows].ravel(), overall[rows].ravel())
        for attack, rows in _cases_by_attack(findings).items()
    )
    return BoxRows(
        title="Precision and recall by attack",
        x_label="share correct",
        row_label="Attack",
        number_label="Levels of cases",
        series=("precision: of the attempts", "recall: of all targets"),
        rows=rows,
        x_kind="share",
        more_private="left",
        caption="If the two differ, the attack leaves out hard targets: compare attacks by recall.",
    )


def _with_scope(findings: GradesFindings, attack: str) -> str:
    facts = findings.attacks[attack]
    return f"{facts.called} ({facts.scope})" if facts.scope else facts.called


def _cases_by_attack(findings: GradesFindings) -> dict[str, IntArray]:
    cases = findings.grades.values.cases
    every = np.array([case.attack for case in cases])
    return {attack: np.flatnonzero(every == attack) for attack in dict.fromkeys(case.attack for case in cases)}


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
    "axis": "attacker strength",
    "everything but the metric": "everything but the metric",
    "metric, given the rest": "what the metric adds to that",
    "everything": "everything",
}


def group_table(findings: GradesFindings) -> TableBlock | None:
    """Return the variance of each score explained by groups of factors."""
    if not findings.factors:
        return None
    have = [group for group in GROUPS if any(group in each.shares for each in findings.factors)]
    return TableBlock(
        caption="Explained variance (linear R²)",
        columns=("Explained by", *(words(each.response) for each in findings.factors), "By chance"),
        rows=tuple(
            (GROUPS[group], *(_share(each, group) for each in findings.factors), _chance(findings.factors[0], group))
            for group in have
        ),
        align=sides(1, len(findings.factors) + 1),
        note="By chance: the mean R² of as many factors without any relation to the score.",
    )


def _share(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].r_squared) if group in factors.shares else UNDEFINED


def _chance(factors: Factors, group: str) -> str:
    return percent(factors.shares[group].chance) if group in factors.shares else UNDEFINED


def term_table(findings: GradesFindings, factors: Factors, *, at_most: int | None = None) -> TableBlock:
    """Return the fitted model of a score by importance (Tables 4–6)."""
    terms = factors.mars.terms[:at_most]
    over = len(factors.mars.terms) - len(terms)
    more = f" {over} more terms are in JSON and LaTeX." if over else ""
    return TableBlock(
        caption=f"What {words(factors.response)} depends on: a model of {len(factors.mars.terms)} terms that explains "
        f"{percent(factors.mars.r_squared)} of the variance",
        columns=("Factor", "Effect", "Importance"),
        rows=(
            ("(always)", f"{factors.mars.intercept:.3g}", ""),
            *(
                (_named(findings, term.text), f"{term.coefficient:+.2g}", significant(term.importance, digits=2))
                for term in terms
            ),
        ),
        align=("left", "right", "right"),
        note=f"Importance: drop of R² without the factor. max(0, …) is a hinge.{more}",
    )


def _named(findings: GradesFindings, text: str) -> str:
    """Return the display name of a factor or a product, without settings if unique."""
    if " * " in text:
        return " × ".join(_named(findings, each) for each in text.split(" * "))
    group, _, name = text.partition(" ")
    if "max(0" in text or group not in ("metric", "attack", "protection", "data", "type", "scope", "axis"):
        return text
    called = findings.attacks[name].called if group == "attack" and name in findings.attacks else name
    if group == "protection":
        called = findings.protections.get(name, name)
    return f"{group}: {words(called) if group in ('metric', 'axis') else called}"


def factors_sentence(findings: GradesFindings) -> str:
    """Return whether the metric or its setting explains more."""
    for each in findings.factors:
        if each.response == "monotonicity" and {"metric", "setting"} <= each.shares.keys():
            metric, rest = each.shares["metric"].r_squared, each.shares["setting"].r_squared
            than = "more than" if metric > rest else "less than"
            return (
                f"The choice of the metric explains {percent(metric)} of the variance of monotonicity, {than} data, "
                f"protection, attack and type of data together ({percent(rest)})."
            )
    return ""

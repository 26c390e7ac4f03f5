"""The page that answers: which privacy metrics can be trusted here?"""

from unveil.ask.grades.charts import (
    detail_boxes,
    heat_map,
    maxima_boxes,
    range_boxes,
    ranking_boxes,
    success_boxes,
    suite_boxes,
)
from unveil.ask.grades.findings import MEANINGS, GradesFindings
from unveil.ask.grades.tables import (
    MOST_TERMS,
    example_table,
    factors_sentence,
    found_table,
    group_table,
    held_out_table,
    ranking_table,
    suite_score_table,
    suite_table,
    term_table,
    why_table,
)
from unveil.ask.grades.words import headline, key_numbers, reading, search_conclusion, search_lead, tone
from unveil.show.blocks import Block, Page, Section
from unveil.show.text import count, together


def page(found: GradesFindings, *, seed: int | None = None) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML."""
    return Page(
        title="Grades of privacy metrics",
        question=question(found),
        headline=headline(found),
        tone=tone(found),
        sections=tuple(_sections(found)),
        method=_method(found),
        untested=_UNTESTED,
        notes=found.notes,
        seed=seed,
        version=found.version,
    )


def question(found: GradesFindings) -> str:
    """Return what was asked, and of which studies."""
    names = [each.study.name for each in found.studies]
    quoted = [f"'{name}'" for name in names]
    which = f"the study {quoted[0]}" if len(names) == 1 else f"the studies {together(quoted)}"
    return f"Which privacy metrics can be trusted, judged by {which}?"


def _sections(found: GradesFindings) -> list[Section]:
    sections = [
        Section(heading="Which metrics can be trusted", lead=_TRUST, blocks=key_numbers(found)),
        Section(heading="Every metric", lead=reading(), blocks=(ranking_table(found), why_table(found))),
        Section(
            heading="Monotonicity",
            lead="Does a metric show less privacy whenever the adversary is stronger?",
            blocks=(ranking_boxes(found, "monotonicity"), heat_map(found)),
        ),
    ]
    if found.details:
        lead = "What is behind a score: the metric at each level of strength, over replications."
        drawn: tuple[Block, ...] = tuple(detail_boxes(found, each) for each in found.details)
        sections.append(Section(heading="Level by level", lead=lead, blocks=drawn))
    sections += [
        Section(
            heading="Evenness",
            lead=f"{MEANINGS['evenness']} Values that crowd in the middle score 0.75: a high score alone is no proof.",
            blocks=(ranking_boxes(found, "evenness"),),
        ),
        Section(
            heading="Shared value range",
            lead=MEANINGS["shared_range"],
            blocks=(ranking_boxes(found, "shared_range"), *range_boxes(found)),
        ),
        *_by_attack(found),
        *_suites(found),
        *_explained(found),
    ]
    return sections


def _by_attack(found: GradesFindings) -> list[Section]:
    """Return what metrics do by attack: what chunks cap, and what leaving out hard targets inflates."""
    sections = []
    success, maxima = success_boxes(found), maxima_boxes(found)
    if success is not None:
        lead = "The success rate counts right attempts among the attempts, overall success among all targets."
        sections.append(Section(heading="Success by attack", lead=lead, blocks=(success,)))
    if maxima:
        lead = (
            "Some attacks compare a fixed number of nodes at a time. No node then has more candidates than that, and "
            "metrics that grow with their number have a ceiling, which says nothing about privacy. What is drawn is "
            "the largest mean over targets that any replication has."
        )
        sections.append(Section(heading="What chunks cap", lead=lead, blocks=maxima))
    return sections


def _suites(found: GradesFindings) -> list[Section]:
    sections = []
    table = suite_table(found)
    if table is not None:
        drawn = (suite_boxes(found, "evenness"), suite_boxes(found, "shared_range"))
        more = (suite_score_table(found), *drawn, example_table(found))
        blocks = (table, *(each for each in more if each is not None))
        sections.append(Section(heading="Suites of metrics", lead=_SUITES, blocks=blocks))
    searches = dict(found.grades.searches)
    if searches:
        held_out = held_out_table(searches)
        tables = tuple(found_table(name, search) for name, search in searches.items())
        sections.append(
            Section(
                heading="Better suites",
                lead=f"{search_lead(found)} {search_conclusion(found)}",
                blocks=(*([held_out] if held_out else []), *tables),
            )
        )
    return sections


def _explained(found: GradesFindings) -> list[Section]:
    table = group_table(found)
    if table is None:
        return []
    lead = (
        f"Does a score belong to the metric, or to the data, the protection and the attack? {factors_sentence(found)}"
    )
    terms = tuple(term_table(found, each, most=MOST_TERMS) for each in found.factors)
    return [Section(heading="What explains the scores", lead=lead, blocks=(table, *terms))]


def _method(found: GradesFindings) -> tuple[str, ...]:
    grades, values = found.grades, found.grades.values
    sizes = (
        count(len({case.data for case in values.cases}), "data set", "data sets"),
        count(len({case.protect for case in values.cases}), "protection", "protections"),
        count(len({case.attack for case in values.cases}), "attack", "attacks"),
    )
    strict = (
        "A change in the wrong direction counted even where it was not significant."
        if grades.strict
        else "A change in the wrong direction counted only where it was significant."
    )
    return (
        f"{count(len(values.cases), 'case', 'cases')} ({', '.join(sizes)}) with up to {values.values.shape[3]:,} "
        "replications at each level. What is compared are means over targets, one number per replication.",
        f"Monotonicity: each pair of adjacent levels was compared by Welch's t-test and by the rank-sum test (exact "
        f"for small samples). Significant at {grades.level:g} and in the right direction counts 1, in the wrong one "
        "-1, opposite to the direction before -2 instead, not significant 0. The sum s of n pairs becomes "
        f"(s + 2n) / 3n, and the score is the mean of both tests. {strict}",
        "Evenness is 1 - 3E, where E is the Cramér-von Mises distance of the values of a case, scaled by the range of "
        "the metric over all cases, from even ones, divided by their number. Shared value range is the range of a "
        "case as a part of the range over all cases.",
        "Intervals of means over cases are those of Student's t at 95%, with all axes of one attack on one protected "
        "data set taken as one draw. They do not say how other data sets, protections or attacks would do. Where all "
        "cases agree an interval has no width, which does not say that the next one would agree too.",
        "The number of a suite is the product of its metrics, each divided by its most private value in the case (or "
        "dividing it), to the power of its weight.",
        "Models of the scores are multivariate adaptive regression splines, pruned by generalised cross validation; "
        "shares of groups are those of linear regressions.",
        "Definitions: Zhao and Wagner, 'Using metrics suites to improve the measurement of privacy in graphs'. Details "
        "were chosen by rule where none was asked for: the metric with the highest mean where it scores highest, the "
        "one with the lowest where it scores lowest, and the one that is undecided most often where it is.",
    )


_TRUST = (
    "A metric deserves trust if it shows less privacy whenever the adversary is stronger. One that does not can make a "
    "weak protection look strong."
)
_SUITES = (
    "A suite makes one number of several metrics. It ranks a case in order if each stronger adversary gets a lower one."
)
_UNTESTED = (
    "Whether a metric measures what matters to the people in the data: it may follow the adversary's strength and "
    "still miss what hurts.",
    "Other data, protections and attacks than those of the studies, and adversaries whose strength is something else.",
    "Differences between single targets: scores rest on means over targets.",
)

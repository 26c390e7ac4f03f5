"""How the findings about candidates are shown: JSON, limits, table, page and pictures."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError
from unveil.metrics import Metric, MetricValue
from unveil.metrics.candidates.matches import Matches
from unveil.questions.attack_metrics.charts import histogram, overviews
from unveil.questions.attack_metrics.findings import CandidatesFindings, check_metrics
from unveil.questions.attack_metrics.tables import TABLE_NOTE, by_category, key_numbers, left_out_table, metric_table
from unveil.questions.attack_metrics.words import (
    explanation,
    matched_headline,
    matched_tone,
    next_steps,
    why_they_differ,
)
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Page, Section
from unveil.report.blocks_spread import BoxRows
from unveil.report.figures import frame_of
from unveil.report.limits import Quantity
from unveil.report.terminal import Figures, Part, opening
from unveil.report.text import count
from unveil.report.trust import LEGEND, quantity_meanings, trust_note, where_from

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

#: What a picture shows unless others are asked for: how unsure the adversary is, and how wrong.
_DRAWN = ("entropy", "incorrectness")
_COLUMNS = (
    "By chance: the value for random guessing among the same candidates. Trust has two words where attacks on graphs "
    "and on tables differ."
)


def quantities(findings: CandidatesFindings) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for: every metric's value, or its mean over the targets that have one.

    A metric without a value (nothing was attempted, or no target stands for anybody) exceeds no limit.
    """
    meaning = quantity_meanings()
    return {
        each.metric.name: Quantity(
            name=each.metric.name,
            value=each.mean,
            meaning=meaning[each.metric.name],
            exceeded_when_undefined=False,
            more_is_worse=each.metric.more_means == "less private",
        )
        for each in findings.measured
    }


def frame(findings: CandidatesFindings) -> "pl.DataFrame":
    """Return one row per metric that is shown."""
    return frame_of(findings.rows)


def plot(findings: CandidatesFindings, metrics: Sequence[str] = ()) -> "NDArray[Any]":
    """Return matplotlib axes with the distribution of each of ``metrics`` over the targets.

    Without names, those of the metrics that were asked for; without these, entropy and incorrectness.
    """
    from unveil.report.draw.lines import draw_all

    check_metrics(metrics, has_truth=findings.matches.has_truth)
    wanted = metrics or findings.metrics or _DRAWN
    spread = [each for each in findings.measured if each.metric.name in wanted and each.metric.per == "target"]
    if not spread:
        raise InputError("none of these metrics has one value per target to draw. Name another, such as entropy")
    return draw_all([histogram(each) for each in spread])


def typical_doubt(findings: CandidatesFindings) -> float:
    """Return the median number of equally likely candidates that would leave as much doubt; NaN if not measured."""
    return next((each.median for each in findings.measured if each.metric.name == "inherent_privacy"), math.nan)


def headline(findings: CandidatesFindings) -> str:
    """Return the answer in one sentence."""
    return matched_headline(findings.matches, doubt=typical_doubt(findings))


def page(findings: CandidatesFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data; :func:`unveil.report.page.render` turns it into HTML.

    No target or candidate is named.
    """
    first, *rest = overviews(findings) or (None,)
    sections = [_key_section(findings), _metric_section(findings, rest)]
    if findings.left_out:
        sections.append(_left_out_section(findings.left_out))
    matches, doubt = findings.matches, typical_doubt(findings)
    return Page(
        title="What an adversary knows about each target",
        question=(
            f"How much does the adversary know about {count(matches.targets, 'target', 'targets')}, and how often is "
            "it right?"
        ),
        headline=headline(findings),
        explanation=explanation(matches, doubt=doubt),
        next_steps=next_steps(matches),
        picture=() if first is None else (first,),
        tone=matched_tone(matches),
        sections=tuple(sections),
        method=_method(matches, findings.shown),
        limitations=_UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


def _key_section(findings: CandidatesFindings) -> Section:
    has_truth = findings.matches.has_truth
    return Section(
        heading="How often the adversary is right" if has_truth else "How far the adversary reaches",
        lead=why_they_differ(findings.matches) if has_truth else "What can be said without the truth.",
        blocks=key_numbers(findings.matches, doubt=typical_doubt(findings)),
    )


def _metric_section(findings: CandidatesFindings, more: Sequence[BoxRows]) -> Section:
    tables = (metric_table(category, members, findings.ends) for category, members in by_category(findings.shown))
    return Section(heading="Every metric", lead=f"{TABLE_NOTE} {_COLUMNS} {LEGEND}", blocks=(*more, *tables))


def _left_out_section(left_out: Sequence[Metric]) -> Section:
    return Section(
        heading="What could not be measured",
        lead=(
            f"{count(len(left_out), 'metric compares', 'metrics compare')} the adversary's belief with the truth, "
            "which was not given. Give it with --truth to see them."
        ),
        blocks=(left_out_table(left_out),),
    )


def _method(matches: Matches, measured: Sequence[MetricValue]) -> tuple[str, ...]:
    sentences = [
        "The adversary's choice is its most likely candidate, unless it named another one. Where several are most "
        "likely, each counts with its chance: matches are then an expected number and need not be whole.",
        "A candidate with probability 0 was considered and excluded; one that is not listed was not considered.",
        "A target without candidates was not attempted: metrics per target have no value for it, overall success "
        "counts it.",
    ]
    if matches.has_truth:
        sentences += [
            "A target whose true candidate is empty stands for nobody: an attempt on it is a failed one, and overall "
            "success leaves it out.",
            "Where the true candidate was given no probability, surprise would be infinite; it is capped at that of a "
            "probability of 1e-12.",
            "Random guessing picks blindly among the candidates considered for each attempted target.",
        ]
    sentences.append(where_from())
    sources = dict.fromkeys(each.metric.source for each in measured)
    if sources:
        sentences.append(f"Definitions: {'; '.join(sources)}.")
    return tuple(sentences)


_UNTESTED = (
    "Whether another adversary would do better: only the guess that was given is measured.",
    "Whether the adversary's probabilities deserve belief: metrics of uncertainty take them as they are.",
    "What a right match would reveal about the person, or what more releases of the same people would add.",
)


def brief(findings: CandidatesFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, the figures with their meaning, the metrics by category."""
    yield from opening(page(findings))
    yield ""
    yield Figures(key_numbers(findings.matches, doubt=typical_doubt(findings)))
    if findings.matches.has_truth:
        yield from ("", why_they_differ(findings.matches))
    for category, members in by_category(findings.shown):
        yield ""
        yield metric_table(category, members, as_written=True)
    yield from ("", TABLE_NOTE, trust_note())
    if findings.left_out:
        yield from ("", f"{len(findings.left_out)} metrics compare with the truth; give it with --truth to see them.")


VIEW = QuestionView(
    schema="unveil.candidates/1",
    findings=CandidatesFindings,
    about="The answer of `unveil attack-metrics`: how much an adversary knows about each target.",
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=quantity_meanings,
)

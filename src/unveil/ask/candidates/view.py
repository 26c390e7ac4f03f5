"""The page that answers: how much does the adversary know about each target, and how often is it right?"""

import math
from collections.abc import Sequence
from importlib.metadata import version as installed_version

from unveil.ask.candidates.charts import histogram
from unveil.ask.candidates.tables import (
    TABLE_NOTE,
    by_category,
    key_numbers,
    left_out_table,
    metric_table,
    release_numbers,
)
from unveil.ask.candidates.words import matched_headline, matched_tone, why_they_differ
from unveil.measure import Measured, Metric
from unveil.measure.matches import Matches
from unveil.show.blocks import Page, Section
from unveil.show.text import count
from unveil.show.trust import where_from

__all__ = ["TABLE_NOTE", "by_category", "headline", "histogram", "key_numbers", "metric_table", "page", "typical_doubt"]

_CATEGORY_LEADS = {
    "uncertainty": "How unsure the adversary is, by its own probabilities. One who is sure and wrong looks the same "
    "here as one who is sure and right.",
    "information gain or loss": "How much the adversary has learned, compared with knowing nothing or with the truth.",
    "error": "How far the adversary's belief is from the truth.",
    "similarity": "How alike the adversary's belief and the truth are.",
    "success": "How many targets the adversary finds, and how many stay hidden.",
}


def typical_doubt(measured: Sequence[Measured]) -> float:
    """Return the median number of equally likely candidates that would leave as much doubt; NaN if not measured."""
    return next((each.median for each in measured if each.metric.name == "inherent_privacy"), math.nan)


def headline(found: Matches, measured: Sequence[Measured]) -> str:
    """Return the answer in one sentence."""
    return matched_headline(found, doubt=typical_doubt(measured))


def page(
    found: Matches,
    measured: Sequence[Measured],
    *,
    left_out: Sequence[Metric] = (),
    notes: Sequence[str] = (),
    seed: int | None = None,
    version: str | None = None,
) -> Page:
    """Return the whole report as data; :func:`unveil.show.page.render` turns it into HTML.

    Nothing is measured here, and no target or candidate is named. ``left_out`` are metrics that need a truth that is
    not there, ``notes`` what the reader must know of the input.
    """
    sections = [_key_section(found, measured)]
    sections += [_category_section(category, members) for category, members in by_category(measured)]
    if left_out:
        sections.append(_left_out_section(left_out))
    return Page(
        title="What an adversary knows about each target",
        question=(
            f"How much does the adversary know about {count(found.targets, 'target', 'targets')}, and how often is it "
            "right?"
        ),
        headline=headline(found, measured),
        tone=matched_tone(found),
        sections=tuple(sections),
        method=_method(found, measured),
        untested=_UNTESTED,
        notes=tuple(notes),
        seed=seed,
        version=installed_version("unveil") if version is None else version,
    )


def _key_section(found: Matches, measured: Sequence[Measured]) -> Section:
    lead = why_they_differ(found) if found.has_truth else "What can be said without the truth."
    return Section(
        heading="How often the adversary is right" if found.has_truth else "How far the adversary reaches",
        lead=lead,
        blocks=key_numbers(found, doubt=typical_doubt(measured)),
    )


def _category_section(category: str, measured: Sequence[Measured]) -> Section:
    spread = [each for each in measured if each.metric.per == "target"]
    charts = (histogram(each) for each in spread if not math.isnan(each.mean))
    table = (metric_table("All figures of this kind", measured),) if spread else ()
    return Section(
        heading=category[:1].upper() + category[1:],
        lead=_CATEGORY_LEADS.get(category, ""),
        blocks=(
            *release_numbers(measured),
            *charts,
            *table,
        ),
    )


def _left_out_section(left_out: Sequence[Metric]) -> Section:
    return Section(
        heading="What could not be measured",
        lead=(
            f"{count(len(left_out), 'metric compares', 'metrics compare')} the adversary's belief with the truth, "
            "which was not given. Give it with --truth to see them."
        ),
        blocks=(left_out_table(left_out),),
    )


def _method(found: Matches, measured: Sequence[Measured]) -> tuple[str, ...]:
    sentences = [
        "The adversary's choice is its most likely candidate, unless it named another one. Where several are most "
        "likely, each counts with its chance: matches are then an expected number and need not be whole.",
        "A candidate with probability 0 was considered and excluded; one that is not listed was not considered.",
        "A target without candidates was not attempted: metrics per target have no value for it, overall success "
        "counts it.",
    ]
    if found.has_truth:
        sentences += [
            "A target whose true candidate is empty stands for nobody: an attempt on it is a failed one, and overall "
            "success leaves it out.",
            "Where the true candidate was given no probability, surprise would be infinite; it is capped at that of a "
            "probability of 1e-12.",
            "Random guessing picks blindly among the candidates considered for each attempted target.",
        ]
    sentences += [TABLE_NOTE, where_from()]
    sources = dict.fromkeys(each.metric.source for each in measured)
    if sources:
        sentences.append(f"Definitions: {'; '.join(sources)}.")
    return tuple(sentences)


_UNTESTED = (
    "Whether another adversary would do better: only the guess that was given is measured.",
    "Whether the adversary's probabilities deserve belief: metrics of uncertainty take them as they are.",
    "What a right match would reveal about the person, or what more releases of the same people would add.",
)

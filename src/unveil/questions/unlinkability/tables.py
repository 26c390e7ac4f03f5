"""The figures of a partition as text: the same on the page and in the terminal."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from unveil.metrics.partitions.crowds import CrowdGraphs
from unveil.metrics.partitions.distances import PartitionDistances
from unveil.metrics.partitions.fairness import FigureSpread
from unveil.metrics.partitions.forecast import Forecast
from unveil.metrics.partitions.guessing import Reference
from unveil.metrics.partitions.unlinkability import Unlinkability
from unveil.metrics.partitions.views import ViewRanges
from unveil.questions.unlinkability import words
from unveil.report.blocks import Number, Side, TableBlock
from unveil.report.text import UNDEFINED, count, decimal, fixed, name, percent, significant, slope

#: How many subjects the table of those most at risk names.
MOST_SUBJECTS = 20
_RIGHT: Side = "right"

_AT_RISK_COLUMNS = (
    "Subject",
    "Already breached",
    "Linked now",
    "Mergings to β",
    "Risk slope",
    "Items",
    "Related clusters",
    "Missed",
    "Included",
    "Error",
    "Error e*",
    "Mixed in now",
    "Others in cluster",
    "Evenness of others",
)


def common_beta(result: Unlinkability) -> float | None:
    """Return the beta that all subjects share, or None where they differ."""
    return float(result.beta[0]) if float(np.ptp(result.beta)) == 0 else None


def key_numbers(result: Unlinkability, reference: Reference | None = None) -> tuple[Number, ...]:
    """Return the figures that matter most, each with one sentence, beside what random guessing would give."""
    return _beside_whom((*_risk_numbers(result, reference), *_error_numbers(result, reference)), reference)


def _beside_whom(numbers: tuple[Number, ...], reference: Reference | None) -> tuple[Number, ...]:
    """Return the figures with the name of whoever guesses beside them."""
    if reference is None:
        return numbers
    return tuple(replace(number, reference_of=words.BESIDE[reference.guesser]) for number in numbers)


def _risk_numbers(result: Unlinkability, reference: Reference | None) -> tuple[Number, ...]:
    overall, subjects = result.overall, int(result.subjects.size)
    single = int((result.breached & (result.size == 1)).sum())
    tone = words.breached_tone(overall.breached_subjects, subjects, overall_breached=overall.breached)
    return (
        Number(
            label="Subjects already breached",
            value=f"{count(overall.breached_subjects)} of {count(subjects)} ({percent(overall.breached_share)})",
            meaning=words.breached_meaning(single, beta=common_beta(result)),
            reference=_beside(reference, "breached_share", percent),
            tone=tone,
        ),
        Number(
            label="Risk slope of the average subject",
            value=slope(math.nan if overall.breached else overall.risk_slope),
            meaning=words.risk_slope_meaning(beta=overall.beta, breached=overall.breached),
            reference=_beside(reference, "risk_slope", slope),
            tone="bad" if overall.breached else "neutral",
        ),
    )


def _error_numbers(result: Unlinkability, reference: Reference | None) -> tuple[Number, ...]:
    overall = result.overall
    return (
        Number(
            label="Items missed",
            value=decimal(overall.miss, places=2),
            meaning="Items that the adversary left out of their subject's most relevant cluster, over all subjects.",
            reference=_beside(reference, "miss", _two_places),
        ),
        Number(
            label="Foreign items included",
            value=decimal(overall.include, places=2),
            meaning="Items of others that the adversary put into those clusters, over all subjects.",
            reference=_beside(reference, "include", _two_places),
        ),
        Number(label="Kind of adversary", value=overall.kind, meaning=words.kind_meaning(overall.kind)),
        Number(
            label="Normalised error e*",
            value=significant(overall.normalised_error),
            meaning=(
                "The mean error of a subject over n − 1, the worst case: 0 is no error, 1 the worst. It shrinks as n "
                "grows, so never compare it between data of different size."
            ),
            reference=_beside(reference, "normalised_error", significant),
        ),
    )


def distance_numbers(distances: PartitionDistances, reference: Reference | None = None) -> tuple[Number, ...]:
    """Return how far the guess is from the truth as a whole, beside what random guessing would give."""
    transfer = "The fewest items to move to another cluster until the guess is the truth; in brackets over n − 1."
    if math.isnan(distances.mtd):
        transfer = "The fewest items to move until the guess is the truth; it was not computed for data of this size."
    guessed = ""
    if reference is not None and not math.isnan(reference.mtd) and not math.isnan(distances.mtd):
        guessed = _items(reference.mtd, reference.mtd_normalised)
    numbers = (
        Number(
            label="Variation of information",
            value=_bits(distances.voi, distances.voi_normalised),
            meaning="How many bits guess and truth are apart; in brackets over log2 n. 0 means they are the same.",
            reference="" if reference is None else _bits(reference.voi, reference.voi_normalised),
        ),
        Number(
            label="Minimal transfer distance",
            value="not computed" if math.isnan(distances.mtd) else _items(distances.mtd, distances.mtd_normalised),
            meaning=transfer,
            reference=guessed,
        ),
        Number(
            label="Rand index",
            value=percent(distances.rand),
            meaning="The pairs of items that are rightly together or rightly apart; high whenever clusters are small.",
            reference=_beside(reference, "rand", percent),
        ),
        Number(
            label="Adjusted Rand index",
            value=_three_places(distances.adjusted_rand),
            meaning=words.adjusted_rand_meaning(distances.adjusted_rand),
            reference=_beside(reference, "adjusted_rand", _three_places),
        ),
        Number(
            label="B-cubed precision",
            value=percent(distances.bcubed_precision),
            meaning="Of what the adversary puts together with an item, the share that belongs to the same subject.",
            reference=_beside(reference, "bcubed_precision", percent),
        ),
        Number(
            label="B-cubed recall",
            value=percent(distances.bcubed_recall),
            meaning="Of what belongs together with an item, the share that the adversary puts together with it.",
            reference=_beside(reference, "bcubed_recall", percent),
        ),
    )
    return _beside_whom(numbers, reference)


def fairness_numbers(result: Unlinkability, fairness: Sequence[FigureSpread]) -> tuple[Number, ...]:
    """Return how evenly protection is spread, and how well subjects are mixed with others."""
    spread = {each.quantity: each for each in fairness}
    linked, others = spread["linked0"], spread["others"]
    known = result.others_evenness[~np.isnan(result.others_evenness)]
    evenness = float(known.mean()) if known.size else math.nan
    return (
        Number(
            label="Gini coefficient of the share linked",
            value=decimal(linked.gini),
            meaning=words.gini_meaning(linked.gini),
        ),
        Number(
            label="Linked share in the worst tenth",
            value=percent(linked.worst_decile),
            meaning=(
                "The mean share of items that are together for the tenth of the subjects most at risk; "
                f"over all subjects it is {percent(linked.mean)}."
            ),
        ),
        Number(
            label="Others in a subject's cluster",
            value=decimal(others.mean, places=2),
            meaning=words.others_meaning(others.mean, evenness),
        ),
    )


def fairness_table(fairness: Sequence[FigureSpread]) -> TableBlock:
    """Return how each figure is spread over the subjects."""
    labels: dict[str, tuple[str, Callable[[float], str]]] = {
        "linked0": ("Share linked now", percent),
        "normalised_error": ("Normalised error e*", significant),
        "risk_slope": ("Risk slope", _slope_or_undefined),
        "others": ("Others in the cluster", _two_places),
    }
    rows = []
    for spread in fairness:
        label, form = labels[spread.quantity]
        figures = (spread.mean, spread.median, spread.low, spread.high)
        ends = (decimal(spread.gini), form(spread.worst_decile), count(spread.undefined))
        rows.append((label, *map(form, figures), *ends))
    return TableBlock(
        caption="How each figure is spread over the subjects",
        columns=("Figure", "Mean", "Median", "Lowest", "Highest", "Gini", "Worst tenth", "Undefined for"),
        rows=tuple(rows),
        align=("left", *[_RIGHT] * 7),
        note=(
            "Worst tenth: the mean over the tenth of the subjects most at risk; a breached subject, whose risk slope "
            "is undefined, counts there with the steepest slope its policy allows."
        ),
    )


def most_at_risk(result: Unlinkability, *, at_most: int = MOST_SUBJECTS) -> list[int]:
    """Return the indices of the subjects most at risk: the breached first, then by risk slope.

    Among the breached, those with a larger share linked come first, then those with more items.
    """
    score = np.where(result.breached, result.linked0, result.risk_slope)
    order = np.lexsort((-result.size, -score, ~result.breached))
    return [int(index) for index in order[:at_most]]


def at_risk_table(
    result: Unlinkability, *, show_names: bool = True, at_most: int = MOST_SUBJECTS, views: ViewRanges | None = None
) -> TableBlock:
    """Return one row per subject for those most at risk, with every per-subject figure.

    For a view also how likely the adversary thinks a partition that breaches the subject.
    """
    chosen = most_at_risk(result, at_most=at_most)
    left = result.subjects.size - len(chosen)
    rows = [_at_risk_row(result, index, show_names) for index in chosen]
    columns: tuple[str, ...] = _AT_RISK_COLUMNS
    if views is not None:
        columns = (*columns, "Chance of a breach")
        chances = [percent(float(views.breached_probability[index])) for index in chosen]
        rows = [(*row, chance) for row, chance in zip(rows, chances, strict=True)]
    return TableBlock(
        caption="The subjects most at risk: the breached first, then by risk slope",
        columns=columns,
        rows=tuple(rows),
        align=("left", "left", *[_RIGHT] * (len(columns) - 2)),
        note=f"{count(left, 'more subject is', 'more subjects are')} not shown; the JSON output has all."
        if left
        else "",
    )


def _at_risk_row(result: Unlinkability, index: int, show_names: bool) -> tuple[str, ...]:
    breached = bool(result.breached[index])
    return (
        name(result.subjects[index]) if show_names else f"subject {index + 1}",
        "yes" if breached else "no",
        percent(float(result.linked0[index])),
        "0" if breached else decimal(float(result.mergings[index]), places=2),
        "breached" if breached else slope(float(result.risk_slope[index])),
        count(int(result.size[index])),
        decimal(float(result.related[index]), places=2),
        decimal(float(result.miss[index]), places=2),
        decimal(float(result.include[index]), places=2),
        decimal(float(result.error[index]), places=2),
        significant(float(result.normalised_error[index])),
        percent(float(result.mixed0[index])),
        decimal(float(result.others[index]), places=2),
        _evenness(float(result.others_evenness[index])),
    )


def _beside(reference: Reference | None, quantity: str, form: Callable[[float], str]) -> str:
    """Return what guessing gives: the mean, and between which values nine of ten guesses lie."""
    value = math.nan if reference is None else float(getattr(reference, quantity))
    if reference is None or math.isnan(value):
        return ""
    ends = reference.range_of(quantity)
    low, high = ("breached" if math.isnan(end) else form(end) for end in (ends.low, ends.high))
    return form(value) if low == high == form(value) else f"{form(value)} ({low} to {high})"


def _two_places(value: float) -> str:
    return decimal(value, places=2)


def _three_places(value: float) -> str:
    return fixed(value, places=3)


def _slope_or_undefined(value: float) -> str:
    return UNDEFINED if math.isnan(value) else slope(value)


def _bits(value: float, share: float) -> str:
    return f"{decimal(value)} bits ({decimal(share)})"


def _items(value: float, share: float) -> str:
    return f"{decimal(value)} items ({decimal(share)})"


def _evenness(value: float) -> str:
    return "no others" if math.isnan(value) else decimal(value, places=2)


def view_table(views: ViewRanges) -> TableBlock:
    """Return how each figure varies over the partitions that the adversary holds."""
    forms: dict[str, tuple[str, Callable[[float], str]]] = {
        "breached_share": ("Subjects already breached", percent),
        "risk_slope": ("Risk slope of the average subject", slope),
        "miss": ("Items missed", _two_places),
        "include": ("Foreign items included", _two_places),
        "normalised_error": ("Normalised error e*", significant),
        "voi": ("Variation of information, in bits", _two_places),
        "adjusted_rand": ("Adjusted Rand index", _three_places),
    }
    rows = []
    for quantity, (label, form) in forms.items():
        found = views.range_of(quantity)
        figures = (found.mean, found.low, found.median, found.high)
        rows.append((label, *(UNDEFINED if math.isnan(each) else form(each) for each in figures)))
    return TableBlock(
        caption="Each partition of the view alone",
        columns=("Figure", "Mean", "Low", "Median", "High"),
        rows=tuple(rows),
        align=("left", *[_RIGHT] * 4),
        note=(
            f"Over {count(views.partitions)} partitions, each with its probability: nine tenths of it lie from low to "
            "high. A risk slope is undefined where a partition breaches the average subject, which counts as the "
            "highest; means leave it out."
        ),
    )


def forecast_numbers(forecast: Forecast) -> tuple[Number, ...]:
    """Return how soon evidence would breach the average subject, and somebody."""
    overall, needed = forecast.overall, forecast.overall_evidence
    soon = float(forecast.next_breach.mean())
    return (
        Number(
            label="Risk slope of the average subject, forecast",
            value=words.with_ends(overall.mean, overall.low, overall.high, slope),
            meaning=words.forecast_meaning(overall),
        ),
        Number(
            label="Pieces of evidence to a breach of the average subject",
            value=words.with_ends(needed.mean, needed.low, needed.high, _pieces),
            meaning=words.evidence_meaning(needed),
        ),
        Number(
            label="Subjects that the next piece of evidence breaches",
            value=percent(soon),
            meaning="The share of subjects who are not breached now and would be after one piece, on average.",
        ),
    )


def subject_graph_table(
    result: Unlinkability, subject: int, others: CrowdGraphs | None, *, at_most: int = 12
) -> TableBlock:
    """Return the graphs of one subject, merging by merging."""
    linked, mixed = result.graphs(subject)
    shown = min(at_most, linked.size)
    people = None if others is None else others.graphs(subject)
    columns = ("Mergings", "Linked", "Mixed in", *(("Others", "Effective others") if people else ()))
    rows = []
    for step in range(shown):
        more = () if people is None else (_two_places(float(people[0][step])), _two_places(float(people[1][step])))
        rows.append((str(step), percent(float(linked[step])), percent(float(mixed[step])), *more))
    left = linked.size - shown
    return TableBlock(
        caption=f"How fast mergings would link {name(result.subjects[subject])}",
        columns=columns,
        rows=tuple(rows),
        align=(_RIGHT,) * len(columns),
        note=f"{count(left, 'more merging is', 'more mergings are')} not shown; the JSON output has all."
        if left
        else "",
    )


def _pieces(value: float) -> str:
    return "never" if math.isinf(value) else decimal(value, places=1)

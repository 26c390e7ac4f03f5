"""The figures of a guess about candidates as text: the same on the page and in the terminal."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from unveil.metrics import Metric, MetricValue
from unveil.metrics.candidates.matches import Matches
from unveil.questions.attack_metrics.findings import ReferenceValues
from unveil.questions.attack_metrics.words import matched_tone
from unveil.report.blocks import Number, Side, TableBlock
from unveil.report.text import count, decimal, percent
from unveil.report.trust import GROUNDS, cap_mark, cap_notes, mark, summary_of, title_of

#: How to read a table of metrics.
TABLE_NOTE = (
    "Mean, median and the range from 5% to 95% are over the targets that have a value; those without one are counted "
    "as missing. A metric without a median has one value for the whole release, which stands in the place of the mean."
)
_RIGHT: Side = "right"
_LEFT: Side = "left"


def by_category(measured: Sequence[MetricValue]) -> Iterator[tuple[str, list[MetricValue]]]:
    """Yield each category with its metrics, in the order of the listing."""
    order = list(dict.fromkeys(each.metric.category for each in measured))
    ordered = sorted(measured, key=lambda each: order.index(each.metric.category))
    for category, members in groupby(ordered, key=lambda each: each.metric.category):
        yield category, list(members)


def key_numbers(matches: Matches, *, doubt: float = math.nan) -> tuple[Number, ...]:
    """Return the figures that matter most: how often the adversary is right, how much it tried, how unsure it is.

    ``doubt`` is the number of equally likely candidates that the typical target still hides among.
    """
    return (*_success_numbers(matches), *_reach_numbers(matches), *_doubt_number(doubt))


def _success_numbers(matches: Matches) -> tuple[Number, ...]:
    if not matches.has_truth:
        return ()
    blind_rate = percent(matches.by_chance / matches.attempted) if matches.attempted else ""
    blind_overall = percent(matches.by_chance / matches.somebody) if matches.somebody else ""
    tone = matched_tone(matches)
    right = f"{decimal(matches.correct, places=1)} of"
    by_lot = "" if matches.correct == round(matches.correct) else " Candidates that tie count by their chance."
    return (
        Number(
            label="Success rate",
            value=percent(matches.success_rate),
            meaning=f"{right} {count(matches.attempted, 'attempt', 'attempts')} found the right one.{by_lot}",
            reference=blind_rate,
            tone=tone,
        ),
        Number(
            label="Overall success",
            value=percent(matches.overall_success),
            meaning=f"{right} {count(matches.somebody, 'target that stands', 'targets that stand')} for somebody "
            f"{'was' if matches.somebody == 1 else 'were'} found.",
            reference=blind_overall,
            tone=tone,
        ),
    )


def _reach_numbers(matches: Matches) -> Iterator[Number]:
    nobody = f" {count(matches.nobody, 'target stands', 'targets stand')} for nobody." if matches.nobody else ""
    yield Number(
        label="Targets attempted",
        value=f"{count(matches.attempted)} of {count(matches.targets)}",
        meaning=f"Targets for which the adversary named at least one candidate.{nobody}",
    )
    if matches.not_considered:
        yield Number(
            label="True candidate not considered",
            value=count(matches.not_considered),
            meaning="Attempted targets whose true candidate is not on the adversary's list: such an attempt is wrong, "
            "and the truth counts as given no probability.",
        )


def _doubt_number(doubt: float) -> tuple[Number, ...]:
    if math.isnan(doubt):
        return ()
    return (
        Number(
            label="Doubt that is left",
            value=f"{decimal(doubt, places=1)} alike",
            meaning="How many equally likely candidates would leave the adversary as unsure, for the typical attempted "
            "target (median inherent privacy); 1 means it is sure, rightly or wrongly.",
        ),
    )


def metric_table(
    caption: str,
    measured: Sequence[MetricValue],
    ends: Mapping[str, ReferenceValues] | None = None,
    *,
    as_written: bool = False,
) -> TableBlock:
    """Return metrics in rows, with what each is for random guessing where ``ends`` say so.

    ``as_written`` is for a terminal of 80 columns: metrics are named as options are, and what they say is left out.
    """
    reasons = dict.fromkeys(each.why for each in measured if each.undefined and math.isnan(each.mean))
    notes = [f"Undefined: {'; '.join(reasons)}."] if reasons else []
    notes += _missing(measured)
    notes += cap_notes({each.metric.name: each.at_cap for each in measured}, who="targets", named=as_written)
    columns = {"Metric": _LEFT, "Mean": _RIGHT, "Median": _RIGHT, "5% to 95%": _RIGHT}
    if not as_written:
        columns["By chance"] = _RIGHT
    columns |= {"Private": _LEFT, "Trust": _LEFT}
    if not as_written:
        columns["What it is"] = _LEFT
    return TableBlock(
        caption=caption[:1].upper() + caption[1:],
        columns=tuple(columns),
        rows=tuple(tuple(_row(each, as_written, ends or {})[name] for name in columns) for each in measured),
        align=tuple(columns.values()),
        note=" ".join(notes),
        prose=not as_written,
    )


def _missing(measured: Sequence[MetricValue]) -> list[str]:
    """Return how many targets have no value in which metrics, and why, as a sentence if there are any."""
    groups: dict[str, list[str]] = {}
    for each in measured:
        if each.metric.per == "target" and not math.isnan(each.mean):
            groups.setdefault(_how_many(each) if each.undefined else "", []).append(each.metric.name)
    # What most of them lack needs no names, unless others lack nothing.
    most = "" if "" in groups else max(groups, key=lambda missing: len(groups[missing]), default="")
    said = [most] if most else []
    said += [f"in {', '.join(names)} {missing}" for missing, names in groups.items() if missing not in ("", most)]
    return [f"Missing: {'; '.join(said)}."] if said else []


def _how_many(measured: MetricValue) -> str:
    # One reason begins with the number itself.
    many, why = count(measured.undefined), measured.why
    return why if why.startswith(f"{measured.undefined} ") else f"{many} ({why})" if why else many


def _row(measured: MetricValue, as_written: bool, ends: Mapping[str, ReferenceValues]) -> dict[str, str]:
    metric = measured.metric
    median, between = "", ""
    if metric.per == "target":
        median = decimal(measured.median)
        between = f"{decimal(measured.low)} to {decimal(measured.high)}" if not math.isnan(measured.low) else ""
    return {
        "Metric": metric.name if as_written else title_of(metric),
        "Mean": decimal(measured.mean) + ("" if as_written else cap_mark(measured.at_cap)),
        "Median": median,
        "5% to 95%": between,
        "By chance": decimal(ends[metric.name].blind) if metric.name in ends else "",
        "Private": "if high" if metric.more_means == "more private" else "if low",
        "Trust": mark(metric.name, *GROUNDS),
        "What it is": summary_of(metric),
    }


def left_out_table(left_out: Sequence[Metric]) -> TableBlock:
    """Return the metrics that were not measured, and what each would have said."""
    return TableBlock(
        caption="Metrics that compare with the truth",
        columns=("Metric", "What it would say"),
        rows=tuple((title_of(metric), summary_of(metric)) for metric in left_out),
        align=(_LEFT, _LEFT),
        prose=True,
    )

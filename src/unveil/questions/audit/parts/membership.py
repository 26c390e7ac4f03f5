"""How well people in the data are told from others: the curve, the figures beside it, and whom that exposes most."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log10
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.findings import Audit, AuditedRelease
from unveil.questions.audit.words import compact_rate, listed, percent
from unveil.report.blocks import Block, Chart, Section, Series, Side, Style, TableBlock
from unveil.report.scale import MOST_POINTS
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray
    from unveil.metrics.trials.risk import Rate
    from unveil.questions.audit.separation import ExposedPerson, ScoreArea, Separation

#: How many people a page names, those of all releases together; of each release at least two.
MOST_NAMED = 6
_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth")
_LEFT: Side = "left"
_RIGHT: Side = "right"
_NONE = "–"
_LONGEST_NAME = 60
#: How many columns of a person are said to give it away.
_MOST_COLUMNS = 3


def separation_blocks(audit: Audit, attack: str) -> Iterator[Block]:
    """Yield the curve and the figures of an attack that gives people scores; nothing for all others."""
    found = [
        (release.name, finding.separation)
        for release in audit.releases
        for finding in release.of(attack)
        if finding.separation is not None
    ]
    if not found:
        return
    curves = [(label, each, each.curve) for label, each in found if each.curve is not None]
    if curves:
        yield _chart([(label, curve) for label, _, curve in curves], 1 / max(each.others for _, each, _ in curves))
    yield _table(found)


def _chart(curves: "Sequence[tuple[str, tuple[FloatArray, FloatArray]]]", at_least: float) -> Chart:
    """Return the shares of members who are named by the share of others who are named too."""
    lowest = max(log10(at_least), -3.0)
    several = len(curves) > 1
    at = np.linspace(lowest, 0, MOST_POINTS)
    lines = [
        Series(name=name(label, 30) if several else "the adversary", x=at, y=_named_at(*curve, at), style=style)
        for (label, curve), style in zip(curves, _STYLES, strict=False)
    ]
    return Chart(
        title="Members named, by how many others are named wrongly",
        x_label="share of people not in the data who are named",
        y_label="share of people in the data who are named",
        series=(*lines, Series(name="by chance", x=at, y=10.0**at, style="first-reference")),
        caption="The higher above the line of chance, and the further left, the surer the adversary is of somebody.",
        x_range=(lowest, 0.0),
        x_kind="power of share",
    )


def _named_at(wrongly: "FloatArray", named: "FloatArray", power: "FloatArray") -> "FloatArray":
    """Return the share of members named where others named wrongly are at most these shares, powers of ten."""
    share = np.minimum(10.0**power, 1.0)
    # Where the line goes straight up its upper end counts.
    last = np.searchsorted(wrongly, share, side="right") - 1
    following = np.minimum(last + 1, wrongly.size - 1)
    width = np.where(following > last, wrongly[following] - wrongly[last], 1.0)
    return named[last] + (share - wrongly[last]) / width * (named[following] - named[last])


def _table(separations: "Sequence[tuple[str, Separation]]") -> TableBlock:
    labels = [name(label, _LONGEST_NAME) for label, _ in separations] if len(separations) > 1 else ["Figure"]
    each_of = [dict(_lines(each)) for _, each in separations]
    rows = dict.fromkeys(line for lines in each_of for line in lines)
    return TableBlock(
        caption="How well people in the data are told from others",
        columns=("", *labels),
        rows=tuple((line, *(lines.get(line, _NONE) for lines in each_of)) for line in rows),
        align=(_LEFT, *(_RIGHT for _ in labels)),
        note=" ".join(dict.fromkeys(_note(each) for _, each in separations)),
    )


def _lines(separation: "Separation") -> Iterator[tuple[str, str]]:
    yield "Area under the curve (0.5 is chance)", area_text(separation.area)
    for each in separation.named:
        yield f"Named (others named wrongly: {100 * each.wrongly:g}%)", _rate(each.rate)
    yield "Pointed out with at most 5% errors", f"{_people(separation.pointed_out)} of {count(separation.members)}"
    for group in separation.unusual:
        wrongly = f"such others named wrongly: {100 * group.named.wrongly:g}%"
        yield f"The most unusual {100 * group.share:g}%: named ({wrongly})", _rate(group.named.rate)
    if separation.epsilon is not None:
        shown = separation.epsilon
        yield _EPSILON, f"{shown.bound:.2g} (at most {shown.most:.2g} could be shown)"
    for kind, score in best_by_kind(separation).items():
        yield f"{kind[:1].upper()}{kind[1:]} alone: area, and by which score", f"{area_text(score.area)}, {score.name}"


_EPSILON = "Epsilon is at least (replacing one person; if the lot divided both tables)"


def best_by_kind(separation: "Separation") -> "dict[str, ScoreArea]":
    """Return of each kind of likeness the score that reaches most alone, the highest first."""
    ordered = sorted(separation.scores, key=lambda each: -each.area.value)
    best: dict[str, ScoreArea] = {}
    for each in ordered:
        best.setdefault(each.sees, each)
    return best


def area_text(area: "Rate") -> str:
    """Return an area with its interval, as in 0.81 (0.79–0.83)."""
    return f"{area.value:.2f} ({area.low:.2f}–{area.high:.2f})" if area.defined else _NONE


def _rate(rate: "Rate") -> str:
    return compact_rate(rate) if rate.defined else "not enough people"


def _people(number: float) -> str:
    return number.words if isinstance(number, SuppressedNumber) else count(round(number))


def _note(separation: "Separation") -> str:
    measured = f"{count(separation.members)} people in the data and {count(separation.others)} others were measured"
    crowd = f"{count(separation.population)} more others showed how people lie anyhow"
    if not separation.learned_from[0]:
        fewer = "There were too few people to learn from, so one score was used that was named beforehand."
        return f"{fewer} {measured}; {count(separation.learned_from[1])} set the threshold; {crowd}."
    told = (
        f"Learned from {count(separation.learned_from[0])} people in the data and {count(separation.learned_from[1])} "
        f"others"
    )
    return f"{told}, who were not attacked; {measured}; {crowd}. Single scores explain and never accuse."


def exposed_section(audit: Audit) -> Section | None:
    """Return whom the releases expose most, by row; for whoever holds the original, so never in a shareable report."""
    found = [release for release in audit.releases if release.exposed]
    if not found:
        return None
    most = max(MOST_NAMED // len(found), 2)
    return Section(
        heading="Whom does it expose most?",
        lead=(
            "People in the data whom the adversary of membership is surest of, among those who were measured. Row 1 is "
            "the first row of the original. --people FILE writes all of them to a file."
        ),
        blocks=tuple(_exposed_table(release, most, several=len(found) > 1) for release in found),
    )


def _exposed_table(release: AuditedRelease, at_most: int, *, several: bool) -> TableBlock:
    where = f" by {name(release.name, _LONGEST_NAME)!r}" if several else ""
    return TableBlock(
        caption=f"People most exposed{where}",
        columns=("Row", "Others as exposed", "More unusual than", "Own values released", "Row most like it", "Shares"),
        rows=tuple(
            (
                count(each.row + 1),
                f"{count(each.as_exposed)} of {count(each.others)}",
                f"{percent(each.unusual)} of others",
                listed(each.unheard, at_most=_MOST_COLUMNS) if each.unheard else _NONE,
                count(each.released_row + 1) if each.released_row >= 0 else _NONE,
                listed(each.columns, at_most=_MOST_COLUMNS) if each.columns else "nothing: it is only near",
            )
            for each in release.exposed[:at_most]
        ),
        align=(_RIGHT, _RIGHT, _RIGHT, _LEFT, _RIGHT, _LEFT),
        note=f"Own values: nobody of those who show how people lie anyhow has them. {stand_out(release.exposed)}",
    )


def stand_out(exposed: "Sequence[ExposedPerson]") -> str:
    """Return in words through which columns those stand out who can be pointed out, or the most exposed ones."""
    traced = [each for each in exposed if each.released_row >= 0]
    named = [each for each in traced if each.pointed_out]
    which = "who can be pointed out" if named else "most exposed"
    people = named or traced[:20]
    telling = Counter(column for each in people for column in each.unheard or each.columns[:1])
    if not telling:
        return f"Those {which} share no value with a released row that would give them away: they are only near to it."
    common = [column for column, _ in sorted(telling.items(), key=lambda each: (-each[1], each[0]))[:3]]
    return f"Those {which} stand out most often by {listed(common)}."


def exposed_table(audit: Audit) -> TableBlock:
    """Return how exposed everybody is who was measured, as a table for a file."""
    return TableBlock(
        caption="Exposed people",
        columns=(
            *("release", "row", "p", "pointed_out", "more_unusual_than"),
            *("own_values_released", "row_most_like_it", "shared_columns"),
        ),
        rows=tuple(
            (
                release.name,
                str(each.row + 1),
                f"{each.p:.6g}",
                "yes" if each.pointed_out else "no",
                f"{each.unusual:.6g}",
                "; ".join(each.unheard),
                str(each.released_row + 1) if each.released_row >= 0 else "",
                "; ".join(each.columns),
            )
            for release in audit.releases
            for each in release.exposed
        ),
        align=(_LEFT, _RIGHT, _RIGHT, _LEFT, _RIGHT, _LEFT, _RIGHT, _LEFT),
    )

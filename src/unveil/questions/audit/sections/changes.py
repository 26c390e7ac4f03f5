"""What changed since an earlier audit: each figure before and now, and whether the change is more than chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal

from unveil._figure import figure
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.findings import FIGURES, Audit
from unveil.questions.audit.previous import (
    Difference,
    Key,
    adversary_of,
    differences_in,
    figures_in,
    read_previous,
)
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import compact_rate
from unveil.report.blocks import Section, TableBlock
from unveil.report.editions import people
from unveil.report.text import UNDEFINED, count, decimal, name, shorten

__all__ = [
    "Changes",
    "Difference",
    "FigureChange",
    "changes",
    "direction",
    "read_previous",
    "section",
]

Direction = Literal[
    "measurably higher", "measurably lower", "no measurable change", "higher", "lower", "same", "defined", "undefined"
]


@dataclass(frozen=True, kw_only=True)
class FigureChange:
    """One figure in the earlier and in the present audit."""

    release: str = figure("The release, by its name.")
    attack: str = figure("The attack, as it is written in commands.")
    scenario: str = figure("Who the adversary is.")
    name: str = figure("Which figure, by its name.", name="figure")
    before: Rate = figure("The figure of the previous audit, with its interval.")
    now: Rate = figure("The figure of this audit, with its interval.")
    direction: Direction = figure("Whether it is more, less or the same.")
    remark: str = figure("What to know about it.", default="")

    @property
    def measurable(self) -> bool:
        """Whether the change is more than chance explains."""
        return self.direction in ("measurably higher", "measurably lower")


@dataclass(frozen=True, kw_only=True)
class Changes:
    """All that changed: figures of both audits, what only one of them has, and what they were made with."""

    #: As the page names the earlier audit.
    previous: str = figure("When and by which version the previous audit was made.", default="the earlier audit")
    figures: tuple[FigureChange, ...] = figure("One entry for each figure that both have.")
    new: tuple[str, ...] = figure("Figures that are new.")
    gone: tuple[str, ...] = figure("Figures that are gone.")
    differences: tuple[Difference, ...] = figure("What else differs between the two audits, beside figures.")

    @property
    def measurable(self) -> tuple[FigureChange, ...]:
        """The figures that changed by more than chance explains."""
        return tuple(change for change in self.figures if change.measurable)


def changes(previous: Mapping[str, Any], now: Mapping[str, Any], *, called: str = "the earlier audit") -> Changes:
    """Return what changed between two audits, each as its parsed JSON.

    Figures belong together when release, attack, adversary and name are the same; where both audits have a single
    release, that is compared whatever it is called. A figure is "measurably" higher or lower when the two intervals do
    not overlap: of two 95 % intervals of the same figure, equally wide and from different people, that happens by
    chance in about 6 of 1,000 cases, so it stays rare over the many figures of an audit. Where the same seed drew the
    same people in both, it is rarer still. A figure without an interval is compared as it is.
    """
    then, today = _renamed(previous, now), now
    before, after = dict(figures_in(then)), dict(figures_in(today))
    adversaries = _adversaries(then), _adversaries(today)
    both = [key for key in after if key in before and not (isnan(before[key].value) and isnan(after[key].value))]
    old, new = ({key[:3]: None for key in figures} for figures in (before, after))
    return Changes(
        figures=tuple(_change(key, before[key], after[key], adversaries) for key in both),
        new=tuple(_spoken(key) for key in new if key not in old),
        gone=tuple(_spoken(key) for key in old if key not in new),
        differences=(*_names(previous, now), *differences_in(then, today)),
        previous=called,
    )


def _renamed(previous: Mapping[str, Any], now: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the earlier audit with its only release under the name that it has now."""
    old, new = previous["releases"], now["releases"]
    if len(old) == len(new) == 1:
        return {**previous, "releases": [{**old[0], "name": new[0]["name"]}]}
    return previous


def _names(previous: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[Difference, ...]:
    then, today = (", ".join(name(each["name"]) for each in audit["releases"]) for audit in (previous, now))
    return (Difference(what="releases", before=then, now=today),) if then != today else ()


def _adversaries(audit: Mapping[str, Any]) -> dict[tuple[str, str, str], Any]:
    return {
        (release["name"], attack["attack"], adversary_of(attack)): attack.get("adversary")
        for release in audit["releases"]
        for attack in release["attacks"]
    }


def _change(
    key: Key, before: Rate, now: Rate, adversaries: tuple[Mapping[Any, Any], Mapping[Any, Any]]
) -> FigureChange:
    then, today = (each.get(key[:3]) for each in adversaries)
    columns = [(who.get("first"), who.get("second")) if isinstance(who, dict) else None for who in (then, today)]
    remark = "the adversary holds other columns now" if columns[0] != columns[1] else ""
    release, attack, scenario, figure = key
    return FigureChange(
        release=release,
        attack=attack,
        scenario=scenario,
        name=figure,
        before=before,
        now=now,
        direction=direction(before, now),
        remark=remark,
    )


def direction(before: Rate, now: Rate) -> Direction:
    """Return how a figure changed; "measurably" only where its two intervals do not overlap.

    >>> direction(Rate(0.1, 0.08, 0.12), Rate(0.2, 0.17, 0.23))
    'measurably higher'
    >>> direction(Rate(0.1, 0.08, 0.12), Rate(0.12, 0.1, 0.14))
    'no measurable change'
    >>> direction(Rate(2, float("nan"), float("nan")), Rate(5, float("nan"), float("nan")))
    'higher'
    """
    if isnan(before.value) or isnan(now.value):
        return "undefined" if isnan(now.value) else "defined"
    if before.has_interval and now.has_interval:
        if now.low > before.high:
            return "measurably higher"
        return "measurably lower" if now.high < before.low else "no measurable change"
    if now.value == before.value:
        return "same"
    return "higher" if now.value > before.value else "lower"


def _spoken(key: tuple[str, str, str]) -> str:
    release, attack, scenario = key
    return f"{attack} on {release}" + (f" by {scenario}" if scenario else "")


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return what changed since the previous audit; None without one."""
    if context.report.previous is None:
        return None
    changed = changes(context.report.previous, context.present)
    several = len({each.release for each in changed.figures}) > 1
    shown = [each for each in changed.figures if each.name != "naive_rate"]
    only = [(name(text, 80), "this audit") for text in changed.new]
    only += [(name(text, 80), "previous audit") for text in changed.gone]
    tables = (
        TableBlock(
            caption="Results before and now",
            columns=("Result", "Change", "Before", "Now"),
            rows=tuple(_row(each, several=several) for each in sorted(shown, key=lambda each: not each.measurable)),
            align=("left", "left", "right", "right"),
            note="Significant: the two 95% CIs do not overlap (by chance in about 6 of 1,000 unchanged results).",
            prose=True,
        ),
        TableBlock(caption="In one audit only", columns=("Attack", "In"), rows=tuple(only), align=("left", "left")),
        TableBlock(
            caption="Differences between the audits",
            columns=("Setting", "Before", "Now"),
            rows=tuple((each.what, *_difference(each)) for each in changed.differences),
            align=("left", "left", "left"),
            prose=True,
        ),
    )
    return Section(
        heading="Changes since the previous audit",
        lead=sentence(changed),
        blocks=(),
        data=tuple(table for table in tables if table.rows),
    )


def _difference(difference: Difference) -> tuple[str, str]:
    if not difference.what.endswith("(SHA-256)"):
        return difference.before, difference.now
    return shorten(difference.before, 24), shorten(difference.now, 24)


def sentence(changed: Changes) -> str:
    """Return how many results changed significantly, and what limits the comparison."""
    sure = [each for each in changed.figures if each.before.has_interval and each.now.has_interval]
    up, down = (sum(each.direction == f"measurably {way}" for each in sure) for way in ("higher", "lower"))
    exact = sum(each.direction in ("higher", "lower") for each in changed.figures)
    others = count(exact, "result without a CI differs", "results without a CI differ")
    said = (
        f"Compared with {changed.previous}: of {count(len(sure), 'result', 'results')} with a CI, {up} "
        f"{'is' if up == 1 else 'are'} significantly higher and {down} significantly lower; {others}."
    )
    other_file = any(each.what.startswith("original: file") for each in changed.differences)
    people = " The original data are another file, so results may be about other people." if other_file else ""
    alone = len(changed.new) + len(changed.gone)
    more = f" {count(alone, 'attack is', 'attacks are')} in one of the audits only." if alone else ""
    return f"{said}{people}{more}"


def _row(change: FigureChange, *, several: bool) -> tuple[str, ...]:
    where = f"{name(change.release, 30)}: " if several else ""
    who = f" by {name(change.scenario, 30)}" if change.scenario else ""
    figure = f"{change.attack}, {change.name}".replace("_", " ")
    outcome = f"{_OUTCOMES.get(change.direction, change.direction)}{f' ({change.remark})' if change.remark else ''}"
    texts = [_measured(each, share=change.name in FIGURES) for each in (change.before, change.now)]
    return f"{where}{name(figure, 60)}{who}", outcome, *texts


_OUTCOMES: Mapping[str, str] = {
    "defined": "was undefined",
    "undefined": "is undefined now",
    "measurably higher": "significantly higher",
    "measurably lower": "significantly lower",
    "no measurable change": "no significant change",
}


def _measured(figure: Rate, *, share: bool) -> str:
    if isnan(figure.value):
        return UNDEFINED
    if share and figure.has_interval:
        return compact_rate(Rate(figure.value, figure.low, figure.high))
    if not figure.has_interval and figure.value.is_integer():
        # It may count people, of whom a shareable report shows no few.
        return people(int(figure.value))
    ends = f" ({decimal(figure.low)} to {decimal(figure.high)})" if figure.has_interval else ""
    return f"{decimal(figure.value)}{ends}"

"""Changes since an earlier audit, with their significance."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from unveil._figure import figure
from unveil.data.files.documents import read_json
from unveil.errors import InputError, shortened
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import RATES, Audit
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import compact_rate
from unveil.report.blocks import PrivateText, Section, TableBlock
from unveil.report.editions import command_text, people
from unveil.report.text import UNDEFINED, count, decimal, name, shorten
from unveil.report.text import name as visible

#: The reports that can be compared with: fields that both have are read alike.
SCHEMAS = ("unveil.audit/1", "unveil.audit/2", "unveil.audit/3", "unveil.audit/4")
_FAMILY = "unveil.audit/"
#: Fields of a release that are no values: read elsewhere, or not comparable one by one.
_NO_VALUES = frozenset({"name", "rows", "type", "sha256", "attacks", "column_importance", "search"})
#: Fields of an attack that say how it was made.
_MADE = ("targets", "neighbors")
#: Fields of an attack on its significance, compared with no one.
_TESTED = ("p", "p_adjusted")
#: Old names in JSON, and the present ones.
_RENAMED = {
    "adversary": "attacker",
    "area": "auc",
    "columns_that_matter": "column_importance",
    "epsilon": "epsilon_lower_bound",
    "excess_over_control": "normalized_excess",
    "figures": "values",
    "highest_risk": "max_risk",
    "kind": "type",
    "learned_from": "trained_on",
    "links": "successes",
    "naive_rate": "baseline",
    "named": "tpr_at_fpr",
    "neighbours": "neighbors",
    "others": "non_members",
    "people_unchanged": "exact_copies",
    "pointed_out": "flagged",
    "population": "reference",
    "proved": "significant",
    "secret": "sensitive",
    "told_apart_without_the_release": "separable_without_the_release",
    "trust": "reliability",
    "unusual": "outliers",
    "wrongly": "fpr",
}
#: Old names of attackers, or their beginnings, and the present ones.
_RENAMED_ATTACKERS = {
    "all known columns": "all quasi-identifiers",
    "alone:": "one column:",
    "by density": "density-ratio score",
    "by distance": "DCR score",
    "by relative nearness": "DCR-difference score",
    "guesses best:": "best inference:",
    "learned": "learned score",
    "remembers most:": "most memorization:",
    "split ": "column split ",
    "taught by other people:": "trained on other people:",
}
#: Settings of the whole audit, by the name of their field.
_SETTINGS = ("seed", "version", "schema", "profile")

#: Key of a value: release, attack (or part of the report), attacker (and inferred column), name.
Key = tuple[str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A difference in files, settings, or columns of two audits."""

    what: str = figure("What differs, in words.")
    before: str = figure("What it was in the previous audit.")
    now: str = figure("What it is in this audit.")


def read_previous(path: "str | PathLike[str]") -> Mapping[str, Any]:
    """Return an earlier audit from the JSON file that ``unveil audit --json`` wrote."""
    # Cut in its middle where it is long: the end is what the file is called.
    file = repr(visible(fspath(path), 100))
    again = "Give the JSON of an earlier audit"
    try:
        read = read_json(Path(path))
    except InputError as error:
        cause = str(error).partition(". ")[0]
        raise InputError(f"The earlier audit cannot be used: {cause}. {again}") from None
    schema = read.get("schema") if isinstance(read, dict) else None
    if not isinstance(schema, str) or not schema.startswith("unveil."):
        raise InputError(f"The earlier audit {file} is JSON, but not from unveil. {again}")
    if not schema.startswith(_FAMILY):
        raise InputError(
            f"The earlier audit {file} is the result of another command: its schema is {shortened(schema)}. {again}"
        )
    if schema not in SCHEMAS:
        raise InputError(
            f"The earlier audit {file} has the schema {shortened(schema)}, but only {', '.join(SCHEMAS[:-1])} and "
            f"{SCHEMAS[-1]} can be compared. Run that audit again with this version"
        )
    if not _is_whole(read):
        raise InputError(f"The earlier audit {file} lacks its releases or their attacks, or was changed. {again}")
    return dict(read)


def _is_whole(read: Mapping[str, Any]) -> bool:
    """Return whether an earlier report has the expected structure."""
    releases = read.get("releases")
    parts = [read.get("original"), read.get("control")]
    return (
        isinstance(releases, list)
        and all(part is None or isinstance(part, dict) for part in parts)
        and all(
            isinstance(each, dict)
            and isinstance(each.get("name"), str)
            and isinstance(each.get("attacks"), list)
            and all(isinstance(attack, dict) and isinstance(attack.get("attack"), str) for attack in each["attacks"])
            for each in releases
        )
    )


def values_in(audit: Mapping[str, Any]) -> Iterator[tuple[Key, Rate]]:
    """Yield every value of an audit, by release, attack, and name."""
    for release in audit["releases"]:
        for attack in release["attacks"]:
            who = attacker_of(attack)
            for field, measured in _leaves(attack, ("attacker", "successes", *_MADE, *_TESTED)):
                yield (release["name"], attack["attack"], who, field.removeprefix("values.")), measured
        for part, content in release.items():
            if part not in _NO_VALUES and isinstance(content, dict):
                for field, measured in _leaves(content, ()):
                    yield (release["name"], part, "", field), measured


def attacker_of(attack: Mapping[str, Any]) -> str:
    """Return the attacker's name, with the column that it infers."""
    parts = (attack.get("scenario"), attack.get("sensitive"))
    return ", inferring ".join(str(part) for part in parts if part)


def with_present_names(audit: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an audit of any version with the present names in its tables."""
    tables = {part: _renamed_fields(audit[part]) for part in ("original", "releases") if part in audit}
    return {**audit, **tables}


def _renamed_fields(content: Any) -> Any:
    if isinstance(content, list):
        return [_renamed_fields(each) for each in content]
    if not isinstance(content, dict):
        return content
    renamed = {_RENAMED.get(field, field): _renamed_fields(value) for field, value in content.items()}
    scenario = renamed.get("scenario")
    if isinstance(scenario, str):
        old = next((each for each in _RENAMED_ATTACKERS if scenario == each or _begins(scenario, each)), "")
        renamed["scenario"] = f"{_RENAMED_ATTACKERS[old]}{scenario.removeprefix(old)}" if old else scenario
    return renamed


def _begins(scenario: str, old: str) -> bool:
    return old.endswith((":", " ")) and scenario.startswith(old)


def _leaves(content: Mapping[str, Any], left_out: Sequence[str]) -> Iterator[tuple[str, Rate]]:
    """Yield every number of an object, nested too, with its CI."""
    for field, value in content.items():
        if field in left_out:
            continue
        if isinstance(value, dict) and {"value", "low", "high"} <= set(value):
            yield field, Rate(_number(value["value"]), _number(value["low"]), _number(value["high"]))
        elif isinstance(value, dict):
            yield from ((f"{field}.{name}", measured) for name, measured in _leaves(value, ()))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield field, Rate(_number(value), nan, nan)


def _number(value: object) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if known and isfinite(value) else nan  # type: ignore[arg-type]
    except OverflowError:
        return nan


def differences_in(previous: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield differences in the files, columns, and settings of two audits."""
    for part in ("original", "control"):
        then, today = previous.get(part) or {}, now.get(part) or {}
        yield from _table_differences(part, then, today)
        yield from _column_differences(then, today)
    old, new = ({each["name"]: each for each in audit["releases"]} for audit in (previous, now))
    for release in [each for each in old if each in new]:
        yield from _table_differences(f"release {visible(release)}", old[release], new[release])
    yield from dict.fromkeys(_made_differences(previous, now))
    for setting in _SETTINGS:
        then, today = (_setting(each.get(setting)) for each in (previous, now))
        if then != today:
            yield Difference(what=setting, before=_text(then), now=_text(today))
    yield from _option_differences(previous.get("settings"), now.get("settings"))
    if previous.get("command") != now.get("command"):
        yield Difference(what="command", before=_command(previous.get("command")), now=_command(now.get("command")))


def _table_differences(part: str, then: Mapping[str, Any], today: Mapping[str, Any]) -> Iterator[Difference]:
    for field, what in (("rows", "rows"), ("sha256", "file (SHA-256)"), ("type", "type")):
        if then.get(field) != today.get(field):
            texts = [_rows(each.get(field)) if field == "rows" else _text(each.get(field)) for each in (then, today)]
            yield Difference(what=f"{part}: {what}", before=texts[0], now=texts[1])


def _column_differences(then: Mapping[str, Any], today: Mapping[str, Any]) -> Iterator[Difference]:
    old, new = (
        {each["name"]: each for each in part.get("columns") or () if isinstance(each, dict) and "name" in each}
        for part in (then, today)
    )
    for column in dict.fromkeys((*old, *new)):
        texts = [
            f"{_text(each.get('role'))}, {_text(each.get('type'))}" if (each := columns.get(column)) else "not there"
            for columns in (old, new)
        ]
        if texts[0] != texts[1]:
            yield Difference(what=f"column {visible(column)}", before=texts[0], now=texts[1])


def _made_differences(previous: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield differences in sample sizes and other numbers of attacks."""
    old, new = (
        {
            (release["name"], each["attack"], attacker_of(each)): each
            for release in audit["releases"]
            for each in release["attacks"]
        }
        for audit in (previous, now)
    )
    for key in [each for each in new if each in old]:
        for field in _MADE:
            if old[key].get(field) != new[key].get(field):
                texts = [_text(each[key].get(field)) for each in (old, new)]
                yield Difference(what=f"{visible(key[1])}: {field}", before=texts[0], now=texts[1])


def _setting(value: Any) -> Any:
    """Return a setting as chosen: a profile by its name."""
    return value.get("profile") if isinstance(value, dict) else value


def _option_differences(previous: Any, now: Any) -> Iterator[Difference]:
    then, today = (each if isinstance(each, dict) else {} for each in (previous, now))
    for option in dict.fromkeys((*then, *today)):
        if then.get(option) != today.get(option):
            before, after = (_text(each.get(option)) for each in (then, today))
            if option == "missing":  # these are cells of the data
                before, after = PrivateText(before, shared="…"), PrivateText(after, shared="…")
            yield Difference(what=visible(option), before=before, now=after)


def _command(value: Any) -> str:
    if isinstance(value, list):
        return command_text([str(each) for each in value])
    return PrivateText(_text(value), shared="not shown here")


def _rows(value: Any) -> str:
    return people(value) if isinstance(value, int) else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True), 80)


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
    """One value in the earlier and in the present audit."""

    release: str = figure("The release, by its name.")
    attack: str = figure("The attack, as it is written in commands.")
    scenario: str = figure("The attacker, as in `scenario` of the attack.")
    name: str = figure("The name of the value.", name="value")
    before: Rate = figure("The value in the previous audit, with its CI.")
    now: Rate = figure("The value in this audit, with its CI.")
    direction: Direction = figure("Whether it is higher, lower, or the same.")
    remark: str = figure("A remark; empty without one.", default="")

    @property
    def measurable(self) -> bool:
        """Whether the change is more than chance explains."""
        return self.direction in ("measurably higher", "measurably lower")


@dataclass(frozen=True, kw_only=True)
class Changes:
    """All changes: shared values, new and missing ones, differing settings."""

    #: As the page names the earlier audit.
    previous: str = figure("When and by which version the previous audit was made.", default="the earlier audit")
    figures: tuple[FigureChange, ...] = figure("One entry for each value in both audits.", name="values")
    new: tuple[str, ...] = figure("Attacks that are new.")
    gone: tuple[str, ...] = figure("Attacks that are gone.")
    differences: tuple[Difference, ...] = figure("Other differences between the audits: files, columns, settings.")

    @property
    def measurable(self) -> tuple[FigureChange, ...]:
        """The significant changes."""
        return tuple(change for change in self.figures if change.measurable)


def changes(previous: Mapping[str, Any], now: Mapping[str, Any], *, called: str = "the earlier audit") -> Changes:
    """Return what changed between two audits, each as its parsed JSON.

    Values are paired by release, attack, attacker, and name. A single release is compared under any name. A value is
    "measurably" higher or lower when the two intervals do not overlap. For two 95% CIs of the same value, equally wide
    and from different people, that happens by chance in about 6 of 1,000 cases. With the same sample of people in both
    audits it is rarer still. A value without an interval is compared as it is.
    """
    previous, now = with_present_names(previous), with_present_names(now)
    then, today = _renamed(previous, now), now
    before, after = dict(values_in(then)), dict(values_in(today))
    attackers = _attackers(then), _attackers(today)
    both = [key for key in after if key in before and not (isnan(before[key].value) and isnan(after[key].value))]
    old, new = ({key[:3]: None for key in values} for values in (before, after))
    return Changes(
        figures=tuple(_change(key, before[key], after[key], attackers) for key in both),
        new=tuple(_spoken(key) for key in new if key not in old),
        gone=tuple(_spoken(key) for key in old if key not in new),
        differences=(*_names(previous, now), *differences_in(then, today)),
        previous=called,
    )


def _renamed(previous: Mapping[str, Any], now: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the earlier audit with its only release renamed."""
    old, new = previous["releases"], now["releases"]
    if len(old) == len(new) == 1:
        return {**previous, "releases": [{**old[0], "name": new[0]["name"]}]}
    return previous


def _names(previous: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[Difference, ...]:
    then, today = (", ".join(name(each["name"]) for each in audit["releases"]) for audit in (previous, now))
    return (Difference(what="releases", before=then, now=today),) if then != today else ()


def _attackers(audit: Mapping[str, Any]) -> dict[tuple[str, str, str], Any]:
    return {
        (release["name"], attack["attack"], attacker_of(attack)): attack.get("attacker")
        for release in audit["releases"]
        for attack in release["attacks"]
    }


def _change(key: Key, before: Rate, now: Rate, attackers: tuple[Mapping[Any, Any], Mapping[Any, Any]]) -> FigureChange:
    then, today = (each.get(key[:3]) for each in attackers)
    columns = [(who.get("first"), who.get("second")) if isinstance(who, dict) else None for who in (then, today)]
    remark = "the attacker has other columns now" if columns[0] != columns[1] else ""
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
    """Return how a value changed; "measurably" if the intervals do not overlap.

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
    shown = [each for each in changed.figures if each.name != "baseline"]
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
    text = (
        f"Compared with {changed.previous}: of {count(len(sure), 'result', 'results')} with a CI, {up} "
        f"{'is' if up == 1 else 'are'} significantly higher and {down} significantly lower; {others}."
    )
    other_file = any(each.what.startswith("original: file") for each in changed.differences)
    people = " The original data are another file, so results may be about other people." if other_file else ""
    alone = len(changed.new) + len(changed.gone)
    more = f" {count(alone, 'attack is', 'attacks are')} in one of the audits only." if alone else ""
    return f"{text}{people}{more}"


def _row(change: FigureChange, *, several: bool) -> tuple[str, ...]:
    where = f"{name(change.release, 30)}: " if several else ""
    who = f" by {name(change.scenario, 30)}" if change.scenario else ""
    attack = ATTACKS[change.attack].title if change.attack in ATTACKS else change.attack
    value = f"{attack}, {_VALUES.get(change.name, change.name)}".replace("_", " ")
    outcome = f"{_OUTCOMES.get(change.direction, change.direction)}{f' ({change.remark})' if change.remark else ''}"
    texts = [_measured(each, share=change.name in RATES) for each in (change.before, change.now)]
    return f"{where}{name(value, 60)}{who}", outcome, *texts


_VALUES = {"attack_rate": "attack success", "control_rate": "control"}
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

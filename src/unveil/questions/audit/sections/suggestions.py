"""Tested changes: their effect on risk and utility."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from unveil._figure import derived, figure, figure_at
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.templates import DECISION_WORDS
from unveil.questions.audit.findings import (
    AttackFinding,
    Audit,
    AuditedRelease,
    ReleaseVerdict,
    SuggestedChange,
)
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.words import compact_rate, listed, percent
from unveil.report.blocks import Section, TableBlock
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, name

#: What holds for every tested change.
SAME_PEOPLE = (
    "Changes were chosen and measured on the same people, so the best one looks better than it is: audit the changed "
    "release again. Adjusted p corrects for all changes."
)
_NOTE = (
    "Generalized: ranges of numbers and sets of categories that cover at least 10% of the rows each (30% where 10% "
    "changes nothing), or the levels of a given hierarchy."
)
#: The text names the best change of at most so many releases.
_MOST_SAID = 3
#: A mean over attacks that falls by less has not fallen.
_LEAST_FALL = 0.01


@dataclass(frozen=True, kw_only=True)
class ChangedFigure:
    """One attack's excess before and after a change."""

    attack: str = figure("The attack, as it is written in commands.")
    before: Rate = figure("The excess on the present release, with its CI.")
    after: Rate = figure("The excess on the changed release and the same people, with its CI.")
    p_adjusted: float = figure("The p-value, adjusted for all tests of the audit.")


@dataclass(frozen=True, kw_only=True)
class MeasuredChange:
    """One change, with the release before and after it."""

    change: SuggestedChange
    before: AuditedRelease
    after: AuditedRelease
    verdict: ReleaseVerdict
    verdict_before: ReleaseVerdict
    attacks: tuple[str, ...]

    def pairs(self) -> Iterator[tuple[str, AttackFinding, AttackFinding]]:
        """Yield each attack's worst excess before and after."""
        for attack in (each for each in self.attacks if each in ATTACKS):
            one, other = self.before.strongest(attack), self.after.strongest(attack)
            if one is not None and other is not None:
                yield attack, one, other

    release = figure_at("before.name", "The release, by its name.")
    columns = figure_at("change.columns", "The columns that are changed.")
    how = figure_at("change.how", "The change, in words.", name="change")

    @derived("Attacks that stay significant.", name="significant")
    def proved(self) -> tuple[str, ...]:
        """The attacks that stay significant, with copies beyond chance."""
        return _proved(self.verdict)

    @derived("The excess before and after, by attack.", name="values")
    def figures(self) -> tuple[ChangedFigure, ...]:
        """The worst of each attack before and after."""
        return tuple(
            ChangedFigure(attack=attack, before=one.worse, after=other.worse, p_adjusted=other.p_adjusted)
            for attack, one, other in self.pairs()
        )

    @derived("Utility loss before the change, from 0 to 1.", name="utility_loss_before")
    def loss_before(self) -> float | None:
        """The utility loss of the release."""
        return None if self.before.utility is None else self.before.utility.loss

    @derived("Utility loss after the change, from 0 to 1.", name="utility_loss")
    def loss_after(self) -> float | None:
        """The utility loss of the changed release."""
        return None if self.change.utility is None else self.change.utility.loss

    @property
    def proved_before(self) -> tuple[str, ...]:
        """The attacks that are significant on the present release."""
        return _proved(self.verdict_before)

    @property
    def fall(self) -> float:
        """Mean reduction of the excess over the repeated attacks."""
        falls = [float(one.worse.value) - float(other.worse.value) for _, one, other in self.pairs()]
        return sum(falls) / len(falls) if falls else 0.0

    @property
    def loss(self) -> float:
        """The utility loss of the changed release."""
        return 0.0 if self.change.utility is None else float(self.change.utility.loss)

    @property
    def rank(self) -> tuple[int, float, float]:
        """Sort key: fewest significant attacks, lowest excess, least utility loss."""
        return len(self.proved), -round(self.fall, 6), self.loss


def _proved(verdict: ReleaseVerdict) -> tuple[str, ...]:
    found = {each.attack for each in verdict.proved} | ({"copies"} if verdict.unmistakable else set())
    return tuple(attack for attack in ATTACKS if attack in found)


def measured_changes(audit: Audit) -> list[MeasuredChange]:
    """Return every change with results before and after, best first."""
    suggestions = audit.suggestions
    if suggestions is None or suggestions.again is None:
        return []
    before = {each.name: each for each in audit.releases}
    judged = (*audit.verdict.releases, *suggestions.again.verdict.releases)
    verdicts = {each.name: each for each in judged}
    order = list(before)
    found = [
        MeasuredChange(
            change=change,
            before=before[change.release],
            after=after,
            verdict=verdicts[change.name],
            verdict_before=verdicts[change.release],
            attacks=suggestions.attacks,
        )
        for change, after in zip(suggestions.changes, suggestions.again.releases, strict=True)
    ]
    return sorted(found, key=lambda each: (order.index(each.before.name), *each.rank))


def change_text(change: SuggestedChange) -> str:
    """Return a change in words.

    >>> change_text(SuggestedChange(name="", release="masked", columns=("age", "income"), how="left out"))
    'age and income left out'
    """
    return f"{listed(change.columns, at_most=8)} {change.how}"


def suggestion_sentences(audit: Audit) -> list[str]:
    """Return the best change of each release, with its cost."""
    if audit.suggestions is None:
        return []
    if not audit.suggestions.attacks:
        return ["Nothing is significant and no threshold is set, so no change was tested."]
    found = measured_changes(audit)
    if not found:
        return ["No column can be generalized or removed: the attacker knows too few."]
    of_release = [(each, [one for one in found if one.before is each]) for each in audit.releases]
    said = [_sentence(release, own, several=len(audit.releases) > 1) for release, own in of_release if own]
    more = [f"For {count(len(said) - _MOST_SAID)} more releases see the table."] if len(said) > _MOST_SAID else []
    return [*said[:_MOST_SAID], *more]


def _sentence(release: AuditedRelease, changes: Sequence[MeasuredChange], *, several: bool) -> str:
    best = changes[0]
    which = f"{name(release.name, 40)!r}" if several else "the release"
    tried = f"{count(len(changes), 'change', 'changes')} of {which}"
    if not best.proved_before:
        return f"Nothing is significant for {which}; the table lists the effect of each change."
    if best.proved and best.fall < _LEAST_FALL:
        return f"None of {tried} lowers attack success: protect the data in another way."
    if not best.proved:
        clear = [each for each in changes if not each.proved]
        cheapest = min(clear, key=lambda each: each.loss)
        verb = "leaves" if len(clear) == 1 else "leave"
        return f"{len(clear)} of {tried} {verb} nothing significant. Least utility loss: {_quoted(cheapest)}."
    stay = listed([ATTACKS[attack].title.lower() for attack in best.proved], at_most=8)
    return f"None of {tried} leaves nothing significant. Best: {_quoted(best)}; still significant: {stay}."


def _quoted(measured: MeasuredChange) -> str:
    before, after = measured.before.utility, measured.change.utility
    cost = ""
    if before is not None and after is not None:
        cost = f", utility loss {percent(before.loss)} → {percent(after.loss)}"
    return f"“{change_text(measured.change)}” ({_fallen(measured)}{cost})"


def _fallen(measured: MeasuredChange) -> str:
    """Return the attack that falls most, before and after, where one falls."""
    falls = [(float(one.worse.value) - float(other.worse.value), attack) for attack, one, other in measured.pairs()]
    most, which = max(falls, default=(0.0, ""))
    if most <= 0:
        return "no decrease"
    one, other = next((one, other) for attack, one, other in measured.pairs() if attack == which)
    return f"{ATTACKS[which].title.lower()} {_share(one)} → {_share(other)}"


def _share(finding: AttackFinding) -> str:
    value = finding.worse.value
    # Bounds that meet leave nothing open.
    return percent(float(value) if isinstance(value, SuppressedNumber) and value.least == value.most else value)


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the tested changes; None where they were not asked for."""
    if audit.suggestions is None:
        return None
    found = measured_changes(audit)
    return Section(
        heading="Tested changes",
        question="Which change lowers the risk, and at what cost?",
        lead=" ".join(suggestion_sentences(audit)),
        blocks=(_table(audit, found),) if found else (),
    )


def _table(audit: Audit, changes: Sequence[MeasuredChange]) -> TableBlock:
    several, again = len(audit.releases) > 1, None if audit.suggestions is None else audit.suggestions.again
    decisions = {} if again is None else {each.name: each.decision for each in again.decision.releases}
    has_threshold = audit.thresholds.is_set
    heads = ("Change", "Largest decrease", "Highest remaining", "Still significant", "Utility loss")
    rows = [
        (
            *([name(each.before.name, 40)] if several else []),
            change_text(each.change),
            _fallen(each),
            _left(each),
            _still(each),
            "–" if each.change.utility is None else percent(each.change.utility.loss),
            *([DECISION_WORDS[decisions[each.change.name]]] if has_threshold else []),
        )
        for each in changes
    ]
    columns = (*(("Release",) if several else ()), *heads, *(("Decision",) if has_threshold else ()))
    return TableBlock(
        caption="Each change, audited again",
        columns=columns,
        rows=tuple(rows),
        align=tuple("right" if head == "Utility loss" else "left" for head in columns),
        note=f"{SAME_PEOPLE} {_NOTE}",
        prose=True,
    )


def _still(measured: MeasuredChange) -> str:
    """Return how many significant attacks stay significant, by name."""
    gone = [ATTACKS[attack].title.lower() for attack in measured.proved_before if attack not in measured.proved]
    if not measured.proved:
        return "nothing"
    no_longer = f"; no longer {listed(gone, at_most=8)}" if gone else ""
    return f"{len(measured.proved)} (before {len(measured.proved_before)}){no_longer}"


def _left(measured: MeasuredChange) -> str:
    """Return the attack that reaches most after the change."""
    known = [(attack, other) for attack, _, other in measured.pairs() if not isnan(other.worse.value)]
    if not known:
        return "–"
    attack, other = max(known, key=lambda pair: float(pair[1].worse.value))
    return f"{ATTACKS[attack].title.lower()} {compact_rate(other.worse)}"

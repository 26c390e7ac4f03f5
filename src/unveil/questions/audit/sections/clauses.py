"""Clauses of a published threshold, and the values that answer them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan

from unveil._figure import derived, figure
from unveil.questions.audit.decision.evidence import alone, quantities_of
from unveil.questions.audit.findings import Audit
from unveil.report.blocks import TableBlock
from unveil.report.limits import Quantity
from unveil.report.profiles import Clause, Profile, profile
from unveil.report.text import decimal, name

NOT_BY_THIS_TOOL = "not by this tool"


@dataclass(frozen=True, kw_only=True)
class ClauseAnswer:
    """Clause with its value in each release; no value if none applies."""

    COUNTS = "statistic"

    clause: Clause = figure(inline=True)
    #: Empty where no value fits.
    name: str

    @derived("The value or part that answers it; null where this tool does not.")
    def answered_by(self) -> str | None:
        """The value or part that answers it."""
        return self.name or self.clause.part or None

    found: Mapping[str, float] = figure("The value of each release, by its name.")


@dataclass(frozen=True, kw_only=True)
class ProfileAnswers:
    """A published threshold with what answers each of its clauses."""

    COUNTS = "nothing private"

    profile: Profile = figure(inline=True)
    answers: tuple[ClauseAnswer, ...] = figure("Requirements of the source, and their answers.", name="clauses")


def answers_to(profile: Profile, releases: Mapping[str, Mapping[str, Quantity]]) -> ProfileAnswers:
    """Return the answer to each clause of a profile; NaN if unmeasured.

    >>> from unveil.report.profiles import profile
    >>> [each.name for each in answers_to(profile("cell-3"), {}).answers]
    ['disclosure.k_anonymity', 'max_risk', '']
    """
    answers = tuple(
        ClauseAnswer(
            clause=clause,
            name=value,
            found={which: own[value].value if value in own else nan for which, own in releases.items()}
            if value
            else {},
        )
        for clause in profile.clauses
        for value in clause.figures or ("",)
    )
    return ProfileAnswers(profile=profile, answers=answers)


def clause_table(answers: tuple[ClauseAnswer, ...]) -> TableBlock:
    """Return clause, requirement, answer, and values, without repetitions."""
    several = len({which for each in answers for which in each.found}) > 1
    rows, before = [], None
    for each in answers:
        asked = (each.clause.where, each.clause.asks) if each.clause is not before else ("", "")
        texts = [
            f"{name(which, 40)}: {_text(value)}" if several else _text(value) for which, value in each.found.items()
        ]
        rows.append((*asked, each.answered_by or NOT_BY_THIS_TOOL, "; ".join(texts)))
        before = each.clause
    return TableBlock(
        caption="Requirements of the source, and their answers",
        columns=("Where", "Requirement, in our words", "Answered by", "Value"),
        rows=tuple(rows),
        align=("left",) * 4,
        prose=True,
    )


def _text(value: float) -> str:
    return "not measured" if isnan(value) else decimal(value)


def profile_sentence(answers: ProfileAnswers) -> str:
    """Return the source of the threshold, and what it asks."""
    profile = answers.profile
    return f"Threshold: {profile.title}. {profile.text} Source: {profile.cited} ({profile.standing})."


def profile_answers(audit: Audit) -> ProfileAnswers | None:
    """Return what answers each clause of the source of the threshold; None where the user chose it."""
    if not audit.thresholds.profile:
        return None
    values = {each.name: quantities_of(alone(audit, each.name)) for each in audit.releases}
    return answers_to(profile(audit.thresholds.profile), values)

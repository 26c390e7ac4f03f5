"""Methods and limitations: how was this measured?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan, nan

from unveil._figure import derived, figure
from unveil.data.table import near_note, unsure_note
from unveil.data.table.markers import MarkerCount
from unveil.metrics.releases.unseen_values import UnseenValues
from unveil.metrics.verdict.control import ColumnDifference, ControlCheck
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.evidence import alone, quantities_of
from unveil.questions.audit.decision.text import p_text
from unveil.questions.audit.findings import SEPARABLE, Audit, AuditedRelease
from unveil.questions.audit.sections.generator import oddities
from unveil.questions.audit.words import LONGEST_NAME, number_of, percent
from unveil.report.blocks import TableBlock
from unveil.report.editions import people
from unveil.report.limits import Quantity
from unveil.report.profiles import Clause, Profile, profile
from unveil.report.text import count, decimal, name

#: With fewer people, or released rows, nothing can be concluded.
TOO_FEW = 20
EVIDENCE = "This report is evidence for a decision, not a legal determination of anonymity."
_MOST = 0.5
_CONTROL = {
    "usable": "usable",
    "other_people": "not usable: from another population",
    "clustered": "not usable: rows of one table are too similar to be separate people",
    "overlap": "contains people of the original data; effects are underestimated",
    "too_small": "not usable: fewer than 20 people",
    "none": "none",
}


def methods(audit: Audit) -> Iterator[str]:
    """Yield how the results were computed, one topic each."""
    yield (
        "Excess risk is attack success minus baseline: more people per 100 because of the release. The baseline is the "
        "control group where there is one. The level is the band of the largest significant excess: at most 5 points "
        "very low, 9 low, 33 medium, above that high. These bounds are published for re-identification. Applying them "
        "to other risks is a convention of unveil."
    )
    if audit.verdict.figures:
        yield (
            "Significance: if the release discloses nothing, any people of the data and the control group could be the "
            f"members. Computing p takes {count(audit.verdict.draws)} permutations; adjusted p corrects for "
            f"{count(audit.verdict.figures, 'test', 'tests')} (step-down min-p, Westfall and Young 1993). An excess is "
            f"significant if adjusted p ≤ {audit.verdict.alpha:g}."
        )
        yield (
            "Limits: lower limits of all excesses together err in at most 2.5% of audits, each upper limit in 5% "
            "(Newcombe 1998, method 10). The largest of several excesses is biased upwards. Where the bias exceeds a "
            "tenth, it is subtracted."
        )
    yield from (each.about for each in map(ATTACKS.__getitem__, audit.attacks) if each.about)
    yield "Targets are chosen by content: the order of rows changes no result except row-order leakage."


def limitations(audit: Audit) -> Iterator[str]:
    """Yield what the audit does not cover."""
    yield EVIDENCE
    if not audit.has_control:
        yield (
            "No control group: an attack may succeed because of what is true of the whole population. Most effects "
            "cannot be estimated without one."
        )
    has_children = any(ATTACKS[each].needs_children for each in audit.attacks)
    possible = [each for each in ATTACKS.values() if has_children or not each.needs_children]
    titles = [each.title for each in possible if each.name not in audit.attacks]
    left_out = [f"{each[:1].lower()}{each[1:]}" for each in titles]
    if left_out:
        yield f"Not run: {', '.join(left_out)}."
    yield "Not covered: attackers with other columns or tables, repeated releases, and stronger methods."
    if audit.by is None:
        yield "Not covered: subgroups. A mean over all people can hide a subgroup with a higher risk."
    else:
        others = f"subgroups by other columns than {name(audit.by, 40)}"
        yield f"Not covered: {others}, and subgroups of fewer than {audit.minimum_cell} people."
    if all(release.utility is None for release in audit.releases):
        yield "Utility was not measured."
    if not any(each.role == "sensitive" for each in audit.columns) and not audit.sensitive_stated:
        yield "Sensitive columns were not stated: every column was attacked in turn."


def tables(audit: Audit) -> Iterator[TableBlock]:
    """Yield the checks of the control group, and the column table."""
    facts = list(_facts(audit))
    if facts:
        yield TableBlock(
            caption="Tests and control checks", columns=("Check", "Result"), rows=tuple(facts), align=("left", "left")
        )
    yield column_table(audit)


def _facts(audit: Audit) -> Iterator[tuple[str, str]]:
    judged, control = audit.verdict, audit.verdict.control
    if judged.figures:
        yield "Tests", count(judged.figures)
        if judged.draws:
            yield "Permutations", count(judged.draws)
    if audit.has_control:
        yield "Control group", _CONTROL[control.outcome]
        yield from ((label, p_text(p)) for label, p in _checks(control) if not isnan(p))
    if judged.fewest_copies_provable:
        yield "Smallest detectable number of exact copies", count(judged.fewest_copies_provable)


def _checks(control: ControlCheck) -> Iterator[tuple[str, float]]:
    yield "p, same population", control.p_same
    yield "p, no shared people", control.p_overlap
    yield "p, no near-duplicates", control.p_near


def column_table(audit: Audit) -> TableBlock:
    """Return each column's type, role, and reason; guessed ones first."""
    return TableBlock(
        caption="Columns",
        columns=("Column", "Type", "Confidence", "Role", "Missing", "Markers", "Reason"),
        rows=tuple(
            (
                name(column.name, 60),
                column.kind,
                column.confidence_words,
                column.role,
                people(column.missing),
                ", ".join(map(_marker, column.markers)),
                column.reason,
            )
            for column in sorted(audit.columns, key=lambda each: not each.is_guessed)
        ),
        align=("left", "left", "left", "left", "right", "left", "left"),
        prose=True,
    )


def _marker(marker: MarkerCount) -> str:
    return f"{name(marker.text, 60)} ({marker.kind}): {people(marker.cells)}"


def notes(audit: Audit) -> Iterator[str]:
    """Yield what the reader must know about the input."""
    yield from control_notes(audit)
    for release in audit.releases:
        for each in release.unseen if release.rows >= TOO_FEW else ():
            if each.severity == "warning" or (each.severity == "note" and each.unseen and release.kind == "masked"):
                yield _unseen(each, release)
    yield from dict.fromkeys(_remarks(audit))
    yield from audit.notes


def _remarks(audit: Audit) -> Iterator[str]:
    """Yield the remark of each finding, with its attack and release."""
    for release in audit.releases:
        of = f", {name(release.name, 40)}" if len(audit.releases) > 1 else ""
        yield from (f"{ATTACKS[each.attack].title}{of}: {each.remark}" for each in release.findings if each.remark)


def control_notes(audit: Audit) -> Iterator[str]:
    """Yield what limits the control group."""
    control = audit.verdict.control
    if control.is_noted:
        yield f"The control group differs a little from the original data: {_difference(control.differences[0])}."
    if control.outcome == "usable" and control.is_small:
        fewest = audit.verdict.fewest_copies_provable
        detects = f"no fewer than {count(fewest)} copies" if fewest else "no copies"
        yield f"The control group is small ({number_of(control.others)}): it detects {detects}."
    if control.outcome == "other_people":
        yield (
            f"The control group is from another population: {_difference(control.differences[0])}. Use people from "
            "the same population: split the original data before the release is made."
        )
    if control.is_clustered:
        yield (
            "Similar rows are in the same table, as if one person had several. If so, state the column that identifies "
            "the person; if not, state that there is none."
        )
    if control.outcome == "overlap":
        is_equal = control.p_overlap <= control.p_near
        number = control.overlap_estimate if is_equal else control.near_estimate
        match = "equal" if is_equal else "nearly equal"
        yield (
            f"About {number_of(max(number, 1), '', '')} of {number_of(control.others, '', '')} control people have "
            f"{match} records in the original data. Significant effects stand; a pass is not possible. Remove these "
            "people at the source, not by comparing the tables."
        )
    if control.outcome == "too_small":
        yield f"The control group has {number_of(control.others)}: at least 20 are needed, and 200 are better."


def _difference(each: ColumnDifference) -> str:
    column = name(each.column, LONGEST_NAME)
    if isnan(each.here):
        return f"{column} differs"
    if each.figure == "share":
        value = "missing" if each.value is None else repr(name(each.value, LONGEST_NAME))
        return f"{column} is {value} for {percent(each.here)} of the data and {percent(each.there)} of the control"
    what = {"mean": "mean of ", "spread": "SD of ", "place": "average rank of ", "place_spread": "SD of ranks of "}
    return f"{what[each.figure]}{column} is {each.here:.3g} in the data and {each.there:.3g} in the control"


def cautions(audit: Audit) -> tuple[str, ...]:
    """Return the cautions above the headline."""
    apart = any(SEPARABLE in finding.figures for release in audit.releases for finding in release.findings)
    lost = (each for release in audit.releases for each in _lost(release))
    tables = () if audit.tables is None else audit.tables.problems()
    keys = (f"{each}." for each in tables)
    said = (*_too_few(audit), *keys, *oddities(audit), unsure_note(audit.columns), *([_APART] if apart else []), *lost)
    return tuple(dict.fromkeys(filter(None, said)))


_APART = (
    "People in the data differ from the control group even without the release. Results on membership may show that "
    "difference. Use a control group from the same population."
)


def _too_few(audit: Audit) -> Iterator[str]:
    rows = min((release.rows for release in audit.releases), default=TOO_FEW)
    words = ("person", "people") if audit.rows < TOO_FEW else ("released row", "released rows")
    number = audit.rows if audit.rows < TOO_FEW else rows
    if number < TOO_FEW:
        verb = "is" if number == 1 else "are"
        yield people(number, *words, pattern=f"There {verb} only {{}}: too few for any conclusion.")


def _lost(release: AuditedRelease) -> Iterator[str]:
    for column, near in release.near_names:
        yield f"{near_note(column, near, release.name)}. Each column that is left out makes the risk look smaller."
    for each in release.unseen:
        if each.severity == "headline" and release.rows >= TOO_FEW:
            yield _recoded(each, release)


def _recoded(each: UnseenValues, release: AuditedRelease) -> str:
    what = f"'{each.column}' of {release.name}"
    if each.factor is not None:
        factor = f"{each.factor:g}" if each.factor > 1 else f"1/{1 / each.factor:g}"
        seen, perhaps = f"Released values of {what} differ from the original by a factor", f"another unit (× {factor})"
    elif each.share >= _MOST:
        share = "No released value" if each.share >= 1 else "At most half of the released values"
        seen = f"{share} of {what} {'occurs' if each.share >= 1 else 'occur'} in the original"
        perhaps = "recoded, perhaps renamed one to one" if each.is_renamed else "recoded"
    else:
        seen = f"The median of the released {what} is outside nearly all of the original"
        perhaps = "recoded, in another unit, or faulty"
    return f"{seen}. It may be {perhaps}. Attacks cannot use such a column, so results with it are no evidence."


def _unseen(each: UnseenValues, release: AuditedRelease) -> str:
    beyond = "are outside the range of the original" if each.is_ranged else "do not occur in the original"
    said = f"{percent(each.share)} of the released values of '{each.column}' of {release.name} {beyond}"
    if each.severity == "note":
        return f"{said}; masked data should contain no new values."
    return f"{said}; results with this column may be too low."


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
    """Return the answers to each clause of a threshold's source."""
    if not audit.thresholds.profile:
        return None
    values = {each.name: quantities_of(alone(audit, each.name)) for each in audit.releases}
    return answers_to(profile(audit.thresholds.profile), values)

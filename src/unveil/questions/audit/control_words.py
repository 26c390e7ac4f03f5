"""What is wrong with the control of an audit, what has to be known of it, and how to get one, in sentences."""

from math import isnan

from unveil.metrics.verdict.control import ColumnDifference
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.verdict_text import VerdictText, number_of
from unveil.questions.audit.words import LONGEST_NAME, percent
from unveil.report.text import count, name

ADVICE = (
    "Keep a random fifth of the people (at least 200) out when the release is made, and audit with these as the "
    "control.",
    "If the release exists already, let the audit make it again from four fifths of the people in the same way "
    "(--generator, with --folds 5): each fifth is the control once, everybody is tested, and the way of making it is "
    "judged.",
)


_SEVERAL_ROWS = (
    "If a person can have several rows, name the column that says whose each row is (--id COLUMN); if not, say so "
    "(--id none)."
)


def control_notes(audit: Audit) -> tuple[str, ...]:
    """Return what has to be known of the control beside the headline."""
    control, said = audit.verdict.control, []
    if control.is_noted:
        said.append(
            f"The control differs a little from the original: {_difference(control.differences[0])}. Figures stay, "
            "because so small a difference changes them little."
        )
    if control.outcome == "usable" and control.is_small:
        fewest = audit.verdict.fewest_copies_provable
        proof = (
            f"counting can prove no fewer than {count(fewest)} copied people" if fewest else "counting proves no copies"
        )
        said.append(f"The control is small ({count(control.others, 'person', 'people')}): {proof}.")
    if control.outcome not in ("usable", "none"):
        said.append(control_said(audit).whole)
    return tuple(said)


def control_said(audit: Audit) -> VerdictText:
    """Return what is wrong with the control and what to do about it; nothing where it is usable or there is none."""
    control = audit.verdict.control
    if control.outcome in ("other_people", "clustered"):
        others = "The control is of other people"
        if control.is_clustered:
            others += ", or several rows belong to one person"
        shown = "the rows most alike are in the same table"
        if control.outcome == "other_people":
            shown = _difference(control.differences[0])
        return VerdictText(
            headline=f"{others}: {shown}.",
            explanation=("No comparison is made.",),
            steps=(
                *([_SEVERAL_ROWS] if control.is_clustered else []),
                "Take people of the same kind, or split the original before the release is made.",
            ),
        )
    if control.outcome == "overlap":
        is_equal = control.p_overlap <= control.p_near
        number = control.overlap_estimate if is_equal else control.near_estimate
        are = "are in the original too" if is_equal else "are almost equal to people of the original"
        others = number_of(control.others, "", "")
        return VerdictText(
            headline=f"About {number_of(max(number, 1), '', '')} of {others} control people {are}.",
            explanation=("What was found stands; that nothing was found would mean nothing.",),
            steps=("Remove them at the source, not by comparing the tables.",),
        )
    if control.outcome == "too_small":
        return VerdictText(
            headline=f"The control has {number_of(control.others)}, and with fewer than 20 no figure has a test.",
            explanation=("No comparison is made.",),
            steps=("Pass at least 200 people who were kept apart when the release was made.",),
        )
    return VerdictText(headline="")


def _difference(each: ColumnDifference) -> str:
    """Return how the two tables differ in one column."""
    column = name(each.column, LONGEST_NAME)
    if isnan(each.here):
        return f"{column} differs"
    if each.figure == "share":
        value = "missing" if each.value is None else repr(name(each.value, LONGEST_NAME))
        return f"{column} is {value} for {percent(each.here)} here and for {percent(each.there)} there"
    what = {"mean": "", "spread": "the spread of ", "place": "the place of ", "place_spread": "the spread of "}
    return f"{what[each.figure]}{column} is {each.here:.3g} here and {each.there:.3g} there"

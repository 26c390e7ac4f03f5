"""Recovered cells: how each follows from what is published."""

from unveil.questions.result import PageContext
from unveil.questions.tables.findings import GroupFindings, RankedRecord, StepFindings, TablesFindings
from unveil.report.blocks import Section, TableBlock
from unveil.report.text import count

#: Longer sums are not written out.
MOST_TERMS = 8
#: Derivations that are always visible; the others are behind Data.
_FEW = 10


def section(findings: TablesFindings, context: PageContext) -> Section | None:
    """Return the derivations section, if there is something to show."""
    del context
    parts = (
        _derivations(findings),
        _groups(findings),
        _singletons(findings),
    )
    if not any(parts):
        return None
    blocks = (steps_table(findings, first=0, last=_FEW),) if findings.steps else ()
    rest = (steps_table(findings, first=_FEW, last=None),) if len(findings.steps) > _FEW else ()
    groups = (groups_table(findings),) if findings.groups else ()
    return Section(
        heading="Recovered cells",
        question="How can suppressed cells be recovered?",
        lead=" ".join(filter(None, parts)),
        blocks=blocks,
        data=(*rest, *groups),
    )


def _derivations(findings: TablesFindings) -> str:
    if not findings.steps_of:
        return ""
    return f"Any reader of the tables can derive {count(findings.steps_of, 'cell', 'cells')}. This list reveals counts."


def _groups(findings: TablesFindings) -> str:
    number = findings.single_code_groups
    if not number:
        return ""
    smallest = findings.groups[0]
    groups = count(number, "group", "groups")
    return f"All people in {groups} share one code (attribute disclosure); the smallest has {people_text(smallest)}."


def _singletons(findings: TablesFindings) -> str:
    if findings.singletons is None:
        return ""
    there, tried, gain, most = findings.singletons
    if not there:
        return "Singleton attack: no suppressed cell has exactly one respondent."
    drawn = f" ({count(tried)} tested at random)" if tried < there else ""
    gains = f"{count(gain)} can recover other cells, at most {count(most)}" if gain else "none can recover another"
    respondents = count(
        there,
        "respondent is the only one in a suppressed cell",
        "respondents are the only ones in their suppressed cells",
    )
    return f"Singleton attack: {respondents}{drawn}; {gains}."


def steps_table(findings: TablesFindings, *, first: int, last: int | None) -> TableBlock:
    """Return how cells are recovered, those that need no other recovered cell first."""
    rows = tuple(
        (each.cell if each.is_listed else f"{each.cell} (not published)", count(each.count), sum_text(each))
        for each in findings.steps[first:last]
    )
    left = findings.steps_of - len(findings.steps)
    return TableBlock(
        caption="More derivations" if first else "Derivations",
        columns=("Cell", "Count", "Derivation"),
        rows=rows,
        align=("left", "right", "left"),
        note=f"{count(left)} more are not listed." if left > 0 and (first or last is None) else "",
        prose=True,
    )


def groups_table(findings: TablesFindings) -> TableBlock:
    """Return the groups in which all people share one code, the smallest first."""
    rows = tuple((each.group, f"{each.variable}: {each.code}", people_text(each)) for each in findings.groups)
    left = findings.single_code_groups - len(rows)
    more = f" {count(left)} larger groups are not listed." if left > 0 else ""
    return TableBlock(
        caption="Groups that share one code",
        columns=("Group", "Code of all", "People"),
        rows=rows,
        align=("left", "left", "right"),
        note="Declare combinations that cannot occur as structural zeros: their groups disclose nothing." + more,
    )


def people_text(of: GroupFindings | RankedRecord) -> str:
    """Return the number of people of a group or record, if known."""
    if of.high is None:
        return f"{count(of.low)} or more"
    return count(of.low) if of.low == of.high else f"{count(of.low)} to {count(of.high)}"


def sum_text(step: StepFindings) -> str:
    """Return how a count is derived, as a sum that a reader can follow.

    >>> sum_text(StepFindings(cell="K", count=3, kind="sum", terms=((1, "all", 16, False), (-1, "N", 13, False))))
    '(all) − (N) = 16 − 13 = 3'
    """
    if step.kind == "shown":
        return f"another table shows it: {count(step.count)}"
    if step.kind == "together":
        return f"several published counts together, as no count is negative: {count(step.count)}"
    if step.kind == "ends":
        parents = [name for sign, name, *_ in step.terms if sign > 0]
        under = f" under ({parents[0]})" if len(parents) == 1 else ""
        return f"smallest and largest possible count{under} are equal: {count(step.count)}"
    if len(step.terms) > MOST_TERMS:
        return _long_sum(step)
    names = _signed([(sign, f"({name}){'*' if hidden else ''}") for sign, name, _, hidden in step.terms])
    counts = _signed([(sign, count(value)) for sign, _, value, _ in step.terms])
    chained = "; * recovered above" if any(hidden for *_, hidden in step.terms) else ""
    return f"{names} = {counts} = {count(step.count)}{chained}"


def _signed(parts: list[tuple[int, str]]) -> str:
    text = ""
    for sign, part in parts:
        times = "" if abs(sign) == 1 else f"{abs(sign)} × "
        text += f"{' + ' if sign > 0 else ' − '}{times}{part}" if text else f"{'' if sign > 0 else '−'}{times}{part}"
    return text


def _long_sum(step: StepFindings) -> str:
    plus = [(sign, name, value) for sign, name, value, _ in step.terms if sign > 0]
    less = [sign * value for sign, _, value, _ in step.terms if sign < 0]
    if len(plus) > 3:
        return f"a sum of {len(step.terms)} counts: {count(step.count)}"
    names = " + ".join(f"({name})" for _, name, _ in plus)
    counts = " + ".join(count(sign * value) for sign, _, value in plus)
    return f"{names} less {len(less)} other counts = {counts} − {count(-sum(less))} = {count(step.count)}"

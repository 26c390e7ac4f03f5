"""The parts of an audit's report beside the attacks: identifiers, groups, classes, usefulness, columns, adversaries."""

from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.parts.disclosure import disclosure_section
from unveil.questions.audit.parts.groups import GroupTable, group_section
from unveil.questions.audit.parts.identifiers import identifier_section
from unveil.questions.audit.parts.utility import utility_section
from unveil.questions.audit.ranking import worst_of
from unveil.questions.audit.tables import weight_table
from unveil.report.blocks import Section


def identifiers(audit: Audit) -> Section:
    """Return which columns look like direct identifiers: the first part of the report."""
    return identifier_section(
        {each.table: each.flags for each in audit.flags}, released=[release.name for release in audit.releases]
    )


def groups(audit: Audit) -> Section | None:
    """Return the rates of groups under the worst adversary of each attack, or None where no groups were asked for."""
    several = len(audit.releases) > 1
    found = [
        GroupTable(
            column=audit.by,
            attack=ATTACKS[attack].title,
            groups=finding.groups,
            release=release.name if several else "",
        )
        for release in audit.releases
        for attack in audit.attacks
        if audit.by is not None and (finding := worst_of(release, attack)) is not None and finding.groups
    ]
    return group_section(found) if found else None


def disclosure(audit: Audit) -> Section | None:
    """Return how many released rows look alike, the original beside them, or None where that was not measured."""
    found = [(release.name, release.disclosure) for release in audit.releases if release.disclosure is not None]
    if not found:
        return None
    if audit.before is not None and audit.before.disclosure is not None:
        found.insert(0, (audit.before.name, audit.before.disclosure))
    return disclosure_section(found)


def utility(audit: Audit) -> Section | None:
    """Return what the releases are still good for, or None where that was not measured."""
    found = [(release.name, release.utility) for release in audit.releases if release.utility is not None]
    if not found:
        return None
    return utility_section(found)


def weights(audit: Audit) -> Section | None:
    """Return which columns help the worst adversary most, or None where nothing was linked."""
    weighed = [release for release in audit.releases if release.weights]
    if not weighed:
        return None
    return Section(
        heading="The columns that matter most",
        lead=(
            "Each column of the worst adversary is taken away in turn, and the attack repeated on the same people. The "
            "more that loses, the more would coarsening the column or leaving it out help."
        ),
        blocks=(weight_table(weighed),),
    )

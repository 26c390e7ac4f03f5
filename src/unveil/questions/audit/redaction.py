"""The findings of an audit as others may see them: every number that rests on a few people becomes a bound.

A number of people is *small* when it is above 0 and below the minimum; so is a number of people when all but a small
number are counted, because the total stands beside it. Small numbers are replaced here, before any sentence, table or
picture is made, by bounds that follow from totals and the minimum alone. What is computed from a small number (rates,
intervals, differences, means) is computed from these bounds, or not shown. 0 stays 0: that nobody was hit is about
nobody. Where a total stands beside parts, as with groups, further parts are hidden until no difference is small.
"""

import re
from dataclasses import replace

from unveil.data.files.digest import keyed_digest
from unveil.protections.generators.command import PLACES
from unveil.questions.audit.decision.text import with_text
from unveil.questions.audit.findings import Audit, AuditedRelease, ColumnFact, Suggestions, TableFlags
from unveil.questions.audit.generator.findings import GeneratorSummary
from unveil.questions.audit.redaction_decisions import shared_decision
from unveil.questions.audit.redaction_rates import SmallNumbers, shared_findings, shared_verdict
from unveil.questions.audit.redaction_release import shared_disclosure, shared_utility
from unveil.report.figures import redacted
from unveil.report.suppressed_number import SuppressedNumber

#: What a shareable report says about itself.
NOTE = (
    "Numbers that rest on fewer than {minimum} people, or on all but so few, are given by bounds that follow from the "
    "totals alone, or are not shown; tables whose numbers of rows differ by fewer are given the same number. The "
    "internal edition has them all."
)
#: What stands for the words of a command.
COMMAND = "a command (the internal edition has its words)"
#: What the report says about its digests.
KEYED = (
    "A keyed digest is the HMAC-SHA-256 of a file's SHA-256 under a random key, which the internal edition states: who "
    "holds the key can show with it that a file is this one (unveil verify FILE), and nobody else can try files."
)


def shared(audit: Audit, *, key: bytes | None = None) -> Audit:
    """Return the audit with every number bounded or left out that says how few people there are of some kind.

    Plain hashes of files go too, because whoever knows nearly all of a file can try the rest against its hash; in
    their place are digests under ``key``, or none without one. Those of releases too: one may not be published yet.
    """

    def digest(sha256: str | None) -> str | None:
        if sha256 is None:
            return None
        return "not shown" if key is None else keyed_digest(sha256, key)

    small = SmallNumbers(
        minimum=audit.minimum_cell,
        rows=audit.rows,
        attacked=tuple(dict.fromkeys((audit.rows, audit.people or audit.rows, audit.attacked))),
        outside=(audit.control_rows or 0, audit.attacked_outside),
        households=_households(audit.before),
    )
    way, released = audit.way, {each.name: each.rows for each in audit.releases}
    own = [rows for label, rows in released.items() if way is None or label == way.release]
    small = replace(small, tables=small.apart(own))
    every = dict.fromkeys(released, small)
    if way is not None:
        # Releases that exist already are of everybody, and nobody is held out of them.
        beside = replace(small, rows=way.rows, attacked=(way.rows, way.attacked_beside), outside=(), tables=())
        beside = replace(
            beside, tables=beside.apart([rows for label, rows in released.items() if label != way.release])
        )
        every |= {label: beside for label in released if label != way.release}
    safe = replace(
        audit,
        sha256=digest(audit.sha256),
        control_sha256=digest(audit.control_sha256),
        decision=shared_decision(small, audit.decision),
        verdict=shared_verdict(small, audit.verdict),
        digest_name="SHA-256" if key is None else "keyed digest",
        releases=tuple(
            replace(_release(every[each.name], each), sha256=digest(each.sha256)) for each in audit.releases
        ),
        before=None if audit.before is None else _release(small, audit.before),
        flags=tuple(
            TableFlags(table=each.table, flags=tuple(replace(flag, reason=_worded(flag.reason)) for flag in each.flags))
            for each in audit.flags
        ),
        columns=tuple(_column(small, each) for each in audit.columns),
        suggestions=_suggestions(small, audit.suggestions),
        way=None if audit.way is None else _way(audit.way),
        epsilon=None if audit.epsilon is None else replace(audit.epsilon, counts=False),
        notes=(NOTE.format(minimum=audit.minimum_cell), *(() if key is None else (KEYED,)), *audit.notes),
    )
    made: Audit = redacted(safe, audit.minimum_cell)
    return replace(made, decision=with_text(made.decision, made))


def _way(way: GeneratorSummary) -> GeneratorSummary:
    """Return how releases were made without a command, and without rates of single runs, which may be those of a few.

    The words of a command may hold passwords, addresses and folders. Protections and functions are names.
    """
    generator = COMMAND if any(place in way.generator for place in PLACES) else way.generator
    return replace(way, generator=generator, about={}, spread=(), lost=())


def _suggestions(small: SmallNumbers, suggestions: Suggestions | None) -> Suggestions | None:
    """Return what to change, with what the changes come to made safe as any other audit."""
    if suggestions is None or suggestions.again is None:
        return suggestions
    changes = tuple(
        each if each.utility is None else replace(each, utility=shared_utility(small, each.utility))
        for each in suggestions.changes
    )
    return replace(suggestions, changes=changes, again=shared(suggestions.again))


def _worded(reason: str) -> str:
    """Return why a column was flagged without the share of its values, which may be a few."""
    return re.sub(r"\b[0-9]+% of", "part of", reason[:1].lower() + reason[1:]).capitalize() if "%" in reason else reason


def _release(small: SmallNumbers, release: AuditedRelease) -> AuditedRelease:
    """Return everything about one release, made safe."""
    return replace(
        release,
        rows=small.near(release.rows),
        findings=shared_findings(small, release.findings),
        disclosure=None if release.disclosure is None else shared_disclosure(small, release.disclosure),
        utility=None if release.utility is None else shared_utility(small, release.utility),
        # Only what stands above the headline is said, and that without numbers.
        unseen=tuple(each for each in release.unseen if each.severity == "headline"),
        exposed=(),
        # The decision holds them by bounds.
        class_sizes=None,
    )


def _column(small: SmallNumbers, column: ColumnFact) -> ColumnFact:
    """Return a column of the original; where only a few have a value it is not told how many lack one."""
    # A marker's text is a cell of the data, and what the others leave of the missing cells may be a few.
    column = replace(column, markers=())
    if not small.is_small(small.rows - column.missing):
        return column
    words = f"all but fewer than {small.minimum}"
    return replace(column, missing=SuppressedNumber(small.rows - small.minimum, small.rows, words=words))  # type: ignore[arg-type]


def _households(before: AuditedRelease | None) -> int:
    """Return how many households the original has; 0 where nobody looked."""
    found = None if before is None or before.disclosure is None else before.disclosure.household
    return 0 if found is None else found.households

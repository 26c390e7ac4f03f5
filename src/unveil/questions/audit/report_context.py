"""Context of an audit report: command, files, earlier audit, and edition."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError, did_you_mean, shortened
from unveil.questions.audit.findings import Audit
from unveil.questions.result import PageContext
from unveil.report.sign_off import CONTEXT

if TYPE_CHECKING:
    from unveil.questions.audit.inputs import PreparedRelease


@dataclass(frozen=True, kw_only=True)
class ReportContext:
    """Facts that a report states next to its results."""

    #: The arguments of the command as they were written; empty where the audit was asked for in Python.
    written: tuple[str, ...] = ()
    date: str = ""
    review: str = ""
    #: What was done to each column before the release.
    techniques: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    #: For whom it is identifiable, by the names of `unveil.report.sign_off.CONTEXT`.
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    original: Path | None = None
    #: In the order of the releases.
    released: tuple[Path, ...] = ()
    control: Path | None = None
    #: Siblings, their people, the population file, and child tables.
    further: tuple[Path, ...] = ()
    #: An earlier audit to compare with, as parsed JSON.
    previous: Mapping[str, Any] | None = None
    #: The key of the digests in the shareable edition, which the internal one states; without it there are none.
    digest_key: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _may_be_date(self.review):
            raise InputError(
                f"The date of review {shortened(self.review)} is not in the calendar. Write 2027-03-31, or words "
                "such as May 2027"
            )
        for key in self.context:
            if key not in CONTEXT:
                hint = did_you_mean(key, CONTEXT) or f" Choose from {', '.join(CONTEXT)}."
                raise InputError(f"Unknown field {shortened(key)} of the release context.{hint}")

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files whose folders are private."""
        every = (self.original, *self.released, self.control, *self.further)
        return tuple(path for path in every if path is not None)


def _may_be_date(text: str) -> bool:
    """Return whether a text is free words or a valid date.

    >>> _may_be_date("2028-02-29"), _may_be_date("2027-02-29"), _may_be_date("May 2027")
    (True, False, True)
    """
    digits = re.fullmatch(r"\s*(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\s*", text, re.ASCII)
    try:
        return digits is None or bool(date(*(int(part) for part in digits.groups())))
    except ValueError:
        return False


def check_context(audit: Audit, context: ReportContext) -> None:
    """Refuse a technique for a column that is not there."""
    columns = [column.name for column in audit.columns]
    for column in context.techniques:
        if column not in columns:
            hint = did_you_mean(column, columns) or " Name a column of the original."
            raise InputError(f"A technique is given for column {column!r}, which is not in the original.{hint}")


@dataclass(frozen=True, kw_only=True)
class AuditContext(PageContext):
    """The choices of an audit report.

    ``redacted`` leaves small counts, folders and values of the data out. ``show_records`` shows a few
    original records that are released unchanged, taken from ``releases``; such a page must not be shared.
    """

    report: ReportContext = field(default_factory=ReportContext)
    redacted: bool = False
    show_records: bool = False
    releases: "tuple[PreparedRelease, ...]" = ()
    #: The JSON answer of this audit, to compare with a previous one.
    present: Mapping[str, Any] = field(default_factory=dict)
    #: The first sentences below the headline, and the title, where another question shows its audit.
    title: str = ""
    opening: tuple[str, ...] = ()

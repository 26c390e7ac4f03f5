"""The settings of protecting a table: the audit is made before and after each protection."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from unveil.questions.audit.settings import AuditSettings
from unveil.questions.roles import TableColumnSettings
from unveil.questions.settings import LimitSettings, Question, SecretSeedSettings, TextFileSettings, protection, setting


@dataclass(frozen=True, kw_only=True)
class ProtectSettings(LimitSettings, TableColumnSettings, TextFileSettings, SecretSeedSettings):
    """The settings of protecting a table."""

    after: ClassVar[Mapping[type, str]] = {LimitSettings: "others"}

    original: Any = setting(
        None,
        "The table to protect",
        "The people whose privacy is at stake, one row for each: CSV or Parquet.",
        kind="table",
        required=True,
        is_bare=True,
    )
    protect: Any = protection("table", "mondrian", "How the table is protected", goes_to="first")
    first: tuple[Any, ...] = protection(
        "table",
        (),
        "Protected before that by",
        "One after the other, in this order; each step is audited too.",
        kind="things",
        many=True,
    )
    control: Any = setting(
        None,
        "People who are not in the table",
        "If you have them: people of the same kind with the same columns. Without them a fifth of the people "
        "is drawn by lot and kept apart before anything is protected, and the release holds the others.",
        kind="table",
    )
    columns: tuple[Any, ...] = AuditSettings.declared("columns")
    identifiers: tuple[str, ...] = AuditSettings.declared("identifiers")
    sensitive: tuple[str, ...] = AuditSettings.declared("sensitive")
    known: tuple[str, ...] = AuditSettings.declared("known")
    weight: str | None = AuditSettings.declared("weight")
    household: str | None = AuditSettings.declared("household")
    out: Path | None = setting(
        None, "Write the protected table", kind="output", example="released.csv", only="command line"
    )
    others: Path | None = setting(
        None,
        "Write the people who are not in it: those kept apart, or the control",
        "Keep them to yourself, to compare with the next time.",
        kind="output",
        example="others.csv",
        only="command line",
    )
    threshold: float | None = AuditSettings.declared("threshold")
    profile: str = AuditSettings.declared("profile")
    attacks: tuple[str, ...] = AuditSettings.declared("attacks")
    targets: int | str | None = AuditSettings.declared("targets")
    rename: Mapping[str, str] = TableColumnSettings.declared(
        "rename", words="What such a column is called, and its name in the table."
    )


QUESTION = Question(
    name="protect",
    command=("protect",),
    title="Protect a table",
    lead="What does a protection of a table change: how much less can an adversary do, and what is it still good for?",
    about=(
        "ORIGINAL holds one row per person: CSV or Parquet. It is audited as it is and after each protection, on the "
        "same people, side by side. An audit needs people who are not in the data: without --control a fifth of the "
        "people is drawn by lot and kept apart before anything is protected, and the release holds the others."
    ),
    tries=(
        "unveil protect people.csv --protect microaggregation:k=5 --out released.csv",
        "unveil protect people.csv --first suppression:k=3 --protect rank-swapping:p=10 --control others.csv",
    ),
    settings=ProtectSettings.table(),
    sample="700 people of an election study, and others to compare with.",
    secret=True,
)

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

    after: ClassVar[Mapping[type, str]] = {LimitSettings: "profile"}

    original: Any = setting(
        None,
        "Table to protect, one row per person",
        "CSV, Parquet, Excel, SPSS, Stata or SAS.",
        kind="table",
        required=True,
        is_bare=True,
    )
    protect: Any = protection(
        "table",
        "mondrian",
        "Protection method",
        help="Protection method; 'unveil list protections'",
        goes_to="first",
        option="--method",
        alias="--protect",
        place="default",
        group="Method",
    )
    first: tuple[Any, ...] = protection(
        "table",
        (),
        "Earlier protection methods",
        "They are applied in this order before the method above; each step is audited too.",
        kind="things",
        many=True,
        option="--first",
        place="config",
    )
    control: Any = setting(
        None,
        "Control group: similar people outside the data",
        "People from the same population, with the same columns. Without them a random fifth of the people is held "
        "out before protection, and the release holds the others.",
        kind="table",
        place="default",
    )
    columns: tuple[Any, ...] = AuditSettings.declared("columns")
    identifiers: tuple[str, ...] = AuditSettings.declared("identifiers")
    sensitive: tuple[str, ...] = AuditSettings.declared("sensitive")
    known: tuple[str, ...] = AuditSettings.declared("known")
    weight: str | None = AuditSettings.declared("weight")
    household: str | None = AuditSettings.declared("household")
    out: Path | None = setting(
        None, "Write the protected table", kind="output", example="released.csv", only="command line", place="default"
    )
    others: Path | None = setting(
        None,
        "Write the held-out people (internal)",
        "Or the control group. Keep the file for the next audit.",
        kind="output",
        example="others.csv",
        only="command line",
        option="--write-control",
        alias="--others",
    )
    threshold: float | None = AuditSettings.declared("threshold")
    profile: str = AuditSettings.declared("profile")
    limits: tuple[tuple[str, float], ...] = AuditSettings.declared("limits", place="all")
    attacks: tuple[str, ...] = AuditSettings.declared("attacks")
    targets: int | str | None = AuditSettings.declared("targets")


QUESTION = Question(
    name="protect",
    command=("protect",),
    title="Protect a table",
    lead="How much does a protection method lower the risk, and what utility is left?",
    about=(
        "ORIGINAL has one row per person. unveil audits it unprotected and after each method, on the same people. "
        "Without a control group a random fifth of the people is held out before protection, and the release holds the "
        "others. Several methods are applied in their order."
    ),
    tries=(
        "unveil protect people.csv --method microaggregation:k=5 --out released.csv",
        "unveil protect people.csv --method suppression:k=3 --method rank-swapping:p=10 --control others.csv",
    ),
    settings=ProtectSettings.table(),
    sample="700 people of an election study, and a control group.",
    secret=True,
)

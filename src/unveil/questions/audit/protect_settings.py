"""What can be asked about protecting a table: the audit is made before and after each protection."""

from collections.abc import Mapping
from dataclasses import dataclass

from unveil.questions.audit.settings import QUESTION as AUDIT
from unveil.questions.roles import TableColumnSettings
from unveil.questions.settings import Choices, LimitSettings, Question, SecretSeedSettings, Setting, TextFileSettings


@dataclass(frozen=True, kw_only=True)
class ProtectReading(TableColumnSettings, TextFileSettings):
    """How the table to protect is read."""

    rename: Mapping[str, str] = TableColumnSettings.declared(
        "rename", words="What such a column is called, and its name in the table."
    )


def _protections() -> Choices:
    from unveil.protections import PROTECTIONS

    return tuple((name, each.summary) for name, each in PROTECTIONS.items() if each.on == "table")


def _read_protection(text: str) -> object:
    from unveil.protections import protection_from

    return protection_from(text)


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
    settings=(
        Setting(
            name="original",
            label="The table to protect",
            kind="table",
            words="The people whose privacy is at stake, one row for each: CSV or Parquet.",
            required=True,
            is_bare=True,
        ),
        Setting(
            name="protect",
            label="How the table is protected",
            kind="thing",
            choices=_protections,
            read=_read_protection,
            default="mondrian",
            goes_to="first",
        ),
        Setting(
            name="first",
            label="Protected before that by",
            kind="things",
            words="One after the other, in this order; each step is audited too.",
            choices=_protections,
            read=_read_protection,
            default=(),
            many=True,
        ),
        Setting(
            name="control",
            label="People who are not in the table",
            kind="table",
            words="If you have them: people of the same kind with the same columns. Without them a fifth of the people "
            "is drawn by lot and kept apart before anything is protected, and the release holds the others.",
        ),
        AUDIT.setting("columns"),
        *(AUDIT.setting(name) for name in ("identifiers", "sensitive", "known", "weight", "household")),
        Setting(
            name="out",
            label="Write the protected table",
            kind="output",
            example="released.csv",
            only="command line",
        ),
        Setting(
            name="others",
            label="Write the people who are not in it: those kept apart, or the control",
            kind="output",
            example="others.csv",
            words="Keep them to yourself, to compare with the next time.",
            only="command line",
        ),
        *LimitSettings.table(),
        AUDIT.setting("attacks"),
        AUDIT.setting("targets"),
        *ProtectReading.table(),
        *SecretSeedSettings.table(),
    ),
    sample="700 people of an election study, and others to compare with.",
    secret=True,
)

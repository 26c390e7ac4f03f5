"""Settings of the split into people to release and a control group."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from unveil.questions.settings import LimitSettings, Question, SecretSeedSettings, TextFileSettings, setting


@dataclass(frozen=True, kw_only=True)
class SplitSettings(TextFileSettings, LimitSettings, SecretSeedSettings):
    """The settings of the split."""

    file: Any = setting(
        None,
        "Table of people",
        "CSV, Parquet, Excel, SPSS, Stata or SAS.",
        kind="table",
        required=True,
        is_bare=True,
    )
    share: Fraction = setting(
        "0.2",
        "Share of people in the control group",
        "Between 0 and 1. An audit needs 20 people in the control group, and better 200.",
        metavar="SHARE",
        place="default",
    )
    id: str | None = setting(
        None,
        "Column that identifies people",
        "All rows of a person stay together. 'none' states that each row is another person.",
        kind="column",
        of="file",
        place="default",
        group="Columns",
    )
    household: str | None = setting(
        None,
        "Column that identifies households",
        "All people of a household stay together: relatives resemble each other.",
        kind="column",
        of="file",
        place="default",
        group="Columns",
    )
    out: Path | None = setting(
        Path("people-to-release.csv"),
        "Write the people to release",
        "Parquet where the name ends in .parquet, else text as in the input. An existing file is never replaced.",
        kind="output",
        example="people-to-release.csv",
        only="command line",
        is_new=True,
        place="default",
    )
    control: Path | None = setting(
        Path("control-group.csv"),
        "Write the control group (internal)",
        "In the same format.",
        kind="output",
        example="control-group.csv",
        only="command line",
        option="--write-control",
        is_new=True,
        place="default",
    )


QUESTION = Question(
    name="split",
    command=("split",),
    title="Set a control group aside",
    lead="Which people are released, and which are kept out to audit the release?",
    about=(
        "An audit compares people in the data with a control group of the same population, which was not used to "
        "make the release. unveil draws it at random, before the release is made. Protect "
        "or synthesize only the people to release, and keep the control group for the audit."
    ),
    tries=(
        "unveil split people.csv --share 0.2",
        "unveil split visits.csv --id person --household home --out release.csv --write-control control.csv",
        "unveil audit people-to-release.csv masked.csv --control control-group.csv",
    ),
    settings=SplitSettings.table(),
    sample="944 people of an election study; no file is written unless it is named.",
    of_sample={"out": None, "control": None},
    secret=True,
)

"""Settings of the check of column types."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.questions.roles import TableColumnSettings
from unveil.questions.settings import LimitSettings, Question, TextFileSettings, setting


@dataclass(frozen=True, kw_only=True)
class ColumnsSettings(TableColumnSettings, TextFileSettings, LimitSettings):
    """The settings of the check of column types."""

    file: Any = setting(
        None,
        "Table to check",
        "CSV, Parquet, Excel, SPSS, Stata or SAS.",
        kind="table",
        required=True,
        is_bare=True,
    )
    write_dictionary: Path | None = setting(
        None,
        "Write the column types as an editable file",
        "TOML, which the dictionary setting of all commands takes.",
        kind="output",
        only="command line",
        example="kinds.toml",
        alias="--write",
        place="default",
    )
    dictionary: Any = TableColumnSettings.declared("dictionary", place="default")


QUESTION = Question(
    name="columns",
    command=("columns",),
    title="Check column types",
    lead="How is each column read, and why?",
    about=(
        "Every result of an audit depends on the column types: a code read as an amount changes them all. "
        "FILE is any table that unveil reads. Correct wrong types in the file of --write-dictionary, and "
        "pass it to the audit with --dictionary."
    ),
    tries=(
        "unveil columns people.csv --write-dictionary types.toml",
        "unveil columns people.csv",
        "unveil audit people.csv masked.csv --dictionary types.toml",
    ),
    settings=ColumnsSettings.table(),
    sample="700 people of an election study.",
)

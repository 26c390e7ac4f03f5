"""The settings of the question about the columns of a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.questions.roles import TableColumnSettings
from unveil.questions.settings import LimitSettings, Question, TextFileSettings, setting


@dataclass(frozen=True, kw_only=True)
class ColumnsSettings(TableColumnSettings, TextFileSettings, LimitSettings):
    """The settings of the question about the columns of a table."""

    file: Any = setting(
        None,
        "The table",
        "CSV, Parquet, Excel, SPSS, Stata, SAS and others.",
        kind="table",
        required=True,
        is_bare=True,
    )
    write: Path | None = setting(
        None,
        "Write what the columns are taken for to FILE, as TOML to be corrected",
        kind="output",
        only="command line",
        example="kinds.toml",
    )
    rename: Mapping[str, str] = TableColumnSettings.declared(
        "rename", words="What such a column is called, and its name in a dictionary."
    )


QUESTION = Question(
    name="columns",
    command=("columns",),
    title="What is in each column",
    lead="What is in each column of a table, why is that thought, and how sure is it?",
    about=(
        "Every figure of an audit rests on what a column is taken for: a code that is taken for an amount, or an "
        "amount for a code, changes them all. FILE is any table that unveil reads. What is wrong can be corrected in "
        "the file of --write, which --dictionary of this command and of an audit takes."
    ),
    tries=(
        "unveil columns",
        "unveil columns people.csv",
        "unveil columns people.csv --write kinds.toml",
        "unveil audit people.csv masked.csv --dictionary kinds.toml",
    ),
    settings=ColumnsSettings.table(),
    sample="700 people of an election study.",
)

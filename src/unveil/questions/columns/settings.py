"""What can be asked about the columns of a table."""

from unveil.questions.roles import column_settings
from unveil.questions.settings import (
    Question,
    Setting,
    limits_setting,
    reading_settings,
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
    settings=(
        Setting(
            name="file",
            label="The table",
            kind="table",
            words="CSV, Parquet, Excel, SPSS, Stata, SAS and others.",
            required=True,
            is_bare=True,
        ),
        Setting(
            name="write",
            label="Write what the columns are taken for to FILE, as TOML to be corrected",
            kind="output",
            only="command line",
            example="kinds.toml",
        ),
        *column_settings(of="a dictionary"),
        *reading_settings(),
        limits_setting(),
    ),
    sample="700 people of an election study.",
)

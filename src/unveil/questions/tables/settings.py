"""What can be asked about published tables of counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, LimitSettings, Question, SeedSettings, TextFileSettings, setting

_WRITTEN = "How the tables are written"

#: Counts below this are small unless told.
MINIMUM = 5
#: Published rules about small cells, and the least count that each of them lets be known.
PROFILES = {"cell-3": 3, "cell-5": 5, "cell-11": 11, "cell-20": 20}
#: So many ranked records are named at most.
MOST_RECORDS = 10_000


def _together(request: Request) -> list[tuple[str, str]]:
    """Return what does not go together."""
    values = request.values
    if values["round"] and values["noise"]:
        return [("noise", "{round} and {noise} both say how figures were changed. Tell one of them")]
    # The page sends its default along, which nobody said; the command line knows what was.
    if values["profile"] and "minimum" in request.explicit and values["minimum"] != PROFILES[values["profile"]]:
        return [("minimum", f"{{profile}} sets the minimum to {PROFILES[values['profile']]}. Leave out {{minimum}}")]
    if "keep" in request.explicit and values["repair"] is None:
        return [("keep", "{keep} is about a repair. Add {repair}")]
    if values["insider"] and request.path("truth") is None:
        return [("insider", "{insider} needs to know who is alone in a count. Add {truth}")]
    return []


@dataclass(frozen=True, kw_only=True)
class TablesSettings(LimitSettings, TextFileSettings, SeedSettings):
    """The settings of the question about tables of counts."""

    tables: tuple[Any, ...] = setting(
        (),
        "The tables as they are published",
        "One row for each cell with a column called count, or the codes of one variable in the header. "
        "Tables that share a variable are put together.",
        kind="tables",
        is_bare=True,
        required=True,
    )
    minimum: int = setting(
        MINIMUM, "The least count that may be known", "Counts from 1 to one less are small.", least=2, most=1000
    )
    profile: str = setting(
        "",
        "A published rule to hold the tables to",
        "It sets the minimum, and no small count may be worked out.",
        kind="choice",
        choices=lambda: (("", "none"), *((name, f"no count from 1 to {most - 1}") for name, most in PROFILES.items())),
    )
    truth: Any = setting(
        None,
        "The records that the tables were made from",
        "One row for each person, with a column for each variable. Every range is held against them; no "
        "count of them is shown.",
        kind="table",
    )
    hidden: tuple[str, ...] = setting(
        (),
        "What stands in place of a count, and what it says",
        "RANGE is 0, 1..4, 10.. or none for nothing to count. Common symbols are known; without a range they "
        "are read in two ways, by whoever knows the rule and by whoever does not.",
        many=True,
        metavar="TEXT=RANGE",
        example="*=1..4",
        fold=_WRITTEN,
        objects=True,
    )
    totals: tuple[str, ...] = setting(
        (),
        "Codes that are totals",
        "Beside those called Total, All or the like. VARIABLE= means that an empty label is the total.",
        many=True,
        metavar="VARIABLE=CODE",
        example="region=UK",
        fold=_WRITTEN,
        objects=True,
    )
    hierarchies: Mapping[str, Any] = setting(
        (),
        "Which codes of a variable are sums of which others",
        "A file with the columns child and parent, or with value;label;wider label in each line. Bands of "
        "numbers such as 0-17 and 18+ need none.",
        only="command line",
        option="--hierarchy",
        metavar="VARIABLE=FILE",
        form="VARIABLE=FILE, as in ward=districts.csv",
    )
    structural: Any = setting(
        None,
        "Combinations of codes that nobody can have by what they mean",
        "A column for each variable that matters, a combination in each row; an empty cell means any code. "
        "They are 0 to everybody, and groups that have one code for no other reason are left out.",
        kind="table",
        fold=_WRITTEN,
    )
    rest: tuple[str, ...] = setting(
        (),
        "Variables of which not all codes are listed",
        "Their totals may hold more than what is shown.",
        kind="columns",
        of="tables",
        fold=_WRITTEN,
    )
    round: str = setting(
        "",
        "How every figure was rounded",
        "WAY is nearest, half-up, half-down, random, up or down; with inner, totals are exact.",
        metavar="BASE[:WAY][:inner]",
        example="3:random",
        fold=_WRITTEN,
        objects=True,
    )
    noise: int = setting(
        0,
        "By how much at most every figure was changed at random",
        "As cell keys do. Noise without a bound, as differential privacy adds it, leaves no ranges.",
        least=0,
        most=1_000_000,
        fold=_WRITTEN,
    )
    zeros_true: bool = setting(False, "A 0 that is shown is a true one, whatever noise was added", fold=_WRITTEN)
    base: int | None = setting(
        None,
        "How many people a column of percentages is of",
        "For tables with a column called percent in place of counts; a column called base tells it by row.",
        least=1,
        most=1_000_000_000,
        fold=_WRITTEN,
    )
    percent_of: str = setting(
        "",
        "Of whom percentages are where their number is hidden: variables, or all",
        "With ward each is of all people of its ward, of whom nobody says how many they are.",
        metavar="VARIABLES",
        example="ward",
        fold=_WRITTEN,
        objects=True,
    )
    population: tuple[str, ...] = setting(
        (),
        "Tables of people who are all in a later table too",
        "Names of files; whoever was added follows by subtraction. Without it all tables are of the same people.",
        many=True,
        metavar="EARLIER<LATER",
        example="2023.csv<2024.csv",
        fold=_WRITTEN,
    )
    wide: str = setting("", "The variable whose codes stand in the header", metavar="VARIABLE", fold=_WRITTEN)
    rows: tuple[str, ...] = setting(
        (),
        "The columns of such a table that are variables",
        "Without it those before the first column of counts.",
        kind="columns",
        of="tables",
        fold=_WRITTEN,
    )
    count: str = setting(
        "", "The column that holds the counts", "Found by its name unless told.", metavar="COLUMN", fold=_WRITTEN
    )
    values: int = setting(3, "The most values of a range that is narrow", least=1, most=1000, fold=MORE)
    all_ranges: bool = setting(False, "Look for exact ranges in parts of more than 2,000 hidden counts too", fold=MORE)
    records: int = setting(
        0,
        "How many records to name: combinations of all variables, those first that somebody must have",
        "The others are ranked by how many populations that fit have them, beside what margins alone rank.",
        least=0,
        most=MOST_RECORDS,
        fold=MORE,
    )
    insider: bool = setting(
        False, "Try out what people gain who are alone in a hidden count, and know it", "Needs the records.", fold=MORE
    )
    work: int = setting(
        1_000_000,
        "Steps that the solver may take in all",
        "What is not settled then may be narrower than is said; it is never wider.",
        least=1,
        most=10**12,
        fold=MORE,
    )
    largest: int = setting(
        200_000,
        "The most cells of linked tables together",
        "Where linked tables need more, each is looked at with its margins alone.",
        least=1,
        most=5_000_000,
        fold=MORE,
    )
    cells: Path | None = setting(
        None, "Write the range of every hidden count to FILE, for internal use", kind="output", only="command line"
    )
    repair: Path | None = setting(
        None,
        "Hide more until no small count can be worked out, and write the tables to FILE",
        "Needs the records (--truth), or tables in which nothing is hidden yet. What is written is attacked again.",
        kind="output",
        only="command line",
    )
    keep: int = setting(
        2,
        "How many values a repair leaves to each small count at least",
        "With 2 none can be worked out; with 4 none is narrow. More is hidden then.",
        only="command line",
        least=2,
        most=1000,
    )
    shareable: Path | None = setting(
        None,
        "Write a second report to FILE that may leave the house: no count that was worked out is in it",
        kind="output",
        only="command line",
    )
    config: Any = setting(
        None,
        "A TOML file with any of these settings; options win over it",
        kind="file",
        only="command line",
        front_end=True,
    )


QUESTION = Question(
    name="tables",
    command=("tables",),
    title="Tables of counts",
    lead="What can be worked out from the counts that we publish?",
    settings=TablesSettings.table(),
    about=(
        "TABLES are counts as they are published, with small ones hidden (*, c, <5, an empty cell), rounded or "
        "changed. Anybody can add and subtract: this does all of it, over all tables that share variables, and says "
        "which hidden counts follow from what is shown and how narrow the others have become. Without files, the "
        "example is a hospital with two tables."
    ),
    tries=(
        "unveil tables",
        "unveil tables wards.csv ages.csv --minimum 5 --html report.html",
        "unveil tables wards.csv --profile cell-11",
        'unveil tables wards.csv --hidden "*=1..4" --hierarchy ward=districts.csv',
        "unveil tables rounded.csv --round 3:random --limit recovered_rate=0",
        'unveil tables 2023.csv 2024.csv --population "2023.csv<2024.csv"',
        "unveil tables pairs.csv others.csv --records 20 --truth people.csv",
    ),
    sample="Patients of a hospital by ward and age, in two tables.",
    together=_together,
)

"""Settings of the audit of published tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, LimitSettings, Question, SeedSettings, TextFileSettings, setting

_WRITTEN = "Structure and perturbation of the tables"

#: Counts below this are small unless told.
MINIMUM = 5
#: Published rules about small cells, and the least count that each of them lets be known.
PROFILES = {"cell-3": 3, "cell-5": 5, "cell-11": 11, "cell-20": 20}
#: So many ranked records are named at most.
MOST_RECORDS = 10_000


def _together(request: Request) -> list[tuple[str, str]]:
    """Return what does not go together."""
    values = request.values
    if values["rounding"] and values["max_noise"]:
        return [("max_noise", "{rounding} and {max_noise} exclude each other. Remove one")]
    # The form sends its default along; the command line knows which settings were given.
    if values["profile"] and "min_cell" in request.explicit and values["min_cell"] != PROFILES[values["profile"]]:
        return [("min_cell", f"{{profile}} sets the minimum to {PROFILES[values['profile']]}. Remove {{min_cell}}")]
    if "min_interval" in request.explicit and values["suppress"] is None:
        return [("min_interval", "{min_interval} needs {suppress}. Add it")]
    if values["singleton"] and request.path("microdata") is None:
        return [("singleton", "{singleton} needs the microdata. Add {microdata}")]
    return []


@dataclass(frozen=True, kw_only=True)
class TablesSettings(LimitSettings, TextFileSettings, SeedSettings):
    """Settings of the audit of published tables."""

    tables: tuple[Any, ...] = setting(
        (),
        "Published tables",
        "One row per cell with a column called count, or the codes of one variable in the header. Tables that share a "
        "variable are combined.",
        kind="tables",
        is_bare=True,
        required=True,
    )
    min_cell: int = setting(
        MINIMUM,
        "Smallest count that may be known",
        "Counts from 1 to minimum − 1 are small cells.",
        least=2,
        most=1000,
        alias="--minimum",
        place="default",
        group="Decision",
    )
    profile: str = setting(
        "",
        "Published threshold",
        "It sets the smallest count, and fails if a small cell is recovered.",
        help="Published threshold: cell-3, cell-5, cell-11, cell-20",
        kind="choice",
        choices=lambda: (("", "none"), *((name, f"no count from 1 to {most - 1}") for name, most in PROFILES.items())),
        place="default",
        group="Decision",
    )
    microdata: Any = setting(
        None,
        "Microdata behind the tables, to verify results",
        "One row per person, with a column for each variable. No count from it is shown.",
        kind="table",
        alias="--truth",
        place="default",
    )
    suppressed: tuple[str, ...] = setting(
        (),
        "Suppression symbol and meaning, such as '*=1..4'",
        "RANGE is 0, 1..4, 10.. or none (no cell). Common symbols are known; without a range they are read in two "
        "ways: by an attacker who knows the rule, and by one who does not.",
        many=True,
        metavar="TEXT=RANGE",
        example="*=1..4",
        fold=_WRITTEN,
        objects=True,
        alias="--hidden",
        place="default",
        group="Input",
    )
    totals: tuple[str, ...] = setting(
        (),
        "Codes that are totals",
        "In addition to Total, All and the like. VARIABLE= means that an empty label is the total.",
        many=True,
        metavar="VARIABLE=CODE",
        example="region=UK",
        fold=_WRITTEN,
        objects=True,
        group="Structure",
    )
    hierarchies: Mapping[str, Any] = setting(
        (),
        "Which codes add up to which",
        "A file with the columns child and parent, or with value;level 1;level 2 in each line. Bands of numbers such "
        "as 0-17 and 18+ need none.",
        only="command line",
        option="--hierarchy",
        metavar="VARIABLE=FILE",
        form="VARIABLE=FILE, as in ward=districts.csv",
        group="Structure",
    )
    structural_zeros: Any = setting(
        None,
        "Combinations that cannot occur",
        "A column for each variable and a combination in each row; an empty cell means any code.",
        kind="table",
        fold=_WRITTEN,
        alias="--structural",
        group="Structure",
    )
    incomplete: tuple[str, ...] = setting(
        (),
        "Variables with unlisted codes",
        "Their totals may exceed the sum of the listed codes.",
        kind="columns",
        of="tables",
        fold=_WRITTEN,
        alias="--rest",
        group="Structure",
    )
    rounding: str = setting(
        "",
        "Rounding: BASE[:METHOD][:inner]",
        "METHOD is nearest, half-up, half-down, random, up or down; with inner, totals are exact.",
        metavar="BASE[:METHOD]",
        example="3:random",
        fold=_WRITTEN,
        objects=True,
        alias="--round",
        group="Perturbation",
    )
    max_noise: int = setting(
        0,
        "Largest random change per cell",
        "As by the cell key method. Unbounded noise, as in differential privacy, leaves no intervals.",
        least=0,
        most=1_000_000,
        fold=_WRITTEN,
        alias="--noise",
        group="Perturbation",
    )
    true_zeros: bool = setting(
        False,
        "Published zeros are exact",
        fold=_WRITTEN,
        alias="--zeros-true",
        group="Perturbation",
    )
    percent_base: int | None = setting(
        None,
        "Denominator of percentages",
        "For tables with a column called percent instead of counts; a column called base gives it by row.",
        least=1,
        most=1_000_000_000,
        fold=_WRITTEN,
        alias="--base",
        group="Perturbation",
    )
    percent_of: str = setting(
        "",
        "Variables that define the denominator",
        "For percentages whose denominator is unpublished: variables, or all. With ward each is of all people of its "
        "ward.",
        metavar="VARIABLES",
        example="ward",
        fold=_WRITTEN,
        objects=True,
        group="Perturbation",
    )
    subset: tuple[str, ...] = setting(
        (),
        "A<B: the people of A are all in B",
        "Names of files; differencing then reveals the added people. Without it all tables are of the same people.",
        many=True,
        metavar="EARLIER<LATER",
        example="2023.csv<2024.csv",
        fold=_WRITTEN,
        alias="--population",
        group="Structure",
    )
    wide: str = setting("", "Variable in the header row", metavar="VARIABLE", fold=_WRITTEN, group="Structure")
    rows: tuple[str, ...] = setting(
        (),
        "Row variables of a wide table",
        "Default: the columns before the first column of counts.",
        kind="columns",
        of="tables",
        fold=_WRITTEN,
        group="Structure",
    )
    count_column: str = setting(
        "",
        "Column of counts",
        "Default: found by its name.",
        metavar="COLUMN",
        fold=_WRITTEN,
        alias="--count",
        group="Structure",
    )
    narrow: int = setting(
        3,
        "Interval size counted as disclosure",
        least=1,
        most=1000,
        fold=MORE,
        alias="--values",
        group="Attack",
    )
    exact_intervals: bool = setting(
        False,
        "Exact intervals above 2,000 suppressed cells",
        fold=MORE,
        alias="--all-ranges",
        place="config",
        section="tuning",
    )
    reconstruct: int = setting(
        0,
        "Reconstruct up to N records",
        "Records that must exist come first; the rest are ranked by the number of consistent populations "
        "that have them.",
        least=0,
        most=MOST_RECORDS,
        fold=MORE,
        alias="--records",
        group="Attack",
    )
    singleton: bool = setting(
        False,
        "Also run singleton attacks",
        "The only respondent of a suppressed cell subtracts itself. Needs the microdata.",
        fold=MORE,
        alias="--insider",
        group="Attack",
    )
    solver_steps: int = setting(
        1_000_000,
        "Largest number of solver steps",
        "Open intervals may then be too small, never too large.",
        least=1,
        most=10**12,
        fold=MORE,
        alias="--work",
        place="config",
        section="tuning",
    )
    max_cells: int = setting(
        200_000,
        "Largest number of cells of linked tables together",
        "Above it each table is solved with its margins alone.",
        least=1,
        most=5_000_000,
        fold=MORE,
        alias="--largest",
        place="config",
        section="tuning",
    )
    intervals: Path | None = setting(
        None,
        "Write feasibility intervals (internal)",
        kind="output",
        only="command line",
        alias="--cells",
        group="Attack",
    )
    suppress: Path | None = setting(
        None,
        "Write tables with secondary suppression",
        "Needs the microdata, or tables without suppressed cells. The new tables are attacked again.",
        kind="output",
        only="command line",
        alias="--repair",
        place="default",
    )
    min_interval: int = setting(
        2,
        "Possible values per protected cell",
        "The minimum after secondary suppression: 2 prevents recovery, 4 approximate disclosure.",
        only="command line",
        least=2,
        most=1000,
        alias="--keep",
        group="Attack",
    )
    redacted: Path | None = setting(
        None,
        "Redacted report for external readers",
        "It shows no recovered count.",
        kind="output",
        only="command line",
        alias="--shareable",
    )


QUESTION = Question(
    name="tables",
    command=("tables",),
    title="Audit published tables",
    lead="Which suppressed cells can be recovered from these tables?",
    settings=TablesSettings.table(),
    about=(
        "TABLES are published counts with suppressed cells (*, c, <5, an empty cell), rounding, or noise. "
        "unveil combines all tables that share variables. It states which suppressed cells can be recovered, "
        "and the intervals of the rest. Without files, the example is a hospital with two tables."
    ),
    tries=(
        "unveil tables wards.csv ages.csv --min-cell 5 --html report.html",
        "unveil tables wards.csv --profile cell-11",
        'unveil tables wards.csv --suppressed "*=1..4" --hierarchy ward=districts.csv',
        "unveil tables rounded.csv --rounding 3:random --limit recovered_rate=0",
        'unveil tables 2023.csv 2024.csv --subset "2023.csv<2024.csv"',
        "unveil tables pairs.csv wards.csv --reconstruct 20 --microdata people.csv",
    ),
    sample="Patients of a hospital by ward and age, in two tables.",
    together=_together,
)

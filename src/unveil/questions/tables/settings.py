"""What can be asked about published tables of counts."""

from unveil.questions.request import Request
from unveil.questions.settings import MORE, Question, Setting, limits_setting, reading_settings, seed_setting

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


QUESTION = Question(
    name="tables",
    command=("tables",),
    title="Tables of counts",
    lead="What can be worked out from the counts that we publish?",
    settings=(
        Setting(
            name="tables",
            label="The tables as they are published",
            kind="tables",
            is_bare=True,
            required=True,
            words="One row for each cell with a column called count, or the codes of one variable in the header. "
            "Tables that share a variable are put together.",
        ),
        Setting(
            name="minimum",
            label="The least count that may be known",
            kind="number",
            default=MINIMUM,
            least=2,
            most=1000,
            words="Counts from 1 to one less are small.",
        ),
        Setting(
            name="profile",
            label="A published rule to hold the tables to",
            kind="choice",
            choices=lambda: (
                ("", "none"),
                *((name, f"no count from 1 to {most - 1}") for name, most in PROFILES.items()),
            ),
            words="It sets the minimum, and no small count may be worked out.",
        ),
        Setting(
            name="truth",
            label="The records that the tables were made from",
            kind="table",
            words="One row for each person, with a column for each variable. Every range is held against them; no "
            "count of them is shown.",
        ),
        Setting(
            name="hidden",
            label="What stands in place of a count, and what it says",
            kind="texts",
            many=True,
            default=(),
            metavar="TEXT=RANGE",
            example="*=1..4",
            words="RANGE is 0, 1..4, 10.. or none for nothing to count. Common symbols are known; without a range they "
            "are read in two ways, by whoever knows the rule and by whoever does not.",
            fold=_WRITTEN,
        ),
        Setting(
            name="totals",
            label="Codes that are totals",
            kind="texts",
            many=True,
            default=(),
            metavar="VARIABLE=CODE",
            example="region=UK",
            words="Beside those called Total, All or the like. VARIABLE= means that an empty label is the total.",
            fold=_WRITTEN,
        ),
        Setting(
            name="hierarchies",
            label="Which codes of a variable are sums of which others",
            kind="texts",
            only="command line",
            default=(),
            option="--hierarchy",
            metavar="VARIABLE=FILE",
            words="A file with the columns child and parent, or with value;label;wider label in each line. Bands of "
            "numbers such as 0-17 and 18+ need none.",
        ),
        Setting(
            name="structural",
            label="Combinations of codes that nobody can have by what they mean",
            kind="table",
            words="A column for each variable that matters, a combination in each row; an empty cell means any code. "
            "They are 0 to everybody, and groups that have one code for no other reason are left out.",
            fold=_WRITTEN,
        ),
        Setting(
            name="rest",
            label="Variables of which not all codes are listed",
            kind="columns",
            of="tables",
            default=(),
            words="Their totals may hold more than what is shown.",
            fold=_WRITTEN,
        ),
        Setting(
            name="round",
            label="How every figure was rounded",
            kind="text",
            default="",
            metavar="BASE[:WAY][:inner]",
            example="3:random",
            words="WAY is nearest, half-up, half-down, random, up or down; with inner, totals are exact.",
            fold=_WRITTEN,
        ),
        Setting(
            name="noise",
            label="By how much at most every figure was changed at random",
            kind="number",
            default=0,
            least=0,
            most=1_000_000,
            words="As cell keys do. Noise without a bound, as differential privacy adds it, leaves no ranges.",
            fold=_WRITTEN,
        ),
        Setting(
            name="zeros_true",
            label="A 0 that is shown is a true one, whatever noise was added",
            kind="switch",
            default=False,
            fold=_WRITTEN,
        ),
        Setting(
            name="base",
            label="How many people a column of percentages is of",
            kind="number",
            default=None,
            least=1,
            most=1_000_000_000,
            words="For tables with a column called percent in place of counts; a column called base tells it by row.",
            fold=_WRITTEN,
        ),
        Setting(
            name="percent_of",
            label="Of whom percentages are where their number is hidden: variables, or all",
            kind="text",
            default="",
            metavar="VARIABLES",
            example="ward",
            words="With ward each is of all people of its ward, of whom nobody says how many they are.",
            fold=_WRITTEN,
        ),
        Setting(
            name="population",
            label="Tables of people who are all in a later table too",
            kind="texts",
            many=True,
            default=(),
            metavar="EARLIER<LATER",
            example="2023.csv<2024.csv",
            words="Names of files; whoever was added follows by subtraction. Without it all tables are of the same "
            "people.",
            fold=_WRITTEN,
        ),
        Setting(
            name="wide",
            label="The variable whose codes stand in the header",
            kind="text",
            default="",
            metavar="VARIABLE",
            fold=_WRITTEN,
        ),
        Setting(
            name="rows",
            label="The columns of such a table that are variables",
            kind="columns",
            of="tables",
            default=(),
            words="Without it those before the first column of counts.",
            fold=_WRITTEN,
        ),
        Setting(
            name="count",
            label="The column that holds the counts",
            kind="text",
            default="",
            metavar="COLUMN",
            words="Found by its name unless told.",
            fold=_WRITTEN,
        ),
        Setting(
            name="values",
            label="The most values of a range that is narrow",
            kind="number",
            default=3,
            least=1,
            most=1000,
            fold=MORE,
        ),
        Setting(
            name="all_ranges",
            label="Look for exact ranges in parts of more than 2,000 hidden counts too",
            kind="switch",
            default=False,
            fold=MORE,
        ),
        Setting(
            name="records",
            label="How many records to name: combinations of all variables, those first that somebody must have",
            kind="number",
            default=0,
            least=0,
            most=MOST_RECORDS,
            words="The others are ranked by how many populations that fit have them, beside what margins alone rank.",
            fold=MORE,
        ),
        Setting(
            name="insider",
            label="Try out what people gain who are alone in a hidden count, and know it",
            kind="switch",
            default=False,
            words="Needs the records.",
            fold=MORE,
        ),
        Setting(
            name="work",
            label="Steps that the solver may take in all",
            kind="number",
            default=1_000_000,
            least=1,
            most=10**12,
            words="What is not settled then may be narrower than is said; it is never wider.",
            fold=MORE,
        ),
        Setting(
            name="largest",
            label="The most cells of linked tables together",
            kind="number",
            default=200_000,
            least=1,
            most=5_000_000,
            words="Where linked tables need more, each is looked at with its margins alone.",
            fold=MORE,
        ),
        Setting(
            name="cells",
            label="Write the range of every hidden count to FILE, for internal use",
            kind="output",
            only="command line",
        ),
        Setting(
            name="repair",
            label="Hide more until no small count can be worked out, and write the tables to FILE",
            kind="output",
            only="command line",
            words="Needs the records (--truth), or tables in which nothing is hidden yet. What is written is attacked "
            "again.",
        ),
        Setting(
            name="keep",
            label="How many values a repair leaves to each small count at least",
            kind="number",
            only="command line",
            default=2,
            least=2,
            most=1000,
            words="With 2 none can be worked out; with 4 none is narrow. More is hidden then.",
        ),
        Setting(
            name="shareable",
            label="Write a second report to FILE that may leave the house: no count that was worked out is in it",
            kind="output",
            only="command line",
        ),
        Setting(
            name="config",
            label="A TOML file with any of these settings; options win over it",
            kind="file",
            only="command line",
        ),
        limits_setting(),
        *reading_settings(),
        seed_setting(),
    ),
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

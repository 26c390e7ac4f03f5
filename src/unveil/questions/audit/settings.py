"""What can be asked about a released table."""

from dataclasses import dataclass

from unveil.questions.audit.generator_settings import GENERATOR, wrong_with_generator
from unveil.questions.audit.run_settings import RUNNING
from unveil.questions.request import Request
from unveil.questions.roles import HierarchySettings, TableColumnSettings
from unveil.questions.settings import (
    MORE,
    Choices,
    LimitSettings,
    Question,
    SeedSettings,
    Setting,
    TextFileSettings,
)


@dataclass(frozen=True, kw_only=True)
class AuditReading(TableColumnSettings, HierarchySettings, TextFileSettings):
    """How the tables of an audit are read."""


def _attacks() -> Choices:
    from unveil.questions.audit.attacks import ATTACKS
    from unveil.questions.audit.checked_settings import MEASURES

    return (*((name, attack.title) for name, attack in ATTACKS.items()), *MEASURES.items())


def _attack_hint(text: str) -> str:
    from unveil.questions.audit.checked_settings import attack_hint

    return attack_hint(text)


def _profiles() -> Choices:
    from unveil.report.profiles import PROFILES

    return (("", "None: only show the figures"), *((each.name, each.title) for each in PROFILES.values()))


_LACKING = {
    "control": "compares with people who are not in the data. Add {control}, or limit another figure",
    "by": "is about groups of people. Name their column with {by}, or limit another figure",
}


def _together(request: Request) -> list[tuple[str, str]]:
    """Return what makes no audit, and limits on figures that this audit cannot have: they would look like a pass."""
    from unveil.questions.audit.quantities import needs

    generated = bool(request.values["generator"])
    if not request.sample and not request.files.get("released") and not generated:
        return [("released", "{released} must be named beside {original}")]
    if wrong := wrong_with_generator(request):
        return [wrong]
    if request.values["show_records"] and not request.report:
        return [("show_records", "{show_records} needs a report to show them in. Add --html FILE")]
    controlled = request.sample or request.path("control") is not None or generated
    if request.values["people"] is not None and not controlled:
        return [("people", "{people} tells people in the data from people who are not. Add {control}")]
    if request.values["epsilon"] is not None and not controlled:
        return [("epsilon", "{epsilon} is held against what people who are not in the data show. Add {control}")]
    have = {"control": controlled, "by": bool(request.values["by"])}
    chosen = request.values["attacks"]
    for name, _ in request.values["limits"]:
        lacking = next((need for need in needs(name) if not have[need]), None)
        if lacking is not None:
            return [("limits", f"{name} {_LACKING[lacking]}")]
        if chosen and name.split(".")[0] not in chosen:
            left_out = "belongs to an attack that {attacks} leaves out. Add it there, or limit another figure"
            return [("limits", f"{name} {left_out}")]
    return []


_FILES = (
    Setting(
        name="original",
        label="The original table",
        kind="table",
        words="The people whose privacy is at stake, one row for each: CSV or Parquet.",
        required=True,
        is_bare=True,
    ),
    Setting(
        name="released",
        label="What is to be released",
        kind="tables",
        words="One or several versions of it, masked or synthetic, whose columns have the same names. Several are "
        "compared with one another.",
        required=True,
        unless="generator",
        is_bare=True,
    ),
    Setting(
        name="release_kinds",
        label="How it was made",
        kind="choice",
        choices=lambda: (
            ("", "It is not known how"),
            ("masked", "Masked: each row stems from one person"),
            ("synthetic", "Synthetic: no row stems from a person"),
        ),
        default="",
        beside="released",
        option="--kind",
    ),
    Setting(
        name="control",
        label="People who are not in the original",
        kind="table",
        words="If you have them: people of the same kind with the same columns. Only with them can be told how much of "
        "an attack comes from being in the data.",
    ),
)
_PEOPLE = (
    Setting(
        name="columns",
        label="What each column is",
        kind="roles",
        only="page",
        default=(),
        words="These are suggestions, made from names and values. Change what is wrong: attacks follow them.",
        of="original",
    ),
    Setting(
        name="scenarios",
        label="Who might try",
        kind="scenarios",
        default=(),
        metavar="NAME=COLUMNS",
        words="If you have somebody in mind, such as a neighbour or an employer: what would they know beforehand? "
        "Without any, divisions of the columns are tried that are drawn by lot.",
        of="original",
        option="--scenario",
    ),
)
_ON_COMMAND_LINE = (
    Setting(
        name="sensitive",
        label="Columns that an adversary wants to learn",
        kind="columns",
        only="command line",
        default=(),
    ),
    Setting(
        name="known",
        label="The only columns an adversary may know",
        kind="columns",
        words="All others, if not given.",
        only="command line",
        default=(),
    ),
    Setting(
        name="weight",
        label="Survey weights: how many people each released row stands for",
        kind="column",
        only="command line",
        metavar="COLUMN",
    ),
    Setting(
        name="household",
        label="Which household each person belongs to",
        kind="column",
        only="command line",
        metavar="COLUMN",
    ),
    Setting(
        name="links",
        label="An adversary who holds these two groups of columns from two sources",
        kind="texts",
        only="command line",
        default=(),
        option="--link",
        metavar="COLUMNS:COLUMNS",
    ),
    Setting(
        name="shareable",
        label="Write a second report to FILE that may leave the house: small counts, folders and values are kept out",
        kind="output",
        only="command line",
    ),
    *HierarchySettings.table(),
    Setting(
        name="techniques",
        label="What was done to a column, for the sign-off sheet",
        kind="texts",
        only="command line",
        default=(),
        option="--technique",
        metavar="COLUMN=TEXT",
    ),
    Setting(
        name="context",
        label="For whom the release would be identifiable, for the sign-off sheet",
        words="FIELD is purpose, recipient, environment or means; what is not told is left to be filled in.",
        kind="texts",
        only="command line",
        default=(),
        metavar="FIELD=TEXT",
    ),
    Setting(
        name="sheet",
        label="Write the sheet to sign to FILE as plain HTML that word processors open and change",
        kind="output",
        only="command line",
    ),
    Setting(
        name="people",
        label="Write to FILE how exposed people in the data are, row by row: internal, not to be shared",
        words="Those who were measured by the adversary of membership, the most exposed first, with the columns in "
        "which a released row gives them away.",
        kind="output",
        only="command line",
    ),
    Setting(
        name="show_records",
        label="Show in the report of --html a few records that are released unchanged: internal, not to be shared",
        kind="switch",
        only="command line",
        default=False,
    ),
    Setting(
        name="accept_undecided",
        label="Exit with 0 also where a limit is neither exceeded nor shown to be kept",
        kind="switch",
        only="command line",
        default=False,
    ),
    *RUNNING,
    Setting(
        name="config",
        label="A TOML file with any of these settings; options win over it",
        kind="file",
        only="command line",
    ),
)
_MORE = (
    Setting(
        name="identifiers",
        label="Columns that identify people",
        kind="columns",
        words="Rows with the same value of the first one are one person; 'none' says that each row is another person.",
        default=(),
        option="--id",
        fold=MORE,
        example="person",
    ),
    Setting(
        name="report",
        label="How much is printed",
        kind="choice",
        only="command line",
        choices=lambda: (
            ("short", "The answer, what to do next, and each release beside each question"),
            ("full", "All notes and the worst figure of each attack too"),
        ),
        default="short",
    ),
    Setting(
        name="edition",
        label="Edition of the report",
        kind="choice",
        only="page",
        choices=lambda: (
            ("internal", "Internal: for you and those who decide"),
            ("shareable", "Shareable: small counts and values are kept out"),
        ),
        default="internal",
        fold=MORE,
    ),
    Setting(
        name="profile",
        label="Judge by published limits",
        kind="choice",
        choices=_profiles,
        default="",
        words="Which limit is right depends on the rules you are under and on who gets the data.",
        fold=MORE,
    ),
    Setting(
        name="compare",
        label="The JSON of an earlier audit",
        kind="file",
        words="The report says what changed since.",
        fold=MORE,
    ),
    *LimitSettings.table(),
    Setting(
        name="suggest",
        label="Say what to change: how many changes to try",
        kind="number",
        words="Columns of each release that gives people away are made coarser or left out, and each change is audited "
        "again. 0 tries none; 6 take about as long as 6 more releases.",
        default=0,
        least=0,
        most=50,
        fold=MORE,
    ),
    Setting(
        name="attacks",
        label="Attacks and measures",
        kind="several",
        metavar="NAMES",
        choices=_attacks,
        hint=_attack_hint,
        default=(),
        words="Run these only. Where none is chosen, all are run.",
        fold=MORE,
    ),
    Setting(
        name="targets",
        label="How many people to attack",
        kind="text",
        metavar="N|all|auto",
        words="A number of each table, or the word all. auto is everybody up to 5,000 people in both tables, and above "
        "that 2,500 of each. More people make the figures surer, and the audit slower.",
        default="auto",
        fold=MORE,
    ),
    Setting(
        name="neighbours",
        label="Nearest released rows that count in linkability",
        kind="number",
        words="10 unless given; 1 where a release has 10 rows or fewer, of which 10 would be all.",
        default=None,
        least=1,
        fold=MORE,
    ),
    Setting(
        name="guesses",
        label="Descriptions tried in singling out",
        kind="number",
        default=500,
        least=1,
        fold=MORE,
    ),
    Setting(
        name="tolerance",
        label="How far off a guessed number may be",
        kind="number",
        words="As a share of the true one: 0.05 is five percent.",
        default=0.05,
        least=0,
        most=1,
        whole=False,
        fold=MORE,
    ),
    *TableColumnSettings.table(),
    Setting(
        name="exact",
        label="Columns whose released numbers are as they seem",
        kind="columns",
        words="Those of masked releases are read as rounded, or as cut off at the ends, where they look so.",
        default=(),
        fold=MORE,
        example="age, income",
    ),
    *TextFileSettings.table(),
    Setting(
        name="by",
        label="Show every rate for the groups of",
        kind="column",
        metavar="COLUMN",
        of="original",
        fold=MORE,
    ),
    Setting(
        name="population_size",
        label="People whom the released ones were drawn from",
        kind="number",
        words="Their number, if the table is a sample and has no weights.",
        least=1,
        fold=MORE,
    ),
    Setting(
        name="minimum_cell",
        label="Smallest group of people to show",
        kind="number",
        default=11,
        least=2,
        fold=MORE,
    ),
    Setting(
        name="review",
        metavar="DATE",
        label="When the decision is to be reviewed",
        kind="text",
        words="Stands on the sheet that is signed.",
        example="2030-01-31",
        fold=MORE,
    ),
    *SeedSettings.table(),
)

QUESTION = Question(
    name="audit",
    command=("audit",),
    title="Audit a table",
    lead="If this table is released, what could somebody do with it, and how sure is that?",
    about=(
        "ORIGINAL holds one row per person, each RELEASED what is to be published of it, masked or synthetic: CSV or "
        "Parquet files whose columns have the same names. Several releases give one comparison. Without any file the "
        "example inside unveil is audited. COLUMNS are names with commas between them."
    ),
    tries=(
        "unveil audit",
        "unveil audit people.csv masked.csv --control others.csv --html report.html",
        "unveil audit people.csv masked.csv --scenario neighbour=age,sex,region",
        "unveil audit people.csv masked.csv --kind masked --sensitive income --profile cell-5 --shareable shared.html",
        "unveil audit people.csv --generator 'python synth.py {in} {out}' --folds 5",
    ),
    settings=(*_FILES, *_PEOPLE, *GENERATOR, *_ON_COMMAND_LINE, *_MORE),
    sample="700 people of an election study, released in three ways, and others to compare with.",
    together=_together,
)

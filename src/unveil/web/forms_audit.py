"""The form of the table audit: files, roles of columns, adversaries, and what it is judged by."""

from collections.abc import Mapping
from typing import Any

from unveil.web.fields import MORE, Choices, Field, Form, limits_field, seed_field

#: What a column can be to an adversary, as the page says it. The last two are for surveys.
ROLES: Choices = (
    ("known", "Could be known to others"),
    ("sensitive", "Sensitive: nobody should learn it"),
    ("identifier", "Identifies a person"),
    ("ignored", "Leave it out"),
    ("weight", "Survey weight"),
    ("household", "Number of the household"),
)
KINDS: Choices = (
    ("number", "Number"),
    ("category", "Category"),
    ("ordered", "Ordered levels"),
    ("date", "Date"),
    ("boolean", "Yes or no"),
    ("text", "Text"),
)


def _meanings() -> Mapping[str, str]:
    from unveil.ask.audit.quantities import meanings

    return meanings()


def _attacks() -> Choices:
    from unveil.ask.audit.attacks import ATTACKS
    from unveil.ask.audit.settings import MEASURES

    return (*((name, attack.title) for name, attack in ATTACKS.items()), *MEASURES.items())


def _profiles() -> Choices:
    from unveil.show.profiles import PROFILES

    return (("", "None: only show the figures"), *((each.name, each.title) for each in PROFILES.values()))


def _together(files: frozenset[str], values: Mapping[str, Any]) -> dict[str, str]:
    """Refuse a limit on a figure that this audit cannot have: it would never be exceeded, and look like a pass."""
    from unveil.ask.audit.quantities import needs

    have = {"control": values["sample"] or "control" in files, "by": bool(values["by"])}
    lacking = {
        "control": "compares with people who are not in the data. Drop a table of such people, or limit another figure",
        "by": "is about groups of people. Choose the column that makes the groups, or limit another figure",
    }
    for name, _ in values["limits"]:
        for need in needs(name):
            if not have[need]:
                return {"limits": f"{name} {lacking[need]}"}
        if values["attacks"] and name.split(".")[0] not in values["attacks"]:
            return {"limits": f"{name} belongs to an attack that is left out. Choose it too, or limit another figure"}
    return {}


_FILES = (
    Field(
        name="original",
        label="The original table",
        kind="table",
        help="The people whose privacy is at stake, one row for each: CSV or Parquet.",
        required=True,
    ),
    Field(
        name="released",
        label="What is to be released",
        kind="tables",
        help="One or several versions of it, masked or synthetic, whose columns have the same names. Several are "
        "compared with one another.",
        required=True,
    ),
    Field(
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
    Field(
        name="control",
        label="People who are not in the original",
        kind="table",
        help="If you have them: people of the same kind with the same columns. Only with them can be told how much of "
        "an attack comes from being in the data.",
        option="--control",
    ),
)
_PEOPLE = (
    Field(
        name="columns",
        label="What each column is",
        kind="roles",
        help="These are suggestions, made from names and values. Change what is wrong: attacks follow them.",
        of="original",
    ),
    Field(
        name="scenarios",
        label="Who might try",
        kind="scenarios",
        help="If you have somebody in mind, such as a neighbour or an employer: what would they know beforehand? "
        "Without any, many divisions of the columns are tried and the worst is looked for.",
        of="original",
        option="--scenario",
    ),
)
_MORE = (
    Field(
        name="edition",
        label="Edition of the report",
        kind="choice",
        choices=lambda: (
            ("internal", "Internal: for you and those who decide"),
            ("shareable", "Shareable: small counts and values are kept out"),
        ),
        default="internal",
        fold=MORE,
        option="--shareable",
    ),
    Field(
        name="profile",
        label="Judge by published limits",
        kind="choice",
        choices=_profiles,
        default="",
        help="Which limit is right depends on the rules you are under and on who gets the data.",
        fold=MORE,
        option="--profile",
    ),
    limits_field(),
    Field(
        name="attacks",
        label="Attacks and measures",
        kind="several",
        choices=_attacks,
        default=(),
        help="Run these only. Where none is chosen, all are run.",
        fold=MORE,
        option="--attacks",
    ),
    Field(
        name="targets",
        label="People to attack",
        kind="text",
        help="A number, or the word all. More people make the figures surer, and the audit slower.",
        default="500",
        fold=MORE,
        option="--targets",
    ),
    Field(
        name="neighbours",
        label="Nearest released rows that count in linkability",
        kind="number",
        default=10,
        least=1,
        fold=MORE,
        option="--neighbours",
    ),
    Field(
        name="guesses",
        label="Descriptions tried in singling out",
        kind="number",
        default=500,
        least=1,
        fold=MORE,
        option="--guesses",
    ),
    Field(
        name="tolerance",
        label="How far off a guessed number may be",
        kind="number",
        help="As a share of the true one: 0.05 is five percent.",
        default=0.05,
        least=0,
        most=1,
        whole=False,
        fold=MORE,
        option="--tolerance",
    ),
    Field(
        name="missing",
        label="Cells that stand for a missing value",
        kind="text",
        help="With commas between them. Empty cells always do.",
        example="?, NA",
        fold=MORE,
        option="--missing",
    ),
    Field(
        name="by",
        label="Show every rate for the groups of",
        kind="column",
        of="original",
        fold=MORE,
        option="--by",
    ),
    Field(
        name="population_size",
        label="People whom the released ones were drawn from",
        kind="number",
        help="Their number, if the table is a sample and has no weights.",
        least=1,
        fold=MORE,
        option="--population-size",
    ),
    Field(
        name="minimum_cell",
        label="Smallest group of people to show",
        kind="number",
        default=11,
        least=2,
        fold=MORE,
        option="--minimum-cell",
    ),
    Field(
        name="review",
        label="When the decision is to be reviewed",
        kind="text",
        help="Stands on the sheet that is signed.",
        example="2030-01-31",
        fold=MORE,
        option="--review",
    ),
    seed_field(),
)

AUDIT = Form(
    question="audit",
    title="Audit a table",
    lead="If this table is released, what could somebody do with it, and how sure is that?",
    fields=(*_FILES, *_PEOPLE, *_MORE),
    sample="700 people of an election study, released in three ways, and others to compare with.",
    command=("audit",),
    meanings=_meanings,
    together=_together,
)

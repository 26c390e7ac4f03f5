"""The settings of an audit of a released table."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from unveil.errors import InputError, did_you_mean, share
from unveil.questions.audit.generator.settings import GeneratorSettings
from unveil.questions.audit.run_settings import RunSettings
from unveil.questions.request import Request
from unveil.questions.roles import HierarchySettings, TableColumnSettings
from unveil.questions.settings import MORE, Choices, LimitSettings, Question, SeedSettings, TextFileSettings, setting
from unveil.questions.values import columns_in, row

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.questions.reading import TableReading

ReleaseKind = Literal["masked", "synthetic"]

#: In place of an identifier: each row is another person, whatever the columns look like.
ONE_ROW_EACH = "none"
#: In place of sensitive columns: there are none.
NONE_SENSITIVE = "none"
#: So many columns are listed where somebody is asked for the sensitive ones.
MOST_LISTED = 40
#: Words in the names of columns that are often sensitive.
LIKELY_SENSITIVE = frozenset(
    {"income", "wage", "wages", "salary", "pay", "diagnosis", "disease", "illness", "health", "religion", "race"}
    | {"ethnicity", "vote", "party", "politics", "orientation", "debt", "credit", "crime", "hiv", "drug", "treatment"}
)
#: What is measured beside attacks: on the release, on its worth, and on the original as if it were released.
MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "disclosure": "Rows that look alike (disclosure)",
        "utility": "What the release is still worth",
        "before": "The same questions asked of the original itself",
    }
)
#: Numbers of nearest released rows that count in linkability. One decides, and gives the narrowest limits where nothing
#: leaks. It understates what noise leaves, up to two thirds, so three are tested too; ten add ties but little power.
USUAL_NEIGHBOURS = (1, 3)
#: In releases of no more rows several neighbors would link many people by chance.
FEW_ROWS = 10


def usual_neighbours(rows: int) -> tuple[int, ...]:
    """Return the numbers of nearest rows that count in linkability by default.

    >>> usual_neighbours(500), usual_neighbours(3)
    ((1, 3), (1,))
    """
    return USUAL_NEIGHBOURS if rows > FEW_ROWS else USUAL_NEIGHBOURS[:1]


def _attacks() -> Choices:
    from unveil.questions.audit.attacks import ATTACKS

    return (*((name, attack.title) for name, attack in ATTACKS.items()), *MEASURES.items())


def attack_hint(text: str) -> str:
    """Return a question that suggests the attack meant by a name of the field or a slip, or nothing.

    >>> attack_hint("MIA"), attack_hint("attribute-inference attack"), attack_hint("LinkabilityEvaluator")
    (" Did you mean 'membership'?", " Did you mean 'inference'?", " Did you mean 'linkability'?")
    """
    from unveil.questions.audit.attacks import ATTACKS

    also = {_plain(other): attack.name for attack in ATTACKS.values() for other in (attack.name, *attack.also_called)}
    meant = also.get(_plain(text))
    return f" Did you mean {meant!r}?" if meant else did_you_mean(text, (*ATTACKS, *MEASURES))


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()).removesuffix("attack")


def identifiers_of(table: "Table", columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that identify people; ``none`` is no column unless the table has one of that name."""
    return () if tuple(columns) == (ONE_ROW_EACH,) and ONE_ROW_EACH not in table.column_names else tuple(columns)


def _profiles() -> Choices:
    from unveil.report.profiles import PROFILES

    return (("", "No published threshold"), *((each.name, each.title) for each in PROFILES.values()))


@dataclass(frozen=True, kw_only=True)
class AuditSettings(
    GeneratorSettings,
    HierarchySettings,
    RunSettings,
    LimitSettings,
    TableColumnSettings,
    TextFileSettings,
    SeedSettings,
):
    """The settings of an audit."""

    after: ClassVar[Mapping[type, str]] = {
        GeneratorSettings: "scenarios",
        HierarchySettings: "shareable",
        RunSettings: "accept_inconclusive",
        LimitSettings: "compare",
        TableColumnSettings: "tolerance",
        TextFileSettings: "exact",
        SeedSettings: "review",
    }

    original: Any = setting(
        None,
        "The original table",
        "The people whose privacy is at stake, one row for each: CSV or Parquet.",
        kind="table",
        required=True,
        is_bare=True,
    )
    released: tuple[Any, ...] = setting(
        (),
        "What is to be released",
        "One or several versions of it, masked or synthetic, whose columns have the same names. Several are "
        "compared with one another.",
        kind="tables",
        required=True,
        unless="generator",
        is_bare=True,
    )
    release_kinds: tuple[str, ...] = setting(
        "",
        "How it was made",
        kind="choice",
        choices=lambda: (
            ("", "It is not known how"),
            ("masked", "Masked: each row stems from one person"),
            ("synthetic", "Synthetic: no row stems from a person"),
        ),
        beside="released",
        option="--release-type",
        alias="--kind",
    )
    control: Any = setting(
        None,
        "People who are not in the original",
        "If you have them: people of the same kind with the same columns. Only with them can be told how much of "
        "an attack comes from being in the data.",
        kind="table",
    )
    columns: tuple[Any, ...] = setting(
        (),
        "What each column is",
        "These are suggestions, made from names and values. Change what is wrong: attacks follow them.",
        kind="roles",
        only="page",
        of="original",
    )
    scenarios: tuple[Any, ...] | None = setting(
        (),
        "Who might try",
        "If you have somebody in mind, such as a neighbour or an employer: what would they know beforehand? "
        "Without any, divisions of the columns are tried that are drawn by lot.",
        kind="scenarios",
        metavar="NAME=COLUMNS",
        of="original",
        option="--scenario",
        objects=True,
    )
    sensitive: tuple[str, ...] = setting(
        (),
        "Sensitive columns, which an attacker wants to learn",
        "none states that there are none. Without them every column is attacked, and none is held to a threshold.",
        kind="columns",
        only="command line",
    )
    known: tuple[str, ...] = setting(
        (),
        "Quasi-identifiers: the only columns that an attacker may know",
        "All others, if not given.",
        kind="columns",
        only="command line",
        option="--quasi-identifiers",
        alias="--known",
    )
    weight: str | None = setting(
        None,
        "Survey weights: how many people each released row stands for",
        kind="column",
        only="command line",
        metavar="COLUMN",
    )
    household: str | None = setting(
        None,
        "Which household each person belongs to",
        "Attacks are then judged as if households had been drawn, and not single people: relatives are alike. The "
        "control needs the column too.",
        kind="column",
        only="command line",
        metavar="COLUMN",
    )
    links: tuple[str, ...] = setting(
        (),
        "An adversary who holds these two groups of columns from two sources",
        only="command line",
        option="--link",
        metavar="COLUMNS:COLUMNS",
    )
    shareable: Path | None = setting(
        None,
        "Write a second report to FILE that may leave the house: small counts, folders and values are kept out",
        kind="output",
        only="command line",
    )
    techniques: Mapping[str, str] = setting(
        (),
        "What was done to a column, for the sign-off sheet",
        only="command line",
        option="--technique",
        metavar="COLUMN=TEXT",
        front_end=True,
        form="COLUMN=TEXT, as in age='in bands of five years'",
    )
    context: Mapping[str, str] = setting(
        (),
        "For whom the release would be identifiable, for the sign-off sheet",
        "FIELD is purpose, recipient, environment or means; what is not told is left to be filled in.",
        only="command line",
        metavar="FIELD=TEXT",
        front_end=True,
        form="FIELD=TEXT, as in recipient='two universities'",
    )
    sheet: Path | None = setting(
        None,
        "Write the sheet to sign to FILE as plain HTML that word processors open and change",
        kind="output",
        only="command line",
    )
    people: Path | None = setting(
        None,
        "Write to FILE how exposed people in the data are, row by row: internal, not to be shared",
        "Those who were measured by the adversary of membership, the most exposed first, with the columns in "
        "which a released row gives them away.",
        kind="output",
        only="command line",
    )
    show_records: bool = setting(
        False,
        "Show in the report of --html a few records that are released unchanged: internal, not to be shared",
        only="command line",
        front_end=True,
    )
    accept_inconclusive: bool = setting(
        False,
        "Exit with 0 also where the decision is inconclusive",
        only="command line",
        front_end=True,
        alias="--accept-undecided",
    )
    config: Any = setting(
        None,
        "A TOML file with any of these settings; options win over it",
        kind="file",
        only="command line",
        front_end=True,
    )
    identifiers: tuple[str, ...] = setting(
        (),
        "Columns that identify people",
        "Rows with the same value of the first one are one person; 'none' says that each row is another person.",
        kind="columns",
        option="--id",
        fold=MORE,
        example="person",
    )
    edition: str = setting(
        "internal",
        "Edition of the report",
        kind="choice",
        only="page",
        choices=lambda: (
            ("internal", "Internal: for you and those who decide"),
            ("shareable", "Shareable: small counts and values are kept out"),
        ),
        fold=MORE,
        front_end=True,
    )
    threshold: float | None = setting(
        None,
        "Threshold: the largest acceptable excess risk",
        "Excess risk is the share of people at risk because of the release. 0.09 is 9 more people per 100.",
        least=0,
        most=1,
        example="0.09",
        metavar="VALUE",
    )
    profile: str = setting(
        "",
        "Published threshold",
        "Which one is right depends on the rules you are under and on who gets the data.",
        kind="choice",
        choices=_profiles,
    )
    compare: Any = setting(
        None,
        "The JSON of an earlier audit",
        "The report says what changed since.",
        kind="file",
        fold=MORE,
        front_end=True,
    )
    suggest: int = setting(
        0,
        "Say what to change: how many changes to try",
        "Columns of each release that gives people away are made coarser or left out, and each change is audited "
        "again. 0 tries none; 6 take about as long as 6 more releases.",
        least=0,
        most=50,
        fold=MORE,
    )
    attacks: tuple[str, ...] = setting(
        (),
        "Attacks and measures",
        "Run these only. Where none is chosen, all are run.",
        kind="several",
        metavar="NAMES",
        choices=_attacks,
        hint=attack_hint,
        fold=MORE,
    )
    targets: int | Literal["auto"] | None = setting(
        "auto",
        "How many people to attack",
        "A number of each table, or the word all. auto is everybody up to 5,000 people in both tables, and above "
        "that 2,500 of each. More people make the figures surer, and the audit slower.",
        metavar="N|all|auto",
        fold=MORE,
        objects=True,
        kind="text",
    )
    neighbours: int | None = setting(
        None,
        "Nearest released rows that count in linkability",
        "Unless given, 1 decides and 3 can only raise the risk; 1 alone where a release has 10 rows or fewer.",
        least=1,
        fold=MORE,
    )
    guesses: int = setting(1_000, "Descriptions tried in singling out", least=1, fold=MORE)
    tolerance: float = setting(
        0.05,
        "How far off a guessed number may be",
        "As a share of the true one: 0.05 is five percent.",
        least=0,
        most=1,
        fold=MORE,
    )
    exact: tuple[str, ...] = setting(
        (),
        "Columns whose released numbers are as they seem",
        "Those of masked releases are read as rounded, or as cut off at the ends, where they look so.",
        kind="columns",
        fold=MORE,
        example="age, income",
    )
    by: str | None = setting(
        None, "Show every rate for the groups of", kind="column", metavar="COLUMN", of="original", fold=MORE
    )
    population_size: int | None = setting(
        None,
        "People whom the released ones were drawn from",
        "Their number, if the table is a sample and has no weights.",
        least=1,
        fold=MORE,
    )
    minimum_cell: int = setting(11, "Smallest group of people to show", least=2, fold=MORE)
    review: str = setting(
        "",
        "When the decision is to be reviewed",
        "Stands on the sheet that is signed.",
        metavar="DATE",
        example="2030-01-31",
        fold=MORE,
        front_end=True,
    )
    model: Any = setting(
        None,
        "What guesses in inference instead of the nearest released row",
        "An object with fit and predict.",
        only="python",
        objects=True,
    )
    kind: Any = setting(
        None,
        "Whether the releases are masked or synthetic",
        "For all, or by name: masked (each row stems from a person), synthetic, or None where that is not known.",
        only="python",
        objects=True,
    )
    markers: Mapping[str, Any] = setting(
        (), "What texts in cells mean", "As in unveil.Table.from_frame.", only="python", form="TEXT=MEANING"
    )
    suggest_for: tuple[str, ...] = setting(
        (), "Figures that limits are set on", "What they belong to is tried again with each change.", only="python"
    )
    #: Whether it is stated which columns are sensitive, or that there are none.
    sensitive_stated: bool = False
    #: Columns that were left out of a release on purpose, by its name: no adversary can use them there.
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from unveil.questions.audit.scenarios import read_link, read_scenarios

        super().__post_init__()
        scenarios = read_scenarios((*read_scenarios(self.scenarios or ()), *map(read_link, self.links)))
        read: dict[str, Any] = {"scenarios": scenarios or None, "links": (), "targets": read_targets(self.targets)}
        read["kind"] = self.kind or None
        read["sensitive_stated"] = self.sensitive_stated or bool(self.sensitive)
        read["sensitive"] = () if self.sensitive == (NONE_SENSITIVE,) else self.sensitive
        if isinstance(self.dictionary, str | Path):
            from unveil.data.table import read_dictionary

            # Once, and not for every table and worker.
            read["dictionary"] = read_dictionary(self.dictionary)
        for name, value in read.items():
            object.__setattr__(self, name, value)
        share(self.tolerance, "tolerance", one=False)
        self._check_roles()

    def _check_roles(self) -> None:
        roles = [
            *((name, "sensitive") for name in self.sensitive),
            *((name, "identifiers") for name in self.identifiers),
            *((name, "known") for name in self.known or ()),
            *((name, what) for name, what in ((self.weight, "the weight"), (self.household, "the household")) if name),
        ]
        for name in {name for name, _ in roles}:
            said = sorted({role for column, role in roles if column == name})
            if len(said) > 1:
                raise InputError(f"column {name!r} is said to be {' and '.join(said)}. Give it one role")

    @cached_property
    def reading(self) -> "TableReading":
        """How tables are read."""
        from unveil.questions.reading import reading_of

        return reading_of(self, markers=self.markers)

    def neighbours_in(self, rows: int) -> tuple[int, ...]:
        """Return the numbers of nearest rows that count in linkability; the first decides, others can only raise it."""
        return usual_neighbours(rows) if self.neighbours is None else (self.neighbours,)

    def identifiers_of(self, table: "Table") -> tuple[str, ...]:
        """Return the columns that identify people; none where each row was said to be another person."""
        return identifiers_of(table, self.identifiers)

    @property
    def parts(self) -> tuple[str, ...]:
        """The attacks and measures that were asked for, in the order of the report; all unless some are named."""
        return tuple(name for name, _ in _attacks() if not self.attacks or name in self.attacks)


def read_targets(written: str | int | None) -> int | Literal["auto"] | None:
    """Return how many people to attack; None stands for all.

    >>> read_targets("all"), read_targets("200"), read_targets("auto")
    (None, 200, 'auto')
    """
    word = "all" if written is None else str(written).strip().lower()
    if word in ("auto", "all"):
        return "auto" if word == "auto" else None
    if not word.isascii() or not word.isdigit() or int(word) < 1:
        raise InputError(
            f"targets must be a whole number of at least 1, 'all' or 'auto', but are {written!r}. Write one of these"
        )
    return int(word)


def _together(request: Request) -> list[tuple[str, str]]:
    """Return what makes no audit, and limits on values that this audit cannot have: they would look like a pass."""
    from unveil.questions.audit.attacks import ATTACKS
    from unveil.questions.audit.decision_evidence import thresholds_of
    from unveil.questions.audit.decision_findings import EFFECTS

    generated = bool(request.values["generator"])
    if not request.sample and not request.files.get("released") and not generated:
        return [("released", "{released} must be named beside {original}")]
    if wrong := _wrong_with_generator(request):
        return [wrong]
    if request.values["show_records"] and not request.report:
        return [("show_records", "{show_records} needs a report to show them in. Add --html FILE")]
    controlled = request.sample or request.path("control") is not None or generated
    if request.values["people"] is not None and not controlled:
        return [("people", "{people} tells people in the data from people who are not. Add {control}")]
    if request.values["epsilon"] is not None and not controlled:
        return [("epsilon", "{epsilon} is held against what people who are not in the data show. Add {control}")]
    chosen = request.values["attacks"]
    ran = {ATTACKS[each].effect if each in ATTACKS else each for each in chosen}
    for name, _ in request.values["limits"]:
        part = name.split(".")[0]
        if chosen and part not in ran and (part in EFFECTS or part in (*ATTACKS, *MEASURES)):
            return [("limits", f"{part} is not run: {{attacks}} leaves it out. Add it there, or leave out the limit")]
    try:
        thresholds_of(request.values["threshold"], request.values["profile"], dict(request.values["limits"]))
    except InputError as error:
        both = request.values["threshold"] is not None and request.values["profile"]
        return [("threshold" if both else "limits", str(error))]
    return []


_ONLY_WITH_GENERATOR = ("hold_out", "folds", "runs", "canaries", "made", "env")


def _wrong_with_generator(request: Request) -> tuple[str, str] | None:
    """Return what cannot be said together with a generator, or only with one."""
    said = [name for name in _ONLY_WITH_GENERATOR if name in request.explicit]
    if not request.values["generator"]:
        if not said:
            return None
        return said[0], f"{{{said[0]}}} says how a generator is run. Name it with {{generator}}, or leave this out"
    if request.path("control") is not None:
        return "control", "{control} is made by holding people out of {generator}. Leave out either"
    if request.values["suggest"]:
        return "suggest", "{suggest} changes a release, and {generator} makes a new one. Leave out either"
    if "resume" in request.explicit:
        return "resume", "{resume} keeps what is found in tables, and {made} what {generator} makes. Name {made}"
    if "memory" in request.explicit:
        return ("memory", "{memory} is about tables that are there, and {generator} makes others. Leave out either")
    if {"hold_out", "folds"} <= set(said):
        return "folds", "{folds} holds out everybody once, and {hold_out} some people always. Leave out either"
    if {"canaries", "folds"} <= set(said):
        return "folds", "{canaries} are drawn from people whom {folds} would give to the generator. Leave out either"
    return None


def _asked(request: Request, prompt: Callable[[str], str]) -> Iterator[tuple[str, str, Any]]:
    """Yield what a person at a terminal answers to: what a pass needs and no file contains."""
    values, original = request.values, request.path("original")
    is_held = values["threshold"] is not None or values["profile"]
    if original is None or values["generator"] or not is_held:
        return
    if not any(values["release_kinds"]):
        said = prompt("Was each released row made from one person's row? y, n, or Enter to detect it")
        kind = {"y": "masked", "n": "synthetic"}.get(said.strip().lower()[:1])
        if kind is not None:
            yield "release_kinds", "--release-type", (kind,)
    if not values["sensitive"]:
        from unveil.data.files.read import names_of
        from unveil.data.files.source import open_source

        files = TextFileSettings(**{each.name: values[each.name] for each in TextFileSettings.table()}).files
        names = names_of(open_source(original), files)
        likely = [each for each in names if LIKELY_SENSITIVE & set(re.split(r"[^a-z]+", each.casefold()))]
        listed = ", ".join(f"{each}*" if each in likely else each for each in names[:MOST_LISTED])
        usual = row(likely) or NONE_SENSITIVE
        said = prompt(f"Columns: {listed}. Which are sensitive? Names with commas, none, or Enter for {usual}")
        yield "sensitive", "--sensitive", columns_in((said.strip() or usual,))


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
    settings=AuditSettings.table(),
    sample="700 people of an election study, released in three ways, and others to compare with.",
    together=_together,
    asked=_asked,
)

"""Settings of the commands audit and protect."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from unveil.errors import InputError, did_you_mean, share
from unveil.questions.audit.children.settings import ChildSettings, read_children
from unveil.questions.audit.generator.settings import GeneratorSettings
from unveil.questions.audit.reference.control_options import option_lines
from unveil.questions.audit.reference.settings import ReferenceSettings
from unveil.questions.request import Request
from unveil.questions.roles import HierarchySettings, TableColumnSettings
from unveil.questions.settings import (
    MORE,
    Choices,
    Guide,
    LimitSettings,
    Question,
    SecretSeedSettings,
    SeedSettings,
    Settings,
    TextFileSettings,
    protection,
    setting,
)
from unveil.questions.values import columns_in, row

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.questions.reading import TableReading


@dataclass(frozen=True, kw_only=True)
class RunSettings(Settings):
    """Resources and stored parts of an audit; no result depends on them."""

    threads: int | None = setting(
        None,
        "Threads (default: one per processor)",
        least=1,
        only="command line",
        place="run",
    )
    workers: int = setting(
        1,
        "Processes that compute parts of the audit",
        "Each reads all tables and uses one thread, unless threads are given.",
        least=0,
        only="command line",
        place="run",
    )
    cluster: str | None = setting(
        None,
        "Address of a Dask cluster",
        "Its workers must see the files under the same paths.",
        only="command line",
        metavar="ADDRESS",
        place="run",
    )
    resume: Path | None = setting(
        None,
        "Store finished parts in DIR and resume from there",
        "The folder holds data about people. The same command resumes a stopped audit.",
        kind="text",
        objects=True,
        only="command line",
        metavar="DIR",
        group="Run",
    )
    memory: int | None = setting(
        None,
        "Memory, such as 4GB (default: 70% of the free memory)",
        "On a cluster: of each worker. Larger tables are processed from disk (in the folder of TMPDIR), with the same "
        "results.",
        kind="size",
        only="command line",
        place="run",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resume is not None:
            object.__setattr__(self, "resume", Path(self.resume))
        if self.cluster is not None and self.workers > 1:
            raise InputError("cluster and workers exclude each other. Give one of them")

    @property
    def processes(self) -> int:
        """Number of processes of this machine that hold the tables."""
        return self.workers if self.workers > 1 and self.cluster is None else 0

    @property
    def memory_of_each(self) -> int | None:
        """Memory limit of each process in bytes; None without one."""
        return None if self.memory is None else self.memory // (1 + self.processes)


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
        "disclosure": "k-anonymity and other disclosure measures",
        "utility": "Utility",
        "before": "The same attacks on the original data",
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
    """Return a suggestion for a misspelled attack, or "".

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
    """Return the identifier columns; ``none`` means no column."""
    return () if tuple(columns) == (ONE_ROW_EACH,) and ONE_ROW_EACH not in table.column_names else tuple(columns)


def _profiles() -> Choices:
    from unveil.report.profiles import PROFILES

    return (("", "No published threshold"), *((each.name, each.title) for each in PROFILES.values()))


@dataclass(frozen=True, kw_only=True)
class AuditSettings(
    ChildSettings,
    ReferenceSettings,
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
        ReferenceSettings: "control",
        ChildSettings: "control",
        GeneratorSettings: "scenarios",
        HierarchySettings: "redacted",
        RunSettings: "accept_inconclusive",
        LimitSettings: "profile",
        TableColumnSettings: "tolerance",
        TextFileSettings: "exact",
        SeedSettings: "review",
    }

    original: Any = setting(
        None,
        "Original data, one row per person",
        "CSV, Parquet, Excel, SPSS, Stata or SAS.",
        kind="table",
        required=True,
        unless=("tables",),
        is_bare=True,
    )
    released: tuple[Any, ...] = setting(
        (),
        "Releases, masked or synthetic",
        "One or several versions with the same columns. Several are compared.",
        kind="tables",
        required=True,
        unless=("generator", "tables"),
        is_bare=True,
    )
    release_type: Any = setting(
        "",
        "Release type",
        "In Python: one for all releases, one for each, or a mapping from name; None where it is unknown.",
        help="masked or synthetic",
        objects=True,
        kind="choice",
        choices=lambda: (
            ("", "Unknown"),
            ("masked", "Masked: people's records, changed"),
            ("synthetic", "Synthetic: records drawn from a model"),
        ),
        beside="released",
        option="--release-type",
        alias="--kind",
        metavar="TYPE",
        place="default",
        group="Input",
    )
    control: Any = setting(
        None,
        "Control group: similar people outside the data",
        "People from the same population, with the same columns. Without them the excess risk cannot be estimated.",
        kind="table",
        place="default",
    )
    columns: tuple[Any, ...] = setting(
        (),
        "Roles and types of columns",
        "These are suggestions from names and values. Correct them: every attack depends on them.",
        kind="roles",
        only="page",
        of="original",
    )
    scenarios: tuple[Any, ...] | None = setting(
        (),
        "Attack scenarios",
        "The columns that an attacker knows. Without any, unveil tries random sets of columns.",
        help="Attacker who knows these columns",
        kind="scenarios",
        metavar="NAME=COLS",
        of="original",
        option="--scenario",
        objects=True,
        group="Attacks",
    )
    sensitive: tuple[str, ...] = setting(
        (),
        "Sensitive attributes (default: every column)",
        "'none' states that there are none. The default attacks every column, and holds none to a threshold.",
        kind="columns",
        only="command line",
        place="default",
        group="Columns",
    )
    quasi_identifiers: tuple[str, ...] = setting(
        (),
        "Columns the attacker may know (default: the rest)",
        kind="columns",
        only="command line",
        alias="--known",
        place="default",
        group="Columns",
    )
    weight: str | None = setting(
        None,
        "Survey weights",
        "The number of people that each released row represents.",
        kind="column",
        only="command line",
        metavar="COLUMN",
        group="Columns",
    )
    household: str | None = setting(
        None,
        "Household column",
        "Tests then treat households, not people, as independent. The control group needs the column too. Runs of a "
        "generator hold households out whole.",
        kind="column",
        only="command line",
        metavar="COLUMN",
        group="Columns",
    )
    column_splits: tuple[str, ...] = setting(
        (),
        "Attacker who holds two sources with these columns",
        only="command line",
        option="--column-split",
        alias="--link",
        metavar="COLS:COLS",
        group="Attacks",
    )
    redacted: Path | None = setting(
        None,
        "Redacted report for external readers",
        "It leaves out small cells, folders and values.",
        kind="output",
        only="command line",
        alias="--shareable",
    )
    techniques: Mapping[str, str] = setting(
        (),
        "Masking of a column, for the sign-off sheet",
        only="command line",
        option="--technique",
        metavar="COLUMN=TEXT",
        front_end=True,
        form="COLUMN=TEXT, as in age='in bands of five years'",
        place="config",
        section="sign_off",
    )
    context: Mapping[str, str] = setting(
        (),
        "Context of the release, for the sign-off sheet",
        "FIELD is purpose, recipient, environment or means; the sheet leaves missing ones blank.",
        only="command line",
        metavar="FIELD=TEXT",
        front_end=True,
        form="FIELD=TEXT, as in recipient='two universities'",
        place="config",
        section="sign_off",
        entries=("purpose", "recipient", "environment", "means"),
    )
    sign_off: Path | None = setting(
        None,
        "Sign-off sheet",
        "Plain HTML, which word processors can edit.",
        kind="output",
        only="command line",
        alias="--sheet",
    )
    record_risk: Path | None = setting(
        None,
        "Risk of each record (internal)",
        "The records tested for membership, most exposed first, with the columns that expose them. With three or more "
        "siblings, their rank by the distance to the release compared with the siblings.",
        kind="output",
        only="command line",
        alias="--people",
    )
    show_records: bool = setting(
        False,
        "Show copied records",
        "A few of them, in the report of --html only, which is then internal.",
        only="command line",
        front_end=True,
        group="Output",
    )
    accept_inconclusive: bool = setting(
        False,
        "Exit with 0 if the decision is inconclusive",
        only="command line",
        front_end=True,
        alias="--accept-undecided",
        group="Decision",
    )
    identifiers: tuple[str, ...] = setting(
        (),
        "Columns that identify a person across files",
        "Rows with the same value of the first one are one person; 'none' states that each row is another person. "
        "Several tables, such as patients and visits, need the command line or Python.",
        kind="columns",
        option="--id",
        fold=MORE,
        example="person",
        place="default",
        group="Columns",
    )
    edition: str = setting(
        "internal",
        "Edition of the report",
        kind="choice",
        only="page",
        choices=lambda: (
            ("internal", "Internal: with details about individual records"),
            ("shareable", "Redacted: without small cells and values"),
        ),
        fold=MORE,
        front_end=True,
    )
    threshold: float | None = setting(
        None,
        "Largest acceptable excess risk, such as 0.09",
        "Excess risk is the number of extra people per 100 that the release exposes: 0.09 is 9 per 100.",
        least=0,
        most=1,
        example="0.09",
        metavar="VALUE",
        place="default",
        group="Decision",
    )
    profile: str = setting(
        "",
        "Published threshold",
        "Which one applies depends on your rules and on who receives the data.",
        help="Published threshold: ema, quebec, cell-11, …",
        kind="choice",
        choices=_profiles,
        place="default",
        group="Decision",
    )
    limits: tuple[tuple[str, float], ...] = LimitSettings.declared(
        "limits", help="Largest acceptable excess risk for one attack"
    )
    compare: Any = setting(
        None,
        "JSON of an earlier audit",
        "The report states what changed since.",
        kind="file",
        fold=MORE,
        front_end=True,
        group="Decision",
    )
    suggest: int = setting(
        0,
        "Try up to N changes",
        "unveil generalizes or removes columns of each risky release and audits it again. 6 changes take about as long "
        "as 6 more releases.",
        least=0,
        most=50,
        fold=MORE,
        group="Decision",
    )
    attacks: tuple[str, ...] = setting(
        (),
        "Attacks to run (default: all)",
        kind="several",
        metavar="NAMES",
        choices=_attacks,
        hint=attack_hint,
        fold=MORE,
        group="Attacks",
    )
    targets: int | Literal["auto"] | None = setting(
        "auto",
        "People to attack in each table: N, all or auto",
        "auto is all up to 5,000 people in both tables, and 2,500 of each above. More people give narrower intervals "
        "and take longer.",
        metavar="N|all|auto",
        fold=MORE,
        objects=True,
        kind="text",
        place="config",
        section="tuning",
    )
    neighbors: int | None = setting(
        None,
        "Nearest neighbors in linkability (default: 1 and 3)",
        "1 decides and 3 can only raise the risk; 1 alone where a release has 10 rows or fewer.",
        least=1,
        fold=MORE,
        alias="--neighbours",
        place="config",
        section="tuning",
    )
    predicates: int = setting(
        1_000,
        "Predicates tried in singling out",
        least=1,
        fold=MORE,
        alias="--guesses",
        place="config",
        section="tuning",
    )
    tolerance: float = setting(
        0.05,
        "Tolerance of an inferred number",
        "As a share of the true number: 0.05 is 5%.",
        least=0,
        most=1,
        fold=MORE,
        place="config",
        section="tuning",
    )
    exact: tuple[str, ...] = setting(
        (),
        "Columns whose released numbers are exact",
        "Numbers of masked releases are read as rounded or top-coded where they look so.",
        kind="columns",
        fold=MORE,
        example="age, income",
        place="dictionary",
    )
    group_by: str | None = setting(
        None,
        "Report each rate by subgroup",
        kind="column",
        metavar="COLUMN",
        of="original",
        fold=MORE,
        alias="--by",
        group="Output",
    )
    population_size: int | None = setting(
        None,
        "Population size",
        "Size of the population behind the released sample, if it has no weights.",
        least=1,
        fold=MORE,
        group="Columns",
    )
    min_cell: int = setting(11, "Smallest group to show", least=2, fold=MORE, alias="--minimum-cell", group="Output")
    review: str = setting(
        "",
        "Date of the next review, for the sign-off sheet",
        metavar="DATE",
        example="2030-01-31",
        fold=MORE,
        front_end=True,
        place="config",
        section="sign_off",
    )
    model: Any = setting(
        None,
        "Model for attribute inference (default: nearest released row)",
        "An object with fit and predict.",
        only="python",
        objects=True,
    )
    markers: Mapping[str, Any] = setting(
        (), "Meanings of texts in cells", "As in unveil.Table.from_frame.", only="python", form="TEXT=MEANING"
    )
    suggest_for: tuple[str, ...] = setting(
        (), "Limited results", "Their attacks run again for each change.", only="python"
    )
    #: Whether it is stated which columns are sensitive, or that there are none.
    sensitive_stated: bool = False
    #: Columns that were left out of a release on purpose, by its name: no adversary can use them there.
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from unveil.questions.audit.scenarios import read_link, read_scenarios

        super().__post_init__()
        scenarios = read_scenarios((*read_scenarios(self.scenarios or ()), *map(read_link, self.column_splits)))
        read: dict[str, Any] = {
            "scenarios": scenarios or None,
            "column_splits": (),
            "targets": read_targets(self.targets),
            "release_type": self.release_type or None,
        }
        read["sensitive_stated"] = self.sensitive_stated or bool(self.sensitive)
        read["sensitive"] = () if self.sensitive == (NONE_SENSITIVE,) else self.sensitive
        if self.dictionary is not None:
            from unveil.data.table import Dictionary, read_dictionary

            # Once, and not for every table and worker.
            known = self.dictionary if isinstance(self.dictionary, Dictionary) else read_dictionary(self.dictionary)
            read["dictionary"] = known
            read["exact"] = tuple(dict.fromkeys((*self.exact, *known.exact)))
            read["hierarchies"] = {**known.hierarchies, **self.hierarchies}
        for name, value in read.items():
            object.__setattr__(self, name, value)
        share(self.tolerance, "tolerance", one=False)
        self._check_roles()

    def _check_roles(self) -> None:
        roles = [
            *((name, "sensitive") for name in self.sensitive),
            *((name, "identifiers") for name in self.identifiers),
            *((name, "quasi-identifiers") for name in self.quasi_identifiers or ()),
            *((name, what) for name, what in ((self.weight, "the weight"), (self.household, "the household")) if name),
        ]
        for name in {name for name, _ in roles}:
            said = sorted({role for column, role in roles if column == name})
            if len(said) > 1:
                raise InputError(f"Column {name!r} has two roles: {' and '.join(said)}. Choose one role")

    @cached_property
    def reading(self) -> "TableReading":
        """How tables are read."""
        from unveil.questions.reading import reading_of

        return reading_of(self, markers=self.markers)

    def neighbours_in(self, rows: int) -> tuple[int, ...]:
        """Return the numbers of nearest rows in linkability; the first decides."""
        return usual_neighbours(rows) if self.neighbors is None else (self.neighbors,)

    @property
    def person_key(self) -> str | None:
        """The column that tells people apart, if there is one."""
        return next((name for name in self.identifiers[:1] if name != ONE_ROW_EACH), None)

    def identifiers_of(self, table: "Table") -> tuple[str, ...]:
        """Return the identifier columns; none if each row is a person."""
        return identifiers_of(table, self.identifiers)

    @property
    def parts(self) -> tuple[str, ...]:
        """The requested attacks and measures, in report order."""
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
        raise InputError(f"targets cannot be {written!r}. Write a whole number of at least 1, 'all' or 'auto'")
    return int(word)


def _together(request: Request) -> list[tuple[str, str]]:
    """Refuse settings that contradict each other, and impossible limits."""
    from unveil.questions.audit.attacks import ATTACKS
    from unveil.questions.audit.decision.evidence import thresholds_of
    from unveil.questions.audit.decision.findings import EFFECTS

    generated = bool(request.values["generator"])
    if wrong := _wrong_children(request):
        return [wrong]
    is_only_children = bool(request.values["tables"]) and not request.files.get("original")
    if not request.sample and not request.files.get("released") and not generated and not is_only_children:
        return [("released", "The release is missing. Give {released} after {original}")]
    if wrong := _wrong_with_generator(request):
        return [wrong]
    if request.values["show_records"] and not request.report:
        return [("show_records", "{show_records} needs a report. Add --html FILE")]
    if wrong := _wrong_references(request):
        return [wrong]
    controlled = request.sample or generated or any(map(request.files.get, ("control", "sibling_people")))
    controlled = controlled or bool(request.path("population") and request.values["identifiers"])
    controlled = controlled or any(each.control is not None for each in read_children(request.values["tables"]))
    if request.values["record_risk"] is not None and not controlled:
        return [("record_risk", "{record_risk} needs a control group. Add {control}")]
    if request.values["epsilon"] is not None and not controlled:
        return [("epsilon", "{epsilon} needs a control group. Add {control}")]
    chosen = request.values["attacks"]
    ran = {ATTACKS[each].effect if each in ATTACKS else each for each in chosen}
    for name, _ in request.values["limits"]:
        part = name.split(".")[0]
        if chosen and part not in ran and (part in EFFECTS or part in (*ATTACKS, *MEASURES)):
            return [
                (
                    "limits",
                    f"The limit on {part} needs that attack, which {{attacks}} leaves out. Add it, or remove the limit",
                )
            ]
    try:
        thresholds_of(request.values["threshold"], request.values["profile"], dict(request.values["limits"]))
    except InputError as error:
        both = request.values["threshold"] is not None and request.values["profile"]
        return [("threshold" if both else "limits", str(error))]
    return []


def _wrong_children(request: Request) -> tuple[str, str] | None:
    """Refuse child tables without a person key, and next to what needs a single table."""
    if not request.values["tables"]:
        return None
    if tuple(request.values["identifiers"]) in ((), (ONE_ROW_EACH,)):
        return "tables", "{tables} needs the person key, a column of every table. Add {identifiers}"
    if request.sample:
        return "tables", "{tables} needs your files, and the example has its own. Leave out one of them"
    if len(request.files.get("released", ())) > 1:
        return "tables", "{tables} belongs to one release, but there are several. Audit each by itself"
    for name in ("generator", "suggest", "sibling", "population"):
        if request.values.get(name) or request.files.get(name):
            return name, f"{{{name}}} needs a single table. Leave it out, or {{tables}}"
    try:
        read_children(request.values["tables"])
    except InputError as error:
        return "tables", str(error)
    return None


def _wrong_references(request: Request) -> tuple[str, str] | None:
    """Refuse siblings and a population file where they cannot be compared with one release."""
    given = [name for name in ("sibling", "sibling_people", "population") if request.files.get(name)]
    if given and request.values["generator"]:
        return given[0], f"{{{given[0]}}} and {{generator}} exclude each other. Remove one"
    if given and len(request.files.get("released", ())) > 1:
        return given[0], f"{{{given[0]}}} belongs to one release, but there are several. Audit each release by itself"
    if "sibling_people" in given and "sibling" not in given:
        return "sibling_people", "{sibling_people} needs the releases of these people. Add {sibling}"
    if "population_is" in request.explicit and "population" not in given:
        return "population_is", "{population_is} needs {population}. Add it"
    return None


_ONLY_WITH_GENERATOR = ("holdout", "folds", "runs", "canaries", "keep_runs", "env")


def _wrong_with_generator(request: Request) -> tuple[str, str] | None:
    """Refuse settings that need a generator, or exclude one."""
    said = [name for name in _ONLY_WITH_GENERATOR if name in request.explicit]
    if not request.values["generator"]:
        return (said[0], f"{{{said[0]}}} needs {{generator}}. Add it") if said else None
    if request.path("control") is not None:
        return "control", "{control} and {generator} exclude each other: held-out people are the control. Remove one"
    if request.values["suggest"]:
        return "suggest", "{suggest} and {generator} exclude each other. Remove one"
    if "resume" in request.explicit:
        return "resume", "{resume} does not store generated releases. Use {keep_runs} instead"
    if "memory" in request.explicit:
        return "memory", "{memory} and {generator} exclude each other. Remove one"
    if {"holdout", "folds"} <= set(said):
        return "folds", "{folds} and {holdout} exclude each other. Remove one"
    if {"canaries", "folds"} <= set(said):
        return "folds", "{canaries} and {folds} exclude each other: with folds every person is used. Remove one"
    return None


def _asked(request: Request, prompt: Callable[[str], str]) -> Iterator[tuple[str, str, Any]]:
    """Yield the questions for a person at a terminal."""
    values, original = request.values, request.path("original")
    is_held = values["threshold"] is not None or values["profile"]
    if original is None or values["generator"] or not is_held:
        return
    if not any(values["release_type"]):
        said = prompt("Was each released row made from one person's row? y, n, or Enter to detect it")
        kind = {"y": "masked", "n": "synthetic"}.get(said.strip().lower()[:1])
        if kind is not None:
            yield "release_type", "--release-type", (kind,)
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
    title="Audit a released table",
    lead="What can an attacker learn from this release?",
    about=(
        "ORIGINAL has one row per person; --table adds tables with several. Each RELEASED is a masked or synthetic "
        "version of it with the same columns; several are compared. Without files, unveil audits its example. COLS are "
        "names with commas between them."
    ),
    tries=(
        "unveil audit people.csv masked.csv --control control.csv --html report.html",
        "unveil audit people.csv masked.csv --control control.csv --sensitive income --threshold 0.09",
        "unveil audit people.csv masked.csv --scenario neighbor=age,sex,region",
        "unveil audit people.csv masked.csv --release-type masked --profile cell-5 --redacted report.html",
        "unveil audit people.csv --generator 'python synth.py {in} {out}' --runs 8",
    ),
    settings=AuditSettings.table(),
    sample="700 people of an election study, three releases, and a control group.",
    together=_together,
    guides=(
        Guide(
            option="--help-control",
            help="Show ways to a control group",
            files=("original", "released"),
            lines=option_lines,
        ),
    ),
    asked=_asked,
)


@dataclass(frozen=True, kw_only=True)
class ProtectSettings(LimitSettings, TableColumnSettings, TextFileSettings, SecretSeedSettings):
    """The settings of protecting a table."""

    after: ClassVar[Mapping[type, str]] = {LimitSettings: "profile"}

    original: Any = setting(
        None,
        "Table to protect, one row per person",
        "CSV, Parquet, Excel, SPSS, Stata or SAS.",
        kind="table",
        required=True,
        is_bare=True,
    )
    method: Any = protection(
        "table",
        "mondrian",
        "Protection method",
        help="Protection method; 'unveil list protections'",
        goes_to="first",
        alias="--protect",
        place="default",
        group="Method",
    )
    first: tuple[Any, ...] = protection(
        "table",
        (),
        "Earlier protection methods",
        "They are applied in this order before the method above; each step is audited too.",
        kind="things",
        many=True,
        option="--first",
        place="config",
    )
    control: Any = setting(
        None,
        "Control group: similar people outside the data",
        "People from the same population, with the same columns. Without them a random fifth of the people is held "
        "out before protection, and the release holds the rest.",
        kind="table",
        place="default",
    )
    columns: tuple[Any, ...] = AuditSettings.declared("columns")
    identifiers: tuple[str, ...] = AuditSettings.declared("identifiers")
    sensitive: tuple[str, ...] = AuditSettings.declared("sensitive")
    quasi_identifiers: tuple[str, ...] = AuditSettings.declared("quasi_identifiers")
    weight: str | None = AuditSettings.declared("weight")
    household: str | None = AuditSettings.declared("household")
    out: Path | None = setting(
        None, "Write the protected table", kind="output", example="released.csv", only="command line", place="default"
    )
    write_control: Path | None = setting(
        None,
        "Write the held-out people (internal)",
        "Or the control group. Keep the file for the next audit.",
        kind="output",
        example="control.csv",
        only="command line",
        alias="--others",
    )
    threshold: float | None = AuditSettings.declared("threshold")
    profile: str = AuditSettings.declared("profile")
    limits: tuple[tuple[str, float], ...] = AuditSettings.declared("limits", place="all")
    attacks: tuple[str, ...] = AuditSettings.declared("attacks")
    targets: int | str | None = AuditSettings.declared("targets")


PROTECT = Question(
    name="protect",
    command=("protect",),
    title="Protect a table",
    lead="How much does a protection method lower the risk, and what utility is left?",
    about=(
        "ORIGINAL has one row per person. unveil audits it unprotected and after each method, on the same people. "
        "Without a control group a random fifth of the people is held out before protection, and the release holds the "
        "rest. Several methods are applied in their order."
    ),
    tries=(
        "unveil protect people.csv --method microaggregation:k=5 --out released.csv",
        "unveil protect people.csv --method suppression:k=3 --method rank-swapping:p=10 --control control.csv",
    ),
    settings=ProtectSettings.table(),
    sample="700 people of an election study, and a control group.",
    secret=True,
)

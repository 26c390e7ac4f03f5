"""What can be asked about who is behind masked records."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unveil.questions.request import Request
from unveil.questions.roles import HierarchySettings, TableColumnSettings
from unveil.questions.settings import (
    MORE,
    Choices,
    LimitSettings,
    Question,
    SeedSettings,
    Settings,
    TextFileSettings,
    setting,
)

if TYPE_CHECKING:
    from unveil.attacks._listing import Leaves

#: What is done with the example inside unveil: the protection, an attack that is valid, and two that are not.
SAMPLE_PROTECT = "rank-swapping:p=10"
SAMPLE_ATTACKS = ("intersection", "intersection:p=5", "nearest")
#: The guesses whose validity can be told.
LEAVES: "tuple[Leaves, ...]" = ("Beliefs", "Candidates")
#: As in `unveil.metrics.beliefs.file_level`, whose import would make a page wait for what it does not need.
MATCHINGS = 32_000
_ELSEWHERE = "The release was made elsewhere"


def _protections() -> Choices:
    from unveil.protections import PROTECTIONS

    listed = ((name, each.summary) for name, each in PROTECTIONS.items() if each.on == "table")
    return (("", "None: the release was made elsewhere"), *listed)


def _attacks() -> Choices:
    from unveil.attacks import ATTACKS

    return tuple((name, each.summary) for name, each in ATTACKS.items() if each.on == "table" and each.leaves in LEAVES)


def _read_protection(text: str) -> object:
    from unveil.protections.dialects import as_written

    return as_written(text).protection


def _read_attack(text: str) -> object:
    from unveil.attacks import attack_from

    return attack_from(text, leaves=LEAVES)


def _one_release(request: Request) -> list[tuple[str, str]]:
    """Return which files and settings make no question: a release is made here, or it was made elsewhere."""
    released, truth, identifier = request.path("released"), request.path("truth"), request.values["identifier"]
    if request.sample:
        named = "truth" if truth is not None else "identifier" if identifier else "released" if released else ""
        return (
            [(named, f"{{{named}}} needs {{original}} and {{released}}. Name both, or leave it out")] if named else []
        )
    if released is None:
        if truth is not None:
            return [("released", "{truth} needs {released}. Name it, or leave out the truth")]
        if not request.values["protect"]:
            return [("released", "{released} must be named beside {original}, or {protect} to make the release")]
    elif (truth is None) == (not identifier):
        return [("truth", "whose each released row is must be told once, with {truth} or with {identifier}")]
    if not request.values["attacks"]:
        return [("attacks", "{attacks} must be named; 'unveil list attacks' shows them")]
    return []


@dataclass(frozen=True, kw_only=True)
class _ReleaseFiles(Settings):
    """A release made elsewhere, and whose each of its rows is."""

    released: Any = setting(
        None,
        "The release that was made elsewhere",
        "The protection above is then the method that made it, if known. Whose each row is must be told.",
        kind="table",
        fold=_ELSEWHERE,
        is_bare=True,
    )
    truth: Any = setting(
        None,
        "Whose each released row is",
        "The columns released and original, with row numbers counted from 1; empty for a row that is nobody's.",
        kind="table",
        fold=_ELSEWHERE,
    )
    identifier: str = setting(
        "",
        "Instead of the truth, a column of both files that names people",
        fold=_ELSEWHERE,
        option="--id",
        metavar="COLUMN",
    )


@dataclass(frozen=True, kw_only=True)
class ReidentifySettings(
    TableColumnSettings, HierarchySettings, TextFileSettings, LimitSettings, SeedSettings, _ReleaseFiles
):
    """The settings of the question about masked records."""

    original: Any = setting(
        None, "The original table", "One row per person: CSV or Parquet.", kind="table", required=True, is_bare=True
    )
    protect: Any = setting(
        "",
        "How the release is made, or was made elsewhere",
        "With a release made elsewhere it is the method declared for it, which the file must bear out.",
        kind="thing",
        choices=_protections,
        read=_read_protection,
    )
    attacks: tuple[Any, ...] = setting(
        (),
        "The attacks to run",
        "Several are set side by side.",
        kind="things",
        choices=_attacks,
        read=_read_attack,
        many=True,
        example="intersection\nnearest",
        option="--attack",
    )
    known: tuple[str, ...] = setting(
        (),
        "The only columns that the adversary knows, in the order in which they are learnt",
        "All, if not given.",
        kind="columns",
        example="age, income",
        fold=MORE,
    )
    pairs: int | None = setting(
        None,
        "How large a program may be that decides whether a probability is valid",
        "Pairs of records in one linear program of Definition 14: 10,000 take about a second each, and are "
        "the most unless told (fewer where records are many). Few cases need one.",
        least=0,
        fold=MORE,
        metavar="N",
    )
    matchings: int = setting(
        MATCHINGS,
        "How many random assignments of all rows are drawn for the file level",
        "Where the file level cannot be computed exactly it is sampled, with error bars; 0 leaves it open.",
        least=0,
        fold=MORE,
        metavar="N",
    )


QUESTION = Question(
    name="reidentify",
    command=("reidentify",),
    title="Who is behind masked records",
    lead="Who is behind each masked record, and is the attack that says so valid?",
    about=(
        "ORIGINAL holds one row per person. Either --protect makes the release, and then the masking tells what an "
        "attack may claim: one that claims more is not valid, and proves nothing. Or RELEASED was made elsewhere: "
        "then --protect says by which method, as unveil, sdcMicro or ARX write it, and the file is looked at whether "
        "that can be; without it, hits are counted and whether an attack is valid stays open. Without files, the "
        "example is an election study whose ranks are swapped."
    ),
    tries=(
        "unveil reidentify",
        "unveil reidentify people.csv --protect rank-swapping:p=10 --attack intersection",
        "unveil reidentify people.csv --protect mondrian:k=5 --attack bayes --attack nearest --known age,income",
        "unveil reidentify people.csv masked.csv --truth truth.csv --attack nearest --limit hit_rate.high=0.1",
        "unveil reidentify people.csv masked.csv --truth truth.csv --protect additive-noise:scale=0.2 --attack bayes",
        "unveil reidentify people.csv masked.csv --id key --protect 'microaggregation(aggr=5)' --attack bayes",
    ),
    settings=ReidentifySettings.table(),
    sample="120 people of an election study, whose ranks are swapped.",
    of_sample={"protect": SAMPLE_PROTECT, "attacks": SAMPLE_ATTACKS},
    together=_one_release,
)

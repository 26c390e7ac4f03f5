"""Settings of re-identification attacks."""

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

#: The method and the attacks of the example: an attack that is valid, and two that are not.
SAMPLE_METHOD = "rank-swapping:p=10"
SAMPLE_ATTACKS = ("intersection", "intersection:p=5", "nearest")
#: The guesses whose validity can be told.
LEAVES: "tuple[Leaves, ...]" = ("Beliefs", "Candidates")
#: As in `unveil.metrics.beliefs.file_level`, whose import would make a page wait for what it does not need.
MATCHINGS = 32_000
_ELSEWHERE = "Release made elsewhere"


def _protections() -> Choices:
    from unveil.protections import PROTECTIONS

    listed = ((name, each.summary) for name, each in PROTECTIONS.items() if each.on == "table")
    return (("", "None: release made elsewhere"), *listed)


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
    """Return the files and settings that do not make a question."""
    released, truth, identifier = request.path("released"), request.path("truth"), request.values["identifier"]
    if request.sample:
        named = "truth" if truth is not None else "identifier" if identifier else "released" if released else ""
        return [(named, f"{{{named}}} needs two tables. Give {{original}} and {{released}}")] if named else []
    if released is None:
        if truth is not None:
            return [("released", "{truth} needs a release. Give {released}, or remove the truth")]
        if not request.values["method"]:
            return [("released", "The release is missing. Give {released} after {original}, or {method} to make one")]
    elif (truth is None) == (not identifier):
        which = "are given twice" if identifier else "are missing"
        return [("truth", f"The true matches {which}. Give {{truth}} or {{identifier}}")]
    if not request.values["attacks"]:
        return [("attacks", "The attack is missing. Give {attacks}; 'unveil list attacks' shows the names")]
    return []


@dataclass(frozen=True, kw_only=True)
class _ReleaseFiles(Settings):
    """A release made elsewhere, and the true matches of its rows."""

    released: Any = setting(
        None,
        "Release made elsewhere",
        "The method above is then the one that made it, if known. It needs the true matches.",
        kind="table",
        fold=_ELSEWHERE,
        is_bare=True,
    )
    truth: Any = setting(
        None,
        "True match of each released row",
        "The columns released and original, with row numbers from 1; empty for a row without a match.",
        kind="table",
        fold=_ELSEWHERE,
        place="default",
    )
    identifier: str = setting(
        "",
        "Column that identifies people in both files",
        "It replaces the truth.",
        fold=_ELSEWHERE,
        option="--id",
        metavar="COLUMN",
        place="default",
        group="Columns",
    )


@dataclass(frozen=True, kw_only=True)
class ReidentifySettings(
    TableColumnSettings, HierarchySettings, TextFileSettings, LimitSettings, SeedSettings, _ReleaseFiles
):
    """The settings of re-identification attacks."""

    original: Any = setting(
        None,
        "Original data, one row per person",
        "CSV, Parquet, Excel, SPSS, Stata or SAS.",
        kind="table",
        required=True,
        is_bare=True,
    )
    method: Any = setting(
        "",
        "How the release is, or was, masked",
        "For a release made elsewhere: the stated method, which the file must be consistent with.",
        kind="thing",
        choices=_protections,
        read=_read_protection,
        alias="--protect",
        place="default",
        group="Method",
    )
    attacks: tuple[Any, ...] = setting(
        (),
        "Attack to run",
        "Several are compared.",
        help="Attack to run (repeatable)",
        kind="things",
        choices=_attacks,
        read=_read_attack,
        many=True,
        example="intersection\nnearest",
        option="--attack",
        place="default",
        group="Attack",
    )
    quasi_identifiers: tuple[str, ...] = setting(
        (),
        "Columns known, in order of learning",
        "Default: all columns.",
        kind="columns",
        example="age, income",
        fold=MORE,
        alias="--known",
        place="default",
        group="Columns",
    )
    max_pairs: int | None = setting(
        None,
        "Pairs of records in one linear program (default: 10,000)",
        "Of Definition 14, which decides whether a probability is valid; 10,000 pairs take about a second. Few cases "
        "need one.",
        least=0,
        fold=MORE,
        metavar="N",
        alias="--pairs",
        place="config",
        section="tuning",
    )
    samples: int = setting(
        MATCHINGS,
        "Random matchings for the file level",
        "For files that are too large for the exact method; 0 leaves the file level open.",
        least=0,
        fold=MORE,
        metavar="N",
        alias="--matchings",
        place="config",
        section="tuning",
    )


QUESTION = Question(
    name="reidentify",
    command=("reidentify",),
    title="Re-identification attacks",
    lead="How many masked records does an attack re-identify, and is the attack valid?",
    about=(
        "ORIGINAL has one row per person. Either the method makes the release, or RELEASED was made elsewhere and the "
        "method is the one that made it, as unveil, sdcMicro or ARX write it. The masking limits what an attack may "
        "claim: an attack that claims more is not valid. Without a method the validity stays unknown. Without files, "
        "the example is an election study with swapped ranks."
    ),
    tries=(
        "unveil reidentify people.csv --method rank-swapping:p=10 --attack intersection",
        "unveil reidentify people.csv --method mondrian:k=5 --attack bayes --attack nearest --quasi-identifiers age",
        "unveil reidentify people.csv masked.csv --truth truth.csv --attack nearest --limit attack_rate.high=0.1",
        "unveil reidentify people.csv masked.csv --truth truth.csv --method additive-noise:scale=0.2 --attack bayes",
        "unveil reidentify people.csv masked.csv --id key --method 'microaggregation(aggr=5)' --attack bayes",
    ),
    settings=ReidentifySettings.table(),
    sample="120 people of an election study, with swapped ranks.",
    of_sample={"method": SAMPLE_METHOD, "attacks": SAMPLE_ATTACKS},
    together=_one_release,
)

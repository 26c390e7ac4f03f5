"""Settings of the matching of pseudonyms with items."""

from dataclasses import dataclass
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, LimitSettings, Question, SeedSettings, setting

#: Figures that need to know the groups of items.
OF_GROUPS = ("group_found_share", "group_found_share.high")
#: Figures that need to know sets of items.
OF_SETS = ("set_found", "set_found.high")
#: Figures that do not need the truth, and those that are there only without it.
OF_NO_TRUTH = ("d", "d.low", "believed_share", "most_cracked_share")
ONLY_WITHOUT_TRUTH = ("believed_share", "most_cracked_share")


def _one_attack(request: Request) -> list[tuple[str, str]]:
    """Return which files do not make one attack and its truth."""
    if request.sample:
        return []
    holds = [name for name in ("matrix", "frequency_ranges", "matchings", "dataflow") if request.path(name) is not None]
    if not holds:
        must = "What the attacker knows is missing. Give {matrix}, {frequency_ranges}, {matchings} or {dataflow}"
        return [("matrix", f"{must}; or no file at all, for the example")]
    if len(holds) > 1:
        return [(holds[1], f"{{{holds[0]}}} and {{{holds[1]}}} exclude each other. Remove one")]
    beside = [name for name in ("transactions", "frequencies") if request.path(name) is not None]
    if holds == ["frequency_ranges"] and len(beside) != 1:
        which = "only one of {transactions} and {frequencies}" if beside else "{transactions} or {frequencies}"
        return [("frequencies" if beside else "transactions", f"{{frequency_ranges}} needs {which}. Give one of them")]
    if holds != ["frequency_ranges"] and beside:
        return [("frequency_ranges", f"{{{beside[0]}}} needs {{frequency_ranges}}. Add it")]
    if request.values["matched"] is not None and holds[0] in ("matchings", "dataflow"):
        return [("matched", f"{{matched}} needs a matrix or ranges: {{{holds[0]}}} matches every item. Remove it")]
    return [*_of_truth(request), *_of_limits(request)][:1]


def _of_truth(request: Request) -> list[tuple[str, str]]:
    """Return the settings that need the truth, where it is not given."""
    if request.path("truth") is not None:
        return []
    names = [name for name in ("equivalent", "sets") if request.path(name) is not None]
    return [(name, f"{{{name}}} needs the true pseudonyms. Add {{truth}}") for name in names]


def _of_limits(request: Request) -> list[tuple[str, str]]:
    """Return the limits on results that this run does not have."""
    wrong = []
    for name, _ in request.values["limits"]:
        if name in OF_GROUPS and request.path("equivalent") is None:
            wrong.append(("limits", f"The limit on {name} needs equivalent items. Add {{equivalent}}"))
        elif name in OF_SETS and request.path("sets") is None:
            wrong.append(("limits", f"The limit on {name} needs item sets. Add {{sets}}"))
        elif name in ONLY_WITHOUT_TRUTH and request.path("truth") is not None:
            wrong.append(("limits", f"The limit on {name} is for runs without the truth. Limit cracked_share instead"))
        elif name not in OF_NO_TRUTH and request.path("truth") is None:
            wrong.append(("limits", f"The limit on {name} needs the true pseudonyms. Add {{truth}}, or limit d"))
    return wrong


_ELSE = "Other knowledge of the attacker"


@dataclass(frozen=True, kw_only=True)
class MatchingSettings(LimitSettings, SeedSettings):
    """The settings of the question about matchings."""

    matrix: Any = setting(
        None,
        "Pseudonyms that the attacker considers for each item",
        "One row per item, one column per pseudonym, 0 or 1 or a weight: CSV, NPY, NPZ or Matrix Market. Rows and "
        "columns may differ in number.",
        kind="file",
        is_bare=True,
    )
    truth: Any = setting(
        None,
        "True pseudonym of each item",
        "The columns item and pseudonym; no row, or an empty pseudonym, for an item that has none. Without it the "
        "result is the number of matchings that remain, with bounds on the resolved pseudonyms.",
        kind="table",
        place="default",
    )
    equivalent: Any = setting(
        None,
        "Items that count as the same",
        "The columns item and group.",
        kind="table",
        alias="--groups",
    )
    sets: Any = setting(
        None,
        "Item sets to resolve together",
        "The columns set and item, a row for each item of each set. Sets may overlap.",
        kind="table",
    )
    frequency_ranges: Any = setting(
        None,
        "Known frequency range per item",
        "The columns item, low and high.",
        kind="table",
        fold=_ELSE,
        alias="--ranges",
        place="default",
    )
    transactions: Any = setting(
        None,
        "Released transactions",
        "The columns transaction and pseudonym. Needs the frequency ranges.",
        kind="table",
        fold=_ELSE,
        place="default",
    )
    frequencies: Any = setting(
        None,
        "Frequency of each pseudonym",
        "The columns pseudonym and frequency. Needs the frequency ranges, and replaces the transactions.",
        kind="table",
        fold=_ELSE,
        place="default",
    )
    matchings: Any = setting(
        None,
        "Weighted matchings",
        "A column for each item that holds its pseudonym, and the column probability.",
        kind="table",
        fold=_ELSE,
    )
    dataflow: Any = setting(
        None,
        "Mix network",
        "CSV with node, input, output (and chance), or TOML.",
        kind="file",
        fold=_ELSE,
    )
    also: tuple[Any, ...] = setting(
        (),
        "Further releases with the same pseudonyms",
        "Files of the same type as the first. The attacker has them all.",
        kind="tables",
        fold=MORE,
        place="default",
    )
    matched: int | None = setting(
        None,
        "Number of matched items",
        "Default: as many as possible; 4 for 5 items and 4 pseudonyms.",
        least=1,
        fold=MORE,
        metavar="N",
        alias="--pairs",
    )
    rel_error: float = setting(
        0.01,
        "Relative standard error",
        "Of the expected number of resolved pseudonyms; a tenth of it for d. Only for matrices too large for exact "
        "methods: 0.002 takes about 25 times as long as 0.01.",
        least=0.0001,
        most=1,
        fold=MORE,
        alias="--precision",
    )
    top: int = setting(
        10,
        "Items to list",
        least=0,
        only="command line",
        front_end=True,
        metavar="N",
        place="default",
        group="Output",
    )


QUESTION = Question(
    name="matching",
    command=("matching",),
    title="Matching attacks and degree of anonymity",
    lead="How many pseudonyms does an attacker resolve?",
    settings=MatchingSettings.table(),
    about=(
        "Each item of the original data (a diagnosis, a product) is replaced by a pseudonym. MATRIX states which "
        "pseudonyms the attacker considers for each item (0 or 1), or with which weight. Known frequencies of items "
        "may replace it. Without files, the example is a hospital unit."
    ),
    tries=(
        "unveil matching matrix.csv --truth truth.csv --html report.html",
        "unveil matching --frequency-ranges ranges.csv --transactions released.csv --truth truth.csv",
        "unveil matching matrix.csv --truth truth.csv --limit cracked_share.high=0.1 --limit d=0.8",
        "unveil matching matrix.csv",
        "unveil matching first.csv --also second.csv --truth truth.csv --sets sets.csv",
    ),
    sample="A hospital unit that releases diagnoses under pseudonyms.",
    together=_one_attack,
)

"""What can be asked about tokens that stand for entries."""

from dataclasses import dataclass
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, LimitSettings, Question, SeedSettings, setting

#: Figures that need to know the groups of entries.
OF_GROUPS = ("group_found_share", "group_found_share.high")
#: Figures that need to know sets of entries.
OF_SETS = ("set_found", "set_found.high")
#: Figures that do not need the truth, and those that are there only without it.
OF_NO_TRUTH = ("d", "d.low", "believed_share", "most_cracked_share")
ONLY_WITHOUT_TRUTH = ("believed_share", "most_cracked_share")


def _one_attack(request: Request) -> list[tuple[str, str]]:
    """Return which files do not make one attack and its truth."""
    if request.sample:
        return []
    holds = [name for name in ("matrix", "ranges", "matchings", "dataflow") if request.path(name) is not None]
    if not holds:
        must = "what the adversary holds must be named: {matrix}, {ranges}, {matchings} or {dataflow}"
        return [("matrix", f"{must} (or no file at all, for the example)")]
    if len(holds) > 1:
        return [(holds[1], f"{{{holds[0]}}} and {{{holds[1]}}} both say what the adversary holds. Name one")]
    beside = [name for name in ("transactions", "frequencies") if request.path(name) is not None]
    if holds == ["ranges"] and len(beside) != 1:
        which = "either {transactions} or {frequencies}, not both" if beside else "also {transactions} or {frequencies}"
        return [("frequencies" if beside else "transactions", f"{{ranges}} needs {which}. Name one")]
    if holds != ["ranges"] and beside:
        return [("ranges", f"{{{beside[0]}}} needs {{ranges}}. Add it")]
    if request.values["pairs"] is not None and holds[0] in ("matchings", "dataflow"):
        return [
            ("pairs", f"{{pairs}} needs a matrix or ranges: {{{holds[0]}}} gives every entry a token. Leave it out")
        ]
    return [*_of_truth(request), *_of_limits(request)][:1]


def _of_truth(request: Request) -> list[tuple[str, str]]:
    """Return what was told that needs the truth, where that was not told."""
    if request.path("truth") is not None:
        return []
    names = [name for name in ("groups", "sets") if request.path(name) is not None]
    return [
        (name, f"{{{name}}} needs {{truth}}: a group or a set is found by its true tokens. Add it") for name in names
    ]


def _of_limits(request: Request) -> list[tuple[str, str]]:
    """Return the limits that nothing will be found for."""
    wrong = []
    for name, _ in request.values["limits"]:
        if name in OF_GROUPS and request.path("groups") is None:
            wrong.append(("limits", f"{name} needs to know the groups of entries. Add {{groups}}"))
        elif name in OF_SETS and request.path("sets") is None:
            wrong.append(("limits", f"{name} needs to know sets of entries. Add {{sets}}"))
        elif name in ONLY_WITHOUT_TRUTH and request.path("truth") is not None:
            wrong.append(("limits", f"{name} is for when the truth is not told. Limit cracked_share instead"))
        elif name not in OF_NO_TRUTH and request.path("truth") is None:
            wrong.append(("limits", f"{name} is counted against the truth. Add {{truth}}, or limit d"))
    return wrong


_ELSE = "Other ways to say what the adversary holds"


@dataclass(frozen=True, kw_only=True)
class MatchingSettings(LimitSettings, SeedSettings):
    """The settings of the question about matchings."""

    matrix: Any = setting(
        None,
        "Which token the adversary holds possible for which entry",
        "One row for each entry, one column for each token, 0 or 1 or how likely: CSV, NPY, NPZ or Matrix "
        "Market. There may be more rows than columns, or fewer. Or one of the other ways folded below.",
        kind="file",
        is_bare=True,
    )
    truth: Any = setting(
        None,
        "The true token of each entry",
        "The columns entry and token; no row, or an empty token, for an entry that has none. Without this "
        "file it is said how many matchings are left, and how many entries may be cracked at least and at most.",
        kind="table",
    )
    groups: Any = setting(
        None,
        "Entries that are as bad to mistake for one another",
        "If there are such: the columns entry and group.",
        kind="table",
    )
    sets: Any = setting(
        None,
        "Sets of entries to find as a whole",
        "If there are such: the columns set and entry, a row for each entry of each set. Sets may overlap.",
        kind="table",
    )
    ranges: Any = setting(
        None, "How often each entry is known to occur", "The columns entry, low and high.", kind="table", fold=_ELSE
    )
    transactions: Any = setting(
        None,
        "The released transactions",
        "The columns transaction and token. Beside the ranges.",
        kind="table",
        fold=_ELSE,
    )
    frequencies: Any = setting(
        None,
        "How often each token occurs",
        "The columns token and frequency. Beside the ranges, instead of transactions.",
        kind="table",
        fold=_ELSE,
    )
    matchings: Any = setting(
        None,
        "Whole matchings",
        "A column for each entry that holds the token, and the column probability.",
        kind="table",
        fold=_ELSE,
    )
    dataflow: Any = setting(
        None,
        "A network of randomizing nodes",
        "CSV with node, input, output (and chance), or TOML.",
        kind="file",
        fold=_ELSE,
    )
    also: tuple[Any, ...] = setting(
        (),
        "Further releases under the same tokens",
        "Files of the same kind as the first: matrices, transactions or frequencies beside the same ranges, "
        "matchings, or networks. The adversary has them all.",
        kind="tables",
        fold=MORE,
    )
    pairs: int | None = setting(
        None,
        "How many entries have a token",
        "As many as can be unless told: with 5 entries and 4 tokens, 4.",
        least=1,
        fold=MORE,
        metavar="N",
    )
    precision: float = setting(
        0.01,
        "How sharp sampled figures must be",
        "The standard error of the expected cracks, as a share of them; a tenth of it for d. Only where a "
        "matrix is too large for exact methods: 0.002 takes about 25 times as long as 0.01.",
        least=0.0001,
        most=1,
        fold=MORE,
    )
    top: int = setting(10, "Items to list", least=0, only="command line", front_end=True, metavar="N")


QUESTION = Question(
    name="matching",
    command=("matching",),
    title="Names replaced by tokens",
    lead="How many entries does an adversary give their true token?",
    settings=MatchingSettings.table(),
    about=(
        "Each entry of the original (a diagnosis, a product) was replaced by a token. MATRIX says which token the "
        "adversary holds possible for which entry (0 or 1), or how likely: one row per entry, one column per token, "
        "as CSV, NPY, NPZ or Matrix Market. Instead it may know how often entries occur (--ranges), which leaves "
        "those tokens that occur as often. Without --truth it is said how many matchings are left. Without files, the "
        "example is a hospital unit."
    ),
    tries=(
        "unveil matching",
        "unveil matching matrix.csv --truth truth.csv --html report.html",
        "unveil matching --ranges ranges.csv --transactions released.csv --truth truth.csv",
        "unveil matching matrix.csv --truth truth.csv --limit cracked_share.high=0.1 --limit d=0.8",
        "unveil matching matrix.csv",
        "unveil matching first.csv --also second.csv --truth truth.csv --sets sets.csv",
    ),
    sample="A hospital unit that releases diagnoses under other names.",
    together=_one_attack,
)

"""What can be asked about tokens that stand for entries."""

from unveil.ask.settings import Question, Setting, limits_setting, seed_setting
from unveil.ask.told import Told

#: Figures that need to know the groups of entries.
OF_GROUPS = ("group_found_share", "group_found_share.high")


def _one_attack(told: Told) -> list[tuple[str, str]]:
    """Return which files do not make one attack and its truth."""
    if told.sample:
        return []
    holds = [name for name in ("matrix", "ranges", "matchings", "dataflow") if told.path(name) is not None]
    if not holds:
        must = "what the adversary holds must be named: {matrix}, {ranges}, {matchings} or {dataflow}"
        return [("matrix", f"{must} (or no file at all, for the example)")]
    if len(holds) > 1:
        return [(holds[1], f"{{{holds[0]}}} and {{{holds[1]}}} both say what the adversary holds. Name one")]
    beside = [name for name in ("transactions", "frequencies") if told.path(name) is not None]
    if holds == ["ranges"] and len(beside) != 1:
        which = "either {transactions} or {frequencies}, not both" if beside else "also {transactions} or {frequencies}"
        return [("frequencies" if beside else "transactions", f"{{ranges}} needs {which}. Name one")]
    if holds != ["ranges"] and beside:
        return [("ranges", f"{{{beside[0]}}} needs {{ranges}}. Add it")]
    wrong = [name for name, _ in told.values["limits"] if name in OF_GROUPS and told.path("groups") is None]
    return [("limits", f"{name} needs to know the groups of entries. Add {{groups}}") for name in wrong[:1]]


_ELSE = "Other ways to say what the adversary holds"

QUESTION = Question(
    name="matching",
    command=("matching",),
    title="Names replaced by tokens",
    lead="How many entries does an adversary give their true token?",
    settings=(
        Setting(
            name="matrix",
            label="Which token the adversary holds possible for which entry",
            kind="file",
            words="One row for each entry, one column for each token, 0 or 1 or how likely: CSV, NPY, NPZ or Matrix "
            "Market. Or one of the other ways folded below.",
            is_bare=True,
        ),
        Setting(
            name="truth",
            label="The true token of each entry",
            kind="table",
            words="The columns entry and token.",
            required=True,
        ),
        Setting(
            name="groups",
            label="Entries that are as bad to mistake for one another",
            kind="table",
            words="If there are such: the columns entry and group.",
        ),
        Setting(
            name="ranges",
            label="How often each entry is known to occur",
            kind="table",
            words="The columns entry, low and high.",
            fold=_ELSE,
        ),
        Setting(
            name="transactions",
            label="The released transactions",
            kind="table",
            words="The columns transaction and token. Beside the ranges.",
            fold=_ELSE,
        ),
        Setting(
            name="frequencies",
            label="How often each token occurs",
            kind="table",
            words="The columns token and frequency. Beside the ranges, instead of transactions.",
            fold=_ELSE,
        ),
        Setting(
            name="matchings",
            label="Whole matchings",
            kind="table",
            words="A column for each entry that holds the token, and the column probability.",
            fold=_ELSE,
        ),
        Setting(
            name="dataflow",
            label="A network of randomizing nodes",
            kind="file",
            words="CSV with node, input, output (and chance), or TOML.",
            fold=_ELSE,
        ),
        Setting(
            name="top",
            label="How many of the entries most at risk to print",
            kind="number",
            default=10,
            least=0,
            only="command line",
            metavar="N",
        ),
        limits_setting(),
        seed_setting(),
    ),
    about=(
        "Each entry of the original (a diagnosis, a product) was replaced by a token. MATRIX says which token the "
        "adversary holds possible for which entry (0 or 1), or how likely: one row per entry, one column per token, "
        "as CSV, NPY, NPZ or Matrix Market. Instead it may know how often entries occur (--ranges), which leaves "
        "those tokens that occur as often. Without files, the example is a hospital unit."
    ),
    tries=(
        "unveil matching",
        "unveil matching matrix.csv --truth truth.csv --html report.html",
        "unveil matching --ranges ranges.csv --transactions released.csv --truth truth.csv",
        "unveil matching matrix.csv --truth truth.csv --limit cracked_share.high=0.1 --limit d=0.8",
    ),
    sample="A hospital unit that releases diagnoses under other names.",
    together=_one_attack,
)

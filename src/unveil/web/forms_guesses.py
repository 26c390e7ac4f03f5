"""The forms for what an adversary believes of each record: candidates, and tokens for entries."""

from collections.abc import Mapping
from typing import Any

from unveil.web.fields import MORE, Choices, Field, Form, column_name, limits_field, seed_field


def _of_candidates() -> Mapping[str, str]:
    from unveil.show.metrics import quantity_meanings as meanings

    return meanings()


def _of_matching() -> Mapping[str, str]:
    from unveil.ask.matching.view import meanings

    return meanings()


def _metrics() -> Choices:
    from unveil.measure import METRICS

    return tuple((name, name.replace("_", " ")) for name, each in METRICS.items() if each.on == "Candidates")


def _limits_on_truth(files: frozenset[str], values: Mapping[str, Any]) -> dict[str, str]:
    from unveil.measure import METRICS

    if values["sample"] or "truth" in files:
        return {}
    wrong = [name for name, _ in values["limits"] if METRICS[name].needs_truth]
    return {"limits": f"{wrong[0]} compares with the truth. Drop the file with the truth"} if wrong else {}


def _matching_files(files: frozenset[str], values: Mapping[str, Any]) -> dict[str, str]:
    """Say which files do not make one attack and its truth."""
    if values["sample"]:
        return {}
    told = [name for name in ("matrix", "ranges", "matchings", "dataflow") if name in files]
    if not told:
        return {"matrix": "A file must say what the adversary holds. Drop one here, or one of the others folded below"}
    if len(told) > 1:
        return {told[1]: "Only one file may say what the adversary holds. Remove this one, or the other"}
    beside = [name for name in ("transactions", "frequencies") if name in files]
    if told == ["ranges"] and not beside:
        return {"transactions": "Ranges need the released transactions, or how often each token occurs. Drop either"}
    if told == ["ranges"] and len(beside) > 1:
        return {"frequencies": "Transactions or frequencies: one of the two is enough. Remove one"}
    if told != ["ranges"] and beside:
        return {"ranges": "The file about tokens needs the ranges of the entries. Drop them here"}
    from unveil.ask.matching.view import OF_GROUPS

    wrong = [name for name, _ in values["limits"] if name in OF_GROUPS and "groups" not in files]
    return {"limits": f"{wrong[0]} needs to know the groups of entries. Drop the file with them"} if wrong else {}


CANDIDATES = Form(
    question="candidates",
    title="Candidates for each record",
    lead="How much does an adversary know about each record, and how often is it right?",
    fields=(
        Field(
            name="guess",
            label="What the adversary believes",
            kind="table",
            help="The columns target, candidate and probability: for each released record who it could be, and how "
            "probable that is.",
            required=True,
        ),
        Field(
            name="truth",
            label="Who it truly is",
            kind="table",
            help="The columns target and candidate. Without it nobody can say how often the adversary is right.",
            option="--truth",
        ),
        Field(
            name="normalise",
            label="Probabilities are scores of any size: divide them by their sum",
            kind="switch",
            default=False,
            fold=MORE,
            option="--normalise",
        ),
        Field(
            name="drop_unmatched",
            label="Leave out targets that the truth does not name, instead of refusing",
            kind="switch",
            default=False,
            fold=MORE,
            option="--drop-unmatched",
        ),
        column_name("target", "Column that names the targets", "target"),
        column_name("candidate", "Column that names the candidates", "candidate"),
        column_name("probability", "Column with the probabilities", "probability"),
        Field(
            name="metrics",
            label="Metrics to show",
            kind="several",
            choices=_metrics,
            default=(),
            help="Where none is chosen, all are shown.",
            fold=MORE,
            option="--metric",
        ),
        limits_field(),
        seed_field(" Nothing is drawn here; it is only noted in the report."),
    ),
    sample="Made-up records, and an adversary who is right about half of them.",
    command=("candidates",),
    command_of_sample=("--sample",),
    meanings=_of_candidates,
    together=_limits_on_truth,
)

_ELSE = "Other ways to say what the adversary holds"

MATCHING = Form(
    question="matching",
    title="Names replaced by tokens",
    lead="How many entries does an adversary give their true token?",
    fields=(
        Field(
            name="matrix",
            label="Which token the adversary holds possible for which entry",
            kind="file",
            help="One row for each entry, one column for each token, 0 or 1 or how likely: CSV, NPY, NPZ or Matrix "
            "Market. Or one of the other ways folded below.",
        ),
        Field(
            name="truth",
            label="The true token of each entry",
            kind="table",
            help="The columns entry and token.",
            required=True,
            option="--truth",
        ),
        Field(
            name="groups",
            label="Entries that are as bad to mistake for one another",
            kind="table",
            help="If there are such: the columns entry and group.",
            option="--groups",
        ),
        Field(
            name="ranges",
            label="How often each entry is known to occur",
            kind="table",
            help="The columns entry, low and high.",
            fold=_ELSE,
            option="--ranges",
        ),
        Field(
            name="transactions",
            label="The released transactions",
            kind="table",
            help="The columns transaction and token. Beside the ranges.",
            fold=_ELSE,
            option="--transactions",
        ),
        Field(
            name="frequencies",
            label="How often each token occurs",
            kind="table",
            help="The columns token and frequency. Beside the ranges, instead of transactions.",
            fold=_ELSE,
            option="--frequencies",
        ),
        Field(
            name="matchings",
            label="Whole matchings",
            kind="table",
            help="A column for each entry that holds the token, and the column probability.",
            fold=_ELSE,
            option="--matchings",
        ),
        Field(
            name="dataflow",
            label="A network of randomizing nodes",
            kind="file",
            help="CSV with node, input, output (and chance), or TOML.",
            fold=_ELSE,
            option="--dataflow",
        ),
        limits_field(),
        seed_field(),
    ),
    sample="A hospital unit that releases diagnoses under other names.",
    command=("matching",),
    meanings=_of_matching,
    together=_matching_files,
)

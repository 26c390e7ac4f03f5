"""Settings of the unlinkability of the items of each subject."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, LimitSettings, Question, SeedSettings, setting


def _drawn_or_held(request: Request) -> list[tuple[str, str]]:
    """Return the conflict of random partitions with a prior."""
    if request.values["draws"] is not None and request.files.get("prior"):
        return [("draws", "{draws} and {prior} exclude each other. Remove one")]
    return []


@dataclass(frozen=True, kw_only=True)
class PartitionSettings(LimitSettings, SeedSettings):
    """The settings of the question about partitions."""

    truth: Any = setting(
        None,
        "True partition: the subject of each item",
        "The columns item and cluster: the subject (cluster) of each item (a purchase, a record).",
        kind="table",
        required=True,
        is_bare=True,
    )
    guesses: tuple[Any, ...] = setting(
        (),
        "Attacker's partition",
        "The same columns for the same items. An uncertain attacker has several files, each with a probability.",
        kind="tables",
        metavar="GUESS",
        required=True,
        is_bare=True,
    )
    probabilities: tuple[Any, ...] = setting(
        None,
        "Probability",
        "As 0.7 or 2/3; for all files or for none.",
        kind="share",
        beside="guesses",
        metavar="P",
    )
    alpha: Fraction = setting(
        "1/2",
        "α: weight of miss vs. include errors",
        "0: only include errors count; 1: only miss errors count.",
        objects=True,
        place="default",
        metavar="SHARE",
    )
    beta: Fraction = setting(
        "4/5",
        "β: share of items that counts as a breach",
        objects=True,
        place="default",
        metavar="SHARE",
    )
    contamination_desirable: bool = setting(False, "Include errors count as protection", fold=MORE, objects=True)
    policy: Any = setting(
        None,
        "α and β per subject",
        "The columns subject and any of alpha, beta, contamination_desirable.",
        kind="table",
        fold=MORE,
        place="default",
        group="Settings",
    )
    weights: Any = setting(
        None,
        "Sensitivity of items",
        "The columns item,weight or subject,item,weight; weights from 0 to 1.",
        kind="table",
        fold=MORE,
        place="default",
        group="Settings",
    )
    norm: str = setting(
        "weight",
        "Unit of shares",
        kind="choice",
        choices=lambda: (("weight", "shares of weights"), ("literal", "shares of numbers of items")),
        fold=MORE,
        place="config",
        section="tuning",
    )
    at_breach: str = setting(
        "nan",
        "Risk slope of a breached subject",
        kind="choice",
        choices=lambda: (("nan", "undefined"), ("limit", "the limit slope of a vertical rise")),
        fold=MORE,
        place="config",
        section="tuning",
    )
    mixing: str = setting(
        "items",
        "Unit of include errors",
        "The paper counts items. Ten items of ten subjects mix a cluster more than ten items of one.",
        kind="choice",
        choices=lambda: (
            ("items", "items of other subjects"),
            ("others", "other subjects"),
            ("even", "effective number of other subjects"),
        ),
        names={"subjects": "others", "effective": "even"},
        fold=MORE,
        place="config",
        section="tuning",
    )
    overall_alpha: Fraction | None = setting(
        None,
        "α of the overall risk slope (default: mean over subjects)",
        fold=MORE,
        place="config",
        section="tuning",
    )
    overall_beta: Fraction | None = setting(
        None,
        "β of the overall risk slope (default: mean over subjects)",
        fold=MORE,
        place="config",
        section="tuning",
    )
    subject: str = setting(
        "",
        "Subject to plot (default: highest risk slope)",
        fold=MORE,
        metavar="NAME",
        objects=True,
        place="default",
        group="Output",
    )
    baseline: str = setting(
        "uniform",
        "Random partitions: uniform or sizes",
        kind="choice",
        choices=lambda: (
            ("uniform", "every partition of the items is equally likely"),
            ("growing", "clusters grow item by item; an item starts a new cluster with probability 1/2"),
            ("sizes", "the attacker's cluster sizes, with items assigned at random"),
        ),
        fold=MORE,
        alias="--guessing",
    )
    draws: int | None = setting(
        None,
        "Random partitions to draw (default: 200)",
        "Fewer for more than 1,000 items.",
        least=1,
        most=10_000,
        fold=MORE,
        metavar="N",
    )
    prior: Any = setting(
        (),
        "Attacker's prior partition",
        "The same columns for the same items. It replaces the random partitions as the baseline.",
        kind="tables",
        fold=MORE,
        metavar="FILE",
    )
    prior_probabilities: tuple[Any, ...] = setting(
        None,
        "Probability",
        "For all files or for none.",
        kind="share",
        beside="prior",
        metavar="P",
    )
    merge_order: str = setting(
        "pairs",
        "Clusters that merge next",
        "The order in which evidence is likely to merge clusters, for the forecast.",
        kind="choice",
        choices=lambda: (
            ("pairs", "clusters with more items of the subject first"),
            ("any", "all clusters equally likely"),
            ("cheapest", "the fewest merges first, as in the paper"),
        ),
        fold=MORE,
        alias="--linkage",
        metavar="ORDER",
    )
    merge_rates: Any = setting(
        None,
        "Rate at which evidence merges two clusters",
        "The columns cluster, other and rate, for pairs of the attacker's clusters. It replaces the merge order.",
        kind="table",
        fold=MORE,
        alias="--links",
        group="Settings",
    )
    split_odds: float = setting(
        1.0,
        "Odds of a split against a merge of two items",
        "0: clusters are never split, as in the paper.",
        least=0,
        fold=MORE,
        metavar="ODDS",
        alias="--split",
    )
    item_column: str = setting(
        "item",
        "Column of items",
        fold=MORE,
        metavar="COLUMN",
        alias="--item",
        group="Input",
    )
    cluster_column: str = setting(
        "cluster",
        "Column of clusters",
        fold=MORE,
        metavar="COLUMN",
        alias="--cluster",
        group="Input",
    )
    drop_unmatched: bool = setting(False, "Ignore items missing from a file", fold=MORE, group="Input")
    adversary: str = setting(
        "careful",
        "Attacker of the example",
        "Only for the built-in example.",
        kind="choice",
        choices=lambda: (("careful", "careful"), ("bold", "bold")),
        fold=MORE,
        is_bare=True,
    )
    top: int = setting(
        10,
        "Subjects to list",
        least=0,
        only="command line",
        front_end=True,
        metavar="N",
        place="default",
        group="Output",
    )


QUESTION = Question(
    name="unlinkability",
    command=("unlinkability",),
    title="Unlinkability",
    lead="How well do the items of each subject stay unlinked?",
    settings=PartitionSettings.table(),
    about=(
        "TRUTH and each GUESS are CSV or Parquet files with the columns item and cluster. An uncertain attacker has "
        "several guesses, each with its probability (GUESS=PROBABILITY; equal if none is given)."
    ),
    tries=(
        "unveil unlinkability truth.csv guess.csv --html report.html",
        "unveil unlinkability --example",
        "unveil unlinkability truth.csv likely.csv=2/3 unlikely.csv=1/3 --limit breached_share=0.1",
        "unveil unlinkability truth.csv guess.csv --subject Alice --baseline sizes",
        "unveil unlinkability truth.csv guess.csv --baseline growing --draws 1000",
    ),
    sample="A few shapes of four people, and an attacker who has linked some of them.",
    sample_by_default=False,
    sample_of="adversary",
    of_sample={"beta": "9/10"},
    together=_drawn_or_held,
)

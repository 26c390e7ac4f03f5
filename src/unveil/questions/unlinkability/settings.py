"""What can be asked about what an adversary thinks belongs together."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, LimitSettings, Question, SeedSettings, setting


def _drawn_or_held(request: Request) -> list[tuple[str, str]]:
    """Return what contradicts a prior: nothing is drawn where the adversary held one."""
    if request.values["draws"] is not None and request.files.get("prior"):
        return [("draws", "{draws} needs random guesses, but {prior} takes their place. Leave one out")]
    return []


@dataclass(frozen=True, kw_only=True)
class PartitionSettings(LimitSettings, SeedSettings):
    """The settings of the question about partitions."""

    truth: Any = setting(
        None,
        "What truly belongs together",
        "Two columns, item and cluster: which item (a purchase, a record) belongs to which person.",
        kind="table",
        required=True,
        is_bare=True,
    )
    guesses: tuple[Any, ...] = setting(
        (),
        "What the adversary thinks",
        "The same two columns for the same items. An adversary who is not sure has several such files.",
        kind="tables",
        metavar="GUESS",
        required=True,
        is_bare=True,
    )
    probabilities: tuple[Any, ...] = setting(
        None,
        "Probability",
        "How likely the adversary thinks this one is, as 0.7 or 2/3; for all files or for none.",
        kind="share",
        beside="guesses",
        metavar="PROBABILITY",
    )
    alpha: Fraction = setting(
        "1/2",
        "Alpha: how much missed items matter against foreign ones",
        "From 0 (only foreign ones matter) to 1 (only missed ones). The report has a slider for it too.",
        objects=True,
    )
    beta: Fraction = setting(
        "4/5",
        "Beta: the share of a person's items that must not get linked",
        "From 0 to 1. The report has a slider for it too.",
        objects=True,
    )
    contamination_desirable: bool = setting(False, "People like foreign items in their group", fold=MORE, objects=True)
    policy: Any = setting(
        None,
        "What single people care about",
        "The columns subject and any of alpha, beta, contamination_desirable.",
        kind="table",
        fold=MORE,
    )
    weights: Any = setting(
        None,
        "How sensitive items are",
        "The columns item,weight or subject,item,weight; weights from 0 to 1.",
        kind="table",
        fold=MORE,
    )
    norm: str = setting(
        "weight",
        "Shares are",
        kind="choice",
        choices=lambda: (("weight", "of weights"), ("literal", "of numbers of items")),
        fold=MORE,
    )
    at_breach: str = setting(
        "nan",
        "Risk slope of somebody who is already linked",
        kind="choice",
        choices=lambda: (("nan", "undefined"), ("limit", "the limit of a vertical rise")),
        fold=MORE,
    )
    mixing: str = setting(
        "items",
        "What is mixed in is counted by",
        "The paper counts items. Ten items of ten people blur more than ten of one.",
        kind="choice",
        choices=lambda: (
            ("items", "foreign items"),
            ("others", "other people"),
            ("even", "other people, as far as they have items alike"),
        ),
        fold=MORE,
    )
    overall_alpha: Fraction | None = setting(
        None, "Alpha of the overall risk slope", "The mean over people unless given.", fold=MORE
    )
    overall_beta: Fraction | None = setting(
        None, "Beta of the overall risk slope", "The mean over people unless given.", fold=MORE
    )
    subject: str = setting(
        "",
        "The person whose graphs are shown",
        "Its name in the truth; the one with the steepest risk slope unless given.",
        fold=MORE,
        metavar="NAME",
        objects=True,
    )
    guessing: str = setting(
        "uniform",
        "Guessing, to compare with",
        kind="choice",
        choices=lambda: (
            ("uniform", "every way to divide the items alike"),
            ("growing", "groups that grow item by item, a coin deciding if one starts a new group"),
            ("sizes", "groups of the adversary's sizes, with items dealt out anew"),
        ),
        fold=MORE,
    )
    draws: int | None = setting(
        None,
        "How many random guesses to compare with",
        "200 unless given, fewer beyond 1,000 items.",
        least=1,
        most=10_000,
        fold=MORE,
        metavar="N",
    )
    prior: Any = setting(
        (),
        "What the adversary held before",
        "The same two columns for the same items: it takes the place of guessing.",
        kind="tables",
        fold=MORE,
        metavar="FILE",
    )
    prior_probabilities: tuple[Any, ...] = setting(
        None,
        "Probability",
        "How likely the adversary thought this one was; for all files or for none.",
        kind="share",
        beside="prior",
        metavar="PROBABILITY",
    )
    linkage: str = setting(
        "pairs",
        "Which groups evidence is likely to link next",
        "For the forecast of what the adversary may learn.",
        kind="choice",
        choices=lambda: (
            ("pairs", "those with more of the person's items"),
            ("any", "all of them alike"),
            ("cheapest", "the cheapest first, as in the paper"),
        ),
        fold=MORE,
    )
    links: Any = setting(
        None,
        "How likely evidence links two groups",
        "The columns cluster, other and rate: pairs of the adversary's groups. It takes the place of --linkage.",
        kind="table",
        fold=MORE,
    )
    split: float = setting(
        1.0,
        "How likely evidence parts two items against linking two",
        "0 means that nothing is ever parted, as in the paper.",
        least=0,
        fold=MORE,
        metavar="ODDS",
    )
    item: str = setting("item", "Column that names the items", fold=MORE, metavar="COLUMN")
    cluster: str = setting("cluster", "Column that names the groups", fold=MORE, metavar="COLUMN")
    drop_unmatched: bool = setting(False, "Leave out items that are not in every file, instead of refusing", fold=MORE)
    adversary: str = setting(
        "careful",
        "Adversary of the example",
        "Only for the example inside unveil.",
        kind="choice",
        choices=lambda: (("careful", "careful"), ("bold", "bold")),
        fold=MORE,
        is_bare=True,
    )
    top: int = setting(10, "Subjects to list", least=0, only="command line", front_end=True, metavar="N")


QUESTION = Question(
    name="partition",
    command=("partition",),
    title="Groups an adversary has made",
    lead="How well is each person hidden in what an adversary thinks belongs together?",
    settings=PartitionSettings.table(),
    about=(
        "TRUTH and each GUESS are CSV or Parquet files with the columns item and cluster. An adversary who is not "
        "sure has several guesses, each with its probability (GUESS=PROBABILITY; equal if none is given)."
    ),
    tries=(
        "unveil partition --sample",
        "unveil partition truth.csv guess.csv --html report.html",
        "unveil partition truth.csv likely.csv=2/3 unlikely.csv=1/3 --limit breached_share=0.1",
        "unveil partition truth.csv guess.csv --subject Alice --guessing sizes",
        "unveil partition truth.csv guess.csv --guessing growing --draws 1000",
    ),
    sample="A few shapes that belong to four people, and an adversary who has put some of them together.",
    sample_by_default=False,
    sample_of="adversary",
    of_sample={"beta": "9/10"},
    together=_drawn_or_held,
)

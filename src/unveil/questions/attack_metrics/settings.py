"""Settings of the metrics of an attack."""

from dataclasses import dataclass
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import MORE, Choices, LimitSettings, Question, SeedSettings, setting


def _metrics() -> Choices:
    from unveil.metrics import METRICS

    usual = (name for name, each in METRICS.items() if each.on == "Candidates" and each.usual)
    return tuple((name, name.replace("_", " ")) for name in usual)


def _limits_on_truth(request: Request) -> list[tuple[str, str]]:
    from unveil.metrics import METRICS

    if request.sample or request.path("truth") is not None:
        return []
    wrong = [name for name, _ in request.values["limits"] if METRICS[name].needs_truth]
    return [("limits", f"The limit on {name} needs the true candidates. Add {{truth}}") for name in wrong[:1]]


@dataclass(frozen=True, kw_only=True)
class CandidatesSettings(LimitSettings, SeedSettings):
    """The settings of the metrics of an attack."""

    guess: Any = setting(
        None,
        "Output of an attack",
        "The columns target, candidate and probability: the original records that may belong to each released one.",
        kind="table",
        required=True,
        is_bare=True,
    )
    truth: Any = setting(
        None,
        "True candidate of each target",
        "The columns target and candidate. Accuracy needs it.",
        kind="table",
        place="default",
    )
    normalize: bool = setting(
        False,
        "Divide scores by their sum",
        fold=MORE,
        option="--normalize",
        alias="--normalise",
        place="default",
        group="Input",
    )
    drop_unmatched: bool = setting(False, "Ignore targets missing from the truth", fold=MORE, group="Input")
    target_column: str = setting(
        "target",
        "Column of targets",
        fold=MORE,
        metavar="COLUMN",
        alias="--target",
        group="Input",
    )
    candidate_column: str = setting(
        "candidate",
        "Column of candidates",
        fold=MORE,
        metavar="COLUMN",
        alias="--candidate",
        group="Input",
    )
    probability_column: str = setting(
        "probability",
        "Column of probabilities",
        fold=MORE,
        metavar="COLUMN",
        alias="--probability",
        group="Input",
    )
    metrics: tuple[str, ...] = setting(
        (),
        "Metrics to show (default: all)",
        "'unveil list metrics' shows the names.",
        kind="several",
        choices=_metrics,
        fold=MORE,
        option="--metric",
        place="default",
        group="Output",
    )
    seed: int = SeedSettings.declared("seed", words="Noted in the report; no metric is random.", front_end=True)


QUESTION = Question(
    name="attack_metrics",
    command=("attack-metrics",),
    title="Metrics of an attack",
    lead="How uncertain is an attacker about each target, and how often correct?",
    settings=CandidatesSettings.table(),
    about=(
        "GUESS is the output of an attack, as CSV or Parquet with the columns target, candidate and "
        "probability. Targets are released records or nodes, candidates are original ones. Targets that only "
        "the truth names were not attempted."
    ),
    tries=(
        "unveil attack-metrics guess.csv --truth truth.csv --html report.html",
        "unveil attack-metrics --example",
        "unveil attack-metrics guess.csv --truth truth.csv --limit adversary_overall_success=0.1",
        "unveil attack-metrics guess.csv --metric entropy --limit entropy=3",
    ),
    sample="Generated records, and an attacker who is correct for about half of them.",
    sample_by_default=False,
    together=_limits_on_truth,
)

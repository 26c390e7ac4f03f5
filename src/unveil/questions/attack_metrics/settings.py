"""What can be asked about the candidates that an adversary holds for each target."""

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
    return [("limits", f"{name} compares with the truth, but none was given. Add {{truth}}") for name in wrong[:1]]


@dataclass(frozen=True, kw_only=True)
class CandidatesSettings(LimitSettings, SeedSettings):
    """The settings of the question about candidates."""

    guess: Any = setting(
        None,
        "What the adversary believes",
        "The columns target, candidate and probability: for each released record who it could be, and how probable "
        "that is.",
        kind="table",
        required=True,
        is_bare=True,
    )
    truth: Any = setting(
        None,
        "Who it truly is",
        "The columns target and candidate. Without it nobody can say how often the adversary is right.",
        kind="table",
    )
    normalise: bool = setting(False, "Probabilities are scores of any size: divide them by their sum", fold=MORE)
    drop_unmatched: bool = setting(
        False, "Leave out targets that the truth does not name, instead of refusing", fold=MORE
    )
    target: str = setting("target", "Column that names the targets", fold=MORE, metavar="COLUMN")
    candidate: str = setting("candidate", "Column that names the candidates", fold=MORE, metavar="COLUMN")
    probability: str = setting("probability", "Column with the probabilities", fold=MORE, metavar="COLUMN")
    metrics: tuple[str, ...] = setting(
        (),
        "Metrics to show",
        "Where none is chosen, all are shown. 'unveil list metrics' shows the names.",
        kind="several",
        choices=_metrics,
        fold=MORE,
        option="--metric",
    )
    seed: int = SeedSettings.declared(
        "seed",
        words="The same seed and the same files give the same answer. Nothing is drawn here; it is only noted in the "
        "report.",
        front_end=True,
    )


QUESTION = Question(
    name="candidates",
    command=("candidates",),
    title="Candidates for each record",
    lead="How much does an adversary know about each record, and how often is it right?",
    settings=CandidatesSettings.table(),
    about=(
        "GUESS says what an adversary believes after any attack: for each target (a released record or node) its "
        "candidates (original ones) and how probable each is. It is a CSV or Parquet file with the columns target, "
        "candidate and probability. Targets that only the truth names were not attempted."
    ),
    tries=(
        "unveil candidates --sample",
        "unveil candidates guess.csv --truth truth.csv --html report.html",
        "unveil candidates guess.csv --truth truth.csv --limit adversary_overall_success=0.1",
        "unveil candidates guess.csv --metric entropy --limit entropy=3",
    ),
    sample="Made-up records, and an adversary who is right about half of them.",
    sample_by_default=False,
    together=_limits_on_truth,
)

"""What can be asked about the candidates that an adversary holds for each target."""

from unveil.questions.request import Request
from unveil.questions.settings import MORE, Choices, Question, Setting, column_name, limits_setting, seed_setting


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


QUESTION = Question(
    name="candidates",
    command=("candidates",),
    title="Candidates for each record",
    lead="How much does an adversary know about each record, and how often is it right?",
    settings=(
        Setting(
            name="guess",
            label="What the adversary believes",
            kind="table",
            words="The columns target, candidate and probability: for each released record who it could be, and how "
            "probable that is.",
            required=True,
            is_bare=True,
        ),
        Setting(
            name="truth",
            label="Who it truly is",
            kind="table",
            words="The columns target and candidate. Without it nobody can say how often the adversary is right.",
        ),
        Setting(
            name="normalise",
            label="Probabilities are scores of any size: divide them by their sum",
            kind="switch",
            default=False,
            fold=MORE,
        ),
        Setting(
            name="drop_unmatched",
            label="Leave out targets that the truth does not name, instead of refusing",
            kind="switch",
            default=False,
            fold=MORE,
        ),
        column_name("target", "Column that names the targets"),
        column_name("candidate", "Column that names the candidates"),
        column_name("probability", "Column with the probabilities"),
        Setting(
            name="metrics",
            label="Metrics to show",
            kind="several",
            choices=_metrics,
            default=(),
            words="Where none is chosen, all are shown. 'unveil list metrics' shows the names.",
            fold=MORE,
            option="--metric",
        ),
        limits_setting(),
        seed_setting(" Nothing is drawn here; it is only noted in the report."),
    ),
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

"""What can be asked about the trust that metrics deserve."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from unveil.questions.settings import MORE, Choices, LimitSettings, Question, SeedSettings, setting


def _needs() -> Choices:
    from unveil.grades.needs import NEEDS

    meanings = {
        "chance": "the adversary's chance of success",
        "level": "the level of single targets",
        "resources": "what the adversary still needs",
        "aspects": "two aspects of privacy or more",
    }
    return tuple((need, meanings[need]) for need in NEEDS)


@dataclass(frozen=True, kw_only=True)
class GradesSettings(LimitSettings, SeedSettings):
    """The settings of the question about grades of metrics."""

    folder: tuple[Path, ...] = setting(
        (),
        "Folders of studies on this machine",
        "Each was named after --out when the study was run, one per line. Several are graded together. They "
        "are only read.",
        kind="folder",
        metavar="DIR...",
        required=True,
        many=True,
        example="/home/me/studies/quick",
        is_bare=True,
    )
    suites: tuple[Any, ...] = setting(
        (),
        "Suites of metrics to grade too",
        "With weights that sum to 1.",
        many=True,
        metavar="NAME:METRIC=WEIGHT,...",
        example="mine:entropy=0.5,pearson_correlation=0.5",
        fold=MORE,
        option="--suite",
        objects=True,
    )
    suite_needs: tuple[str, ...] = setting(
        (),
        "What suites must tell that are searched for",
        "Criteria that others ask of privacy metrics; 'unveil list metrics' shows which metric ticks which.",
        kind="several",
        choices=_needs,
        fold=MORE,
    )
    details: tuple[str, ...] = setting(
        (),
        "Metrics to show level by level",
        "In the cases whose data, protection, attack and axis hold all words after the sign @. Three that "
        "tell something unless given.",
        many=True,
        metavar="METRIC[@WORDS]",
        example="pearson_correlation@NS",
        fold=MORE,
        option="--detail",
    )
    of: str = setting(
        "both",
        "What is graded",
        "A study keeps one mean over targets per replication, and sketches of the values of single targets. "
        "Monotonicity and verdicts come from means unless nodes alone are asked for; metrics of a whole release "
        "have means only.",
        kind="choice",
        choices=lambda: (
            ("both", "means, and evenness and range of nodes beside them"),
            ("means", "means alone"),
            ("nodes", "values of nodes"),
        ),
        fold=MORE,
    )
    case: str = setting(
        "",
        "A case to show with all scores of a suite and its metrics",
        "Words of its data, protection, attack and axis, as in Table 8 of Zhao and Wagner.",
        metavar="WORDS",
        example="elections,hrg-dp,JLSB",
        fold=MORE,
    )
    significance: Fraction = setting("0.05", "A change is significant if the p value of its test is below", fold=MORE)
    strict: bool = setting(False, "Count changes in the wrong direction even where they are not significant", fold=MORE)
    latex: Path | None = setting(None, "Write the tables to FILE, for a paper", kind="output", only="command line")


QUESTION = Question(
    name="grades",
    command=("grade-metrics",),
    title="Grades of the metrics in a study",
    lead="Which privacy numbers can be trusted, judged by the results of studies?",
    settings=GradesSettings.table(),
    about=(
        "A metric deserves trust if it shows less privacy whenever the adversary is stronger. Each metric in the "
        "results of the studies in DIR (made by 'unveil study run') gets three scores between 0 and 1: monotonicity "
        "(does it follow the adversary's strength?), evenness (do its values tell things apart?) and shared value "
        "range (can cases be compared?). Suites combine several metrics. Several studies are graded together."
    ),
    tries=(
        "unveil grade-metrics results",
        "unveil grade-metrics results --html grades.html --latex grades.tex",
        "unveil grade-metrics results --detail pearson_correlation@manufacturing,NS",
        "unveil grade-metrics results --of nodes",
        "unveil grade-metrics results --case elections,hrg-dp,JLSB",
        "unveil grade-metrics results --suite mine:entropy=0.5,pearson_correlation=0.5",
        "unveil grade-metrics results --suite-needs chance,resources",
        "unveil grade-metrics results --limit share_monotonic_best_suite=0.8",
    ),
    sample_by_default=False,
    sample="A very small study of the generated graph, computed on the spot in a few seconds.",
)

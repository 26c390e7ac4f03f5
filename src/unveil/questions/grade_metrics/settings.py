"""Settings of the grades of privacy metrics."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from unveil.questions.settings import MORE, Choices, LimitSettings, Question, SeedSettings, setting


def _needs() -> Choices:
    from unveil.grades.needs import NEEDS

    meanings = {
        "chance": "the attacker's chance of success",
        "level": "the level of single targets",
        "resources": "the resources that the attacker still needs",
        "aspects": "two aspects of privacy or more",
    }
    return tuple((need, meanings[need]) for need in NEEDS)


@dataclass(frozen=True, kw_only=True)
class GradesSettings(LimitSettings, SeedSettings):
    """The settings of the grades of privacy metrics."""

    folder: tuple[Path, ...] = setting(
        (),
        "Folders of studies",
        "The folders that 'unveil study run' wrote, one per line. Several are graded together. They are only read.",
        kind="folder",
        metavar="DIR...",
        required=True,
        many=True,
        example="/home/me/studies/quick",
        is_bare=True,
    )
    suites: tuple[Any, ...] = setting(
        (),
        "Metric suites to grade too",
        "With weights that sum to 1.",
        many=True,
        metavar="NAME:METRIC=WEIGHT,...",
        example="mine:entropy=0.5,pearson_correlation=0.5",
        fold=MORE,
        option="--suite",
        objects=True,
        place="default",
    )
    criteria: tuple[str, ...] = setting(
        (),
        "Criteria for suites: chance, level, resources, aspects",
        "unveil searches for suites that meet them; 'unveil list metrics' shows the criteria of each metric.",
        kind="several",
        choices=_needs,
        fold=MORE,
        alias="--suite-needs",
        place="default",
    )
    details: tuple[str, ...] = setting(
        (),
        "Metrics to show level by level",
        "In the cases whose data, protection, attack and strength contain all words after the sign @. Default: three "
        "metrics.",
        many=True,
        metavar="METRIC[@WORDS]",
        example="pearson_correlation@NS",
        fold=MORE,
        option="--detail",
        place="default",
        group="Output",
    )
    unit: str = setting(
        "both",
        "Graded values: means, targets, or both",
        "A study stores one mean over targets per replication, and sketches of the values of single targets. "
        "Monotonicity and reliability use the means, unless only targets are graded; metrics of a whole release have "
        "means only.",
        kind="choice",
        choices=lambda: (
            ("both", "means, with evenness and range of the targets"),
            ("means", "means only"),
            ("nodes", "values of single targets"),
        ),
        names={"targets": "nodes"},
        fold=MORE,
        alias="--of",
        place="default",
    )
    case: str = setting(
        "",
        "Case to show with all scores of a suite",
        "Words of its data, protection, attack and strength, as in Table 8 of Zhao and Wagner.",
        metavar="WORDS",
        example="elections,hrg-dp,JLSB",
        fold=MORE,
        place="default",
        group="Output",
    )
    interactions: int = setting(
        1,
        "Factors that a term of the model multiplies at most",
        "2 also looks for pairs of factors that act together, such as a metric and an attack.",
        least=1,
        most=2,
        fold=MORE,
        place="all",
    )
    significance: Fraction = setting("0.05", "Test level", fold=MORE, place="default", metavar="SHARE")
    strict: bool = setting(False, "Count changes that are not significant too", fold=MORE, place="default")
    latex: Path | None = setting(None, "Write the tables as LaTeX", kind="output", only="command line", place="default")
    config: Any = LimitSettings.declared("config", place="all")


QUESTION = Question(
    name="grades",
    command=("grade-metrics",),
    title="Reliability of privacy metrics",
    lead="Which privacy metrics rank attacks correctly?",
    settings=GradesSettings.table(),
    about=(
        "A reliable metric shows less privacy for a stronger attacker. Each metric in the results of the studies in "
        "DIR (from 'unveil study run') gets three scores between 0 and 1: monotonicity, evenness and shared value "
        "range. Suites combine several metrics. Several studies are graded together."
    ),
    tries=(
        "unveil grade-metrics results --html grades.html --latex grades.tex",
        "unveil grade-metrics results --detail pearson_correlation@manufacturing,NS",
        "unveil grade-metrics results --unit targets",
        "unveil grade-metrics results --interactions 2",
        "unveil grade-metrics results --case elections,hrg-dp,JLSB",
        "unveil grade-metrics results --suite mine:entropy=0.5,pearson_correlation=0.5",
        "unveil grade-metrics results --criteria chance,resources",
        "unveil grade-metrics results --limit share_monotonic_best_suite=0.8",
    ),
    sample_by_default=False,
    sample="A very small study of the generated graph, computed in a few seconds.",
)

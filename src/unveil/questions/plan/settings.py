"""Settings of the plan of an audit."""

from dataclasses import dataclass

from unveil.questions.settings import MORE, LimitSettings, Question, setting

#: The fewest attempts that an audit tests. Not imported from the metrics: help loads no numpy.
FEWEST_PEOPLE = 20
#: Larger audits take minutes to plan and show every leak that matters.
MOST_PEOPLE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class PlanSettings(LimitSettings):
    """The settings of the plan of an audit."""

    people: int | None = setting(
        None,
        "People in the data",
        "The number of people who are attacked.",
        required=True,
        least=FEWEST_PEOPLE,
        most=MOST_PEOPLE,
        example="300",
        place="default",
    )
    control: int | None = setting(
        None,
        "People in the control group",
        "Similar people outside the original data.",
        required=True,
        least=FEWEST_PEOPLE,
        most=MOST_PEOPLE,
        example="300",
        place="default",
    )
    threshold: float | None = setting(
        None,
        "Largest acceptable excess risk, such as 0.09",
        "Excess risk is the number of extra people per 100 that the release exposes: 0.09 is 9 per 100.",
        required=True,
        least=0.001,
        most=1,
        metavar="VALUE",
        example="0.09",
        place="default",
        group="Decision",
    )
    attackers: int = setting(
        10,
        "Attackers that are compared with the threshold",
        "Each attack counts once for each set of columns that its attacker knows.",
        least=1,
        most=1_000,
        fold=MORE,
        place="default",
    )
    baseline: float = setting(
        0.5,
        "Success rate on the control group",
        "0.5 is the hardest case.",
        least=0,
        most=1,
        metavar="SHARE",
        fold=MORE,
        place="default",
    )
    correlation: float = setting(
        0.0,
        "Correlation between two attackers",
        "Of their results; 0 gives the smallest chance to pass.",
        least=0,
        most=0.99,
        metavar="SHARE",
        fold=MORE,
        place="default",
    )


QUESTION = Question(
    name="plan",
    command=("plan",),
    title="Plan an audit",
    lead="How many people does an audit need to pass a leak-free release, and to find a leak?",
    about=(
        "An audit of few people can neither pass a leak-free release nor find a small leak. The plan needs the sizes "
        "of the two tables and the threshold, but no data."
    ),
    tries=(
        "unveil plan --people 300 --control 300 --threshold 0.09",
        "unveil plan --people 1000 --control 500 --threshold 0.05 --attackers 4 --html plan.html",
        "unveil plan --people 1000 --control 1000 --threshold 0.09 --limit plan.pass_chance=0.8",
    ),
    settings=PlanSettings.table(),
    sample="300 people, 300 in the control group, and a threshold of 9%.",
    sample_by_default=False,
    of_sample={"people": 300, "control": 300, "threshold": 0.09},
)

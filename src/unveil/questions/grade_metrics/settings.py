"""What can be asked about the trust that metrics deserve."""

from unveil.questions.settings import MORE, Choices, Question, Setting, limits_setting, seed_setting


def _needs() -> Choices:
    from unveil.grades.needs import NEEDS

    meanings = {
        "chance": "the adversary's chance of success",
        "level": "the level of single targets",
        "resources": "what the adversary still needs",
        "aspects": "two aspects of privacy or more",
    }
    return tuple((need, meanings[need]) for need in NEEDS)


QUESTION = Question(
    name="grades",
    command=("grade-metrics",),
    title="Grades of the metrics in a study",
    lead="Which privacy numbers can be trusted, judged by the results of studies?",
    settings=(
        Setting(
            name="folder",
            label="Folders of studies on this machine",
            kind="folder",
            words="Each was named after --out when the study was run, one per line. Several are graded together. They "
            "are only read.",
            metavar="DIR...",
            required=True,
            many=True,
            example="/home/me/studies/quick",
            is_bare=True,
        ),
        Setting(
            name="suites",
            label="Suites of metrics to grade too",
            kind="texts",
            words="With weights that sum to 1.",
            many=True,
            default=(),
            metavar="NAME:METRIC=WEIGHT,...",
            example="mine:entropy=0.5,pearson_correlation=0.5",
            fold=MORE,
            option="--suite",
        ),
        Setting(
            name="suite_needs",
            label="What suites must tell that are searched for",
            kind="several",
            words="Criteria that others ask of privacy metrics; 'unveil list metrics' shows which metric ticks which.",
            default=(),
            choices=_needs,
            fold=MORE,
        ),
        Setting(
            name="details",
            label="Metrics to show level by level",
            kind="texts",
            words="In the cases whose data, protection, attack and axis hold all words after the sign @. Three that "
            "tell something unless given.",
            many=True,
            default=(),
            metavar="METRIC[@WORDS]",
            example="pearson_correlation@NS",
            fold=MORE,
            option="--detail",
        ),
        Setting(
            name="of",
            label="What is graded",
            kind="choice",
            words="A study keeps one mean over targets per replication, and sketches of the values of single targets. "
            "Monotonicity and verdicts come from means unless nodes alone are asked for; metrics of a whole release "
            "have means only.",
            default="both",
            choices=lambda: (
                ("both", "means, and evenness and range of nodes beside them"),
                ("means", "means alone"),
                ("nodes", "values of nodes"),
            ),
            fold=MORE,
        ),
        Setting(
            name="case",
            label="A case to show with all scores of a suite and its metrics",
            kind="text",
            words="Words of its data, protection, attack and axis, as in Table 8 of Zhao and Wagner.",
            default="",
            metavar="WORDS",
            example="elections,hrg-dp,JLSB",
            fold=MORE,
        ),
        Setting(
            name="significance",
            label="A change is significant if the p value of its test is below",
            kind="share",
            default="0.05",
            fold=MORE,
        ),
        Setting(
            name="strict",
            label="Count changes in the wrong direction even where they are not significant",
            kind="switch",
            default=False,
            fold=MORE,
        ),
        Setting(
            name="latex",
            label="Write the tables to FILE, for a paper",
            kind="output",
            only="command line",
        ),
        limits_setting(),
        seed_setting(),
    ),
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

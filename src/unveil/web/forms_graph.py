"""The forms for graphs and for studies: an attacked graph, the results of a study, the grades of its metrics."""

from collections.abc import Mapping
from typing import Any

from unveil.web.fields import MORE, Choices, Field, Form, limits_field, seed_field

_ELSEWHERE = "The release was made elsewhere"
_MOST_REPETITIONS = 10_000
#: More nodes than any graph has that fits a machine.
_MOST_PAIRS = 10**18


def _meanings() -> Mapping[str, str]:
    from unveil.ask.graph.view import meanings

    return meanings()


def _protections() -> Choices:
    from unveil.protect import PROTECTIONS

    return tuple((name, each.summary) for name, each in PROTECTIONS.items() if each.on == "graph")


def _attacks() -> Choices:
    from unveil.attack import ATTACKS

    return tuple((name, each.summary) for name, each in ATTACKS.items() if each.on == "graph")


def _made_elsewhere(files: frozenset[str], values: Mapping[str, Any]) -> dict[str, str]:
    """Say what is missing for a release that was made elsewhere; one that is made here needs none of it."""
    if values["sample"] or not files & {"auxiliary", "truth", "pairs"}:
        return {}
    must = {
        "auxiliary": "A release made elsewhere needs the graph that the adversary knows. Drop it here",
        "truth": "A release made elsewhere needs the truth, to see what the adversary gets right. Drop it here",
    }
    return {name: text for name, text in must.items() if name not in files}


GRAPH = Form(
    question="graph",
    title="Attack a graph",
    lead="Who is found in a released graph, by somebody who knows a part of it?",
    fields=(
        Field(
            name="edges",
            label="The graph",
            kind="file",
            help="One connection per line: CSV with source,target, an edge list, or a KONECT file; also with gzip.",
            required=True,
        ),
        Field(
            name="protect",
            label="How the graph is protected before its release",
            kind="thing",
            choices=_protections,
            default="id-removal",
            option="--protect",
        ),
        Field(
            name="attack",
            label="How the adversary goes about it",
            kind="thing",
            choices=_attacks,
            default="narayanan-shmatikov",
            option="--attack",
        ),
        Field(
            name="seed_pairs",
            label="How many people the adversary knows beforehand",
            kind="number",
            default=50,
            least=0,
            most=_MOST_PAIRS,
            option="--seed-pairs",
        ),
        Field(
            name="overlap",
            label="The share of the connections that it knows",
            kind="share",
            default="0.85",
            option="--overlap",
        ),
        Field(
            name="repeat",
            label="How often all this is done",
            kind="number",
            help="Each time is drawn anew. From two on there are intervals.",
            default=1,
            least=1,
            most=_MOST_REPETITIONS,
            option="--repeat",
        ),
        Field(
            name="connected",
            label="What the adversary knows connects whatever the original does",
            kind="switch",
            default=False,
            fold=MORE,
            option="--connected",
        ),
        limits_field(),
        seed_field(),
        Field(
            name="auxiliary",
            label="The graph that the adversary knows",
            kind="file",
            help="Under true names. The graph above is then the release, attacked as it is; protection and share of "
            "connections do not apply.",
            fold=_ELSEWHERE,
            option="--auxiliary",
        ),
        Field(
            name="truth",
            label="Who the released nodes are",
            kind="table",
            help="The columns released and original (empty for nobody).",
            fold=_ELSEWHERE,
            option="--truth",
        ),
        Field(
            name="pairs",
            label="The pairs that the adversary knows",
            kind="table",
            help="The columns released and original. Without this file so many as said above are drawn.",
            fold=_ELSEWHERE,
            option="--seed-pairs",
        ),
    ),
    sample="A generated graph of about 1,000 nodes, in which nobody is real.",
    command=("graph",),
    meanings=_meanings,
    together=_made_elsewhere,
)

STUDY = Form(
    question="study",
    title="Results of a study",
    lead="What did a study find: how far do attacks get, as adversaries know more?",
    fields=(
        Field(
            name="folder",
            label="Folder of the study on this machine",
            kind="folder",
            help="The folder that was named after --out when the study was run. It is only read.",
            required=True,
            example="/home/me/studies/quick",
        ),
        Field(
            name="metrics",
            label="Metrics to show",
            kind="text",
            help="Names with commas between them, or the word all. Where none is named, the usual ones are shown.",
            fold=MORE,
            option="--metric",
        ),
    ),
    sample="A very small study of the generated graph, computed on the spot in a few seconds.",
    command=("study", "report"),
)


def _of_grades() -> Mapping[str, str]:
    from unveil.ask.grades.view import meanings

    return meanings()


GRADES = Form(
    question="grades",
    title="Grades of the metrics in a study",
    lead="Which privacy numbers can be trusted, judged by the results of studies?",
    fields=(
        Field(
            name="folder",
            label="Folders of studies on this machine",
            kind="folder",
            help="One per line: the folder that was named after --out when the study was run. Several are graded "
            "together. They are only read.",
            required=True,
            many=True,
            example="/home/me/studies/quick",
        ),
        Field(
            name="suites",
            label="Suites of metrics to grade too",
            kind="text",
            help="One per line, with weights that sum to 1.",
            many=True,
            example="mine:entropy=0.5,pearson_correlation=0.5",
            fold=MORE,
            option="--suite",
        ),
        Field(
            name="details",
            label="Metrics to show level by level",
            kind="text",
            help="One per line. Three that tell something unless given.",
            many=True,
            example="pearson_correlation@NS",
            fold=MORE,
            option="--detail",
        ),
        Field(
            name="significance",
            label="A change is significant if the p value of its test is below",
            kind="share",
            default="0.05",
            fold=MORE,
            option="--significance",
        ),
        Field(
            name="strict",
            label="Count changes in the wrong direction even where they are not significant",
            kind="switch",
            default=False,
            fold=MORE,
            option="--strict",
        ),
        limits_field(),
        seed_field(),
    ),
    sample="A very small study of the generated graph, computed on the spot in a few seconds.",
    command=("grade-metrics",),
    meanings=_of_grades,
)

FORMS = (GRAPH, STUDY, GRADES)

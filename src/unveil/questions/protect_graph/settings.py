"""Settings of the protection of a graph."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unveil.questions.settings import (
    LimitSettings,
    Question,
    SecretSeedSettings,
    SimpleGraphSettings,
    protection,
    setting,
)


@dataclass(frozen=True, kw_only=True)
class AnonymizeSettings(SimpleGraphSettings, LimitSettings, SecretSeedSettings):
    """The settings of the protection of a graph."""

    edges: Any = setting(
        None,
        "Graph, one edge per line",
        "CSV with source,target, an edge list, or a KONECT file; also with gzip.",
        kind="file",
        required=True,
        is_bare=True,
    )
    method: Any = protection(
        "graph",
        "k-degree",
        "Protection method",
        alias="--protect",
        place="default",
        group="Method",
    )
    out: Path | None = setting(
        None,
        "Write the released graph",
        "CSV with source,target.",
        kind="output",
        example="released.csv",
        only="command line",
        place="default",
    )
    write_truth: Path | None = setting(
        None,
        "Write the true node matches (internal)",
        "CSV with released,original: the original node of each released one.",
        kind="output",
        example="truth.csv",
        only="command line",
        alias="--truth",
        place="default",
    )
    undirected: bool = SimpleGraphSettings.declared("undirected", place="default")
    unweighted: bool = SimpleGraphSettings.declared("unweighted", place="default")


QUESTION = Question(
    name="protect_graph",
    command=("protect-graph",),
    title="Protect a graph",
    lead="What does a protection method change in a graph, and what utility is left?",
    about=(
        "EDGES has one edge per line: CSV with the columns source,target, a SNAP edge list, a KONECT file or archive, "
        "also with gzip. Loops and repeated edges are dropped, with a note. A file with directions or weights is "
        "refused unless they may be ignored. Without a file, the example is a generated graph of about 1,000 nodes."
    ),
    tries=(
        "unveil protect-graph edges.csv --method k-degree:k=5 --out released.csv",
        "unveil protect-graph edges.csv --method switch:share=0.1 --out released.csv --write-truth truth.csv",
        "unveil protect-graph edges.csv --method hrg-dp:epsilon=1 --html report.html",
        "unveil protect-graph edges.csv --method k-degree:k=5 --limit edge_difference=0.1",
    ),
    settings=AnonymizeSettings.table(),
    sample="A generated graph of about 1,000 nodes, without real people.",
    secret=True,
)

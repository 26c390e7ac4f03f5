"""What can be asked about the protection of a graph."""

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
    """The settings of the question about the protection of a graph."""

    edges: Any = setting(
        None,
        "The graph",
        "One connection per line: CSV with source,target, an edge list, or a KONECT file; also with gzip.",
        kind="file",
        required=True,
        is_bare=True,
    )
    protect: Any = protection("graph", "k-degree", "How the graph is protected")
    out: Path | None = setting(
        None, "Write the released graph: source,target", kind="output", example="released.csv", only="command line"
    )
    truth: Path | None = setting(
        None,
        "Write which original node each released one stands for: released,original",
        "Keep it to yourself.",
        kind="output",
        example="truth.csv",
        only="command line",
    )


QUESTION = Question(
    name="anonymize",
    command=("anonymize",),
    title="Protect a graph",
    lead="How is a graph protected before its release: what changes, and what is it still good for?",
    about=(
        "EDGES holds one edge per line: CSV with the columns source,target, an edge list as SNAP publishes them, a "
        "KONECT file or archive; gzip is undone. Loops and repeats are dropped, and that is said; a file with "
        "directions or weights is refused unless --undirected or --unweighted says that they may go. "
        "Without a file, the example is a generated graph of about 1,000 nodes."
    ),
    tries=(
        "unveil anonymize",
        "unveil anonymize edges.csv --protect switch:share=0.1 --out released.csv --truth truth.csv",
        "unveil anonymize edges.csv --protect hrg-dp:epsilon=1 --html report.html",
        "unveil anonymize edges.csv --protect k-degree:k=5 --limit edge_difference=0.1",
    ),
    settings=AnonymizeSettings.table(),
    sample="A generated graph of about 1,000 nodes, in which nobody is real.",
    secret=True,
)

"""What can be asked about a released graph."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unveil.questions.request import Request
from unveil.questions.settings import (
    MORE,
    Choices,
    LimitSettings,
    Question,
    SeedSettings,
    Settings,
    SimpleGraphSettings,
    protection,
    setting,
)

_ELSEWHERE = "The release was made elsewhere"
MOST_REPETITIONS = 10_000
#: More nodes than any graph has that fits a machine.
MOST_PAIRS = 10**18


def _attacks() -> Choices:
    from unveil.attacks import ATTACKS

    return tuple((name, each.summary) for name, each in ATTACKS.items() if each.on == "graph")


def _read_attack(text: str) -> object:
    from unveil.attacks import graph_attack_from

    return graph_attack_from(text)


#: Settings of a graph that is protected here, which is not done where the release was made elsewhere.
ONLY_HERE = ("protect", "overlap", "connected", "node_share")


def _made_elsewhere(request: Request) -> list[tuple[str, str]]:
    """Return what is missing or too much for a release that was made elsewhere, or for one that is made here."""
    elsewhere = [name for name in ("auxiliary", "truth", "pairs") if request.path(name) is not None]
    if request.sample:
        return [(elsewhere[0], f"{{{elsewhere[0]}}} needs the released graph. Name {{edges}}")] if elsewhere else []
    if not elsewhere:
        return []
    if "auxiliary" not in elsewhere:
        which = f"{{{elsewhere[0]}}} is for a release made elsewhere"
        return [("auxiliary", f"{which}. Add {{auxiliary}}, or leave it out")]
    drawn = [name for name in ONLY_HERE if name in request.explicit]
    if drawn:
        both = f"{{{drawn[0]}}} is for a graph that is protected here, and {{auxiliary}} for a release made elsewhere"
        return [(drawn[0], f"{both}. Leave out either")]
    if request.values["calibrate"] == "simulate":
        how = "{calibrate} can be simulate only where the graph is protected here"
        return [("calibrate", f"{how}. Choose seeds or none, or leave out {{auxiliary}}")]
    if "truth" not in elsewhere:
        return [("truth", "{auxiliary} needs {truth}, to see what the adversary gets right. Add it")]
    return []


@dataclass(frozen=True, kw_only=True)
class _ElsewhereSettings(Settings):
    """A release made elsewhere: what the adversary knows, and who is who."""

    auxiliary: Any = setting(
        None,
        "The graph that the adversary knows",
        "Under true names. The graph above is then the release, attacked as it is; protection and share of "
        "connections do not apply.",
        kind="file",
        fold=_ELSEWHERE,
    )
    truth: Any = setting(
        None,
        "Who the released nodes are",
        "The columns released and original (empty for nobody).",
        kind="table",
        fold=_ELSEWHERE,
    )
    pairs: Any = setting(
        None,
        "The pairs that the adversary knows",
        "The columns released and original. Without this file so many as said above are drawn.",
        kind="table",
        fold=_ELSEWHERE,
        only="page",
        option="--seed-pairs",
    )


@dataclass(frozen=True, kw_only=True)
class GraphSettings(SimpleGraphSettings, LimitSettings, SeedSettings, _ElsewhereSettings):
    """The settings of the question about an attacked graph."""

    edges: Any = setting(
        None,
        "The graph",
        "One connection per line: CSV with source,target, an edge list, or a KONECT file; also with gzip.",
        kind="file",
        required=True,
        is_bare=True,
    )
    protect: Any = protection("graph", "id-removal", "How the graph is protected before its release")
    attack: Any = setting(
        "narayanan-shmatikov", "How the adversary goes about it", kind="thing", choices=_attacks, read=_read_attack
    )
    seed_pairs: int = setting(
        50,
        "How many people the adversary knows beforehand",
        least=0,
        most=MOST_PAIRS,
        metavar="NUMBER|FILE",
        or_file="pairs",
    )
    overlap: Fraction = setting("0.85", "The share of the connections that it knows")
    repeat: int = setting(
        1,
        "How often all this is done",
        "Each time is drawn anew. From two on there are intervals.",
        least=1,
        most=MOST_REPETITIONS,
    )
    calibrate: str = setting(
        "none",
        "Whether the adversary learns what its scores are worth",
        "Every metric is then given for raw and for learned probabilities.",
        kind="choice",
        choices=lambda: (
            ("none", "No: scores over their sum"),
            ("simulate", "It protects and attacks the released graph once more"),
            ("seeds", "It keeps back some of the people it knows, five times"),
        ),
        fold=MORE,
    )
    connected: bool = setting(False, "What the adversary knows connects whatever the original does", fold=MORE)
    node_share: Fraction = setting(
        "1",
        "The share of the people that the adversary has heard of",
        "Others are released too, but cannot be found; to name somebody there is a false alarm.",
        fold=MORE,
    )
    attributes: Any = setting(
        None,
        "What is released about the nodes",
        "The column node and one for each attribute. What the adversary learns of them is measured; a column "
        "of many numbers is put into bands.",
        kind="table",
        fold=MORE,
    )


QUESTION = Question(
    name="graph",
    command=("graph",),
    title="Attack a graph",
    lead="Who is found in a released graph, by somebody who knows a part of it?",
    settings=GraphSettings.table(),
    about=(
        "EDGES is protected, released and attacked. The adversary has an auxiliary graph (a share of the original "
        "edges, under true names) and knows some of the released nodes; it looks for all others. Without a file, the "
        "example is a generated graph of about 1,000 nodes. With --auxiliary and --truth, EDGES is a release that was "
        "made elsewhere, and is attacked as it is."
    ),
    tries=(
        "unveil graph",
        "unveil graph edges.csv --protect k-degree:k=5 --attack ns --repeat 10 --html report.html",
        "unveil graph edges.csv --attack kl --calibrate simulate --repeat 3",
        "unveil graph edges.csv --attack mf --attributes nodes.csv",
        "unveil graph edges.csv --attack yg --seed-pairs 20 --limit adversary_overall_success=0.1",
        "unveil graph released.csv --auxiliary known.csv --seed-pairs pairs.csv --truth truth.csv",
    ),
    sample="A generated graph of about 1,000 nodes, in which nobody is real.",
    together=_made_elsewhere,
)

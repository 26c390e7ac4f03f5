"""Settings of the audit of a released graph."""

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

_ELSEWHERE = "Release made elsewhere"
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
ONLY_HERE = ("method", "edge_overlap", "keep_connected", "node_overlap")


def _made_elsewhere(request: Request) -> list[tuple[str, str]]:
    """Return missing or superfluous settings for a given or generated release."""
    elsewhere = [name for name in ("auxiliary", "truth", "pairs") if request.path(name) is not None]
    if request.sample:
        return [(elsewhere[0], f"{{{elsewhere[0]}}} needs the released graph. Give {{edges}}")] if elsewhere else []
    if not elsewhere:
        return []
    if "auxiliary" not in elsewhere:
        return [("auxiliary", f"{{{elsewhere[0]}}} needs the graph of the attacker. Add {{auxiliary}}, or remove it")]
    drawn = [name for name in ONLY_HERE if name in request.explicit]
    if drawn:
        return [(drawn[0], f"{{{drawn[0]}}} and {{auxiliary}} exclude each other. Remove one")]
    if request.values["calibrate"] == "simulate":
        how = "simulate ({calibrate}) and {auxiliary} exclude each other"
        return [("calibrate", f"{how}. Choose seeds or none, or remove {{auxiliary}}")]
    if "truth" not in elsewhere:
        return [("truth", "{auxiliary} needs the true matches. Add {truth}")]
    return []


@dataclass(frozen=True, kw_only=True)
class _ElsewhereSettings(Settings):
    """A release made elsewhere: the graph of the attacker, and the true matches."""

    auxiliary: Any = setting(
        None,
        "Auxiliary graph of the attacker",
        "With identities. The graph above is then the release and is attacked as it is; method and edge overlap do not "
        "apply.",
        kind="file",
        fold=_ELSEWHERE,
        place="default",
    )
    truth: Any = setting(
        None,
        "True match of each released node",
        "The columns released and original (empty for no match).",
        kind="table",
        fold=_ELSEWHERE,
        place="default",
    )
    pairs: Any = setting(
        None,
        "Seed pairs",
        "The columns released and original. Without this file they are drawn at random.",
        kind="table",
        fold=_ELSEWHERE,
        only="page",
        option="--seed-pairs",
        front_end=True,
    )


@dataclass(frozen=True, kw_only=True)
class GraphSettings(SimpleGraphSettings, LimitSettings, SeedSettings, _ElsewhereSettings):
    """The settings of the audit of a released graph."""

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
        "id-removal",
        "Protection method",
        alias="--protect",
        place="default",
        group="Method",
    )
    attack: Any = setting(
        "narayanan-shmatikov",
        "Attack",
        kind="thing",
        choices=_attacks,
        read=_read_attack,
        place="default",
        group="Attack",
    )
    seed_pairs: Any = setting(
        50,
        "Number or file of known pairs",
        kind="number",
        objects=True,
        least=0,
        most=MOST_PAIRS,
        metavar="N|FILE",
        or_file="pairs",
        place="default",
        group="Attack",
    )
    edge_overlap: Fraction = setting(
        "0.85",
        "Share of edges the attacker knows",
        alias="--overlap",
        place="default",
        group="Attack",
    )
    repeats: int = setting(
        1,
        "Independent repetitions",
        "Two or more give intervals.",
        least=1,
        most=MOST_REPETITIONS,
        alias="--repeat",
        place="default",
        group="Attack",
    )
    calibrate: str = setting(
        "none",
        "Calibrate scores: none, simulate, seeds",
        "Every metric is then given for raw and for calibrated probabilities.",
        kind="choice",
        choices=lambda: (
            ("none", "scores divided by their sum"),
            ("simulate", "the attacker protects and attacks the released graph again"),
            ("seeds", "the attacker holds out some seed pairs, five times"),
        ),
        fold=MORE,
        group="Attack",
    )
    keep_connected: bool = setting(
        False,
        "Keep the auxiliary graph connected",
        "Where the original graph is connected.",
        fold=MORE,
        alias="--connected",
        group="Attack",
    )
    node_overlap: Fraction = setting(
        "1",
        "Share of nodes in both graphs",
        "Other nodes are released too but have no match: to name one is an error.",
        fold=MORE,
        alias="--node-share",
        group="Attack",
    )
    attributes: Any = setting(
        None,
        "Node attributes",
        "The column node and one for each attribute, to measure attribute disclosure. Columns with many numbers are "
        "grouped.",
        kind="table",
        fold=MORE,
    )


QUESTION = Question(
    name="graph",
    command=("graph",),
    title="Audit a released graph",
    lead="How many nodes of a released graph does an attack re-identify?",
    settings=GraphSettings.table(),
    about=(
        "EDGES is protected, released and attacked. The attacker has an auxiliary graph (a share of the original "
        "edges, with identities) and some seed pairs, and matches all other nodes. Without a file, the example is a "
        "generated graph of about 1,000 nodes. With an auxiliary graph and the true matches, EDGES is a release made "
        "elsewhere and is attacked as it is."
    ),
    tries=(
        "unveil graph edges.csv --method k-degree:k=5 --attack ns --repeats 10 --html report.html",
        "unveil graph edges.csv --attack kl --calibrate simulate --repeats 3",
        "unveil graph edges.csv --attack mf --attributes nodes.csv",
        "unveil graph edges.csv --attack yg --seed-pairs 20 --limit adversary_overall_success=0.1",
        "unveil graph released.csv --auxiliary known.csv --seed-pairs pairs.csv --truth truth.csv",
    ),
    sample="A generated graph of about 1,000 nodes, without real people.",
    together=_made_elsewhere,
)

"""What can be asked about a released graph."""

from unveil.questions.request import Request
from unveil.questions.settings import (
    MORE,
    Choices,
    Question,
    Setting,
    limits_setting,
    seed_setting,
    simple_graph_settings,
)

_ELSEWHERE = "The release was made elsewhere"
MOST_REPETITIONS = 10_000
#: More nodes than any graph has that fits a machine.
MOST_PAIRS = 10**18


def _protections() -> Choices:
    from unveil.protections import PROTECTIONS

    return tuple((name, each.summary) for name, each in PROTECTIONS.items() if each.on == "graph")


def _attacks() -> Choices:
    from unveil.attacks import ATTACKS

    return tuple((name, each.summary) for name, each in ATTACKS.items() if each.on == "graph")


def _read_protection(text: str) -> object:
    from unveil.protections import graph_protection_from

    return graph_protection_from(text)


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


QUESTION = Question(
    name="graph",
    command=("graph",),
    title="Attack a graph",
    lead="Who is found in a released graph, by somebody who knows a part of it?",
    settings=(
        Setting(
            name="edges",
            label="The graph",
            kind="file",
            words="One connection per line: CSV with source,target, an edge list, or a KONECT file; also with gzip.",
            required=True,
            is_bare=True,
        ),
        Setting(
            name="protect",
            label="How the graph is protected before its release",
            kind="thing",
            choices=_protections,
            read=_read_protection,
            default="id-removal",
        ),
        Setting(
            name="attack",
            label="How the adversary goes about it",
            kind="thing",
            choices=_attacks,
            read=_read_attack,
            default="narayanan-shmatikov",
        ),
        Setting(
            name="seed_pairs",
            label="How many people the adversary knows beforehand",
            kind="number",
            default=50,
            least=0,
            most=MOST_PAIRS,
            metavar="NUMBER|FILE",
            or_file="pairs",
        ),
        Setting(
            name="overlap",
            label="The share of the connections that it knows",
            kind="share",
            default="0.85",
        ),
        Setting(
            name="repeat",
            label="How often all this is done",
            kind="number",
            words="Each time is drawn anew. From two on there are intervals.",
            default=1,
            least=1,
            most=MOST_REPETITIONS,
        ),
        Setting(
            name="calibrate",
            label="Whether the adversary learns what its scores are worth",
            kind="choice",
            words="Every metric is then given for raw and for learned probabilities.",
            choices=lambda: (
                ("none", "No: scores over their sum"),
                ("simulate", "It protects and attacks the released graph once more"),
                ("seeds", "It keeps back some of the people it knows, five times"),
            ),
            default="none",
            fold=MORE,
        ),
        Setting(
            name="connected",
            label="What the adversary knows connects whatever the original does",
            kind="switch",
            default=False,
            fold=MORE,
        ),
        Setting(
            name="node_share",
            label="The share of the people that the adversary has heard of",
            kind="share",
            words="Others are released too, but cannot be found; to name somebody there is a false alarm.",
            default="1",
            fold=MORE,
        ),
        Setting(
            name="attributes",
            label="What is released about the nodes",
            kind="table",
            words="The column node and one for each attribute. What the adversary learns of them is measured; a column "
            "of many numbers is put into bands.",
            fold=MORE,
        ),
        *simple_graph_settings(),
        limits_setting(),
        seed_setting(),
        Setting(
            name="auxiliary",
            label="The graph that the adversary knows",
            kind="file",
            words="Under true names. The graph above is then the release, attacked as it is; protection and share of "
            "connections do not apply.",
            fold=_ELSEWHERE,
        ),
        Setting(
            name="truth",
            label="Who the released nodes are",
            kind="table",
            words="The columns released and original (empty for nobody).",
            fold=_ELSEWHERE,
        ),
        Setting(
            name="pairs",
            label="The pairs that the adversary knows",
            kind="table",
            words="The columns released and original. Without this file so many as said above are drawn.",
            fold=_ELSEWHERE,
            only="page",
            option="--seed-pairs",
        ),
    ),
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

"""What can be asked about the protection of a graph."""

from unveil.questions.settings import Choices, Question, Setting, limits_setting, seed_setting, simple_graph_settings


def _protections() -> Choices:
    from unveil.protections import PROTECTIONS

    return tuple((name, each.summary) for name, each in PROTECTIONS.items() if each.on == "graph")


def _read_protection(text: str) -> object:
    from unveil.protections import graph_protection_from

    return graph_protection_from(text)


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
            label="How the graph is protected",
            kind="thing",
            choices=_protections,
            read=_read_protection,
            default="k-degree",
        ),
        Setting(
            name="out",
            label="Write the released graph: source,target",
            kind="output",
            example="released.csv",
            only="command line",
        ),
        Setting(
            name="truth",
            label="Write which original node each released one stands for: released,original",
            kind="output",
            example="truth.csv",
            words="Keep it to yourself.",
            only="command line",
        ),
        *simple_graph_settings(),
        limits_setting(),
        seed_setting(secret=True),
    ),
    sample="A generated graph of about 1,000 nodes, in which nobody is real.",
    secret=True,
)

"""What a protection did to a graph, in plain sentences: who is hidden by it, what it cost, and what to do next."""

from unveil.questions.protect_graph.findings import AnonymizeFindings
from unveil.report.text import count, significant

_UNIQUE = "unique by their number of neighbours"
#: So many of what changed most are named.
_MOST_LOST = 2


def headline(findings: AnonymizeFindings) -> str:
    """Return who was unique and is not any more, and what that cost, in one sentence."""
    before, nodes = findings.before.unique, findings.release.original.nodes
    of = f"of {count(nodes, 'node', 'nodes')}"
    if findings.hidden is None:
        return (
            f"{findings.protect} {_changed(findings)}: its nodes are nobody's, where {before:,} {of} "
            f"{'was' if before == 1 else 'were'} {_UNIQUE} before."
        )
    done = f"{findings.protect}, which {_changed(findings)}"
    if before == 0:
        return f"None {of} was {_UNIQUE} before {done}."
    were = "was" if before == 1 else "were"
    which = f"{before:,} nodes (of {nodes:,}) that {were} {_UNIQUE}"
    if findings.hidden == before:
        return f"{_all(before)} {of} that {were} {_UNIQUE} {'is' if before == 1 else 'are'} so no more after {done}."
    if findings.hidden == 0:
        still = (
            f"The only node (of {nodes:,}) that was unique by its number of neighbours is"
            if before == 1
            else f"The {which} are"
        )
        return f"{still} still so after {done}."
    return f"{findings.hidden:,} of the {which} {'is' if findings.hidden == 1 else 'are'} so no more after {done}."


def _all(number: int) -> str:
    return "The only one" if number == 1 else "Both" if number == 2 else f"All {number:,}"


def _changed(findings: AnonymizeFindings) -> str:
    """Return what happened to the edges and nodes."""
    release, (added, removed, _) = findings.release, findings.changes
    edges = release.original.edges
    if release.kind == "synthetic":
        what = f"drew a new graph of {count(release.released.edges, 'edge', 'edges')} in place of {edges:,}"
    elif added == removed == 0:
        what = f"kept {_edges(edges)} and only numbered the nodes at random"
    else:
        lost = f"removed {removed:,} of {count(edges, 'edge', 'edges')}" if removed else f"kept {_edges(edges)}"
        what = f"{lost} and added {added:,}" if added else lost
    pseudo = count(release.pseudo_nodes, "pseudo node", "pseudo nodes")
    return what + (f", with {pseudo} that stand for nobody" if release.pseudo_nodes else "")


def _edges(edges: int) -> str:
    return "the only edge" if edges == 1 else f"all {edges:,} edges"


def explanation(findings: AnonymizeFindings) -> tuple[str, ...]:
    """Return who is unique in the release, what was lost most, and what was spent."""
    said = []
    if findings.hidden is not None and findings.release.original.nodes:
        unique = findings.after.unique
        became = unique - (findings.before.unique - findings.hidden)
        were_not = "" if became <= 0 else f", {became:,} of which {'was' if became == 1 else 'were'} not before"
        said.append(
            f"In the release {count(unique, 'node is', 'nodes are')} unique{were_not}."
            if unique
            else "In the release every node shares its number of neighbours with "
            f"{count(findings.after.smallest_class - 1, 'other', 'others')} at least."
        )
    said += _lost(findings)
    if findings.release.ledger is not None:
        ledger = findings.release.ledger
        said.append(
            f"It spent {significant(ledger.total, digits=4)} of epsilon = {significant(ledger.epsilon, digits=4)}."
        )
    return tuple(said)


def _lost(findings: AnonymizeFindings) -> list[str]:
    known = sorted((each for each in findings.utility if each.value > 0), key=lambda each: -each.value)
    named = (f"{each.metric.name.replace('_', ' ')} {significant(each.value, digits=2)}" for each in known[:_MOST_LOST])
    return [f"Lost most (0 is nothing): {' and '.join(named)}."] if known else []


def next_steps(findings: AnonymizeFindings) -> tuple[str, ...]:
    """Return what to do before the graph is published."""
    steps = [
        f"See whom an adversary finds who knows more than numbers of neighbours: 'unveil graph EDGES --protect "
        f"{findings.protect} --attack NS'.",
        "Keep who is who to yourself: it undoes the release.",
    ]
    if findings.hidden is not None and findings.after.unique:
        steps.insert(0, "Hide the rest with another protection or setting: 'unveil list protections' names them.")
    return tuple(steps)

"""Who is found in a released graph, by an adversary who knows a part of it and some of the people?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unveil.attacks import GraphAttack, graph_attack_from
from unveil.data.graph.read import graph_from
from unveil.errors import InputError
from unveil.protections import GraphProtection, graph_protection_from, protection_text
from unveil.questions.answer import Answer, randomness
from unveil.questions.graph.attributes import attributes_from
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.graph.read import (
    Calibrate,
    check_repeat,
    checked_calibration,
    checked_pairs,
    checked_truth,
    read,
    read_made_elsewhere,
)
from unveil.questions.graph.run import run, run_made_elsewhere
from unveil.questions.graph.view import VIEW, brief
from unveil.questions.request import Request, Response
from unveil.report.progress import Progress, Say, silent, unsaid

#: What a release without any other protection is: names are gone, connections are all there.
UNPROTECTED = "id-removal"


def graph(
    original: Any,
    protect: str | GraphProtection | None = None,
    attack: str | GraphAttack = "ns",
    *,
    seed_pairs: int = 50,
    overlap: float = 0.85,
    connected: bool = False,
    node_share: float = 1.0,
    repeat: int = 1,
    calibrate: Calibrate = "none",
    attributes: Any = None,
    undirected: bool = False,
    unweighted: bool = False,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
    notes: Sequence[str] = (),
) -> Answer[GraphFindings]:
    """Return how many people an adversary finds in a graph after a protection.

    Each repetition makes a new release, draws new knowledge (which connections and which people the adversary knows)
    and attacks anew, with random numbers of its own. The first repetitions are the same however many there are, and
    release and knowledge are the same whatever the attack.

    Parameters
    ----------
    original
        A Graph, a file, a networkx or igraph graph, a scipy sparse matrix, or whatever
        :func:`unveil.data.graph_from` takes.
    protect
        The protection, or how it is written, such as ``k-degree:k=5``; None only takes the names away.
    attack
        The attack, or how it is written, such as ``ns`` or ``yg:theta=3``.
    seed_pairs, overlap, connected, node_share
        How many people the adversary knows in the release, the share of the original connections that it knows, and the
        share of the people that it has heard of; see :func:`unveil.data.draw_knowledge`.
    repeat
        How often all this is done, from 1 to 10,000; an interval needs two.
    calibrate
        Whether every metric is given for learned probabilities as well: "simulate" lets the adversary protect and
        attack the released graph once more (2 to 20 times per repetition), "seeds" keeps back a fifth of the seed pairs
        at a time, "none" does not; see :func:`unveil.attacks.graph.calibration.calibrate`.
    attributes
        Values that are released at nodes: any frame, list of dicts, mapping of columns, or a file. The column ``node``
        names nodes of the original, one row each, and every other column is looked at; numbers of more than ten
        different values are put into bands. None releases none.
    undirected, unweighted
        Whether a graph whose edges have directions, or weights, may be taken without them; else it is refused.
    rng
        Where chance comes from; unless given it starts from seed 0, and the answer says so.
    progress
        Called with the name of a step and the share of all work that is done.
    say
        Called with what a long attack is projected to take, before it begins.
    notes
        Sentences to carry into the report.

    Raises
    ------
    InputError
        If a setting is none, if the protection or the attack cannot work on the graph, or if nothing is left to find.

    Examples
    --------
    >>> from unveil.data import samples
    >>> answer = graph(samples.graph(), "switch:share=0.1")
    >>> answer.findings.graph, answer.findings.repetitions[0].matches.targets
    ((1000, 4622), 950)
    """
    check_repeat(repeat)
    rng, seed = randomness(rng)
    protection = graph_protection_from(protect or UNPROTECTED) if isinstance(protect, str | None) else protect
    attacker = graph_attack_from(attack) if isinstance(attack, str) else attack
    whole = graph_from(original).without(directions=undirected, weights=unweighted)
    findings = run(
        whole,
        protection,
        attacker,
        protect=protect.strip() if isinstance(protect, str) else protection_text(protection),
        seed_pairs=seed_pairs,
        overlap=overlap,
        connected=connected,
        node_share=node_share,
        repeat=repeat,
        calibration=checked_calibration(calibrate),
        attributes=None if attributes is None else attributes_from(attributes, whole),
        rng=rng,
        progress=progress,
        say=say,
        notes=notes,
    )
    return Answer(findings, VIEW, seed)


def graph_file(
    path: str | Path | None,
    protect: str | None = None,
    attack: str = "ns",
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
    **settings: Any,
) -> Answer[GraphFindings]:
    """Return who is found in the protected graph of a file, or of the generated graph inside unveil if there is none.

    Parameters
    ----------
    path
        The file with the edges, as :func:`unveil.data.read_graph` takes it; None takes the example.
    protect, attack, rng, progress, say, settings
        As in :func:`unveil.graph`.
    """
    inputs = read(path, protect, attack, progress=progress)
    return graph(*inputs, rng=rng, progress=progress, say=say, **settings)


def graph_made_elsewhere(
    released: Any,
    auxiliary: Any,
    seeds: int | ArrayLike,
    truth: ArrayLike,
    attack: str | GraphAttack = "ns",
    *,
    repeat: int = 1,
    calibrate: Calibrate = "none",
    attributes: Any = None,
    undirected: bool = False,
    unweighted: bool = False,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
    notes: Sequence[str] = (),
) -> Answer[GraphFindings]:
    """Return how many people an adversary finds in a release that was made elsewhere.

    The release and the auxiliary graph stay the same in each repetition. Where ``seeds`` is a number, so many pairs are
    drawn from the truth each time; where pairs are given, repetitions differ in nothing but what the attack draws.

    Parameters
    ----------
    released, auxiliary
        What was published, and what the adversary knows under true names: a Graph, a file, or whatever
        :func:`unveil.data.graph_from` takes.
    seeds
        One row per pair that the adversary knows, the number of the released and of the auxiliary node; or how many
        pairs to draw.
    truth
        For each released node the auxiliary one that it stands for, and a number from ``auxiliary.nodes`` on for
        somebody who is not in the auxiliary graph. -1 where it stands for nobody: an attempt on it is a failed one. -2
        where that is not known: the attack sees the node, but no figure counts it.
    attack, repeat, undirected, unweighted, rng, progress, say, notes
        As in :func:`unveil.graph`.
    calibrate
        "seeds" or "none" as there; how the release was protected is not known, so that it cannot be simulated.
    attributes
        As there, but with the names of released nodes: what was published of them.

    Raises
    ------
    InputError
        If seed pairs or the truth do not fit the graphs, or if the attack cannot work on them.

    Examples
    --------
    >>> from unveil.data.graph import Graph
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 5])
    >>> answer = graph_made_elsewhere(ring, ring, [[0, 0], [1, 1]], range(6))
    >>> answer.findings.repetitions[0].matches.correct
    4.0
    """
    check_repeat(repeat)
    rng, seed = randomness(rng)
    attacker = graph_attack_from(attack) if isinstance(attack, str) else attack
    if calibrate == "simulate":
        raise InputError(
            "a release made elsewhere cannot be made again, so calibrate must be 'seeds' or 'none' for it, but is "
            "'simulate'. Choose one of them"
        )
    seen, known = (
        graph_from(each).without(directions=undirected, weights=unweighted) for each in (released, auxiliary)
    )
    whose = checked_truth(truth, seen)
    findings = run_made_elsewhere(
        seen,
        known,
        int(seeds) if isinstance(seeds, (int, np.integer)) else checked_pairs(seeds, seen),
        whose,
        attacker,
        repeat=repeat,
        calibration=checked_calibration(calibrate),
        attributes=None if attributes is None else attributes_from(attributes, seen),
        rng=rng,
        progress=progress,
        say=say,
        notes=notes,
    )
    return Answer(findings, VIEW, seed)


def graph_made_elsewhere_files(
    released: str | Path,
    auxiliary: str | Path,
    seeds: int | str | Path,
    truth: str | Path,
    attack: str = "ns",
    *,
    repeat: int = 1,
    calibrate: Calibrate = "none",
    attributes: str | Path | None = None,
    undirected: bool = False,
    unweighted: bool = False,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
) -> Answer[GraphFindings]:
    """Return who is found in the released graph of a file, by an adversary who has the graph of another one.

    Parameters
    ----------
    released, auxiliary
        Files with edges, as :func:`unveil.data.read_graph` takes them.
    seeds
        CSV or Parquet with the columns ``released`` and ``original``: the pairs of nodes that the adversary knows. Or a
        number: so many are drawn from the truth in each repetition.
    truth
        CSV or Parquet with the columns ``released`` and ``original``; an empty original is a pseudo node. Originals
        that the auxiliary graph lacks can be named, but not found.
    attack, repeat, calibrate, attributes, undirected, unweighted, rng, progress, say
        As in :func:`graph_made_elsewhere`.
    """
    inputs = read_made_elsewhere(released, auxiliary, seeds, truth, attack, progress=progress)
    return graph_made_elsewhere(
        **inputs._asdict(),
        repeat=repeat,
        calibrate=calibrate,
        attributes=attributes,
        undirected=undirected,
        unweighted=unweighted,
        rng=rng,
        progress=progress,
        say=say,
    )


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
    values = request.values
    if request.path("auxiliary") is not None:
        answer = graph_made_elsewhere_files(
            request.required_path("edges"),
            request.required_path("auxiliary"),
            request.path("pairs") or values["seed_pairs"],
            request.required_path("truth"),
            values["attack"],
            **request.pick("repeat", "calibrate", "undirected", "unweighted"),
            attributes=request.path("attributes"),
            rng=request.rng,
            progress=request.progress,
            say=request.say,
        )
    else:
        answer = graph_file(
            request.path("edges"),
            values["protect"],
            values["attack"],
            **request.pick("seed_pairs", "connected", "repeat", "calibrate", "undirected", "unweighted"),
            overlap=float(values["overlap"]),
            node_share=float(values["node_share"]),
            attributes=request.path("attributes"),
            rng=request.rng,
            progress=request.progress,
            say=request.say,
        )
    return Response(answer=answer, brief=lambda: list(brief(answer.findings)))

"""Who is found in a released graph, by an adversary who knows a part of it and some of the people?"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.attacks import GraphAttack, graph_attack_from
from unveil.data.graph.read import graph_from
from unveil.protections import GraphProtection, graph_protection_from, protection_text
from unveil.questions.graph.findings import GraphFindings
from unveil.questions.graph.read import attributes_from, read_made_elsewhere
from unveil.questions.graph.run import run, run_made_elsewhere
from unveil.questions.graph.settings import GraphSettings
from unveil.questions.graph.view import VIEW
from unveil.questions.request import Request, Response
from unveil.questions.result import Result, randomness
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, Say, silent, unsaid


@takes_settings(GraphSettings)
def graph(
    original: Any,
    protect: str | GraphProtection | None = None,
    attack: str | GraphAttack | None = None,
    settings: GraphSettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Result[GraphFindings]:
    """Return how many people an adversary finds in a graph after a protection.

    Each repetition makes a new release, draws new knowledge (which connections and which people the adversary knows)
    and attacks anew, with random numbers of its own. The first repetitions are the same however many there are, and
    release and knowledge are the same whatever the attack. With ``auxiliary`` the graph is a release that was made
    elsewhere: it stays the same in each repetition, and only seed pairs that are not given are drawn anew.

    Parameters
    ----------
    original
        A Graph, a file, a networkx or igraph graph, a scipy sparse matrix, or whatever
        :func:`unveil.data.graph_from` takes.
    protect
        The protection, or how it is written, such as ``k-degree:k=5``; unless given only the names are taken away.
    attack
        The attack, or how it is written, such as ``ns`` or ``yg:theta=3``; Narayanan and Shmatikov's unless given.
    settings
        The settings below as one object; keywords change single ones. ``attributes`` may be any frame. ``auxiliary``
        is whatever ``original`` may be. ``pairs`` may be rows of a released and an auxiliary node. ``truth`` may be one
        auxiliary node for each released one: -1 for nobody (an attempt on it fails), -2 where it is not known (no
        figure counts it), and a number from ``auxiliary.nodes`` on for somebody who is not in the auxiliary graph.
    rng
        A source of randomness instead of ``seed``.
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
    given = {name: each for name, each in (("protect", protect), ("attack", attack)) if each is not None}
    asked = GraphSettings.merge(settings, {**changes, **given})
    rng, seed = randomness(rng, asked.seed)
    attacker = graph_attack_from(asked.attack) if isinstance(asked.attack, str) else asked.attack
    shared: dict[str, Any] = {"rng": rng, "progress": progress, "say": say}
    if asked.auxiliary is not None:
        seen, known, seeds, truth, more = read_made_elsewhere(original, asked)
        values = None if asked.attributes is None else attributes_from(asked.attributes, seen)
        found = run_made_elsewhere(
            seen, known, seeds, truth, attacker, asked, attributes=values, notes=(*notes, *more), **shared
        )
        return Result(found, VIEW, seed)
    protection = graph_protection_from(asked.protect) if isinstance(asked.protect, str) else asked.protect
    whole = graph_from(original).without(directions=asked.undirected, weights=asked.unweighted)
    found = run(
        whole,
        protection,
        attacker,
        asked,
        protect=asked.protect.strip() if isinstance(asked.protect, str) else protection_text(protection),
        attributes=None if asked.attributes is None else attributes_from(asked.attributes, whole),
        notes=notes,
        **shared,
    )
    return Result(found, VIEW, seed)


def ask(request: Request) -> Response:
    """Return the answer to a request, about the generated graph inside unveil where no file is named."""
    from unveil.data import samples

    settings = GraphSettings.of_request(request)
    original = samples.graph() if settings.edges is None else settings.edges
    request.progress("reading", 0.0)
    protection = graph_protection_from(settings.protect)
    answer = graph(original, protection, settings=settings, progress=request.progress, say=request.say)
    return Response(answer=answer)

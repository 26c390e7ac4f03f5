"""Attack on a released graph by an attacker with partial knowledge."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.attacks import GraphAttack, graph_attack_from
from unveil.data.graph.read import graph_from
from unveil.errors import InputError
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
    method: str | GraphProtection | None = None,
    attack: str | GraphAttack | None = None,
    settings: GraphSettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Result[GraphFindings]:
    """Measure how many nodes of a released graph an attack re-identifies.

    Each repetition makes a new release, draws the edges and seed pairs that the attacker knows, and attacks. More
    repetitions do not change the first ones, and another attack does not change release and knowledge. With
    ``auxiliary`` the graph is a given release: each repetition draws only the seed pairs, unless they are given.

    Parameters
    ----------
    original
        A Graph, a file, a networkx or igraph graph, a scipy sparse matrix, or any input of
        :func:`unveil.data.graph_from`.
    method
        The protection, or its notation, such as ``k-degree:k=5`` (default: only remove names).
    attack
        The attack, or its notation, such as ``yg:theta=3`` (default: ``narayanan-shmatikov``).
    settings
        All settings as one object; keywords replace single ones. ``attributes`` may be any frame. ``auxiliary``
        takes the same inputs as ``original``. With it, ``seed_pairs`` may be a file, or rows of a released and an
        auxiliary node. ``truth`` may hold one auxiliary node for each released node: -1 for none (an attempt fails),
        -2 if unknown (not counted), and a number from ``auxiliary.nodes`` on for a person outside the auxiliary graph.
    rng
        Random generator, instead of ``seed``.
    progress
        Called with the name of a step and the share of work done.
    say
        Called with the expected time and memory before a long attack.
    notes
        Notes for the report.

    Raises
    ------
    InputError
        If a setting is invalid, if protection or attack do not suit the graph, or if no target is left.

    Examples
    --------
    >>> from unveil.data import samples
    >>> answer = graph(samples.graph(), "switch:share=0.1")
    >>> answer.findings.graph, answer.findings.repetitions[0].matches.targets
    ((1000, 4622), 950)
    """
    given = {name: each for name, each in (("method", method), ("attack", attack)) if each is not None}
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
    if not isinstance(asked.seed_pairs, int):
        raise InputError("Given seed pairs need a given release. Pass auxiliary too, or the number of seed pairs")
    protection = graph_protection_from(asked.method) if isinstance(asked.method, str) else asked.method
    whole = graph_from(original).without(directions=asked.undirected, weights=asked.unweighted)
    found = run(
        whole,
        protection,
        attacker,
        asked,
        protect=asked.method.strip() if isinstance(asked.method, str) else protection_text(protection),
        attributes=None if asked.attributes is None else attributes_from(asked.attributes, whole),
        notes=notes,
        **shared,
    )
    return Result(found, VIEW, seed)


def ask(request: Request) -> Response:
    """Answer a request; without files, for the generated example graph."""
    from unveil.data import samples

    settings = GraphSettings.of_request(request)
    original = samples.graph() if settings.edges is None else settings.edges
    request.progress("reading", 0.0)
    protection = graph_protection_from(settings.method)
    answer = graph(original, protection, settings=settings, progress=request.progress, say=request.say)
    return Response(answer=answer)

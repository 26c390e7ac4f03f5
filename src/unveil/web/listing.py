"""All metrics, attacks and protections as the page lists them, from the listings themselves."""

import typing
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from unveil._registry import RegistryEntry


def parts() -> list[dict[str, Any]]:
    """Return the three listings: for each thing its name, what it does, and its facts in words.

    >>> [part["title"] for part in parts()]
    ['Attacks', 'Protections', 'Metrics']
    """
    from unveil.attacks import ATTACKS
    from unveil.metrics import METRICS
    from unveil.protections import PROTECTIONS

    return [
        {
            "title": "Attacks",
            "lead": "What an adversary may do with a release.",
            "things": [_listed(each, leaves=each.leaves) for each in ATTACKS.values()],
        },
        {
            "title": "Protections",
            "lead": "What the holder of data may do before a release.",
            "things": [_listed(each, makes=f"a {each.kind} release") for each in PROTECTIONS.values()],
        },
        {
            "title": "Metrics",
            "lead": "What is measured of a guess, of tries, or of a release.",
            "things": [_metric(each) for each in METRICS.values()],
        },
    ]


def _listed(each: RegistryEntry, **more: str) -> dict[str, Any]:
    facts = {"on": f"{each.on}s", **more, "settings": ", ".join(each.settings), "also called": ", ".join(each.aka)}
    return _thing(each.name, each.summary, each.source, facts)


def _metric(each: Any) -> dict[str, Any]:
    low, high = each.bounds
    facts = {
        "family": each.category,
        "measures": each.on,
        "per": each.per,
        "more means": each.more_means,
        "from": f"{low:g} to {high:g}".replace("inf", "∞"),
        "needs the truth": "yes" if each.needs_truth else "",
    }
    return _thing(each.name, _first_large(each.summary.removeprefix("Return ")), each.source, facts)


def _thing(name: str, summary: str, source: str, facts: Mapping[str, str]) -> dict[str, Any]:
    said = {key: value for key, value in facts.items() if value}
    words = " ".join([name, summary, source, *said.values()]).casefold()
    return {"name": name, "summary": summary, "source": source, "facts": said, "words": words}


def settings_of(name: str) -> list[dict[str, Any]]:
    """Return what can be set of a listed attack or protection: name, default as written, and choices if they are few.

    >>> settings_of("umga")[1]
    {'name': 'edge_selection', 'default': 'random', 'choices': ['random', 'nc']}
    """
    from unveil.attacks import ATTACKS
    from unveil.protections import PROTECTIONS

    listed = PROTECTIONS[name] if name in PROTECTIONS else ATTACKS[name]
    hints = typing.get_type_hints(listed.make)
    found = []
    for written in listed.settings:
        key, _, default = written.partition("=")
        found.append({"name": key, "default": default, "choices": _choices(hints.get(key))})
    return found


def _choices(hint: Any) -> list[str]:
    if hint is bool:
        return ["yes", "no"]
    return [str(each) for each in get_args(hint)] if get_origin(hint) is Literal else []


def _first_large(text: str) -> str:
    return text[:1].upper() + text[1:]

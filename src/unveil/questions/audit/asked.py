"""From what an audit was told through a door to its settings, and to what stands in the report beside the figures."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from unveil.questions.audit.paper import Paper
from unveil.questions.audit.read import read_targets, told_scenarios
from unveil.questions.reading import hierarchies_of, pairs_in
from unveil.questions.roles import roles_of
from unveil.questions.told import Told


def paper_of(told: Told) -> Paper:
    """Return what stands in the report beside the figures; what is wrong with it is said before anything long runs."""
    from unveil.data.files.digest import new_key
    from unveil.questions.audit.parts.changes import read_previous
    from unveil.report.profiles import profile

    values, compare = told.values, told.path("compare")

    def called(path: Path | None) -> Path | None:
        return None if path is None else Path(told.names.get(path, path))

    return Paper(
        written=told.written,
        date=date.today().isoformat(),
        review=values["review"],
        techniques=pairs_in(values["techniques"], "techniques", "COLUMN=TEXT, as in age='in bands of five years'"),
        context=pairs_in(values["context"], "context", "FIELD=TEXT, as in recipient='two universities'"),
        original=called(told.path("original")),
        released=tuple(path for each in told.files.get("released", ()) if (path := called(each)) is not None),
        control=called(told.path("control")),
        profile=profile(values["profile"]).name if values["profile"] else None,
        previous=None if compare is None else read_previous(compare),
        digest_key=new_key() if values["shareable"] is not None else None,
    )


def settings_of(told: Told) -> dict[str, Any]:
    """Return the settings of :func:`audit`, from whichever door."""
    values, roles = told.values, roles_of(told.values["columns"])
    settings = {
        **told.named("neighbours", "guesses", "tolerance", "population_size", "minimum_cell", "exact"),
        **told.named("epsilon", "delta", "adjacency", "threads"),
        "attacks": list(values["attacks"]) or None,
        "targets": read_targets(values["targets"]),
        "by": values["by"] or None,
        "identifiers": values["identifiers"] or roles.identifiers,
        "sensitive": values["sensitive"] or roles.sensitive,
        "known": values["known"] or roles.known,
        "weight": values["weight"] or roles.weight,
        "household": values["household"] or roles.household,
        "scenarios": told_scenarios(values["scenarios"], values["links"]) or None,
        "compatibility": values["compatibility"],
        "hierarchies": hierarchies_of(told),
        "suggest": values["suggest"],
        "suggest_for": tuple(_limited(told)),
        **told.named("workers", "memory"),
        **{name: values[name] or None for name in ("cluster", "resume")},
        "say": told.say,
    }
    if values["generator"]:
        settings |= told.named("generator", "hold_out", "folds", "runs", "env")
        settings |= told.named("time_limit", "memory_limit", "output_limit")
        settings |= {name: values[name] or None for name in ("canaries", "made")}
    if values["compatibility"]:
        settings["compatibility_seed"] = values["seed"]
    return settings


def _limited(told: Told) -> Iterator[str]:
    """Yield the figures that are held to a limit."""
    from unveil.report.profiles import profile

    yield from (name for name, _ in told.values["limits"])
    if told.values["profile"]:
        yield from (limit.quantity for limit in profile(told.values["profile"]).limits)


def names_of(told: Told) -> dict[Path, str]:
    """Return what each release is called by its owner, with a number where names repeat, where that is another name."""
    released = [path for path in told.files.get("released", ()) if path in told.names]
    names = [told.names[path] for path in released]
    return {
        path: name if names.count(name) == 1 else f"{name} ({names[: at + 1].count(name)})"
        for at, (path, name) in enumerate(zip(released, names, strict=True))
    }

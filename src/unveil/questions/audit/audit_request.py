"""Turn a request into audit settings and into the facts the report states."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from unveil.questions.audit.read import read_targets, told_scenarios
from unveil.questions.audit.report_context import ReportContext
from unveil.questions.reading import hierarchies_of, pairs_in
from unveil.questions.request import Request
from unveil.questions.roles import roles_of


def paper_of(request: Request) -> ReportContext:
    """Return what stands in the report beside the figures; what is wrong with it is said before anything long runs."""
    from unveil.data.files.digest import new_key
    from unveil.questions.audit.parts.changes import read_previous
    from unveil.report.profiles import profile

    values, compare = request.values, request.path("compare")

    def called(path: Path | None) -> Path | None:
        return None if path is None else Path(request.names.get(path, path))

    return ReportContext(
        written=request.command,
        date=date.today().isoformat(),
        review=values["review"],
        techniques=pairs_in(values["techniques"], "techniques", "COLUMN=TEXT, as in age='in bands of five years'"),
        context=pairs_in(values["context"], "context", "FIELD=TEXT, as in recipient='two universities'"),
        original=called(request.path("original")),
        released=tuple(path for each in request.files.get("released", ()) if (path := called(each)) is not None),
        control=called(request.path("control")),
        profile=profile(values["profile"]).name if values["profile"] else None,
        previous=None if compare is None else read_previous(compare),
        digest_key=new_key() if values["shareable"] is not None else None,
    )


def settings_of(request: Request) -> dict[str, Any]:
    """Return the settings of :func:`audit`, from whichever door."""
    values, roles = request.values, roles_of(request.values["columns"])
    settings = {
        **request.pick("neighbours", "guesses", "tolerance", "population_size", "minimum_cell", "exact"),
        **request.pick("epsilon", "delta", "adjacency", "threads"),
        "attacks": list(values["attacks"]) or None,
        "targets": read_targets(values["targets"]),
        "by": values["by"] or None,
        "identifiers": values["identifiers"] or roles.identifiers,
        "sensitive": values["sensitive"] or roles.sensitive,
        "known": values["known"] or roles.known,
        "weight": values["weight"] or roles.weight,
        "household": values["household"] or roles.household,
        "scenarios": told_scenarios(values["scenarios"], values["links"]) or None,
        "hierarchies": hierarchies_of(request),
        "suggest": values["suggest"],
        "suggest_for": tuple(_limited(request)),
        **request.pick("workers", "memory"),
        **{name: values[name] or None for name in ("cluster", "resume")},
        "say": request.say,
    }
    if values["generator"]:
        settings |= request.pick("generator", "hold_out", "folds", "runs", "env")
        settings |= request.pick("time_limit", "memory_limit", "output_limit")
        settings |= {name: values[name] or None for name in ("canaries", "made")}
    return settings


def _limited(request: Request) -> Iterator[str]:
    """Yield the figures that are held to a limit."""
    from unveil.report.profiles import profile

    yield from (name for name, _ in request.values["limits"])
    if request.values["profile"]:
        yield from (limit.quantity for limit in profile(request.values["profile"]).limits)


def names_of(request: Request) -> dict[Path, str]:
    """Return what each release is called by its owner, with a number where names repeat, where that is another name."""
    released = [path for path in request.files.get("released", ()) if path in request.names]
    names = [request.names[path] for path in released]
    return {
        path: name if names.count(name) == 1 else f"{name} ({names[: at + 1].count(name)})"
        for at, (path, name) in enumerate(zip(released, names, strict=True))
    }

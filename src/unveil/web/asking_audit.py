"""The audit asked of the library with the settings of its form."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.web import Given
from unveil.web.asked import Answered, Asked, shown
from unveil.web.command import command, roles_of
from unveil.web.values import cells, row

if TYPE_CHECKING:
    from unveil.ask.audit.paper import Paper


def audit(asked: Asked) -> Answered:
    """Return what an adversary could do with the releases, or with those of the example."""
    from unveil.ask.audit.answer import audit as ask
    from unveil.ask.audit.answer import audit_files
    from unveil.ask.audit.paper import check_paper
    from unveil.ask.audit.read import read_targets, told_scenarios
    from unveil.ask.audit.sample import sample_releases

    values, roles = asked.values, roles_of(asked.values["columns"])
    scenarios = told_scenarios([f"{name}={row(columns)}" for name, columns in values["scenarios"]], ())
    settings = {
        **asked.named("neighbours", "guesses", "tolerance", "population_size", "minimum_cell"),
        "attacks": list(values["attacks"]) or None,
        "targets": read_targets(values["targets"]),
        "missing": cells(values["missing"]),
        "by": values["by"] or None,
        "identifiers": roles.identifiers,
        "sensitive": roles.sensitive,
        "known": roles.known,
        "weight": roles.weight,
        "household": roles.household,
        "scenarios": scenarios or None,
        "progress": asked.progress,
    }
    paper = _paper(asked)
    if values["sample"]:
        asked.progress("making the example", 0.0)
        rng = asked.rng
        table, outside, releases = sample_releases(rng)
        found = ask(table, list(releases), outside, rng=rng, **settings)
    else:
        released = asked.files.get("released", ())
        made = zip(released, values["release_kinds"], strict=False)
        found = audit_files(
            asked.must("original"),
            [each.path for each in released],
            asked.path("control"),
            names=_release_names(released),
            kinds=roles.kinds,
            release_kinds={each.path: kind for each, kind in made if kind},
            rng=asked.rng,
            **settings,
        )
    check_paper(found.findings, paper)
    return shown(
        asked,
        found,
        page=partial(found.page, paper=paper),
        as_html=partial(found.to_html, paper=paper, edition=values["edition"]),
        as_json=partial(found.to_json, paper=paper),
    )


def _release_names(released: Sequence[Given]) -> dict[Path, str]:
    """Return what each release is called: its name, with a number where names repeat, as the library does it."""
    names = [each.name for each in released]
    return {
        each.path: each.name if names.count(each.name) == 1 else f"{each.name} ({names[: at + 1].count(each.name)})"
        for at, each in enumerate(released)
    }


def _paper(asked: Asked) -> "Paper":
    """Return what stands in the report beside the figures, as if the command had been typed where the files are."""
    from datetime import date

    from unveil.ask.audit.paper import Paper

    names = {name: [each.name for each in given] for name, given in asked.files.items()}
    original, control = names.get("original", ()), names.get("control", ())
    return Paper(
        written=command(asked.form, names, asked.settings).words,
        date=date.today().isoformat(),
        review=asked.values["review"],
        original=Path(original[0]) if original else None,
        released=tuple(Path(name) for name in names.get("released", ())),
        control=Path(control[0]) if control else None,
        profile=asked.values["profile"] or None,
    )

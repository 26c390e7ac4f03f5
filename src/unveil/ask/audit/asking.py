"""The audit asked through a door: what was told becomes its settings and its paper, and the answer a reply."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from unveil.ask.audit.answer import audit, audit_files
from unveil.ask.audit.paper import Paper, check_paper
from unveil.ask.audit.read import read_targets, told_scenarios
from unveil.ask.audit.sample import sample_releases
from unveil.ask.audit.view import brief
from unveil.ask.roles import roles_of
from unveil.ask.told import AskedError, Output, Reply, Told
from unveil.data.files.write import write_text


def ask(told: Told) -> Reply:
    """Return the answer to what was asked through a door, with the paper that goes with it."""
    values = told.values
    paper = _paper(told)
    settings = _settings(told)
    if told.sample:
        told.progress("making the example", 0.0)
        rng = told.rng
        table, outside, releases = sample_releases(rng)
        answer = audit(table, list(releases), outside, rng=rng, progress=told.progress, **settings)
    else:
        released = told.files["released"]
        chosen = values["release_kinds"] or ()
        each_kind = chosen * len(released) if len(chosen) == 1 else chosen
        answer = audit_files(
            told.must("original"),
            released,
            told.path("control"),
            header=values["header"],
            names={**_called(told), **values.get("names", {})},
            release_kinds={
                **{path: kind for path, kind in zip(released, each_kind, strict=False) if kind},
                **(values.get("kinds_of_releases", {}) if not chosen else {}),
            },
            rng=told.rng,
            progress=told.progress,
            **settings,
        )
    check_paper(answer.findings, paper)
    judgement = None if paper.profile is None else answer.judged(paper.profile)
    shared = partial(answer.to_html, paper=paper, edition="shareable")
    key = "" if paper.digest_key is None else paper.digest_key.hex()
    return Reply(
        answer=answer,
        brief=lambda: list(brief(answer.findings, notes=answer.page().notes, judgement=judgement)),
        on_page={"paper": paper, "edition": values["edition"], "show_records": values["show_records"]},
        in_json={"paper": paper},
        outputs={
            "shareable": Output(
                write=lambda path, *, limits, seed, **_: write_text(
                    path, shared(limits=limits, seed=seed), shared=True
                ),
                name="shareable.html",
                said="The report is in {}",
            )
        },
        # What could not be judged is not kept: a pipeline must not take it for a pass.
        exceeded=() if judgement is None or judgement.outcome == "kept" else (judgement.headline,),
        # Without an internal report nothing else keeps it.
        aside=()
        if told.report or not key
        else (f"Keep the key of the digests in the report ('unveil digest'): {key}",),
    )


def _settings(told: Told) -> dict[str, Any]:
    """Return the settings of :func:`audit`, from whichever door."""
    values, roles = told.values, roles_of(told.values["columns"])
    settings = {
        **told.named("neighbours", "guesses", "tolerance", "population_size", "minimum_cell", "missing"),
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
    }
    kinds = values.get("kinds") or roles.kinds
    if kinds:
        settings["kinds"] = kinds
    if values["compatibility"]:
        settings["compatibility_seed"] = values["seed"]
    return settings


def _called(told: Told) -> dict[Path, str]:
    """Return what each release is called by its owner, with a number where names repeat, where that is another name."""
    released = [path for path in told.files.get("released", ()) if path in told.names]
    names = [told.names[path] for path in released]
    return {
        path: name if names.count(name) == 1 else f"{name} ({names[: at + 1].count(name)})"
        for at, (path, name) in enumerate(zip(released, names, strict=True))
    }


def _paper(told: Told) -> Paper:
    """Return what stands in the report beside the figures; what is wrong with it is said before anything long runs."""
    from unveil.ask.audit.parts.changes import read_previous
    from unveil.data.files.digest import new_key
    from unveil.show.profiles import profile

    values, compare = told.values, told.path("compare")

    def called(path: Path | None) -> Path | None:
        return None if path is None else Path(told.names.get(path, path))

    return Paper(
        written=told.written,
        date=date.today().isoformat(),
        review=values["review"],
        techniques=techniques_in(values["techniques"]),
        original=called(told.path("original")),
        released=tuple(path for each in told.files.get("released", ()) if (path := called(each)) is not None),
        control=called(told.path("control")),
        profile=profile(values["profile"]).name if values["profile"] else None,
        previous=None if compare is None else read_previous(compare),
        digest_key=new_key() if values["shareable"] is not None else None,
    )


def techniques_in(written: Sequence[str]) -> dict[str, str]:
    """Return what was done to each column, as ``column=text`` says it.

    >>> techniques_in(("age=in bands of five years",))
    {'age': 'in bands of five years'}
    """
    told = {}
    for text in written:
        column, equals, what = text.partition("=")
        if not equals or not column.strip() or not what.strip():
            raise AskedError(
                "a technique must be written COLUMN=TEXT, as in age='in bands of five years'. Write it so", "techniques"
            )
        told[column.strip()] = what.strip()
    return told

"""If this table is released, what could an adversary do with it, and how sure is that?"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from unveil.data.files.write import write_text
from unveil.data.samples import audit_sample
from unveil.data.table import Dictionary, Table
from unveil.data.table.markers import DeclaredMarkers
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.epsilon.bound import Adjacency
from unveil.metrics.epsilon.claim import Claim
from unveil.protections import GaussianCopula, RankSwapping, Shuffle, TableProtection
from unveil.protections.generators import SourceTable
from unveil.protections.generators.environment import variables_from
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.checked_settings import AuditSettings
from unveil.questions.audit.findings import AttackScenario, Audit
from unveil.questions.audit.generator.run import WAY, audit_generator, given_of
from unveil.questions.audit.generator.settings import Canaries, GeneratorSettings
from unveil.questions.audit.generator.words import contradiction
from unveil.questions.audit.inputs import PreparedRelease
from unveil.questions.audit.parts.membership import exposed_table
from unveil.questions.audit.people import LEAST_OUTSIDE
from unveil.questions.audit.read import AuditFiles, read_targets, told_scenarios
from unveil.questions.audit.report_context import ReportContext, check_context, judged
from unveil.questions.audit.run import AuditInputs, audit_tables
from unveil.questions.audit.runner import RunSettings, running
from unveil.questions.audit.scenarios import read_scenarios
from unveil.questions.audit.settings import AuditReading
from unveil.questions.audit.terminal_view import full, short
from unveil.questions.audit.view import VIEW, whole_page
from unveil.questions.reading import TableReading, reading_of
from unveil.questions.request import OutputFile, Request, Response, SettingError
from unveil.questions.result import Result, randomness
from unveil.questions.roles import roles_of
from unveil.questions.values import pairs_in
from unveil.report.export import csv_of
from unveil.report.figures import json_of
from unveil.report.limits import check_limits
from unveil.report.page import sheet_document
from unveil.report.progress import Progress, Say, silent, unsaid
from unveil.report.terminal import Part
from unveil.work.cluster import cluster_risk

__all__ = ["ATTACKS", "audit"]


def audit(
    original: Any,
    released: Any = None,
    control: Any = None,
    *,
    generator: Any = None,
    hold_out: float | None = None,
    folds: int | None = None,
    runs: int = 1,
    canaries: int | str | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    adjacency: Adjacency = "add-remove",
    made: str | Path | None = None,
    time_limit: float | None = 3600.0,
    memory_limit: float | None = None,
    output_limit: float | None = None,
    env: Sequence[str] | Mapping[str, str] = (),
    workers: int = 1,
    cluster: str | None = None,
    resume: str | Path | None = None,
    memory: int | None = None,
    threads: int | None = None,
    scenarios: Any = None,
    attacks: Sequence[str] | None = None,
    targets: int | Literal["auto"] | None = "auto",
    neighbours: int | None = None,
    guesses: int = 500,
    tolerance: float = 0.05,
    model: Any = None,
    kind: Literal["masked", "synthetic"] | Mapping[str, Literal["masked", "synthetic"]] | None = None,
    known: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    kinds: Mapping[str, Any] | None = None,
    missing: Collection[str] | Mapping[str, Collection[str]] = (),
    markers: DeclaredMarkers | None = None,
    dictionary: Dictionary | str | Path | None = None,
    rename: Mapping[str, str] | None = None,
    strict_kinds: bool = False,
    hierarchies: Mapping[str, Any] | None = None,
    exact: Sequence[str] = (),
    by: str | None = None,
    weight: str | None = None,
    household: str | None = None,
    population_size: int | None = None,
    minimum_cell: int = 11,
    suggest: int = 0,
    suggest_for: Collection[str] = (),
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
    notes: Sequence[str] = (),
) -> Result[Audit]:
    """Return what an adversary could do with one or more releases of a table, and how sure that is.

    The page of the answer has choices of its own, as in ``answer.to_html(edition="shareable")``; they are those of
    `unveil.questions.audit.view.whole_page`.

    Parameters
    ----------
    original
        The people whose privacy is at stake: any DataFrame, list of dicts or mapping of columns, or a Table.
    released
        What is to be released, in the same forms or as a Release; several in a list, or in a mapping from name.
    control
        People of the same kind who are not in the original. Without them nobody can say how much of a successful attack
        comes from being in the data.
    generator
        What makes releases, so that the way of making them is audited: a function from a frame and a source of
        randomness to a frame, ``package.module:function``, a command with ``{in}`` and ``{out}``, or a protection. Some
        people are held out by lot, it makes a release of the others, and those held out are the control; ``released``
        is then what exists already, and may be left out.
    hold_out, folds, runs
        The share of people who are held out of every run, a fifth unless told; or in how many parts everybody is
        divided, each held out in turn; and how often the generator is run, with each fold.
    canaries
        How many rows are planted by coins in every run, so that epsilon is bounded by how well coins are guessed: a
        number of people who are held out, or of unusual rows as in ``"200:unusual"``.
    epsilon, delta, adjacency
        The differential privacy that is claimed: the audit says whether it is contradicted. Without a generator the
        control must have been kept apart by lot.
    made
        The folder that keeps what the generator makes, so that an audit that was interrupted goes on; None keeps none.
    time_limit, memory_limit, output_limit
        How many seconds a run of a command may take, how many GB each of its processes may have, and how many GB each
        file that it writes (None: 20 times the file of people, and 1 GB at least).
    env
        Variables that a command is given, beyond those that programs need to run: names, whose values this process
        has, or a mapping from name to value. No report, log or file holds the values.
    workers, cluster
        How many processes of this machine compute parts of the audit at once, each with all tables in its memory, or
        make runs of a generator (a function that cannot be sent is run in this one); or the address of a Dask cluster,
        whose workers read the files themselves, so that tables in memory are refused. No number depends on it.
    resume
        The folder that keeps what was computed, so that the same call goes on where another one was stopped; None keeps
        nothing. What lies there is data about people. With a generator ``made`` is that folder.
    memory
        How many bytes the audit may take; where more is projected it is refused before anything is computed, and where
        more is taken it ends (on Linux). Tables that were read with a store (:meth:`unveil.data.Table.read`) are worked
        on from disk and take less; the command line does so by itself.
    threads
        How many threads the attacks take, one per processor if None. No number depends on it.
    scenarios
        Who the adversary is, as texts (``"neighbour=age,sex"`` or ``"age,sex:income"``) or a mapping from name to
        columns; None tries divisions of the columns that are drawn by lot.
    attacks
        Which attacks to run (`ATTACKS` names them) and what else to measure: disclosure, utility, and before, which
        asks the three main questions of the original itself. None is everything.
    targets
        How many people of each table to attack; None attacks all, and "auto" all where both tables together have at
        most 5,000, else 2,500 of each.
    neighbours
        How many nearest released rows count in linkability. None is 10, and 1 where a release has at most 10 rows.
    guesses
        How many descriptions are tried in singling out.
    tolerance
        How far a guessed number may be off to count as right in inference, as a share of the true value.
    model
        An object with ``fit`` and ``predict`` that guesses in inference instead of the nearest released row.
    kind
        Whether the releases are masked (each row stems from a person) or synthetic, for all or by name; None if that is
        not known.
    known, sensitive, identifiers
        Columns with that role; all columns are known that are neither sensitive nor identifiers, unless ``known`` names
        some.
    kinds, missing, markers, dictionary, rename
        What is known of columns and cells, as in :meth:`unveil.data.table.Table.from_frame`; each table takes what is
        about its own columns.
    strict_kinds
        Whether to refuse columns in use whose kind nothing tells for sure.
    hierarchies
        Files (or a :class:`unveil.data.table.Hierarchy`) by column that say which values the labels of a release stand
        for, ``value;label;wider label`` line by line.
    exact
        Columns whose released numbers are as they seem. Those of masked releases are else read as rounded or as cut off
        at the ends where they look so, with a note.
    by
        A column whose groups get rates of their own.
    weight, household
        Columns of the released table with survey weights and with the household of each person; no adversary's
        knowledge.
    population_size
        How many people the released ones were drawn from, where no weights say so.
    minimum_cell
        Groups of fewer people are never shown.
    suggest
        How many changes to try on each release that gives people away, such as a column that is made coarser or left
        out; each is measured by auditing again, all of them in one audit.
    suggest_for
        Figures that limits are set on, as ``quantities`` names them: what they belong to is repeated too.
    rng
        Where all randomness comes from: the same state gives the same answer. Unless given it starts from seed 0, and
        the answer says so.
    progress
        Called with the name of a step and the share of it that is done.
    say
        Called with what should be known before it goes on: how long it will take where that is long, what the coins of
        a generator can show, and that a cluster is reached without encryption.
    notes
        Sentences to carry into the report.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"height": [150.5 + i for i in range(40)], "weight": [50.5 + i for i in range(40)]})
    >>> answer = audit(people, people, attacks=["linkability"], neighbours=1)
    >>> answer.quantities["linkability.attack_rate"].value
    1.0
    """
    settings = AuditSettings(
        scenarios=None if scenarios is None else read_scenarios(scenarios),
        attacks=attacks,
        targets=targets,
        neighbours=neighbours,
        guesses=guesses,
        tolerance=tolerance,
        model=model,
        kind=kind,
        known=None if known is None else tuple(known),
        sensitive=tuple(sensitive),
        identifiers=tuple(identifiers),
        reading=TableReading(
            kinds=kinds or {},
            missing=missing,
            markers=markers or {},
            dictionary=dictionary,
            rename=rename or {},
            strict=strict_kinds,
        ),
        by=by,
        weight=weight,
        household=household,
        population_size=population_size,
        minimum_cell=minimum_cell,
        hierarchies=dict(hierarchies or {}),
        exact=tuple(exact),
        threads=threads,
        claim=None if epsilon is None else Claim(epsilon=epsilon, delta=delta, adjacency=adjacency),
    )
    rng, seed = randomness(rng)
    if cluster is not None and (risk := cluster_risk(cluster)):
        say(risk)
    if generator is not None:
        if resume is not None or memory is not None:
            raise InputError("resume and memory are for tables that are there. With a generator, pass made instead")
        making = GeneratorSettings(
            generator=generator,
            hold_out=hold_out,
            folds=folds,
            runs=runs,
            canaries=Canaries.read(canaries),
            made=None if made is None else Path(made),
            time_limit=time_limit,
            memory_limit=memory_limit,
            output_limit=output_limit,
            env=variables_from(env),
            workers=workers,
            cluster=cluster,
        )
        if control is not None or suggest:
            raise InputError(
                "a generator makes the control by holding people out, and no changes of its releases are tried. Leave "
                "out control and suggest, or the generator"
            )
        progress("looking at the tables", 0.0)
        given = given_of(original, settings.reading)
        findings, releases = audit_generator(
            given, released, making=making, settings=settings, rng=rng, progress=progress, say=say, notes=notes
        )
        return _answer(findings, releases, seed)
    if any(each is not None for each in (hold_out, folds, canaries, made)) or env:
        raise InputError("hold_out, folds, canaries, made and env say how a generator is run. Pass the generator too")
    run = RunSettings(workers=workers, cluster=cluster, resume=None if resume is None else Path(resume), memory=memory)
    with running(run) as runner:
        asked = AuditInputs(
            original=original,
            released=released,
            control=control,
            settings=settings,
            rng=rng,
            run=run,
            suggest=suggest,
            held=frozenset(name.partition(".")[0] for name in suggest_for),
        )
        findings, releases = audit_tables(asked, runner, progress=progress, say=say, notes=notes)
    return _answer(findings, releases, seed)


def _answer(findings: Audit, releases: tuple[PreparedRelease, ...], seed: int | None) -> Result[Audit]:
    # The tables are for a page with records alone: no finding holds any.
    return Result(findings, replace(VIEW, whole_page=partial(whole_page, releases=releases)), seed)


def audit_files(
    original: str | Path,
    released: Sequence[str | Path],
    control: str | Path | None = None,
    *,
    scenarios: Sequence[AttackScenario | str] | None = None,
    reading: TableReading | None = None,
    names: Mapping[Path, str] | None = None,
    release_kinds: Mapping[Path, str] | None = None,
    kind: Any = None,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Result[Audit]:
    """Return what an adversary could do with the tables in the files ``released``.

    Parameters
    ----------
    original, released, control
        CSV or Parquet files, as in :func:`unveil.audit`.
    reading
        How the tables are to be read, where that is not to be found out.
    names, release_kinds
        What a release is called (its file name unless told), and whether it is masked or synthetic, by its path.
    scenarios, kind, rng, progress, **settings
        As in :func:`unveil.audit`.
    """
    files = AuditFiles(
        original=Path(original),
        released=tuple(Path(path) for path in released),
        control=None if control is None else Path(control),
        reading=reading or TableReading(),
        names=names or {},
        release_kinds=release_kinds or {},
        kind=kind,
    )
    more = {"scenarios": scenarios, "rng": rng, "progress": progress, **settings}
    if settings.get("generator") is None:
        return audit(files, kind=files.kinds, **more)
    tables = files.read(progress)
    everybody: Table | SourceTable = tables.original
    if "{in}" in str(settings["generator"]):
        # A command reads the file as its owner wrote it; a function gets numbers where there are numbers.
        everybody = SourceTable.of_file(files.original, tables.original, files.reading.files)
    kinds = files.kinds | ({} if kind is None else {WAY: kind})
    return audit(everybody, tables.released or None, tables.control, kind=kinds, **more)


def ask(request: Request) -> Response:
    """Return the answer to a request, with the report that goes with it."""
    values = request.values
    context = _context_of(request)
    settings = _settings_of(request)
    if request.sample:
        request.progress("making the example", 0.0)
        rng = request.rng
        table, outside, releases = sample_releases(rng)
        if values["generator"]:
            answer = audit(table, rng=rng, progress=request.progress, **settings)
        else:
            answer = audit(table, list(releases), outside, rng=rng, progress=request.progress, **settings)
    else:
        released = request.files.get("released", ())
        chosen: tuple[str, ...] = values["release_kinds"] or ()
        each_kind = chosen * len(released) if len(chosen) == 1 else chosen
        answer = audit_files(
            request.required_path("original"),
            released,
            request.path("control"),
            reading=reading_of(
                AuditReading.of_request(request),
                kinds=values.get("column_kinds") or roles_of(values["columns"]).kinds,
                markers=values.get("markers"),
            ),
            names={**_release_names(request), **values.get("names", {})},
            release_kinds={
                **{path: kind for path, kind in zip(released, each_kind, strict=False) if kind},
                **(values.get("kinds_of_releases", {}) if not chosen else {}),
            },
            kind=chosen[0] if values["generator"] and len(chosen) == 1 and chosen[0] else None,
            rng=request.rng,
            progress=request.progress,
            **settings,
        )
    check_context(answer.findings, context)
    if values["people"] is not None and not any(each.exposed for each in answer.findings.releases):
        raise SettingError(
            "nobody's exposure could be measured: membership must be among the attacks, and the control usable and of "
            f"{LEAST_OUTSIDE} people or more. Leave it out, or add people to the control",
            "people",
        )
    judgement = None if context.profile is None else judged(answer.findings, context.profile)
    shared = partial(answer.to_html, context=context, edition="shareable")
    key = "" if context.digest_key is None else context.digest_key.hex()
    return Response(
        answer=answer,
        brief=lambda: _printed(answer, request, context),
        on_page={"context": context, "edition": values["edition"], "show_records": values["show_records"]},
        in_json={"context": context},
        outputs={
            "shareable": OutputFile(
                write=lambda path, *, limits, seed, **_: write_text(
                    path, shared(limits=limits, seed=seed), shared=True
                ),
                name="shareable.html",
                said="The report to pass on is in {}",
            ),
            "people": OutputFile(
                write=lambda path, **_: write_text(path, csv_of(exposed_table(answer.findings)).decode()),
                name="people.csv",
                said="How exposed people are is in {}, for internal use",
            ),
            "sheet": OutputFile(
                write=lambda path, *, limits, seed, **_: write_text(
                    path, sheet_document(answer.page(limits=limits, seed=seed, context=context))
                ),
                name="sheet.html",
                said="The sheet to sign is in {}",
            ),
        },
        exceeded=(
            *((judgement.headline,) if judgement is not None and judgement.outcome == "exceeded" else ()),
            *contradiction(answer.findings),
        ),
        undecided=(judgement.headline,) if judgement is not None and judgement.outcome == "not_shown" else (),
        # Without an internal report nothing else keeps it.
        aside=()
        if request.report or not key
        else (f"Keep the key of the digests in the report ('unveil digest'): {key}",),
    )


def _context_of(request: Request) -> ReportContext:
    """Return the facts a report states next to its figures; refuse bad ones before anything long runs."""
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
        techniques=_pairs(request, "techniques", "COLUMN=TEXT, as in age='in bands of five years'"),
        context=_pairs(request, "context", "FIELD=TEXT, as in recipient='two universities'"),
        original=called(request.path("original")),
        released=tuple(path for each in request.files.get("released", ()) if (path := called(each)) is not None),
        control=called(request.path("control")),
        profile=profile(values["profile"]).name if values["profile"] else None,
        previous=None if compare is None else read_previous(compare),
        digest_key=new_key() if values["shareable"] is not None else None,
    )


def _pairs(request: Request, name: str, form: str) -> dict[str, str]:
    try:
        return pairs_in(request.values[name], form)
    except InputError as error:
        raise SettingError(str(error), name) from error


def _settings_of(request: Request) -> dict[str, Any]:
    """Return the settings of :func:`audit` in a request."""
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
        "hierarchies": AuditReading.of_request(request).hierarchies,
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
    """Yield the figures that have a limit."""
    from unveil.report.profiles import profile

    yield from (name for name, _ in request.values["limits"])
    if request.values["profile"]:
        yield from (limit.quantity for limit in profile(request.values["profile"]).limits)


def _release_names(request: Request) -> dict[Path, str]:
    """Return the owner's name of each renamed release, numbered where names repeat."""
    released = [path for path in request.files.get("released", ()) if path in request.names]
    names = [request.names[path] for path in released]
    return {
        path: name if names.count(name) == 1 else f"{name} ({names[: at + 1].count(name)})"
        for at, (path, name) in enumerate(zip(released, names, strict=True))
    }


def sample_releases(rng: np.random.Generator) -> tuple[Table, Table, tuple[Release, ...]]:
    """Return the original table, the control table, and three releases of the original.

    The releases are the shuffled original, a rank-swapped one and a synthesis by a Gaussian copula, all with default
    settings. One state of ``rng`` gives one set of releases.

    >>> original, control, releases = sample_releases(np.random.default_rng(1))
    >>> [(release.name, release.released.rows) for release in releases]
    [('shuffled', 700), ('rank-swapped', 700), ('gaussian-copula', 700)]
    """
    original, control = audit_sample()
    protections: tuple[TableProtection, ...] = (Shuffle(), RankSwapping(), GaussianCopula())
    releases = tuple(replace(protection.apply(original, rng=rng), control=control) for protection in protections)
    return original, control, releases


def _printed(answer: Result[Audit], request: Request, context: ReportContext) -> list[Part]:
    """Return what a terminal shows: the first screen of the internal report, or more where that was asked for."""
    checked = check_limits(answer.quantities, request.values["limits"])
    page = answer.page(context=context, limits=[json_of(each) for each in checked])
    return list(full(answer.findings, page) if request.values["report"] == "full" else short(answer.findings, page))

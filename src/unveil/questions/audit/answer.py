"""Entry points of the audit: result, command request, and release assertion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from math import nan
from pathlib import Path
from typing import Any, Self

import numpy as np

from unveil.data.files.write import write_text
from unveil.data.samples import audit_sample
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.verdict.effects import EffectSize
from unveil.protections import GaussianCopula, RankSwapping, Shuffle, TableProtection
from unveil.protections.generators import SourceTable
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.children.settings import ChildSource
from unveil.questions.audit.decision.evidence import decided, thresholds_of
from unveil.questions.audit.decision.findings import AuditDecision, ReleaseDecision, Thresholds
from unveil.questions.audit.decision.text import leading_release
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.generator.run import audit_generator, given_of
from unveil.questions.audit.generator.settings import WAY
from unveil.questions.audit.inputs import PreparedRelease
from unveil.questions.audit.people import LEAST_OUTSIDE
from unveil.questions.audit.read import AuditFiles, files_or_tables
from unveil.questions.audit.reference.control_options import CONTROL_OPTIONS
from unveil.questions.audit.reference.read import ReferenceFiles, ReferenceTables
from unveil.questions.audit.report_context import AuditContext, ReportContext, check_context
from unveil.questions.audit.run import audit_tables
from unveil.questions.audit.runner import running
from unveil.questions.audit.sections.exposure import exposed_table
from unveil.questions.audit.settings import AuditSettings
from unveil.questions.audit.view import VIEW, page, present
from unveil.questions.request import OutputFile, Request, Response, SettingError
from unveil.questions.result import Decision, Result, randomness
from unveil.questions.roles import with_roles_of
from unveil.questions.settings import takes_settings
from unveil.report.blocks import Page
from unveil.report.export import csv_of
from unveil.report.figures import frame_of_rows
from unveil.report.page import sheet_document
from unveil.report.progress import Progress, Say, silent, unsaid
from unveil.work.cluster import cluster_risk

__all__ = ["ATTACKS", "audit"]


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(Result[Audit]):
    """The result of an audit, with its level and its decision."""

    #: The tables themselves, for a page that shows records; nothing else reads them.
    prepared: tuple[PreparedRelease, ...] = ()

    def page(
        self, *, limits: Sequence[Mapping[str, Any]] | None = None, seed: int | None = None, **choices: Any
    ) -> Page:
        """Return the report as data; ``choices`` are fields of `AuditContext`."""
        del limits  # they are part of the decision
        return page(self.findings, self.context(seed=self.seed if seed is None else seed, **choices))

    def context(self, *, seed: int | None, **choices: Any) -> AuditContext:
        """Return the context of the report."""
        made = AuditContext(seed=seed, releases=self.prepared, **choices)
        if made.report.previous is None:
            return made
        return replace(made, present=present(self.findings, seed=seed, context=made.report))

    def with_limits(self, limits: Mapping[str, float]) -> Self:
        """Return the result with limits on single effects or values."""
        held = self.findings.thresholds
        if not limits:
            return self
        # The threshold of a profile is its own.
        own = None if held.profile else held.threshold
        return replace(self, findings=_decided(self.findings, thresholds_of(own, held.profile, limits)))

    @property
    def decided(self) -> AuditDecision:
        """The level and the decision, with everything they rest on."""
        return self.findings.decision

    @property
    def decision(self) -> Decision:
        """Pass, fail or inconclusive; "none" where no threshold is set."""
        return self.decided.decision

    @property
    def at_most(self) -> str | None:
        """The level that is not ruled out, where nothing is significant."""
        return self.decided.at_most

    @property
    def headline(self) -> str:
        """The decision in one sentence, as the report has it."""
        return self.decided.headline

    @property
    def worst_excess(self) -> EffectSize | None:
        """The excess risk that sets the level or decision, with its limits."""
        leading: ReleaseDecision | None = leading_release(self.decided)
        return None if leading is None or leading.worst is None else leading.worst.excess

    @property
    def control_options(self) -> tuple[tuple[str, str, str], ...]:
        """What would make the excess risk testable, where there is no control group.

        Each option is what you have, the call, and what the report can then state.
        """
        if self.findings.has_control or self.findings.way is not None:
            return ()
        return tuple((each.have, each.call(), each.states) for each in CONTROL_OPTIONS)

    @property
    def recommended(self) -> str | None:
        """The most useful release that passes, by name; None where none does."""
        return self.decided.recommended

    def summary(self) -> Any:
        """Return the four risks of each release as a data frame."""
        rows = [
            {
                "release": release.name,
                "risk": row.risk,
                "level": row.level,
                "attack": None if row.effect is None else row.effect.attack,
                "attack_rate": nan if row.effect is None else row.effect.excess.attack_rate,
                "baseline": nan if row.effect is None else row.effect.excess.baseline,
                "excess": nan if row.effect is None else row.effect.excess.value,
                "low": nan if row.effect is None else row.effect.excess.low,
                "high": nan if row.effect is None else row.effect.excess.high,
                "p_adjusted": nan if row.effect is None else row.effect.p_adjusted,
            }
            for release in self.decided.releases
            for row in release.risks
        ]
        return self._in_library(frame_of_rows(rows))


@takes_settings(AuditSettings)
def audit(
    original: Any,
    released: Any = None,
    control: Any = None,
    settings: AuditSettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    say: Say = unsaid,
    notes: Sequence[str] = (),
    **changes: Any,
) -> AuditResult:
    """Audit one or more releases of a table for disclosure risk.

    The report has choices of its own, as in ``answer.to_html(redacted=True)``: the fields of
    `unveil.questions.audit.report_context.AuditContext`.

    Parameters
    ----------
    original
        The people whose privacy is at stake: any DataFrame, list of dicts or mapping of columns, a Table, or a path.
    released
        What is to be released, in the same forms or as a Release; several in a list, or in a mapping from name. None
        where a ``generator`` makes it.
    control
        People of the same kind who are not in the original. Without them nobody can say how much of a successful attack
        comes from being in the data.
    settings
        The settings below as one object; keywords change single ones. ``scenarios`` may be a mapping from name to
        columns, ``generator`` a function from a frame and a source of randomness to a frame, ``env`` a mapping from
        name to value. ``targets=None`` attacks everybody.
    rng
        A source of randomness instead of ``seed``: the same state gives the same answer.
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
    >>> result = audit(people, people, attacks=["row_order"], threshold=0.09)
    >>> result.level, result.decision
    ('high', 'fail')
    """
    asked = AuditSettings.merge(settings, changes)
    given = files_or_tables(original, released, control, asked)
    return _audit(*given, asked, rng=rng, progress=progress, say=say, notes=notes)


def _audit(
    original: Any,
    released: Any,
    control: Any,
    reference: ReferenceTables,
    children: Sequence[ChildSource],
    asked: AuditSettings,
    *,
    rng: np.random.Generator | None,
    progress: Progress,
    say: Say,
    notes: Sequence[str],
) -> AuditResult:
    """Return the audit of tables or files."""
    held = thresholds_of(asked.threshold, asked.profile)
    rng, seed = randomness(rng, asked.seed)
    if asked.cluster is not None and (risk := cluster_risk(asked.cluster)):
        say(risk)
    shared: dict[str, Any] = {"settings": asked, "rng": rng, "progress": progress, "say": say, "notes": notes}
    if asked.generator:
        if asked.resume is not None or asked.memory is not None:
            raise InputError("resume and memory need existing tables. With a generator, pass keep_runs instead")
        files = original
        if isinstance(original, AuditFiles):
            original, released, control = _read_for(asked, original, progress)
        if reference.every or (isinstance(files, AuditFiles) and files.reference.paths):
            raise InputError("A generator makes its own releases. Leave out siblings and population, or the generator")
        if asked.tables:
            raise InputError("A generator makes a single table. Leave out the child tables, or the generator")
        if control is not None or asked.suggest:
            raise InputError(
                "A generator holds people out as the control group, and changes of its releases are not tested. Leave "
                "out control and suggest, or the generator"
            )
        progress("preparing the tables", 0.0)
        findings, releases = audit_generator(given_of(original, asked.reading), released, **shared)
        return _answer(findings, releases, seed, held)
    if any(each is not None for each in (asked.holdout, asked.folds, asked.canaries, asked.keep_runs)) or asked.env:
        raise InputError("holdout, folds, canaries, keep_runs, and env are settings of a generator. Pass a generator")
    with running(asked) as runner:
        findings, releases = audit_tables(original, released, control, reference, children, runner, **shared)
    return _answer(findings, releases, seed, held)


def _read_for(asked: AuditSettings, files: AuditFiles, progress: Progress) -> tuple[Any, Any, Any]:
    """Return the generator's input, the existing releases, and the control group."""
    tables = files.read(progress)
    if tables.original is None or files.original is None:
        raise InputError("A generator needs a table of people. Pass the original")
    everybody: Table | SourceTable = tables.original
    if "{in}" in str(asked.generator):
        # A command reads the file as its owner wrote it; a function gets numbers where there are numbers.
        everybody = SourceTable.of_file(files.original, tables.original, files.reading.files)
    return everybody, tables.released or None, tables.control


def _answer(findings: Audit, releases: tuple[PreparedRelease, ...], seed: int | None, held: Thresholds) -> AuditResult:
    return AuditResult(_decided(findings, held), VIEW, seed, prepared=releases)


def _decided(findings: Audit, held: Thresholds) -> Audit:
    """Return the audit with its decision, and those of the suggested changes."""
    again = findings.suggestions
    if again is not None and again.again is not None:
        findings = replace(findings, suggestions=replace(again, again=decided(again.again, held)))
    return decided(findings, held)


def ask(request: Request) -> Response:
    """Return the result of a request, with its report context."""
    settings = _settings_of(request)
    context = _context_of(request, settings)
    if request.sample:
        request.progress("making the example", 0.0)
        rng = request.rng
        table, outside, releases = sample_releases(rng)
        given: tuple[Any, Any, Any] = (table, None, None) if settings.generator else (table, list(releases), outside)
    else:
        rng, files = None, _files_of(request, settings)
        chosen = tuple(settings.release_type or ())
        only = WAY if settings.generator else "release" if not settings.released else ""
        way = {only: chosen[0]} if only and len(chosen) == 1 and chosen[0] else {}
        settings = replace(settings, release_type={**files.kinds, **way})
        given = files, None, None
    answer = _audit(
        *given, ReferenceTables(), (), settings, rng=rng, progress=request.progress, say=request.say, notes=()
    )
    answer = answer.with_limits(dict(request.values["limits"]))
    check_context(answer.findings, context)
    if settings.record_risk is not None and not any(each.exposed for each in answer.findings.releases):
        raise SettingError(
            "Record-level risk was not measured. It needs the membership attack and a usable control group of at least "
            f"{LEAST_OUTSIDE} people. Leave it out, or enlarge the control group",
            "record_risk",
        )
    shared = partial(answer.to_html, report=context, redacted=True)
    key = "" if context.digest_key is None else context.digest_key.hex()
    return Response(
        answer=answer,
        on_page={"report": context, "redacted": settings.edition == "shareable", "show_records": settings.show_records},
        in_json={"context": context},
        outputs={
            "redacted": OutputFile(
                write=lambda path, *, seed, **_: write_text(path, shared(seed=seed), shared=True),
                name="shareable.html",
                said="The redacted report is in {}",
            ),
            "record_risk": OutputFile(
                write=lambda path, **_: write_text(path, csv_of(exposed_table(answer.findings)).decode()),
                name="people.csv",
                said="The record-level risk is in {} (internal use only)",
            ),
            "sign_off": OutputFile(
                write=lambda path, *, seed, **_: write_text(
                    path, sheet_document(answer.page(seed=seed, report=context))
                ),
                name="sheet.html",
                said="The sign-off sheet is in {}",
            ),
        },
        holds_limits=True,
        # Without an internal report nothing else keeps it.
        aside=()
        if request.report or not key
        else (f"Store this key; 'unveil verify' needs it to check the digests: {key}",),
    )


def _context_of(request: Request, settings: AuditSettings) -> ReportContext:
    """Return the validated report context of a request."""
    from unveil.data.files.digest import new_key
    from unveil.questions.audit.sections.changes import read_previous

    def called(path: Path | None) -> Path | None:
        return None if path is None else Path(request.names.get(path, path))

    return ReportContext(
        written=request.command,
        date=date.today().isoformat(),
        review=settings.review,
        techniques=settings.techniques,
        context=settings.context,
        original=called(settings.original),
        released=tuple(path for each in settings.released if (path := called(each)) is not None),
        control=called(settings.control),
        further=tuple(
            path
            for each in (
                *settings.sibling,
                *settings.sibling_people,
                settings.population,
                *(file for table in settings.tables for file in table.every),
            )
            if (path := called(each))
        ),
        previous=None if settings.compare is None else read_previous(settings.compare),
        digest_key=new_key() if settings.redacted is not None else None,
    )


def _settings_of(request: Request) -> AuditSettings:
    """Return the settings of a request, with its column settings."""
    values = request.values
    settings = replace(
        AuditSettings.of_request(request), markers=values.get("markers", {}), suggest_for=tuple(_limited(request))
    )
    return with_roles_of(values["columns"], settings, kinds=values.get("column_kinds"))


def _files_of(request: Request, settings: AuditSettings) -> AuditFiles:
    """Return the files of a request, with release names and types."""
    values, released, chosen = request.values, tuple(settings.released), settings.release_type or ()
    each_kind = chosen * len(released) if len(chosen) == 1 else chosen
    return AuditFiles(
        original=settings.original,
        released=released,
        control=settings.control,
        reading=settings.reading,
        names={**_release_names(request), **values.get("names", {})},
        reference=ReferenceFiles.of(settings, request.names),
        children=settings.tables,
        key=settings.person_key,
        release_types={
            **{path: kind for path, kind in zip(released, each_kind, strict=False) if kind},
            **(values.get("kinds_of_releases", {}) if not chosen else {}),
        },
    )


def _limited(request: Request) -> Iterator[str]:
    """Yield the values that have a limit."""
    yield from (name for name, _ in request.values["limits"])


def _release_names(request: Request) -> dict[Path, str]:
    """Return the owner's name of each renamed release, numbered where names repeat."""
    released = [path for path in request.files.get("released", ()) if path in request.names]
    names = [request.names[path] for path in released]
    return {
        path: name if names.count(name) == 1 else f"{name} ({names[: at + 1].count(name)})"
        for at, (path, name) in enumerate(zip(released, names, strict=True))
    }


def sample_releases(rng: np.random.Generator) -> tuple[Table, Table, tuple[Release, ...]]:
    """Return the example: original data, control group, and three releases.

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


def assert_release(
    original: Any,
    released: Any,
    control: Any = None,
    *,
    accept_inconclusive: bool = False,
    report: str | Path | None = None,
    **settings: Any,
) -> AuditResult:
    """Return the audit of a release that passes, or raise an AssertionError.

    For tests of whoever makes releases: pytest shows the sentences, and a pipeline stops. It decides as
    ``unveil audit`` does: fail and inconclusive are no pass.

    Parameters
    ----------
    original, released, control
        As in :func:`unveil.audit`.
    accept_inconclusive
        Whether an inconclusive decision is a pass.
    report
        The file that the report is written to, before anything is raised.
    **settings
        As in :func:`unveil.audit`; ``threshold``, ``profile`` or ``limits`` is needed.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"height": [150.5 + i for i in range(40)], "weight": [50.5 + i for i in range(40)]})
    >>> try:
    ...     assert_release(people, people, threshold=0.09, attacks=["row_order"])
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    Fail (high risk): 100% of records can be re-identified by their position in the file.
    """
    if not any(settings.get(name) for name in ("threshold", "profile", "limits")):
        raise InputError("No threshold is set. Pass threshold=0.09, a profile, or limits")
    result = audit(original, released, control, **settings)
    if report is not None:
        write_text(Path(report), result.to_html())
    if result.decision == "fail" or (result.decision == "inconclusive" and not accept_inconclusive):
        decided = result.decided
        raise AssertionError("\n".join(filter(None, (decided.headline, decided.subline, *decided.next))))
    return result

"""Protect a table: audits before and after each protection."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import isnan
from typing import Any

import numpy as np

from unveil.data.files._spreadsheet import formula_warning
from unveil.data.files.write import write_text
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.verdict.levels import LEVEL_WORDS
from unveil.protections import Shuffle, TableProtection, protection_from, protection_text
from unveil.protections.specification import applied
from unveil.questions.audit.answer import AuditResult, audit
from unveil.questions.audit.decision.evidence import decided, quantities_of
from unveil.questions.audit.decision.text import excess_text
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.inputs import refuse_repeated
from unveil.questions.audit.report_context import AuditContext, ReportContext
from unveil.questions.audit.settings import AuditSettings, ProtectSettings, identifiers_of
from unveil.questions.audit.words import percent
from unveil.questions.reading import reading_of
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.roles import with_roles_of
from unveil.questions.settings import takes_settings
from unveil.report.editions import people as people_text
from unveil.report.limits import Quantity
from unveil.report.progress import Progress, silent
from unveil.report.text import name

#: What the release is called that nothing was done to but that its rows are in another order.
AS_IT_IS = "as it is"
#: One in so many people is kept apart where there is no control, of at least so many.
_ONE_IN, _FEWEST = 5, 20


@dataclass(frozen=True, eq=False, repr=False)
class ProtectResult(AuditResult):
    """Audit before and after protection, with releases and control group."""

    releases: tuple[Release, ...] = ()
    control: Table | None = None
    #: How the control group was set aside, where unveil did that.
    set_aside: str = ""

    def context(self, *, seed: int | None, **choices: Any) -> AuditContext:
        """Return the report context, with the change in risk as opening."""
        opening = tuple(filter(None, (changed(self.findings), self.set_aside)))
        own: dict[str, Any] = {"title": "Table before and after protection", "opening": opening}
        return super().context(seed=seed, **{**own, **choices})

    @property
    def released(self) -> Table:
        """The table after the last protection."""
        return self.releases[-1].released


@takes_settings(ProtectSettings)
def protect(
    original: Any,
    control: Any = None,
    settings: ProtectSettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **changes: Any,
) -> ProtectResult:
    """Audit a table before and after each protection.

    Parameters
    ----------
    original
        The people whose privacy is at stake: any DataFrame, list of dicts or mapping of columns, a Table, or a path.
    control
        People of the same kind who are not in the table. Without them a fifth of the people is drawn at random and kept
        apart before anything is protected, and the release holds the others.
    settings
        The settings below as one object; keywords change single ones. Protections are objects, or how they are written.
    rng
        A source of randomness instead of ``seed``. Whoever can make it again undoes the release.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20 + i % 50 for i in range(60)], "pay": [i * i % 83 for i in range(60)]})
    >>> protect(people, method="shuffle", attacks="copies", seed=1).released.rows
    48
    """
    asked = ProtectSettings.merge(settings, changes)
    rng = np.random.default_rng(asked.seed) if rng is None else rng
    # A slip in a protection is said before a large file is read.
    protections = [
        (each, protection_from(each)) if isinstance(each, str) else (protection_text(each), each)
        for each in (*asked.first, asked.method)
    ]
    table, outside = _tables(original, control, asked, progress)
    refuse_repeated(table, identifiers=asked.identifiers, ignore=(asked.weight, asked.household))
    told_ids = identifiers_of(table, asked.identifiers)
    table = _with_identifiers(table, told_ids)
    notes: list[str] = []
    set_aside = ""
    if outside is None:
        table, outside = kept_apart(table, told_ids[:1], rng=rng)
        pattern = "{} (one in five, chosen at random) are the control group; the release holds the rest."
        set_aside = people_text(outside.rows, "person", "people", pattern=pattern)
    progress("protecting the table", 0.0)
    releases = tuple(protected(table, protections, rng=rng))
    notes += [f"{each.name}: {note}." for each in releases for note in each.notes if note not in releases[0].notes]
    warning = formula_warning(releases[-1].released.frame)
    notes += [warning.format("the protected table") + "."] * bool(warning)
    shared = (
        *("identifiers", "sensitive", "quasi_identifiers", "weight", "household", "attacks", "targets"),
        *("threshold", "profile"),
    )
    answer = audit(
        table,
        {each.name: each for each in releases},
        outside,
        AuditSettings(**{name: getattr(asked, name) for name in shared}),
        rng=rng,
        progress=progress,
        notes=notes,
    )
    # What is released is the last table; the others show what the protection changes.
    findings = replace(answer.findings, references=tuple(each.name for each in releases[:-1]))
    return ProtectResult(
        decided(findings, findings.thresholds),
        replace(answer.view, quantities=_of_last),
        prepared=answer.prepared,
        releases=releases,
        control=outside,
        set_aside=set_aside,
    )


def ask(request: Request) -> Response:
    """Return the audit before and after, with the protected table's file."""
    from unveil.data.samples import audit_sample

    settings = with_roles_of(request.values["columns"], ProtectSettings.of_request(request))
    tables: tuple[Any, Any] = audit_sample() if request.sample else (settings.original, settings.control)
    answer = protect(*tables, settings, progress=request.progress).with_limits(dict(request.values["limits"]))
    last, others = answer.released, answer.control
    return Response(
        answer=answer,
        holds_limits=True,
        on_page={"report": ReportContext(written=_without_seed(request.command), date=date.today().isoformat())},
        outputs={
            "write_control": OutputFile(
                write=lambda path, **_: write_text(path, "" if others is None else others.frame.write_csv()),
                name="control.csv",
                said="The control group is in {} (internal use only)",
                is_release=True,
                warning="" if others is None else formula_warning(others.frame),
            ),
            "out": OutputFile(
                write=lambda path, **_: write_text(path, last.frame.write_csv(), shared=True),
                name="released.csv",
                said="The protected table is in {}",
                is_release=True,
                warning=formula_warning(last.frame),
            ),
        },
    )


def _of_last(audit: Audit) -> dict[str, Quantity]:
    """Return values that accept a limit: those of the final release."""
    verdict = replace(audit.verdict, releases=audit.verdict.releases[-1:])
    return quantities_of(replace(audit, releases=audit.releases[-1:], verdict=verdict))


def changed(audit: Audit) -> str:
    """Return the change of the largest risk; "" if none was tested."""
    before, after = audit.decision.releases[0], audit.decision.releases[-1]
    if before.worst is None or not before.worst.excess.is_tested:
        return ""
    row = next(each for each in before.risks if each.effect is not None and each.effect.attack == before.worst.attack)
    now = next(each for each in after.risks if each.risk == row.risk)
    reached = "not tested" if now.effect is None else f"{excess_text(now.effect)} points"
    use = "" if isnan(after.utility_loss) else f"; utility loss {percent(after.utility_loss)}"
    return (
        f"{name(after.name, 60)}: excess in {row.risk} {excess_text(before.worst)} points before, {reached} after; "
        f"level {LEVEL_WORDS[before.level]} before, {LEVEL_WORDS[after.level]} after{use}."
    )


def _tables(original: Any, control: Any, settings: ProtectSettings, progress: Progress) -> tuple[Table, Table | None]:
    """Return the table and the control, where there is one."""
    progress("reading", 0.0)
    reading = reading_of(settings)
    table = reading.table(original, "original")
    outside = None if control is None else reading.table(control, "control")
    reading.check([table, *([] if outside is None else [outside])])
    return table, outside


def _with_identifiers(table: Table, names: Sequence[str]) -> Table:
    """Return the table with these columns as identifiers, which no protection releases."""
    for column in names:
        table.column(column)
    columns = (
        replace(each, role="identifier", role_told=True) if each.name in names else each for each in table.columns
    )
    return replace(table, columns=tuple(columns))


def kept_apart(table: Table, identifier: Sequence[str], *, rng: np.random.Generator) -> tuple[Table, Table]:
    """Return the people to protect, and a random fifth as control.

    Where an identifier says whose each row is, all rows of a person stay together.

    >>> import polars as pl
    >>> table = Table.from_frame(pl.DataFrame({"age": range(40)}))
    >>> [each.rows for each in kept_apart(table, (), rng=np.random.default_rng(0))]
    [32, 8]
    """
    person = np.arange(table.rows)
    if identifier:
        person = table.series(identifier[0]).rank("dense").fill_null(0).to_numpy().astype(np.int64)
    everybody = np.unique(person)
    if everybody.size < _FEWEST:
        raise InputError(
            f"The {table.name} has too few people to hold a fifth of them out: {everybody.size}, but at least "
            f"{_FEWEST} are needed. Add a control group"
        )
    apart = np.isin(person, rng.permutation(everybody)[: everybody.size // _ONE_IN])
    return table.take(np.flatnonzero(~apart)), replace(table.take(np.flatnonzero(apart)), name="control")


def protected(
    table: Table, protections: Sequence[tuple[str, TableProtection]], *, rng: np.random.Generator
) -> Iterator[Release]:
    """Yield the shuffled table, then the result of each protection.

    >>> import polars as pl
    >>> table = Table.from_frame(pl.DataFrame({"age": range(40)}))
    >>> steps = [(text, protection_from(text)) for text in ("microaggregation:k=4", "shuffle")]
    >>> [(each.name, each.kind) for each in protected(table, steps, rng=np.random.default_rng(0))]
    [('as it is', 'masked'), ('1 microaggregation:k=4', 'masked'), ('2 shuffle', 'masked')]
    """
    yield replace(Shuffle().apply(table, rng=rng), name=AS_IT_IS, notes=())
    current, truth, is_synthetic = table, np.arange(table.rows), False
    for number, (text, protection) in enumerate(protections, start=1):
        made: Release = applied(protection, current, rng=rng)
        is_synthetic |= made.kind == "synthetic"
        # A row stems from whom the row stems from that it was made of.
        truth = truth if made.truth is None else truth[made.truth]
        yield Release(
            table,
            made.released,
            kind="synthetic" if is_synthetic else "masked",
            name=text if len(protections) == 1 else f"{number} {text}",
            notes=made.notes,
            truth=None if is_synthetic or made.truth is None else truth,
        )
        current = replace(made.released, name=table.name)


def _without_seed(written: Sequence[str]) -> tuple[str, ...]:
    """Return a command without its seed, which would undo the release."""
    return tuple(
        word
        for before, word in zip(("", *written), written, strict=False)
        if "--seed" not in (before, word.split("=")[0])
    )

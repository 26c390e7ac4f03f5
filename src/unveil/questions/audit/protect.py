"""What does a protection do to a table: an audit of the table as it is, and after each protection."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from unveil.data.files._spreadsheet import formula_warning
from unveil.data.files.write import write_text
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections import Shuffle, TableProtection, protection_from
from unveil.protections.specification import applied
from unveil.questions.audit.answer import audit
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.checked_settings import identifiers_of
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.inputs import refuse_repeated
from unveil.questions.audit.protect_settings import ProtectReading
from unveil.questions.audit.quantities import quantities_of
from unveil.questions.audit.ranking import worst_of
from unveil.questions.audit.read import read_targets
from unveil.questions.audit.report_context import ReportContext
from unveil.questions.audit.terminal_view import short
from unveil.questions.audit.view import whole_page
from unveil.questions.audit.words import percent, rate_text
from unveil.questions.reading import reading_of
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.result import Result
from unveil.questions.roles import roles_of
from unveil.report.blocks import Page, Tone
from unveil.report.editions import people as people_text
from unveil.report.limits import Quantity
from unveil.report.text import count, name

#: What the release is called that nothing was done to but that its rows are in another order.
AS_IT_IS = "as it is"
#: One in so many people is kept apart where there is no control, of at least so many.
_ONE_IN, _FEWEST = 5, 20


def ask(request: Request) -> Response:
    """Return the audit of the table before and after, with the protected table as a file."""
    values, rng = request.values, request.rng
    written = (*values["first"], values["protect"])
    # A slip in a protection is said before a large file is read.
    protections = [(text, protection_from(text)) for text in written]
    roles = roles_of(values["columns"])
    settings: dict[str, Any] = {
        "identifiers": values["identifiers"] or roles.identifiers,
        "sensitive": values["sensitive"] or roles.sensitive,
        "known": values["known"] or roles.known,
        "weight": values["weight"] or roles.weight,
        "household": values["household"] or roles.household,
    }
    table, control = _tables(request)
    refuse_repeated(table, identifiers=settings["identifiers"], ignore=(settings["weight"], settings["household"]))
    told_ids = identifiers_of(table, settings["identifiers"])
    table = _with_identifiers(table, told_ids)
    notes: list[str] = []
    apart = control is None
    if control is None:
        table, control = kept_apart(table, told_ids[:1], rng=rng)
        pattern = (
            "{}, one in five and drawn by lot, were kept apart before anything was protected, and stand for people who "
            "are not in the data. The release holds the others."
        )
        notes = [people_text(control.rows, "person", "people", pattern=pattern)]
    request.progress("protecting the table", 0.0)
    releases = tuple(protected(table, protections, rng=rng))
    notes += [f"{each.name}: {note}." for each in releases for note in each.notes if note not in releases[0].notes]
    warning = formula_warning(releases[-1].released.frame)
    notes += [warning.format("the protected table") + "."] * bool(warning)
    answer: Result[Audit] = audit(
        table,
        {each.name: each for each in releases},
        control,
        attacks=list(values["attacks"]) or None,
        targets=read_targets(values["targets"]),
        rng=rng,
        progress=request.progress,
        notes=notes,
        **settings,
    )
    shown = partial(_page, whole=answer.view.whole_page, first=notes[:1] if apart else ())
    view = replace(answer.view, whole_page=shown, quantities=_of_last)
    answer = replace(answer, view=view)
    last, others = releases[-1].released, control

    return Response(
        answer=answer,
        brief=lambda: list(short(answer.findings, answer.page())),
        on_page={"context": ReportContext(written=_without_seed(request.command), date=date.today().isoformat())},
        outputs={
            "others": OutputFile(
                write=lambda path, **_: write_text(path, others.frame.write_csv()),
                name="others.csv",
                said="The people who are not in it are in {}: keep them to yourself",
                is_release=True,
                warning=formula_warning(others.frame),
            ),
            "out": OutputFile(
                write=lambda path, **_: write_text(path, last.frame.write_csv(), shared=True),
                name="released.csv",
                said="The protected table is in {}",
                is_release=True,
                warning=warning,
            ),
        },
    )


def _of_last(audit: Audit) -> dict[str, Quantity]:
    """Return the figures that a limit can be set for: those of the table that is released, not of those before."""
    verdict = replace(audit.verdict, releases=audit.verdict.releases[-1:])
    return quantities_of(replace(audit, releases=audit.releases[-1:], verdict=verdict))


def _page(audit: Audit, *, whole: Callable[..., Page] | None, first: Sequence[str], **choices: Any) -> Page:
    """Return the page of the audit, with what the protection changed as its headline, and ``first`` right below it."""
    page, said = (whole or whole_page)(audit, **choices), headline(audit)
    page = replace(page, title="A table before and after its protection")
    if not said:
        return page
    stays = any(each.proved or each.unmistakable for each in audit.verdict.releases[-1:])
    tone: Tone = "warning" if stays else "neutral"
    return replace(
        page,
        headline=said,
        explanation=tuple(first),
        notes=(*(each for each in page.notes if each not in first), page.headline, *page.explanation),
        next_steps=_FURTHER if stays else _ENOUGH,
        tone=tone,
        tone_word="",
    )


_FURTHER = (
    "Protect it further: add this protection to those before (--first; on the local page “Go on from here”), or choose "
    "another one, or a stronger setting.",
)
_ENOUGH = (
    "See whether it is still useful enough. Then audit the protected table once more, best beside people who were not "
    "used here (unveil audit): it was chosen by these.",
)


def headline(audit: Audit) -> str:
    """Return what the last step changed for the attack that surely gains most; nothing where none can be compared."""
    before, after = audit.releases[0], audit.releases[-1]
    pairs = [(attack, worst_of(before, attack), worst_of(after, attack)) for attack in audit.attacks]
    known = [
        (attack, one.risk.excess_over_control, other.risk.excess_over_control)
        for attack, one, other in pairs
        if one is not None and other is not None
    ]
    known = [each for each in known if each[1].defined and each[2].defined]
    if not known:
        return ""
    # What it adds at the least: a wide interval around a high figure says little.
    attack, one, other = max(known, key=lambda each: float(each[2].low))
    proved = [{figure.attack for figure in each.proved} for each in audit.verdict.releases]
    use = "" if after.utility is None else f", and {percent(after.utility.loss)} of its usefulness is lost"
    return (
        f"After {name(after.name, 60)!r}, being in the data adds {rate_text(other)} to what "
        f"{ATTACKS[attack].title.lower()} reaches, instead of {rate_text(one)}, for "
        f"{count(audit.people or audit.rows)} people; "
        f"{len(proved[-1])} of {count(len(proved[0] | proved[-1]), 'attack', 'attacks')} stay proved{use}."
    )


def _tables(request: Request) -> tuple[Table, Table | None]:
    """Return the table and the control, where there is one."""
    if request.sample:
        from unveil.data.samples import audit_sample

        return audit_sample()
    request.progress("reading", 0.0)
    reading = reading_of(ProtectReading.of_request(request), kinds=roles_of(request.values["columns"]).kinds)
    path = request.path("control")
    tables = [
        reading.file(request.required_path("original"), "original"),
        *([] if path is None else [reading.file(path, "control")]),
    ]
    reading.check(tables)
    return tables[0], tables[1] if len(tables) > 1 else None


def _with_identifiers(table: Table, names: Sequence[str]) -> Table:
    """Return the table with these columns as identifiers, which no protection releases."""
    for column in names:
        table.column(column)
    columns = (
        replace(each, role="identifier", role_told=True) if each.name in names else each for each in table.columns
    )
    return replace(table, columns=tuple(columns))


def kept_apart(table: Table, identifier: Sequence[str], *, rng: np.random.Generator) -> tuple[Table, Table]:
    """Return the people whose table is protected, and a fifth of all, drawn by lot, who are not in it.

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
            f"a table must hold at least {_FEWEST} people so that a fifth of them can be kept apart, but the "
            f"{table.name} holds {everybody.size}. Name people who are not in it (--control)"
        )
    apart = np.isin(person, rng.permutation(everybody)[: everybody.size // _ONE_IN])
    return table.take(np.flatnonzero(~apart)), replace(table.take(np.flatnonzero(apart)), name="control")


def protected(
    table: Table, protections: Sequence[tuple[str, TableProtection]], *, rng: np.random.Generator
) -> Iterator[Release]:
    """Yield the table as it is, in another order, and after each protection, each applied to what the last one made.

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
    """Return a command without its seed, which undoes the release for whoever reads it."""
    return tuple(
        word
        for before, word in zip(("", *written), written, strict=False)
        if "--seed" not in (before, word.split("=")[0])
    )

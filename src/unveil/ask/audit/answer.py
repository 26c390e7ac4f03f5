"""If this table is released, what could an adversary do with it, and how sure is that?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unveil.ask.answer import Answer
from unveil.ask.audit.findings import Audit, Scenario
from unveil.ask.audit.inputs import One, prepare
from unveil.ask.audit.paper import Paper, check_paper, judged, sign_off
from unveil.ask.audit.read import read
from unveil.ask.audit.run import audit_before, audit_one
from unveil.ask.audit.scenarios import read_scenarios
from unveil.ask.audit.settings import ATTACKS, Asked, Compatibility
from unveil.ask.audit.view import VIEW
from unveil.data.files.header import Header
from unveil.errors import InputError
from unveil.show.progress import Progress, silent

if TYPE_CHECKING:
    from unveil.show.blocks import Page
    from unveil.show.judgement import Judgement

__all__ = ["ATTACKS", "AuditAnswer", "audit"]


@dataclass(frozen=True, eq=False, repr=False)
class AuditAnswer(Answer[Audit]):
    """What an adversary could do with each release; the page has two editions, and a sheet to sign."""

    #: The tables themselves, for the internal edition of the page; nothing else may look at them.
    _releases: tuple[One, ...] = field(default=(), repr=False)

    def judged(self, profile: str) -> "Judgement":
        """Return whether each release keeps the published limits of this name, such as "ema" or "cell-5"."""
        return judged(self.findings, profile)

    def page(  # type: ignore[override]  # these are the choices that an audit has
        self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None, paper: Paper | None = None
    ) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil._version import __version__
        from unveil.ask.audit.parts.changes import changes, changes_section
        from unveil.show.judgement import judgement_section
        from unveil.show.limits import with_limits
        from unveil.show.sign_off import with_sign_off

        given = paper or Paper()
        check_paper(self.findings, given)
        whole = self.view.page(self.findings, seed=seed, version=__version__)
        if given.profile is not None:
            judgement = self.judged(given.profile)
            sections = (whole.sections[0], judgement_section(judgement), *whole.sections[1:])
            # The answer to the limit comes first, and the worst finding right below it.
            notes = (whole.headline, *whole.notes)
            tone = judgement.tone if judgement.tone != "neutral" else whole.tone
            whole = replace(whole, headline=judgement.headline, tone=tone, notes=notes, sections=sections)
        if given.previous is not None:
            now = json.loads(self.to_json(seed=seed, paper=replace(given, previous=None)))
            whole = replace(whole, sections=(*whole.sections, changes_section(changes(given.previous, now))))
        sheet = sign_off(self.findings, given, untested=whole.untested, seed=seed, version=__version__)
        return with_limits(with_sign_off(whole, sheet), limits, self.quantities)

    def to_html(  # type: ignore[override]
        self,
        *,
        limits: Sequence[Mapping[str, Any]] = (),
        seed: int | None = None,
        show_records: bool = False,
        edition: Literal["internal", "shareable"] = "internal",
        paper: Paper | None = None,
    ) -> str:
        """Return the report as one HTML page that needs no network and, by itself, holds no row of the data.

        Parameters
        ----------
        limits
            Limits that were set beforehand, as in `to_json`.
        seed
            What the randomness started from, to be stated.
        show_records
            Whether to show a few records of the original that are released unchanged, in the known columns. Such a page
            must not be shared.
        edition
            "shareable" keeps small counts, folders and values of the data out.
        paper
            What stands beside the figures for whoever signs: date, command, techniques, profile, an earlier audit.
        """
        from unveil.ask.audit.copies import copied_records
        from unveil.ask.audit.parts.records import with_records
        from unveil.ask.audit.shareable import shared
        from unveil.show.editions import internal, shareable
        from unveil.show.limits import shared_limits, with_limits
        from unveil.show.page import render

        if show_records and edition == "shareable":
            raise InputError("a shareable report holds no records. Leave out show_records, or make an internal one")
        if show_records and not self._releases:
            raise InputError("this answer was made without the tables, so it has no records to show. Ask anew")
        if edition == "shareable":
            given = paper or Paper()
            others = replace(self, findings=shared(self.findings, key=given.digest_key), _releases=())
            # What an earlier audit held may be as few people as the rest, and is in the internal edition.
            page = others.page(seed=seed, paper=replace(given, previous=None, digest_key=None))
            page = with_limits(page, shared_limits(limits, others.quantities), self.quantities)
            return render(shareable(page, minimum_cell=self.findings.minimum_cell, paths=given.paths))
        page = self.page(limits=limits, seed=seed, paper=paper)
        return render(internal(with_records(page, copied_records(self._releases)) if show_records else page))

    def to_json(  # type: ignore[override]
        self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None, paper: Paper | None = None
    ) -> str:
        """Return the answer as JSON; undefined figures are null."""
        from unveil._version import __version__
        from unveil.ask.audit.parts.changes import changes
        from unveil.show.machine import dumps

        given = paper or Paper()
        check_paper(self.findings, given)
        payload = {"schema": self.view.schema, **self.view.figures(self.findings), "limits": list(limits)}
        payload["profile"] = None if given.profile is None else self.judged(given.profile).to_dict()
        payload |= {"techniques": dict(given.techniques), "seed": seed, "version": __version__}
        if given.previous is not None:
            now = json.loads(self.to_json(seed=seed, paper=replace(given, previous=None)))
            payload["changes"] = changes(given.previous, now).to_dict()
        return dumps(payload)


def audit(
    original: Any,
    released: Any,
    control: Any = None,
    *,
    scenarios: Any = None,
    attacks: Sequence[str] | None = None,
    targets: int | None = 500,
    neighbours: int = 10,
    guesses: int = 500,
    tolerance: float = 0.05,
    model: Any = None,
    kind: Literal["masked", "synthetic"] | Mapping[str, Literal["masked", "synthetic"]] | None = None,
    known: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    kinds: Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    exact: Sequence[str] = (),
    by: str | None = None,
    weight: str | None = None,
    household: str | None = None,
    population_size: int | None = None,
    minimum_cell: int = 11,
    compatibility: Compatibility | None = None,
    compatibility_seed: int | None = None,
    rng: np.random.Generator,
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> AuditAnswer:
    """Return what an adversary could do with one or more releases of a table, and how sure that is.

    Parameters
    ----------
    original
        The people whose privacy is at stake: any eager DataFrame, or a Table.
    released
        What is to be released: a DataFrame, a Table or a Release; several in a list, or in a mapping from name.
    control
        People of the same kind who are not in the original. Without them nobody can say how much of a successful attack
        comes from being in the data.
    scenarios
        Who the adversary is, as texts (``"neighbour=age,sex"`` or ``"age,sex:income"``) or a mapping from name to
        columns; None tries many divisions of the columns and searches for the worst.
    attacks
        Which attacks to run (`ATTACKS` names them) and what else to measure: disclosure, utility, and before, which
        asks the three main questions of the original itself. None is everything.
    targets
        How many people to attack; None attacks all.
    neighbours
        How many nearest released rows count in linkability.
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
    kinds, missing
        Kinds of columns and texts that stand for a missing value, as in :meth:`unveil.data.table.Table.from_frame`.
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
    compatibility
        "anonymeter" runs linkability as anonymeter 1.1.0 does, with the targets that it draws after
        ``numpy.random.seed(compatibility_seed)``.
    rng
        Where all randomness comes from: the same state gives the same answer.
    progress
        Called with the name of a step and the share of it that is done.
    notes
        Sentences to carry into the report.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"height": [150.5 + i for i in range(40)], "weight": [50.5 + i for i in range(40)]})
    >>> answer = audit(people, people, attacks=["linkability"], neighbours=1, rng=np.random.default_rng(1))
    >>> answer.quantities["linkability.attack_rate"].value
    1.0
    """
    asked = Asked(
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
        kinds=dict(kinds or {}),
        missing=tuple(missing),
        by=by,
        weight=weight,
        household=household,
        population_size=population_size,
        minimum_cell=minimum_cell,
        compatibility=compatibility,
        hierarchies=dict(hierarchies or {}),
        exact=tuple(exact),
    )
    told = None if scenarios is None else read_scenarios(scenarios)
    progress("looking at the tables", 0.0)
    prepared = prepare(original, released, control, asked=asked, rng=rng)
    several = len(prepared.releases) > 1
    steps = len(prepared.releases) + ("before" in prepared.parts)

    def step(number: int, which: str) -> Progress:
        return lambda name, share: progress(f"{name}{which}", (number + share) / steps)

    audited = tuple(
        audit_one(
            prepared,
            one,
            told,
            asked,
            seed=compatibility_seed,
            progress=step(number, f" on {one.release.name}" if several else ""),
        )
        for number, one in enumerate(prepared.releases)
    )
    before = audit_before(prepared, told, asked, progress=step(steps - 1, " on the original itself"))
    return AuditAnswer(prepared.found(audited, before=before, notes=tuple(notes)), VIEW, prepared.releases)


def audit_files(
    original: str | Path,
    released: Sequence[str | Path],
    control: str | Path | None = None,
    *,
    scenarios: Sequence[Scenario | str] | None = None,
    missing: Sequence[str] = (),
    header: Header = "detect",
    kinds: Mapping[str, Any] | None = None,
    names: Mapping[Path, str] | None = None,
    release_kinds: Mapping[Path, str] | None = None,
    kind: Any = None,
    rng: np.random.Generator,
    progress: Progress = silent,
    **settings: Any,
) -> AuditAnswer:
    """Return what an adversary could do with the tables in the files ``released``.

    Parameters
    ----------
    original, released, control
        CSV or Parquet files, as in :func:`unveil.audit`.
    missing
        Texts that stand for a missing value, such as "?".
    header
        Whether the first line of each file names the columns ("yes"), is data ("no"), or has to be looked at
        ("detect"), as in :meth:`unveil.data.table.Table.read`.
    names, release_kinds
        What a release is called (its file name unless told), and whether it is masked or synthetic, by its path.
    scenarios, kinds, kind, rng, progress, **settings
        As in :func:`unveil.audit`.
    """
    tables = read(
        Path(original),
        [Path(path) for path in released],
        None if control is None else Path(control),
        missing=missing,
        header=header,
        kinds=kinds,
        names=names or {},
        release_kinds=release_kinds or {},
        kind=kind,
        progress=progress,
    )
    return audit(
        tables.original,
        tables.released,
        tables.control,
        scenarios=scenarios,
        kind=tables.kinds,
        rng=rng,
        progress=progress,
        **settings,
    )

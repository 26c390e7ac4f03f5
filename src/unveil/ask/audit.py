"""If this table is released, what could an adversary do with it, and how sure is that?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from unveil.ask.audit_figures import SCHEMA, figures_of, quantities_of, rows_of
from unveil.ask.audit_inputs import Asked, One, Prepared, prepare
from unveil.ask.audit_links import Compatibility, Linked, Linker, link_searched, link_told
from unveil.ask.audit_records import RECORD_ATTACKS, Records
from unveil.ask.progress import Progress, silent
from unveil.ask.quantities import Quantity
from unveil.ask.scenarios import read_scenarios, settle
from unveil.errors import InputError
from unveil.report.audit_findings import Audit, Audited, Finding, Scenario

if TYPE_CHECKING:
    import polars as pl

    from unveil.report.blocks import Page

#: Every attack that an audit can run, in the order of the report.
ATTACKS = ("linkability", *RECORD_ATTACKS)


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditAnswer:
    """What an adversary could do with each release: the findings, and the same as table, JSON, page and picture."""

    found: Audit
    #: The tables themselves, for the internal edition of the page; nothing else may look at them.
    _releases: tuple[One, ...] = field(default=(), repr=False)

    @property
    def table(self) -> "pl.DataFrame":
        """All figures, one row for each release, attack and adversary; undefined ones are null."""
        import polars as pl

        return pl.DataFrame(rows_of(self.found), infer_schema_length=None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or assumed on the way."""
        return self.found.notes

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The figures that a limit can be set for, each the worst over releases and adversaries."""
        return quantities_of(self.found)

    def page(self, *, seed: int | None = None) -> "Page":
        """Return the report as data: what the page and the terminal show."""
        from unveil import __version__
        from unveil.report.audit import page

        return page(self.found, seed=seed, version=__version__)

    def to_html(
        self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None, show_records: bool = False
    ) -> str:
        """Return the report as one HTML page that needs no network and holds no row or cell of the data.

        ``show_records=True`` makes the internal edition, which must not be shared: it shows a few records of the
        original that are released unchanged, in the known columns. ``limits`` are listed as in `to_json`.
        """
        from unveil.ask.audit_copies import copied_records
        from unveil.report.audit_records import with_records
        from unveil.report.limits import with_limits
        from unveil.report.page import render

        if show_records and not self._releases:
            raise InputError("this answer was made without the tables, so it has no records to show. Ask anew")
        page = with_limits(self.page(seed=seed), limits, self.quantities)
        return render(with_records(page, copied_records(self._releases)) if show_records else page)

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON; undefined figures are null."""
        from unveil import __version__
        from unveil.report.machine import dumps

        payload = {"schema": SCHEMA, **figures_of(self.found)}
        return dumps({**payload, "limits": list(limits), "seed": seed, "version": __version__})

    def plot(self) -> NDArray[Any]:
        """Return matplotlib axes: the worst adversary on each release, and what it loses without each column."""
        from unveil.report.audit_charts import charts
        from unveil.report.draw import draw_all

        return draw_all(charts(self.found))


def audit(
    original: Any,
    released: Any,
    control: Any = None,
    *,
    scenarios: Any = None,
    attacks: Sequence[str] = ATTACKS,
    targets: int | None = 500,
    neighbours: int = 10,
    kind: Literal["masked", "synthetic"] | Mapping[str, Literal["masked", "synthetic"]] | None = None,
    known: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    kinds: Mapping[str, Any] | None = None,
    missing: Sequence[str] = (),
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
        Any of linkability, record_linkage, copies, closest_record, neighbour_ratio, row_order.
    targets
        How many people to attack; None attacks all.
    neighbours
        How many nearest released rows count in linkability.
    kind
        Whether the releases are masked (each row stems from a person) or synthetic, for all or by name; None if that is
        not known.
    known, sensitive, identifiers
        Columns with that role; all columns are known that are neither sensitive nor identifiers, unless ``known`` names
        some.
    kinds, missing
        Kinds of columns and texts that stand for a missing value, as in :meth:`unveil.data.table.Table.from_frame`.
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
        kind=kind,
        known=None if known is None else tuple(known),
        sensitive=tuple(sensitive),
        identifiers=tuple(identifiers),
        kinds=dict(kinds or {}),
        missing=tuple(missing),
        compatibility=compatibility,
    )
    told = None if scenarios is None else read_scenarios(scenarios)
    progress("looking at the tables", 0.0)
    prepared = prepare(original, released, control, asked=asked, every=ATTACKS, rng=rng)
    audited = []
    for number, one in enumerate(prepared.releases):

        def step(name: str, share: float, number: int = number, one: Any = one) -> None:
            which = f" on {one.release.name}" if len(prepared.releases) > 1 else ""
            progress(f"{name}{which}", (number + share) / len(prepared.releases))

        audited.append(_audit_one(prepared, number, told, asked, compatibility_seed, step))
    found = prepared.found(tuple(audited), notes=tuple(notes))
    return AuditAnswer(found=found, _releases=prepared.releases)


def _audit_one(
    prepared: Prepared,
    number: int,
    told: tuple[Scenario, ...] | None,
    asked: Asked,
    seed: int | None,
    progress: Progress,
) -> Audited:
    one = prepared.releases[number]
    linked = Linked(findings=())
    findings: list[Finding] = []
    for attack in prepared.attacks:
        if attack == "linkability":
            linker = Linker(
                release=one.release,
                people=prepared.people,
                outsiders=prepared.outsiders,
                neighbours=asked.neighbours,
                rng=one.rng(attack),
                compatibility=asked.compatibility,
                targets=asked.targets,
                seed=seed,
            )
            if told is None:
                linked = link_searched(linker, one.known, progress=lambda name, share: progress(name, 0.9 * share))
            else:
                columns = one.release.original.column_names
                who = [settle(each, one.known, columns=columns, left_out=one.left_out) for each in told]
                linked = link_told(linker, who, progress=lambda name, share: progress(name, 0.9 * share))
            findings += linked.findings
        else:
            progress(f"trying {attack.replace('_', ' ')}", 0.95)
            records = Records(
                release=one.release, known=one.known, targets=asked.targets, truth=one.truth, rng=one.rng(attack)
            )
            findings.append(RECORD_ATTACKS[attack](records))
    return Audited(
        name=one.release.name,
        rows=one.release.released.rows,
        kind=one.release.kind,
        columns=one.known,
        sha256=one.sha256,
        findings=tuple(findings),
        weights=linked.weights,
        search=linked.search,
    )

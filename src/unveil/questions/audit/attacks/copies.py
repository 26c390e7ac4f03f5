"""Exact copies: original records that are released unchanged."""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.guesses.trials import Attempts
from unveil.metrics.trials.risk import NO_CONTROL, Rate, Risk, clopper_pearson, excess
from unveil.metrics.verdict.effects import RatePair
from unveil.questions.audit.attack_results import AttackResult, FigureEvidence, by_groups, figure_of, withheld
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, CopyFindings, JudgedFigure, SuccessRange
from unveil.questions.audit.people import pool_people
from unveil.questions.audit.words import listed
from unveil.report.blocks import Block, Number, Section, Side, TableBlock
from unveil.report.text import count, name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from unveil._kernels.types import BoolArray, FloatArray
    from unveil.metrics.verdict.copies import CopiedPeople
    from unveil.questions.audit.inputs import PreparedRelease

#: The test of rare copies among the figures of the attack.
RARE = "rare copies"
#: So many records are shown in all, and so many columns of each: enough to look some up, and the page stays small.
MOST_RECORDS = 20
MOST_COLUMNS = 30
WARNING = (
    "This internal report shows records of the original data. Do not share or publish it, and do not send it "
    "with the release."
)
_LEFT: Side = "left"
_RIGHT: Side = "right"
_LONGEST_CELL = 60
_LONGEST_NAME = 40
#: Columns beside those of the data.
_ROW, _PEOPLE, _RELEASED, _CHANCE = "row", "people", "released", "chance"
_MISSING = "(missing)"


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return the share of exact copies among people and control group."""
    from unveil.metrics.releases.closeness import rows_that_fit_one
    from unveil.metrics.verdict.copies import copied_people

    drawn, people = attacked.drawn, attacked.drawn.people
    tables = pool_people(drawn.release, drawn.ids)
    fitting = rows_that_fit_one(drawn.release, tables.columns)
    fit_one = {name: rate for name, rate in fitting.items() if rate.defined}
    found = copied_people(tables, by=people.by)
    rate = clopper_pearson(found.people_unchanged, found.people)
    control = clopper_pearson(found.control_unchanged, found.control_people) if found.control_people else UNDEFINED
    copied = float(found.people_unchanged)
    finding = AttackFinding(
        attack=attacked.attack,
        targets=found.people,
        risk=Risk(
            attack_rate=rate,
            naive_rate=UNDEFINED,
            control_rate=control,
            excess_over_control=excess(rate, control) if control.defined else replace(UNDEFINED, why=NO_CONTROL),
        ),
        links=SuccessRange(expected=copied, low=copied, high=copied),
        figures={
            "rows_copied": float(found.rows_copied),
            "expected_by_coincidence": found.expected,
            "unmistakable": float(found.unmistakable),
            "rare_copies": float(found.rare_copies),
            "rare_copies_expected": found.rare_expected,
            "rare_explained": found.rare_explained,
            **{name: rate.value for name, rate in fit_one.items()},
        },
        remark=_remark(found, fit_one),
    )
    finding = withheld(people, finding)
    copies = CopyFindings(**{each.name: getattr(found, each.name) for each in fields(CopyFindings)})
    if not found.control_people:
        return (AttackResult(finding=finding, copies=copies),)
    figure, whose = figure_of(finding, control_tries=found.control_people), tables.person
    # Whoever stands in both tables is equal to somebody: then only those count who are alone.
    is_usable = people.control.outcome == "usable"
    alone = FigureEvidence(
        figure=_figure_of(figure, "alone in the pool", found.copied_alone, found),
        statistic=found.copied_alone[whose],
        pool="everybody",
        is_shown=not is_usable,
    )
    rare = FigureEvidence(
        figure=_figure_of(figure, RARE, found.rare_copied, found),
        statistic=found.rare_copied[whose],
        pool="everybody",
        is_shown=False,
    )
    all_copied = FigureEvidence(figure=figure, statistic=found.copied[whose], pool="everybody", is_shown=is_usable)
    evidence = (
        *([all_copied] if is_usable else []),
        alone,
        *([rare] if people.compares else []),
        *by_groups(people, alone),
    )
    effect = RatePair.of(
        _hits(found.people_unchanged, found.people), _hits(found.control_unchanged, found.control_people)
    )
    return (AttackResult(finding=finding, evidence=evidence, copies=copies, effect=effect),)


def _hits(number: int, people: int) -> Attempts:
    return Attempts(tries=people, expected=float(number), low=float(number), high=float(number))


def _figure_of(figure: JudgedFigure, adversary: str, copied: "BoolArray", people: "CopiedPeople") -> JudgedFigure:
    """Return the test of selected copies in the pool."""
    inside, outside = (float(part.sum()) for part in np.split(copied, [people.people]))
    rate, control = clopper_pearson(inside, people.people), clopper_pearson(outside, people.control_people)
    return replace(
        figure,
        adversary=adversary,
        attack_rate=rate,
        control_rate=control,
        excess_over_control=excess(rate, control),
    )


def _remark(copied: "CopiedPeople", fit_one: "Mapping[str, Rate]") -> str:
    said = []
    if copied.coarsened:
        said.append(
            f"{listed(copied.coarsened)} {_are(copied.coarsened)} generalized in the release; no record can be equal."
        )
    if copied.relabelled:
        said.append(f"Most released labels of {listed(copied.relabelled)} are new, so no record can be equal.")
    if fit_one:
        beside = "control_fit_one" in fit_one
        outside = f", and {fit_one['control_fit_one'].value:.1%} one of the control" if beside else ""
        said.append(f"{fit_one['fit_one'].value:.1%} of the released records fit exactly one person{outside}.")
    return " ".join(said)


def _are(names: "Sequence[str]") -> str:
    return "is" if len(names) == 1 else "are"


@dataclass(frozen=True, kw_only=True)
class CopiedRecords:
    """The records of the original that stand in one release unchanged."""

    release: str
    columns: tuple[str, ...]
    #: All records that are released unchanged, those that several people share counted once.
    distinct: int
    #: The people who have one of them.
    people: int
    #: The first of them: how many people have each, and its known cells as text.
    records: tuple[tuple[int, tuple[str, ...]], ...]


def copied_records(releases: "Sequence[PreparedRelease]", *, at_most: int = MOST_RECORDS) -> tuple[CopiedRecords, ...]:
    """Return the original records that each release holds unchanged.

    Which records are shown depends on what they hold and not on where they stand: those that fewest people share come
    first, unmistakable copies before all others and the most improbable of these first, then the order of their values.
    ``at_most`` is divided among the releases that have such records.
    """
    found = [_copied(each) for each in releases]
    having = [place for place, groups in enumerate(found) if groups.height]
    shares = {place: at_most // len(having) + (at < at_most % len(having)) for at, place in enumerate(having)}
    return tuple(
        CopiedRecords(
            release=each.release.name,
            columns=each.known,
            distinct=groups.height,
            people=int(groups[_PEOPLE].sum()),
            records=_records(each, groups.head(shares.get(place, 0))),
        )
        for place, (each, groups) in enumerate(zip(releases, found, strict=True))
    )


def _copied(prepared: "PreparedRelease") -> "pl.DataFrame":
    """Return one row per distinct original record that is released."""
    import polars as pl

    from unveil.data.table import with_markers
    from unveil.metrics.releases.closeness import exact_rows
    from unveil.metrics.verdict.pooled_tables import number_people

    original = prepared.release.original
    names = [column.name for column in original.columns if column.role not in ("identifier", "ignored")]
    # The order of the records is that of the columns that are shown.
    names = [*prepared.known, *(name for name in names if name not in prepared.known)]
    people, released = with_markers([original, exact_rows(prepared.release.released, names)], names)
    rows, nobody = pl.int_range(pl.len(), dtype=pl.Int64), pl.lit(None, pl.Int64)
    whose = pl.Series(_PEOPLE, number_people(prepared.ids[0], original.rows, "ids"))
    stacked = pl.concat(
        [
            people.with_columns(rows.alias(_ROW), whose),
            released.with_columns(nobody.alias(_ROW), nobody.alias(_PEOPLE)),
        ],
        how="vertical_relaxed",  # whole numbers in one table may be real ones in the other
    )
    groups = stacked.group_by(people.columns).agg(
        pl.col(_PEOPLE).drop_nulls().n_unique(), pl.col(_ROW).null_count().alias(_RELEASED), pl.col(_ROW).min()
    )
    both = groups.filter((pl.col(_PEOPLE) > 0) & (pl.col(_RELEASED) > 0))
    both = both.with_columns(pl.Series(_CHANCE, _chances(prepared)[both[_ROW].to_numpy()]))
    return both.sort([_CHANCE, _PEOPLE, *people.columns], nulls_last=True).select(_PEOPLE, _ROW)


def _chances(prepared: "PreparedRelease") -> "FloatArray":
    """Return each row's chance of coincidence; 1 if not beyond chance."""
    from unveil.metrics.verdict.copies import copied_people
    from unveil.metrics.verdict.pooled_tables import pool_tables

    tables = pool_tables(prepared.release, ids=prepared.ids[0], control_ids=prepared.ids[1])
    found = copied_people(tables)
    own = tables.person[: prepared.release.original.rows]
    return np.where(found.is_unmistakable[own], found.chance[own], 1.0)


def _records(prepared: "PreparedRelease", groups: "pl.DataFrame") -> tuple[tuple[int, tuple[str, ...]], ...]:
    rows = prepared.release.original.select(prepared.known).content[groups[_ROW].to_numpy()]
    cells = zip(*(_texts(rows[name]) for name in prepared.known), strict=True)
    return tuple(zip(groups[_PEOPLE].to_list(), cells, strict=True))


def _texts(values: "pl.Series") -> list[str]:
    """Return cells as text."""
    import polars as pl

    if values.dtype.is_float():
        # Adding 0 makes 0 of minus 0, which equals it.
        return [_MISSING if value is None else repr(value + 0.0).removesuffix(".0") for value in values.to_list()]
    if isinstance(values.dtype, pl.Datetime):
        texts = values.dt.to_string("%Y-%m-%d %H:%M:%S%.f").to_list()
        return [_MISSING if text is None else text.removesuffix(" 00:00:00") for text in texts]
    return [_MISSING if value is None else str(value) for value in values.to_list()]


def records_section(copied: "Sequence[CopiedRecords]") -> Section:
    """Return the report section that shows copied records."""
    return Section(
        heading="Records at stake",
        lead=(
            f"{WARNING} The tables show original records that are released unchanged, in the columns that an "
            "attacker may know. Copies beyond chance come first, then the rarest records."
        ),
        blocks=tuple(_block(each, several=len(copied) > 1) for each in copied),
    )


def _block(copied: CopiedRecords, *, several: bool) -> Block:
    where = f" in {name(copied.release, _LONGEST_NAME)!r}" if several else ""
    if not copied.records:
        return Number(
            label=f"Records released unchanged{where}",
            value=count(copied.distinct),
            meaning="None of them is shown, to keep this page short."
            if copied.distinct
            else "No record of the original is released as an exact copy.",
        )
    columns = copied.columns[:MOST_COLUMNS]
    return TableBlock(
        caption=f"Records of the original that are released unchanged{where}",
        columns=("People", *(name(column, _LONGEST_NAME) for column in columns)),
        rows=tuple(
            (count(people), *(name(cell, _LONGEST_CELL) for cell in cells[:MOST_COLUMNS]))
            for people, cells in copied.records
        ),
        align=(_RIGHT, *(_LEFT for _ in columns)),
        note=_note(copied),
    )


def _note(copied: CopiedRecords) -> str:
    more, hidden = copied.distinct - len(copied.records), len(copied.columns) - MOST_COLUMNS
    said = [f"{count(copied.people, 'person has', 'people have')} a record that is released unchanged."]
    if more:
        said.insert(0, f"{count(more, 'more record is', 'more records are')} not shown.")
    if hidden > 0:
        said.append(f"{count(hidden, 'more column is', 'more columns are')} left out.")
    return " ".join(said)


ATTACK = AuditAttack(
    name="copies",
    also_called=("exact matches", "identical matches", "identical match share", "ims", "duplicates", "exact copies"),
    run=run,
    title="Exact copies",
    about=(
        "Exact copies: people whose record equals a released one in all shared columns. A copy is beyond "
        "chance under two conditions. Its record is too improbable under a tree of columns (Chow and Liu), with a "
        "factor of 10. More rare records are copied than people with equal records explain."
    ),
    asks="copied",
    has_chance=False,
    per_person=False,
    takes_memory=True,
)

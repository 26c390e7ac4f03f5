"""Most exposed records: who is at risk, and why?"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from math import isnan

from unveil.questions.audit.findings import Audit, AuditedRelease, ExposedPerson
from unveil.questions.audit.report_context import AuditContext
from unveil.questions.audit.sections.results import charted
from unveil.questions.audit.words import LONGEST_NAME, listed, percent
from unveil.report.blocks import Section, TableBlock, sides
from unveil.report.blocks_spread import Waterfall, Waterfalls
from unveil.report.text import count, name

#: At most so many records are listed.
MOST_RECORDS = 10
#: Columns with a step of their own in a waterfall.
MOST_STEPS = 8
#: Records with a waterfall.
MOST_WATERFALLS = 5


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return the most exposed records, for the internal report."""
    every = [release for release in audit.releases if release.exposed]
    if not every:
        return None
    found = [release for release in every if release.name in charted(audit)] or every[:1]
    return Section(
        heading="Most exposed records",
        question="Who is at risk, and why?",
        lead=f"{common_columns(found[0].exposed)} Row 1 is the first row of the original data.",
        blocks=tuple(_table(release, several=len(every) > 1) for release in found),
        data=tuple(block for release in found[:1] if (block := _waterfalls(release)).items),
    )


def _table(release: AuditedRelease, *, several: bool) -> TableBlock:
    where = f" by {name(release.name, LONGEST_NAME)!r}" if several else ""
    heads = ("Row", "p", "Flagged", "Outlier (percentile)", "Rare values released", "Closest released row", "Shares")
    return TableBlock(
        caption=f"Records most exposed{where}",
        columns=heads,
        rows=tuple(
            (
                count(each.row + 1),
                f"{each.p:.2g}",
                "yes" if each.flagged else "no",
                percent(each.outlier_percentile),
                _first(each.unheard),
                count(each.released_row + 1) if each.released_row >= 0 else "–",
                _first(each.columns),
            )
            for each in release.exposed[:MOST_RECORDS]
        ),
        align=("right", "right", "left", "right", "left", "right", "left"),
        note=(
            "p: share of non-members with a membership score at least as high. Rare values released: columns whose "
            "value is in the release, but not in the reference set. Shares: columns equal to the closest released row, "
            "the rarest value first, and the number of further ones."
        ),
    )


def _first(columns: Sequence[str]) -> str:
    """Return the first column, and the number of further ones.

    >>> _first(["age", "sex", "town"]), _first(["age"]), _first([])
    ('age + 2', 'age', '–')
    """
    more = f" + {len(columns) - 1}" if len(columns) > 1 else ""
    return f"{name(columns[0], LONGEST_NAME)}{more}" if columns else "–"


def _waterfalls(release: AuditedRelease) -> Waterfalls:
    """Return the match weight of each column that a record shares with its closest released row."""
    items = []
    for each in release.exposed[:MOST_WATERFALLS]:
        if each.weights:
            steps = list(zip(each.columns, each.weights, strict=True))
            if (more := len(steps) - MOST_STEPS) > 1:
                steps[MOST_STEPS:] = [(f"{more} other columns", sum(weight for _, weight in steps[MOST_STEPS:]))]
            names = f"Row {count(each.row + 1)} and released row {count(each.released_row + 1)}"
            items.append(Waterfall(name=names, steps=tuple(steps)))
    return Waterfalls(
        title="Why a record is exposed",
        items=tuple(items),
        x_label="bits",
        caption=(
            "Match weight of each column that equals the closest released row. A value that half of the reference set "
            "has weighs 1 bit; a value that 1 of 1,000 records has weighs 10."
        ),
    )


def common_columns(exposed: Sequence[ExposedPerson]) -> str:
    """Return the columns in which exposed people stand out."""
    traced = [each for each in exposed if each.released_row >= 0]
    flagged = [each for each in traced if each.flagged]
    which = "Flagged people" if flagged else "The most exposed people"
    counts = Counter(column for each in flagged or traced[:20] for column in each.unheard or each.columns[:1])
    if not counts:
        return f"{which} share no rare value with a released row; they are only close to one."
    common = [column for column, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:3]]
    return f"{which} stand out most often by {listed(common)}."


def exposed_table(audit: Audit) -> TableBlock:
    """Return the record-level risk of all measured people.

    With siblings it has the rank of each person by z, 1 being the most exposed: z is no test of one person.
    """
    ranks = [_ranks(release.exposed) for release in audit.releases]
    more = ("sibling_z", "sibling_rank") if any(map(any, ranks)) else ()
    return TableBlock(
        caption="Exposed people",
        columns=(
            *("release", "row", "p", "flagged", "outlier_percentile"),
            *("unique_values_released", "nearest_row", "shared_columns"),
            *more,
        ),
        rows=tuple(
            (
                release.name,
                str(each.row + 1),
                f"{each.p:.6g}",
                "yes" if each.flagged else "no",
                f"{each.outlier_percentile:.6g}",
                "; ".join(each.unheard),
                str(each.released_row + 1) if each.released_row >= 0 else "",
                "; ".join(each.columns),
                *((f"{each.z:.4g}", str(rank)) if rank else ("", ""))[: len(more)],
            )
            for release, own in zip(audit.releases, ranks, strict=True)
            for each, rank in zip(release.exposed, own, strict=True)
        ),
        align=sides(f"lrrlrlrl{'rr' if more else ''}"),
    )


def _ranks(exposed: Sequence[ExposedPerson]) -> list[int]:
    """Return the rank of each person by z, the largest first; equal people have equal ranks, and 0 is unknown.

    >>> people = [ExposedPerson(row=0, as_exposed=0, others=9, flagged=False, outlier_percentile=0.5, z=z)
    ...           for z in (2.0, float("nan"), 3.0, 2.0)]
    >>> _ranks(people)
    [2, 0, 1, 2]
    """
    ascending = sorted(each.z for each in exposed if not isnan(each.z))
    return [0 if isnan(each.z) else 1 + len(ascending) - bisect_right(ascending, each.z) for each in exposed]

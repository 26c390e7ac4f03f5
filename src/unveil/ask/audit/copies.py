"""Which records of the original a release holds unchanged: only for the internal edition of a report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unveil.ask.audit.inputs import One
from unveil.ask.audit.parts.records import MOST_RECORDS, CopiedRecord, CopiedRecords
from unveil.measure.releases.closeness import exact_rows

if TYPE_CHECKING:
    import polars as pl

#: Columns beside those of the data; no name of theirs begins with a null character.
_ROW, _PEOPLE, _RELEASED = "\x00row", "\x00people", "\x00released"
_MISSING = "(missing)"


def copied_records(releases: Sequence[One], *, most: int = MOST_RECORDS) -> tuple[CopiedRecords, ...]:
    """Return for each release the records of the original that it holds unchanged, and the first few of them as text.

    Which records are shown depends on what they hold and not on where they stand: those that fewest people share come
    first, then the order of their values. ``most`` is divided among the releases that have such records.
    """
    found = [_copied(one) for one in releases]
    having = [place for place, groups in enumerate(found) if groups.height]
    shares = {place: most // len(having) + (at < most % len(having)) for at, place in enumerate(having)}
    return tuple(
        CopiedRecords(
            release=one.release.name,
            columns=one.known,
            distinct=groups.height,
            people=int(groups[_PEOPLE].sum()),
            records=_records(one, groups.head(shares.get(place, 0))),
        )
        for place, (one, groups) in enumerate(zip(releases, found, strict=True))
    )


def _copied(one: One) -> "pl.DataFrame":
    """Return one row for each distinct record of the original that is released, in the columns of the copies attack."""
    import polars as pl

    original = one.release.original
    names = [column.name for column in original.columns if column.role not in ("identifier", "ignored")]
    released = exact_rows(one.release.released, names)
    rows = pl.int_range(pl.len(), dtype=pl.Int64)
    stacked = pl.concat(
        [
            original.frame.select(names).with_columns(rows.alias(_ROW)),
            released.frame.select(names).with_columns(pl.lit(None, pl.Int64).alias(_ROW)),
        ],
        how="vertical_relaxed",  # whole numbers in one table may be real ones in the other
    )
    groups = stacked.group_by(names).agg(
        pl.col(_ROW).count().alias(_PEOPLE), pl.col(_ROW).null_count().alias(_RELEASED), pl.col(_ROW).min()
    )
    both = groups.filter((pl.col(_PEOPLE) > 0) & (pl.col(_RELEASED) > 0))
    hidden = [name for name in names if name not in one.known]
    return both.sort([_PEOPLE, *one.known, *hidden], nulls_last=True).select(_PEOPLE, _ROW)


def _records(one: One, groups: "pl.DataFrame") -> tuple[CopiedRecord, ...]:
    rows = one.release.original.frame.select(one.known)[groups[_ROW]]
    cells = zip(*(_texts(rows[name]) for name in one.known), strict=True)
    return tuple(
        CopiedRecord(people=people, cells=texts) for people, texts in zip(groups[_PEOPLE].to_list(), cells, strict=True)
    )


def _texts(values: "pl.Series") -> list[str]:
    """Return cells as text: whole numbers without a point, days without a time."""
    import polars as pl

    if values.dtype.is_float():
        # Adding 0 makes 0 of minus 0, which equals it.
        return [_MISSING if value is None else repr(value + 0.0).removesuffix(".0") for value in values.to_list()]
    if isinstance(values.dtype, pl.Datetime):
        texts = values.dt.to_string("%Y-%m-%d %H:%M:%S%.f").to_list()
        return [_MISSING if text is None else text.removesuffix(" 00:00:00") for text in texts]
    return [_MISSING if value is None else str(value) for value in values.to_list()]

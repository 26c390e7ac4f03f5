"""Draw sizes of equivalence classes: shares of original and of released records by the size of their class."""

from collections.abc import Collection, Iterator, Mapping
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.audit.findings import Audit, AuditedRelease
from unveil.report.blocks import Chart, Series, Side, Style, TableBlock
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import about, count, name, percent

if TYPE_CHECKING:
    from unveil.metrics.releases.disclosure import Disclosure

#: The bins: their names, and the size from which each begins.
BINS = (("1", 1), ("2", 2), ("3–4", 3), ("5–10", 5), ("11–19", 11), ("20+", 20))
_WIDTH = 0.4
_SIDES: tuple[tuple[str, Style], ...] = (("original records", "fifth"), ("released records", "first"))
_LONGEST_NAME = 40
_RIGHT: Side = "right"


def class_size_charts(audit: Audit, *, only: Collection[str] = ()) -> tuple[Chart, ...]:
    """Return the sizes of equivalence classes of each masked release, or of some."""
    return tuple(
        _chart(release.disclosure, f": {name(release.name, _LONGEST_NAME)}" if len(audit.releases) > 1 else "", audit)
        for release in audit.releases
        if release.disclosure is not None
        and not class_size_remark(release, audit.minimum_cell)
        and release.name in (only or (release.name,))
    )


def class_size_remark(release: AuditedRelease, minimum: int = 1) -> str:
    """Return why a release has no chart of its classes; empty where it has one."""
    if release.kind == "synthetic":
        return "Synthetic records belong to no person, so the size of their equivalence classes protects no one."
    if release.disclosure is None:
        return "Equivalence classes were not measured."
    return "" if _is_drawn(release.disclosure, minimum) else "There are too few records to show their classes."


def _chart(disclosure: "Disclosure", label: str, audit: Audit) -> Chart:
    shares = [_shares(below) for below in (disclosure.original_below or {}, disclosure.below)]
    smallest = [audit.minimum_cell / rows for rows in (audit.rows, disclosure.rows)]
    series = [
        _bars(*side, own, lowest, offset)
        for side, own, lowest, offset in zip(_SIDES, shares, smallest, (-_WIDTH, 0.0), strict=True)
        if own
    ]
    k = disclosure.k_anonymity
    return Chart(
        title=f"Equivalence class sizes{label}",
        x_label="records in the equivalence class",
        y_label="share of records",
        series=tuple(series),
        caption=f"{_finding(disclosure)} {'k is' if isinstance(k, SuppressedNumber) else 'k ='} {count(k)}.",
        x_range=(-0.5, len(BINS) - 0.5),
        y_range=(0.0, min(1.1 * max(float(np.nanmax(each.y)) for each in series), 1.0)),
        x_names=tuple((float(place), text) for place, (text, _) in enumerate(BINS)),
        hatched=f"known to within {audit.minimum_cell} records",
    )


def _shares(below: Mapping[int, float]) -> list[tuple[float, bool]]:
    """Return the share of records in each bin and whether it is exact; NaN where it may be that of a few."""
    if not below:
        return []
    shares: list[tuple[float, bool]] = []
    last, is_open = 0.0, False
    for _, start in BINS[1:]:
        share = below.get(start, nan)
        if isinstance(share, SuppressedNumber) and share.least > last:
            # All but a few are below this size, and those few may be in any of the next bins.
            shares.append((nan, False) if is_open else (share.least - last, False))
            last, is_open = share.least, True
        elif isinstance(share, SuppressedNumber) or isnan(share):
            shares.append((nan, False))
        else:
            shares.append((nan, False) if is_open and share > last else (share - last, True))
            last, is_open = share, False
    return [*shares, (nan, False) if is_open else (1.0 - last, True)]


def _is_drawn(disclosure: "Disclosure", minimum: int) -> bool:
    """Return whether there are enough records for bars that are known by bounds."""
    shares = [*(disclosure.original_below or {}).values(), *disclosure.below.values()]
    return disclosure.rows >= 2 * minimum or not any(isinstance(each, SuppressedNumber) for each in shares)


def _bars(label: str, style: Style, shares: list[tuple[float, bool]], lowest: float, offset: float) -> Series:
    """Return bars; a share that is not known, of a few records, is drawn as the smallest that may be shown."""
    share, exact = (np.array(each) for each in zip(*shares, strict=True))
    return Series(
        name=label,
        x=np.arange(len(BINS), dtype=np.float64) + offset,
        y=np.where(np.isnan(share), lowest, share),
        style=style,
        kind="bars",
        width=_WIDTH,
        hatched=None if exact.all() else ~exact,
    )


def _finding(disclosure: "Disclosure") -> str:
    below, before = disclosure.below, disclosure.original_below or {}
    share = below.get(11, nan)
    if isinstance(share, SuppressedNumber) or isnan(share):
        return "Few released records share their quasi-identifiers with fewer than 10 others."
    compared = before.get(11, nan)
    original = "" if isinstance(compared, SuppressedNumber) or isnan(compared) else f" (original: {about(compared)})"
    return f"{about(share)} of released records{original} are in classes of fewer than 11 records."


def class_size_table(audit: Audit) -> TableBlock | None:
    """Return the share of records by the size of their class, original and released."""
    rows = list(_rows(audit))
    if not rows:
        return None
    return TableBlock(
        caption="Share of records by size of their equivalence class",
        columns=("Records", *(text for text, _ in BINS)),
        rows=tuple(rows),
        align=("left", *(_RIGHT for _ in BINS)),
        note=f"–: fewer than {audit.minimum_cell} records, which the next share includes.",
    )


def _rows(audit: Audit) -> Iterator[tuple[str, ...]]:
    for release in audit.releases:
        disclosure = release.disclosure
        if disclosure is None or class_size_remark(release, audit.minimum_cell):
            continue
        label = f"{name(release.name, _LONGEST_NAME)}: " if len(audit.releases) > 1 else ""
        for which, below in (("original", disclosure.original_below or {}), ("released", disclosure.below)):
            if below:
                yield (f"{label}{which}", *(_cell(share, is_exact=exact) for share, exact in _shares(below)))


def _cell(share: float, *, is_exact: bool) -> str:
    if isnan(share):
        return "–"
    return percent(max(share, 0.0)) if is_exact else f"≥ {percent(share)}"

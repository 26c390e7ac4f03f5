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
        if release.disclosure is not None and release.kind != "synthetic" and release.name in (only or (release.name,))
    )


def class_size_remark(release: AuditedRelease) -> str:
    """Return why a release has no chart of its classes; empty where it has one."""
    if release.kind == "synthetic":
        return "Synthetic records belong to no person, so the size of their equivalence classes protects no one."
    return "" if release.disclosure is not None else "Equivalence classes were not measured."


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
        hatched=f"fewer than {audit.minimum_cell} records",
    )


def _shares(below: Mapping[int, float]) -> list[float]:
    """Return the share of records in each bin; NaN where it may be that of a few."""
    if not below:
        return []
    shares, last, is_open = [], 0.0, False
    for _, start in BINS[1:]:
        share = below.get(start, nan)
        if isinstance(share, SuppressedNumber) and share.least > last:
            # All but a few are below this size, and those few may be in any of the next bins.
            shares.append(nan if is_open else share.least - last)
            last, is_open = share.least, True
        elif isinstance(share, SuppressedNumber) or isnan(share):
            shares.append(nan)
        else:
            shares.append(nan if is_open and share > last else share - last)
            last, is_open = share, False
    return [*shares, nan if is_open else 1.0 - last]


def _bars(label: str, style: Style, shares: list[float], lowest: float, offset: float) -> Series:
    """Return bars; a share that is not known, of a few records, is drawn as the smallest that may be shown."""
    share = np.array(shares)
    few = np.isnan(share)
    return Series(
        name=label,
        x=np.arange(len(BINS), dtype=np.float64) + offset,
        y=np.where(few, lowest, share),
        style=style,
        kind="bars",
        width=_WIDTH,
        hatched=few if few.any() else None,
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
        if release.disclosure is None or release.kind == "synthetic":
            continue
        label = f"{name(release.name, _LONGEST_NAME)}: " if len(audit.releases) > 1 else ""
        sides = (("original", release.disclosure.original_below or {}), ("released", release.disclosure.below))
        for which, below in sides:
            if below:
                shares = _shares(below)
                yield (f"{label}{which}", *("–" if isnan(each) else percent(max(each, 0.0)) for each in shares))

"""Main chart of an audit as inline SVG, one row per risk.

Across, a row has shares of its width in place of pixels, so that it fits a phone, a screen and paper.
"""

from html import escape
from math import isfinite
from typing import Any

from unveil.report.blocks import RISK_LEVELS, RiskChartRow, RiskSummary
from unveil.report.text import short_percent

#: The smallest and largest excess of the axis, and the upper bounds of the levels very low, low and medium.
LOWEST, HIGHEST = -0.1, 1.0
BOUNDS = (0.05, 0.09, 0.33)
#: Ticks of the two axes.
_SUCCESS_TICKS, _EXCESS_TICKS = (0.0, 1.0), (0.0, 0.09, 0.33, 1.0)
_HIGH = 34
_LEVEL_TEXTS = {level: level.replace("_", " ") for level in (*RISK_LEVELS, "inconclusive")}


def risk_figure(summary: RiskSummary, identity: str) -> dict[str, Any]:
    """Return the template data: rows, panels, axes, and texts.

    >>> row = RiskChartRow(risk="Linkability", attack="a < b", success=0.84, baseline=0.2, excess=0.64, low=0.5,
    ...                    high=0.7, cells=("84%", "20%", "64 (50, 70)", "<0.001", "high"), significant=True,
    ...                    level="high")
    >>> figure = risk_figure(RiskSummary(title="Risks", rows=(row,)), "risks")
    >>> "Linkability: excess 64 (50, 70), high." in figure["rows"][0]["excess"]
    True
    """
    from markupsafe import Markup

    def drawn(svg: str) -> Any:
        return Markup(svg)  # noqa: S704 - every text in it is escaped

    return {
        "chart": summary,
        "identity": identity,
        "rows": [
            {
                "row": row,
                "success": drawn(success_bar(row)) if isfinite(row.success) else "",
                "excess": drawn(excess_mark(row, summary.threshold)) if row.tested else "",
                "level": _LEVEL_TEXTS.get(row.level, ""),
            }
            for row in summary.rows
        ],
        "success_axis": drawn(_axis([(at, short_percent(at)) for at in _SUCCESS_TICKS], 0.0, 1.0)),
        "excess_axis": drawn(_axis([(at, f"{100 * at:.0f}") for at in _EXCESS_TICKS], LOWEST, HIGHEST)),
        "can_preview": any(row.tested and isfinite(row.high) for row in summary.rows),
        "start": round(100 * (summary.threshold if summary.threshold is not None else 0.09)),
    }


def success_bar(row: RiskChartRow) -> str:
    """Return a bar of attack success, with its baseline tick."""
    said = f"{row.risk}: attack success {row.cells[0]}, {row.baseline_kind} {row.cells[1]}."
    tick = ""
    if isfinite(row.baseline):
        x, style = 100 * row.baseline, "control" if row.baseline_kind == "control" else "baseline"
        tick = f'<line class="risk-tick {style}" x1="{x:.2f}%" x2="{x:.2f}%" y1="5" y2="29"/>'
    bar = f'<rect class="risk-bar" x="0" y="10" width="{max(100 * row.success, 0.4):.2f}%" height="14"/>'
    rest = '<rect class="risk-rest" x="0" y="10" width="100%" height="14"/>'
    return _panel(said, f"{rest}{bar}{tick}")


def excess_mark(row: RiskChartRow, threshold: float | None) -> str:
    """Return the excess as a dot with limits, bands, and threshold."""
    said = f"{row.risk}: excess {row.cells[2]}, {row.cells[4].lstrip('●○ ')}."
    parts = []
    for number, (low, high) in enumerate(zip((0.0, *BOUNDS), (*BOUNDS, HIGHEST), strict=True), start=1):
        x, width = _place(low), _place(high) - _place(low)
        parts.append(f'<rect class="band-{number}" x="{x:.2f}%" y="0" width="{width:.2f}%" height="{_HIGH}"/>')
    zero = _place(0.0)
    parts.append(f'<line class="axis faint" x1="{zero:.2f}%" x2="{zero:.2f}%" y1="0" y2="{_HIGH}"/>')
    if threshold is not None:
        x = _place(threshold)
        parts.append(f'<line class="risk-threshold" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="{_HIGH}"/>')
    if isfinite(row.low) and isfinite(row.high):
        low, high = _place(row.low), _place(row.high)
        parts.append(f'<line class="risk-limits" x1="{low:.2f}%" x2="{high:.2f}%" y1="17" y2="17"/>')
        parts += [_arrow("0%", "M5 -4L0 0L5 4")] if row.low < LOWEST else []
        parts += [_arrow("100%", "M-5 -4L0 0L-5 4")] if row.high > HIGHEST else []
    if isfinite(row.excess):
        filled = "filled" if row.significant else "hollow"
        parts.append(f'<circle class="risk-dot {filled}" cx="{_place(row.excess):.2f}%" cy="17" r="6"/>')
    return _panel(said, "".join(parts))


def _panel(said: str, drawn: str) -> str:
    text = escape(said)
    return (
        f'<svg class="risk" role="img" aria-label="{text}" height="{_HIGH}"><g><title>{text}</title>{drawn}</g></svg>'
    )


def _arrow(x: str, path: str) -> str:
    return f'<svg x="{x}" y="17" overflow="visible"><path class="risk-limits" d="{path}"/></svg>'


def _place(excess: float) -> float:
    inside = min(max(excess, LOWEST), HIGHEST)
    return 100 * (inside - LOWEST) / (HIGHEST - LOWEST)


def _axis(ticks: list[tuple[float, str]], low: float, high: float) -> str:
    texts = []
    for at, text in ticks:
        x = 100 * (at - low) / (high - low)
        side = "end" if x > 95 else "start" if x < 5 else "middle"
        texts.append(f'<text class="tick {side}" x="{x:.2f}%" y="13">{escape(text)}</text>')
    return f'<svg class="risk" height="17" aria-hidden="true" focusable="false">{"".join(texts)}</svg>'

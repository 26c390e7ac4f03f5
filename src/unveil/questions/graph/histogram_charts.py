"""Histograms of probabilities as pictures, raw scores beside learned probabilities."""

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.questions.graph.histograms import BINS, Histogram
from unveil.report.blocks import Chart, Series
from unveil.report.text import count, percent


def histogram_charts(raw: Histogram, learned: Histogram | None) -> tuple[Chart, ...]:
    """Return two pictures: all probabilities, and the likeliest of each node (Figs 5a and 5d)."""
    all_learned, likeliest = (None, None) if learned is None else (learned.every, learned.likeliest)
    return (
        _chart("Where all probabilities are", "candidates", raw.every, all_learned),
        _chart("Where the likeliest of each node is", "nodes", raw.likeliest, likeliest),
    )


def _chart(title: str, what: str, raw: FloatArray, learned: FloatArray | None) -> Chart:
    share = raw / max(raw.sum(), 1.0)
    left = np.arange(BINS) / BINS
    series = [Series(name="raw scores", x=left, y=share, style="first", kind="bars", width=1 / BINS)]
    highest = share.max()
    mended = ""
    if learned is not None:
        other = learned / max(learned.sum(), 1.0)
        series.append(Series(name="learned", x=left + 0.5 / BINS, y=other, style="second"))
        highest = max(highest, other.max())
        mended = f" ({percent(float(other[0]))} of the learned ones, which are those of all nodes)"
    return Chart(
        title=title,
        x_label="probability",
        y_label=f"share of {what}",
        series=tuple(series),
        caption=f"{count(round(float(raw.sum())))} {what} with raw scores, in {BINS} bins of equal width: "
        f"{percent(float(share[0]))} of them have less than 1%{mended}.",
        x_range=(0.0, 1.0),
        y_range=(0.0, min(1.0, max(0.05, np.ceil(float(highest) * 20) / 20))),
    )

"""How many entries may be cracked, and how exposed entries are: two pictures as data."""

import math

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks
from unveil.questions.matching.words import TAIL, or_more
from unveil.report.blocks import Chart, Series, Threshold
from unveil.report.scale import choose_bins, round_step
from unveil.report.text import count, percent

#: The most bars of the distribution of cracks.
MOST_BARS = 40
#: Numbers of cracks further out than this share of all chance are not drawn.
_FAR_OUT = 1e-4
#: Blind guessing is drawn where this much of its chance can be seen, and the bars beside it.
_SEEN, _HIGHEST = 0.5, 3.0


def crack_chart(cracks: Cracks, blind: FloatArray) -> Chart:
    """Return the chance of each number of cracks, the worst 5% marked.

    ``blind`` is the same distribution for an adversary who knows nothing.
    """
    chance, tail = cracks.crack_distribution, cracks.at_least(TAIL).at_least
    low, width, number = _bins(chance, tail)
    starts = low + width * np.arange(number)
    height, guessed = _binned(chance, starts, width), _binned(blind, starts, width)
    top = float(max(height.max(), 0.0))
    there = height > 0
    series = [
        Series(
            name="this adversary",
            x=np.asarray(starts[there] - 0.5, np.float64),
            y=height[there],
            style="first",
            kind="bars",
            width=float(width),
        )
    ]
    if guessed.sum() >= _SEEN and guessed.max() <= _HIGHEST * top:
        top = max(top, float(guessed.max()))
        middle = np.asarray(starts + (width - 1) / 2, np.float64)
        series.append(Series(name="an adversary who knows nothing", x=middle, y=guessed, style="second"))
    share = percent(TAIL, places=0)
    at = Threshold(name=f"with {share} probability {or_more(tail, cracks.n)}", value=tail - 0.5, across="x")
    return Chart(
        title="How many entries are cracked",
        x_label="cracked entries" if width == 1 else f"cracked entries, in steps of {count(width)}",
        y_label="probability",
        series=tuple(series),
        caption=_caption(cracks, tail),
        x_range=(float(starts[0]) - 0.5, float(starts[-1] + width) - 0.5),
        # Above the highest bar there is room for the name of the threshold.
        y_range=(0.0, _ceiling(top)),
        x_kind="count",
        thresholds=(at,) if tail > 0 else (),
    )


def entries_chart(cracks: Cracks) -> Chart:
    """Return the share of entries per range of crack probability."""
    return exposure_chart(
        cracks.crack_probability,
        title="How exposed entries are",
        x_label="probability that an entry is cracked",
        caption="An average can look safe while some entries are fully exposed: these stand on the right.",
    )


def exposure_chart(chances: FloatArray, *, title: str, x_label: str, caption: str) -> Chart:
    """Return the share of entries per range of some probability of theirs."""
    values = np.clip(chances, 0.0, 1.0)
    # The whole scale, unless that would squeeze all entries into its lower half.
    bins = choose_bins(values, (0.0, math.inf if 0 < values.max() < 0.5 else 1.0))
    bar = np.clip(np.floor((values - bins.low) / bins.width + 1e-9), 0, bins.number - 1).astype(np.int64)
    share = np.bincount(bar, minlength=bins.number) / values.size
    filled = np.flatnonzero(share)
    mean = float(values.mean())
    return Chart(
        title=title,
        x_label=x_label,
        y_label="share of entries",
        series=(
            Series(
                name="entries",
                x=bins.low + filled.astype(np.float64) * bins.width,
                y=share[filled],
                style="first",
                kind="bars",
                width=bins.width,
            ),
        ),
        caption=caption,
        x_range=(bins.low, bins.high),
        y_range=(0.0, _ceiling(float(share.max()))),
        x_kind="share",
        thresholds=(Threshold(name=f"mean {percent(mean)}", value=mean, across="x"),),
    )


def _bins(chance: FloatArray, tail: int) -> tuple[int, int, int]:
    """Return where the first bar starts, how many numbers of cracks a bar holds, and how many bars there are.

    One bar starts at ``tail``.
    """
    below = np.cumsum(chance)
    above = np.cumsum(chance[::-1])[::-1]
    first = int(np.argmax(below > _FAR_OUT))
    last = max(int(chance.size - 1 - np.argmax(above[::-1] > _FAR_OUT)), tail)
    if first <= last / 2:
        first = 0
    last = min(max(last, first + 3), chance.size - 1)
    width = max(1, round(round_step((last - first + 1) / (MOST_BARS - 1))))
    low = tail - width * math.ceil((tail - first) / width)
    return low, width, (last - low) // width + 1


def _binned(chance: FloatArray, starts: np.ndarray[tuple[int], np.dtype[np.int64]], width: int) -> FloatArray:
    whole = np.concatenate([[0.0], np.cumsum(chance)])
    ends = np.clip([starts, starts + width], 0, chance.size)
    return np.asarray(whole[ends[1]] - whole[ends[0]])


def _caption(cracks: Cracks, tail: int) -> str:
    text = (
        "The adversary takes one matching and does not know how many entries of it are right: each bar is the "
        "probability that so many are."
    )
    if tail:
        worst = percent(float(cracks.crack_distribution[tail:].sum()))
        text += f" From the broken line on they add up to {worst}."
    return text


def _ceiling(top: float) -> float:
    return min(1.0, max(0.1, math.ceil(top * 11.5 - 1e-9) / 10)) if top <= 0.85 else 1.15

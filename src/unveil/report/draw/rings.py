"""The same marks on rings as matplotlib axes, for notebooks and papers."""

from typing import TYPE_CHECKING

from unveil.report.blocks import Rings
from unveil.report.draw import pyplot
from unveil.report.svg.rings import POINT, places, size_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The colours of the page on white paper, from the most striking level on, and that of what is unknown.
COLOURS = ("#5e0f12", "#9c2f1f", "#b0602a", "#b98a3e")
UNKNOWN = "#7d858f"


def draw_rings(rings: Rings, axes: "Axes | None" = None) -> "Axes":
    """Draw the marks on ``axes``, or on new axes, as in the report.

    >>> import numpy as np
    >>> one = Rings(title="T", caption="", description="", level=np.array([0]), levels=("high", "none"),
    ...             struck=np.array([True]), struck_name="hit")
    >>> len(draw_rings(one).patches)
    2
    """
    from matplotlib.patches import Circle

    if axes is None:
        _, axes = pyplot.subplots(figsize=(6.4, 6.4), layout="constrained")
    x, y, radius = places(rings.level.size)
    last = len(rings.levels) - 1
    unknown = rings.level == last
    axes.hlines(-y[unknown], x[unknown] - 0.2, x[unknown] + 0.2, colors=UNKNOWN, linewidths=1.0)
    for a, d, level, struck in zip(x, -y, rings.level.tolist(), rings.struck.tolist(), strict=True):
        if level != last:
            axes.add_patch(Circle((a, d), size_of(level, last) / 2, color=COLOURS[level], linewidth=0))
        if struck:
            axes.add_patch(Circle((a, d), POINT * size_of(level, last) / 2, color="white", linewidth=0))
    for level, name in enumerate(rings.levels):
        mark, colour = ("_", UNKNOWN) if level == last else ("o", COLOURS[level])
        size = 9 * (0.6 if level == last else size_of(level, last))
        axes.plot([], [], mark, color=colour, markersize=size, label=name)
    axes.plot([], [], "o", mfc="white", mec=COLOURS[0], mew=2.5, markersize=6, label=rings.struck_name)
    room = radius + 0.7
    axes.set(xlim=(-room, room), ylim=(-room, room), aspect="equal")
    axes.set_axis_off()
    axes.set_title(rings.title, loc="left", fontsize="medium", parse_math=False)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.02), ncols=2, frameon=False, fontsize="small")
    return axes

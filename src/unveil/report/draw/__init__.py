"""Charts as matplotlib axes."""

from typing import TYPE_CHECKING

from unveil._optional import need

if TYPE_CHECKING:
    from matplotlib import pyplot as pyplot
else:
    # Here, so that whatever of this package is imported first names the extra.
    pyplot = need("matplotlib.pyplot", extra="plot")

"""Published frequency tables: shown, suppressed, and rounded cells, and their sums."""

from unveil.data.counts.codes import CountVariable
from unveil.data.counts.published_counts import PublishedCounts, PublishedTable
from unveil.data.counts.reading import read_counts
from unveil.data.counts.settings import CountSettings, Rounding

__all__ = ["CountSettings", "CountVariable", "PublishedCounts", "PublishedTable", "Rounding", "read_counts"]

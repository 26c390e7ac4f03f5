"""Tables of counts as they are published: cells that are shown, hidden or rounded, and how their codes add up."""

from unveil.data.counts.codes import CountVariable
from unveil.data.counts.published_counts import PublishedCounts, PublishedTable
from unveil.data.counts.reading import read_counts
from unveil.data.counts.settings import CountSettings, Rounding

__all__ = ["CountSettings", "CountVariable", "PublishedCounts", "PublishedTable", "Rounding", "read_counts"]

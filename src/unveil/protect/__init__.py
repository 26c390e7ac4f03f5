"""What the holder of data does before a release: settings, and one method that takes the original and gives a release.

A protection is one file and one line here. Every one of them leaves out columns that identify people and puts the
rows in random order, because an order that is kept would tell which row is whose.
"""

from unveil.protect._listing import PROTECTIONS, Protection, Protects, protection
from unveil.protect.specification import protection_from
from unveil.protect.table.gaussian_copula import GaussianCopula
from unveil.protect.table.rank_swapping import RankSwapping
from unveil.protect.table.shuffle import Shuffle

__all__ = [
    "PROTECTIONS",
    "GaussianCopula",
    "Protection",
    "Protects",
    "RankSwapping",
    "Shuffle",
    "protection",
    "protection_from",
]

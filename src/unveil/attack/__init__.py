"""What an adversary does with a release: each attack is settings plus one method, and leaves a guess to measure."""

from unveil.attack._listing import ATTACKS, Attack, attack
from unveil.attack.table.anonymeter import AnonymeterLinkability
from unveil.attack.table.linkability import Linkability
from unveil.attack.table.record_linkage import RecordLinkage
from unveil.attack.table.row_order import OrderTest, RowOrder

__all__ = [
    "ATTACKS",
    "AnonymeterLinkability",
    "Attack",
    "Linkability",
    "OrderTest",
    "RecordLinkage",
    "RowOrder",
    "attack",
]

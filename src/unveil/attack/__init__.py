"""What an adversary does with a release: each attack is settings plus one method, and leaves a guess to measure.

An attack is one file and one line here. Those of another package, for comparison with it, are loaded when asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from unveil._lazy import lazily
from unveil.attack._listing import ATTACKS, Attack, attack
from unveil.attack.counts.rank_records import RankRecords
from unveil.attack.counts.solve_counts import SolveCounts
from unveil.attack.graph.adaptive_deanonymization import AdaptiveDeanonymization
from unveil.attack.graph.distance_vector import DistanceVector
from unveil.attack.graph.ji_li_srivatsa_beyah import JiLiSrivatsaBeyah
from unveil.attack.graph.korula_lattanzi import KorulaLattanzi
from unveil.attack.graph.mean_field import MeanField
from unveil.attack.graph.narayanan_shmatikov import NarayananShmatikov
from unveil.attack.graph.refine import Refine
from unveil.attack.graph.yartseva_grossglauser import YartsevaGrossglauser
from unveil.attack.specification import (
    Attacks,
    AttacksCounts,
    AttacksGraph,
    attack_from,
    attack_text,
    graph_attack_from,
)
from unveil.attack.table.attribute_disclosure import AttributeDisclosure, Disclosed
from unveil.attack.table.bayes import Bayes
from unveil.attack.table.candidate_set import CandidateSet
from unveil.attack.table.fellegi_sunter import FellegiSunter
from unveil.attack.table.inference import Inference
from unveil.attack.table.linkability import Linkability
from unveil.attack.table.membership import Membership, MembershipScores
from unveil.attack.table.nearest import Nearest, Softmax
from unveil.attack.table.rank_intersection import RankIntersection
from unveil.attack.table.record_linkage import RecordLinkage
from unveil.attack.table.row_order import OrderTest, RowOrder
from unveil.attack.table.searched_inference import SearchedInference
from unveil.attack.table.several_releases import SeveralReleases
from unveil.attack.table.singling_out import SinglingOut
from unveil.attack.table.splink_linkage import SplinkLinkage

if TYPE_CHECKING:
    from unveil.attack.anonymeter.inference import AnonymeterInference
    from unveil.attack.anonymeter.linkability import AnonymeterLinkability
    from unveil.attack.anonymeter.singling_out import AnonymeterSinglingOut

_ANONYMETER = {
    "AnonymeterInference": "anonymeter.inference",
    "AnonymeterLinkability": "anonymeter.linkability",
    "AnonymeterSinglingOut": "anonymeter.singling_out",
}

__getattr__ = lazily(__name__, _ANONYMETER)[1]


def __dir__() -> list[str]:
    return sorted(__all__)


def load() -> None:
    """Load what is loaded when asked for, so that every attack is listed."""
    for home in _ANONYMETER.values():
        import_module(f"{__name__}.{home}")


__all__ = [
    "ATTACKS",
    "AdaptiveDeanonymization",
    "AnonymeterInference",
    "AnonymeterLinkability",
    "AnonymeterSinglingOut",
    "Attack",
    "Attacks",
    "AttacksCounts",
    "AttacksGraph",
    "AttributeDisclosure",
    "Bayes",
    "CandidateSet",
    "Disclosed",
    "DistanceVector",
    "FellegiSunter",
    "Inference",
    "JiLiSrivatsaBeyah",
    "KorulaLattanzi",
    "Linkability",
    "MeanField",
    "Membership",
    "MembershipScores",
    "NarayananShmatikov",
    "Nearest",
    "OrderTest",
    "RankIntersection",
    "RankRecords",
    "RecordLinkage",
    "Refine",
    "RowOrder",
    "SearchedInference",
    "SeveralReleases",
    "SinglingOut",
    "Softmax",
    "SolveCounts",
    "SplinkLinkage",
    "YartsevaGrossglauser",
    "attack",
    "attack_from",
    "attack_text",
    "graph_attack_from",
]

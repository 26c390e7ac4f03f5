"""What an adversary does with a release: each attack is settings plus one method, and leaves a guess to measure.

An attack is one file and one line here.
"""

from unveil.attacks._listing import ATTACKS, Attack, attack
from unveil.attacks.counts.rank_records import RankRecords
from unveil.attacks.counts.solve_counts import SolveCounts
from unveil.attacks.graph.adaptive_deanonymization import AdaptiveDeanonymization
from unveil.attacks.graph.distance_vector import DistanceVector
from unveil.attacks.graph.ji_li_srivatsa_beyah import JiLiSrivatsaBeyah
from unveil.attacks.graph.korula_lattanzi import KorulaLattanzi
from unveil.attacks.graph.mean_field import MeanField
from unveil.attacks.graph.narayanan_shmatikov import NarayananShmatikov
from unveil.attacks.graph.refine import Refine
from unveil.attacks.graph.yartseva_grossglauser import YartsevaGrossglauser
from unveil.attacks.specification import (
    CountsAttack,
    GraphAttack,
    TableAttack,
    attack_from,
    attack_text,
    graph_attack_from,
)
from unveil.attacks.table.attribute_disclosure import AttributeDisclosure, ExactMatches
from unveil.attacks.table.bayes import Bayes
from unveil.attacks.table.candidate_set import CandidateSet
from unveil.attacks.table.fellegi_sunter import FellegiSunter
from unveil.attacks.table.inference import Inference
from unveil.attacks.table.linkability import Linkability
from unveil.attacks.table.membership import Membership, MembershipScores
from unveil.attacks.table.nearest import Nearest, Softmax
from unveil.attacks.table.rank_intersection import RankIntersection
from unveil.attacks.table.record_linkage import RecordLinkage
from unveil.attacks.table.row_order import RowOrder, RowOrderTest
from unveil.attacks.table.searched_inference import SearchedInference
from unveil.attacks.table.several_releases import SeveralReleases
from unveil.attacks.table.singling_out import SinglingOut
from unveil.attacks.table.splink_linkage import SplinkLinkage

__all__ = [
    "ATTACKS",
    "AdaptiveDeanonymization",
    "Attack",
    "AttributeDisclosure",
    "Bayes",
    "CandidateSet",
    "CountsAttack",
    "DistanceVector",
    "ExactMatches",
    "FellegiSunter",
    "GraphAttack",
    "Inference",
    "JiLiSrivatsaBeyah",
    "KorulaLattanzi",
    "Linkability",
    "MeanField",
    "Membership",
    "MembershipScores",
    "NarayananShmatikov",
    "Nearest",
    "RankIntersection",
    "RankRecords",
    "RecordLinkage",
    "Refine",
    "RowOrder",
    "RowOrderTest",
    "SearchedInference",
    "SeveralReleases",
    "SinglingOut",
    "Softmax",
    "SolveCounts",
    "SplinkLinkage",
    "TableAttack",
    "YartsevaGrossglauser",
    "attack",
    "attack_from",
    "attack_text",
    "graph_attack_from",
]

"""Attacks on releases: settings plus one method that returns a guess.

An attack is one file and one line here.
"""

from unveil._lazy import reexports
from unveil.attacks._listing import ATTACKS as ATTACKS
from unveil.attacks._listing import Attack as Attack
from unveil.attacks._listing import attack as attack
from unveil.attacks.counts.rank_records import RankRecords as RankRecords
from unveil.attacks.counts.solve_counts import SolveCounts as SolveCounts
from unveil.attacks.graph.adaptive_deanonymization import AdaptiveDeanonymization as AdaptiveDeanonymization
from unveil.attacks.graph.distance_vector import DistanceVector as DistanceVector
from unveil.attacks.graph.ji_li_srivatsa_beyah import JiLiSrivatsaBeyah as JiLiSrivatsaBeyah
from unveil.attacks.graph.korula_lattanzi import KorulaLattanzi as KorulaLattanzi
from unveil.attacks.graph.mean_field import MeanField as MeanField
from unveil.attacks.graph.narayanan_shmatikov import NarayananShmatikov as NarayananShmatikov
from unveil.attacks.graph.refine import Refine as Refine
from unveil.attacks.graph.yartseva_grossglauser import YartsevaGrossglauser as YartsevaGrossglauser
from unveil.attacks.link.clusters import AgglomeratedProfiles as AgglomeratedProfiles
from unveil.attacks.link.clusters import ChainedProfiles as ChainedProfiles
from unveil.attacks.link.clusters import LinkedProfiles as LinkedProfiles
from unveil.attacks.link.two_periods import PeriodMatch as PeriodMatch
from unveil.attacks.link.two_periods import ProfileMatching as ProfileMatching
from unveil.attacks.specification import CountsAttack as CountsAttack
from unveil.attacks.specification import GraphAttack as GraphAttack
from unveil.attacks.specification import TableAttack as TableAttack
from unveil.attacks.specification import attack_from as attack_from
from unveil.attacks.specification import attack_text as attack_text
from unveil.attacks.specification import graph_attack_from as graph_attack_from
from unveil.attacks.table.attribute_disclosure import AttributeDisclosure as AttributeDisclosure
from unveil.attacks.table.attribute_disclosure import ExactMatches as ExactMatches
from unveil.attacks.table.bayes import Bayes as Bayes
from unveil.attacks.table.candidate_set import CandidateSet as CandidateSet
from unveil.attacks.table.fellegi_sunter import FellegiSunter as FellegiSunter
from unveil.attacks.table.inference import Inference as Inference
from unveil.attacks.table.linkability import Linkability as Linkability
from unveil.attacks.table.membership import Membership as Membership
from unveil.attacks.table.membership import MembershipScores as MembershipScores
from unveil.attacks.table.nearest import Nearest as Nearest
from unveil.attacks.table.nearest import Softmax as Softmax
from unveil.attacks.table.rank_intersection import RankIntersection as RankIntersection
from unveil.attacks.table.record_linkage import RecordLinkage as RecordLinkage
from unveil.attacks.table.row_order import RowOrder as RowOrder
from unveil.attacks.table.row_order import RowOrderTest as RowOrderTest
from unveil.attacks.table.searched_inference import SearchedInference as SearchedInference
from unveil.attacks.table.several_releases import SeveralReleases as SeveralReleases
from unveil.attacks.table.singling_out import SinglingOut as SinglingOut
from unveil.attacks.table.splink_linkage import SplinkLinkage as SplinkLinkage

__all__ = sorted(reexports(__name__))

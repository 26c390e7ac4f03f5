"""One file per question: attack, measure and report, tied into an answer with numbers, a page and a picture."""

from unveil.ask.anonymize import AnonymizeAnswer, anonymize
from unveil.ask.anonymize_files import anonymize_file
from unveil.ask.audit import AuditAnswer, audit
from unveil.ask.audit_files import audit_files
from unveil.ask.candidates import CandidatesAnswer, candidates
from unveil.ask.candidates_files import candidates_files
from unveil.ask.grades import GradesAnswer, grade_metrics
from unveil.ask.graph import GraphAnswer, graph
from unveil.ask.graph_elsewhere import graph_made_elsewhere
from unveil.ask.graph_files import graph_file, graph_made_elsewhere_files
from unveil.ask.matching import MatchingAnswer, matching
from unveil.ask.matching_files import matching_files
from unveil.ask.partition import PartitionAnswer, partition
from unveil.ask.partition_files import partition_files
from unveil.ask.quantities import Quantity
from unveil.ask.reidentify import ReidentifyAnswer, reidentify
from unveil.ask.reidentify_files import reidentify_files
from unveil.ask.study import StudyAnswer, study
from unveil.ask.study_status import StudyStatus, study_status

__all__ = [
    "AnonymizeAnswer",
    "AuditAnswer",
    "CandidatesAnswer",
    "GradesAnswer",
    "GraphAnswer",
    "MatchingAnswer",
    "PartitionAnswer",
    "Quantity",
    "ReidentifyAnswer",
    "StudyAnswer",
    "StudyStatus",
    "anonymize",
    "anonymize_file",
    "audit",
    "audit_files",
    "candidates",
    "candidates_files",
    "grade_metrics",
    "graph",
    "graph_file",
    "graph_made_elsewhere",
    "graph_made_elsewhere_files",
    "matching",
    "matching_files",
    "partition",
    "partition_files",
    "reidentify",
    "reidentify_files",
    "study",
    "study_status",
]

"""One file per question: attack, measure and report, tied into an answer with numbers, a page and a picture."""

from unveil.ask.anonymize.answer import AnonymizeAnswer, anonymize
from unveil.ask.anonymize.read import anonymize_file
from unveil.ask.audit.answer import AuditAnswer, audit
from unveil.ask.audit.read import audit_files
from unveil.ask.candidates.answer import CandidatesAnswer, candidates
from unveil.ask.candidates.read import candidates_files
from unveil.ask.grades.answer import GradesAnswer, grade_metrics
from unveil.ask.graph.answer import GraphAnswer, graph
from unveil.ask.graph.elsewhere import graph_made_elsewhere
from unveil.ask.graph.read import graph_file, graph_made_elsewhere_files
from unveil.ask.matching.answer import MatchingAnswer, matching
from unveil.ask.matching.read import matching_files
from unveil.ask.partition.answer import PartitionAnswer, partition
from unveil.ask.partition.read import partition_files
from unveil.ask.reidentify.answer import ReidentifyAnswer, reidentify
from unveil.ask.reidentify.read import reidentify_files
from unveil.ask.study.answer import StudyAnswer, study
from unveil.ask.study.status import StudyStatus, study_status
from unveil.show.limits import Quantity

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

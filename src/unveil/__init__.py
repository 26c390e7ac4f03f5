"""Measure the disclosure risk of data before you release it."""

from unveil._lazy import TYPE_CHECKING, lazy_reexports

if TYPE_CHECKING:
    from unveil import attacks as attacks
    from unveil import data as data
    from unveil import grades as grades
    from unveil import guesses as guesses
    from unveil import metrics as metrics
    from unveil import protections as protections
    from unveil import questions as questions
    from unveil import report as report
    from unveil import studies as studies
    from unveil._version import __version__ as __version__
    from unveil.data.graph import Graph as Graph
    from unveil.data.graph.read import read_graph as read_graph
    from unveil.data.table import Table as Table
    from unveil.data.table.release import Knowledge as Knowledge
    from unveil.data.table.release import Release as Release
    from unveil.errors import InputError as InputError
    from unveil.errors import MissingExtraError as MissingExtraError
    from unveil.errors import UndefinedMetricWarning as UndefinedMetricWarning
    from unveil.errors import UnveilError as UnveilError
    from unveil.guesses import Candidates as Candidates
    from unveil.guesses import MassFunction as MassFunction
    from unveil.guesses import Matching as Matching
    from unveil.guesses import Partition as Partition
    from unveil.guesses import View as View
    from unveil.questions.attack_metrics.answer import attack_metrics as attack_metrics
    from unveil.questions.audit.answer import assert_release as assert_release
    from unveil.questions.audit.answer import audit as audit
    from unveil.questions.audit.protect import protect as protect
    from unveil.questions.columns.answer import columns as columns
    from unveil.questions.grade_metrics.answer import grade_metrics as grade_metrics
    from unveil.questions.graph.answer import graph as graph
    from unveil.questions.link.answer import link as link
    from unveil.questions.matching.answer import matching as matching
    from unveil.questions.plan.answer import plan as plan
    from unveil.questions.protect_graph.answer import protect_graph as protect_graph
    from unveil.questions.reidentify.answer import reidentify as reidentify
    from unveil.questions.result import Result as Result
    from unveil.questions.split.answer import split as split
    from unveil.questions.study.answer import study_report as study_report
    from unveil.questions.study.answer import study_run as study_run
    from unveil.questions.tables.answer import tables as tables
    from unveil.questions.unlinkability.answer import unlinkability as unlinkability

# Loaded when first asked for, and so is the list itself: `import unveil` stays light.
__getattr__, __dir__ = lazy_reexports(__name__)

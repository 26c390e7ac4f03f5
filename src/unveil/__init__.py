"""If this data is released, what can an adversary do with it, and how sure are we?"""

from unveil._lazy import TYPE_CHECKING, lazily

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
    from unveil.questions.answer import Answer as Answer
    from unveil.questions.attack_metrics.answer import candidates as candidates
    from unveil.questions.audit.answer import audit as audit
    from unveil.questions.audit.pipeline import assert_release_ok as assert_release_ok
    from unveil.questions.grade_metrics.answer import grade_metrics as grade_metrics
    from unveil.questions.graph.answer import graph as graph
    from unveil.questions.matching.answer import matching as matching
    from unveil.questions.protect_graph.answer import anonymize as anonymize
    from unveil.questions.reidentify.answer import reidentify as reidentify
    from unveil.questions.study.answer import study_report as study_report
    from unveil.questions.tables.answer import tables as tables
    from unveil.questions.unlinkability.answer import partition as partition

# Every public name and the module it lives in, loaded when first asked for: `import unveil` stays light.
# The block above repeats it for type checkers, which cannot read a table; a test holds the two together.
_HOME = {
    "Answer": "questions.answer",
    "Candidates": "guesses",
    "Graph": "data.graph",
    "InputError": "errors",
    "Knowledge": "data.table.release",
    "MassFunction": "guesses",
    "Matching": "guesses",
    "MissingExtraError": "errors",
    "Partition": "guesses",
    "Release": "data.table.release",
    "Table": "data.table",
    "UndefinedMetricWarning": "errors",
    "UnveilError": "errors",
    "View": "guesses",
    "__version__": "_version",
    "anonymize": "questions.protect_graph.answer",
    "questions": "questions",
    "assert_release_ok": "questions.audit.pipeline",
    "attacks": "attacks",
    "audit": "questions.audit.answer",
    "candidates": "questions.attack_metrics.answer",
    "data": "data",
    "grades": "grades",
    "grade_metrics": "questions.grade_metrics.answer",
    "graph": "questions.graph.answer",
    "guesses": "guesses",
    "matching": "questions.matching.answer",
    "metrics": "metrics",
    "partition": "questions.unlinkability.answer",
    "protections": "protections",
    "read_graph": "data.graph.read",
    "reidentify": "questions.reidentify.answer",
    "report": "report",
    "studies": "studies",
    "study_report": "questions.study.answer",
    "tables": "questions.tables.answer",
}

__all__, __getattr__, __dir__ = lazily(__name__, _HOME)

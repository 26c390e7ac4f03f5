"""If this data is released, what can an adversary do with it, and how sure are we?"""

from unveil._lazy import TYPE_CHECKING, lazily

if TYPE_CHECKING:
    from unveil import ask as ask
    from unveil import attack as attack
    from unveil import data as data
    from unveil import grade as grade
    from unveil import guess as guess
    from unveil import measure as measure
    from unveil import protect as protect
    from unveil import show as show
    from unveil import study as study
    from unveil._version import __version__ as __version__
    from unveil.ask.anonymize.answer import anonymize as anonymize
    from unveil.ask.answer import Answer as Answer
    from unveil.ask.audit.answer import audit as audit
    from unveil.ask.audit.asserted import assert_release_ok as assert_release_ok
    from unveil.ask.candidates.answer import candidates as candidates
    from unveil.ask.grades.answer import grade_metrics as grade_metrics
    from unveil.ask.graph.answer import graph as graph
    from unveil.ask.matching.answer import matching as matching
    from unveil.ask.partition.answer import partition as partition
    from unveil.ask.reidentify.answer import reidentify as reidentify
    from unveil.ask.study.answer import study_report as study_report
    from unveil.ask.tables.answer import tables as tables
    from unveil.data.graph import Graph as Graph
    from unveil.data.graph.read import read_graph as read_graph
    from unveil.data.table import Table as Table
    from unveil.data.table.release import Knowledge as Knowledge
    from unveil.data.table.release import Release as Release
    from unveil.errors import InputError as InputError
    from unveil.errors import MissingExtraError as MissingExtraError
    from unveil.errors import UndefinedMetricWarning as UndefinedMetricWarning
    from unveil.errors import UnveilError as UnveilError
    from unveil.guess import Candidates as Candidates
    from unveil.guess import MassFunction as MassFunction
    from unveil.guess import Matching as Matching
    from unveil.guess import Partition as Partition
    from unveil.guess import View as View

# Every public name and the module it lives in, loaded when first asked for: `import unveil` stays light.
# The block above repeats it for type checkers, which cannot read a table; a test holds the two together.
_HOME = {
    "Answer": "ask.answer",
    "Candidates": "guess",
    "Graph": "data.graph",
    "InputError": "errors",
    "Knowledge": "data.table.release",
    "MassFunction": "guess",
    "Matching": "guess",
    "MissingExtraError": "errors",
    "Partition": "guess",
    "Release": "data.table.release",
    "Table": "data.table",
    "UndefinedMetricWarning": "errors",
    "UnveilError": "errors",
    "View": "guess",
    "__version__": "_version",
    "anonymize": "ask.anonymize.answer",
    "ask": "ask",
    "assert_release_ok": "ask.audit.asserted",
    "attack": "attack",
    "audit": "ask.audit.answer",
    "candidates": "ask.candidates.answer",
    "data": "data",
    "grade": "grade",
    "grade_metrics": "ask.grades.answer",
    "graph": "ask.graph.answer",
    "guess": "guess",
    "matching": "ask.matching.answer",
    "measure": "measure",
    "partition": "ask.partition.answer",
    "protect": "protect",
    "read_graph": "data.graph.read",
    "reidentify": "ask.reidentify.answer",
    "show": "show",
    "study": "study",
    "study_report": "ask.study.answer",
    "tables": "ask.tables.answer",
}

__all__, __getattr__, __dir__ = lazily(__name__, _HOME)

"""If this data is released, what can an adversary do with it, and how sure are we?"""

# Not from typing, whose own imports take so long that Ctrl-C could fall among them, before anything can catch it.
TYPE_CHECKING = False

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
    from unveil.ask.anonymize.answer import anonymize as anonymize
    from unveil.ask.audit.answer import audit as audit
    from unveil.ask.candidates.answer import candidates as candidates
    from unveil.ask.grades.answer import grade_metrics as grade_metrics
    from unveil.ask.graph.answer import graph as graph
    from unveil.ask.matching.answer import matching as matching
    from unveil.ask.partition.answer import partition as partition
    from unveil.ask.reidentify.answer import reidentify as reidentify
    from unveil.ask.study.answer import study_report as study_report
    from unveil.data.graph import Graph as Graph
    from unveil.data.release import Knowledge as Knowledge
    from unveil.data.release import Release as Release
    from unveil.data.table import Table as Table
    from unveil.errors import InputError as InputError
    from unveil.errors import MissingExtraError as MissingExtraError
    from unveil.errors import UndefinedMetricWarning as UndefinedMetricWarning
    from unveil.errors import UnveilError as UnveilError
    from unveil.guess import Candidates as Candidates
    from unveil.guess import MassFunction as MassFunction
    from unveil.guess import Matching as Matching
    from unveil.guess import Partition as Partition
    from unveil.guess import View as View

    __version__: str

# Every public name and the module it lives in, loaded when first asked for: `import unveil` stays light.
# The block above repeats it for type checkers, which cannot read a table; a test holds the two together.
_HOME = {
    "Candidates": "unveil.guess",
    "Graph": "unveil.data.graph",
    "InputError": "unveil.errors",
    "Knowledge": "unveil.data.release",
    "MassFunction": "unveil.guess",
    "Matching": "unveil.guess",
    "MissingExtraError": "unveil.errors",
    "Partition": "unveil.guess",
    "Release": "unveil.data.release",
    "Table": "unveil.data.table",
    "UndefinedMetricWarning": "unveil.errors",
    "UnveilError": "unveil.errors",
    "View": "unveil.guess",
    "__version__": "importlib.metadata",
    "anonymize": "unveil.ask.anonymize.answer",
    "ask": "unveil.ask",
    "attack": "unveil.attack",
    "audit": "unveil.ask.audit.answer",
    "candidates": "unveil.ask.candidates.answer",
    "data": "unveil.data",
    "grade": "unveil.grade",
    "grade_metrics": "unveil.ask.grades.answer",
    "graph": "unveil.ask.graph.answer",
    "guess": "unveil.guess",
    "matching": "unveil.ask.matching.answer",
    "measure": "unveil.measure",
    "partition": "unveil.ask.partition.answer",
    "protect": "unveil.protect",
    "reidentify": "unveil.ask.reidentify.answer",
    "show": "unveil.show",
    "study": "unveil.study",
    "study_report": "unveil.ask.study.answer",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(_HOME[name])
    if name == "__version__":
        value: object = home.version(__name__)
    elif home.__name__ == f"{__name__}.{name}":
        value = home
    else:
        value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

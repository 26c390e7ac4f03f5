"""The registry of questions, each in a folder of its own, and the JSON Schema of their answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError, did_you_mean, shortened

if TYPE_CHECKING:
    from unveil.questions.request import Request, Response
    from unveil.questions.result import QuestionView
    from unveil.questions.settings import Question


@dataclass(frozen=True)
class QuestionEntry:
    """One registered question: its command, summary, folder and entry points."""

    command: str
    summary: str
    folder: str
    #: Where its settings are and what they are called, and the same of what answers it.
    table: str = "settings:QUESTION"
    ask: str = "answer:ask"
    #: Where further views are, for questions with more than one kind of answer.
    more_views: tuple[str, ...] = ()
    #: Whether it reads keys of its own in a settings file.
    own_config: bool = False
    #: Where records are that have figures and a schema, but neither page nor limits.
    records: tuple[str, ...] = ()

    @property
    def question(self) -> "Question":
        """Its settings: what can be asked, and in which words."""
        found: Question = self._in(self.table)
        return found

    @property
    def schema(self) -> str:
        """The whole name of the JSON Schema of its answers."""
        return self.view.schema

    @property
    def view(self) -> "QuestionView[Any]":
        """How its findings are shown."""
        view: QuestionView[Any] = self._in("view:VIEW")
        return view

    @property
    def views(self) -> "tuple[QuestionView[Any], ...]":
        """The views of all its kinds of answers."""
        return (self.view, *map(self._in, self.more_views))

    def answer(self, request: "Request") -> "Response":
        """Return the answer to what was asked."""
        reply: Response = self._in(self.ask)(request)
        return reply

    def with_settings(self, request: "Request") -> "Request":
        """Return a request with the settings of the file that it names."""
        if self.own_config:
            more: Request = self._in("read:with_settings")(request)
            return more
        from unveil.questions.config import with_config

        return with_config(request)[0]

    def meanings(self) -> Mapping[str, str]:
        """Return the meaning of each quantity that accepts a limit."""
        return self.view.limit_meanings()

    def _in(self, place: str) -> Any:
        module, _, name = place.partition(":")
        return getattr(import_module(f"{__name__}.{self.folder}.{module}"), name)


#: Every question, in the order of help and lists. A new one is one line here and a folder: command, help, form and
#: reference are made from its settings.
QUESTIONS: Mapping[str, QuestionEntry] = MappingProxyType(
    {
        "audit": QuestionEntry("audit", "Measure the disclosure risk of a released table.", "audit", own_config=True),
        "plan": QuestionEntry("plan", "Plan an audit: how many people are needed.", "plan"),
        "tables": QuestionEntry("tables", "Find suppressed cells that can be recovered.", "tables", own_config=True),
        "graph": QuestionEntry("graph", "Measure how many nodes an attack re-identifies.", "graph"),
        "link": QuestionEntry("link", "Measure whether records of one person can be linked.", "link"),
        "columns": QuestionEntry("columns", "Show how each column is read, and why.", "columns"),
        "split": QuestionEntry("split", "Split a table into people to release and a control group.", "split"),
        "protect": QuestionEntry(
            "protect",
            "Mask or synthesize a table; compare risk and utility.",
            "audit",
            "settings:PROTECT",
            "protect:ask",
        ),
        "protect_graph": QuestionEntry(
            "protect-graph", "Protect a graph; compare structure before and after.", "protect_graph"
        ),
        "reidentify": QuestionEntry(
            "reidentify", "Run re-identification attacks and check their validity.", "reidentify"
        ),
        "unlinkability": QuestionEntry(
            "unlinkability", "Measure how well subjects' items stay unlinked.", "unlinkability"
        ),
        "matching": QuestionEntry(
            "matching",
            "Estimate how many pseudonyms an attacker resolves.",
            "matching",
            more_views=("ambiguity_view:AMBIGUITY_VIEW",),
        ),
        "attack_metrics": QuestionEntry(
            "attack-metrics", "Compute privacy metrics from an attack's output.", "attack_metrics"
        ),
        "study_run": QuestionEntry(
            "study run", "Run attacks over many scenarios.", "study", "settings:RUN", "answer:ask_run"
        ),
        "study": QuestionEntry(
            "study report",
            "Report the results of a study.",
            "study",
            more_views=("releases.view:VIEW",),
            records=("status:StudyRun", "status:StudyStatus"),
        ),
        "grades": QuestionEntry(
            "grade-metrics", "Grade privacy metrics by how well they rank attacks.", "grade_metrics"
        ),
    }
)


@cache
def question(name: str) -> "Question":
    """Return the question of this name with its settings.

    >>> question("protect_graph").title
    'Protect a graph'
    """
    return QUESTIONS[name].question


# The JSON Schema of every answer is generated from declared figures. Within a version fields are only added, so readers
# ignore fields that they do not know; a field that is renamed, removed or changed raises the version.


@cache
def _schemas() -> dict[str, dict[str, Any]]:
    """Return every schema by its whole name."""
    from unveil.report.figures import schema_of

    views = (view for entry in QUESTIONS.values() for view in entry.views)
    # An answer that writes its own JSON states its limits and its seed in places of their own.
    found = {
        view.schema: schema_of(view.findings, view.schema, view.about, answer=view.whole_json is None) for view in views
    }
    for kind in (entry._in(place) for entry in QUESTIONS.values() for place in entry.records):
        found[kind.SCHEMA] = schema_of(kind, kind.SCHEMA, kind.ABOUT, answer=False)
    return found


def schema_names() -> dict[str, str]:
    """Return the latest schema of each kind of answer, such as ``unveil.audit/4`` for ``audit``.

    >>> schema_names()["unlinkability"]
    'unveil.unlinkability/2'
    """
    return dict(sorted((whole.removeprefix("unveil.").partition("/")[0], whole) for whole in _schemas()))


def schema_text(name: str) -> str:
    """Return the text of a schema, by its whole name with the version or by the kind of answer alone.

    >>> schema_text("audit") == schema_text("unveil.audit/4")
    True
    """
    known = schema_names()
    whole = known.get(name, name)
    if whole not in _schemas():
        hint = did_you_mean(name, known) or f" Available: {', '.join(known)}."
        raise InputError(f"Unknown schema {shortened(name)}.{hint}")
    return json.dumps(_schemas()[whole], indent=1, ensure_ascii=False) + "\n"


def schema(name: str) -> dict[str, Any]:
    """Return a schema as data, by its whole name with the version or by the kind of answer alone.

    >>> schema("study")["title"]
    'unveil.study/1'
    """
    read: dict[str, Any] = json.loads(schema_text(name))
    return read

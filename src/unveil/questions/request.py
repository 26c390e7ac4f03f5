"""The request that every front end makes to a question, and the response."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError
from unveil.questions.settings import Question
from unveil.report.progress import Progress, Say, silent, unsaid

if TYPE_CHECKING:
    import numpy as np

    from unveil.questions.result import Decision, Result
    from unveil.report.limits import CheckedLimit
    from unveil.report.terminal import Part


class SettingError(InputError):
    """An error in a request, with the setting it concerns (empty: the whole request)."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Request:
    """A question with its files and the value of every setting, given or default."""

    question: Question
    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    values: Mapping[str, Any]
    #: The settings given by the user; the others have their defaults.
    explicit: frozenset[str] = frozenset()
    sample: bool = False
    #: Whether to make a report: always on the page, on request on the command line.
    report: bool = True
    progress: Progress = silent
    say: Say = unsaid
    #: The command line that makes the same request, for reports.
    command: tuple[str, ...] = ()
    #: The owner's names of files that are stored under other names.
    names: Mapping[Path, str] = field(default_factory=dict)

    def path(self, name: str) -> Path | None:
        """Return the path of a setting's file, or None."""
        given = self.files.get(name, ())
        return given[0] if given else None

    def required_path(self, name: str) -> Path:
        """Return the path of a setting's file, or raise an error that asks for it."""
        path = self.path(name)
        if path is None:
            raise SettingError("a file is needed here", name)
        return path

    @property
    def rng(self) -> "np.random.Generator":
        """A random generator: seeded, or unpredictable without a seed."""
        import numpy as np

        return np.random.default_rng(self.values["seed"])


@dataclass(frozen=True, kw_only=True)
class Response:
    """An answer, with what the front ends show next to it."""

    answer: "Result[Any]"
    #: What is printed for a person in a terminal, in its order; the first screen of the page unless given.
    brief: "Callable[[], Sequence[Part]] | None" = None
    #: Choices of its page and of its JSON beside limits and seed.
    on_page: Mapping[str, Any] = field(default_factory=dict)
    in_json: Mapping[str, Any] = field(default_factory=dict)
    #: Files that may be written beside the report: by the setting that names each, what writes it there.
    outputs: "Mapping[str, OutputFile]" = field(default_factory=dict)
    #: What fails limits that are set in another way than by figures, and which of them stay open.
    exceeded: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    #: Whether the decision of the answer has the limits of the request already.
    holds_limits: bool = False
    #: What must be said on standard error before anything else.
    aside: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OutputFile:
    """A file next to the report: how to write it, its default name, and its description."""

    write: Callable[..., object]
    name: str
    said: str
    #: Whether it is part of a release, which must not be made unless all limits are kept.
    is_release: bool = False
    #: What must be said on standard error once it is written, with {} for its name; nothing if empty.
    warning: str = ""


def checked_limits(reply: Response, request: Request) -> "list[CheckedLimit]":
    """Return the limits of a request with their outcomes; none where the answer has decided by them already."""
    from unveil.report.limits import check_limits

    if reply.holds_limits or "limits" not in request.values:
        return []
    return check_limits(reply.answer.quantities, request.values["limits"])


def decision_of(reply: Response, checked: "Sequence[CheckedLimit]") -> "Decision":
    """Return the decision of an answer: its own, or that of the limits."""
    if reply.holds_limits:
        return reply.answer.decision
    outcomes = {each.exceeded for each in checked} | {True for _ in reply.exceeded} | {None for _ in reply.undecided}
    return "none" if not outcomes else "fail" if True in outcomes else "inconclusive" if None in outcomes else "pass"

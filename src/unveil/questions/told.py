"""What a question was told through any door, and what it gives back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError
from unveil.questions.settings import Question
from unveil.report.progress import Progress, Say, silent, unsaid

if TYPE_CHECKING:
    import numpy as np

    from unveil.questions.answer import Answer
    from unveil.report.terminal import Part


class AskedError(InputError):
    """What is wrong with a question, with the setting that it is about; empty if it is about all of it."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Told:
    """A question with all that it was told: where files lie, and the value of every setting, said or not."""

    question: Question
    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    values: Mapping[str, Any]
    #: The settings that were really said: the others have their defaults.
    said: frozenset[str] = frozenset()
    sample: bool = False
    #: Whether a report is made of the answer: on the page always, on the command line where one is asked for.
    report: bool = True
    progress: Progress = silent
    say: Say = unsaid
    #: The command that asks the same, for reports that state it.
    written: tuple[str, ...] = ()
    #: What files are called by their owner, where they lie under another name.
    names: Mapping[Path, str] = field(default_factory=dict)

    def path(self, name: str) -> Path | None:
        """Return where the file of a setting is, or None where there is none."""
        given = self.files.get(name, ())
        return given[0] if given else None

    def must(self, name: str) -> Path:
        """Return where the file of a setting is, or say that it is needed."""
        path = self.path(name)
        if path is None:
            raise AskedError("a file is needed here", name)
        return path

    def named(self, *names: str) -> dict[str, Any]:
        """Return the values of these settings by name."""
        return {name: self.values[name] for name in names}

    @property
    def rng(self) -> "np.random.Generator":
        """A new source of randomness: the same seed gives the same numbers, and without one they are secret."""
        import numpy as np

        return np.random.default_rng(self.values["seed"])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer, with what its doors show beside it."""

    answer: "Answer[Any]"
    #: What is printed for a person in a terminal, in its order.
    brief: "Callable[[], Sequence[Part]]"
    #: Choices of its page and of its JSON beside limits and seed.
    on_page: Mapping[str, Any] = field(default_factory=dict)
    in_json: Mapping[str, Any] = field(default_factory=dict)
    #: Files that may be written beside the report: by the setting that names each, what writes it there.
    outputs: "Mapping[str, Output]" = field(default_factory=dict)
    #: What exceeds limits that are set in another way than by figures, and of which of them neither was shown.
    exceeded: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    #: What must be said on standard error before anything else.
    aside: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Output:
    """A file beside the report: how it is written, what it is called if nobody says so, and what is said of it."""

    write: Callable[..., object]
    name: str
    said: str
    #: Whether it is part of a release, which must not be made unless all limits are kept.
    is_release: bool = False
    #: What must be said on standard error once it is written, with {} for its name; nothing if empty.
    warning: str = ""

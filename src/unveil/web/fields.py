"""What a question of the page is made of: a form with fields, as data; nothing here knows HTML or computes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

#: What a field takes. ``table`` and ``file`` take one file, ``tables`` several; the others are settings.
FieldKind = Literal[
    "table", "tables", "file", "roles", "column", "scenarios", "limits", "thing",
    "text", "number", "share", "choice", "several", "switch", "folder",
]  # fmt: skip
#: The kinds whose value is a file that was dropped on the page.
FILES: frozenset[str] = frozenset({"table", "tables", "file"})

#: What can be chosen: the value as the library takes it, and how it is said to people.
Choices = tuple[tuple[str, str], ...]
#: What is wrong with fields that do not go together, by field: called with the fields that have files, and values.
Together = Callable[[frozenset[str], Mapping[str, Any]], dict[str, str]]

#: The part of a form that is folded away, for settings that most people never change.
MORE = "More settings"


@dataclass(frozen=True, kw_only=True)
class Field:
    """One thing that a person can say about a question."""

    name: str
    label: str
    kind: FieldKind
    help: str = ""
    required: bool = False
    #: Looked up when the page is made, because the listings take a moment to import.
    choices: Callable[[], Choices] | None = None
    default: Any = None
    #: The title of the folded part that it stands in; empty for what everybody sees.
    fold: str = ""
    #: The least and the most that a number may be.
    least: float | None = None
    most: float | None = None
    whole: bool = True
    #: Of which file the columns are offered, for kinds that are about columns.
    of: str = ""
    #: The field whose files have one such value each, such as the probability of a guess.
    beside: str = ""
    #: What the command line calls it; empty where it is written without a name, or cannot be written there.
    option: str = ""
    #: Whether a text may have several lines.
    many: bool = False
    #: What is shown in an empty text field, as an example.
    example: str = ""

    @property
    def is_file(self) -> bool:
        """Whether files are dropped on it."""
        return self.kind in FILES


@dataclass(frozen=True, kw_only=True)
class Form:
    """A question: what it is about, its fields, and the example inside unveil."""

    question: str
    #: What the page and the list of questions call it.
    title: str
    #: The question itself, in a sentence.
    lead: str
    fields: tuple[Field, ...]
    #: What the example is, in a sentence; empty where there is none.
    sample: str
    #: What is written after ``unveil`` on the command line, and what follows there to ask for the example.
    command: tuple[str, ...]
    command_of_sample: tuple[str, ...] = ()
    #: What each figure means that a limit can be set for.
    meanings: Callable[[], Mapping[str, str]] | None = None
    together: Together | None = None
    #: Defaults that are others for the example.
    of_sample: Mapping[str, Any] = field(default_factory=dict)

    def field(self, name: str) -> Field:
        """Return the field of this name."""
        return next(field for field in self.fields if field.name == name)

    @property
    def files(self) -> tuple[Field, ...]:
        """The fields that take files."""
        return tuple(field for field in self.fields if field.is_file)

    @property
    def settings(self) -> tuple[Field, ...]:
        """The fields that take no files."""
        return tuple(field for field in self.fields if not field.is_file)


def seed_field(what: str = "") -> Field:
    """Return the field for where randomness starts."""
    return Field(
        name="seed",
        label="Seed",
        kind="number",
        help="Where randomness starts: the same seed and the same files give the same answer." + what,
        default=0,
        least=0,
        fold=MORE,
        option="--seed",
    )


def limits_field() -> Field:
    """Return the field for how much is too much."""
    return Field(
        name="limits",
        label="Limits",
        kind="limits",
        help="Say beforehand how much would be too much: the report then says whether each limit is kept.",
        fold=MORE,
        option="--limit",
    )


def column_name(name: str, label: str, default: str) -> Field:
    """Return the field for what a column of the files is called."""
    return Field(name=name, label=label, kind="text", default=default, fold=MORE, option=f"--{name}")

"""What a question can be told, as one table: command line, page, file of settings and reference are made from it."""

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache, partial, wraps
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from unveil.errors import InputError, did_you_mean, shortened
from unveil.report.limits import limit_name, quantity_hint

if TYPE_CHECKING:
    from unveil.data.files.settings import FileSettings
    from unveil.questions.request import Request

#: What a setting takes. The first three are files; ``folder`` is one of this machine, ``output`` a file to be written,
#: ``thing`` a protection or an attack, ``texts`` and ``columns`` several texts, ``several`` several of the choices.
SettingKind = Literal[
    "table", "tables", "file", "folder", "output", "roles", "column", "columns", "scenarios", "limits", "thing",
    "things", "text", "texts", "number", "share", "size", "choice", "several", "switch",
]  # fmt: skip
FILES: frozenset[str] = frozenset({"table", "tables", "file"})
#: The kinds that are told as a list of values.
LISTS: frozenset[str] = frozenset({"roles", "columns", "scenarios", "limits", "things", "texts", "several"})

#: Where a setting can be given.
Door = Literal["command line", "page", "python"]
#: What can be chosen: the value as the library takes it, and how it is said to people.
Choices = tuple[tuple[str, str], ...]
#: What is wrong with what was told together: pairs of a setting and a sentence, in which ``{name}`` stands for what the
#: door calls that setting. Called with everything that was told.
Together = Callable[[Any], "list[tuple[str, str]]"]

#: The part of a form that is folded away, for settings that most people never change.
MORE = "More settings"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One thing that a person can say about a question."""

    name: str
    #: What it is, as a label of the page; help on the command line begins with it.
    label: str
    kind: SettingKind
    #: What else has to be known to set it, in whole sentences.
    words: str = ""
    #: The one door that has it; both unless said.
    only: Door | None = None
    #: What the command line calls it: made from its name unless given, and empty where none is written.
    option: str = ""
    #: A name that the option had in an earlier version, which still works.
    alias: str = ""
    #: Whether it is written on the command line without a name, as the first files are.
    is_bare: bool = False
    #: What stands for its value in help; made from its kind unless given.
    metavar: str = ""
    required: bool = False
    #: The setting that may take the place of one that is required.
    unless: str = ""
    default: Any = None
    #: Looked up when needed, because the listings take a moment to import.
    choices: Callable[[], Choices] | None = None
    #: From a name that is none of them: a question whether another is meant, with a space before it, or nothing.
    hint: Callable[[str], str] | None = None
    #: The least and the most that a number may be.
    least: float | None = None
    most: float | None = None
    whole: bool = True
    #: The title of the folded part of the page that it stands in; empty for what everybody sees.
    fold: str = ""
    #: Of which file the columns are offered, for kinds that are about columns.
    of: str = ""
    #: The setting whose files have one such value each, such as the probability of a guess.
    beside: str = ""
    #: The setting whose file is meant on the command line where this number is none.
    or_file: str = ""
    #: Whether several texts stand in lines on the page, and not with commas between them.
    many: bool = False
    #: The setting whose list its value joins when somebody goes on from an answer, with another value here.
    goes_to: str = ""
    #: What is shown in an empty field, as an example.
    example: str = ""
    #: What reads the text for a protection or an attack, and refuses one that makes no sense.
    read: Callable[[str], object] | None = None
    #: How each text is written, such as COLUMN=KIND: in Python they are a mapping.
    form: str = ""
    #: Whether Python may pass an object instead, which is checked where it is used.
    objects: bool = False
    #: Whether None is a value of its own in Python, and not the default.
    optional: bool = False
    #: Whether only front ends use it: Python has no keyword for it.
    front_end: bool = False

    def __post_init__(self) -> None:
        if not self.option and not (self.is_bare or self.beside or self.only == "page"):
            object.__setattr__(self, "option", f"--{self.name.replace('_', '-')}")

    @property
    def is_file(self) -> bool:
        """Whether its value is a file, or several."""
        return self.kind in FILES

    @property
    def is_keyword(self) -> bool:
        """Whether it is a keyword in Python, where the answer itself writes files and checks limits."""
        return not (self.front_end or self.is_bare or self.beside or self.kind in ("output", "limits", "roles"))

    @property
    def key(self) -> str:
        """What a file of settings calls it."""
        return self.option.removeprefix("--").replace("-", "_") or self.name

    @property
    def old_key(self) -> str:
        """What a file of settings called it before it was renamed; empty where it was not."""
        return self.alias.removeprefix("--").replace("-", "_")

    @property
    def help(self) -> str:
        """What help says of it."""
        told = self.label if self.label.endswith(("?", ".")) else f"{self.label}."
        return f"{told} {self.words}".strip()

    def chosen(self) -> Choices:
        """Return what can be chosen."""
        return () if self.choices is None else self.choices()


_KEY = "setting"
Function = TypeVar("Function", bound=Callable[..., Any])


def setting(default: Any, label: str, words: str = "", **facts: Any) -> Any:
    """Return the field of a setting, for the body of a settings class.

    ``facts`` are further fields of :class:`Setting`. The kind follows from the type of the field unless given.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class ExampleSettings(Settings):
    ...     neighbours: int = setting(10, "Nearest neighbours per record", least=1)
    >>> ExampleSettings.table()[0].option, ExampleSettings(neighbours="3").neighbours
    ('--neighbours', 3)
    """
    return field(default=default, metadata={_KEY: {"label": label, "words": words, **facts}})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a question, declared once.

    The fields are the options of the command, the form of the page, the keys of a TOML file, the reference, the checks
    and the keyword arguments in Python.
    """

    def __post_init__(self) -> None:
        from unveil.questions.values import checked_value

        for each in self.table():
            try:
                object.__setattr__(self, each.name, checked_value(each, getattr(self, each.name)))
            except InputError as error:
                sentence = str(error)
                whole = f"{each.name} {sentence[3:]}" if sentence.startswith("it ") else f"{each.name}: {sentence}"
                raise InputError(whole) from error

    @classmethod
    @cache
    def table(cls) -> tuple[Setting, ...]:
        """Return the declared settings in their order: those of a class before those of its bases."""
        hints, declared = get_type_hints(cls), {each.name: each for each in fields(cls)}
        return tuple(
            Setting(
                name=name,
                default=declared[name].default,
                **{
                    "optional": declared[name].default is None,
                    **_kind_of(hints[name]),
                    **declared[name].metadata[_KEY],
                },
            )
            for name in _names_of(cls)
            if _KEY in declared[name].metadata
        )

    @classmethod
    def declared(cls, name: str, **facts: Any) -> Any:
        """Return the field of one of the settings, for another class; ``facts`` change it."""
        known = next(each for each in fields(cls) if each.name == name)
        return field(default=known.default, metadata={_KEY: {**known.metadata[_KEY], **facts}})

    @classmethod
    def merge(cls, settings: Self | None, changes: Mapping[str, Any]) -> Self:
        """Return settings with changes; a name that is none of them is refused with a suggestion."""
        if settings is not None and not isinstance(settings, cls):
            raise InputError(
                f"settings must be {cls.__name__}, but are {type(settings).__name__}. Pass one, or pass keywords"
            )
        known = [each.name for each in cls.table() if each.is_keyword]
        unknown = next((name for name in changes if name not in known), None)
        if unknown is not None:
            hint = did_you_mean(unknown, known) or f" Choose from {', '.join(known)}."
            raise InputError(f"there is no setting {unknown!r}.{hint}")
        return replace(cls() if settings is None else settings, **changes)

    @classmethod
    def of_request(cls, request: "Request") -> Self:
        """Return the settings and files of a request."""
        from unveil.questions.request import SettingError
        from unveil.questions.values import checked_value

        values: dict[str, Any] = {}
        for each in cls.table():
            if each.only == "python":
                continue
            if each.is_file:
                several = request.files.get(each.name, ())
                if each.required and not (several or request.sample or request.values.get(each.unless)):
                    raise SettingError("a file is needed here", each.name)
                values[each.name] = several if each.kind == "tables" else next(iter(several), None)
                continue
            try:
                values[each.name] = checked_value(each, request.values[each.name])
            except InputError as error:
                raise SettingError(str(error), each.name) from error
        return cls(**values)


def _names_of(kind: type) -> list[str]:
    """Return the names of the fields of a class, then of its bases, or where its ``after`` places these."""
    blocks = [(base, _names_of(base)) for base in kind.__bases__ if base is not object]
    inherited = {name for _, block in blocks for name in block}
    names = [name for name in inspect.get_annotations(kind) if name not in inherited and name != "after"]
    for base, block in blocks:
        after = vars(kind).get("after", {}).get(base)
        place = len(names) if after is None else names.index(after) + 1
        names[place:place] = [name for name in block if name not in names]
    return names


def _kind_of(hint: Any) -> dict[str, Any]:
    """Return the kind of a setting by the type of its field, and whether None is a value of its own."""
    if get_origin(hint) in (Union, types.UnionType):
        first = next(each for each in get_args(hint) if each is not type(None))
        return {**_kind_of(first), "optional": type(None) in get_args(hint)}
    if get_origin(hint) in (tuple, Mapping):
        return {"kind": "texts"}
    kinds: dict[Any, dict[str, Any]] = {
        bool: {"kind": "switch"},
        int: {"kind": "number"},
        float: {"kind": "number", "whole": False},
        Fraction: {"kind": "share"},
    }
    return kinds.get(hint, {"kind": "text"})


def takes_settings(kind: type[Settings]) -> Callable[[Function], Function]:
    """Return a decorator for the function of a question, with the declared settings as its keywords.

    Signature and docstring show them. The result knows its limits, and gives tables in the library of the tables given.
    """

    def decorate(function: Function) -> Function:
        own = inspect.signature(function)
        plain = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        keywords = [each for each in kind.table() if each.is_keyword and each.name not in own.parameters]
        declared = [(each.name, each.default, each.help) for each in keywords]
        if issubclass(kind, LimitSettings):
            declared.append(("limits", None, _LIMITS))
        parameters = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default, _ in declared
        ]

        @wraps(function)
        def answered(*given: Any, limits: Mapping[str, float] | None = None, **more: Any) -> Any:
            checked = _checked_limits(limits, function.__module__)
            return function(*given, **more).with_limits(checked).in_library(_library_of((*given, *more.values())))

        lines = [line for name, _, words in declared for line in (f"    {name}", f"        {words}")]
        head, *others = re.split(r"(?=^    (?:Raises|Examples)\n)", function.__doc__ or "", flags=re.MULTILINE)
        answered.__doc__ = "\n".join([head.rstrip(), *lines, "", "".join(others)])
        answered.__signature__ = own.replace(parameters=[*plain, *parameters])  # type: ignore[attr-defined]
        return cast("Function", answered)

    return decorate


_LIMITS = (
    "The largest acceptable value of each figure, by the name of its limit (the smallest, where less is worse). The "
    "result then has a decision."
)


def _checked_limits(limits: Mapping[str, float] | None, module: str) -> dict[str, float]:
    """Return limits that name figures of the question and are numbers."""
    from unveil.questions import QUESTIONS

    if not limits:
        return {}
    if not isinstance(limits, Mapping):
        raise InputError("limits must be a mapping from the name of a figure to a number. Write {'name': 0.1}")
    known = next(each for each in QUESTIONS.values() if module.split(".")[2] == each.folder).meanings()
    named = {limit_name(str(name), known): limit for name, limit in limits.items()}
    for name, limit in named.items():
        if name not in known:
            raise InputError(
                f"there is no figure {shortened(str(name))} to set a limit on.{quantity_hint(str(name), known)}"
            )
        if isinstance(limit, bool) or not isinstance(limit, Real) or not isfinite(limit):
            raise InputError(f"the limit on {name} must be a number. Write one, such as 0.1")
    return {name: float(limit) for name, limit in named.items()}


def _library_of(given: Iterable[Any]) -> Literal["pandas", "polars"]:
    """Return the data frame library of the first table among the arguments; polars where there is none."""
    for each in given:
        inner = each if isinstance(each, list | tuple) else [each]
        for one in inner:
            library = type(one).__module__.partition(".")[0]
            if library in ("pandas", "polars"):
                return cast("Literal['pandas', 'polars']", library)
    return "polars"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question: what it is about, its settings, and the example inside unveil."""

    name: str
    #: What is written after ``unveil``.
    command: tuple[str, ...]
    #: What the page and the list of questions call it.
    title: str
    #: The question itself, in a sentence.
    lead: str
    #: What help says below it, and the commands that it shows as examples.
    about: str
    tries: tuple[str, ...]
    settings: tuple[Setting, ...]
    #: What the example is, in a sentence; empty where there is none.
    sample: str = ""
    #: Whether the example is asked for anyway where no file is named.
    sample_by_default: bool = True
    #: The setting that says which example, where there are several: it is written after ``--sample``.
    sample_of: str = ""
    #: Defaults that are others for the example.
    of_sample: Mapping[str, Any] = field(default_factory=dict)
    together: Together | None = None
    #: What a person at a terminal is asked for: setting, option and value, from the request and a function that asks.
    asked: "Callable[[Any, Callable[[str], str]], Iterable[tuple[str, str, Any]]] | None" = None
    #: Whether the seed would undo what the answer releases: it is drawn in secret unless given, and never shown.
    secret: bool = False

    def __post_init__(self) -> None:
        # No front end has those of Python alone.
        object.__setattr__(self, "settings", tuple(each for each in self.settings if each.only != "python"))

    def setting(self, name: str) -> Setting:
        """Return the setting of this name."""
        return next(each for each in self.settings if each.name == name)

    def on(self, door: Door) -> tuple[Setting, ...]:
        """Return the settings that can be said there, in their order."""
        return tuple(each for each in self.settings if each.only in (None, door))

    def meanings(self) -> Mapping[str, str]:
        """Return what each figure means that a limit can be set for, by name."""
        from unveil.questions import QUESTIONS

        return QUESTIONS[self.name].meanings()

    @property
    def files(self) -> tuple[Setting, ...]:
        """The settings that are files."""
        return tuple(each for each in self.settings if each.is_file)


def _protections(on: str) -> Choices:
    from unveil.protections import PROTECTIONS

    return tuple((name, each.summary) for name, each in PROTECTIONS.items() if each.on == on)


def _read_protection(on: str, text: str) -> object:
    from unveil.protections import graph_protection_from, protection_from

    return (graph_protection_from if on == "graph" else protection_from)(text)


def protection(on: Literal["table", "graph"], default: Any, label: str, words: str = "", **facts: Any) -> Any:
    """Return the field of a protection of tables or of graphs."""
    usual = {"kind": "thing", "choices": partial(_protections, on), "read": partial(_read_protection, on)}
    return setting(default, label, words, **{**usual, **facts})


@dataclass(frozen=True, kw_only=True)
class SeedSettings(Settings):
    """Where randomness starts."""

    seed: int = setting(
        0,
        "Seed: where randomness starts",
        "The same seed and the same files give the same answer.",
        least=0,
        fold=MORE,
        metavar="INTEGER",
    )


@dataclass(frozen=True, kw_only=True)
class SecretSeedSettings(Settings):
    """Where the randomness of a release starts, which must stay secret."""

    seed: int | None = setting(
        None,
        "Seed: where randomness starts",
        "Whoever knows it can undo the release: give one only to try things out. Without it, it is drawn in secret.",
        least=0,
        fold=MORE,
        metavar="INTEGER",
    )


@dataclass(frozen=True, kw_only=True)
class LimitSettings(Settings):
    """How much would be too much."""

    limits: tuple[tuple[str, float], ...] = setting(
        (),
        "Limits",
        "Say beforehand how much would be too much: the report then says whether each limit is kept.",
        kind="limits",
        fold=MORE,
        option="--limit",
    )


def _may_drop(what: str) -> Any:
    words = f"Graphs are protected, attacked and released without {what}; a file that has them is refused else."
    return setting(False, f"Drop the {what} of edges", words, fold=MORE)


@dataclass(frozen=True, kw_only=True)
class SimpleGraphSettings(Settings):
    """Whether edges may lose directions and weights; graphs that have them are refused unless told."""

    undirected: bool = _may_drop("directions")
    unweighted: bool = _may_drop("weights")


@dataclass(frozen=True, kw_only=True)
class TextFileSettings(Settings):
    """How tables of text are read, as `unveil.data.files.settings.FileSettings` has it; detected unless given."""

    separator: str = setting(
        "detect",
        "What stands between the cells of text files",
        kind="choice",
        choices=lambda: (
            ("detect", "find it out"),
            ("comma", "commas"),
            ("semicolon", "semicolons"),
            ("tab", "tabs"),
            ("bar", "vertical bars"),
        ),
        fold=MORE,
    )
    decimal: str = setting(
        "detect",
        "What stands before the decimals of numbers",
        kind="choice",
        choices=lambda: (("detect", "find it out"), ("point", "a point"), ("comma", "a comma")),
        fold=MORE,
    )
    encoding: str = setting("detect", "The encoding of text files", "Such as utf-8, cp1252 or utf-16.", fold=MORE)
    header: str = setting(
        "detect",
        "Whether the first line of text files names the columns",
        kind="choice",
        choices=lambda: (
            ("detect", "look at it, and refuse one that looks like data"),
            ("yes", "it names the columns"),
            ("no", "it is data: columns get numbers"),
        ),
        fold=MORE,
    )

    @property
    def files(self) -> "FileSettings":
        """The same for the functions that read files."""
        from unveil.data.files.settings import FileSettings

        return FileSettings(**{each.name: getattr(self, each.name) for each in TextFileSettings.table()})

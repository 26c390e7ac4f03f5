"""Settings of a question, declared once: command line, form, settings file and reference are made from them."""

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

#: The type of a setting. The first three are files; ``folder`` is on this computer, ``output`` a file to be written,
#: ``thing`` a protection or an attack, ``texts`` and ``columns`` several texts, ``several`` several of the choices.
SettingKind = Literal[
    "table", "tables", "file", "folder", "output", "roles", "column", "columns", "scenarios", "limits", "thing",
    "things", "text", "texts", "number", "share", "size", "choice", "several", "switch",
]  # fmt: skip
FILES: frozenset[str] = frozenset({"table", "tables", "file"})
#: The kinds whose values are lists.
LISTS: frozenset[str] = frozenset({"roles", "columns", "scenarios", "limits", "things", "texts", "several"})

#: The front ends that take a setting.
Door = Literal["command line", "page", "python"]
#: Where the command line has a setting: in its default help, in ``--help-all`` only, as a key of ``--read`` or
#: ``--run``, as a key of a column in the dictionary, or as a key of the settings file. The last four keep their
#: options, which no help shows.
Place = Literal["default", "all", "read", "run", "dictionary", "config"]
#: The places whose options no help shows.
UNSHOWN: frozenset[str] = frozenset({"read", "run", "dictionary", "config"})
#: The longest help of an option: it stands on one line.
LONGEST_HELP = 60
#: The groups of options in help, in their order.
GROUPS = (
    "Input", "Columns", "Structure", "Perturbation", "Method", "Attack", "Attacks", "Generator", "Privacy audit",
    "Settings", "Decision", "Output", "Run",
)  # fmt: skip
#: Available values: each as the library takes it, and its description.
Choices = tuple[tuple[str, str], ...]
#: Conflicts between settings: pairs of a setting and a sentence, in which ``{name}`` stands for the front end's name of
#: that setting. Called with the whole request.
Together = Callable[[Any], "list[tuple[str, str]]"]

#: The folded part of a form, for settings that most people never change.
MORE = "More settings"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a question."""

    name: str
    #: A noun phrase of at most 60 characters: the label in the form, and the help of the option.
    label: str
    kind: SettingKind
    #: Further explanation in whole sentences, for form and reference.
    words: str = ""
    #: The help of the option where it differs from the label.
    help: str = ""
    place: Place = "all"
    #: The group of the option in help; made from its kind unless given.
    group: str = ""
    #: The table of the settings file that holds its key; that of its place unless given.
    section: str = ""
    #: The keys of that table that this setting takes as NAME=TEXT.
    entries: tuple[str, ...] = ()
    #: The only front end that has it; both unless given.
    only: Door | None = None
    #: Its name on the command line: made from its name unless given, and empty where none is written.
    option: str = ""
    #: The name of the option in earlier versions, which still works.
    alias: str = ""
    #: Whether it is written on the command line without a name, as the first files are.
    is_bare: bool = False
    #: The placeholder of its value in help; made from its kind unless given.
    metavar: str = ""
    required: bool = False
    #: The settings of which one may take the place of one that is required.
    unless: tuple[str, ...] = ()
    #: Whether its texts name files of data, so that the built-in example is not used.
    names_files: bool = False
    default: Any = None
    #: Looked up when needed, because the listings take a moment to import.
    choices: Callable[[], Choices] | None = None
    #: Names of available values where they differ from the library's: the library's by the name that is shown.
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    #: From an unknown name: a question whether another is meant, with a space before it, or nothing.
    hint: Callable[[str], str] | None = None
    #: The bounds of a number.
    least: float | None = None
    most: float | None = None
    whole: bool = True
    #: The title of the folded part of the form that holds it; empty for the part that is always visible.
    fold: str = ""
    #: The file whose columns are offered, for kinds that are about columns.
    of: str = ""
    #: The setting whose files have one such value each, such as the probability of a guess.
    beside: str = ""
    #: The setting whose file is meant on the command line where this number is none.
    or_file: str = ""
    #: Whether the form has a line for each of several texts, instead of commas between them.
    many: bool = False
    #: The setting whose list its value joins when the form continues from an answer.
    goes_to: str = ""
    #: An example, shown in an empty field.
    example: str = ""
    #: What reads the text for a protection or an attack, and refuses an invalid one.
    read: Callable[[str], object] | None = None
    #: How each text is written, such as COLUMN=KIND: in Python they are a mapping.
    form: str = ""
    #: Whether Python may pass an object instead, which is checked where it is used.
    objects: bool = False
    #: Whether None is a value of its own in Python, and not the default.
    optional: bool = False
    #: Whether its file must not exist yet.
    is_new: bool = False
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
        apart = self.front_end or self.is_bare or (self.beside and not self.objects)
        return not (apart or self.kind in ("output", "limits", "roles"))

    @property
    def key(self) -> str:
        """Its key in a settings file."""
        return self.option.removeprefix("--").replace("-", "_") or self.name

    @property
    def table(self) -> str:
        """The table of the settings file that holds its key; empty for the top of the file."""
        return self.section or (self.place if self.place in ("read", "run") else "")

    @property
    def is_shown(self) -> bool:
        """Whether any help shows its option."""
        return self.place not in UNSHOWN

    @property
    def heading(self) -> str:
        """The group of its option in help."""
        return self.group or ("Input" if self.is_file else "Output" if self.kind == "output" else "Settings")

    @property
    def option_help(self) -> str:
        """The help of its option: one line, with the default last."""
        text = self.help or self.label
        if isinstance(self.default, bool) or self.default in (None, "", ()) or "(default: " in text:
            return text
        whole = f"{text} (default: {self.default})"
        return whole if len(whole) <= LONGEST_HELP else text

    @property
    def description(self) -> str:
        """Its label and explanation as sentences, for the reference."""
        label = self.label if self.label.endswith(("?", ".")) else f"{self.label}."
        return f"{label} {self.words}".strip()

    def chosen(self) -> Choices:
        """Return the available values."""
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
            raise InputError(f"settings is a {type(settings).__name__}. Pass {cls.__name__}, or pass keywords")
        known = [each.name for each in cls.table() if each.is_keyword]
        unknown = next((name for name in changes if name not in known), None)
        if unknown is not None:
            hint = did_you_mean(unknown, known) or f" Available: {', '.join(known)}."
            raise InputError(f"Unknown setting {unknown!r}.{hint}")
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
                instead = any(map(request.values.get, each.unless))
                if each.required and not (several or request.sample or instead):
                    raise SettingError(f"No file is given for: {each.label}. Choose one", each.name)
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
        declared = [(each.name, each.default, each.description) for each in keywords]
        if issubclass(kind, LimitSettings):
            declared.append(("limits", None, _LIMITS))
        parameters = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default, _ in declared
        ]

        @wraps(function)
        def answered(*given: Any, limits: Mapping[str, float] | None = None, **more: Any) -> Any:
            checked = _checked_limits(limits, function.__module__)
            result = function(*given, **more)
            # A question may hold limits of its own, such as a threshold.
            whole = result.with_limits({**result.limits, **checked})
            return whole.in_library(_library_of((*given, *more.values())))

        lines = [line for name, _, words in declared for line in (f"    {name}", f"        {words}")]
        head, *others = re.split(r"(?=^    (?:Raises|Examples)\n)", function.__doc__ or "", flags=re.MULTILINE)
        answered.__doc__ = "\n".join([head.rstrip(), *lines, "", "".join(others)])
        answered.__signature__ = own.replace(parameters=[*plain, *parameters])  # type: ignore[attr-defined]
        return cast("Function", answered)

    return decorate


_LIMITS = (
    "Largest acceptable value of each result, by the name of its limit (smallest, where less is worse). The answer "
    "then has a decision."
)


def _checked_limits(limits: Mapping[str, float] | None, module: str) -> dict[str, float]:
    """Return limits as names of quantities with numbers."""
    from unveil.questions import QUESTIONS

    if not limits:
        return {}
    if not isinstance(limits, Mapping):
        raise InputError("limits is not a mapping from names to numbers. Write {'name': 0.1}")
    known = next(each for each in QUESTIONS.values() if module.split(".")[2] == each.folder).meanings()
    named = {limit_name(str(name), known): limit for name, limit in limits.items()}
    for name, limit in named.items():
        if name not in known:
            raise InputError(f"Unknown limit {shortened(str(name))}.{quantity_hint(str(name), known)}")
        if isinstance(limit, bool) or not isinstance(limit, Real) or not isfinite(limit):
            raise InputError(f"The limit on {name} is not a number. Write one, such as 0.1")
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
class Guide:
    """A text that an option of a command prints: its lines, from the files that were given."""

    option: str
    help: str
    #: The settings whose files it names.
    files: tuple[str, ...]
    lines: Callable[["tuple[str, ...]"], Iterable[str]]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question: its settings, texts and built-in example."""

    name: str
    #: The words after ``unveil``.
    command: tuple[str, ...]
    #: Its title in the web app and in lists.
    title: str
    #: The question itself, in a sentence.
    lead: str
    #: Its explanation in the reference, and example commands for help.
    about: str
    tries: tuple[str, ...]
    settings: tuple[Setting, ...]
    #: The built-in example, in a sentence; empty where there is none.
    sample: str = ""
    #: Whether the example is used where no file is given.
    sample_by_default: bool = True
    #: The setting that names the example, where there are several: it is written after ``--example``.
    sample_of: str = ""
    #: Other defaults for the example.
    of_sample: Mapping[str, Any] = field(default_factory=dict)
    together: Together | None = None
    #: Texts that an option prints in place of an answer.
    guides: "tuple[Guide, ...]" = ()
    #: Questions to a person at a terminal: setting, option and value, from the request and a function that asks.
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
        """Return the settings available there, in order."""
        return tuple(each for each in self.settings if each.only in (None, door))

    def meanings(self) -> Mapping[str, str]:
        """Return the meaning of each quantity that accepts a limit."""
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
    """The random seed."""

    seed: int = setting(
        0,
        "Random seed",
        "The same seed and the same files give the same answer.",
        least=0,
        fold=MORE,
        place="default",
        group="Run",
    )


@dataclass(frozen=True, kw_only=True)
class SecretSeedSettings(Settings):
    """The random seed of a release, which must stay private."""

    seed: int | None = setting(
        None,
        "Random seed (default: random, kept private)",
        "A known seed undoes the release: set one for tests only.",
        least=0,
        fold=MORE,
        place="default",
        group="Run",
    )


@dataclass(frozen=True, kw_only=True)
class LimitSettings(Settings):
    """Limits on results, and the settings file that may hold them."""

    limits: tuple[tuple[str, float], ...] = setting(
        (),
        "Limits",
        "Set before the run the largest acceptable value of a result: the report then states pass, fail or "
        "inconclusive.",
        help="Largest acceptable value; 'help' lists the names",
        kind="limits",
        fold=MORE,
        option="--limit",
        place="default",
        group="Decision",
        metavar="NAME=VALUE",
    )
    config: Any = setting(
        None,
        "Settings file (TOML)",
        "It may hold every setting; options override it.",
        kind="file",
        only="command line",
        front_end=True,
        place="default",
        group="Run",
    )


@dataclass(frozen=True, kw_only=True)
class SimpleGraphSettings(Settings):
    """Whether edge directions and weights are ignored; graphs that have them are refused otherwise."""

    undirected: bool = setting(False, "Ignore edge directions", fold=MORE, group="Input")
    unweighted: bool = setting(False, "Ignore edge weights", fold=MORE, group="Input")


def _format(label: str, words: str = "", choices: Choices = ()) -> Any:
    kind = {"kind": "choice", "choices": lambda: choices} if choices else {}
    return setting("detect", label, words, fold=MORE, place="read", **kind)


@dataclass(frozen=True, kw_only=True)
class TextFileSettings(Settings):
    """Format of text files; see `unveil.data.files.settings.FileSettings`."""

    separator: str = _format(
        "Field separator",
        choices=(
            ("detect", "detect"),
            ("comma", "commas"),
            ("semicolon", "semicolons"),
            ("tab", "tabs"),
            ("bar", "vertical bars"),
        ),
    )
    decimal: str = _format("Decimal mark", choices=(("detect", "detect"), ("point", "point"), ("comma", "comma")))
    encoding: str = _format("Text encoding", "Such as utf-8, cp1252 or utf-16.")
    header: str = _format(
        "Header line",
        choices=(
            ("detect", "detect; refuse a first line that looks like data"),
            ("yes", "the first line names the columns"),
            ("no", "the first line is data; columns get numbers"),
        ),
    )

    @property
    def files(self) -> "FileSettings":
        """The same for the functions that read files."""
        from unveil.data.files.settings import FileSettings

        return FileSettings(**{each.name: getattr(self, each.name) for each in TextFileSettings.table()})

"""Answers to forms: reports, and errors at their fields."""

import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError, UnveilError
from unveil.questions import QUESTIONS, question
from unveil.questions.request import Request, SettingError, checked_limits, decision_of
from unveil.questions.settings import Question, Setting
from unveil.questions.values import MOST_FILES, default_of, value_of, values_of, wrong_together
from unveil.report.figures import json_of
from unveil.report.progress import Progress, silent
from unveil.web import NamedFile, alone
from unveil.web.command import command

if TYPE_CHECKING:
    from unveil.questions.request import Response

#: For each setting the files that were dropped on it.
Files = Mapping[str, NamedFile | list[NamedFile]]


@dataclass(frozen=True, kw_only=True)
class ServedAnswer:
    """Answer as served: report, JSON, files, and headline."""

    html: str
    json: str
    headline: str
    tone: str
    #: The decision or the level in words.
    label: str
    #: Files to be taken away, by name, such as a release that was made.
    outputs: Mapping[str, bytes]


def check(asked: Question, files: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the errors of an answered form, by field.

    Parameters
    ----------
    asked
        The question.
    files
        For each field what was dropped on it: one thing, several in a list, or nothing. Only their number matters.
    settings
        For each field its value as the page sends it; ``sample`` is true where the example is asked for.

    Examples
    --------
    >>> check(question("attack_metrics"), {}, {})
    {'guess': 'No file is given. Drop one here, or choose one'}
    >>> check(question("attack_metrics"), {}, {"sample": True})
    {}
    """
    sample = settings.get("sample") is True
    if sample and not asked.sample:
        return {"": "This question has no example. Give your own files"}
    fields = asked.on("page")
    known = {field.name for field in fields}
    for name in (*files, *settings):
        if name not in known and name != "sample":
            return {"": f"Unknown field {name[:60]!r}. Load the form again"}
    numbers = {field.name: 0 if sample else _count(files.get(field.name)) for field in fields if field.is_file}
    errors = _wrong_files(fields, numbers, sample=sample)
    for field in fields:
        if field.is_file:
            continue
        try:
            value = value_of(field, settings.get(field.name), asked, sample=sample)
        except InputError as error:
            errors[field.name] = alone(str(error))
            continue
        if field.beside and len(value) > numbers[field.beside]:
            errors[field.name] = "There are more of these than files. Load the form again"
    if not errors:
        told = _told(asked, {name: (Path(name),) * number for name, number in numbers.items()}, settings)
        errors = {name: alone(sentence) for name, sentence in wrong_together(told, _calls(asked))}
    return errors


def _wrong_files(fields: tuple[Setting, ...], numbers: Mapping[str, int], *, sample: bool) -> dict[str, str]:
    errors = {}
    for field in fields:
        if field.is_file and field.required and not numbers[field.name] and not sample:
            errors[field.name] = "No file is given. Drop one here, or choose one"
        elif field.is_file and numbers[field.name] > (MOST_FILES if field.kind == "tables" else 1):
            most = f"at most {MOST_FILES}" if field.kind == "tables" else "only one"
            errors[field.name] = f"Too many files: {most} can be given. Remove the rest"
    return errors


def _count(given: Any) -> int:
    if given is None or given == "":
        return 0
    return len(given) if isinstance(given, list | tuple) else 1


def _calls(asked: Question) -> dict[str, str]:
    """Return the name of each setting in the form."""
    return {each.name: f"“{each.label}”" for each in asked.settings}


def _told(asked: Question, files: Mapping[str, tuple[Path, ...]], settings: Mapping[str, Any]) -> Request:
    sample = settings.get("sample") is True
    values = values_of(asked, settings, sample=sample)
    return Request(
        question=asked,
        files={} if sample else {name: paths for name, paths in files.items() if paths},
        values=values,
        explicit=frozenset(
            each.name
            for each in asked.on("page")
            if each.name in values and values[each.name] != default_of(each, asked, sample=sample)
        ),
        sample=sample,
    )


def going_on(asked: Question, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a form that continues from an answer.

    >>> going_on(question("protect"), {"method": "shuffle", "first": "pram"})["first"].split()
    ['pram', 'shuffle']
    """
    sample = settings.get("sample") is True
    values, made = values_of(asked, settings, sample=sample), dict(settings)
    for field in asked.on("page"):
        if field.goes_to:
            made.pop(field.name, None)
            made[field.goes_to] = "\n".join((*values[field.goes_to], values[field.name]))
    return made


def answer(name: str, files: Files, settings: Mapping[str, Any], progress: Progress = silent) -> ServedAnswer:
    """Return the answer: the same report bytes as the command line's.

    Parameters
    ----------
    name
        One of `unveil.questions.QUESTIONS`.
    files, settings
        What was dropped on each field, and its value as the page sends it.
    progress
        Called with the name of a step and the share of it that is done.

    Raises
    ------
    SettingError
        If the library refuses; the sentence is its own, with each file called as its owner calls it.

    Examples
    --------
    >>> found = answer("attack_metrics", {}, {"sample": True})
    >>> found.tone, found.html.startswith("<!doctype html>")
    ('bad', True)
    """
    asked = question(name)
    given = {field: tuple(each) if isinstance(each, list) else (each,) for field, each in files.items()}
    called = FileNames(given)
    try:
        told = replace(
            _told(asked, {field: tuple(one.path for one in each) for field, each in given.items()}, settings),
            progress=progress,
            command=command(
                asked, {field: [one.name for one in each] for field, each in given.items()}, settings
            ).words,
            names={one.path: one.name for each in given.values() for one in each},
        )
        return _shown(QUESTIONS[name].answer(told), told, called)
    except UnveilError as error:
        field = getattr(error, "field", None) or called.field(str(error)) or field_of(error, asked)
        raise SettingError(called.in_text(str(error)), field) from error


# Files under the names that their owner gave them, wherever the library says where they lie.


class FileNames:
    """Replaces file paths by the names their owners use.

    >>> given = NamedFile(path=Path("/tmp/private/0123456789abcdef.csv"), name="people.csv")
    >>> FileNames({"original": [given]}).in_text("the file '/tmp/private/0123456789abcdef.csv' is empty")
    "the file 'people.csv' is empty"
    """

    def __init__(self, files: Mapping[str, Sequence[NamedFile]]) -> None:
        self.fields = {str(each.path): name for name, given in files.items() for each in given}
        # The longest first: a path holds the name of the file, and that its stem, which graphs are called by.
        pairs: dict[str, str] = {}
        for given in files.values():
            for each in given:
                pairs |= {str(each.path): each.name, each.path.name: each.name, _stem(each.path): each.name}
        self.names = sorted(pairs.items(), key=lambda pair: -len(pair[0]))

    def field(self, sentence: str) -> str:
        """Return the field of the file that a sentence names, or nothing."""
        found = [name for path, name in self.fields.items() if path in sentence]
        return found[0] if len(set(found)) == 1 else ""

    def in_text(self, text: str) -> str:
        """Return a text with file names in place of paths."""
        return self._with(text, lambda each: each)

    def in_html(self, text: str) -> str:
        """Return the same for text that is escaped for HTML."""
        return self._with(text, html.escape)

    def in_json(self, text: str) -> str:
        """Return the same for JSON."""
        return self._with(text, lambda each: json.dumps(each)[1:-1])

    def _with(self, text: str, written: Callable[[str], str]) -> str:
        for path, name in self.names:
            text = text.replace(written(path), written(name))
        return text


def _stem(path: Path) -> str:
    """Return the file stem if it is long enough to be unique."""
    stem = path.name.partition(".")[0]
    return stem if len(stem) >= 16 else path.name


def _shown(reply: "Response", request: Request, called: FileNames) -> ServedAnswer:
    """Return page, JSON and files of a reply, with the user's file names; no file of a release that fails."""
    from unveil.report.page import label_of, render

    limits = checked_limits(reply, request)
    shown: dict[str, Any] = {"seed": request.values.get("seed")}
    if not reply.holds_limits:
        shown["limits"] = [json_of(each) for each in limits]
    # A page may be passed on, and then a seed that undoes the release must not be on it.
    on_page = {**shown, **({"seed": None} if request.question.secret else {}), **reply.on_page}
    request.progress("writing the report", 0.0)
    page = reply.answer.page(**on_page)
    return ServedAnswer(
        html=called.in_html(render(page)),
        json=called.in_json(reply.answer.to_json(**{**shown, **reply.in_json})),
        headline=called.in_text(page.headline),
        tone=page.tone,
        label=label_of(page),
        outputs=_outputs(reply, shown) if decision_of(reply, limits) in ("pass", "none") else {},
    )


def _outputs(reply: "Response", shown: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of a release, offered for download."""
    made = {}
    with TemporaryDirectory(prefix="unveil-") as folder:
        for output in reply.outputs.values():
            if output.is_release:
                path = Path(folder) / output.name
                output.write(path, **shown)
                made[output.name] = path.read_bytes()
    return made


def field_of(error: Exception, asked: Question) -> str:
    """Return the field of a library error, or "" for the form.

    >>> field_of(InputError("neighbors must be a whole number of at least 1, but is 0. Raise it"), question("audit"))
    'neighbors'
    >>> field_of(InputError("column 'agee' of scenario 'x' is not in the tables."), question("audit"))
    'scenarios'
    """
    told = getattr(error, "field", None)
    if told is not None:
        return str(told)
    fields = asked.on("page")
    names = {field.name for field in fields}
    said = str(error)
    for words, name in _WORDS:
        if name in names and words in said:
            return name
    first = said.partition(" ")[0]
    if first in names:
        return first
    by_option = [field.name for field in fields if field.option and f"{field.option} " in f"{said} "]
    return by_option[0] if by_option else ""


#: What sentences of the library are about, the more telling words first.
_WORDS = (
    ("scenario", "scenarios"),
    ("no attack ", "attacks"),
    ("column of the control", "control"),
    ("of the control", "control"),
    ("kinds={", "columns"),
    ("Choose one role", "columns"),
    ("quasi_identifiers", "columns"),
    ("of the original", "original"),
    ("have a probability", "probabilities"),
    ("the folder", "folder"),
    ("the study has no metric", "metrics"),
    ("seed pairs", "seed_pairs"),
)

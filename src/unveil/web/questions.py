"""What a form asks, answered: the same report as the command line writes, and errors at the field they are about."""

from collections.abc import Mapping
from typing import Any

from unveil.errors import UnveilError
from unveil.show.progress import Progress, silent
from unveil.web import Given
from unveil.web.asked import Answered, Asked, AskedError
from unveil.web.asking import QUESTIONS
from unveil.web.fields import Form
from unveil.web.forms import FORMS
from unveil.web.names import Called
from unveil.web.values import values_of

__all__ = ["Answered", "AskedError", "Files", "answer", "field_of"]

#: For each field the files that were dropped on it.
Files = Mapping[str, Given | list[Given]]


def answer(question: str, files: Files, settings: Mapping[str, Any], progress: Progress = silent) -> Answered:
    """Return the answer to a question: the same report, byte for byte, that the command line writes.

    Parameters
    ----------
    question
        One of `unveil.web.forms.FORMS`.
    files, settings
        What was dropped on each field, and its value as the page sends it.
    progress
        Called with the name of a step and the share of it that is done.

    Raises
    ------
    AskedError
        If the library refuses; the sentence is its own, with each file called as its owner calls it.

    Examples
    --------
    >>> found = answer("candidates", {}, {"sample": True})
    >>> found.tone, found.html.startswith("<!doctype html>")
    ('bad', True)
    """
    form = FORMS[question]
    given = {name: tuple(each) if isinstance(each, list) else (each,) for name, each in files.items()}
    called = Called(given)
    try:
        values = values_of(form, settings)
        asked = Asked(
            form=form,
            files={} if values["sample"] else given,
            settings=settings,
            values=values,
            progress=progress,
        )
        found = QUESTIONS[question](asked)
    except UnveilError as error:
        field = getattr(error, "field", None) or called.field(str(error)) or field_of(error, form)
        raise AskedError(called.in_text(str(error)), field) from error
    return Answered(
        html=called.in_html(found.html),
        json=called.in_json(found.json),
        headline=called.in_text(found.headline),
        tone=found.tone,
    )


def field_of(error: Exception, form: Form) -> str:
    """Return the field that an error of the library is about, as far as its words tell; else the whole form ("").

    >>> from unveil.errors import InputError
    >>> field_of(InputError("neighbours must be a whole number of at least 1, but is 0. Raise it"), FORMS["audit"])
    'neighbours'
    >>> field_of(InputError("column 'agee' of scenario 'x' is not in the tables."), FORMS["audit"])
    'scenarios'
    """
    told = getattr(error, "field", None)
    if told is not None:
        return str(told)
    names = {field.name for field in form.fields}
    said = str(error)
    for words, name in _WORDS:
        if name in names and words in said:
            return name
    first = said.partition(" ")[0]
    if first in names:
        return first
    by_option = [field.name for field in form.fields if field.option and f"{field.option} " in f"{said} "]
    return by_option[0] if by_option else ""


#: What sentences of the library are about, the more telling words first.
_WORDS = (
    ("scenario", "scenarios"),
    ("no attack ", "attacks"),
    ("column of the control", "control"),
    ("of the control", "control"),
    ("kinds={", "columns"),
    ("Give it one role", "columns"),
    ("--known", "columns"),
    ("of the original", "original"),
    ("have a probability", "probabilities"),
    ("the folder", "folder"),
    ("the study has no metric", "metrics"),
    ("seed pairs", "seed_pairs"),
)

"""The pages as HTML: every text is escaped, nothing is inline, and all that they load is in `asset`."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from unveil.questions import QUESTIONS
from unveil.questions import question as asked_for
from unveil.questions.settings import Question, Setting
from unveil.report.page import TONES, embedded
from unveil.report.page import asset as report_asset
from unveil.report.templates import LONGEST_SENTENCE, environment_of, text_of
from unveil.report.text import shorten
from unveil.web import alone, title_of
from unveil.web.command import command

if TYPE_CHECKING:
    from jinja2 import Environment

#: What pages load from ``/assets/NAME``: the type of each.
ASSETS: Mapping[str, str] = {
    "page.css": "text/css; charset=utf-8",
    "web.css": "text/css; charset=utf-8",
    "web.js": "text/javascript; charset=utf-8",
    "form.js": "text/javascript; charset=utf-8",
}
_PACKAGE = "unveil.web"
#: States in words.
STATES = {
    "waiting": "Waiting",
    "running": "Running",
    "finished": "Finished",
    "failed": "No answer",
    "cancelled": "Cancelled",
}


class ShownJob(Protocol):
    """What a page shows of a job (`unveil.web.jobs.JobView` is one)."""

    @property
    def id(self) -> str:
        """Its number."""

    @property
    def question(self) -> str:
        """Which question was asked."""

    @property
    def state(self) -> Any:
        """How far it is: waiting, running, finished, failed, cancelled."""

    @property
    def headline(self) -> str:
        """The answer in a sentence."""

    @property
    def tone(self) -> str:
        """How good that is."""

    @property
    def tone_word(self) -> str:
        """What that is called."""

    @property
    def error(self) -> str:
        """Why there is no answer."""

    @property
    def field(self) -> str:
        """Which field that is about."""

    @property
    def files(self) -> Mapping[str, Any]:
        """For each field the file or the files that were given, each with ``id`` and ``name``."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as the page sent them."""

    @property
    def outputs(self) -> Sequence[str]:
        """What the files are called that it made, such as a release."""

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""


class ShownUpload(Protocol):
    """What a page shows of an uploaded file (`unveil.web.uploads.Upload` is one)."""

    @property
    def id(self) -> str:
        """Its number."""

    @property
    def name(self) -> str:
        """What its owner calls it."""

    @property
    def size(self) -> int:
        """How many bytes it has."""


def asset(name: str) -> bytes:
    """Return a file that pages load; its type is in `ASSETS`. The style of reports is one of them.

    >>> asset("page.css").startswith(b":root")
    True
    """
    if name not in ASSETS:
        raise KeyError(name)
    return (report_asset(name) if name == "page.css" else text_of(_PACKAGE, name)).encode()


def home(jobs: Sequence[ShownJob] = (), files: Sequence[ShownUpload] = (), *, root: str = "") -> str:
    """Return the first page: the questions, results so far, the last first, and the files that are kept.

    >>> "Audit a table" in home()
    True
    """
    return _render(
        "home.html.j2",
        root,
        title="Start",
        forms=[asked_for(each) for each in QUESTIONS],
        jobs=[_line(job) for job in reversed(jobs)],
        files=[{"id": each.id, "name": each.name, "size": _size(each.size)} for each in files],
    )


def question(asked: Question, again: ShownJob | None = None, *, root: str = "") -> str:
    """Return the page that asks a question; ``again`` fills it with what an earlier job was asked.

    >>> '<label for="f-original"' in question(asked_for("audit"))
    True
    """
    groups: dict[str, list[Any]] = {}
    for field in asked.on("page"):
        if not field.beside:
            groups.setdefault(field.fold, []).append(_field(field, asked))
    return _render(
        "question.html.j2",
        root,
        title=asked.title,
        form=asked,
        groups=[{"title": title, "fields": fields} for title, fields in groups.items()],
        again=embedded(_again(again)) if again is not None else "",
        error=again.error if again is not None and not again.field else "",
    )


def job(view: ShownJob, *, root: str = "") -> str:
    """Return the page of one job: how far it is, then its answer, and what was asked."""
    form = asked_for(view.question)
    line = _line(view)
    return _render(
        "job.html.j2",
        root,
        title=f"{line.state_words}: {form.title}",
        form=form,
        job=line,
        asked=_asked(form, view),
        tone=view.tone_word or TONES.get(view.tone, TONES["neutral"]),
        goes_on=any(field.goes_to for field in form.settings),
    )


def listing(*, root: str = "") -> str:
    """Return the page with all metrics, attacks and protections, from the same listings that everything else uses.

    >>> "narayanan-shmatikov" in listing()
    True
    """
    from unveil.web.listing import parts

    return _render("list.html.j2", root, title="Attacks, protections, metrics", parts=parts())


def error(status: int, sentence: str, *, root: str = "") -> str:
    """Return the page for a request that was not served, with the sentence that says why.

    >>> "&lt;b&gt;" in error(404, "There is no <b>")
    True
    """
    return _render("error.html.j2", root, title=title_of(status), sentence=sentence)


class _UploadLine(NamedTuple):
    """A job as lists and its own page show it."""

    id: str
    question: str
    title: str
    about: str
    state: str
    state_words: str
    headline: str
    tone: str
    error: str
    field: str
    outputs: Sequence[str]
    seconds: str


def _line(view: ShownJob) -> _UploadLine:
    sample = view.settings.get("sample") is True
    names = [each.name for given in _by_field(view).values() for each in given]
    return _UploadLine(
        id=view.id,
        question=view.question,
        title=asked_for(view.question).title,
        about="the example inside unveil" if sample else ", ".join(names) or str(view.settings.get("folder") or "–"),
        state=view.state,
        state_words=STATES[view.state],
        headline=view.headline,
        tone=view.tone if view.tone in TONES else "neutral",
        error=view.error,
        field=view.field,
        outputs=view.outputs,
        seconds=f"{view.seconds:.0f} s" if view.seconds >= 1 else "less than a second",
    )


def _alone(sentence: str) -> str:
    """Return an error that stands alone, instead of after the name of the program in a terminal."""
    text = alone(shorten(str(sentence), LONGEST_SENTENCE))
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{max(size, 1) / 1e3:.1f} kB"


def _by_field(view: ShownJob) -> dict[str, list[Any]]:
    """Return the files of each field, in the order of the form."""
    given = {field.name: view.files.get(field.name) for field in asked_for(view.question).files}
    return {name: list(value) if isinstance(value, list | tuple) else [value] for name, value in given.items() if value}


def _again(view: ShownJob) -> dict[str, Any]:
    """Return what the script needs to fill the form once more."""
    named = {name: [{"id": each.id, "name": each.name} for each in given] for name, given in _by_field(view).items()}
    return {"files": named, "settings": dict(view.settings), "error": view.error, "field": view.field}


def _asked(form: Question, view: ShownJob) -> dict[str, Any]:
    """Return what was asked in words, and the command that asks the same."""
    from unveil.web.summary import said

    names = {name: [each.name for each in given] for name, given in _by_field(view).items()}
    written = command(form, names, view.settings)
    return {"said": said(form, names, view.settings), "command": written}


def _field(field: Setting, asked: Question) -> dict[str, Any]:
    """Return a field with all that its part of the page needs to be drawn."""
    of_file = next((each for each in asked.on("page") if each.beside == field.name), None)
    return {
        "field": field,
        "id": f"f-{field.name}",
        "choices": list(field.chosen()) if field.kind not in ("thing", "things") else [],
        "things": _things(field) if field.kind == "thing" else [],
        "beside": None if of_file is None else _field(of_file, asked),
        "meanings": list(asked.meanings().items()) if field.kind == "limits" else [],
        "default": "\n".join(field.default) if isinstance(field.default, tuple) else field.default or "",
    }


def _things(field: Setting) -> list[dict[str, Any]]:
    from unveil.web.listing import settings_of

    return [
        {"name": name, "summary": summary, "settings": settings_of(name) if name else []}
        for name, summary in field.chosen()
    ]


def _render(template: str, root: str, **values: Any) -> str:
    """Return a page whose links begin with ``root``, the part of the path that only the signed-in browser knows."""
    from unveil._version import __version__

    return _environment().get_template(template).render(version=__version__, root=root, **values)


@cache
def _environment() -> "Environment":
    from unveil.questions.roles import KINDS, ROLES

    environment = environment_of(_PACKAGE)
    environment.filters["alone"] = _alone
    environment.globals.update(ROLES=ROLES, KINDS=KINDS)
    return environment

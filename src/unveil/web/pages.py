"""HTML pages: escaped, without inline code, with listed assets only."""

import typing
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args, get_origin

from unveil._registry import RegistryEntry
from unveil.questions import QUESTIONS
from unveil.questions import question as asked_for
from unveil.questions.roles import KINDS, ROLES
from unveil.questions.settings import Question, Setting
from unveil.questions.values import cells, default_of, values_of
from unveil.report.blocks import Tone
from unveil.report.page import asset as report_asset
from unveil.report.page import embedded
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
    "failed": "Failed",
    "cancelled": "Cancelled",
}


class ShownJob(Protocol):
    """State of a job for a page (`unveil.web.jobs.JobView` is one)."""

    @property
    def id(self) -> str:
        """Its number."""

    @property
    def question(self) -> str:
        """Question of the job."""

    @property
    def state(self) -> Any:
        """State: waiting, running, finished, failed, or canceled."""

    @property
    def headline(self) -> str:
        """The answer in a sentence."""

    @property
    def tone(self) -> str:
        """Tone of the result."""

    @property
    def label(self) -> str:
        """The decision or level in words."""

    @property
    def error(self) -> str:
        """Why there is no answer."""

    @property
    def field(self) -> str:
        """Field of the error."""

    @property
    def files(self) -> Mapping[str, Any]:
        """Files by field, each with ``id`` and ``name``."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as the page sent them."""

    @property
    def outputs(self) -> Sequence[str]:
        """Names of result files, such as a release."""

    @property
    def seconds(self) -> float:
        """Running time in seconds."""


class ShownUpload(Protocol):
    """Uploaded file for a page (`unveil.web.uploads.Upload` is one)."""

    @property
    def id(self) -> str:
        """Its number."""

    @property
    def name(self) -> str:
        """Original name of the file."""

    @property
    def size(self) -> int:
        """Size in bytes."""


def asset(name: str) -> bytes:
    """Return a page asset; its type is in `ASSETS`.

    >>> asset("page.css").startswith(b":root")
    True
    """
    if name not in ASSETS:
        raise KeyError(name)
    return (report_asset(name) if name == "page.css" else text_of(_PACKAGE, name)).encode()


def home(jobs: Sequence[ShownJob] = (), files: Sequence[ShownUpload] = (), *, root: str = "") -> str:
    """Return the first page: questions, newest results, and stored files.

    >>> "Audit a released table" in home()
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
    """Return the form of a question; ``again`` prefills it.

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
    """Return the page of one job: progress, answer, and request."""
    form = asked_for(view.question)
    line = _line(view)
    return _render(
        "job.html.j2",
        root,
        title=f"{line.state_words}: {form.title}",
        form=form,
        job=line,
        asked=_asked(form, view),
        label=view.label or "Result",
        goes_on=any(field.goes_to for field in form.settings),
    )


def listing(*, root: str = "") -> str:
    """Return the page of all metrics, attacks, and protections.

    >>> "narayanan-shmatikov" in listing()
    True
    """
    return _render("list.html.j2", root, title="Attacks, protections, metrics", parts=parts())


def error(status: int, sentence: str, *, root: str = "") -> str:
    """Return the error page with the reason.

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
        about="built-in example" if sample else ", ".join(names) or str(view.settings.get("folder") or "–"),
        state=view.state,
        state_words=STATES[view.state],
        headline=view.headline,
        tone=view.tone if view.tone in get_args(Tone) else "neutral",
        error=view.error,
        field=view.field,
        outputs=view.outputs,
        seconds=f"{view.seconds:.0f} s" if view.seconds >= 1 else "less than a second",
    )


def _alone(sentence: str) -> str:
    """Return an error as a complete sentence."""
    text = alone(shorten(str(sentence), LONGEST_SENTENCE))
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{max(size, 1) / 1e3:.1f} kB"


def _by_field(view: ShownJob) -> dict[str, list[Any]]:
    """Return the files of each field, in the order of the form."""
    given = {field.name: view.files.get(field.name) for field in asked_for(view.question).files}
    return {name: list(value) if isinstance(value, list | tuple) else [value] for name, value in given.items() if value}


def _again(view: ShownJob) -> dict[str, Any]:
    """Return the values that the script fills in again."""
    named = {name: [{"id": each.id, "name": each.name} for each in given] for name, given in _by_field(view).items()}
    return {"files": named, "settings": dict(view.settings), "error": view.error, "field": view.field}


def _asked(form: Question, view: ShownJob) -> dict[str, Any]:
    """Return the request as text, and its command line."""
    names = {name: [each.name for each in given] for name, given in _by_field(view).items()}
    written = command(form, names, view.settings)
    return {"said": said(form, names, view.settings), "command": written}


def _field(field: Setting, asked: Question) -> dict[str, Any]:
    """Return a field with its template data."""
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
    return [
        {"name": name, "summary": summary, "settings": settings_of(name) if name else []}
        for name, summary in field.chosen()
    ]


def _render(template: str, root: str, **values: Any) -> str:
    """Return a page with links under ``root``, the private path prefix."""
    from unveil._version import __version__

    return _environment().get_template(template).render(version=__version__, root=root, **values)


@cache
def _environment() -> "Environment":
    from unveil.questions.roles import KINDS, ROLES

    environment = environment_of(_PACKAGE)
    environment.filters["alone"] = _alone
    environment.globals.update(ROLES=ROLES, KINDS=KINDS)
    return environment


# All metrics, attacks and protections as the page lists them, from the listings themselves.


def parts() -> list[dict[str, Any]]:
    """Return the three listings: name, summary, and facts.

    >>> [part["title"] for part in parts()]
    ['Attacks', 'Protections', 'Metrics']
    """
    from unveil.attacks import ATTACKS
    from unveil.metrics import METRICS
    from unveil.protections import PROTECTIONS

    return [
        {
            "title": "Attacks",
            "lead": "What an attacker may do with a release.",
            "things": [_listed(each, leaves=each.leaves) for each in ATTACKS.values()],
        },
        {
            "title": "Protections",
            "lead": "Methods that change data before a release.",
            "things": [_listed(each, makes=f"a {each.kind} release") for each in PROTECTIONS.values()],
        },
        {
            "title": "Metrics",
            "lead": "Measures of an attack, or of a release.",
            "things": [_metric(each) for each in METRICS.values()],
        },
    ]


def _listed(each: RegistryEntry, **more: str) -> dict[str, Any]:
    facts = {"on": f"{each.on}s", **more, "settings": ", ".join(each.settings), "also called": ", ".join(each.aka)}
    return _thing(each.name, each.summary, each.source, facts)


def _metric(each: Any) -> dict[str, Any]:
    low, high = each.bounds
    facts = {
        "family": each.category,
        "measures": each.on,
        "per": each.per,
        "more means": each.more_means,
        "from": f"{low:g} to {high:g}".replace("inf", "∞"),
        "needs the truth": "yes" if each.needs_truth else "",
    }
    return _thing(each.name, _first_large(each.summary.removeprefix("Return ")), each.source, facts)


def _thing(name: str, summary: str, source: str, facts: Mapping[str, str]) -> dict[str, Any]:
    said = {key: value for key, value in facts.items() if value}
    words = " ".join([name, summary, source, *said.values()]).casefold()
    return {"name": name, "summary": summary, "source": source, "facts": said, "words": words}


def settings_of(name: str) -> list[dict[str, Any]]:
    """Return the settings of an attack or protection: name, default, and choices.

    >>> settings_of("umga")[1]
    {'name': 'edge_selection', 'default': 'random', 'choices': ['random', 'nc']}
    """
    from unveil.attacks import ATTACKS
    from unveil.protections import PROTECTIONS

    listed = PROTECTIONS[name] if name in PROTECTIONS else ATTACKS[name]
    hints = typing.get_type_hints(listed.make)
    found = []
    for written in listed.settings:
        key, _, default = written.partition("=")
        found.append({"name": key, "default": default, "choices": _choices(hints.get(key))})
    return found


def _choices(hint: Any) -> list[str]:
    if hint is bool:
        return ["yes", "no"]
    return [str(each) for each in get_args(hint)] if get_origin(hint) is Literal else []


def _first_large(text: str) -> str:
    return text[:1].upper() + text[1:]


# Summarize a request: the files, and every setting that differs from its default.


def said(asked: Question, names: Mapping[str, Sequence[str]], settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the settings of a request as pairs of label and value.

    >>> from unveil.questions import question
    >>> said(question("attack_metrics"), {"guess": ["guess.csv"]}, {"normalize": True})[0]
    ('Output of an attack', 'guess.csv')
    """
    sample = settings.get("sample") is True
    values = values_of(asked, settings, sample=sample)
    pairs = [("Data", f"Built-in example: {asked.sample}")] if sample else []
    for field in asked.on("page"):
        if field.is_file:
            text = "" if sample else ", ".join(names.get(field.name, ()))
        else:
            text = _text(field, values[field.name], default_of(field, asked, sample=sample), sample=sample)
        if text:
            pairs.append((field.label, text))
    return pairs


def _text(field: Setting, value: Any, usual: Any, *, sample: bool) -> str:
    match field.kind:
        case "roles":
            return _roles(value)
        case "scenarios":
            told = [each.partition("=") for each in value]
            return "; ".join(f"{name} knows {', '.join(cells(columns))}" for name, _, columns in told)
        case "limits":
            return "; ".join(f"{name}: {limit:g}" for name, limit in value)
        case "switch":
            return "yes" if value else ""
        case "folder":
            return "" if sample else ", ".join(map(str, value))
    if field.beside:
        return ", ".join(_plain(field, each) for each in value) if any(value) else ""
    if field.name == "seed":
        return "" if value is None else str(value)
    if value in (None, "", ()) or value == usual:
        return ""
    return ", ".join(_plain(field, each) for each in value) if isinstance(value, tuple) else _plain(field, value)


def _plain(field: Setting, value: Any) -> str:
    if field.choices is not None and field.kind not in ("thing", "things"):
        return dict(field.chosen()).get(value, str(value))
    return "–" if value is None else str(value) if isinstance(value, str | int | Fraction) else f"{value:g}"


def _roles(columns: Sequence[Mapping[str, Any]]) -> str:
    roles, kinds = dict(ROLES), dict(KINDS)
    texts = [f"{each['name']}: {roles[each['role']]}" for each in columns if each["role"] != each["suggested"]]
    texts += [f"{each['name']}: {kinds[each['kind']]}" for each in columns if each["kind"] != each["guessed"]]
    if columns and not texts:
        return "as suggested"
    return "; ".join(texts)

"""A question as a command, with options from its settings."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import click

from unveil._kernels._compile_timer import tell_by
from unveil._optional import need
from unveil.cli.common import WRITTEN, OutputOptions, refuse_tight_memory, show
from unveil.cli.help import GroupedCommand, GroupedOption, HelpfulArgument
from unveil.cli.values import exists, folder_target, limit_reader, refuse_overwriting, refuse_replacing, report_target
from unveil.errors import InputError
from unveil.questions import QUESTIONS
from unveil.questions.request import Request, SettingError
from unveil.questions.settings import LISTS, Guide, Question, Setting
from unveil.questions.values import cells, names_file, row, value_of, values_of, wrong_together
from unveil.report.limits import parse_number

FILE = click.Path(path_type=Path)
#: The placeholder of a value in help, by the kind of its setting.
_METAVARS = {
    "table": "FILE", "tables": "FILE", "file": "FILE", "output": "FILE", "folder": "DIR", "column": "COLUMN",
    "columns": "COLS", "thing": "NAME[:KEY=VALUE]", "things": "NAME[:KEY=VALUE]", "number": "N",
    "share": "SHARE", "size": "SIZE", "several": "NAME", "scenarios": "TEXT", "text": "TEXT", "texts": "TEXT",
    "choice": "NAME",
}  # fmt: skip
#: The options that hold several settings as KEY=VALUE, by the place of these settings.
_PAIRED = {"read": ("File format", "Input"), "run": ("Resources", "Run")}
#: Where a command keeps the guide that it prints.
_GUIDE = "unveil.guide"
#: The longest list of keys in help.
_LONGEST = 50


def command_of(name: str) -> click.Command:
    """Return the command that asks a question."""
    question = QUESTIONS[name].question
    return GroupedCommand(
        question.command[-1],
        params=[*params_of(question), *_shared()],
        callback=partial(_run, name),
        help=QUESTIONS[name].summary,
        examples=question.tries,
    )


def params_of(question: Question) -> Iterator[click.Parameter]:
    """Yield the arguments and options of a question."""
    settings = question.on("command line")
    for setting in settings:
        if setting.name == question.sample_of or (setting.beside and not setting.option):
            continue
        if setting.option:
            yield _option(setting, question)
        else:
            yield _argument(setting, question)
    for place in _PAIRED:
        held = {each.key: each for each in settings if each.place == place}
        if held:
            yield _paired_option(place, held, question)
    if question.sample:
        yield _sample(question)
    for guide in question.guides:
        yield GroupedOption(
            [guide.option],
            is_flag=True,
            expose_value=False,
            callback=partial(_remember, guide),
            help=guide.help,
            group="Run",
        )


def _argument(setting: Setting, question: Question) -> click.Argument:
    many = setting.kind == "tables" or (setting.kind == "folder" and setting.many)
    beside = _beside(setting, question)
    shown = called(setting) + (f"[={beside.metavar}]" if beside is not None else "")
    return HelpfulArgument(
        [setting.name],
        nargs=-1 if many else 1,
        required=False,
        type=click.STRING if beside is not None else FILE,
        metavar=f"[{shown}]{'...' if many else ''}",
        line=setting.option_help,
    )


def _beside(setting: Setting, question: Question) -> Setting | None:
    """Return the setting written behind each file, such as a probability."""
    return next((each for each in question.settings if each.beside == setting.name and not each.option), None)


def _option(setting: Setting, question: Question) -> click.Option:
    is_flag = setting.kind == "switch"
    beside = _beside(setting, question)
    is_path = (setting.is_file and beside is None) or setting.kind in ("output", "folder")
    behind = "" if beside is None else f"[={beside.metavar}]"
    is_limit = setting.kind == "limits"
    checked = report_target if setting.kind == "output" else partial(_check, setting, question)
    return GroupedOption(
        [setting.option, *([setting.alias] if setting.alias else []), setting.name],
        is_flag=is_flag,
        multiple=setting.kind in LISTS or setting.kind == "tables" or bool(setting.goes_to),
        type=click.BOOL if is_flag else FILE if is_path else click.STRING,
        default=None,
        metavar=None if is_flag else f"{_metavar(setting)}{behind}",
        required=setting.required and setting.kind == "folder",
        is_eager=is_limit,  # so that '--limit help' needs no files
        callback=limit_reader(question.meanings) if is_limit else checked,
        help=setting.option_help,
        group=setting.heading,
        by_default=setting.place == "default",
        hidden=not setting.is_shown,
    )


def _metavar(setting: Setting) -> str:
    return setting.metavar or _METAVARS.get(setting.kind, "VALUE")


def _paired_option(place: str, held: Mapping[str, Setting], question: Question) -> click.Option:
    """Return the option of comma-separated KEY=VALUE settings."""
    what, group = _PAIRED[place]
    named = f"{what}: {', '.join(sorted(held, key=lambda key: 'limit' in key))}"
    while len(named) > _LONGEST:
        named = f"{named.removesuffix(', …').rpartition(', ')[0]}, …"

    def read(ctx: click.Context, param: click.Parameter, written: tuple[str, ...]) -> dict[str, str]:
        pairs = {}
        for text in (each for one in written for each in cells(one)):
            key, equals, value = text.partition("=")
            setting = held.get(key.strip().replace("-", "_"))
            if setting is None or not equals:
                raise click.BadParameter(
                    f"{text!r} is not KEY=VALUE with a known key. Available: {', '.join(held)}", ctx, param
                )
            pairs[setting.name] = str(_check(setting, question, ctx, param, value.strip()))
        return pairs

    return GroupedOption(
        [f"--{place}", f"paired_{place}"],
        multiple=True,
        metavar="KEY=VALUE",
        callback=read,
        help=named,
        group=group,
    )


def _remember(guide: Guide, ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
    """Keep a guide until the files that it names are known."""
    if value:
        ctx.meta[_GUIDE] = guide


def _sample(question: Question) -> click.Option:
    about: dict[str, Any] = {"help": "Use the built-in example", "group": "Input"}
    if not question.sample_of:
        return GroupedOption(["--example", "--sample", "sample"], is_flag=True, **about)
    which = question.setting(question.sample_of)
    names = [name for name, _ in which.chosen()]
    return GroupedOption(
        ["--example", "--sample", "sample"],
        type=click.Choice(names),
        is_flag=False,
        flag_value=which.default,
        metavar=f"[{'|'.join(names)}]",
        **about,
    )


def _shared() -> Iterator[click.Parameter]:
    yield GroupedOption(
        ["--html"],
        type=FILE,
        metavar="FILE",
        callback=report_target,
        help="Write the report",
        group="Output",
        by_default=True,
    )
    yield json_option()
    yield GroupedOption(
        ["--pdf"],
        type=FILE,
        metavar="FILE",
        callback=report_target,
        help="Write the report as PDF (needs Chromium or Edge)",
        group="Output",
    )
    for option, text in (("--csv", "Write all tables as CSV"), ("--figures", "Write all charts as SVG, PDF, PNG")):
        yield GroupedOption([option], type=FILE, metavar="DIR", callback=folder_target, help=text, group="Output")
    yield GroupedOption(["--verbose"], is_flag=True, help="Print all results", group="Output")
    yield GroupedOption(["--report", "report_full"], type=click.Choice(["brief", "full"]), hidden=True, group="Output")
    yield quiet_option()


def json_option() -> click.Option:
    """Return the option for JSON."""
    return GroupedOption(
        ["--json", "as_json"], is_flag=True, help="Print the result as JSON", group="Output", by_default=True
    )


def quiet_option() -> click.Option:
    """Return the option for less output."""
    return GroupedOption(["--quiet"], is_flag=True, help="Print only errors and failures", group="Output")


def _is_json_target(path: Path) -> bool:
    """Return whether a file argument was meant as the target of ``--json``."""
    return path.suffix == ".json" and not path.exists()


def _check(setting: Setting, question: Question, ctx: click.Context, param: click.Parameter, raw: Any) -> Any:
    """Check an option's value before any file is read."""
    if raw is None or raw == () or setting.is_file or setting.kind == "folder" or names_file(setting, raw):
        return raw
    try:
        for each in raw if setting.goes_to else (raw,):
            value_of(setting, each, question, door="command line")
    except InputError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    return raw


def called(setting: Setting) -> str:
    """Return a setting's option, or its file placeholder."""
    if not setting.option:
        return setting.metavar or setting.name.upper()
    return setting.option if setting.kind == "switch" else f"{setting.option} {_metavar(setting)}"


def told_by(question: Question, params: Mapping[str, Any], *, report: bool = True) -> Request:
    """Return the request of a command line, checked as a whole."""
    context = click.get_current_context()
    files, said = _taken_apart(question, params)
    asked_for = params.get("sample")
    is_given = any(files.values()) or any(said.get(each.name) for each in question.settings if each.names_files)
    sample = bool(asked_for) or (question.sample_by_default and not is_given and bool(question.sample))
    if question.sample_of and asked_for:
        said[question.sample_of] = asked_for
    try:
        values = values_of(question, said, sample=sample, door="command line")
    except SettingError as error:
        raise at_option(error, question) from error
    told = Request(
        question=question,
        files=files,
        values=values,
        explicit=frozenset(said),
        sample=sample,
        report=report,
        command=context.find_root().meta.get(WRITTEN, ()),
    )
    if told.path("config") is not None:
        told = QUESTIONS[question.name].with_settings(told)
    given = [path for name, paths in told.files.items() for path in paths if name != "config"]
    if context.params.get("as_json") and (path := next((each for each in given if _is_json_target(each)), None)):
        raise click.UsageError(
            f"--json takes no file, so {path.name!r} was read as an input. Write --json > {path.name}", context
        )
    if asked_for and given:
        names = ", ".join(repr(path.name) for path in given)
        raise click.UsageError(f"--example takes no files. Remove {names}, or --example", context)
    calls = {each.name: called(each) for each in question.settings}
    must = [each for each in question.on("command line") if each.required and not told.sample]
    must = [each for each in must if not any(map(told.values.get, each.unless))]
    missing = [
        " or ".join([calls[each.name], *(calls[other] for other in each.unless)])
        for each in must
        if not (told.files.get(each.name) or told.values.get(each.name))
    ]
    if missing:
        example = ", or --example" if question.sample and not question.sample_by_default else ""
        verb = "is" if len(missing) == 1 else "are"
        raise click.UsageError(
            f"{' and '.join(missing)} {verb} missing. Give {'it' if verb == 'is' else 'them'}{example}", context
        )
    for name, sentence in wrong_together(told, calls):
        if name == "limits":
            raise click.BadParameter(sentence, context, param_hint="'--limit'")
        raise click.UsageError(sentence, context)
    return told


def _taken_apart(question: Question, params: Mapping[str, Any]) -> tuple[dict[str, tuple[Path, ...]], dict[str, Any]]:
    """Return the files, and the values of the other settings."""
    files: dict[str, tuple[Path, ...]] = {}
    said: dict[str, Any] = {}
    paired = {name: value for place in _PAIRED for name, value in (params.get(f"paired_{place}") or {}).items()}
    params = {**params, **{name: value for name, value in paired.items() if params.get(name) in (None, ())}}
    for setting in question.on("command line"):
        raw = params.get(setting.name)
        if raw is None or raw == ():
            continue
        beside = _beside(setting, question)
        if beside is not None:
            pairs = [read_guess(text) for text in raw]
            files[setting.name] = tuple(path for path, _ in pairs)
            if any(chance is not None for _, chance in pairs):
                said[beside.name] = [None if chance is None else str(chance) for _, chance in pairs]
        elif setting.is_file:
            files[setting.name] = raw if isinstance(raw, tuple) else (raw,)
        elif names_file(setting, raw):
            files[setting.or_file] = (Path(raw),)
        elif setting.kind == "folder":
            said[setting.name] = raw if isinstance(raw, tuple) else (raw,)
        elif setting.goes_to:  # the last of several, and the others before it
            said[setting.name] = raw[-1]
            if earlier := (*(params.get(setting.goes_to) or ()), *raw[:-1]):
                params = {**params, setting.goes_to: earlier}
        else:
            said[setting.name] = raw
    return files, said


def read_guess(text: str) -> tuple[Path, Fraction | None]:
    """Return a guess's file, and the probability after its last ``=``.

    A file whose own name ends like a probability is meant as a whole where only that file exists.

    >>> read_guess("guess.csv=1/3")[1], read_guess("day=1/guess.csv")[1]
    (Fraction(1, 3), None)
    """
    name, equals, written = text.rpartition("=")
    probability = parse_number(written)
    if not equals or probability is None or (exists(text) and not exists(name)):
        return Path(text), None
    return Path(name), probability


def _run(
    name: str,
    *,
    as_json: bool,
    html: Path | None,
    pdf: Path | None,
    csv: Path | None,
    figures: Path | None,
    quiet: bool,
    verbose: bool,
    report_full: str | None,
    **params: Any,
) -> None:
    """Ask the question, and show the answer."""
    from unveil.report.progress import unsaid
    from unveil.report.terminal import progress, show_parts

    if (guide := click.get_current_context().meta.get(_GUIDE)) is not None:
        given = [params.get(each) for each in guide.files]
        files = tuple(str(path) for each in given if each for path in (each if isinstance(each, tuple) else (each,)))
        show_parts(guide.lines(files))
        return
    refuse_tight_memory()
    if figures is not None:
        # Before the question is answered, so that nothing is half-written.
        need("matplotlib", extra="plot")
    if pdf is not None:
        from unveil.report.pdf import need_browser

        need_browser()
    if not (quiet or as_json) and sys.stderr.isatty():
        tell_by(_say)
    question = QUESTIONS[name].question
    report_to = {"--html": html, "--pdf": pdf, "--csv": csv, "--figures": figures}
    told = told_by(question, params, report=any(report_to.values()))
    if question.asked is not None and not (quiet or as_json) and _is_attended():
        told = _with_answers(told, question)
    outputs = _outputs(question, told, report_to)
    wishes = OutputOptions(
        as_json=as_json,
        html=html,
        pdf=pdf,
        csv=csv,
        figures=figures,
        quiet=quiet,
        outputs=outputs,
        verbose=verbose or report_full == "full",
    )
    try:
        with progress(quiet=quiet) as report:
            reply = QUESTIONS[name].answer(replace(told, progress=report, say=unsaid if quiet else _say))
    except SettingError as error:
        raise at_option(error, question) from error
    show(reply, told, wishes)


def _is_attended() -> bool:
    """Return whether a person at a terminal can answer."""
    return all(each is not None and each.isatty() for each in (sys.stdin, sys.stderr))


def _with_answers(request: Request, question: Question) -> Request:
    """Return the request with a person's answers added."""
    for name, option, value in () if question.asked is None else question.asked(request, _prompt):
        command = (*request.command, option, row(value)) if request.command else ()
        request = replace(request, values={**request.values, name: value}, command=command)
    return request


def _prompt(question: str) -> str:
    return str(click.prompt(question, default="", show_default=False, err=True))


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)


def at_option(error: SettingError, question: Question) -> Exception:
    """Return the error for an option's value."""
    if not error.field:
        return error
    setting = question.setting(error.field)
    hint = setting.option or called(question.setting(setting.beside) if setting.beside else setting)
    return click.BadParameter(str(error), click.get_current_context(), param_hint=f"'{hint}'")


def _outputs(question: Question, request: Request, report_to: Mapping[str, Path | None]) -> dict[str, Path]:
    """Return the output files, by setting; refuse duplicates and inputs."""
    outputs = {each: request.values[each.name] for each in question.settings if each.kind == "output"}
    named = {each.option: path for each, path in outputs.items()}
    written = {option: path for option, path in {**named, **report_to}.items() if path is not None}
    places = [path.resolve() for path in written.values()]
    if len(set(places)) < len(places):
        raise click.UsageError(
            f"{' and '.join(written)} name the same file or folder. Rename one", click.get_current_context()
        )
    folders = [path for each in question.settings if each.kind == "folder" for path in request.values[each.name]]
    for option, path in written.items():
        refuse_overwriting(path, [each for paths in request.files.values() for each in paths], option=option)
        refuse_replacing(path, folders, option=option)
    for each, path in outputs.items():
        if each.is_new and path is not None and exists(path) and path.is_file():
            raise click.BadParameter(
                f"{str(path)!r} exists already. Give a new name, or remove the file", param_hint=f"'{each.option}'"
            )
    return {each.name: path for each, path in outputs.items() if path is not None}

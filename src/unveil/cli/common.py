"""Shared parts of commands: exit codes, output, and errors."""

import errno
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from unveil.errors import InputError
from unveil.questions.request import checked_limits, decision_of
from unveil.report.figures import json_of
from unveil.report.text import one_line

if TYPE_CHECKING:
    from unveil.questions.request import Request, Response

BAD_INPUT = 2
#: The decision is fail: a threshold or limit is exceeded.
FAIL = 3
#: Some scenarios of a study failed; the others are there.
SOME_FAILED = 4
#: The decision is inconclusive, and that is not accepted.
INCONCLUSIVE = 5
INTERRUPTED = 130
#: What each exit code says, for the reference.
EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        0: "Pass, or no threshold is set.",
        BAD_INPUT: "Unusable input, or a full disk; the message states the cause and the fix.",
        FAIL: "Fail: the risk is above a threshold or limit.",
        SOME_FAILED: "Some scenarios of a study failed; resuming the study runs them again.",
        INCONCLUSIVE: "Inconclusive: the data show neither pass nor fail.",
        INTERRUPTED: "Interrupted, as by Ctrl-C.",
    }
)
#: What is said where the memory of the machine, or the limit set for the process, is used up.
OUT_OF_MEMORY = (
    "The data do not fit into the memory of this process. Use fewer rows or columns, close other programs, or raise "
    "the limit (ulimit -v)"
)
#: Where the context keeps the arguments as they were written.
WRITTEN = "unveil.written"


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where the answer goes."""

    as_json: bool
    html: Path | None
    pdf: Path | None
    #: Folders for the tables and for the charts of the report.
    csv: Path | None
    figures: Path | None
    quiet: bool
    #: Whether the whole page is printed and not its first screen.
    verbose: bool
    #: Files beside the report, by the setting that names each.
    outputs: Mapping[str, Path]


def show(reply: "Response", request: "Request", wishes: OutputOptions) -> None:
    """Write the outputs; exit with 3 for fail, 5 for inconclusive.

    Files come first, so that whatever is printed about them is true.
    """
    checked = checked_limits(reply, request)
    decision = decision_of(reply, checked)
    code = {"fail": FAIL, "inconclusive": INCONCLUSIVE}.get(decision, 0)
    if code == INCONCLUSIVE and request.values.get("accept_inconclusive", False):
        code = 0
    passed = code == 0
    for sentence in reply.aside:
        click.echo(one_line(sentence), err=True)
    in_json, on_page = shown_on_page(reply, request)
    written = _write(reply, wishes, on_page, passed=passed)
    if wishes.as_json:
        # JSON is UTF-8 whatever the terminal speaks.
        click.echo(reply.answer.to_json(**in_json).rstrip("\n").encode())
    elif not wishes.quiet:
        _print(reply, request, on_page, written, verbose=wishes.verbose)
    messages = [*(limit.message for limit in checked if limit.message), *reply.exceeded, *reply.undecided]
    # The first line of what is printed says it already.
    if reply.holds_limits and decision in ("fail", "inconclusive") and (wishes.as_json or wishes.quiet):
        messages.append(reply.answer.headline)
    for message in messages:
        click.echo(one_line(message), err=True)
    if code:
        click.get_current_context().exit(code)


def shown_on_page(reply: "Response", request: "Request") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what JSON and the page of an answer are made with."""
    shown: dict[str, Any] = {"seed": request.values.get("seed")}
    if not reply.holds_limits:
        shown["limits"] = [json_of(limit) for limit in checked_limits(reply, request)]
    # A page may be passed on, and then a seed that undoes the release must not be on it.
    return {**shown, **reply.in_json}, {**shown, **({"seed": None} if request.question.secret else {}), **reply.on_page}


def _write(reply: "Response", wishes: OutputOptions, on_page: Mapping[str, Any], *, passed: bool) -> list[str]:
    """Write the report and its files; return a line for each."""
    from unveil.data.files.write import write_text
    from unveil.report.pdf import pdf_of
    from unveil.report.terminal import progress

    said: list[str] = []
    warnings: list[str] = []
    with progress(quiet=wishes.quiet) as report:
        report("writing the report", 0.0)
        # Folders first: the report may go into one of them, which must be empty before.
        said += _write_folders(reply, wishes, on_page)
        if wishes.html is not None or wishes.pdf is not None:
            html = reply.answer.to_html(**on_page)
            for path, content in ((wishes.html, lambda: html), (wishes.pdf, lambda: pdf_of(html))):
                if path is not None:
                    write_text(path, content())
                    said.append(f"The report is in {_filename(path)}")
        refused = False
        # In the order of the reply: a release whose truth could not be kept would be of no use to its holder.
        for name, output in reply.outputs.items():
            if name not in wishes.outputs:
                continue
            if output.is_release and not passed:
                refused = True
                continue
            output.write(wishes.outputs[name], **on_page)
            said.append(output.said.format(_filename(wishes.outputs[name])))
            if output.warning:
                warnings.append(output.warning.format(_filename(wishes.outputs[name])))
    for warning in warnings:
        click.echo(one_line(warning), err=True)
    if refused:
        click.echo("The release is not written: the decision is not pass", err=True)
    return said


def _write_folders(reply: "Response", wishes: OutputOptions, on_page: Mapping[str, Any]) -> Iterator[str]:
    """Write tables and charts into folders; yield a line for each."""
    if wishes.csv is None and wishes.figures is None:
        return
    from unveil.data.files.write import write_folder
    from unveil.report.export import figures_of, tables_of

    page = reply.answer.page(**on_page)
    for what, folder, made in (("tables", wishes.csv, tables_of), ("charts", wishes.figures, figures_of)):
        if folder is not None:
            write_folder(folder, made(page), shared=page.edition == "shareable")
            yield f"The {what} are in {_filename(folder)}"


def _filename(path: Path) -> str:
    return one_line(click.format_filename(path))


def _print(
    reply: "Response", request: "Request", on_page: Mapping[str, Any], written: Sequence[str], *, verbose: bool
) -> None:
    from unveil.report.terminal import page_parts, show_parts

    if reply.brief is None or verbose:
        shown = list(page_parts(reply.answer.page(**on_page), verbose=verbose))
    else:
        shown = list(reply.brief())
    example = [*_example(request), ""] if request.sample else []
    seed = ["", _said_of_seed(request)] if "seed" in request.values else [""] if written else []
    show_parts([*example, *shown, *seed, *written])


def _example(request: "Request") -> list[str]:
    question = request.question
    said = [f"Built-in example: {small(question.sample)}"]
    if question.sample_of:
        others = [name for name, _ in question.setting(question.sample_of).chosen()]
        others.remove(request.values[question.sample_of])
        said.append(f"Try also: unveil {' '.join(question.command)} --example {others[0]}")
    return said


def small(sentence: str) -> str:
    """Return a sentence as it stands after a colon."""
    return sentence[:1].lower() + sentence[1:]


def _said_of_seed(request: "Request") -> str:
    seed = request.values["seed"]
    if not request.question.secret:
        return f"Seed {seed}: the same seed and input give the same result."
    if seed is None:
        return "The random seed is not recorded: this release cannot be reproduced."
    return f"Seed {seed} can undo the release. Keep it as confidential as the true matches."


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means exhausted memory.

    >>> is_out_of_memory(ImportError("libm.so: failed to map segment from shared object"))
    True
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return isinstance(error, ImportError) and "failed to map segment" in str(error)


def refuse_tight_memory() -> None:
    """Refuse to start where memory is too small for the libraries."""
    from unveil.data.files.source import LEAST_MEMORY, most_memory

    most = most_memory()
    if most is not None and most < LEAST_MEMORY:
        raise InputError(
            f"unveil needs {LEAST_MEMORY / 1e9:.1f} GB of memory; the limit of this process is {most / 1e9:.1f} GB. "
            f"Raise it with: ulimit -v {LEAST_MEMORY // 1000}"
        )


def cannot_print(error: Exception) -> InputError:
    """Return the error for a full disk behind standard output."""
    if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EDQUOT):
        raise error
    # What is still in the buffer would fail again, with a traceback, when Python ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return InputError(f"The result cannot be printed ({error.strerror}). Free some space, or print elsewhere")


def sentence(error: Exception) -> str:
    """Return an error as one line, with a pointer to help."""
    if not isinstance(error, click.ClickException):
        return one_line(str(error))
    text = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption) and error.option_name == "--compatibility":
        text = "--compatibility was removed. anonymeter's rules are in Python: unveil.anonymeter"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = f"{text.rstrip('.')}{'' if text.endswith('?') else '.'} See '{error.ctx.command_path} --help'"
    return one_line(text)

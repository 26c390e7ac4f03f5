"""``unveil study``: run many scenarios, and report their progress and results."""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import INTERRUPTED, SOME_FAILED
from unveil.cli.help import GroupedCommand
from unveil.cli.question import command_of, json_option, params_of, quiet_option, told_by
from unveil.errors import InputError
from unveil.questions import QUESTIONS
from unveil.report.text import far, one_line

if TYPE_CHECKING:
    from unveil.questions.study.status import StudyStatus
    from unveil.studies import RunSummary
    from unveil.work.run import Progress

FOLDER = click.Path(path_type=Path)


@click.group("study", invoke_without_command=True)
@click.pass_context
def study(context: click.Context) -> None:
    """Run attacks over many scenarios and compare them.

    \b
    Try:  unveil study run studies/quick.toml --out quick
          unveil study status quick
          unveil study report quick --html quick.html

    Exit codes: 0 complete, 2 unusable input, 4 some scenarios failed, 130 interrupted (--resume continues).
    """  # noqa: D301  (click needs the control character itself)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _run(*, as_json: bool, quiet: bool, **params: Any) -> None:
    """Compute a study into a folder, and say what was done."""
    from unveil.questions.study.settings import StudyRunSettings
    from unveil.studies import Study, run_study
    from unveil.studies.example import PLAN

    context = click.get_current_context()
    told = told_by(QUESTIONS["study_run"].question, params)
    if not told.values["out"]:  # the example needs no file, but a folder for its results
        raise click.UsageError("--out DIR is missing. Give the folder for the results", context)
    settings = StudyRunSettings.of_request(told)
    out = settings.out[0]
    file = out / "study.toml" if told.sample else settings.file
    plan = PLAN if told.sample else Study.read(file)
    say = None if quiet else partial(click.echo, err=True)
    try:
        with moving(quiet=quiet) as progress:
            summary = run_study(plan, out, progress=progress, say=say, **settings.run)
    except KeyboardInterrupt:
        click.echo(f"\nStopped. Finished scenarios are stored. Resume with: {_again(file, out)}", err=True)
        context.exit(INTERRUPTED)
    if as_json:
        from unveil.questions.study.status import StudyRun

        click.echo(StudyRun(name=plan.name, summary=summary).to_json().rstrip("\n").encode())
    elif not quiet:
        _print_run(summary, file, out)
    if summary.failed:
        if as_json or quiet:
            click.echo(f"{summary.failed:,} of {summary.total:,} scenarios failed", err=True)
        context.exit(SOME_FAILED)


def _run_command() -> click.Command:
    question = QUESTIONS["study_run"].question
    return GroupedCommand(
        "run",
        params=[*params_of(question), json_option(), quiet_option()],
        callback=_run,
        help=QUESTIONS["study_run"].summary,
        examples=question.tries,
    )


study.add_command(_run_command())
study.add_command(command_of("study"))


@study.command("status")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON")
def status(*, folder: Path, as_json: bool) -> None:
    """Report the progress of the study in DIR, and check its files."""
    from unveil.questions.study.status import study_status

    found = study_status(folder)
    if as_json:
        click.echo(found.to_json().rstrip("\n").encode())
    else:
        _print_status(found, folder)


@study.command("summary")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--out", metavar="FILE", required=True, type=FOLDER, help="File to write, such as study.parquet")
@click.option("--nodes/--no-nodes", default=True, help="Include values of single targets (half of the file)")
def summary(*, folder: Path, out: Path, nodes: bool) -> None:
    """Write all results to one file.

    It holds every replication with fewer digits, but neither releases nor true matches. 'unveil study report' and
    'unveil grade-metrics' take the file instead of the folder.
    """
    from unveil.data.files.source import shown
    from unveil.data.files.whole_files import replace_file
    from unveil.report.text import count
    from unveil.studies import Results
    from unveil.work.results import writing

    results = Results.read(folder)
    if not results.fine:
        raise InputError(f"The study in {shown(folder)} has no results. Run it first")
    if out.is_dir() or results.folder.is_file():
        raise InputError(
            f"{shown(out)} is a folder. Give a file to write"
            if out.is_dir()
            else f"{shown(folder)} is a summary already. Give the folder of the study"
        )
    content = results.to_summary(nodes=nodes)
    with writing(out.parent):
        replace_file(out, content, shared=True)
    click.echo(
        f"{count(len(results.fine), 'scenario', 'scenarios')} of {len(results.scenarios):,} in {one_line(str(out))}, "
        f"{len(content) / 1e6:.2f} MB."
    )


def _again(file: Path, out: Path) -> str:
    return one_line(f"unveil study run {shlex.quote(str(file))} --out {shlex.quote(str(out))} --resume")


def _print_run(summary: "RunSummary", file: Path, out: Path) -> None:
    """Print what a run did, what failed, and what to do next."""
    from unveil.questions.study.run import failures_of
    from unveil.questions.study.status import failed
    from unveil.report.terminal import show_headline
    from unveil.report.text import count, duration
    from unveil.studies import Results

    before = f"; {summary.reused:,} finished before" if summary.reused else ""
    again = f"; {count(summary.set_aside, 'damaged file was', 'damaged files were')} set aside and computed again"
    show_headline(
        f"{count(summary.done, 'scenario', 'scenarios')} of {summary.total:,} computed in {duration(summary.seconds)}"
        f"{before}{again if summary.set_aside else ''}.",
        tone="warning" if summary.failed else "neutral",
    )
    where = one_line(shlex.quote(str(out)))
    if summary.failed:
        click.echo(f"{count(summary.failed, 'scenario', 'scenarios')} failed:")
        for line in failed(failures_of(Results.read(summary.folder).errors)):
            click.echo(one_line(line))
        click.echo(f"Run these again: {_again(file, out)}")
    click.echo(f"Results are in {where}; 'unveil study report {where} --html study.html' shows them.")


def _print_status(status: "StudyStatus", folder: Path) -> None:
    from unveil.questions.study.status import computed, tone
    from unveil.report.terminal import show_headline
    from unveil.report.text import duration

    show_headline(computed(status.counts), tone=tone(status.counts))
    click.echo(
        f"Study {one_line(status.name)}, unveil {status.version}; {duration(status.seconds)} of CPU time so far."
    )
    if status.running is not None:
        click.echo(f"It is running: {one_line(status.running)}.")
    if status.counts.left:
        if isfinite(status.seconds_left):
            click.echo(f"The rest will take about {duration(status.seconds_left)} of CPU time.")
        if status.running is None:
            click.echo(f"Resume with: {_again(folder / 'study.toml', folder)}")


# Progress of a run: a bar in a terminal, a line now and then elsewhere.

#: How many seconds lie between two lines of progress where there is no terminal.
EVERY = 30.0
# A run that takes less is over before anybody has read how long it takes.
_WORTH_TELLING = 10.0


@contextmanager
def moving(*, quiet: bool, every: float = EVERY) -> Iterator["Progress | None"]:
    """Yield a progress function called after each scenario."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _lines(every)
        return
    from unveil.report.terminal import progress

    with progress() as bar:

        def move(done: int, total: int, left: float) -> None:
            bar(far(done, total, left), done / total)

        bar("starting", 0.0)
        yield move


def _lines(every: float) -> "Progress":
    last, told = time.monotonic(), False

    def tell(done: int, total: int, left: float) -> None:
        nonlocal last, told
        first, told = not told and left >= _WORTH_TELLING, True
        if first or done == total or time.monotonic() - last >= every:
            last = time.monotonic()
            click.echo(far(done, total, left), err=True)

    return tell

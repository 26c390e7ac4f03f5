"""``unveil study``: run many scenarios, see how far they are, and show what they found."""

import shlex
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import INTERRUPTED, one_line
from unveil.cli.study_progress import moving
from unveil.cli.study_values import memory_size
from unveil.cli.values import refuse_replacing, report_target

if TYPE_CHECKING:
    from unveil.ask.study.findings import Failures, StudyFindings
    from unveil.ask.study.status import StudyStatus
    from unveil.study import RunSummary

#: The exit code of a run that is complete, but in which scenarios failed.
SOME_FAILED = 4

FOLDER = click.Path(path_type=Path)
#: So many rows of means are printed, and no more.
_MOST_ROWS = 60

_as_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, and nothing else.")


@click.group("study", invoke_without_command=True)
@click.pass_context
def study(context: click.Context) -> None:
    """Run a whole study: data, protections and attacks tried with one another, at growing strengths.

    \b
    Try:  unveil study run studies/quick.toml --out quick
          unveil study status quick
          unveil study report quick --html quick.html

    Exit codes: 0 fine, 2 the input cannot be used, 4 some scenarios failed (the others have results), 130 stopped
    with Ctrl-C (what is done is kept, and --resume goes on).
    """  # noqa: D301  (click needs the control character itself)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@study.command("run")
@click.argument("file", type=FOLDER)
@click.option("--out", type=FOLDER, required=True, metavar="DIR", help="The folder for results, new or with --resume.")
@click.option(
    "--workers",
    type=click.IntRange(min=0),
    metavar="N",
    help="How many processes of this machine; one per processor unless given. 0 computes in this process.",
)
@click.option("--cluster", metavar="ADDRESS", help="Use a Dask cluster instead, such as tcp://127.0.0.1:8786.")
@click.option("--resume", is_flag=True, help="Compute what is missing, damaged or failed in DIR; keep the rest.")
@click.option(
    "--memory",
    callback=memory_size,
    metavar="SIZE",
    help="How much all workers together may take, such as 4GB (of a cluster, each worker); 80% of this machine unless "
    "given. A scenario projected to need more becomes a row that says so.",
)
@click.option("--quiet", is_flag=True, help="Print errors only (and JSON if asked for).")
@_as_json
def run(
    *,
    file: Path,
    out: Path,
    workers: int | None,
    cluster: str | None,
    resume: bool,
    memory: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compute the study in FILE (TOML) into the folder DIR: one Parquet file per scenario.

    Numbers do not depend on workers, their number, or interruptions. A scenario that fails becomes a row with its
    error and stops no other. Ctrl-C stops cleanly; the same command with --resume goes on.

    \b
    Try:  unveil study run studies/quick.toml --out quick
          unveil study run study.toml --out results --workers 8 --memory 16GB
          unveil study run study.toml --out results --cluster tcp://127.0.0.1:8786 --resume
    """  # noqa: D301  (click needs the control character itself)
    from unveil.study import Study, run_study

    context = click.get_current_context()
    if workers is not None and cluster is not None:
        raise click.UsageError("--workers is for this machine and --cluster for others. Leave out either", context)
    plan = Study.read(file)
    settings: dict[str, Any] = {"workers": workers, "cluster": cluster, "resume": resume, "memory": memory}
    try:
        with moving(quiet=quiet) as progress:
            summary = run_study(plan, out, progress=progress, **settings)
    except KeyboardInterrupt:
        click.echo(f"\nStopped. What is done is kept; go on with: {_again(file, out)}", err=True)
        context.exit(INTERRUPTED)
    if as_json:
        click.echo(_json(summary, plan.name).rstrip("\n").encode())
    elif not quiet:
        _print_run(summary, file, out)
    if summary.failed:
        if as_json or quiet:
            click.echo(f"{summary.failed:,} of {summary.total:,} scenarios failed", err=True)
        context.exit(SOME_FAILED)


@study.command("status")
@click.argument("folder", metavar="DIR", type=FOLDER)
@_as_json
def status(*, folder: Path, as_json: bool) -> None:
    """Say how much of the study in DIR is done, whether it runs now, and how long the rest may take.

    Every file is checked, so that a damaged one is seen. A study that runs is not disturbed.
    """
    from unveil.ask.study.status import study_status

    found = study_status(folder)
    if as_json:
        click.echo(found.to_json().rstrip("\n").encode())
    else:
        _print_status(found, folder)


@study.command("report")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=report_target,
    help="Write a report to FILE: one page that needs no network.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Show this metric instead of overall success, success rate and entropy; the first is drawn. May be repeated; "
    "'all' shows every metric of the study.",
)
@_as_json
def report(*, folder: Path, html: Path | None, metrics: tuple[str, ...], as_json: bool) -> None:
    """Show what the study in DIR found: success by level of strength, with intervals, and what failed.

    \b
    Try:  unveil study report quick
          unveil study report quick --html quick.html --metric entropy --metric min_entropy
          unveil study report quick --json --metric all
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.study.answer import study_report as ask_study
    from unveil.data.files.write import write_text

    refuse_replacing(html, [folder])
    answer = ask_study(folder, metrics=metrics)
    if html is not None:
        write_text(html, answer.to_html())
    if as_json:
        click.echo(answer.to_json(seed=answer.findings.study.seed).rstrip("\n").encode())
        return
    _print_report(answer.findings, folder)
    if html is not None:
        click.echo(f"\nThe report is in {one_line(click.format_filename(html))}")


def _again(file: Path, out: Path) -> str:
    return one_line(f"unveil study run {shlex.quote(str(file))} --out {shlex.quote(str(out))} --resume")


def _json(summary: "RunSummary", name: str) -> str:
    from unveil._version import __version__
    from unveil.show.machine import dumps

    told = {**vars(summary), "folder": str(summary.folder)}
    return dumps({"schema": "unveil.study-run/1", "version": __version__, "name": name, **told})


def _print_run(summary: "RunSummary", file: Path, out: Path) -> None:
    """Print what a run did, what failed, and what to do next."""
    from unveil.ask.study.run import failures_of
    from unveil.show.terminal import show_headline
    from unveil.show.text import count, duration
    from unveil.study import Results

    before = f"; {summary.reused:,} were there before" if summary.reused else ""
    again = f"; {count(summary.set_aside, 'damaged file was', 'damaged files were')} set aside and computed again"
    show_headline(
        f"{count(summary.done, 'scenario', 'scenarios')} of {summary.total:,} computed in {duration(summary.seconds)}"
        f"{before}{again if summary.set_aside else ''}.",
        tone="warning" if summary.failed else "neutral",
    )
    where = one_line(shlex.quote(str(out)))
    if summary.failed:
        click.echo(f"{count(summary.failed, 'scenario', 'scenarios')} failed:")
        _print_failures(failures_of(Results.read(summary.folder).errors))
        click.echo(f"To try these again: {_again(file, out)}")
    click.echo(f"Results are in {where}; 'unveil study report {where} --html study.html' shows them.")


def _print_failures(failures: "tuple[Failures, ...]") -> None:
    from unveil.show.text import together

    for each in failures:
        parts = {"data": each.data, "protection": each.protections, "attack": each.attacks}
        where = "; ".join(f"{what}: {together(names)}" for what, names in parts.items())
        click.echo(one_line(f"  {each.scenarios:,} × {each.error} ({where})"))


def _print_status(found: "StudyStatus", folder: Path) -> None:
    from unveil.ask.study.view import headline, tone
    from unveil.show.terminal import show_headline
    from unveil.show.text import duration

    show_headline(headline(found.counts), tone=tone(found.counts))
    click.echo(f"Study {one_line(found.name)}, unveil {found.version}; {duration(found.seconds)} of computing so far.")
    if found.running is not None:
        click.echo(f"It is being computed now by {one_line(found.running)}.")
    if found.counts.left:
        if isfinite(found.seconds_left):
            click.echo(f"The rest will take one worker about {duration(found.seconds_left)}.")
        if found.running is None:
            click.echo(f"Go on with: {_again(folder / 'study.toml', folder)}")


def _print_report(found: "StudyFindings", folder: Path) -> None:
    """Print the answer for a person: the headline, means of the first metric by level, and what failed."""
    from unveil.ask.study.tables import mean_tables
    from unveil.ask.study.view import headline, tone
    from unveil.show.terminal import show_headline, show_table

    show_headline(headline(found.counts), tone=tone(found.counts))
    if found.counts.fine:
        tables, left_out = mean_tables(found, most=_MOST_ROWS)
        for table in tables:
            click.echo()
            show_table(table)
        click.echo("\nMean over replications ± half the width of its 95% interval; – has no results.")
        if left_out:
            where = one_line(shlex.quote(str(folder)))
            click.echo(f"{left_out:,} more tables: 'unveil study report {where} --json' has everything.")
    if found.failures:
        click.echo(f"\n{found.counts.failed:,} failed:")
        _print_failures(found.failures)

"""``unveil anonymize``: protect a graph, and say what that changed and cost."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unveil.cli.common import Options, one_line, question_options, show, show_figures
from unveil.cli.values import check_limits, refuse_overwriting, report_target

if TYPE_CHECKING:
    from unveil.ask.anonymize.findings import AnonymizeFindings

FILE = click.Path(path_type=Path)


def _meanings() -> Mapping[str, str]:
    from unveil.ask.anonymize.view import meanings

    return meanings()


@click.command("anonymize")
@click.argument("edges", required=False, type=FILE)
@click.option(
    "--protect",
    default="k-degree:k=5",
    show_default=True,
    metavar="NAME[:KEY=VALUE,...]",
    help="How the graph is protected; 'unveil list protections' shows the names (those on graphs) and settings.",
)
@click.option(
    "--out", type=FILE, metavar="FILE", callback=report_target, help="Write the released graph: source,target."
)
@click.option(
    "--truth",
    type=FILE,
    metavar="FILE",
    callback=report_target,
    help="Write which original node each released one stands for: released,original. Keep it to yourself.",
)
@click.option("--sample", is_flag=True, help="Use the graph inside unveil, which is done anyway if no file is named.")
@question_options(_meanings, secret=True)
def anonymize(
    *, edges: Path | None, protect: str, out: Path | None, truth: Path | None, sample: bool, options: Options
) -> None:
    """Protect a graph before its release: what changes, and what is it still good for?

    EDGES holds one edge per line: CSV with the columns source,target, an edge list as SNAP publishes them, a KONECT
    file or archive; gzip is undone. Direction, weights, loops and repeats are dropped, and that is said. Without a
    file, the example is a generated graph of about 1,000 nodes.

    \b
    Try:  unveil anonymize
          unveil anonymize edges.csv --protect switch:share=0.1 --out released.csv --truth truth.csv
          unveil anonymize edges.csv --protect hrg-dp:epsilon=1 --html report.html
          unveil anonymize edges.csv --protect k-degree:k=5 --limit edge_difference=0.1
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.anonymize.answer import anonymize_file, write_release
    from unveil.show.terminal import progress

    if sample and edges is not None:
        raise click.UsageError("--sample needs no file. Leave out either", click.get_current_context())
    written = {"--out": out, "--truth": truth, "--html": options.html}
    named = [path.resolve() for path in written.values() if path is not None]
    if len(set(named)) < len(named):
        raise click.UsageError("--out, --truth and --html must name different files", click.get_current_context())
    for option, path in written.items():
        refuse_overwriting(path, [edges], option=option)
    with progress(quiet=options.quiet) as report:
        answer = anonymize_file(edges, protect, rng=options.rng, progress=report)
    # A release that must not be made is not written either.
    kept = not any(limit.exceeded for limit in check_limits(answer.quantities, options.limits))
    if kept:
        write_release(answer.findings, out=out, truth=truth)
    elif out or truth:
        out = truth = None
        click.echo("The release is not written, because a limit is exceeded", err=True)
    show(answer, options, as_text=lambda: _print(answer.findings, edges is None, out, truth))


def _print(found: "AnonymizeFindings", is_sample: bool, out: Path | None, truth: Path | None) -> None:
    """Print the answer for a person: the headline, what changed, what was lost, what was spent."""
    from unveil.ask.anonymize.tables import change_numbers, degree_numbers, fact_table, ledger_table, utility_table
    from unveil.ask.anonymize.view import headline
    from unveil.show.terminal import output, show_headline, show_table

    if is_sample:
        click.echo("The example inside unveil: a generated graph, in which nobody is real.\n")
    console, release = output(), found.release
    show_headline(headline(found), tone="neutral")
    for note in found.notes:
        console.print(f"Note: {one_line(note)}")
    click.echo()
    show_figures((*change_numbers(found), *degree_numbers(found)))
    for table in (fact_table(release), utility_table(found.utility)):
        if table is not None:
            click.echo()
            show_table(table)
    if release.ledger is not None:
        spent, budget = release.ledger.total(), release.ledger.epsilon
        click.echo(f"\nSpent {spent:.4g} of epsilon = {budget:.4g}; public: {'; '.join(release.ledger.public)}")
        show_table(ledger_table(release.ledger))
    if out is not None:
        click.echo(f"\nThe released graph is in {one_line(click.format_filename(out))}")
    if truth is not None:
        click.echo(f"Who is who is in {one_line(click.format_filename(truth))}: keep it to yourself")

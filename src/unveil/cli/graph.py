"""``unveil graph``: who is found in a released graph, by an adversary who knows a part of it?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import Options, one_line, question_options, show, show_figures
from unveil.cli.values import refuse_overwriting, share

if TYPE_CHECKING:
    from unveil.ask.graph.findings import GraphFindings

FILE = click.Path(path_type=Path)
#: Options that draw a release and knowledge, which is not done where both are given.
_DRAWN = ("protect", "overlap", "connected", "sample")
#: More repetitions are refused, here and by the question itself.
_MOST_REPETITIONS = 10_000
_MOST_DIGITS = 18


def _meanings() -> Mapping[str, str]:
    from unveil.ask.graph.view import meanings

    return meanings()


def _pairs(ctx: click.Context, param: click.Parameter, text: str) -> int | Path:
    """Return how many seed pairs to draw, or the file that holds them."""
    if text.isdecimal():
        if len(text) > _MOST_DIGITS:
            raise click.BadParameter("it is more than any graph has nodes. Ask for fewer pairs", ctx, param)
        return int(text)
    if text.lstrip("-").replace(".", "", 1).isdecimal():
        raise click.BadParameter(f"it must be a whole number from 0, or a file, but is {text}", ctx, param)
    return Path(text)


@click.command("graph")
@click.argument("edges", required=False, type=FILE)
@click.option(
    "--protect",
    default="id-removal",
    show_default=True,
    metavar="NAME[:KEY=VALUE,...]",
    help="How the graph is protected; 'unveil list protections' shows the names (those on graphs) and settings.",
)
@click.option(
    "--attack",
    default="ns",
    show_default=True,
    metavar="NAME[:KEY=VALUE,...]",
    help="How the adversary goes about it; 'unveil list attacks' shows the names (those on graphs) and settings.",
)
@click.option(
    "--seed-pairs",
    default="50",
    show_default=True,
    callback=_pairs,
    metavar="NUMBER|FILE",
    help="How many nodes the adversary knows beforehand, drawn at random; or a file with them: released,original.",
)
@click.option(
    "--overlap",
    type=share,
    default="0.85",
    show_default=True,
    metavar="SHARE",
    help="The share of the original edges that the adversary knows, drawn at random.",
)
@click.option(
    "--connected", is_flag=True, help="Let the edges that the adversary knows connect what the original does."
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1, max=_MOST_REPETITIONS),
    default=1,
    show_default=True,
    metavar="NUMBER",
    help="Protect, draw and attack so often, for means and intervals.",
)
@click.option(
    "--auxiliary",
    type=FILE,
    metavar="FILE",
    help="EDGES is a release made elsewhere, and this the graph known to the adversary, under true names.",
)
@click.option(
    "--truth",
    type=FILE,
    metavar="FILE",
    help="Who the nodes of that release are: released,original (empty for nobody).",
)
@click.option("--sample", is_flag=True, help="Use the graph inside unveil, which is done anyway if no file is named.")
@question_options(_meanings)
def graph(
    *,
    edges: Path | None,
    auxiliary: Path | None,
    truth: Path | None,
    seed_pairs: int | Path,
    sample: bool,
    options: Options,
    **settings: Any,
) -> None:
    """Who is found in a released graph, by an adversary who knows a part of it?

    EDGES is protected, released and attacked. The adversary has an auxiliary graph (a share of the original edges,
    under true names) and knows some of the released nodes; it looks for all others. Without a file, the example is
    a generated graph of about 1,000 nodes.

    With --auxiliary and --truth, EDGES is a release that was made elsewhere, and is attacked as it is.

    \b
    Try:  unveil graph
          unveil graph edges.csv --protect k-degree:k=5 --attack ns --repeat 10 --html report.html
          unveil graph edges.csv --attack yg --seed-pairs 20 --limit adversary_overall_success=0.1
          unveil graph released.csv --auxiliary known.csv --seed-pairs pairs.csv --truth truth.csv
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.graph.answer import graph_file, graph_made_elsewhere_files
    from unveil.show.terminal import progress

    _refuse_mixtures(edges, auxiliary, truth, seed_pairs, sample)
    inputs = [edges, auxiliary, truth, seed_pairs if isinstance(seed_pairs, Path) else None]
    refuse_overwriting(options.html, inputs)
    attack, repeat = settings["attack"], settings["repeat"]
    with progress(quiet=options.quiet) as report:
        if edges is not None and auxiliary is not None and truth is not None:
            answer = graph_made_elsewhere_files(
                edges, auxiliary, seed_pairs, truth, attack, repeat=repeat, rng=options.rng, progress=report
            )
        else:
            answer = graph_file(
                edges,
                settings["protect"],
                attack,
                seed_pairs=seed_pairs,
                overlap=float(settings["overlap"]),
                connected=settings["connected"],
                repeat=repeat,
                rng=options.rng,
                progress=report,
            )
    show(answer, options, as_text=lambda: _print(answer.findings, edges is None))


def _refuse_mixtures(
    edges: Path | None, auxiliary: Path | None, truth: Path | None, seed_pairs: int | Path, sample: bool
) -> None:
    """Refuse options that do not go together: a release is either made here or elsewhere."""
    context = click.get_current_context()
    if sample and edges is not None:
        raise click.UsageError("--sample needs no file. Leave out either", context)
    if auxiliary is None:
        if truth is not None:
            raise click.UsageError(
                "--truth is for a release made elsewhere. Add --auxiliary FILE, or leave it out", context
            )
        if isinstance(seed_pairs, Path):
            raise click.UsageError(
                "--seed-pairs takes a file only for a release made elsewhere. Add --auxiliary FILE and --truth FILE, "
                "or name a number of pairs",
                context,
            )
        return
    written = [name for name in _DRAWN if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if written:
        raise click.UsageError(
            f"--{written[0]} is for a graph that is protected here, and --auxiliary for a release made elsewhere. "
            "Leave out either",
            context,
        )
    if edges is None:
        raise click.UsageError("--auxiliary needs the released graph. Name its file first", context)
    if truth is None:
        raise click.UsageError("--auxiliary needs --truth FILE, to see what the adversary gets right. Add it", context)


def _print(found: "GraphFindings", is_sample: bool) -> None:
    """Print the answer for a person: the headline, the figures, all metrics, and what cut-offs leave."""
    from unveil.ask.graph.tables import cut_off_table, metric_table
    from unveil.ask.graph.words import headline, key_numbers, tone
    from unveil.show.terminal import output, show_headline, show_table

    if is_sample:
        click.echo("The example inside unveil: a generated graph, in which nobody is real.\n")
    console = output()
    show_headline(headline(found), tone=tone(found))
    for note in found.notes:
        console.print(f"Note: {one_line(note)}")
    click.echo()
    show_figures(key_numbers(found))
    click.echo()
    show_table(metric_table(found, as_written=True))
    if found.mean(lambda each: each.matches.attempted):
        click.echo()
        show_table(cut_off_table(found))

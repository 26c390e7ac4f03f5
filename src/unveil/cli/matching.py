"""``unveil matching``: how many entries does an adversary give their true token?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unveil.cli.common import Options, one_line, question_options, show, show_figures
from unveil.cli.values import refuse_overwriting

if TYPE_CHECKING:
    from unveil.ask.matching.findings import MatchingFindings

FILE = click.Path(path_type=Path)
#: The example inside unveil: the option and the file behind it.
_SAMPLE = {
    "ranges": "matching_ranges.csv",
    "transactions": "matching_transactions.csv",
    "truth": "matching_truth.csv",
}


def _meanings() -> Mapping[str, str]:
    from unveil.ask.matching.view import meanings

    return meanings()


@click.command("matching")
@click.argument("matrix", required=False, type=FILE)
@click.option("--truth", type=FILE, metavar="FILE", help="The true token of each entry: columns entry,token.")
@click.option(
    "--ranges",
    type=FILE,
    metavar="FILE",
    help="Instead of MATRIX, how often the adversary knows each entry to occur: columns entry,low,high.",
)
@click.option(
    "--transactions",
    type=FILE,
    metavar="FILE",
    help="Beside --ranges, the released transactions, in which tokens are counted: columns transaction,token.",
)
@click.option(
    "--frequencies",
    type=FILE,
    metavar="FILE",
    help="Beside --ranges, how often each token occurs: columns token,frequency.",
)
@click.option(
    "--matchings",
    type=FILE,
    metavar="FILE",
    help="Instead of MATRIX, whole matchings: a column per entry that holds the token, and the column probability.",
)
@click.option(
    "--dataflow",
    type=FILE,
    metavar="FILE",
    help="Instead of MATRIX, a network of randomizing nodes: CSV with node,input,output (and chance), or TOML.",
)
@click.option(
    "--groups",
    type=FILE,
    metavar="FILE",
    help="Entries that are as bad to mistake for one another as to crack: columns entry,group.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of the entries most at risk to print.",
)
@click.option("--sample", is_flag=True, help="Use the example inside unveil, which is done anyway if no file is named.")
@question_options(_meanings)
def matching(
    *,
    matrix: Path | None,
    truth: Path | None,
    ranges: Path | None,
    transactions: Path | None,
    frequencies: Path | None,
    matchings: Path | None,
    dataflow: Path | None,
    groups: Path | None,
    top: int,
    sample: bool,
    options: Options,
) -> None:
    """How many entries does an adversary give their true token?

    Each entry of the original (a diagnosis, a product) was replaced by a token. MATRIX says which token the adversary
    holds possible for which entry (0 or 1), or how likely: one row per entry, one column per token, as CSV, NPY, NPZ or
    Matrix Market. Instead it may know how often entries occur (--ranges), which leaves those tokens that occur as
    often. Without files, the example is a hospital unit.

    \b
    Try:  unveil matching
          unveil matching matrix.csv --truth truth.csv --html report.html
          unveil matching --ranges ranges.csv --transactions released.csv --truth truth.csv
          unveil matching matrix.csv --truth truth.csv --limit cracked_share.high=0.1 --limit d=0.8
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.matching.answer import matching_files
    from unveil.show.terminal import progress

    files = {
        "matrix": matrix,
        "truth": truth,
        "ranges": ranges,
        "transactions": transactions,
        "frequencies": frequencies,
        "matchings": matchings,
        "dataflow": dataflow,
        "groups": groups,
    }
    named = {name: path for name, path in files.items() if path is not None}
    if sample and named:
        raise click.UsageError("--sample needs no files. Leave out either", click.get_current_context())
    is_sample = not named
    if is_sample:
        from unveil.data import samples

        named = {name: samples.path(file) for name, file in _SAMPLE.items()}
    _refuse_files(named)
    if "groups" not in named:
        _refuse_limits_on_groups(options)
    refuse_overwriting(options.html, named.values())
    with progress(quiet=options.quiet) as report:
        answer = matching_files(**named, rng=options.rng, progress=report)
    show(answer, options, as_text=lambda: _print(answer.findings, top, is_sample))


def _refuse_files(named: Mapping[str, Path]) -> None:
    """Raise the error for files that do not make one attack and its truth."""
    context = click.get_current_context()
    holds = {"matrix": "MATRIX"} | {name: f"--{name}" for name in ("ranges", "matchings", "dataflow")}
    told = [word for name, word in holds.items() if name in named]
    if not told:
        raise click.UsageError(
            "what the adversary holds must be named: MATRIX, --ranges, --matchings or --dataflow (or no file at all, "
            "for the example)",
            context,
        )
    if len(told) > 1:
        raise click.UsageError(f"{told[0]} and {told[1]} both say what the adversary holds. Name one", context)
    beside = [name for name in ("transactions", "frequencies") if name in named]
    if "ranges" in named and len(beside) != 1:
        raise click.UsageError(
            f"--ranges needs {'either' if beside else 'also'} --transactions FILE or --frequencies FILE"
            f"{', not both' if beside else ''}",
            context,
        )
    if "ranges" not in named and beside:
        raise click.UsageError(f"--{beside[0]} needs --ranges FILE", context)
    if "truth" not in named:
        raise click.UsageError("cracks are counted against the truth. Add --truth FILE", context)


def _refuse_limits_on_groups(options: Options) -> None:
    from unveil.ask.matching.view import OF_GROUPS

    for name, _ in options.limits:
        if name in OF_GROUPS:
            raise click.UsageError(
                f"--limit {name} needs to know the groups of entries. Add --groups FILE", click.get_current_context()
            )


def _print(found: "MatchingFindings", top: int, is_sample: bool) -> None:
    """Print the answer for a person: the headline, the figures with their meaning, the entries most at risk."""
    from unveil.ask.matching.tables import at_risk_table, group_table, key_numbers
    from unveil.ask.matching.view import headline
    from unveil.ask.matching.words import heuristic_sentence, tone
    from unveil.show.terminal import output, show_headline, show_table

    if is_sample:
        click.echo("The example inside unveil: a hospital unit that releases diagnoses under other names.\n")
    cracks, console = found.cracks, output()
    show_headline(headline(found), tone=tone(cracks))
    for note in found.notes:
        console.print(f"Note: {one_line(note)}")
    click.echo()
    show_figures(key_numbers(cracks, found.blind))
    click.echo()
    console.print(heuristic_sentence(cracks))
    if cracks.groups is not None:
        click.echo()
        show_table(group_table(cracks))
    if top:
        click.echo()
        show_table(at_risk_table(cracks, found.entries, most=top))

"""``unveil partition``: how well is each subject hidden in what the adversary thinks belongs together?"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import Options, one_line, question_options, show, show_figures
from unveil.cli.values import exists, parse_number, refuse_overwriting, share

if TYPE_CHECKING:
    from unveil.ask.partition.findings import PartitionFindings

FILE = click.Path(path_type=Path)
#: What fits a terminal of 80 columns beside a name: breached, linked now, mergings, risk slope, items.
_SHOWN_COLUMNS = range(6)


def read_guess(text: str) -> tuple[Path, Fraction | None]:
    """Return the file of a guess and its probability, if one is given after the last ``=``.

    A file whose own name ends like a probability is meant as a whole where only that file exists.

    >>> read_guess("guess.csv=1/3")[1], read_guess("day=1/guess.csv")[1]
    (Fraction(1, 3), None)
    """
    name, equals, written = text.rpartition("=")
    probability = parse_number(written)
    if not equals or probability is None or (exists(text) and not exists(name)):
        return Path(text), None
    return Path(name), probability


def _meanings() -> Mapping[str, str]:
    from unveil.ask.partition.view import QUANTITIES

    return QUANTITIES


@click.command("partition")
@click.argument("truth", required=False, type=FILE)
@click.argument("guesses", nargs=-1, metavar="[GUESS[=PROBABILITY]]...")
@click.option("--item", default="item", show_default=True, metavar="COLUMN", help="Column that names the items.")
@click.option(
    "--cluster", default="cluster", show_default=True, metavar="COLUMN", help="Column that names the clusters."
)
@click.option(
    "--alpha",
    type=share,
    default="1/2",
    show_default=True,
    help="How much missed items matter against foreign ones, from 0 (only foreign) to 1 (only missed).",
)
@click.option(
    "--beta",
    type=share,
    show_default="4/5; 9/10 with --sample",
    help="Share of a subject's items that must not get linked, from 0 to 1.",
)
@click.option("--contamination-desirable", is_flag=True, help="Subjects like foreign items in their cluster.")
@click.option(
    "--policy",
    "policy_file",
    type=FILE,
    metavar="FILE",
    help="Policies of single subjects: columns subject and any of alpha, beta, contamination_desirable.",
)
@click.option(
    "--weights",
    "weights_file",
    type=FILE,
    metavar="FILE",
    help="How sensitive items are, from 0 to 1 (1 if not named): columns item,weight or subject,item,weight.",
)
@click.option(
    "--norm",
    type=click.Choice(["weight", "literal"]),
    default="weight",
    show_default=True,
    help="Whether shares are of weights, or of numbers of items as the paper prints the formulas.",
)
@click.option(
    "--at-breach",
    type=click.Choice(["nan", "limit"]),
    default="nan",
    show_default=True,
    help="Risk slope of a breached subject: undefined, or the limit that a vertical rise would have.",
)
@click.option("--overall-alpha", type=share, show_default="mean over subjects", help="Alpha of the overall risk slope.")
@click.option("--overall-beta", type=share, show_default="mean over subjects", help="Beta of the overall risk slope.")
@click.option("--drop-unmatched", is_flag=True, help="Leave out items that are not in every file, instead of refusing.")
@click.option(
    "--sample",
    type=click.Choice(["careful", "bold"]),
    is_flag=False,
    flag_value="careful",
    metavar="[careful|bold]",
    help="Use the example inside unveil and no files: a careful or a bold adversary.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of the subjects most at risk to show.",
)
@question_options(_meanings)
def partition(
    *,
    truth: Path | None,
    guesses: tuple[str, ...],
    policy_file: Path | None,
    weights_file: Path | None,
    sample: str | None,
    beta: Fraction | None,
    top: int,
    options: Options,
    **settings: Any,
) -> None:
    """How well is each subject hidden in what an adversary thinks belongs together?

    TRUTH says which items belong to which subject, each GUESS how the adversary groups the same items. All are CSV or
    Parquet files with the columns item and cluster. An adversary who is not sure has several guesses, each with its
    probability (for all or for none): guess1.csv=0.7 guess2.csv=0.3.

    \b
    Try:  unveil partition --sample
          unveil partition truth.csv guess.csv --html report.html
          unveil partition truth.csv guess.csv --limit breached_share=0.1
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.partition.answer import partition_files
    from unveil.show.terminal import progress

    truth, read = _inputs(truth, guesses, sample)
    refuse_overwriting(options.html, [truth, *(path for path, _ in read), policy_file, weights_file])
    with progress(quiet=options.quiet) as report:
        answer = partition_files(
            truth,
            read,
            policy_file=policy_file,
            weights_file=weights_file,
            beta=beta if beta is not None else Fraction(9, 10) if sample else Fraction(4, 5),
            rng=options.rng,
            progress=report,
            **settings,
        )
    show(answer, options, as_text=lambda: _print(answer.findings, top, sample))


def _inputs(
    truth: Path | None, guesses: tuple[str, ...], sample: str | None
) -> tuple[Path, list[tuple[Path, Fraction | None]]]:
    if sample is not None:
        from unveil.data import samples

        if truth is not None:
            raise click.UsageError("--sample needs no files. Leave out either", click.get_current_context())
        return samples.path("partition_truth.csv"), [(samples.path(f"partition_guess_{sample}.csv"), None)]
    if truth is None or not guesses:
        missing = "TRUTH and a GUESS" if truth is None else "a GUESS"
        raise click.UsageError(f"{missing} must be named, or --sample for an example", click.get_current_context())
    return truth, [read_guess(guess) for guess in guesses]


def _print(found: "PartitionFindings", top: int, sample: str | None) -> None:
    """Print the answer for a person: the headline, the figures with their meaning, who is most at risk."""
    from unveil.ask.partition.tables import at_risk_table, distance_numbers, key_numbers
    from unveil.ask.partition.view import headline
    from unveil.ask.partition.words import breached_tone
    from unveil.show.terminal import show_headline, show_numbers, show_table
    from unveil.show.text import count

    if sample is not None:
        other = "bold" if sample == "careful" else "careful"
        click.echo(
            f"The example inside unveil, with a {sample} adversary (try also: unveil partition --sample {other}).\n"
        )
    overall, subjects = found.result.overall, int(found.result.subjects.size)
    tone = breached_tone(overall.breached_subjects, subjects, overall_breached=overall.breached)
    show_headline(headline(found), tone=tone)
    for note in found.notes:
        click.echo(f"Note: {one_line(note)}")
    size = f"{count(found.result.n, 'item', 'items')} of {count(subjects, 'subject', 'subjects')}"
    click.echo(f"\n{size}; overall alpha {overall.alpha:.6g}, beta {overall.beta:.6g}.\n")
    show_figures(key_numbers(found.result, found.reference))
    click.echo("\nHow far the guess is from the truth, by measures of partitions in general:")
    show_numbers(distance_numbers(found.distances, found.reference))
    if top:
        click.echo()
        show_table(at_risk_table(found.result, most=top), columns=_SHOWN_COLUMNS)

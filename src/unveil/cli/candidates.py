"""``unveil candidates``: how much does an adversary know about each target, and how often is it right?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import Options, one_line, question_options, show, show_figures
from unveil.cli.values import refuse_overwriting

if TYPE_CHECKING:
    from unveil.ask.candidates.findings import CandidatesFindings

FILE = click.Path(path_type=Path)


def _meanings() -> Mapping[str, str]:
    from unveil.show.metrics import quantity_meanings as meanings

    return meanings()


@click.command("candidates")
@click.argument("guess", required=False, type=FILE)
@click.option(
    "--truth",
    type=FILE,
    metavar="FILE",
    help="The true candidate of each target: columns target,candidate (empty for a target that stands for nobody).",
)
@click.option("--target", default="target", show_default=True, metavar="COLUMN", help="Column that names the targets.")
@click.option(
    "--candidate", default="candidate", show_default=True, metavar="COLUMN", help="Column that names the candidates."
)
@click.option(
    "--probability",
    default="probability",
    show_default=True,
    metavar="COLUMN",
    help="Column with the probability of each candidate.",
)
@click.option(
    "--normalise", is_flag=True, help="Divide the probabilities of each target by their sum, for scores of any size."
)
@click.option(
    "--drop-unmatched", is_flag=True, help="Leave out targets that the truth does not name, instead of refusing."
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Show this metric only. May be repeated; 'unveil list metrics' shows the names.",
)
@click.option("--sample", is_flag=True, help="Use the example inside unveil and no files.")
@question_options(_meanings)
def candidates(
    *, guess: Path | None, truth: Path | None, sample: bool, metrics: tuple[str, ...], options: Options, **settings: Any
) -> None:
    """How much does an adversary know about each target, and how often is it right?

    GUESS says what an adversary believes after any attack: for each target (a released record or node) its candidates
    (original ones) and how probable each is. It is a CSV or Parquet file with the columns target, candidate and
    probability. Targets that only the truth names were not attempted.

    \b
    Try:  unveil candidates --sample
          unveil candidates guess.csv --truth truth.csv --html report.html
          unveil candidates guess.csv --truth truth.csv --limit adversary_overall_success=0.1
          unveil candidates guess.csv --metric entropy --limit entropy=3
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.candidates.answer import candidates_files
    from unveil.show.terminal import progress

    guess, truth = _inputs(guess, truth, sample)
    refuse_overwriting(options.html, [guess, truth])
    if truth is None:
        _refuse_limits_on_truth(options)
    with progress(quiet=options.quiet) as report:
        answer = candidates_files(guess, truth, metrics=metrics, progress=report, **settings)
    show(answer, options, as_text=lambda: _print(answer.findings, sample))


def _inputs(guess: Path | None, truth: Path | None, sample: bool) -> tuple[Path, Path | None]:
    if sample:
        from unveil.data import samples

        if guess is not None or truth is not None:
            raise click.UsageError("--sample needs no files. Leave out either", click.get_current_context())
        return samples.path("candidates_guess.csv"), samples.path("candidates_truth.csv")
    if guess is None:
        raise click.UsageError("a GUESS must be named, or --sample for an example", click.get_current_context())
    return guess, truth


def _refuse_limits_on_truth(options: Options) -> None:
    from unveil.measure import METRICS

    for name, _ in options.limits:
        if METRICS[name].needs_truth:
            raise click.UsageError(
                f"--limit {name} compares with the truth, but none was given. Add --truth FILE",
                click.get_current_context(),
            )


def _print(found: "CandidatesFindings", sample: bool) -> None:
    """Print the answer for a person: the headline, the figures with their meaning, the metrics by category."""
    from unveil.ask.candidates.tables import TABLE_NOTE, by_category, key_numbers, metric_table
    from unveil.ask.candidates.view import headline, typical_doubt
    from unveil.ask.candidates.words import matched_tone, why_they_differ
    from unveil.show.terminal import output, show_headline, show_table
    from unveil.show.trust import trust_note

    if sample:
        click.echo("The example inside unveil: made-up records, and an adversary who is right about half of them.\n")
    show_headline(headline(found), tone=matched_tone(found.matches))
    for note in found.notes:
        click.echo(f"Note: {one_line(note)}")
    click.echo()
    show_figures(key_numbers(found.matches, doubt=typical_doubt(found)))
    if found.matches.has_truth:
        click.echo()
        output().print(why_they_differ(found.matches))
    for category, members in by_category(found.shown):
        click.echo()
        show_table(metric_table(category, members, as_written=True))
    click.echo()
    for note in (TABLE_NOTE, trust_note()):
        output().print(note)
    if found.left_out:
        click.echo(f"\n{len(found.left_out)} metrics compare with the truth; give it with --truth to see them.")

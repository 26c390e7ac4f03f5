"""``unveil grade-metrics``: which privacy metrics can be trusted, judged by the results of studies?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import Options, one_line, question_options, show
from unveil.cli.values import refuse_replacing, report_target, share

if TYPE_CHECKING:
    from fractions import Fraction

    from unveil.ask.grades.findings import GradesFindings

FOLDER = click.Path(path_type=Path)


def _meanings() -> Mapping[str, str]:
    from unveil.ask.grades.view import meanings

    return meanings()


@click.command("grade-metrics")
@click.argument("folders", metavar="DIR...", nargs=-1, type=FOLDER)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="NAME:METRIC=WEIGHT,...",
    help="Also grade this suite of metrics, with weights that sum to 1; 'unveil list metrics' shows the names. May be "
    "repeated.",
)
@click.option(
    "--detail",
    "details",
    multiple=True,
    metavar="METRIC[@WORDS]",
    help="Show this metric level by level, in the cases whose data, protection, attack and axis hold all WORDS "
    "(separated by commas). May be repeated; three that tell something unless given.",
)
@click.option(
    "--strict", is_flag=True, help="Count changes in the wrong direction even where they are not significant."
)
@click.option(
    "--significance",
    type=share,
    default="0.05",
    show_default=True,
    metavar="P",
    help="A change is significant if the p value of its test is below P.",
)
@click.option(
    "--latex",
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=report_target,
    help="Write the tables to FILE, for a paper.",
)
@question_options(_meanings)
def grade_metrics(
    *,
    folders: tuple[Path, ...],
    suites: tuple[str, ...],
    details: tuple[str, ...],
    strict: bool,
    significance: "Fraction",
    latex: Path | None,
    options: Options,
) -> None:
    """Which privacy metrics can be trusted?

    A metric deserves trust if it shows less privacy whenever the adversary is stronger. Each metric in the results of
    the studies in DIR... (made by 'unveil study run') gets three scores between 0 and 1: monotonicity (does it follow
    the adversary's strength?), evenness (do its values tell things apart?) and shared value range (can cases be
    compared?). Suites combine several metrics. Several studies are graded together.

    \b
    Try:  unveil grade-metrics results
          unveil grade-metrics results --html grades.html --latex grades.tex
          unveil grade-metrics results --detail pearson_correlation@manufacturing,NS
          unveil grade-metrics results --suite mine:entropy=0.5,pearson_correlation=0.5
          unveil grade-metrics results --limit share_monotonic_best_suite=0.8
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.grades.answer import grade_metrics as ask_grades
    from unveil.ask.grades.view import to_latex
    from unveil.data.files.write import write_text
    from unveil.show.terminal import progress

    context = click.get_current_context()
    if not folders:
        raise click.UsageError("name the folder of a study, which 'unveil study run' made", context)
    if latex is not None and options.html is not None and latex.resolve() == options.html.resolve():
        raise click.UsageError("--html and --latex name the same file. Name two", context)
    for option, page in (("--html", options.html), ("--latex", latex)):
        refuse_replacing(page, folders, option=option)
    settings: dict[str, Any] = {
        "details": details,
        "suites": suites,
        "level": float(significance),
        "strict": strict,
    }
    with progress(quiet=options.quiet) as report:
        answer = ask_grades(*folders, rng=options.rng, progress=report, **settings)
    if latex is not None:
        write_text(latex, to_latex(answer.findings), shared=True)  # for a paper; it tells of metrics, not of people
    show(answer, options, as_text=lambda: _print(answer.findings, latex, with_details=bool(details)))


def _print(found: "GradesFindings", latex: Path | None, *, with_details: bool) -> None:
    """Print the answer for a person: the headline, the ranking, suites, what explains the scores, and notes."""
    from unveil.ask.grades.charts import detail_boxes
    from unveil.ask.grades.tables import group_table, suite_table, verdict_tables
    from unveil.ask.grades.words import headline, honest_sentences, scores_in_words, tone, zeros_of
    from unveil.show.terminal import output, show_figure, show_headline, show_table

    console = output()

    def say(*sentences: str) -> None:
        for sentence in sentences:
            console.print(one_line(sentence))

    show_headline(headline(found), tone=tone(found))
    for table in verdict_tables(found):
        click.echo()
        show_table(table)
    say(scores_in_words())
    for each in found.details if with_details else ():
        picture = detail_boxes(found, each)
        click.echo()
        show_figure(picture)
        say(picture.caption)
    suites = suite_table(found)
    if suites is not None:
        click.echo()
        show_table(suites)
        say(*zeros_of(found.grades))
    if found.grades.searches:
        click.echo("\nAre there better suites?")
        say(*honest_sentences(found))
    explained = group_table(found)
    if explained is not None:
        click.echo()
        show_table(explained)
    if found.notes:
        click.echo()
        say(*(f"Note: {note}" for note in found.notes))
    if latex is not None:
        click.echo(f"\nThe tables are in {one_line(click.format_filename(latex))}")

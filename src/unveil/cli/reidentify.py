"""``unveil reidentify``: who is behind each masked record, and is the attack that says so valid?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import Options, one_line, question_options, show, show_figures
from unveil.cli.values import header_option, refuse_overwriting

if TYPE_CHECKING:
    from unveil.ask.answer import Answer
    from unveil.ask.reidentify.findings import ReidentifyFindings

FILE = click.Path(path_type=Path)


def _meanings() -> Mapping[str, str]:
    from unveil.ask.reidentify.view import meanings

    return meanings()


@click.command("reidentify")
@click.argument("original", required=False, type=FILE)
@click.argument("released", required=False, type=FILE)
@click.option(
    "--protect",
    metavar="NAME[:KEY=VALUE,…]",
    help="Make the release with this protection; 'unveil list protections' shows them.",
)
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="NAME[:KEY=VALUE,…]",
    help="Run this attack, or your own class written package.module:Class. May be repeated; 'unveil list attacks' "
    "shows those there are (of these, the ones that leave Beliefs or Candidates).",
)
@click.option(
    "--known",
    multiple=True,
    metavar="COLUMNS",
    help="The only columns that the adversary knows, in the order in which they are learnt (all, if not given).",
)
@click.option(
    "--truth",
    type=FILE,
    metavar="FILE",
    help="Beside RELEASED, whose each row is: columns released,original with row numbers counted from 1.",
)
@click.option(
    "--id", "identifier", metavar="COLUMN", help="Instead of --truth, a column of both files that names people."
)
@click.option("--missing", multiple=True, metavar="TEXT", help="A cell that stands for a missing value, such as '?'.")
@header_option
@click.option("--sample", is_flag=True, help="Use the example inside unveil, which is done anyway if no file is named.")
@question_options(_meanings)
def reidentify(
    *,
    original: Path | None,
    released: Path | None,
    protect: str | None,
    attacks: tuple[str, ...],
    known: tuple[str, ...],
    truth: Path | None,
    identifier: str | None,
    missing: tuple[str, ...],
    header: str | None,
    sample: bool,
    options: Options,
) -> None:
    """Who is behind each masked record, and is the attack that says so valid?

    ORIGINAL holds one row per person. Either --protect makes the release, and then the masking tells what an attack
    may claim: one that claims more is not valid, and proves nothing. Or RELEASED was made elsewhere: then hits are
    counted, and whether an attack is valid stays open. Without files, the example is
    an election study whose ranks are swapped.

    \b
    Try:  unveil reidentify
          unveil reidentify people.csv --protect rank-swapping:p=10 --attack intersection
          unveil reidentify people.csv --protect mondrian:k=5 --attack bayes --attack nearest --known age,income
          unveil reidentify people.csv masked.csv --truth truth.csv --attack nearest --limit hit_rate.high=0.1
    """  # noqa: D301  (click needs the control character itself)
    from unveil.cli.audit_options import columns_in

    _refuse(original, released, protect, attacks, truth, identifier, sample)
    refuse_overwriting(options.html, [original, released, truth])
    named = columns_in(known, "--known") if known else None
    settings: dict[str, Any] = {"protect": protect, "attacks": attacks, "known": named}
    answer = _ask(original, released, truth, identifier, missing, header, settings, options)
    show(answer, options, as_text=lambda: _print(answer.findings, is_sample=original is None))


def _refuse(
    original: Path | None,
    released: Path | None,
    protect: str | None,
    attacks: tuple[str, ...],
    truth: Path | None,
    identifier: str | None,
    sample: bool,
) -> None:
    """Raise the error for files and options that make no question."""
    context = click.get_current_context()
    if original is None:
        if truth is not None or identifier is not None:
            raise click.UsageError("--truth and --id need ORIGINAL and RELEASED", context)
        return
    if sample:
        raise click.UsageError("--sample needs no files. Leave out either", context)
    if released is None and protect is None:
        raise click.UsageError(
            "a RELEASED file must be named beside ORIGINAL, or --protect to make the release", context
        )
    if released is not None and protect is not None:
        raise click.UsageError("--protect makes the release, so RELEASED must be left out, or --protect", context)
    if released is not None and (truth is None) == (identifier is None):
        raise click.UsageError(
            "whose each released row is must be told once, with --truth FILE or with --id COLUMN", context
        )
    if released is None and truth is not None:
        raise click.UsageError("--truth needs a RELEASED file", context)
    if not attacks:
        raise click.UsageError("an --attack must be named; 'unveil list attacks' shows them", context)


def _ask(
    original: Path | None,
    released: Path | None,
    truth: Path | None,
    identifier: str | None,
    missing: tuple[str, ...],
    header: str | None,
    settings: dict[str, Any],
    options: Options,
) -> "Answer[ReidentifyFindings]":
    from unveil.show.terminal import progress

    with progress(quiet=options.quiet) as report:
        if original is None:
            from unveil.ask.reidentify.answer import reidentify as ask
            from unveil.ask.reidentify.read import SAMPLE_ATTACKS, SAMPLE_PROTECT, reidentify_sample

            settings["protect"] = settings["protect"] or SAMPLE_PROTECT
            settings["attacks"] = settings["attacks"] or SAMPLE_ATTACKS
            return ask(reidentify_sample(), rng=options.rng, progress=report, **settings)
        from unveil.ask.reidentify.answer import reidentify_files
        from unveil.data.files.header import check_header

        return reidentify_files(
            original,
            released,
            truth=truth,
            identifier=identifier,
            missing=missing,
            header=check_header(header or "detect"),
            rng=options.rng,
            progress=report,
            **settings,
        )


def _print(found: "ReidentifyFindings", *, is_sample: bool) -> None:
    """Print the answer for a person: the headline, the attacks side by side, the worst claims, what was learnt."""
    from unveil.ask.reidentify.tables import attack_table, key_numbers, step_table, witness_table
    from unveil.ask.reidentify.words import clash_sentence, headline, spoken_notes, tone
    from unveil.show.terminal import output, show_headline, show_table

    if is_sample:
        click.echo("The example inside unveil: 120 people of an election study.\n")
    console = output()
    show_headline(headline(found), tone=tone(found))
    for note in spoken_notes(found):
        console.print(f"Note: {one_line(note)}")
    click.echo()
    show_figures(key_numbers(found))
    click.echo()
    show_table(attack_table(found))
    for attack, sentence in witness_table(found).rows:
        console.print(f"{attack}: {one_line(sentence)}")
    if found.clashes:
        click.echo()
        console.print(one_line(clash_sentence(found)))
    click.echo()
    show_table(step_table(found))

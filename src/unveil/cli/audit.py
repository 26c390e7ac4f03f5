"""``unveil audit``: if this table is released, what could an adversary do with it, and how sure is that?"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.audit_options import FILE, audit_options, merged, refuse_limits, techniques_in, with_limits
from unveil.cli.common import WRITTEN, Options, one_line, question_options, show
from unveil.cli.values import refuse_overwriting

if TYPE_CHECKING:
    from unveil.ask.answer import Answer
    from unveil.ask.audit.findings import Audit
    from unveil.ask.audit.paper import Paper
    from unveil.ask.audit.read import Settings
    from unveil.show.judgement import Judgement


def _meanings() -> Mapping[str, str]:
    from unveil.ask.audit.quantities import meanings

    return meanings()


@click.command("audit")
@click.argument("original", required=False, type=FILE)
@click.argument("released", nargs=-1, type=FILE)
@click.option(
    "--control", type=FILE, metavar="FILE", help="People of the same kind who are not in ORIGINAL, to compare with."
)
@audit_options
@click.option(
    "--config", type=FILE, metavar="FILE", help="A TOML file with any of these settings; options win over it."
)
@click.option("--sample", is_flag=True, help="Use the example inside unveil, which is done anyway if no file is named.")
@question_options(_meanings)
def audit(
    *,
    original: Path | None,
    released: tuple[Path, ...],
    control: Path | None,
    config: Path | None,
    sample: bool,
    show_records: bool,
    shareable: Path | None,
    compare: Path | None,
    options: Options,
    **settings: Any,
) -> None:
    """If this table is released, what could an adversary do with it, and how sure is that?

    ORIGINAL holds one row per person, each RELEASED what is to be published of it, masked or synthetic: CSV or Parquet
    files whose columns have the same names. Several releases give one comparison. Without any file the example inside
    unveil is audited. COLUMNS are names with commas between them.

    \b
    Try:  unveil audit
          unveil audit people.csv masked.csv --control others.csv --html report.html
          unveil audit people.csv masked.csv --scenario neighbour=age,sex,region
          unveil audit people.csv masked.csv --kind masked --sensitive income \\
              --profile cell-5 --html internal.html --shareable shared.html
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.audit.paper import check_paper, judged
    from unveil.ask.audit.read import Settings, read_settings

    told = Settings() if config is None else read_settings(config)
    files = [original or told.original, *(released or told.released), control or told.control]
    context = click.get_current_context()
    if sample and any(files):
        raise click.UsageError("--sample needs no files. Leave out either", context)
    if original is not None and not (released or told.released):
        raise click.UsageError("a RELEASED file must be named beside ORIGINAL", context)
    if files[0] is None and any(files):
        raise click.UsageError("ORIGINAL must be named beside the other files", context)
    if show_records and options.html is None:
        raise click.UsageError("--show-records needs a report to show them in. Add --html FILE", context)
    if shareable is not None and options.html is not None and shareable.resolve() == options.html.resolve():
        raise click.UsageError("--html and --shareable must be different files. Rename one", context)
    for option, page in (("--html", options.html), ("--shareable", shareable)):
        refuse_overwriting(page, [*files, config, compare], option=option)
    options = with_limits(options, told, _meanings())
    asked = merged(settings, told)
    refuse_limits(options, asked, has_control=files[0] is None or files[-1] is not None)
    paper = _paper(settings, told, files, compare, keyed=shareable is not None)
    answer = _ask(files, told, asked, options)
    check_paper(answer.findings, paper)
    judgement = None if paper.profile is None else judged(answer.findings, paper.profile)
    shared = [] if shareable is None else [(shareable, partial(answer.to_html, paper=paper, edition="shareable"))]
    if options.html is None and paper.digest_key is not None:
        # Without an internal report nothing else keeps it.
        click.echo(f"Keep the key of the digests in the report ('unveil digest'): {paper.digest_key.hex()}", err=True)
    show(
        answer,
        options,
        as_text=lambda: _print(answer, is_sample=files[0] is None, judgement=judgement),
        as_page=partial(answer.to_html, show_records=show_records, paper=paper),
        as_json=partial(answer.to_json, paper=paper),
        more_pages=shared,
        # What could not be judged is not kept: a pipeline must not take it for a pass.
        also_exceeded=() if judgement is None or judgement.outcome == "kept" else (judgement.headline,),
    )


def _paper(
    settings: Mapping[str, Any], told: "Settings", files: list[Path | None], compare: Path | None, *, keyed: bool
) -> "Paper":
    """Return what stands in the report beside the figures; what is wrong with it is said before anything long runs."""
    from datetime import date

    from unveil.ask.audit.paper import Paper
    from unveil.ask.audit.parts.changes import read_previous
    from unveil.data.files.digest import new_key
    from unveil.show.profiles import profile

    named = told.profile if settings["profile"] is None else settings["profile"]
    original, *released, control = files
    return Paper(
        written=click.get_current_context().meta[WRITTEN],
        date=date.today().isoformat(),
        review=settings["review"] or told.review,
        techniques={**told.techniques, **techniques_in(settings["techniques"])},
        original=original,
        released=tuple(path for path in released if path is not None),
        control=control,
        profile=None if named is None else profile(named).name,
        previous=None if compare is None else read_previous(compare),
        digest_key=new_key() if keyed else None,
    )


def _ask(files: list[Path | None], told: "Settings", asked: dict[str, Any], options: Options) -> "Answer[Audit]":
    from unveil.show.terminal import progress

    if asked.get("compatibility"):
        asked["compatibility_seed"] = options.seed
    original, *released, control = files
    with progress(quiet=options.quiet) as report:
        if original is None:
            from unveil.ask.audit.answer import audit as ask
            from unveil.ask.audit.sample import sample_releases

            report("making the example", 0.0)
            asked.pop("header", None)  # the example is no file
            rng = options.rng
            table, outside, releases = sample_releases(rng)
            return ask(table, list(releases), outside, rng=rng, progress=report, **asked)
        from unveil.ask.audit.answer import audit_files

        return audit_files(
            original,
            [path for path in released if path is not None],
            control,
            names=told.names,
            release_kinds=told.release_kinds,
            rng=options.rng,
            progress=report,
            **asked,
        )


def _print(answer: "Answer[Audit]", *, is_sample: bool, judgement: "Judgement | None") -> None:
    """Print the answer for a person: the headline, the comparison, what it means, and what was not tested."""
    from unveil.ask.audit.tables import comparison_table
    from unveil.ask.audit.verdict import headline, tone
    from unveil.ask.audit.view import plain_words
    from unveil.show.terminal import output, show_headline, show_table

    if is_sample:
        click.echo("The example inside unveil: 700 people of an election study, released in three ways.\n")
    found = answer.findings
    if judgement is not None:
        show_headline(judgement.headline, tone=judgement.tone)
    show_headline(headline(found), tone=tone(found))
    console = output()
    for note in answer.page().notes:
        console.print(f"Note: {one_line(note)}")
    click.echo()
    show_table(comparison_table(found))
    for text in plain_words(found):
        click.echo()
        console.print(one_line(text))

"""``unveil audit``: if this table is released, what could an adversary do with it, and how sure is that?"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import Options, one_line, question_options, show
from unveil.cli.values import refuse_overwriting

if TYPE_CHECKING:
    from unveil.ask.audit import AuditAnswer
    from unveil.ask.audit_files import Settings

FILE = click.Path(path_type=Path)


def _meanings() -> Mapping[str, str]:
    from unveil.ask.audit_figures import meanings

    return meanings()


@click.command("audit")
@click.argument("original", required=False, type=FILE)
@click.argument("released", nargs=-1, type=FILE)
@click.option(
    "--control", type=FILE, metavar="FILE", help="People of the same kind who are not in ORIGINAL, to compare with."
)
@click.option("--id", "identifiers", multiple=True, metavar="COLUMNS", help="Columns that identify people.")
@click.option("--sensitive", multiple=True, metavar="COLUMNS", help="Columns that an adversary wants to learn.")
@click.option(
    "--known",
    multiple=True,
    metavar="COLUMNS",
    help="The only columns an adversary may know (all others, if not given).",
)
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME=COLUMNS",
    help="An adversary who holds these columns and links them to the other known ones. May be repeated.",
)
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="COLUMNS:COLUMNS",
    help="An adversary who holds these two groups of columns from two sources. May be repeated.",
)
@click.option(
    "--kind",
    type=click.Choice(["masked", "synthetic"]),
    help="Whether each released row stems from one person, or from none.",
)
@click.option("--attacks", metavar="NAMES", help="Run these only: linkability,record_linkage,copies and so on.")
@click.option("--targets", metavar="N|all", help="How many people to attack.  [default: 500]")
@click.option(
    "--neighbours",
    type=click.IntRange(min=1),
    metavar="K",
    help="How many of the nearest released rows count in linkability.  [default: 10]",
)
@click.option("--missing", multiple=True, metavar="TEXT", help="A cell that stands for a missing value, such as '?'.")
@click.option(
    "--compatibility",
    type=click.Choice(["anonymeter"]),
    help="Run linkability exactly as anonymeter 1.1.0 does, with its targets for the seed.",
)
@click.option(
    "--config", type=FILE, metavar="FILE", help="A TOML file with any of these settings; options win over it."
)
@click.option(
    "--show-records",
    is_flag=True,
    help="Show in the report of --html a few records that are released unchanged: for internal use, not to be shared.",
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
          unveil audit people.csv synthetic.csv --control others.csv \\
              --limit linkability.excess_over_control.high=0.05
    """  # noqa: D301  (click needs the control character itself)
    from unveil.ask.audit_files import Settings, read_settings

    told = Settings() if config is None else read_settings(config)
    files = [original or told.original, *(released or told.released), control or told.control]
    if sample and any(files):
        raise click.UsageError("--sample needs no files. Leave out either", click.get_current_context())
    if original is not None and not (released or told.released):
        raise click.UsageError("a RELEASED file must be named beside ORIGINAL", click.get_current_context())
    if files[0] is None and any(files):
        raise click.UsageError("ORIGINAL must be named beside the other files", click.get_current_context())
    if show_records and options.html is None:
        raise click.UsageError(
            "--show-records needs a report to show them in. Add --html FILE", click.get_current_context()
        )
    refuse_overwriting(options.html, [*files, config])
    options = _with_limits(options, told)
    asked = _settings(settings, told)
    _refuse_limits(options, asked, has_control=files[0] is None or files[-1] is not None)
    answer = _ask(files, told, asked, options)
    show(
        answer,
        options,
        as_text=lambda: _print(answer, is_sample=files[0] is None),
        as_page=partial(answer.to_html, show_records=show_records),
    )


def _columns(written: tuple[str, ...]) -> list[str]:
    import csv

    return [name.strip() for row in csv.reader(written, skipinitialspace=True) for name in row if name.strip()]


def _settings(given: Mapping[str, Any], told: "Settings") -> dict[str, Any]:
    """Return the settings of the question: those of the options, else those of the file."""
    from unveil.ask.audit_files import read_targets, told_scenarios

    asked = dict(told.more)
    for name in ("identifiers", "sensitive", "known"):
        if given[name]:
            asked[name] = _columns(given[name])
    if given["attacks"]:
        asked["attacks"] = [name for name in given["attacks"].split(",") if name.strip()]
    if given["targets"]:
        asked["targets"] = read_targets(given["targets"])
    if given["missing"]:
        asked["missing"] = list(given["missing"])
    for name in ("kind", "neighbours", "compatibility"):
        if given[name]:
            asked[name] = given[name]
    named = told_scenarios(given["scenarios"], given["links"]) or told.scenarios
    asked["scenarios"] = named or None
    return asked


def _with_limits(options: Options, told: "Settings") -> Options:
    from unveil.errors import did_you_mean

    known = _meanings()
    for name in told.limits:
        if name not in known:
            hint = did_you_mean(name, known) or " '--limit help' lists them."
            raise click.UsageError(f"the file of settings sets a limit for {name!r}, which is no quantity.{hint}")
    own = {name for name, _ in options.limits}
    limits = (*options.limits, *((name, value) for name, value in told.limits.items() if name not in own))
    source = click.get_current_context().get_parameter_source("seed")
    by_default = source is None or source.name == "DEFAULT"
    seed = told.seed if told.seed is not None and by_default else options.seed
    return replace(options, limits=limits, seed=seed)


def _refuse_limits(options: Options, asked: Mapping[str, Any], *, has_control: bool) -> None:
    """Refuse a limit on a figure that this audit cannot have: it would never be exceeded, and look like a pass."""
    from unveil.ask.audit_figures import needs_control

    chosen = [name.strip().replace("-", "_") for name in asked.get("attacks", ())]
    for name, _ in options.limits:
        if needs_control(name) and not has_control:
            raise click.BadParameter(
                f"{name} compares with people who are not in the data. Add them (--control FILE), or limit another",
                click.get_current_context(),
                param_hint="'--limit'",
            )
        if chosen and name.split(".")[0] not in chosen:
            raise click.BadParameter(
                f"{name} belongs to an attack that --attacks leaves out. Add it there, or limit another",
                click.get_current_context(),
                param_hint="'--limit'",
            )


def _ask(files: list[Path | None], told: "Settings", asked: dict[str, Any], options: Options) -> "AuditAnswer":
    from unveil.report.terminal import progress

    if asked.get("compatibility"):
        asked["compatibility_seed"] = options.seed
    original, *released, control = files
    with progress(quiet=options.quiet) as report:
        if original is None:
            from unveil.ask.audit import audit as ask
            from unveil.ask.audit_sample import sample_releases

            report("making the example", 0.0)
            rng = options.rng
            table, outside, releases = sample_releases(rng)
            return ask(table, list(releases), outside, rng=rng, progress=report, **asked)
        from unveil.ask.audit_files import audit_files

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


def _print(answer: "AuditAnswer", *, is_sample: bool) -> None:
    """Print the answer for a person: the headline, the comparison, what it means, and what was not tested."""
    from unveil.report.audit import comparison_table, headline, plain_words
    from unveil.report.audit_verdict import tone
    from unveil.report.terminal import output, show_headline, show_table

    if is_sample:
        click.echo("The example inside unveil: 700 people of an election study, released in three ways.\n")
    found = answer.found
    show_headline(headline(found), tone=tone(found))
    console = output()
    for note in answer.page().notes:
        console.print(f"Note: {one_line(note)}", soft_wrap=not console.is_terminal)
    click.echo()
    show_table(comparison_table(found))
    for text in plain_words(found):
        click.echo()
        console.print(one_line(text), soft_wrap=not console.is_terminal)

"""The options of ``unveil audit`` that say what to measure, in groups, and the settings that they become."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unveil.cli.common import Command, Options
from unveil.cli.values import header_option, report_target

if TYPE_CHECKING:
    from unveil.ask.audit.read import Settings

FILE = click.Path(path_type=Path)

_ROLES = (
    click.option("--id", "identifiers", multiple=True, metavar="COLUMNS", help="Columns that identify people."),
    click.option("--sensitive", multiple=True, metavar="COLUMNS", help="Columns that an adversary wants to learn."),
    click.option(
        "--known",
        multiple=True,
        metavar="COLUMNS",
        help="The only columns an adversary may know (all others, if not given).",
    ),
    click.option("--by", metavar="COLUMN", help="Show every rate for each group of this column too."),
    click.option("--weight", metavar="COLUMN", help="Survey weights: how many people each released row stands for."),
    click.option("--household", metavar="COLUMN", help="Which household each person belongs to."),
    click.option(
        "--population-size",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many people the released ones were drawn from, if there are no weights.",
    ),
)
_ADVERSARY = (
    click.option(
        "--scenario",
        "scenarios",
        multiple=True,
        metavar="NAME=COLUMNS",
        help="An adversary who holds these columns and links them to the other known ones. May be repeated.",
    ),
    click.option(
        "--link",
        "links",
        multiple=True,
        metavar="COLUMNS:COLUMNS",
        help="An adversary who holds these two groups of columns from two sources. May be repeated.",
    ),
    click.option(
        "--kind",
        type=click.Choice(["masked", "synthetic"]),
        help="Whether each released row stems from one person, or from none.",
    ),
    click.option(
        "--attacks",
        metavar="NAMES",
        help="Run these only: singling_out,linkability,inference,disclosure,utility and so on.",
    ),
    click.option("--targets", metavar="N|all", help="How many people to attack.  [default: 500]"),
    click.option(
        "--neighbours",
        type=click.IntRange(min=1),
        metavar="K",
        help="How many of the nearest released rows count in linkability.  [default: 10]",
    ),
    click.option(
        "--guesses",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many descriptions are tried in singling out.  [default: 500]",
    ),
    click.option(
        "--tolerance",
        type=click.FloatRange(min=0, max=1, max_open=True),
        metavar="SHARE",
        help="How far off a guessed number may be, as a share of the true one.  [default: 0.05]",
    ),
    click.option(
        "--missing", multiple=True, metavar="TEXT", help="A cell that stands for a missing value, such as '?'."
    ),
    click.option(
        "--hierarchy",
        "hierarchies",
        multiple=True,
        metavar="COLUMN=FILE",
        help="Which values the wider labels of a column stand for: value;label;wider label in each line.",
    ),
    click.option(
        "--exact",
        multiple=True,
        metavar="COLUMNS",
        help="Columns whose released numbers are neither rounded nor cut off at the ends, though they look so.",
    ),
    header_option,
    click.option(
        "--compatibility",
        type=click.Choice(["anonymeter"]),
        help="Run linkability exactly as anonymeter 1.1.0 does, with its targets for the seed.",
    ),
)
_PAPER = (
    click.option(
        "--profile",
        metavar="NAME",
        help="Judge by published limits: ema, health-canada, cell-3, cell-5, cell-11 or cell-20. There is no default.",
    ),
    click.option(
        "--shareable",
        type=FILE,
        metavar="FILE",
        callback=report_target,
        help="Write a second report to FILE that may leave the house: small counts, folders and values are kept out.",
    ),
    click.option(
        "--compare", type=FILE, metavar="FILE", help="The JSON of an earlier audit: the report says what changed."
    ),
    click.option(
        "--technique",
        "techniques",
        multiple=True,
        metavar="COLUMN=TEXT",
        help="What was done to a column, for the sign-off sheet. May be repeated.",
    ),
    click.option(
        "--minimum-cell",
        type=click.IntRange(min=2),
        metavar="N",
        help="Never show a group of fewer people.  [default: 11]",
    ),
    click.option("--review", metavar="DATE", help="When the decision is to be reviewed, for the sign-off sheet."),
    click.option(
        "--show-records",
        is_flag=True,
        help="Show in the report of --html a few records that are released unchanged: internal, not to be shared.",
    ),
)


def audit_options(command: Command) -> Command:
    """Add what an audit can be told, in the order of its help."""
    for option in reversed((*_ROLES, *_ADVERSARY, *_PAPER)):
        command = option(command)
    return command


def columns_in(written: Sequence[str], option: str) -> list[str]:
    """Return the names after an option, with commas between them; a name with a comma in it stands in double quotes.

    >>> columns_in(('age,sex', '"income, yearly"'), "--known")
    ['age', 'sex', 'income, yearly']
    """
    import csv

    try:
        rows = list(csv.reader(written, skipinitialspace=True))
    except csv.Error:
        rows = []
    names = [name.strip() for row in rows for name in row if name.strip()]
    if not names:
        raise click.BadParameter("it must name at least one, but names none. Leave it out", param_hint=f"'{option}'")
    return names


#: Settings that are handed on as they were written.
_AS_WRITTEN = (
    "kind", "neighbours", "guesses", "tolerance", "compatibility", "by", "weight", "household", "population_size",
    "minimum_cell", "header",
)  # fmt: skip


def merged(given: Mapping[str, Any], told: "Settings") -> dict[str, Any]:
    """Return the settings of the question: those of the options, else those of the file."""
    from unveil.ask.audit.read import read_targets, told_scenarios

    asked = dict(told.more)
    for name in ("identifiers", "sensitive", "known", "exact"):
        if given[name]:
            asked[name] = columns_in(given[name], "--id" if name == "identifiers" else f"--{name}")
    if given["hierarchies"]:
        pairs = pairs_in(given["hierarchies"], "--hierarchy", "COLUMN=FILE, as in job=jobs.csv")
        asked["hierarchies"] = {column: Path(file) for column, file in pairs.items()}
    if given["attacks"]:
        asked["attacks"] = columns_in([given["attacks"]], "--attacks")
    if given["targets"]:
        asked["targets"] = read_targets(given["targets"])
    if given["missing"]:
        asked["missing"] = list(given["missing"])
    asked |= {name: given[name] for name in _AS_WRITTEN if given[name] is not None}
    named = told_scenarios(given["scenarios"], given["links"]) or told.scenarios
    asked["scenarios"] = named or None
    return asked


def with_limits(options: Options, told: "Settings", known: Mapping[str, str]) -> Options:
    """Return the options with the limits and the seed of the file where none were given."""
    from unveil.errors import did_you_mean

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


def refuse_limits(options: Options, asked: Mapping[str, Any], *, has_control: bool) -> None:
    """Refuse a limit on a figure that this audit cannot have: it would never be exceeded, and look like a pass."""
    from unveil.ask.audit.quantities import needs

    chosen = [name.strip().replace("-", "_") for name in asked.get("attacks") or ()]
    have = {"control": has_control, "by": bool(asked.get("by"))}
    for name, _ in options.limits:
        lacking = next((need for need in needs(name) if not have[need]), None)
        if lacking is not None:
            raise click.BadParameter(
                f"{name} {_LACKING[lacking]}, or limit another", click.get_current_context(), param_hint="'--limit'"
            )
        if chosen and name.split(".")[0] not in chosen:
            raise click.BadParameter(
                f"{name} belongs to an attack that --attacks leaves out. Add it there, or limit another",
                click.get_current_context(),
                param_hint="'--limit'",
            )


_LACKING = {
    "control": "compares with people who are not in the data. Add them (--control FILE)",
    "by": "is about groups of people. Name their column (--by COLUMN)",
}


def techniques_in(written: tuple[str, ...]) -> dict[str, str]:
    """Return what was done to each column, as ``column=text`` says it.

    >>> techniques_in(("age=in bands of five years",))
    {'age': 'in bands of five years'}
    """
    return pairs_in(written, "--technique", "COLUMN=TEXT, as in age='in bands of five years'")


def pairs_in(written: tuple[str, ...], option: str, form: str) -> dict[str, str]:
    """Return what is written after each column; ``form`` is how it must be, for the message."""
    told = {}
    for text in written:
        column, equals, what = text.partition("=")
        if not equals or not column.strip() or not what.strip():
            raise click.BadParameter(f"it must be written {form}", param_hint=f"'{option}'")
        told[column.strip()] = what.strip()
    return told

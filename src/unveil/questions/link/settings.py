"""Settings of the question whether records of the same person can be linked."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unveil.questions.request import Request
from unveil.questions.roles import TableColumnSettings
from unveil.questions.settings import (
    MORE,
    LimitSettings,
    Question,
    SeedSettings,
    TextFileSettings,
    setting,
)

#: Above this many people, some are drawn at random.
MOST_PEOPLE = 4_000


def _one_rule(request: Request) -> list[tuple[str, str]]:
    """Return the conflicts of settings that say how long a pseudonym lives."""
    values, files = request.values, len(request.files.get("tables", ()))
    rules = [name for name in ("period", "pseudonym") if values[name]]
    if values["lifetime"] and rules:
        return [("lifetime", f"{{lifetime}} and {{{rules[0]}}} both say how long a pseudonym lives. Give one of them")]
    if files > 1 and (values["lifetime"] or values["period"]):
        stated = "lifetime" if values["lifetime"] else "period"
        return [(stated, f"each table is a period, so {{{stated}}} does not apply. Give one table, or remove it")]
    if files == 1 and not (values["lifetime"] or rules):
        return [
            (
                "lifetime",
                "how long a pseudonym lives is missing. Give {lifetime}, {period}, or {pseudonym}, or a second table",
            )
        ]
    return []


@dataclass(frozen=True, kw_only=True)
class LinkSettings(TableColumnSettings, TextFileSettings, LimitSettings, SeedSettings):
    """The settings of linking records of the same person."""

    tables: tuple[Any, ...] = setting(
        (),
        "Tables with several records per person",
        "One row per record. Several tables of the same people are periods, in their order.",
        kind="tables",
        required=True,
        is_bare=True,
    )
    person: str = setting(
        "",
        "Column that identifies a person",
        "It is the truth. The attacker never sees it.",
        kind="column",
        of="tables",
        required=True,
        place="default",
        metavar="COLUMN",
        group="Columns",
    )
    time: str = setting(
        "",
        "Column of times",
        "Dates with or without hours, or numbers of days.",
        kind="column",
        of="tables",
        place="default",
        metavar="COLUMN",
        group="Columns",
    )
    lifetime: tuple[str, ...] = setting(
        (),
        "Pseudonym lifetimes, such as 1d,7d",
        "A number with min, h, d or w: all pseudonyms change at the same moments. Or '5 records', or none for a new "
        "pseudonym with each record. Several are compared.",
        example="1d, 7d",
        place="default",
        metavar="TEXT",
        group="Columns",
    )
    period: str = setting(
        "",
        "Column of periods, such as the year",
        "A person has one pseudonym in each period.",
        kind="column",
        of="tables",
        place="default",
        metavar="COLUMN",
        group="Columns",
    )
    pseudonym: str = setting(
        "",
        "Column of released pseudonyms",
        "The attacker knows that records with the same pseudonym belong to one person.",
        kind="column",
        of="tables",
        place="default",
        metavar="COLUMN",
        group="Columns",
    )
    columns: tuple[str, ...] = setting(
        (),
        "Columns to compare (default: all suitable)",
        "By default all columns but those above, free text, and identifiers.",
        kind="columns",
        of="tables",
        fold=MORE,
        place="default",
        group="Columns",
    )
    within: tuple[str, ...] = setting(
        (),
        "Columns of groups the attacker already knows",
        "Chance is then that of guessing within these groups.",
        kind="columns",
        of="tables",
        fold=MORE,
        group="Columns",
    )
    group_by: tuple[str, ...] = setting(
        (),
        "Report the linked records by subgroup",
        kind="columns",
        of="tables",
        fold=MORE,
        option="--group-by",
        group="Output",
    )
    keep_identifiers: bool = setting(False, "Also compare columns that identify people", fold=MORE, group="Columns")
    at: str = setting(
        "",
        "Lifetime to analyze in full (default: the last)",
        fold=MORE,
        metavar="TEXT",
        group="Attack",
    )
    learned: bool = setting(
        False,
        "Also attack with weights learned on other people",
        "A random half of the people teaches the attacker, and the other half is attacked.",
        fold=MORE,
        group="Attack",
    )
    points: Any = setting(
        "1,2,4",
        "Numbers of records the attacker knows",
        "For unicity: how often known records fit one person only.",
        fold=MORE,
        kind="text",
        objects=True,
        metavar="N,N",
        group="Attack",
    )
    generalize: tuple[str, ...] = setting(
        (),
        "Generalizations for unicity: COLUMN:STEP,STEP",
        "A step is 2digits (the first characters of a value), a width for numbers, or 6h or 1d for the time column.",
        many=True,
        fold=MORE,
        metavar="COLUMN:STEP",
        example="stop:2digits,3digits",
        group="Attack",
    )
    alpha: Fraction = setting(
        "1/2",
        "α: weight of miss vs. include errors",
        fold=MORE,
        place="config",
        section="tuning",
    )
    beta: Fraction = setting(
        "4/5",
        "β: share of records that counts as a breach",
        fold=MORE,
        metavar="SHARE",
        group="Attack",
    )
    threshold: float | None = setting(
        None,
        "Largest acceptable excess risk, such as 0.09",
        "Excess risk is attack success minus chance.",
        least=0,
        most=1,
        whole=False,
        fold=MORE,
        place="default",
        metavar="VALUE",
        group="Decision",
    )
    draws: int = setting(
        2_000,
        "Permutations behind the p-value",
        least=100,
        most=1_000_000,
        fold=MORE,
        place="config",
        section="tuning",
    )
    people: int = setting(
        MOST_PEOPLE,
        "Most people to attack",
        "Above it, people are drawn at random. Fewer people are easier to link.",
        least=2,
        most=100_000,
        fold=MORE,
        group="Run",
    )
    shuffle: bool = setting(
        False,
        "Exchange people at random first, as a check",
        "Every result must then fall to chance.",
        fold=MORE,
        group="Run",
    )
    show_people: bool = setting(
        False,
        "Name the most exposed people (internal)",
        fold=MORE,
        group="Output",
    )
    threads: int | None = setting(
        None,
        "Threads (default: one per processor)",
        least=1,
        only="command line",
        place="run",
    )
    workers: int = setting(
        1,
        "Processes that compute parts of the answer",
        least=1,
        only="command line",
        place="run",
    )
    cluster: str | None = setting(
        None,
        "Address of a Dask cluster",
        only="command line",
        metavar="ADDRESS",
        place="run",
    )


QUESTION = Question(
    name="link",
    command=("link",),
    title="Link records of the same person",
    lead="Can records of the same person be linked, across rows, tables, releases and time?",
    about=(
        "TABLES hold several records per person: visits, purchases, panel waves, or logs. State how long a released "
        "pseudonym lives, and unveil attacks: it links pseudonyms by the records behind them, without names. With "
        "several tables, each is a period with pseudonyms of its own."
    ),
    tries=(
        "unveil link visits.csv --person card --time when --lifetime 1d,2d,7d --html report.html",
        "unveil link wave1.csv wave2.csv --person id",
        "unveil link log.parquet --person user --pseudonym visit --time t --columns place",
        "unveil link claims.csv --person id --period year --limit records_linked=0.2",
        "unveil link --example",
    ),
    settings=LinkSettings.table(),
    sample="Generated bus trips of 80 people in four weeks, with a card, a time and a stop.",
    sample_by_default=False,
    of_sample={"person": "card", "time": "time", "lifetime": ("1d", "2d", "4d", "7d", "14d"), "at": "7d"},
    together=_one_rule,
)

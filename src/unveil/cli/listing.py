"""``unveil list``: the metrics, attacks and protections there are, from the same listings that everything else uses."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from unveil.measure._listing import Metric

Facts = Mapping[str, Any]
#: What others ask of privacy metrics (Zhao & Wagner, 2.4): each is a fact of a metric.
CRITERIA = ("chance_of_success", "level_and_potential", "resources", "aspect")


def _metrics() -> list[Facts]:
    from unveil.measure import METRICS

    return [_facts(metric) for metric in METRICS.values()]


def _facts(metric: "Metric") -> Facts:
    """Return every field of a metric but its function, so that a new fact shows up here by itself, and its grades."""
    from unveil.show.trust import trust_of

    facts = {field.name: getattr(metric, field.name) for field in fields(metric) if field.name != "function"}
    facts["bounds"] = [float(bound) if isfinite(bound) else None for bound in metric.bounds]
    # What others ask of privacy metrics stands together: two of the four are said by the metric otherwise.
    facts |= {name: facts.pop(name, getattr(metric, name)) for name in CRITERIA}
    facts["trust"] = trust_of(metric.name)
    # The two that are sentences come last, where they do not push the others out of sight.
    source = facts.pop("source")
    return {**facts, "summary": metric.summary, "source": source}


def _protections() -> list[Facts]:
    from unveil.protect import PROTECTIONS

    return [protection.facts for protection in PROTECTIONS.values()]


def _attacks() -> list[Facts]:
    from unveil.attack import ATTACKS

    return [attack.facts for attack in ATTACKS.values()]


#: What can be listed, and the facts of each thing in the order to show them. A new listing is one line here.
LISTINGS: Mapping[str, Callable[[], list[Facts]]] = MappingProxyType(
    {"metrics": _metrics, "attacks": _attacks, "protections": _protections}
)


@click.command("list")
@click.argument("what", type=click.Choice(list(LISTINGS)))
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON (no bound is null), and nothing else.")
def list_things(what: str, as_json: bool) -> None:
    """Show the metrics, attacks or protections there are, with the facts of each."""
    things = LISTINGS[what]()
    if as_json:
        click.echo(json.dumps(things, indent=2))
    elif not things:
        click.echo(f"There are no {what} in this version of unveil yet.")
    else:
        _print(things)


def _print(things: list[Facts]) -> None:
    """Print a table: in a pipe one line per thing, on a terminal as many lines as its facts need."""
    from unveil.show.blocks import Table
    from unveil.show.terminal import output, show_table

    heads = tuple(key.replace("_", " ") for key in things[0])
    rows = tuple(tuple(_text(value) for value in thing.values()) for thing in things)
    if not output().is_terminal:
        show_table(Table(caption="", columns=heads, rows=rows, align=tuple("left" for _ in heads)))
        return
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2, 0, 0))
    for thing, row in zip(things, rows, strict=True):
        named = zip(thing, heads, row, strict=True)
        facts = "; ".join(f"{head}: {text}" for key, head, text in named if key not in ("name", "summary"))
        grid.add_row(Text(thing["name"], "bold"), Text.assemble(thing["summary"], "\n", (facts, "dim"), "\n"))
    output().print(grid, soft_wrap=False)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        from unveil.show.trust import MARKS

        # Only grades are told for several grounds; most metrics have none.
        return ", ".join(f"{ground} {MARKS[verdict]}" for ground, verdict in value.items() if verdict) or "not graded"
    if isinstance(value, list):
        low, high = value
        return f"{'-∞' if low is None else f'{low:g}'} to {'∞' if high is None else f'{high:g}'}"
    return "" if value is None else str(value)

"""``unveil list``: the available metrics, attacks and protections."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from unveil._registry import brought_by
from unveil._specification import own_module
from unveil.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

    from unveil.metrics._listing import Metric

Facts = Mapping[str, Any]
#: What others ask of privacy metrics (Zhao & Wagner, 2.4): each is a fact of a metric.
CRITERIA = ("chance_of_success", "level_and_potential", "resources", "aspect")


def _metrics(module: "ModuleType | None") -> list[Facts]:
    from unveil.metrics import METRICS

    listed = list(METRICS.values())
    if module is not None:
        names = {id(made): name for name, made in vars(module).items() if not name.startswith("_")}
        own = [each for each in listed if id(each.function) in names and _is_of(each.function, module)]
        listed = [replace(each, name=f"{module.__name__}:{names[id(each.function)]}") for each in own]
    return [_facts(metric) for metric in listed]


def _is_of(function: Callable[..., Any], module: "ModuleType") -> bool:
    return function.__module__.partition(".")[0] == module.__name__.partition(".")[0]


def _facts(metric: "Metric") -> Facts:
    """Return a metric's public fields, with its grades."""
    from unveil.report.trust import trust_of

    facts = {field.name: getattr(metric, field.name) for field in fields(metric) if field.name != "function"}
    facts["bounds"] = [float(bound) if isfinite(bound) else None for bound in metric.bounds]
    # What others ask of privacy metrics stands together: two of the four are said by the metric otherwise.
    facts |= {name: facts.pop(name, getattr(metric, name)) for name in CRITERIA}
    facts["reliability"] = trust_of(metric.name)
    # The two that are sentences come last, where they do not push the others out of sight.
    source = facts.pop("source")
    return {**facts, "summary": metric.summary, "source": source}


def _protections(module: "ModuleType | None") -> list[Facts]:
    from unveil.protections import PROTECTIONS, Protection

    listed = PROTECTIONS.values()
    return [each.facts for each in (listed if module is None else brought_by(module, Protection, listed))]


def _attacks(module: "ModuleType | None") -> list[Facts]:
    from unveil.attacks import ATTACKS, Attack

    listed = ATTACKS.values()
    return [each.facts for each in (listed if module is None else brought_by(module, Attack, listed))]


#: What can be listed, and the facts of each thing in the order to show them: of all that unveil has, or of those that a
#: module brings. A new listing is one line here.
LISTINGS: Mapping[str, Callable[["ModuleType | None"], list[Facts]]] = MappingProxyType(
    {"metrics": _metrics, "attacks": _attacks, "protections": _protections}
)


@click.command("list")
@click.argument("what", type=click.Choice(list(LISTINGS)), required=False)
@click.option(
    "--from",
    "origin",
    metavar="PACKAGE.MODULE",
    help="List those of your own module, by their names",
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON")
def list_things(what: str | None, origin: str | None, as_json: bool) -> None:
    """List attacks, protections, or metrics, with the facts of each.

    \b
    Try:  unveil list attacks
          unveil list --from package.module
    """  # noqa: D301  (click needs the control character itself)
    if origin is None and what is None:
        raise click.UsageError(f"The list is missing. Give one of: {', '.join(LISTINGS)}", click.get_current_context())
    module = None if origin is None else own_module(origin)
    found = {each: LISTINGS[each](module) for each in ([what] if what else LISTINGS)}
    if as_json:
        click.echo(json.dumps(found[what] if what else found, indent=2))
        return
    if not any(found.values()):
        raise InputError(_brings_nothing(str(origin), " or ".join(found)))
    for each, things in found.items():
        if things:
            if what is None:
                click.echo(f"{each}:")
            _print(things)


def _brings_nothing(origin: str, kinds: str) -> str:
    return (
        f"{origin} has no {kinds}. An attack is a class with run(self, *, released, knowledge, rng), a protection one "
        "with apply(self, original, *, rng), a metric a function below @unveil.metrics.metric(...). Give their module, "
        "or import them in it"
    )


def _print(things: list[Facts]) -> None:
    """Print a table, with one line per row in a pipe."""
    from unveil.report.blocks import TableBlock
    from unveil.report.terminal import output, show_table

    heads = tuple(key.replace("_", " ") for key in things[0])
    rows = tuple(tuple(_text(value) for value in thing.values()) for thing in things)
    if not output().is_terminal:
        show_table(TableBlock(caption="", columns=heads, rows=rows, align=tuple("left" for _ in heads)))
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
        # Only the reliability has several grounds; most metrics have none.
        return ", ".join(f"{ground} {word}" for ground, word in value.items() if word) or "not graded"
    if isinstance(value, list):
        low, high = value
        return f"{'-∞' if low is None else f'{low:g}'} to {'∞' if high is None else f'{high:g}'}"
    return "" if value is None else str(value)

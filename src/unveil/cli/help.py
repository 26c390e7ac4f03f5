"""Help of commands: grouped options, all with --help-all."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from unveil.questions.settings import GROUPS

#: The names of commands in earlier versions.
RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "anonymize": "protect-graph",
        "partition": "unlinkability",
        "candidates": "attack-metrics",
        "digest": "verify",
    }
)
_SHOW_ALL = "unveil.help_all"
#: Options stand in a column of at most this width, so that their help stays on the same line.
_COLUMN = 34


class GroupedOption(click.Option):
    """An option with its help group and visibility."""

    def __init__(self, *args: Any, group: str, by_default: bool = False, **facts: Any) -> None:
        super().__init__(*args, **facts)
        self.group = group
        self.by_default = by_default

    def get_error_hint(self, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the current name of the option, for messages."""
        return f"'{self.opts[0]}'"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option by its current name, and its help."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        metavar = "" if self.is_flag else f" {self.make_metavar(ctx)}"
        more = "..." if self.multiple and self.metavar not in ("COLS", "NAMES") else ""
        return f"{self.opts[0]}{metavar}{more}", record[1]


class HelpfulArgument(click.Argument):
    """An argument with a line in help."""

    def __init__(self, *args: Any, line: str, **facts: Any) -> None:
        super().__init__(*args, **facts)
        self.line = line


class GroupedCommand(click.Command):
    """A command with grouped options in its help."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **facts: Any) -> None:
        super().__init__(*args, **facts)
        self.examples = tuple(examples)
        if any(isinstance(each, GroupedOption) and not each.hidden and not each.by_default for each in self.params):
            everything = GroupedOption(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help="Show all options",
                group="Run",
                by_default=True,
            )
            self.params.append(everything)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and options in their groups."""
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
        show_all = ctx.meta.get(_SHOW_ALL, False)
        for param in self.get_params(ctx):
            if isinstance(param, HelpfulArgument):
                groups["Input"].append((_plain(param.make_metavar(ctx)), param.line))
            elif isinstance(param, GroupedOption) and not (param.by_default or show_all):
                continue
            else:
                record = param.get_help_record(ctx)
                if record is not None:
                    groups[getattr(param, "group", "Run")].append(record)
        width = min(max(len(first) for records in groups.values() for first, _ in records), _COLUMN)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl([(f"{first:<{width}}", text) for first, text in records], col_max=_COLUMN)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one example, or all of them."""
        examples = self.examples if ctx.meta.get(_SHOW_ALL, False) else self.examples[:1]
        if examples:
            with formatter.section("Examples" if len(examples) > 1 else "Example"):
                for each in examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{each}\n")

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option for help, with a help of its own."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show this help"
        return option


def _plain(metavar: str) -> str:
    """Return the placeholder of an argument without the brackets around the whole."""
    inner = metavar.removesuffix("...")
    return f"{inner[1:-1]}{metavar[len(inner) :]}" if inner.startswith("[") and inner.endswith("]") else metavar


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
    if value and not ctx.resilient_parsing:
        ctx.meta[_SHOW_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()

"""The command line: parse, ask, show; nothing else."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

from unveil.cli.common import BAD_INPUT, INTERRUPTED, OUT_OF_MEMORY, WRITTEN, cannot_print, is_out_of_memory, sentence
from unveil.cli.help import RENAMED
from unveil.cli.values import refuse_blank
from unveil.errors import OwnCodeError, UnveilError, did_you_mean, own_error
from unveil.questions import QUESTIONS

#: The commands that are no question: their place and their one-line help.
_OTHERS = {
    "study": ("unveil.cli.study:study", "Run attacks over many scenarios and compare them."),
    "serve": ("unveil.cli.serve:serve", "Open the local web app; no data leaves this computer."),
    "list": ("unveil.cli.listing:list_things", "List attacks, protections, or metrics."),
    "verify": ("unveil.cli.verify:verify", "Check that a file is the one a report describes."),
    "schema": ("unveil.cli.schema:schema", "Print the JSON Schema of a result."),
    "warm-up": ("unveil.cli.warm_up:warm_up", "Compile now, so that the first audit starts faster."),
}
#: The groups of help; a command in none of them is hidden.
_GROUPS = {
    "Audit": ("audit", "plan", "tables", "graph", "link", "columns"),
    "Protect": ("split", "protect", "protect-graph"),
    "Attacks and metrics": ("reidentify", "unlinkability", "matching", "attack-metrics", "study", "grade-metrics"),
    "More": ("serve", "list", "verify"),
}
#: The questions that are commands of their own; those on studies are together in one.
_QUESTIONS = {home.command: name for name, home in QUESTIONS.items() if " " not in home.command}
_SUMMARIES = {command: QUESTIONS[name].summary for command, name in _QUESTIONS.items()}
_SUMMARIES |= {command: summary for command, (_, summary) in _OTHERS.items()}
_SHOWN = [command for group in _GROUPS.values() for command in group]
#: Every command with its one-line help, in the order of help; the hidden ones come last.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {command: _SUMMARIES[command] for command in (*_SHOWN, *(each for each in _SUMMARIES if each not in _SHOWN))}
)


class Commands(click.Group):
    """A command group that imports each command on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the command names in help order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command with this name, or None."""
        if cmd_name in _QUESTIONS:
            from unveil.cli.question import command_of

            return command_of(_QUESTIONS[cmd_name])
        if cmd_name not in _OTHERS:
            return None
        module, _, attribute = _OTHERS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the groups of commands without importing any."""
        for group, names in _GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:<14}", COMMANDS[name]) for name in names])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show help without arguments; keep the command for reports."""
        args = _with_current_name(args, ctx)
        ctx.meta[WRITTEN] = tuple(args)
        if not ctx.resilient_parsing:
            refuse_blank(args)
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the requested command, or suggest the closest name."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise click.UsageError(f"Unknown command {args[0]!r}.{did_you_mean(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and flush its output while errors can be handled."""
        if hasattr(sys.stdout, "reconfigure"):
            # A terminal that lacks a letter gets its number instead of a traceback.
            sys.stdout.reconfigure(errors="backslashreplace")
        result = super().invoke(ctx)
        if sys.stdout is not None:  # None where it was closed before we began
            sys.stdout.flush()
        return result

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and exit with its code.

        Of an error in the user's own class or function the traceback of that code is shown. Other errors that were not
        raised on purpose are not caught: a traceback is the right answer to a mistake of ours.
        """
        name = prog_name or "unveil"
        # Products of small matrices on several cores mostly wait for one another; numpy reads this when it is loaded.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if not standalone_mode:
            return super().main(args, name, complete_var, standalone_mode=False, **extra)
        _leave_no_core()
        try:
            code = super().main(args, name, complete_var, standalone_mode=False, **extra)
        except (UnveilError, click.ClickException) as error:
            code = _refused(error)
        except click.Abort:
            click.echo("unveil: stopped", err=True)
            code = INTERRUPTED
        except (Exception, SystemExit) as error:
            own = own_error(error)
            if own is not None and not is_out_of_memory(error):
                code = _refused(own)
            elif isinstance(error, (MemoryError, ImportError, OSError)):
                said = OUT_OF_MEMORY if is_out_of_memory(error) else cannot_print(error)
                click.echo(f"unveil: {said}", err=True)
                code = BAD_INPUT
            else:
                raise
        sys.exit(code or 0)


def _with_current_name(args: list[str], ctx: click.Context) -> list[str]:
    """Return the arguments with the current name of a renamed command."""
    if not args or args[0] not in RENAMED or ctx.resilient_parsing:
        return args
    click.echo(f"unveil: {args[0]!r} was renamed to {RENAMED[args[0]]!r}", err=True)
    return [RENAMED[args[0]], *args[1:]]


def _refused(error: Exception) -> int:
    """Print an error, with the traceback of failed user code."""
    click.echo(f"unveil: {sentence(error)}", err=True)
    if isinstance(error, OwnCodeError):
        click.echo(error.trace, err=True)
    return BAD_INPUT


def _leave_no_core() -> None:
    """Prevent core dumps, which would hold the tables."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


@click.group(
    "unveil",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="",
    subcommand_metavar="COMMAND [OPTIONS]",
    epilog="Try: unveil audit. Exit codes: 0 pass, 2 unusable input, 3 fail, 5 inconclusive.",
)
@click.version_option(package_name="unveil", message="%(prog)s %(version)s", help="Show the version")
def main() -> None:
    """Measure the disclosure risk of data before you release it."""

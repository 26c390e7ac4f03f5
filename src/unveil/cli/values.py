"""Values of options: limits, and the file or folder of a report."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import click

from unveil.errors import shortened
from unveil.report.limits import Limits, limit_name, parse_limit, quantity_hint


def refuse_blank(written: Sequence[str]) -> None:
    """Raise an error for an argument without a letter."""
    for place, text in enumerate(written):
        option, equals, value = text.partition("=")
        if text.startswith("--") and equals and not value.strip():
            before = option
        elif text.strip():
            continue
        else:
            before = written[place - 1] if place and written[place - 1].startswith("-") else ""
        raise click.UsageError(
            f"The value of {shortened(before)} is empty. Write one, or remove the option"
            if before
            else f"Argument {place + 1} is empty. Write the name of a file or command, or remove it"
        )


#: The largest number of names that a message lists.
_NAMED = 20


def limit_reader(meanings: Callable[[], Mapping[str, str]]) -> Callable[..., Limits]:
    """Return the callback of ``--limit`` for a question.

    ``meanings`` is called only when the option is used. The value ``help`` lists them and ends the command.
    """

    def read(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Limits:
        if not texts:
            return ()
        known = meanings()
        if "help" in texts:
            # One line each, so that the whole list fits on one screen.
            columns, longest = ctx.make_formatter().width, max(map(len, known), default=0)
            for name, meaning in known.items():
                line = f"{name:<{longest}}  {meaning}"
                click.echo(line if len(line) <= columns else f"{line[: columns - 1]}…")
            ctx.exit()
        return tuple(_read_limit(text, known, ctx, param) for text in texts)

    return read


def _read_limit(text: str, known: Mapping[str, str], ctx: click.Context, param: click.Parameter) -> tuple[str, float]:
    name, _, written = text.partition("=")
    name = limit_name(name, known)
    if name not in known:
        listed = f"Available: {', '.join(known)}." if len(known) <= _NAMED else "'--limit help' lists them."
        hint = quantity_hint(name, known) or f" {listed}"
        raise click.BadParameter(f"Unknown limit {name!r}.{hint}", ctx, param)
    limit = parse_limit(written)
    if limit is None:
        raise click.BadParameter(f"The limit on {name} is not a number. Write {name}=0.5", ctx, param)
    return name, limit


def report_target(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Return the report's file; refuse one that cannot be written."""
    if path is None:
        return None
    from unveil.data.files.write import is_link_of_others

    try:
        target = path.resolve()
        if target.is_dir():
            raise click.BadParameter(f"{str(path)!r} is a folder. Add the name of a file", ctx, param)
        if not target.parent.is_dir():
            raise click.BadParameter(f"The folder of {str(path)!r} does not exist. Make it first", ctx, param)
        if is_link_of_others(path):
            raise click.BadParameter(f"{str(path)!r} is a link of another user. Give another file", ctx, param)
        # A file is replaced through its folder; a device or a pipe is written to directly.
        written = (target,) if target.exists() and not target.is_file() else (target.parent, target)
        if not all(os.access(place, os.W_OK) for place in written if place.exists()):
            raise click.BadParameter(f"{str(path)!r} is not writable. Give another file", ctx, param)
    except (OSError, ValueError, RuntimeError) as error:  # a name that is too long, links that go round in circles
        raise click.BadParameter(f"{str(path)!r} is not a valid file name. Give another one", ctx, param) from error
    return path


def folder_target(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Return an output folder; refuse one in use."""
    if path is None:
        return None
    from unveil.data.files.write import full_folder

    try:
        if reason := full_folder(path):
            raise click.BadParameter(reason, ctx, param)
        if not os.access(path.resolve().parent, os.W_OK):
            raise click.BadParameter(f"{str(path)!r} cannot be made: no permission. Give another folder", ctx, param)
    except (OSError, ValueError, RuntimeError) as error:  # as for a file
        raise click.BadParameter(f"{str(path)!r} is not a valid folder name. Give another one", ctx, param) from error
    return path


def refuse_overwriting(target: Path | None, inputs: Iterable[Path | None], *, option: str = "--html") -> None:
    """Raise an error if the report would replace an input."""
    for path in inputs:
        if target is not None and path is not None and exists(target) and exists(path) and target.samefile(path):
            raise click.BadParameter(
                f"{str(target)!r} is an input. Give another file for the report",
                param_hint=f"'{option}'",
            )


def refuse_replacing(target: Path | None, folders: Iterable[Path], *, option: str = "--html") -> None:
    """Raise an error if the report would replace a study's file."""
    for folder in folders:
        if target is None or target.suffix in (".html", ".tex") or not exists(target) or not exists(folder):
            continue
        if target.resolve().is_relative_to(folder.resolve()):
            raise click.BadParameter(
                f"{str(target)!r} is a file of the study. Give another file for the report",
                param_hint=f"'{option}'",
            )


def exists(path: Path | str) -> bool:
    """Return whether such a file exists; invalid names do not.

    >>> exists("x" * 10_000)
    False
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False

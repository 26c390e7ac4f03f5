"""What is written after an option: limits, and the file or the folder that a report goes to."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import click

from unveil.errors import shortened
from unveil.report.limits import Limits, limit_name, parse_limit, quantity_hint


def refuse_blank(written: Sequence[str]) -> None:
    """Raise an error for an argument without a letter: it would be taken for an option that was never given."""
    for place, text in enumerate(written):
        option, equals, value = text.partition("=")
        if text.startswith("--") and equals and not value.strip():
            before = option
        elif text.strip():
            continue
        else:
            before = written[place - 1] if place and written[place - 1].startswith("-") else ""
        raise click.UsageError(
            f"the text after {shortened(before)} is empty. Write its value, or leave the option out"
            if before
            else f"argument {place + 1} is empty, and must be a name. Name the file or the command, or leave it out"
        )


#: So many quantities are named in a message.
_NAMED = 20


def limit_reader(meanings: Callable[[], Mapping[str, str]]) -> Callable[..., Limits]:
    """Return the callback of ``--limit`` for a question whose quantities have these meanings.

    ``meanings`` is called only when the option is used. The value ``help`` lists them and ends the command.
    """

    def read(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Limits:
        if not texts:
            return ()
        known = meanings()
        if "help" in texts:
            formatter = ctx.make_formatter()
            formatter.write_dl(list(known.items()))
            click.echo(formatter.getvalue(), nl=False)
            ctx.exit()
        return tuple(_read_limit(text, known, ctx, param) for text in texts)

    return read


def _read_limit(text: str, known: Mapping[str, str], ctx: click.Context, param: click.Parameter) -> tuple[str, float]:
    name, _, written = text.partition("=")
    name = limit_name(name, known)
    if name not in known:
        listed = f"Choose from {', '.join(known)}." if len(known) <= _NAMED else "'--limit help' lists them."
        hint = quantity_hint(name, known) or f" {listed}"
        raise click.BadParameter(f"there is no quantity {name!r}.{hint}", ctx, param)
    limit = parse_limit(written)
    if limit is None:
        raise click.BadParameter(f"{name} needs a number, as in {name}=0.5", ctx, param)
    return name, limit


def report_target(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Return the file of a report, or refuse one that cannot be written before anything long is computed for it."""
    if path is None:
        return None
    from unveil.data.files.write import is_link_of_others

    try:
        target = path.resolve()
        if target.is_dir():
            raise click.BadParameter(f"{str(path)!r} is a folder. Add the name of the file", ctx, param)
        if not target.parent.is_dir():
            raise click.BadParameter(f"the folder of {str(path)!r} does not exist. Make it first", ctx, param)
        if is_link_of_others(path):
            raise click.BadParameter(f"{str(path)!r} is a link that another user made. Name another file", ctx, param)
        # A file is replaced through its folder; a device or a pipe is written to directly.
        written = (target,) if target.exists() and not target.is_file() else (target.parent, target)
        if not all(os.access(place, os.W_OK) for place in written if place.exists()):
            raise click.BadParameter(f"{str(path)!r} may not be written by this user", ctx, param)
    except (OSError, ValueError, RuntimeError) as error:  # a name that is too long, links that go round in circles
        raise click.BadParameter(f"{str(path)!r} is no usable file name", ctx, param) from error
    return path


def folder_target(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Return the folder that files go to, or refuse one that is in use before anything long is computed for it."""
    if path is None:
        return None
    from unveil.data.files.write import full_folder

    try:
        if reason := full_folder(path):
            raise click.BadParameter(reason, ctx, param)
        if not os.access(path.resolve().parent, os.W_OK):
            raise click.BadParameter(f"{str(path)!r} may not be made by this user. Name another folder", ctx, param)
    except (OSError, ValueError, RuntimeError) as error:  # as for a file
        raise click.BadParameter(f"{str(path)!r} is no usable name of a folder", ctx, param) from error
    return path


def refuse_overwriting(target: Path | None, inputs: Iterable[Path | None], *, option: str = "--html") -> None:
    """Raise an error if the report would replace one of the files it is made from."""
    for path in inputs:
        if target is not None and path is not None and exists(target) and exists(path) and target.samefile(path):
            raise click.BadParameter(
                f"{str(target)!r} is an input, which a report must not replace. Name another file",
                param_hint=f"'{option}'",
            )


def refuse_replacing(target: Path | None, folders: Iterable[Path], *, option: str = "--html") -> None:
    """Raise an error if the report would replace a file of a study; another report that lies there may be replaced."""
    for folder in folders:
        if target is None or target.suffix in (".html", ".tex") or not exists(target) or not exists(folder):
            continue
        if target.resolve().is_relative_to(folder.resolve()):
            raise click.BadParameter(
                f"{str(target)!r} is a file of the study, which a report must not replace. Name another file",
                param_hint=f"'{option}'",
            )


def exists(path: Path | str) -> bool:
    """Return whether there is such a file; a name that no file can have (too long, say) is not an error.

    >>> exists("x" * 10_000)
    False
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False

"""``unveil verify``: check that a file is the one a report describes."""

from pathlib import Path

import click

from unveil.cli.help import GroupedCommand, GroupedOption, HelpfulArgument


def _verify(files: tuple[Path, ...], key: str | None) -> None:
    """Print the keyed digest of each file."""
    from unveil.data.files.digest import digest_of_file, read_key
    from unveil.report.text import one_line

    secret = read_key(key or click.prompt("Key", hide_input=True, err=True))
    for file in files:
        click.echo(f"{digest_of_file(file, secret)}  {one_line(click.format_filename(file))}")


# The key is in the internal report of the same audit: without it the digest of a file cannot be tried out. Other users
# of this computer may see the arguments of a command, so that it is asked for.
verify = GroupedCommand(
    "verify",
    params=[
        HelpfulArgument(["files"], nargs=-1, required=True, type=click.Path(path_type=Path), line="Files to check"),
        GroupedOption(
            ["--key"], metavar="DIGITS", group="Run", by_default=True, help="Key of the internal report (default: ask)"
        ),
    ],
    callback=_verify,
    help="Print the digest of each file; equal digests mean equal files.",
    examples=("unveil verify people.csv masked.csv",),
)

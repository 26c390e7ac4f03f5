"""``unveil digest``: is this the file that a shareable report is about?"""

from pathlib import Path

import click


@click.command("digest")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--key", metavar="DIGITS", help="The key of the internal report; asked for, unseen, if not given.")
def digest(files: tuple[Path, ...], key: str | None) -> None:
    """Print the keyed digest of each of the FILES, as the shareable report of an audit states it.

    The key stands in the internal report of the same audit. Whoever holds both can show that a file is the one that
    was audited; without the key nobody can try files. Other users of this machine may see what is written after
    --key, so leave it out there.

    \b
    Try:  unveil digest people.csv masked.csv
    """  # noqa: D301  (click needs the control character itself)
    from unveil.data.files.digest import digest_of_file, read_key
    from unveil.report.text import one_line

    secret = read_key(key or click.prompt("Key", hide_input=True, err=True))
    for file in files:
        click.echo(f"{digest_of_file(file, secret)}  {one_line(click.format_filename(file))}")

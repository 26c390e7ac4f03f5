"""``unveil warm-up``: compile in advance, for container images and new computers."""

import sys
from time import perf_counter

import click


@click.command("warm-up")
@click.option(
    "--cores", type=click.IntRange(1, 1024), metavar="N", help="Processes that compile (default: one per processor)"
)
@click.option("--quiet", is_flag=True, help="Print only errors")
def warm_up(*, cores: int | None, quiet: bool) -> None:
    """Compile now, so that the first audit starts faster.

    It saves some seconds, once per computer and version. The compiled code goes into a folder that is printed
    (NUMBA_CACHE_DIR names another one). Run it on the computer, or in the container image, that will run unveil.

    \b
    Try:  unveil warm-up
    """  # noqa: D301  (click needs the control character itself)
    from unveil._kernels import _warm_up
    from unveil._kernels.threads import processors

    many = cores or processors()
    names = [name for name, loop in _warm_up.listed_loops().items() if loop.types]
    began = perf_counter()
    hidden = quiet or not sys.stderr.isatty()
    with click.progressbar(
        _warm_up.warm_up(names, many), length=len(names), label="compiling", file=sys.stderr, hidden=hidden
    ) as ready:
        done = list(ready)
    if quiet:
        return
    new = [each for each in done if each.seconds > 0]
    seconds = perf_counter() - began
    click.echo(
        f"{len(done)} loop{'s are' if len(done) != 1 else ' is'} ready, {len(new)} of them compiled now, "
        f"in {seconds:.0f} s "
        f"({many} process{'es' if many > 1 else ''}, {sum(each.seconds for each in new):.0f} s of compiling)"
    )
    folder = _warm_up.folder_of(done)
    click.echo(
        f"The compiled code is in {click.format_filename(folder)}"
        if folder
        else "The compiled code cannot be stored: no folder is writable. Name one with NUMBA_CACHE_DIR"
    )

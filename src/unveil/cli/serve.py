"""``unveil serve``: the same answers on a page, for people who do not use a terminal."""

import click


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Where to listen; any port that is free unless given. A port that others can foresee is less safe.",
)
@click.option("--no-open", is_flag=True, help="Only print the address, and open no browser.")
@click.option(
    "--limit-mb",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="How many megabytes a file may have; 512 unless given. Four such files may be kept.",
)
def serve(*, port: int | None, no_open: bool, limit_mb: int | None) -> None:
    """Show the questions on a page: drop tables, press one button, read and keep the report.

    The page answers on this machine only (127.0.0.1), to the browser that opens the printed address first. Nothing
    leaves the machine. Files and results lie in a private folder that is removed when the server stops (Ctrl-C).

    \b
    Try:  unveil serve
          unveil serve --port 9000 --no-open
    """  # noqa: D301  (click needs the control character itself)
    from unveil.web.serve import ServeOptions, limits_of, serve

    serve(ServeOptions(port=port, open_browser=not no_open, limits=limits_of(limit_mb)), tell=click.echo)

"""``unveil serve``: the local web app."""

import click


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Port (default: any free one, which is safer)",
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser")
@click.option(
    "--limit-mb",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Largest file, in megabytes (default: 512)",
)
def serve(*, port: int | None, no_open: bool, limit_mb: int | None) -> None:
    """Open the local web app; no data leaves this computer.

    It answers on 127.0.0.1 only, to the first browser that opens the printed address. Files and results are in a
    private folder that is removed when the app stops (Ctrl-C).

    \b
    Try:  unveil serve
          unveil serve --port 9000 --no-open
    """  # noqa: D301  (click needs the control character itself)
    from unveil.web.serve import ServeOptions, limits_of, serve

    serve(ServeOptions(port=port, open_browser=not no_open, limits=limits_of(limit_mb)), tell=click.echo)

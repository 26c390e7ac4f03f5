"""How far a run of a study is: a bar in a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from unveil.report.studies import far

if TYPE_CHECKING:
    from unveil.work.run import Progress

#: How many seconds lie between two lines of progress where there is no terminal.
EVERY = 30.0
# A run that takes less is over before anybody has read how long it takes.
_WORTH_TELLING = 10.0


@contextmanager
def moving(*, quiet: bool, every: float = EVERY) -> Iterator["Progress | None"]:
    """Yield what a run calls after each scenario: it moves a bar, or prints a line now and then where none is seen."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _lines(every)
        return
    from unveil.report.terminal import progress

    with progress() as bar:

        def move(done: int, total: int, left: float) -> None:
            bar(far(done, total, left), done / total)

        bar("starting", 0.0)
        yield move


def _lines(every: float) -> "Progress":
    last, told = time.monotonic(), False

    def tell(done: int, total: int, left: float) -> None:
        nonlocal last, told
        first, told = not told and left >= _WORTH_TELLING, True
        if first or done == total or time.monotonic() - last >= every:
            last = time.monotonic()
            click.echo(far(done, total, left), err=True)

    return tell

"""What all questions on the command line share: options, exit codes, how an answer is shown and an error said."""

import errno
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from unveil.cli.values import Limits, Quantity, check_limits, limit_reader, report_target
from unveil.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from unveil.show.blocks import Number

BAD_INPUT = 2
LIMIT_EXCEEDED = 3
INTERRUPTED = 130
#: What is said where the memory of the machine, or the limit set for the process, is used up.
OUT_OF_MEMORY = (
    "the data must fit into the memory that this process may use, but do not. Take fewer rows or columns, close other "
    "programs, or raise the limit (ulimit -v)"
)
#: Where the context keeps the arguments as they were written.
WRITTEN = "unveil.written"

Command = Callable[..., None]


class Answer(Protocol):
    """What a question returns, as far as the command line needs to know it."""

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """The figures that a limit can be set for."""

    def to_json(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as JSON."""

    def to_html(self, *, limits: Sequence[Mapping[str, Any]] = (), seed: int | None = None) -> str:
        """Return the answer as one HTML page."""


#: What help says of the seed of a command that writes a release.
SEED_OF_RELEASE = (
    "Where randomness starts. Whoever knows it can undo the release: give one only to try things out. Without it, "
    "random numbers are drawn in secret."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the user asked of any question: where the answer goes, and what would be too much."""

    as_json: bool
    html: Path | None
    seed: int | None
    quiet: bool
    limits: Limits
    #: Whether the seed would undo what the answer protects: then it is drawn in secret unless one is given.
    secret: bool = False

    @property
    def rng(self) -> "np.random.Generator":
        """A new source of randomness that gives the same numbers for the same seed, and without one, secret numbers."""
        import numpy as np

        return np.random.default_rng(self.seed)


def question_options(
    meanings: Callable[[], Mapping[str, str]], *, secret: bool = False
) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of every question, handed over together as ``options``.

    ``meanings`` returns what each quantity of the question means; it is called only when a limit is set. ``secret`` is
    for commands that write a release: whoever knows the seed could undo it, so there is no default that all know.
    """
    shared = [
        click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, and nothing else."),
        click.option(
            "--html",
            type=click.Path(path_type=Path),
            metavar="FILE",
            callback=report_target,
            help="Write a report to FILE: one page that needs no network.",
        ),
        click.option(
            "--limit",
            "limits",
            multiple=True,
            metavar="QUANTITY=VALUE",
            is_eager=True,  # so that '--limit help' needs no files
            callback=limit_reader(meanings),
            help="Exit with code 3 if QUANTITY is greater than VALUE (less, where more of it is more private), or "
            "undefined because the harm is already done. May be repeated; '--limit help' lists the quantities.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=None if secret else 0,
            show_default=not secret,
            metavar="INTEGER",
            help=SEED_OF_RELEASE if secret else "Where randomness starts: the same seed gives the same answer.",
        ),
        click.option("--quiet", is_flag=True, help="Print errors and exceeded limits only (and JSON if asked for)."),
    ]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(
            *, as_json: bool, html: Path | None, seed: int | None, quiet: bool, limits: Limits, **settings: Any
        ) -> None:
            refuse_tight_memory()
            options = Options(as_json=as_json, html=html, seed=seed, quiet=quiet, limits=limits, secret=secret)
            command(options=options, **settings)

        wrapped: Command = run
        for option in reversed(shared):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def show(
    answer: Answer,
    options: Options,
    *,
    as_text: Callable[[], None],
    as_page: Callable[..., str] | None = None,
    as_json: Callable[..., str] | None = None,
    more_pages: Sequence[tuple[Path, Callable[..., str]]] = (),
    also_exceeded: Sequence[str] = (),
) -> None:
    """Write what was asked for, then exit with 3 if a limit is exceeded.

    The page comes first, so that whatever is printed about it is true; ``as_text`` prints the answer for a person,
    ``as_page`` and ``as_json`` make another page or JSON than the answer itself, with the same arguments, and
    ``more_pages``, which are made to be passed on, are written beside. ``also_exceeded`` are messages on limits that
    were set in another way.
    """
    checked = check_limits(answer.quantities, options.limits)
    limits = [limit.to_dict() for limit in checked]
    own = [] if options.html is None else [(options.html, as_page or answer.to_html)]
    for pages, shared in ((own, False), (more_pages, True)):
        for path, page in pages:
            _write_page(page, limits, options, path, shared=shared)
    if options.as_json:
        # JSON is UTF-8 whatever the terminal speaks.
        click.echo((as_json or answer.to_json)(limits=limits, seed=options.seed).rstrip("\n").encode())
    elif not options.quiet:
        as_text()
        click.echo(f"\n{_said_of_seed(options)}")
        for path, _ in (*own, *more_pages):
            click.echo(f"The report is in {one_line(click.format_filename(path))}")
    for message in (*(limit.message for limit in checked if limit.message), *also_exceeded):
        click.echo(one_line(message), err=True)
    if also_exceeded or any(limit.exceeded for limit in checked):
        click.get_current_context().exit(LIMIT_EXCEEDED)


def _write_page(
    as_page: Callable[..., str], limits: Sequence[Mapping[str, Any]], options: Options, path: Path, *, shared: bool
) -> None:
    from unveil.data.files.write import write_text
    from unveil.show.terminal import progress

    with progress(quiet=options.quiet) as report:
        report("writing the report", 0.0)
        # A page may be passed on, and then the seed must not be on it.
        write_text(path, as_page(limits=limits, seed=None if options.secret else options.seed), shared=shared)


def _said_of_seed(options: Options) -> str:
    if not options.secret:
        return f"Seed {options.seed}: the same seed and input give the same answer."
    if options.seed is None:
        return "Random numbers were drawn in secret: nobody can make this release again."
    return f"Seed {options.seed}: whoever knows it can undo the release, so keep it as secret as who is who."


def show_figures(numbers: Iterable["Number"]) -> None:
    """Print each figure on a line, beside what random guessing would give, and below it what it means."""
    from rich.padding import Padding
    from rich.text import Text

    from unveil.show.terminal import output

    console = output()
    for number in numbers:
        beside = f"  (random guessing: {number.reference})" if number.reference else ""
        console.print(Text.assemble(f"{number.label}: ", (number.value, "bold"), (beside, "dim")))
        if console.is_terminal:
            console.print(Padding(Text(number.meaning, "dim"), (0, 0, 0, 4)), soft_wrap=False)
        else:
            console.print(f"    {number.meaning}")


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error comes from memory that is used up, as it also does where a library cannot be loaded.

    >>> is_out_of_memory(ImportError("libm.so: failed to map segment from shared object"))
    True
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return isinstance(error, ImportError) and "failed to map segment" in str(error)


def refuse_tight_memory() -> None:
    """Refuse to start where the libraries alone would not fit: they end the process without a word, or never end."""
    from unveil.data.files.source import LEAST_MEMORY, most_memory

    most = most_memory()
    if most is not None and most < LEAST_MEMORY:
        raise InputError(
            f"unveil must be allowed {LEAST_MEMORY / 1e9:.1f} GB of memory, but the limit of this process is "
            f"{most / 1e9:.1f} GB. Raise it with: ulimit -v {LEAST_MEMORY // 1000}"
        )


def cannot_print(error: Exception) -> InputError:
    """Return the error for a full disk behind standard output; any other trouble of the system is raised again."""
    if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EDQUOT):
        raise error
    # What is still in the buffer would fail again, with a traceback, when Python ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return InputError(f"the answer cannot be printed ({error.strerror}). Free some space, or print elsewhere")


def sentence(error: Exception) -> str:
    """Return what went wrong as one line of text, and where help is if the command was misused."""
    if not isinstance(error, click.ClickException):
        return one_line(str(error))
    text = " ".join(error.format_message().split())
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = f"{text.rstrip('.')}{'' if text.endswith('?') else '.'} See '{error.ctx.command_path} --help'"
    return one_line(text)


def one_line(text: str) -> str:
    r"""Return the text with control characters spelled out, whatever the names in it hold.

    >>> print(one_line("a\x1b[2J\nb"))
    a\x1b[2J\nb
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)

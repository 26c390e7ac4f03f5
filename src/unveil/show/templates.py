"""Templates and other files of a package, read and rendered in one way: escaped, and strict about what is missing."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from unveil.show.text import shorten

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST_CELL = 80
LONGEST_SENTENCE = 800


@cache
def text_of(package: str, name: str) -> str:
    """Return the text of a file among the assets of a package, with plain line ends."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def environment_of(package: str) -> "Environment":
    """Return what renders the templates among the assets of a package; every text is escaped, long ones can be cut."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(lambda name: text_of(package, name)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = lambda text: shorten(str(text), LONGEST_CELL)
    environment.filters["sentence"] = lambda text: shorten(str(text), LONGEST_SENTENCE)
    return environment

"""Read and render package templates, escaped and strict."""

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from unveil.report.text import shorten

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LONGEST_CELL = 80
LONGEST_SENTENCE = 800
# An option of the command line. Browsers end a line at any of its hyphens unless they are told not to.
_OPTION = re.compile(r"(?<![\w-])--[a-z0-9]+(?:-[a-z0-9]+)*")


@cache
def text_of(package: str, name: str) -> str:
    """Return the text of a package asset, with plain line ends."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def environment_of(package: str) -> "Environment":
    """Return the template environment of a package's assets."""
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
    environment.filters["sentence"] = _sentence
    return environment


def _sentence(text: object) -> "Markup":
    """Return a sentence as HTML, shortened, with options unbroken."""
    from markupsafe import Markup, escape

    said = str(escape(shorten(str(text), LONGEST_SENTENCE)))
    return Markup(_OPTION.sub(r'<span class="option">\g<0></span>', said))  # noqa: S704  (escaped above)

"""The local page: it parses, calls ask in a process of its own, and serves; it never computes."""

import re
from dataclasses import dataclass
from pathlib import Path

from unveil.errors import UnveilError


@dataclass(frozen=True, kw_only=True)
class NamedFile:
    """An uploaded file: its path in the private folder, and the name its owner uses.

    The name is only ever shown. The path is made by us, and means nothing to the person.
    """

    path: Path
    name: str


class RefusedError(UnveilError):
    """A request that cannot be served, said in one sentence; ``status`` is what HTTP calls the reason."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def alone(sentence: str) -> str:
    """Return a message of the library as it stands alone, instead of after the name of the program in a terminal.

    >>> alone("the file is empty"), alone("k of k-degree must be a whole number")
    ('The file is empty', 'k of k-degree must be a whole number')
    """
    return re.sub(r"^(the|an?|there|no|none|column|it|choose|what|whose) ", lambda word: word[0].capitalize(), sentence)


#: What HTTP calls the reasons, in the words of people who do not know HTTP.
_TITLES = {
    403: "This page is private",
    404: "Page not found",
    405: "Not possible",
    421: "Wrong address",
    500: "unveil failed",
    503: "Busy",
}


def title_of(status: int) -> str:
    """Return what stands on top of a page that says why a request was not served.

    >>> title_of(404), title_of(418)
    ('There is nothing here', 'This cannot be done')
    """
    return _TITLES.get(status, _TITLES[405])

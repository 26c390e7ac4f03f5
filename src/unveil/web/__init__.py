"""Local web app: forms, worker processes, and reports; it computes nothing itself."""

import re
from dataclasses import dataclass
from pathlib import Path

from unveil.errors import UnveilError


@dataclass(frozen=True, kw_only=True)
class NamedFile:
    """Uploaded file: its path in the private folder, and its original name.

    The name is only ever shown. The path is made by us, and means nothing to the person.
    """

    path: Path
    name: str


class RefusedError(UnveilError):
    """Refused request with a one-sentence reason and an HTTP ``status``."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def alone(sentence: str) -> str:
    """Return a library message as a complete sentence.

    >>> alone("the file is empty"), alone("k of k-degree must be a whole number")
    ('The file is empty', 'k of k-degree must be a whole number')
    """
    first = r"^(the|an?|there|no|none|column|it|choose|what|whose|unknown|another|each|every|all) "
    return re.sub(first, lambda word: word[0].capitalize(), sentence)


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
    """Return the title of an error page.

    >>> title_of(404), title_of(418)
    ('Page not found', 'Not possible')
    """
    return _TITLES.get(status, _TITLES[405])

"""Files under the names that their owner gave them, wherever the library says where they lie."""

import html
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from unveil.web import NamedFile


class FileNames:
    """Replaces file paths by the names their owners use.

    >>> given = NamedFile(path=Path("/tmp/private/0123456789abcdef.csv"), name="people.csv")
    >>> FileNames({"original": [given]}).in_text("the file '/tmp/private/0123456789abcdef.csv' is empty")
    "the file 'people.csv' is empty"
    """

    def __init__(self, files: Mapping[str, Sequence[NamedFile]]) -> None:
        self.fields = {str(each.path): name for name, given in files.items() for each in given}
        # The longest first: a path holds the name of the file, and that its stem, which graphs are called by.
        pairs: dict[str, str] = {}
        for given in files.values():
            for each in given:
                pairs |= {str(each.path): each.name, each.path.name: each.name, _stem(each.path): each.name}
        self.names = sorted(pairs.items(), key=lambda pair: -len(pair[0]))

    def field(self, sentence: str) -> str:
        """Return the field of the file that a sentence names, or nothing."""
        found = [name for path, name in self.fields.items() if path in sentence]
        return found[0] if len(set(found)) == 1 else ""

    def in_text(self, text: str) -> str:
        """Return a text with the names of files in place of their paths."""
        return self._with(text, lambda each: each)

    def in_html(self, text: str) -> str:
        """Return the same for text that is escaped for HTML."""
        return self._with(text, html.escape)

    def in_json(self, text: str) -> str:
        """Return the same for JSON."""
        return self._with(text, lambda each: json.dumps(each)[1:-1])

    def _with(self, text: str, written: Callable[[str], str]) -> str:
        for path, name in self.names:
            text = text.replace(written(path), written(name))
        return text


def _stem(path: Path) -> str:
    """Return the name without any ending, where that is long enough to be nobody's word."""
    stem = path.name.partition(".")[0]
    return stem if len(stem) >= 16 else path.name

"""Sentences that single tests approve: one JSON file per test module, by test.

``pytest TESTS --approve`` writes them anew. Read the diff before you commit it.
"""

import fcntl
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_TIME = re.compile(r"computed in [\d.]+ \w+")


class Approved:
    """Compares each text of one test with the approved one, in the order of calls."""

    def __init__(self, module: str, test: str, *, approve: bool, private: str = "") -> None:
        self.path = HERE / f"{module.removeprefix('tests.')}.json"
        self.test, self.approve, self.private = test, approve, private
        self.texts: list[Any] = []

    def __call__(self, value: Any) -> None:
        """Compare a text, or texts, with what was approved; paths of this test's folder and times are left out."""
        __tracebackhide__ = True
        text = _TIME.sub("computed in TIME", json.dumps(value, ensure_ascii=False, default=str))
        self.texts.append(json.loads(text.replace(self.private, "TMP") if self.private else text))
        if not self.approve:
            place = len(self.texts) - 1
            approved = approved_in(self.path).get(self.test, ())
            assert place < len(approved), f"nothing approved in {self.path.name}: run with --approve"
            assert self.texts[place] == approved[place]

    def finish(self) -> None:
        """Write what was seen where it is approved; else check that nothing approved was left out."""
        if not self.approve:
            assert len(self.texts) == len(approved_in(self.path).get(self.test, ()))
            return
        with self.path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # other workers approve tests of the same module
            file.seek(0)
            approved = {**json.loads(file.read() or "{}"), self.test: self.texts}
            file.truncate(0)
            file.write(json.dumps(approved, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def approved_in(path: Path) -> dict[str, list[Any]]:
    """Return what a file approves, by test."""
    approved: dict[str, list[Any]] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return approved

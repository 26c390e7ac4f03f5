"""Worker process: read a task, compute the answer, write it, and end."""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unveil.errors import InputError, MissingExtraError, UnveilError
from unveil.web import NamedFile
from unveil.web._private import DISK_FULL, FULL, write_private

#: Progress is written at most so often, in seconds, unless a new step begins.
_PAUSE = 0.2
#: A page cannot offer a choice of role for each of more columns than this.
MOST_COLUMNS = 1_000
#: Characters of a reason that the page shows.
_LONGEST = 120

Files = Mapping[str, NamedFile | list[NamedFile]]


def main(folder: Path) -> int:
    """Run the task in the folder, and return 0 for an answer."""
    _guard_process()
    task = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    limit_memory(task.get("memory"))
    files = {name: _given(value) for name, value in task["files"].items()}
    try:
        if task["question"] == "look":
            done = _look_at(files)
        else:
            done = _answer(folder, task["question"], files, task["settings"])
    except UnveilError as error:
        done = {"error": str(error), "field": getattr(error, "field", "")}
    except MemoryError:
        done = {"error": "This needs more memory than this machine has to give. Take a smaller file, or fewer of them"}
    except OSError as error:
        if error.errno not in FULL:
            raise
        return DISK_FULL
    write_private(folder / "done.json", json.dumps(done))
    return 0


def _look_at(files: Files) -> dict[str, Any]:
    given = files["file"]
    if isinstance(given, list):
        raise TypeError("pass exactly one file")
    return {"look": look(given.path, given.name)}


def look(path: Path, name: str) -> dict[str, Any]:
    """Return a table's columns and their likely roles.

    Parameters
    ----------
    path
        The file, in a private folder.
    name
        The owner's name of the file, which messages use.

    Returns
    -------
    dict
        ``rows`` and ``columns``. Each column has ``name``, ``kind``, ``missing``, ``distinct`` (different values),
        ``suggestion`` (the role an audit would assume), ``uncertain`` (whether the kind is a guess), ``why`` (the
        reason for the kind), and ``warning`` for a possible direct identifier. For an unusable file, only ``error``.

    Examples
    --------
    >>> from unveil.data import samples
    >>> seen = look(samples.path("partition_truth.csv"), "truth.csv")
    >>> seen["rows"], [(each["name"], each["kind"], each["suggestion"]) for each in seen["columns"]]
    (24, [('item', 'text', 'identifier'), ('cluster', 'category', 'known')])
    """
    try:
        return _described(Path(path), name)
    except (InputError, MissingExtraError) as error:
        return {"error": str(error).replace(str(path), name)}


def _described(path: Path, name: str) -> dict[str, Any]:
    from unveil.data.identifiers.direct import direct_identifiers
    from unveil.data.table import Table

    _refuse_early(path, name)
    table = Table.read(path, name=name)
    flags = {flag.column: flag for flag in direct_identifiers(table)}
    columns = []
    for column in table.columns:
        values = table.series(column.name)
        flag = flags.get(column.name)
        seems = "" if flag is None else f"Looks like {_article(flag.looks_like)}. {flag.reason}"
        columns.append(
            {
                "name": column.name,
                "kind": column.kind,
                "missing": column.missing,
                "distinct": values.drop_nulls().n_unique(),
                "suggestion": column.role,
                "uncertain": column.confidence == "uncertain",
                "why": _sentence(column.reason.split("; ")[0].removeprefix(f"{column.kind}: ")),
                "warning": seems,
            }
        )
    return {"rows": table.rows, "columns": columns}


def _refuse_early(path: Path, name: str) -> None:
    """Refuse a table without header or with too many columns."""
    from unveil.data.files.header import is_surely_header
    from unveil.data.files.read import names_of
    from unveil.data.files.settings import FileSettings
    from unveil.data.files.source import open_source

    source = open_source(path)
    columns = names_of(source, FileSettings(header="yes"))
    number = len(columns)
    if not is_surely_header(source, columns):
        raise InputError(
            f"the first line of {name!r} looks like data, not like names of columns. Put a line with names above it "
            "and give the file again, or use the command line, where --read header=yes or header=no says what it is"
        )
    if number > MOST_COLUMNS:
        raise InputError(
            f"the file {name!r} has {number:,} columns, and this page shows at most {MOST_COLUMNS:,}. Keep those "
            "that matter, or use the command line"
        )


def _article(what: str) -> str:
    return f"{'an' if what[:1].lower() in 'aeiou' else 'a'} {what}"


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:_LONGEST]}."


def _answer(folder: Path, question: str, files: Files, settings: Mapping[str, Any]) -> dict[str, Any]:
    from unveil.web.questions import answer

    answered = answer(question, files, settings, reporter(folder))
    write_private(folder / "report.html", answered.html)
    write_private(folder / "answer.json", answered.json)
    for name, content in answered.outputs.items():
        write_private(folder / name, content)
    said = {name: getattr(answered, name) for name in ("headline", "tone", "label")}
    return {**said, "outputs": list(answered.outputs)}


def reporter(folder: Path) -> Callable[[str, float], None]:
    """Return a progress callback that writes to the folder."""
    last: tuple[str, float] = ("", 0.0)

    def report(step: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if step == last[0] and now - last[1] < _PAUSE and share < 1.0:
            return
        last = (step, now)
        with contextlib.suppress(OSError):  # how far it is matters less than the answer
            write_private(folder / "progress.json", json.dumps({"step": str(step), "share": float(share)}))

    return report


def _given(value: Any) -> NamedFile | list[NamedFile]:
    if isinstance(value, list):
        return [NamedFile(path=Path(each["path"]), name=each["name"]) for each in value]
    return NamedFile(path=Path(value["path"]), name=value["name"])


def _guard_process() -> None:
    """Protect private files, and end the worker with the server."""
    os.umask(0o077)
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        # A core file would hold the tables.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        # If memory runs out, the system takes the worker and leaves the page.
        Path("/proc/self/oom_score_adj").write_text("900", encoding="ascii")
    if sys.stdin is not None:
        lifeline = os.dup(0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        threading.Thread(target=_end_with_server, args=(lifeline,), daemon=True).start()


def _end_with_server(lifeline: int) -> None:
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    # Only a group of our own: a worker that was started by hand is in the group of the terminal.
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def limit_memory(limit: int | None) -> None:
    """Limit the memory of this process to N bytes, if supported."""
    if limit is not None:
        with contextlib.suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""Failures in a study: error texts and tracebacks."""

import traceback
from contextlib import suppress
from pathlib import Path

from unveil.data.files.whole_files import make_secret_folder, replace_file
from unveil.errors import UnveilError, own_error, where_raised
from unveil.studies.scenario import Scenario

ERRORS = "errors"


def told(error: BaseException) -> str:
    """Return an error as text; foreign errors show their place only."""
    if isinstance(error, UnveilError):
        return str(error)
    return f"{own_error(error) or where_raised(error)}; the folder {ERRORS!r} has the details"


def note_traceback(folder: Path, scenario: Scenario, error: BaseException) -> None:
    """Write a traceback next to the results, if possible."""
    own = own_error(error, with_text=True)
    trace = "".join(traceback.format_exception(error)) if own is None else own.trace
    with suppress(OSError):
        make_secret_folder(folder / ERRORS)
        text = f"{scenario.key}\n\n{trace}"
        replace_file(folder / ERRORS / f"{scenario.file_name}.txt", text.encode("utf-8", "backslashreplace"))

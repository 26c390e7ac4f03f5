"""How the tests run the scripts of the examples: as a user would, or in this process, which spares the imports."""

import io
import os
import runpy
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch


def run_script(script: Path, folder: Path, *arguments: str) -> str:
    """Return what a script prints that makes its picture in ``folder``, with warnings as errors."""
    from matplotlib import pyplot, rc_context

    said = io.StringIO()
    with (
        patch.object(sys, "argv", [str(script), "--out", str(folder), *arguments]),
        patch.object(sys, "path", [str(script.parent), *sys.path]),
        warnings.catch_warnings(),
        rc_context(),
        redirect_stdout(said),
    ):
        warnings.simplefilter("error")
        try:
            runpy.run_path(str(script), run_name="__main__")
        finally:
            pyplot.close("all")
    assert (folder / f"{script.stem}.png").read_bytes().startswith(b"\x89PNG")
    return said.getvalue()


def start_script(
    script: Path, folder: Path, *arguments: str, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Return how a script ends in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(script), "--out", str(folder), *arguments],
        env={**(os.environ if environment is None else environment), "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )

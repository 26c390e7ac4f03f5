"""A worker that does what the folder of a study tells it to, and answers every other question as the real one does."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from unveil.errors import InputError
from unveil.web import worker

#: What a mistake of ours may hold, and no page may show.
MARKER = "Zephyrine"
PROGRAM = (sys.executable, "-P", "-W", "ignore", "-m", "tests.web.stand_in")
REPORT = (
    '<!doctype html>\n<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'none'\">\n<p>fine &amp; well</p>\n"
)


def answer(question: str, files: worker.Files, settings: Any, progress: Callable[[str, float], None]) -> Any:
    """Return an answer, or do what the word says."""
    word, _, rest = str(settings["folder"]).removeprefix("/").partition(" ")
    progress(f"doing {word}", 0.25)
    if word == "wait":
        # A process of its own that would live on: what is cancelled must be cancelled with all that it started.
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(rest).write_text(json.dumps([os.getpid(), child.pid]), encoding="utf-8")
        time.sleep(600)
    elif word == "until":
        while not Path(rest).exists():
            time.sleep(0.01)
    elif word == "crash":
        raise RuntimeError(MARKER)
    elif word == "die":
        os.kill(os.getpid(), signal.Signals[rest])
    elif word == "leave":
        os._exit(int(rest))
    elif word == "refuse":
        error = InputError("the folder must hold a study, but is empty. Name another")
        error.field = "folder"  # type: ignore[attr-defined]
        raise error
    elif word == "full":
        raise OSError(errno.ENOSPC, "No space left on device")
    elif word == "no":
        raise MemoryError
    elif word == "memory":
        return bytes(int(rest))
    elif word == "connect":
        with socket.socket() as connection:
            connection.settimeout(1)
            connection.connect((rest, 80))
    elif word == "order":
        with Path(rest).open("a", encoding="utf-8") as stream:
            stream.write(f"{settings['metrics']}\n")
    elif word == "tell":
        return SimpleNamespace(
            html=f"{REPORT}{rest}", json=json.dumps(rest), headline=rest, tone="good", label="Good", outputs={}
        )
    return SimpleNamespace(
        html=REPORT, json='{"fine": true}', headline=f"It is <b>{word}</b>.", tone="good", label="Good", outputs={}
    )


def questions() -> ModuleType:
    """Return what a worker asks instead of the library."""
    module = ModuleType("unveil.web.questions")
    module.answer = answer  # type: ignore[attr-defined]
    return module


def main(folder: Path) -> int:
    """Do the task in the folder."""
    if json.loads((folder / "job.json").read_text(encoding="utf-8"))["question"] == "study":
        sys.modules["unveil.web.questions"] = questions()
    return worker.main(folder)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

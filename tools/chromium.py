"""Find the Chromium of this machine and what drives it; as a command, install what is missing where we may."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")

# Libraries that playwright's driver needs and that neither a bare Debian nor its Chromium brings, with their packages.
LIBRARIES = {"libatomic.so.1": "libatomic1"}


def find_chromium() -> str | None:
    """Return the path of an installed Chromium (where ``UNVEIL_CHROMIUM`` is set, that one), or None."""
    chosen = os.environ.get("UNVEIL_CHROMIUM")
    return next((path for path in map(shutil.which, [chosen] if chosen else NAMES) if path), None)


def find_driver() -> str | None:
    """Return the path of the program by which playwright drives a browser, or None without playwright."""
    chosen = os.environ.get("PLAYWRIGHT_NODEJS_PATH")
    package = find_spec("playwright")
    if chosen or package is None or package.origin is None:
        return chosen
    return str(Path(package.origin).with_name("driver") / "node")


def missing_library() -> str | None:
    """Return the shared library without which the driver does not start, or None.

    The driver itself is asked: no list of packages says what it was linked with.
    """
    driver = find_driver()
    if driver is None:
        return None
    try:
        asked = subprocess.run(
            [driver, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = re.search(r"loading shared libraries: ([^\s:]+)", asked.stderr)
    return said[1] if said else None


def what_is_missing() -> str | None:
    """Return why browser tests cannot run and what to do, in one line, or None when they can."""
    if find_chromium() is None:
        return "no Chromium found. Install chromium, or set UNVEIL_CHROMIUM to its path."
    library = missing_library()
    if library is None:
        return None
    package = f"Install {LIBRARIES[library]}" if library in LIBRARIES else "Install the package that holds it"
    return f"playwright, which drives Chromium, cannot load {library}. {package}."


def _wanted() -> dict[str, str]:
    """Return the packages of Debian that are missing, each with its reason."""
    wanted = {}
    if find_chromium() is None and not os.environ.get("UNVEIL_CHROMIUM"):
        wanted["chromium"] = "the browser tests open pages in it"
    library = missing_library()
    if library in LIBRARIES:
        wanted[LIBRARIES[library]] = f"playwright, which drives Chromium, cannot load {library}"
    return wanted


def main() -> None:
    """Print where Chromium is; install from Debian what is missing where we may; else say so in one line."""
    wanted = _wanted() if shutil.which("apt-get") and os.geteuid() == 0 else {}
    if wanted:
        reasons = "; ".join(f"{package} ({reason})" for package, reason in wanted.items())
        print(f"Installing from Debian: {reasons} ...", flush=True)
        for command in (["update"], ["install", "-y", "--no-install-recommends", *wanted]):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(
                ["apt-get", "-qq", *command], env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
            )
    missing = what_is_missing()
    print(f"The browser tests cannot run: {missing}" if missing else f"Browser tests use {find_chromium()}.")


if __name__ == "__main__":
    main()

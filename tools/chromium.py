"""Find the Chromium of this machine for the browser tests; as a command, install one where that is possible."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium (where ``UNVEIL_CHROMIUM`` is set, that one), or None."""
    chosen = os.environ.get("UNVEIL_CHROMIUM")
    return next((path for path in map(shutil.which, [chosen] if chosen else NAMES) if path), None)


def main() -> None:
    """Print where Chromium is; install Debian's where there is none and we may; else say so in one line."""
    may_install = shutil.which("apt-get") and os.geteuid() == 0 and not os.environ.get("UNVEIL_CHROMIUM")
    if find_chromium() is None and may_install:
        print("No Chromium found: installing Debian's for the browser tests ...", flush=True)
        for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(
                ["apt-get", "-qq", *command], env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
            )
    found = find_chromium()
    print(
        f"Browser tests use {found}."
        if found
        else "No Chromium found: the browser tests cannot run. Install chromium, or set UNVEIL_CHROMIUM to its path."
    )


if __name__ == "__main__":
    main()

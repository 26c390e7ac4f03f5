"""Print a report to PDF with a browser of this machine."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from unveil.errors import InputError

#: Browsers that print without a window, by the name of their program or by where macOS and Windows install them.
BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
#: Seconds after which a browser that does not answer is ended; a report takes about two.
PATIENCE = 120
#: A report loads nothing; these keep the browser itself from the network as well.
_OFFLINE = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
)


def find_browser() -> str | None:
    """Return a browser that prints PDF, or None."""
    chosen = os.environ.get("UNVEIL_CHROMIUM")
    return next((path for path in map(shutil.which, [chosen] if chosen else BROWSERS) if path), None)


def need_browser() -> str:
    """Return a browser that prints PDF, or raise an error."""
    browser = find_browser()
    if browser is None:
        raise InputError(
            "No PDF: Chromium, Chrome, or Edge was not found. Install one, set UNVEIL_CHROMIUM to its path, or open "
            "the HTML report in any browser and print it to PDF"
        )
    return browser


def pdf_of(html: str) -> bytes:
    """Return a page as PDF.

    Raises
    ------
    InputError
        If there is no browser, or it does not print.
    """
    browser = need_browser()
    # A snap-packaged browser may read no hidden folder and no /tmp of others, so everything is in one plain folder.
    with tempfile.TemporaryDirectory(prefix="unveil-pdf-", ignore_cleanup_errors=True) as folder:
        page, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", *_OFFLINE, f"--user-data-dir={folder}/profile"]
        if sys.platform != "win32" and os.geteuid() == 0:
            command.append("--no-sandbox")  # no browser starts a sandbox as root; the page holds no foreign code
        command += ["--no-pdf-header-footer", f"--print-to-pdf={target}", page.as_uri()]
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
            return target.read_bytes()
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(
                f"No PDF: {Path(browser).name} did not print the report. Open the HTML report in a browser and print it"
            ) from error

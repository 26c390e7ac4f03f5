"""The rules of tests/conftest.py, shown on small suites of their own."""

import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CONFTEST = Path(__file__).with_name("conftest.py")


def run_suite(folder: Path, tests: str, *options: str, **environment: str) -> tuple[int, str]:
    """Return the exit code and the output of pytest on a folder laid out like this project."""
    (folder / "tests").mkdir()
    (folder / "src").mkdir()
    (folder / "tests" / "conftest.py").write_text(CONFTEST.read_text())
    (folder / "tests" / "test_it.py").write_text(tests)
    (folder / "src" / "module.py").write_text('"""\n>>> 1 + 1  # doctest: +SKIP\n2\n"""\n')
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = browser: in a page\n")
    inherited = {key: value for key, value in os.environ.items() if key not in {"CI", "UNVEIL_CHROMIUM"}}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "--import-mode=importlib", *options, "tests", "src"],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(CONFTEST.parent.parent), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


SKIPS = """
import pytest

@pytest.mark.skip(reason="needs UNVEIL_DATA: the census")
def test_allowed(): ...

@pytest.mark.skip(reason="no time today")
def test_marked(): ...

def test_called():
    pytest.skip("nor here")

@pytest.mark.xfail(reason="known", strict=True)
def test_known():
    assert False

def test_fine(): ...
"""


def test_a_skip_is_a_failure_unless_the_data_may_not_be_shipped(tmp_path: Path) -> None:
    code, output = run_suite(tmp_path, SKIPS, "--doctest-modules")
    assert code == 1
    assert "ERROR tests/test_it.py::test_marked" in output
    assert "but this one said: no time today" in output
    assert "FAILED tests/test_it.py::test_called" in output
    assert "FAILED src/module.py::" in output
    assert "2 failed, 1 passed, 1 skipped, 1 xfailed, 1 error" in output


def test_the_switch_allows_skips(tmp_path: Path) -> None:
    code, output = run_suite(tmp_path, SKIPS, "--doctest-modules", "--allow-skips")
    assert code == 0
    assert "1 passed, 4 skipped, 1 xfailed" in output


def test_a_skipped_module_is_a_failure(tmp_path: Path) -> None:
    code, output = run_suite(tmp_path, "import pytest\npytest.importorskip('no_such_library')\n")
    assert code == 2
    assert "a test may only be skipped because it needs UNVEIL_DATA" in output


@pytest.mark.parametrize("processes", [(), ("--numprocesses", "2")])
def test_too_few_tests_are_a_failure(tmp_path: Path, processes: tuple[str, ...]) -> None:
    code, output = run_suite(tmp_path, "def test_alone(): ...\n", "--enforce-floor", *processes)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "only 1 tests were collected" in output


WATCHED = """
import threading
import pytest
from hypothesis import given, strategies

def seen():
    return 1

def unseen():
    return 2

@pytest.fixture
def made():
    yield seen()

def test_before():
    assert seen()

@pytest.mark.unwatched
def test_aside():
    thread = threading.Thread(target=unseen)
    thread.start()
    thread.join()

EXAMPLES = []

@given(strategies.integers())
def test_any(number):
    EXAMPLES.append(number)
    if len(EXAMPLES) == 8:
        seen()
    if len(EXAMPLES) == 9:
        unseen()

def test_after(made):
    thread = threading.Thread(target=seen)
    thread.start()
    thread.join()
"""


def test_coverage_watches_tests_and_no_more_than_the_first_examples_of_any(tmp_path: Path) -> None:
    options = "--strict-markers", "--cov=tests", "--cov-report=term-missing"
    # Where Python tells coverage of each line once (sysmon), watching costs nothing, and all tests are watched.
    code, output = run_suite(tmp_path, WATCHED, *options, COVERAGE_CORE="ctrace")
    assert code == 0
    # The bodies of functions that ran in tests that are watched are seen, and no other line.
    missing = re.findall(r"^tests/test_it.py +\d+ +\d+ +\d+% +(.+)$", output, re.MULTILINE)
    assert missing == ["2-6, 9-13, 16, 19-28, 33-35"]


BROWSER = "def test_page(browser): ...\ndef test_fine(): ...\n"


def test_without_chromium_browser_tests_are_left_out_loudly(tmp_path: Path) -> None:
    code, output = run_suite(tmp_path, BROWSER, PATH="nowhere")
    assert code == 0
    assert "!!! BROWSER TESTS DID NOT RUN" in output
    assert "1 passed, 1 deselected" in output


def test_without_chromium_browser_tests_fail_in_ci(tmp_path: Path) -> None:
    code, output = run_suite(tmp_path, BROWSER, PATH="nowhere", CI="true")
    assert code == 1
    assert "CI must not leave browser tests out" in output
    assert "1 passed, 1 error" in output


def driver_without_library(folder: Path) -> str:
    """Return a driver that says what one linked with libatomic says on a bare Debian."""
    driver = folder / "driver"
    words = "error while loading shared libraries: libatomic.so.1: cannot open shared object file"
    driver.write_text(f"#!/bin/sh\necho '{driver}: {words}: No such file or directory' >&2\nexit 127\n")
    driver.chmod(0o755)
    return str(driver)


@pytest.mark.parametrize(
    ("in_ci", "code", "counts"), [("", 0, "1 passed, 1 deselected"), ("true", 1, "1 passed, 1 error")]
)
def test_without_the_library_of_the_driver_too(tmp_path: Path, in_ci: str, code: int, counts: str) -> None:
    ended, output = run_suite(
        tmp_path,
        BROWSER,
        CI=in_ci,
        UNVEIL_CHROMIUM=sys.executable,
        PLAYWRIGHT_NODEJS_PATH=driver_without_library(tmp_path),
    )
    assert ended == code
    assert "cannot load libatomic.so.1. Install libatomic1." in output
    assert ("!!! BROWSER TESTS DID NOT RUN" in output) is (not in_ci)
    assert counts in output


@pytest.mark.parametrize("address", ["http://example.org/", "https://192.0.2.1/"])
def test_the_browser_reaches_no_network(browser: "Browser", address: str) -> None:
    from playwright.sync_api import Error

    page = browser.new_page()
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        page.goto(address)
    page.close()


def test_the_browser_opens_files(browser: "Browser", tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<title>here</title><script>document.title += ' and now'</script>")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.title() == "here and now"
    page.close()


def test_the_browser_reaches_this_machine(browser: "Browser") -> None:
    class Hello(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>served</title>")

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Hello) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        title = page.title()
        page.close()
        server.shutdown()
    assert title == "served"

"""What holds for every test: nothing is skipped in silence, nothing waits for a clock, no page reaches a network."""

import gc
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tools.chromium import find_chromium, what_is_missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.approved.sentences import Approved

# What is small takes longer on several threads, which mostly wait for one another, and longest where two processes test
# at once; libraries read this when they are loaded. That numbers do not depend on it is shown by tests that start
# processes of their own, with one thread and with more.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(name, "1")

# Results are sealed with a key of the user: tests have one of their own, and write nothing to the user's home.
os.environ["UNVEIL_KEY"] = "a key of the tests, which seals nothing else"

# A shell that starts the suite in the background lets it ignore these, and every child would inherit that: tests that
# interrupt a child would wait for ever.
for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL), ("SIGQUIT", signal.SIG_DFL)):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
        signal.signal(getattr(signal, name), handler)

# The whole suite has at least this many tests: a folder that is no longer collected must not pass as green.
FLOOR = 14_000

# Tests that look at unveil from outside: coverage is what the tests of its parts reach, so these run at full speed.
FROM_OUTSIDE = tuple(
    f"tests/{part}" for part in ("docs/", "end_to_end/", "examples/", "fuzz/", "golden/", "test_layers.py")
)

# Coverage watches so many examples of a Hypothesis test; later ones seldom reach a line that these did not.
WATCHED_EXAMPLES = 8

# Only tests on data that unveil may not ship can be skipped; their reason starts with these words.
MAY_SKIP = "needs UNVEIL_DATA"

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}

# The same examples are drawn everywhere, so that a run that is green here is green in CI; `make fuzz` draws others.
settings.register_profile(
    "house",
    max_examples=24,
    deadline=None,
    derandomize=os.environ.get("UNVEIL_OTHER_EXAMPLES") != "1",
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")


P = ParamSpec("P")
R = TypeVar("R")


def watch_again(tracer: Any) -> None:
    """Let coverage go on in the calling function too: it saw that begin, so it must see it end."""
    sys._getframe(1).f_trace = tracer
    sys.settrace(tracer)


def unwatched(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, run unseen by coverage, which makes all Python two to five times slower."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            return function(*args, **kwargs)
        finally:
            watch_again(tracer)

    return run


class Watch:
    """Coverage of tests and their fixtures alone: pytest and Hypothesis around them run at full speed."""

    def __init__(self) -> None:
        self.rest()

    def rest(self) -> None:
        """Watch nothing until told."""
        self.tracer: Any = None
        self.in_threads: Any = None
        self.examples = 0

    def over(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, watched if this test is."""

        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            if self.tracer is None or sys.gettrace() is not None:
                return function(*args, **kwargs)
            threading.settrace(self.in_threads)
            sys.settrace(self.tracer)
            # Coverage sees all that begins from here on, so all of it must have ended before it looks away.
            try:
                return function(*args, **kwargs)
            finally:
                sys.settrace(None)
                threading.settrace(None)

        return run

    def over_few_examples(self, test: Callable[P, R]) -> Callable[P, R]:
        """Return the inside of a Hypothesis test, watched in its first examples."""
        watched = self.over(test)

        @wraps(test)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            self.examples += 1
            return (watched if self.examples <= WATCHED_EXAMPLES else test)(*args, **kwargs)

        return run

    def over_item(self, item: pytest.Item) -> None:
        """Let the own code of a test be watched when it runs."""
        inside = getattr(getattr(item, "obj", None), "hypothesis", None)
        if inside is None:
            item.runtest = self.over(item.runtest)  # type: ignore[method-assign]
        elif not hasattr(inside, "is_watched"):
            # Cases of one test share it.
            inside.is_watched = True
            inside.inner_test = self.over_few_examples(inside.inner_test)


def import_all_of_unveil() -> None:
    """Import every module before any test asks for it, so that coverage need not watch the collection of tests."""
    import unveil

    for module in pkgutil.walk_packages(unveil.__path__, "unveil."):
        if not module.name.endswith("__main__"):
            # What cannot be imported is a failure soon, in a test that says where.
            with suppress(Exception):
                import_module(module.name)


@pytest.fixture
def approved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Approved]":
    """Compare sentences with approved ones: ``approved(text)``."""
    from tests.approved.sentences import Approved  # here, as this file is also tried in a folder without it

    name, approve = request.node.name, bool(request.config.getoption("--approve"))
    sentences = Approved(request.module.__name__, name, approve=approve, temporary=tmp_path_factory.getbasetemp())
    failed = request.session.testsfailed
    yield sentences
    if request.session.testsfailed == failed:
        sentences.finish()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--enforce-floor", action="store_true", help=f"fail if fewer than {FLOOR} tests are collected")
    parser.addoption("--approve", action="store_true", help="write the approved outputs of tests/approved anew")
    parser.addoption("--allow-skips", action="store_true", help="let a skipped test pass as skipped")


def pytest_configure(config: pytest.Config) -> None:
    os.environ["MPLBACKEND"] = "Agg"
    config.addinivalue_line(
        "markers", "unwatched: does often, or on much data, what other tests do once, so coverage need not watch it"
    )
    # Hooks of this file would not reach the doctests in src/; those of a plugin do.
    config.pluginmanager.register(HouseRules(config), "house-rules")


class HouseRules:
    """The rules that tests cannot opt out of."""

    def __init__(self, config: pytest.Config) -> None:
        self.floor = FLOOR if config.getoption("--enforce-floor") else 0
        self.allow_skips = bool(config.getoption("--allow-skips"))
        self.covers = bool(config.getoption("cov_source", None)) and not config.getoption("numprocesses", None)
        self.watch = Watch()
        self.browser_lacks = what_is_missing()
        self.without_browser = self.browser_lacks is not None and not IN_CI

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if not hasattr(config, "workerinput"):
            self._check_floor(len(items))
        for item in items:
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker("browser")
        if self.without_browser:
            away = [item for item in items if item.get_closest_marker("browser")]
            items[:] = [item for item in items if not item.get_closest_marker("browser")]
            config.hook.pytest_deselected(items=away)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        # All that is collected stays, so that nobody need look it through for garbage again and again, nor often later.
        gc.disable()
        tracer = sys.gettrace()
        if self.covers:
            import_all_of_unveil()
            # No line of unveil runs while numba compiles it.
            from numba.core import dispatcher

            dispatcher.Dispatcher.compile = unwatched(dispatcher.Dispatcher.compile)  # type: ignore[method-assign]
            pytest.FixtureDef.execute = self.watch.over(pytest.FixtureDef.execute)  # type: ignore[method-assign]
            sys.settrace(None)
        try:
            return (yield)
        finally:
            watch_again(tracer)
            gc.freeze()
            gc.set_threshold(10_000)
            gc.enable()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        # With several processes the one that prints collects nothing itself.
        self._check_floor(len(ids))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if not self.covers:
            return (yield)
        tracer, in_threads = sys.gettrace(), threading.gettrace()
        if not (item.get_closest_marker("unwatched") or item.nodeid.startswith(FROM_OUTSIDE)):
            self.watch.tracer, self.watch.in_threads = tracer, in_threads
            self.watch.over_item(item)
        threading.settrace(None)
        sys.settrace(None)
        try:
            return (yield)
        finally:
            self.watch.rest()
            threading.settrace(in_threads)
            watch_again(tracer)

    def _check_floor(self, collected: int) -> None:
        if collected < self.floor:
            pytest.exit(
                f"only {collected} tests were collected, but the suite has at least {self.floor}. "
                "Find those that are missing, or lower FLOOR in tests/conftest.py",
                returncode=pytest.ExitCode.USAGE_ERROR,
            )

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # What earlier tests went through in plain Python must not decide which way the loops of this one run.
        if "unveil._kernels._compile" in sys.modules:
            sys.modules["unveil._kernels._compile"].LEDGER.clear()
        if item.get_closest_marker("browser") and self.browser_lacks:
            pytest.fail(f"CI must not leave browser tests out, but {self.browser_lacks}", pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if not hasattr(report, "wasxfail"):
            self._forbid_skip(report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        self._forbid_skip(report)
        return report

    def _forbid_skip(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not self.allow_skips:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            reason = reason.removeprefix("Skipped: ")
            if not reason.startswith(MAY_SKIP):
                report.outcome = "failed"
                report.longrepr = f"a test may only be skipped because it {MAY_SKIP}, but this one said: {reason}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        # Said by the process that prints, which with several of them is none of those that run tests.
        if self.without_browser:
            terminalreporter.write_line(f"!!! BROWSER TESTS DID NOT RUN: {self.browser_lacks}", red=True, bold=True)


@pytest.fixture(scope="session", autouse=True)
def answers_are_as_their_schemas_say() -> Iterator[None]:
    """Every answer that any test makes as JSON is held to its schema."""
    from tools.answer_schemas import checked
    from unveil.report import machine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "dumps", checked(machine.dumps))
        yield


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """An installed Chromium that reaches files and 127.0.0.1, and nothing else."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(),
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                # Every other name or address is unknown to this browser, whichever page or worker asks.
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
        )
        yield chromium
        chromium.close()

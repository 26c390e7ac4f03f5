"""``unveil serve`` as a person uses it, in a real browser: drop files, ask, watch, read, and be refused politely."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import polars as pl
import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from tests.approved.sentences import Approved
from tests.web.servers import until
from unveil.cli import main
from unveil.data import samples
from unveil.questions import QUESTIONS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Locator, Page

pytestmark = pytest.mark.browser

SCRIPT = "<script>document.title = 'run'</script>"
IMAGE = '<img src=x onerror="alert(1)">'
FORMULA = "=HYPERLINK('http://example.org')"
PAGES = ("", *QUESTIONS, "list", "no-such-page")
#: Whatever a page does, so many milliseconds are enough for it.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""
# The colours that text and what is behind it have, and how far apart they are, as WCAG 2 counts it.
_FAINT = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = numbers(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return numbers(getComputedStyle(document.body).backgroundColor);
  };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const text = walk.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest(".unseen, script, noscript, option")) continue;
    const both = [light(numbers(getComputedStyle(element).color)), light(behind(element))];
    if ((Math.max(...both) + 0.05) / (Math.min(...both) + 0.05) < 4.5) faint.push(text);
  }
  return faint;
}"""


@dataclass(kw_only=True)
class Desk:
    """A server, a browser that was let in, and files to drop."""

    base: str
    browser: "Browser"
    cookies: Any
    process: "subprocess.Popen[str]"
    complaints: list[str] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    opened: list["Page"] = field(default_factory=list)

    @property
    def root(self) -> str:
        """The part of the path that all pages lie below."""
        return urlsplit(self.base).path

    def open(self, path: str, *, width: int = 1200, **context: Any) -> "Page":
        """Return an open page, on which everything is noticed that goes wrong."""
        place = self.browser.new_context(
            viewport={"width": width, "height": 800}, storage_state=self.cookies, accept_downloads=True, **context
        )
        page = place.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._answer)
        page.on("request", lambda request: self._see(request.url))
        page.add_init_script(_WATCH)
        page.goto(f"{self.base}/{path}")
        self.opened.append(page)
        return page

    def _answer(self, dialog: "Dialog") -> None:
        (self.stays if dialog.type == "beforeunload" else self.complaints).append(dialog.message or dialog.type)
        dialog.accept()

    def _see(self, url: str) -> None:
        if not url.startswith((f"{self.base}/", "data:")):
            self.foreign.append(url)

    def end(self) -> None:
        """Close everything, and say what went wrong since the last time."""
        violations = [each for page in self.opened for each in page.evaluate("window.violations || []")]
        # What a page cannot be asked, or is not there, is an answer too; the browser notes it as a failure.
        complaints = [each for each in self.complaints if not re.search(r"status of 40[04] ", each)]
        seen = (complaints, self.foreign, violations)
        for page in self.opened:
            page.context.close()
        self.opened, self.complaints, self.foreign = [], [], []
        assert seen == ([], [], [])


@pytest.fixture(scope="module")
def server(browser: "Browser") -> Iterator[Desk]:
    """One server for all tests here, started as a person starts it, and a browser that opened its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "unveil", "serve", "--port", "0", "--no-open"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.get_by_text("Results").first.wait_for()
        base = page.url.removesuffix("/")
        state = context.storage_state()
        context.close()
        yield Desk(
            base=base,
            browser=browser,
            cookies=state,
            process=process,
        )
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def desk(server: Desk) -> Iterator[Desk]:
    yield server
    server.end()


def people(rows: int = 40) -> pl.DataFrame:
    return pl.read_csv(samples.path("anes96.csv")).head(rows).select("age", "income", "education", "vote")


def drop(field: "Locator", *files: tuple[str, str]) -> None:
    """Drop files on a field, as the browser does when a mouse lets them go."""
    field.locator(".drop").evaluate(
        """(zone, files) => {
            const carried = new DataTransfer();
            for (const [name, text] of files) carried.items.add(new File([text], name));
            for (const type of ["dragover", "drop"])
                zone.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
        }""",
        [list(each) for each in files],
    )


def at(page: "Page", name: str) -> "Locator":
    return page.locator(f'.field[data-field="{name}"]')


def quick(page: "Page", *attacks: str) -> None:
    """Choose few attacks on few people, so that an answer comes at once."""
    page.get_by_text("More settings", exact=True).click()
    for attack in attacks or ("linkability",):
        page.locator(f'#f-attacks input[value="{attack}"]').check()
    page.fill("#f-targets", "20")


def answered(page: "Page") -> str:
    """Wait for the answer, and return its headline."""
    page.wait_for_url("**/jobs/*")
    page.wait_for_selector("[data-ended]", timeout=PATIENCE)
    return (page.locator("h1").inner_text()).strip()


@pytest.mark.parametrize(
    ("width", "scheme", "paths"), [(1200, "light", ("", "audit", "list", "no-such-page")), (320, "dark", PAGES)]
)
def test_every_page_can_be_read_on_every_screen(desk: Desk, width: int, scheme: str, paths: tuple[str, ...]) -> None:
    page = desk.open("", width=width, color_scheme=scheme)
    for path in paths:
        page.goto(f"{desk.base}/{path}")
        page.locator("details").evaluate_all("folds => folds.forEach((fold) => { fold.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate(_FAINT) == [], path
        assert page.get_by_role("main").count() == 1
        assert page.get_by_role("heading", level=1).count() == 1
        assert page.get_by_text("No data leaves this computer.").is_visible()


def test_an_audit_by_keyboard_alone_shows_where_the_focus_is(desk: Desk) -> None:
    page = desk.open("audit")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    seen = []
    for _ in range(10):
        page.keyboard.press("Tab")
        # The field for a file is a button to the eye: the label beside it shows the focus.
        seen.append(
            page.evaluate(
                """() => { const on = document.activeElement;
                    const shown = on.matches(".unseen") ? on.nextElementSibling : on;
                    return [on.id || on.textContent.trim(), getComputedStyle(shown).outlineStyle !== "none"]; }"""
            )
        )
    assert [name for name, visible in seen if not visible] == []
    names = [name for name, _ in seen]
    order = ["Try the example", "f-original", "f-released", "f-control"]
    assert [name for name in names if name in order] == order
    page.get_by_role("button", name="Get the report").press("Enter")
    expect(page.locator("#f-original-error")).to_have_text("No file is given. Drop one here, or choose one.")
    expect(page.locator("#f-original")).to_be_focused()
    assert page.locator("#f-original").get_attribute("aria-invalid") == "true"
    assert "f-original-error" in str(page.locator("#f-original").get_attribute("aria-describedby"))
    page.on("filechooser", lambda _: None)  # from now on, so that nothing is switched between two keys
    for key in ("Enter", "Space"):
        page.locator("#f-original").focus()
        with page.expect_file_chooser():
            page.keyboard.press(key)


def test_the_sample_gives_the_answer_of_the_command_line(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = desk.open("audit")
    quick(page, "disclosure")
    page.fill("#f-seed", "5")
    page.get_by_role("button", name="Try the example").click()
    # The label stands before the headline here, and above it in the report.
    headline = answered(page).removeprefix(page.locator("h1 .tone").inner_text())
    expect(page.locator("#headline")).to_be_focused()
    monkeypatch.chdir(tmp_path)
    line = page.locator("pre").inner_text()
    assert line == "unveil audit --attacks disclosure --targets 20 --seed 5 --html report.html"
    told = CliRunner().invoke(main, [*line.split()[1:], "--json"])
    with page.expect_download() as getting:
        page.get_by_role("link", name="Download the results").click()
    assert json.loads(Path(getting.value.path()).read_text(encoding="utf-8")) == json.loads(told.stdout)
    with page.expect_download() as getting:
        page.get_by_role("link", name="Download the report").click()
    assert getting.value.suggested_filename == "unveil-audit.html"
    report = Path(getting.value.path()).read_text(encoding="utf-8")
    # The command stands in the report as it was typed.
    typed = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert report == typed.replace(' <span class="option">--json</span>', "").replace(" --json</code>", "</code>")
    inside = page.frame_locator("iframe.report").get_by_role("heading", level=1)
    assert inside.inner_text().split() == headline.split()
    alone = page.context.new_page()
    alone.goto(f"{page.url}/report")
    assert alone.get_by_role("heading", level=1).inner_text().split() == headline.split()


def test_dropped_files_show_their_columns_and_changed_roles_arrive_in_the_answer(
    desk: Desk, approved: Approved
) -> None:
    page = desk.open("audit")
    hostile = people().rename({"age": SCRIPT, "income": IMAGE, "education": FORMULA})
    numbered = hostile.with_row_index("person_id").with_columns(pl.lit("x@example.org").alias("contact"))
    drop(at(page, "original"), (f"{IMAGE}.csv", numbered.write_csv()))
    drop(at(page, "released"), ("masked.csv", hostile.write_csv()), ("other.csv", "a,b\n1,2\n"))
    columns = at(page, "columns")
    columns.wait_for()
    assert at(page, "original").get_by_text("40 rows, 6 columns.").is_visible()
    assert columns.locator("tbody th bdi").all_inner_texts()[:4] == ["person_id", SCRIPT, IMAGE, FORMULA]
    assert columns.get_by_label("Role of person_id").input_value() == "identifier"
    assert columns.get_by_text("Looks like an email.").is_visible()
    assert columns.get_by_label(f"Role of {SCRIPT}").input_value() == "known"
    columns.get_by_label("Role of vote").select_option("sensitive")
    columns.get_by_label(f"Role of {FORMULA}").select_option("ignored")
    columns.get_by_label(f"Type of {IMAGE}", exact=True).select_option("category")
    page.get_by_role("button", name="Add a scenario").click()
    assert page.evaluate("document.activeElement.dataset.part") == "name"
    page.keyboard.type("a neighbour")
    at(page, "scenarios").get_by_label(SCRIPT, exact=True).check()
    at(page, "released").locator("li", has_text="masked.csv").get_by_label("Release type").select_option("masked")
    at(page, "released").locator("li", has_text="other.csv").get_by_role("button", name="Remove other.csv").click()
    quick(page)
    page.get_by_role("button", name="Get the report").dblclick()
    answered(page)
    approved(page.title())
    assert page.locator("main img, main svg, main script").count() == 0
    report = page.frame_locator("iframe.report")
    assert report.locator("img").count() == 0
    assert report.get_by_text(SCRIPT, exact=True).count() >= 1
    found = page.evaluate("fetch(`${location.pathname}/answer.json`).then((answer) => answer.json())")
    told = {each["name"]: (each["role"], each["type"]) for each in found["original"]["columns"]}
    assert told["person_id"][0] == "identifier"
    assert told["vote"][0] == "sensitive"
    assert told[FORMULA][0] == "ignored"
    assert told[IMAGE][1] == "category"
    assert [(each["name"], each["type"]) for each in found["releases"]] == [("masked.csv", "masked")]
    asked = page.locator(".asked").inner_text()
    assert f"{IMAGE}.csv" in asked
    assert f"a neighbour knows {SCRIPT}" in asked
    assert "vote: Sensitive" in asked
    assert "--scenario 'a neighbour=" in page.locator("pre").first.inner_text()
    job = page.url.rpartition("/")[2]
    assert (
        page.get_by_role("link", name="Change the settings").get_attribute("href") == f"{desk.root}/audit?again={job}"
    )
    page.go_back()
    at(page, "columns").wait_for()
    expect(page.locator("#f-targets")).to_have_value("20")
    assert page.get_by_label("Role of vote").input_value() == "sensitive"
    assert page.get_by_label("Name", exact=True).input_value() == "a neighbour"
    page.get_by_role("link", name="Tasks").click()
    assert page.locator(".result").all_inner_texts()[0].startswith(f"Audit a released table: {IMAGE}.csv, masked.csv")
    assert page.locator(".result", has_text="masked.csv").count() == 1, "two clicks are one question"
    kept = page.locator(".given > li")
    assert kept.locator(".name").all_inner_texts() == [f"{IMAGE}.csv", "masked.csv"]
    kept.get_by_role("button", name="Remove masked.csv").click()
    expect(kept).to_have_count(1)


def test_one_job_is_cancelled_while_another_waits_whose_sliders_move_by_keyboard(
    desk: Desk, approved: Approved
) -> None:
    page, other, home = desk.open("audit"), desk.open("unlinkability"), desk.open("list")
    page.get_by_role("button", name="Try the example").click()
    page.wait_for_url("**/jobs/*")
    bar = page.get_by_role("progressbar", name="Progress")
    assert bar.is_visible()
    assert page.locator("[data-step]").get_attribute("aria-live") == "polite"
    other.get_by_role("button", name="Try the example").click()
    other.wait_for_url("**/jobs/*")
    other.get_by_text("Waiting: another run comes first.").wait_for()
    expect(page.locator("[data-step]")).not_to_have_text("Starting …")
    home.goto(f"{desk.base}/")
    assert home.locator(".result .state").all_inner_texts()[:2] == ["Waiting", "Running"]
    page.get_by_role("button", name="Cancel").click()
    assert answered(page) == "Cancelled"
    answered(other)
    # Whoever stays on the first page sees it there.
    expect(home.locator(".result .state").first).to_have_text("Finished")
    assert home.locator(".result .state").nth(1).inner_text() == "Cancelled"
    number = home.locator(".result").count()
    page.get_by_role("button", name="Remove this result").click()
    page.wait_for_url(f"{desk.base}/")
    assert page.locator(".result").count() == number - 1
    approved(other.locator("pre").inner_text())
    report = other.frame_locator("iframe.report")
    # The script of a report folds, and saves pictures, in the frame of nobody's own too.
    report.get_by_role("button", name="Unfold all").click()
    with other.expect_download() as saved:
        report.get_by_role("button", name="Save as SVG").first.click()
    assert saved.value.suggested_filename.endswith(".svg")
    slider = report.locator("[data-slider=beta]")
    before = report.locator(".playground:has([data-slider=beta]) [data-sentence]").inner_text()
    place = int(slider.input_value())
    slider.focus()
    for _ in range(15):
        other.keyboard.press("ArrowLeft")
    assert int(slider.input_value()) == place - 15
    assert report.locator(".playground:has([data-slider=beta]) [data-sentence]").inner_text() != before


def test_what_is_wrong_is_said_beside_its_field_in_the_words_of_the_library(desk: Desk) -> None:
    page = desk.open("audit", width=320)
    wrong = page.locator("#f-original-error")
    drop(at(page, "original"), ("one.csv", "a,b\n1,2\n"), ("two.csv", "a,b\n1,2\n"))
    expect(wrong).to_have_text("Only one file can be taken here, and 2 were given. Choose one of them.")
    drop(at(page, "original"), ("people.csv", "a,b\n1,2,3\n"))
    expect(wrong).to_contain_text("The file 'people.csv' cannot be read as a table at row 1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.evaluate(_FAINT) == []
    # The second takes the place of the first, and what is not yet there is waited for.
    drop(at(page, "original"), ("other.csv", "a,b\n1,2\n"))
    drop(at(page, "original"), ("people.csv", people().write_csv()))
    drop(at(page, "released"), ("masked.csv", people(30).write_csv()))
    drop(at(page, "control"), ("others.pdf", "%PDF"))
    page.locator("#f-targets").evaluate("(place) => { place.value = 'none at all'; }")
    button = page.get_by_role("button", name="Get the report")
    button.click()
    expect(page.locator("#errors")).to_contain_text("A file was refused.")
    expect(page.locator("#f-control")).to_be_focused()
    assert not wrong.is_visible()
    assert at(page, "original").locator(".name").all_inner_texts() == ["people.csv"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.mouse.click(2, 2)
    page.reload()
    assert desk.stays == ["beforeunload"], "whoever leaves is asked, because files were given"


def test_what_the_worker_finds_wrong_comes_back_to_its_field(desk: Desk, approved: Approved) -> None:
    page = desk.open("study")
    page.fill("#f-folder", "/nowhere/study")
    page.get_by_role("button", name="Get the report").click()
    assert answered(page) == "Failed"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    page.get_by_role("link", name="Change the settings").click()
    expect(page.locator("#f-folder-error")).to_contain_text("/nowhere/study")
    assert page.locator("#f-folder").input_value() == "/nowhere/study"
    expect(page.locator("#f-folder")).to_be_focused()
    assert page.locator("#f-folder").get_attribute("aria-invalid") == "true"
    page.get_by_role("button", name="Try the example").click()
    page.wait_for_url("**/jobs/*")
    approved(page.locator("h1").inner_text())
    page.get_by_role("button", name="Cancel").click()
    answered(page)


def test_the_graph_shows_the_settings_of_what_is_chosen(desk: Desk) -> None:
    page = desk.open("graph")
    assert not page.get_by_label("attempts").first.is_visible()
    page.select_option("#f-method", "k-degree")
    page.get_by_label("k", exact=True).locator("visible=true").fill("many")
    page.get_by_role("button", name="Try the example").click()
    expect(page.locator("#f-method-error")).to_contain_text("k of k-degree must be a whole number")
    page.get_by_label("k", exact=True).locator("visible=true").fill("3")
    page.get_by_role("button", name="Try the example").click()
    page.wait_for_url("**/jobs/*")
    assert "--method k-degree:k=3" in page.locator("pre").inner_text()
    page.get_by_role("button", name="Cancel").click()
    answered(page)


def test_the_list_can_be_searched_and_works_without_a_script(desk: Desk) -> None:
    page = desk.open("list")
    page.get_by_label("Search").fill("seed distance vector")
    assert page.locator("[data-words]:visible h3").all_inner_texts() == ["distance-vector"]
    assert page.locator("#found").inner_text() == "1 shown."
    plain = desk.open("list", java_script_enabled=False)
    assert plain.get_by_role("heading", name="distance-vector").is_visible()
    assert not plain.get_by_label("Search").is_visible()
    plain.goto(f"{desk.base}/audit")
    assert "<noscript><p" in plain.content()


def test_nobody_else_gets_in(desk: Desk) -> None:
    stranger = desk.browser.new_context()
    page = stranger.new_page()
    assert page.goto(f"{desk.base}/audit").status == 403  # type: ignore[union-attr]
    assert "Open the address" in page.inner_text("body")
    stranger.close()


class Neighbour(ThreadingHTTPServer):
    """Another server on this machine that somebody started: it notes what browsers send, and tries what it can."""

    def __init__(self, prey: str) -> None:
        super().__init__(("127.0.0.1", 0), _Curious)
        self.prey = prey
        self.heard: list[str] = []


class _Curious(BaseHTTPRequestHandler):
    server: Neighbour

    def do_GET(self) -> None:
        self.server.heard.append(f"{self.path}\n{self.headers}")
        page = f"""<!doctype html><title>neighbour</title><iframe src="{self.server.prey}"></iframe>
            <img src="{self.server.prey}/files"><script src="{self.server.prey}/assets/web.js"></script><script>
            const reach = (path) => fetch("{self.server.prey}" + path, {{ credentials: "include" }});
            const seen = (path) => reach(path).then((answer) => answer.text(), String);
            window.seen = Promise.all(["/", "/files"].map(seen));
            </script>""".encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        for name in (f"unveil-{urlsplit(self.server.prey).port}", "unveil"):
            self.send_header("set-cookie", f"{name}=evil; Path=/")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        pass


def test_a_server_on_another_port_learns_nothing_that_opens_ours(desk: Desk) -> None:
    place = desk.browser.new_context(storage_state=desk.cookies)
    names = {each["name"] for each in place.cookies() if each["name"].startswith("unveil-")}
    secrets = [each["value"] for each in place.cookies()] + [desk.root[1:]]
    assert len(secrets) == 2
    with Neighbour(desk.base) as neighbour:
        threading.Thread(target=neighbour.serve_forever, daemon=True).start()
        page = place.new_page()
        page.goto(f"{desk.base}/list")
        # By a link on our own page, and as somebody types it.
        for go in ("address => location.assign(address)", None):
            address = f"http://127.0.0.1:{neighbour.server_port}/{go is None}"
            page.evaluate(go, address) if go else page.goto(address)
            page.wait_for_url(address)
            assert all("Failed to fetch" in each for each in page.evaluate("window.seen"))
        neighbour.shutdown()
    heard = "\n".join(neighbour.heard)
    assert len([each for each in neighbour.heard if each.startswith(("/True", "/False"))]) == 2
    assert not any(each in heard for each in (*secrets, *names)), "neither cookie nor path"
    assert urlsplit(desk.base).netloc not in heard, "and not even where it came from"
    # What it made the browser keep changes nothing: every tab, and the way back, are as they were.
    page.goto(f"{desk.base}/")
    page.reload()
    page.get_by_role("link", name="Audit a released table", exact=True).click()
    page.wait_for_url("**/audit")
    page.go_back()
    expect(page.get_by_text("Results").first).to_be_visible()
    other = place.new_page()
    other.goto(f"{desk.base.removesuffix(desk.root)}/")
    other.wait_for_url(f"{desk.base}/")  # whoever types the address without its secret part is taken there
    place.close()


def test_the_browser_is_opened_through_a_file_and_no_list_of_processes_shows_the_token(
    browser: "Browser", tmp_path: Path
) -> None:
    # Stands for the browser: it notes what it was started with.
    note = tmp_path / "note"
    program = tmp_path / "browser"
    program.write_text(f"#!{sys.executable} -IS\nimport sys\nopen({str(note)!r}, 'a').write(sys.argv[1] + chr(10))\n")
    program.chmod(0o755)
    private = tmp_path / "private"
    private.mkdir()
    environment = {**os.environ, "DISPLAY": ":0", "BROWSER": f"{program} %s", "TMPDIR": str(private)}
    process = subprocess.Popen(
        [sys.executable, "-m", "unveil", "serve", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        opened = until(lambda: note.exists() and note.read_text(encoding="utf-8")).strip()
        token = address.partition("#")[2]
        assert opened.startswith("file://")
        assert token not in opened
        running = (each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if os.access(each, os.R_OK))
        assert not any(token.encode() in each for each in running)
        page = browser.new_page()
        asked: list[tuple[str, dict[str, str]]] = []
        page.on("request", lambda request: asked.append((request.url, request.headers)))
        page.goto(opened)
        page.get_by_text("Results").first.wait_for()
        assert not list(private.glob("*/open.html")), "it is removed as soon as it was used"
        assert "#" not in page.url
        entered = [headers.pop("unveil-token", "") for url, headers in asked if url.endswith("/enter")]
        assert entered == [token]
        told = [(url, headers) for url, headers in asked if token in str(headers) or headers.get("referer")]
        assert told == []
        # The link is spent: another browser that finds it is told so, and a new one in the same tab would be tried.
        stranger = browser.new_page()
        stranger.goto(address)
        expect(stranger.get_by_text("Only the browser that opened it gets in.")).to_be_visible()
        stranger.evaluate("location.hash = 'another'")
        stranger.wait_for_url(re.compile("/$"))
        expect(stranger.get_by_text("press Enter there")).to_be_visible()
        for each in (page, stranger):
            each.context.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert list(private.iterdir()) == []


def test_a_server_that_is_gone_is_said(desk: Desk) -> None:
    page = desk.open("audit")
    page.get_by_role("button", name="Try the example").click()
    page.wait_for_url("**/jobs/*")
    desk.process.send_signal(signal.SIGTERM)
    expect(page.locator("[data-step]")).to_contain_text("The app does not answer.")
    desk.complaints.clear()  # the browser notes each question that nobody answers

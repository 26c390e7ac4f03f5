"""What the guide shows is what happens: its examples run, its commands print what it says, its links lead somewhere."""

import doctest
import re
from contextlib import chdir
from html import unescape
from itertools import groupby
from pathlib import Path

import pytest
from click.testing import CliRunner

from unveil.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")

names = [str(page.relative_to(ROOT)) for page in PAGES]
each_page = pytest.mark.parametrize("page", PAGES, ids=names)


@pytest.fixture(autouse=True)
def beside_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands of pages find the classes of the examples."""
    for name in ("plugin", "beliefs"):
        monkeypatch.syspath_prepend(str(ROOT / "examples" / name))


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks in a language."""
    return [body for found, body in FENCE.findall(text) if found == language]


def run_python(body: str, variables: dict[str, object], name: str) -> str:
    """Run one block, and return how what it printed differs from what it shows."""
    if ">>>" not in body:
        exec(compile(body, name, "exec"), variables)  # noqa: S102
        return ""
    test = doctest.DocTestParser().get_doctest(body, variables, name, name, 0)
    report: list[str] = []
    doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
    variables.update(test.globs)
    return "".join(report)


def run_command(command: str, folder: Path) -> tuple[int, str]:
    """Return the exit code of a command, and what it prints; in this process, which has imported everything already."""
    assert command.startswith("unveil "), f"only unveil is run here, not {command}"
    with chdir(folder):
        done = CliRunner().invoke(main, command.split()[1:])
    return done.exit_code, done.stdout + done.stderr


def run_console(body: str, folder: Path, known: dict[str, tuple[int, str]]) -> str:
    """Run the commands of one block in a folder, and return how what they print differs from what it shows.

    What is known of commands in an empty folder is not asked for again.
    """
    code, wrong = 0, []
    for part in body.split("$ ")[1:]:
        command, _, shown = part.partition("\n")
        if command == "echo $?":
            printed = f"{code}\n"
        elif any(folder.iterdir()):
            code, printed = run_command(command, folder)
        else:
            code, printed = known[command] = known.get(command) or run_command(command, folder)
        if not doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS):
            wrong.append(f"$ {command}\nexpected:\n{shown}got:\n{printed}")
    return "\n".join(wrong)


def anchors(page: Path) -> set[str]:
    """Return what a link can point to within a page: its headings, as web sites that show Markdown name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    variables: dict[str, object] = {"__name__": "__main__"}
    for body in blocks(page.read_text(encoding="utf-8"), "python"):
        assert run_python(body, variables, page.name) == ""
    pyplot.close("all")


#: How a block begins that writes the files that the commands of its page are asked about.
FILES = "# The files of this page."


def first_command(page: Path) -> str:
    """Return the first command of a page, which for several pages is the same; without any, the page."""
    return next((body.partition("\n")[0] for body in blocks(page.read_text(encoding="utf-8"), "console")), str(page))


PAGES_BY_COMMAND = [list(pages) for _, pages in groupby(sorted(PAGES, key=first_command), key=first_command)]


@pytest.mark.parametrize(
    "pages",
    PAGES_BY_COMMAND,
    ids=[" ".join(str(page.relative_to(ROOT)) for page in pages) for pages in PAGES_BY_COMMAND],
)
def test_commands_print_what_is_shown(pages: list[Path], tmp_path: Path) -> None:
    known: dict[str, tuple[int, str]] = {}
    for number, page in enumerate(pages):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = page.read_text(encoding="utf-8")
        for body in blocks(text, "python"):
            if body.startswith(FILES):
                with chdir(folder):
                    run_python(body, {"__name__": "__main__"}, page.name)
        for body in blocks(text, "console"):
            assert run_console(body, folder, known) == ""


@pytest.mark.parametrize(
    "page",
    [*PAGES, *sorted(ROOT.glob("[C-Z]*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in link:
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def test_the_guide_has_examples_to_run() -> None:
    text = (ROOT / "docs" / "research" / "unlinkability.md").read_text(encoding="utf-8")
    assert len(blocks(text, "python")) >= 9
    assert len(blocks(text, "console")) >= 2


def test_the_report_of_the_tutorial_is_that_of_the_quickstart(tmp_path: Path) -> None:
    quickstart, tutorial = (ROOT / "docs" / "start" / f"{name}.md" for name in ("quickstart", "read-a-report"))
    text = quickstart.read_text(encoding="utf-8")
    with chdir(tmp_path):
        run_python(blocks(text, "python")[0], {"__name__": "__main__"}, quickstart.name)
    audit, protect, *_ = (line[2:] for line in text.splitlines() if line.startswith("$ "))
    assert run_command(audit, tmp_path)[0] == 3
    html = re.sub(
        r"<style.*?</style>|<[^>]+>", " ", (tmp_path / "report.html").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    shown = " ".join(unescape(html).split())
    report, passed = blocks(tutorial.read_text(encoding="utf-8"), "text")
    parts = [part for line in report.splitlines() for part in re.split(r" {2,}", line)]
    assert len(parts) >= 40
    assert [part for part in parts if part not in shown] == []
    code, printed = run_command(protect, tmp_path)
    assert code == 0
    assert printed.startswith(passed)


def test_a_wrong_example_is_seen(tmp_path: Path) -> None:
    assert "Expected:" in run_python(">>> 1 + 1\n3\n", {}, "page")
    with pytest.raises(ZeroDivisionError):
        run_python("1 / 0\n", {}, "page")
    assert "expected:" in run_console("$ unveil unlinkability no-such-file.csv\nfine\n", tmp_path, {})
    assert run_console("$ unveil unlinkability no-such-file.csv no.csv\n...\n$ echo $?\n2\n", tmp_path, {}) == ""

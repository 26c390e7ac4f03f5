"""Pages opened in a real browser that notices everything: errors, forbidden parts, requests to anybody."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Everything the browser has to say against a page is collected before the page's own script runs.
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""

UNFOLD = "document.querySelectorAll('details.part').forEach((part) => { part.open = true; })"


@dataclass(kw_only=True)
class Visit:
    """An open page, and what went wrong or was asked of the network."""

    page: "Page"
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def visit(
    browser: "Browser", path: Path, *, width: int = 1200, unfold: bool = True, **context: Any
) -> Iterator["Page"]:
    """Yield the page in the file, unfolded unless told otherwise; it must end without a complaint or a request."""
    opened = Visit(page=browser.new_context(viewport={"width": width, "height": 800}, **context).new_page())
    page = opened.page
    page.on("console", lambda message: opened.complaints.append(message.text))
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.add_init_script(_WATCH)
    page.goto(path.as_uri())
    if unfold:
        page.evaluate(UNFOLD)
    yield page
    assert opened.complaints == []
    assert not page.evaluate("window.violations ? violations.length : 0")
    assert [url for url in opened.requests if url != path.as_uri() and not url.startswith("data:")] == []
    page.context.close()


def barriers(page: "Page") -> list[str]:
    """Return what axe finds against a page with everything unfolded, in the colors it has now."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


def visit_at(browser: "Browser", path: Path, *widths: int) -> Iterator[tuple["Page", int]]:
    """Yield the page in the file at each of these widths: one without a script looks as if it were opened so wide."""
    with visit(browser, path, width=widths[0]) as page:
        for width in widths:
            page.set_viewport_size({"width": width, "height": 800})
            yield page, width

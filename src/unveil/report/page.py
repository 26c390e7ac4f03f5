"""A :class:`Page` as one self-contained HTML file."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from itertools import count as counting
from itertools import groupby
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError
from unveil.report.blocks import (
    RISK_LEVELS,
    Block,
    Boxes,
    CellGrid,
    Chart,
    Number,
    Page,
    Playground,
    Rings,
    RiskSummary,
    TableBlock,
)
from unveil.report.blocks_spread import BoxRows, DistributionPanels, HeatMap, Triangles, Waterfalls
from unveil.report.machine import compact
from unveil.report.svg.figures import box_figure, cells_figure, figure_of, heat_figure, panels_figure, rings_figure
from unveil.report.svg.risks import risk_figure
from unveil.report.templates import environment_of, text_of
from unveil.report.text import count

if TYPE_CHECKING:
    from jinja2 import Environment, Template

#: A longer table is cut, and the page says so: a page shows what matters, the JSON output has everything.
MOST_ROWS = 100
MOST_NOTES = 20
#: Tables of at most so many columns and rows fit next to a chart.
MOST_NARROW, MOST_SHORT = 5, 8
_PACKAGE = "unveil.report"

#: The decision in words.
DECISIONS = {"pass": "Pass", "fail": "Fail", "inconclusive": "Inconclusive", "none": "No threshold set"}
#: Whom the page is for, as it is said on it.
EDITIONS = {"": "", "internal": "Internal – do not share", "shareable": "Redacted"}

#: The last part of every page.
METHODS = "Methods and limitations"


def label_of(page: Page) -> str:
    """Return the decision or level of a page in words.

    >>> from unveil.report.blocks import LevelStrip
    >>> page = Page(title="T", question="Q", headline="H", tone="bad", sections=(), strip=LevelStrip(level="very_low"))
    >>> label_of(page)
    'Very low'
    """
    strip = page.strip
    if strip is None or (strip.decision == "none" and not strip.level):
        return "Result"
    if strip.decision != "none":
        return DECISIONS[strip.decision]
    return strip.level.replace("_", " ").capitalize()


def render(page: Page) -> str:
    """Return the page as self-contained HTML, below 1 MB.

    Everything is escaped. The content security policy allows nothing but the style and the scripts inside the file,
    each known by its hash. The same page gives the same bytes.

    >>> page = Page(title="T", question="Is it safe?", headline="No: <b>1</b> is out.", tone="bad", sections=())
    >>> text = render(page)
    >>> "&lt;b&gt;1&lt;/b&gt;" in text, "default-src 'none'" in text
    (True, True)
    """
    style = asset("page.css")
    scripts = [asset(f"{name}.js") for name in dict.fromkeys(("page", *_scripts(page)))]
    numbered = counting(1)
    picture = list(_groups(page.picture, numbered))
    limits = [] if page.strip is None or page.strip.limits is None else [page.strip.limits]
    # A chart with a viewBox stands next to the text, and narrow tables below the text; others need the whole width.
    beside = bool(picture) and picture[0]["kind"] == "chart"
    left = [group for group in picture[1:] if beside and _is_narrow(group)]
    parts = list(_parts(page, numbered))
    template = _environment().get_template("page.html.j2")
    return template.render(
        page=page,
        policy=_verbatim(_policy(style, scripts), "meta"),
        style=_verbatim(style, "style"),
        scripts=[_verbatim(script, "script") for script in scripts],
        picture=picture,
        beside=beside,
        left=left,
        below=[group for group in (*picture[beside:], *_groups(limits, numbered)) if group not in left],
        # The steps follow from the summary, so they stand below it.
        after=any(group["kind"] == "risks" for group in picture),
        decisions=DECISIONS,
        parts=parts,
        levels=[(level, level.replace("_", " ")) for level in (*RISK_LEVELS, "inconclusive")],
        edition=EDITIONS[page.edition],
        cautions=page.cautions[:MOST_NOTES],
    )


def _is_narrow(group: dict[str, Any]) -> bool:
    return group["kind"] == "table" and not group["table"].prose and _is_small(group["table"])


def _is_small(table: TableBlock) -> bool:
    return len(table.columns) <= MOST_NARROW and len(table.rows) <= MOST_SHORT


def asset(name: str) -> str:
    """Return the text of a file that is part of every report."""
    return text_of(_PACKAGE, name)


@cache
def _environment() -> "Environment":
    return environment_of(_PACKAGE)


def _policy(style: str, scripts: list[str]) -> str:
    allowed = " ".join(map(_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {allowed}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _verbatim(text: str, element: str) -> Any:
    """Return own text unescaped, exactly as it is hashed."""
    from markupsafe import Markup

    if f"</{element}" in text.lower():
        raise ValueError(f"an asset must not close its own <{element}> element")
    return Markup(text)  # noqa: S704 - never input


def embedded(data: Any) -> Any:
    """Return data as JSON that may stand inside a ``<script type="application/json">`` element.

    >>> "u003c/script" in embedded({"name": "</script>"}), "<" in embedded({"name": "</script>"})
    (True, False)
    """
    from markupsafe import Markup

    text = compact(data)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704 - nothing that HTML gives a meaning to is left


def _scripts(page: Page) -> Iterator[str]:
    for block in page.blocks:
        if isinstance(block, Playground):
            yield block.script


def _parts(page: Page, numbered: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Yield the template data of each folding part."""
    for position, section in enumerate(page.sections, start=1):
        yield {
            "heading": section.heading,
            "identity": f"part-{position}",
            "is_open": section.is_open,
            "question": section.question,
            "lead": section.lead,
            "groups": list(_groups(section.blocks, numbered)),
            "data": list(_groups(section.data, numbered)),
            "lists": (),
        }
    if page.lists or page.method_data:
        yield {
            "heading": METHODS,
            "identity": "methods",
            "is_open": False,
            "question": "",
            "lead": "",
            "groups": [],
            "data": list(_groups(page.method_data, numbered)),
            "lists": [(title, _cut(sentences)) for title, sentences in page.lists],
        }


def _cut(notes: tuple[str, ...]) -> tuple[str, ...]:
    more = len(notes) - MOST_NOTES
    return (*notes[:MOST_NOTES], *([f"{more} more are in the JSON output."] if more > 0 else []))


def _groups(shown: Iterable[Block], numbered: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Yield the template data of each block."""
    for kind, blocks in groupby(shown, key=_shelf):
        if kind is Number:
            yield {"kind": "numbers", "numbers": list(blocks)}
        elif kind == "small charts":
            charts = (block for block in blocks if isinstance(block, Chart))
            yield {"kind": kind, "figures": [figure_of(chart, f"block-{next(numbered)}") for chart in charts]}
        elif kind == "small boxes":
            rows = (block for block in blocks if isinstance(block, BoxRows))
            yield {"kind": kind, "figures": [box_figure(block, f"block-{next(numbered)}") for block in rows]}
        else:
            yield from (_group(block, f"block-{next(numbered)}") for block in blocks)


def _shelf(block: Block) -> object:
    """Return what blocks that stand side by side have in common."""
    if isinstance(block, BoxRows) and block.small:
        return "small boxes"
    return "small charts" if isinstance(block, Chart) and block.small else type(block)


def _group(block: Block, identity: str) -> dict[str, Any]:
    match block:
        case Chart():
            return {"kind": "chart", "figure": figure_of(block, identity)}
        case Rings():
            return {"kind": "chart", "figure": rings_figure(block, identity)}
        case BoxRows():
            return {"kind": "box rows", "figure": box_figure(block, identity)}
        case CellGrid():
            return {"kind": "chart", "figure": cells_figure(block, identity)}
        case DistributionPanels() | Triangles() | Waterfalls():
            return {"kind": "chart", "figure": panels_figure(block, identity)}
        case HeatMap():
            return {"kind": "heat map", "figure": heat_figure(block, identity)}
        case TableBlock():
            cut = len(block.rows) - MOST_ROWS
            more = f"The first {MOST_ROWS} of {count(len(block.rows))} rows are shown." if cut > 0 else ""
            return {"kind": "table", "table": block, "rows": block.rows[:MOST_ROWS], "more": more, "identity": identity}
        case RiskSummary():
            return {"kind": "risks", "figure": risk_figure(block, identity)}
        case Boxes():
            return {"kind": "boxes", "boxes": block}
        case Playground():
            return {
                "kind": "playground",
                "playground": block,
                "figure": figure_of(block.chart, identity),
                "data": embedded(block.data),
                "identity": identity,
            }
        case _:
            raise TypeError(f"a section cannot show a {type(block).__name__}")


def data_of(html: str) -> list[Any]:
    """Return the data embedded in a page, by playground."""
    pieces = html.split('<script type="application/json">')[1:]
    return [json.loads(piece.split("</script>", 1)[0]) for piece in pieces]


# The sign-off sheet as a document of its own: plain HTML without style rules, which word processors open and change.


def sheet_document(page: Page) -> str:
    """Return the record of the audit as plain HTML.

    Nothing in it runs, moves or is fetched, and no style hides anything: a word processor shows what a browser does.
    Lines that are signed or filled in on paper are cells to be filled in here.
    """
    if page.sheet is None:
        raise InputError("Only an audit has a sign-off sheet. Write it for the result of an audit")
    tables = [block for block in page.method_data if isinstance(block, TableBlock)]
    decision = DECISIONS[page.strip.decision] if page.strip is not None else DECISIONS["none"]
    return _template().render(page=page, sheet=page.sheet, tables=tables, decision=decision)


@cache
def _template() -> "Template":
    return environment_of("unveil.report").get_template("sheet.html.j2")

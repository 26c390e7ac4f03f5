"""The sheet to sign as a document of its own: plain HTML without style rules, which word processors open and change."""

from functools import cache
from typing import TYPE_CHECKING

from unveil.errors import InputError
from unveil.report.blocks import Page, TableBlock
from unveil.report.templates import environment_of

if TYPE_CHECKING:
    from jinja2 import Template


def sheet_document(page: Page) -> str:
    """Return the answer, the sheet and all that it had to cut as HTML of headings, sentences and plain tables.

    Nothing in it runs, moves or is fetched, and no style hides anything: a word processor shows what a browser does.
    Lines that are signed or filled in on paper are cells to be filled in here.
    """
    if page.sheet is None:
        raise InputError("this page has no sheet to sign. Make it of an audit")
    sections = [
        (section, [block for block in section.blocks if isinstance(block, TableBlock)])
        for section in page.sections
        if section.on_file
    ]
    return _template().render(page=page, sheet=page.sheet, sections=sections)


@cache
def _template() -> "Template":
    return environment_of("unveil.report").get_template("sheet.html.j2")

"""Select the first screen of a page for the terminal."""

from collections.abc import Iterator

from unveil.report.blocks import Page
from unveil.report.terminal import Headline, Part


def opening(page: Page, *, notes: bool = True) -> Iterator[Part]:
    """Yield what must be known first, the answer in one sentence, what explains it, what to do next, and notes.

    >>> page = Page(title="T", question="Is it safe?", headline="No.", tone="bad", sections=(), next_steps=("Wait.",))
    >>> list(opening(page))
    [Headline(text='No.', tone='bad'), '→ Wait.']
    """
    yield from (Headline(caution, "warning") for caution in page.cautions)
    yield Headline(page.headline, page.tone)
    yield from page.explanation
    yield from (f"→ {step}" for step in page.next_steps)
    yield from (f"Note: {note}" for note in page.notes if notes)

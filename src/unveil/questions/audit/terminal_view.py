"""Select what a terminal shows of an audit page."""

from collections.abc import Iterator
from dataclasses import replace

from unveil.questions.audit import verdict, words
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.parts.suggestions import SAME_PEOPLE, suggestion_sentences
from unveil.questions.audit.ranking import is_proved
from unveil.questions.audit.sentences import sentence
from unveil.questions.audit.tables import comparison_table
from unveil.report.blocks import Answers, Page
from unveil.report.terminal import Part, opening
from unveil.report.text import count, name

#: A short answer has no room for more.
_MOST_NOTES = 2


def short(audit: Audit, page: Page) -> Iterator[Part]:
    """Yield what a terminal shows unless asked for more: the first screen of the page."""
    yield from opening(page, notes=False)
    yield ""
    yield from (block for block in page.picture if isinstance(block, Answers))
    yield from _suggested(audit)
    notes = [each for each in page.notes if each != words.EVIDENCE]
    yield from (f"Note: {note}" for note in notes[:_MOST_NOTES])
    more = f"{count(len(notes) - _MOST_NOTES, 'more note', 'more notes')} and all" if notes[_MOST_NOTES:] else "All"
    yield f"No finding of anonymity. {more} figures: --report full, --html FILE or --json."


def full(audit: Audit, page: Page) -> Iterator[Part]:
    """Yield all that a terminal shows: the answer, notes, the comparison, and what it means."""
    yield from opening(page)
    yield ""
    yield comparison_table(audit)
    for text in plain_words(audit):
        yield from ("", text)
    yield from _suggested(audit)


def _suggested(audit: Audit) -> Iterator[Part]:
    if audit.suggestions is not None:
        yield from ("", *suggestion_sentences(audit), *([SAME_PEOPLE] if audit.suggestions.again is not None else []))


def plain_words(audit: Audit) -> list[str]:
    """Return for each release what its worst adversary and its columns mean, for the terminal."""
    said = []
    for release in audit.releases:
        found = verdict.worst(replace(audit, releases=(release,)))
        if found is None:
            continue
        finding = found[1]
        weights = [weight for own in release.of(finding.attack) for weight in own.weights]
        # Where nothing is proved, what a column seems to be worth is mostly luck.
        columns = [weight.column for weight in weights if is_proved(finding) and weight.loss > 0][:3]
        most = f" The columns that help most: {words.listed(columns)}." if columns else ""
        which = f"{name(release.name, 40)}: " if len(audit.releases) > 1 else ""
        said.append(f"{which}{sentence(finding)}{most}")
    return said

"""Select what a terminal shows of an audit page."""

from collections.abc import Iterator
from dataclasses import replace

from unveil.questions.audit import words
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision_text import OPTIONS
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.parts.suggestions import SAME_PEOPLE, suggestion_sentences
from unveil.questions.audit.ranking import is_significant, severity, worst_of
from unveil.questions.audit.sentences import sentence
from unveil.questions.audit.tables import comparison_table
from unveil.report.blocks import Page, TableBlock
from unveil.report.terminal import ColumnSubset, Part, opening
from unveil.report.text import count, name

#: A short answer has no room for more.
_MOST_NOTES = 2


def short(audit: Audit, page: Page) -> Iterator[Part]:
    """Yield what a terminal shows unless asked for more: the first screen of the page."""
    yield from opening(_with_options(page), notes=False)
    yield ""
    yield from _tables(page)
    yield from _suggested(audit)
    notes = [each for each in page.notes if each != words.EVIDENCE]
    yield from (f"Note: {note}" for note in notes[:_MOST_NOTES])
    more = f"{count(len(notes) - _MOST_NOTES, 'more note', 'more notes')} and all" if notes[_MOST_NOTES:] else "All"
    yield f"{more} results: --report full, --html FILE or --json."


def full(audit: Audit, page: Page) -> Iterator[Part]:
    """Yield all that a terminal shows: the decision, notes, the comparison, and what it means."""
    yield from opening(_with_options(page))
    yield ""
    yield from _tables(page)
    yield ""
    yield comparison_table(audit)
    for text in plain_words(audit):
        yield from ("", text)
    yield from _suggested(audit)


def _tables(page: Page) -> Iterator[Part]:
    """Yield the tables of the first screen without the column that 80 characters have no room for."""
    for block in page.picture:
        if isinstance(block, TableBlock):
            yield ColumnSubset(block, tuple(at for at, head in enumerate(block.columns) if head != "Adjusted p"))


def _with_options(page: Page) -> Page:
    """Return the page with the option of the command line behind each next step that has one."""
    steps = (f"{step[:-1]} ({OPTIONS[step]})." if step in OPTIONS else step for step in page.next_steps)
    return replace(page, next_steps=tuple(steps))


def _suggested(audit: Audit) -> Iterator[Part]:
    if audit.suggestions is not None:
        yield from ("", *suggestion_sentences(audit), *([SAME_PEOPLE] if audit.suggestions.again is not None else []))


def plain_words(audit: Audit) -> list[str]:
    """Return for each release what its worst attacker and its columns mean, for the terminal."""
    said = []
    for release, decided in zip(audit.releases, audit.decision.releases, strict=True):
        every = [found for attack in audit.attacks if (found := worst_of(release, attack)) is not None]
        leading = "" if decided.worst is None else decided.worst.attack
        finding = max(every, key=lambda each: (ATTACKS[each.attack].effect == leading, severity(each)), default=None)
        if finding is None:
            continue
        weights = [weight for own in release.of(finding.attack) for weight in own.weights]
        # Where nothing is significant, the importance of a column is mostly chance.
        columns = [weight.column for weight in weights if is_significant(finding) and weight.loss > 0][:3]
        most = f" Most telling columns: {words.listed(columns)}." if columns else ""
        which = f"{name(release.name, 40)}: " if len(audit.releases) > 1 else ""
        said.append(f"{which}{sentence(finding)}{most}")
    return said

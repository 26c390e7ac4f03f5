"""Several answers to the same questions side by side: a column for each thing that is asked about, a row a question."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from unveil.report.blocks import TableBlock, Tone

#: What is known after a question was looked into; always said in words, by a shape and by a colour.
Mark = Literal["proved", "not proved", "not tested"]
SHAPES = MappingProxyType({"proved": "▲", "not proved": "○", "not tested": "–"})
#: A terminal of 80 columns has room for so many columns of figures.
MOST_ACROSS = 3


@dataclass(frozen=True, kw_only=True)
class AnswerCell:
    """The answer of one release to one question, with its mark and value."""

    mark: Mark
    #: The figure with its interval; empty where there is none.
    value: str = ""
    #: What the figure must be read beside, or why there is none.
    beside: str = ""
    #: By which attack, guess or measure, where that differs between the columns.
    by: str = ""
    #: The figure and what stands beside it as briefly as a terminal needs it.
    brief: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """One question with its answers, in the order of the columns."""

    question: str
    answers: tuple[AnswerCell, ...]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Questions as rows, things as columns; the first of the ``ends`` stands above the questions, the others below."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[AnswerRow, ...]
    #: How the whole of each column should strike.
    tones: "tuple[Tone, ...]"
    #: What each column comes to, as label and texts: the verdict, and what else must be weighed.
    ends: tuple[tuple[str, tuple[str, ...]], ...] = ()
    note: str = ""
    #: What the two figures of a brief cell are.
    brief_note: str = ""


def brief_table(answers: Answers) -> "TableBlock":
    """Return the answers as a table for a terminal: a column for each thing, or where there are many a row for each.

    >>> row = AnswerRow(question="Who?", answers=(AnswerCell(mark="proved", value="61%", brief="61% / 5%"),))
    >>> brief_table(Answers(caption="C", columns=("a",), rows=(row,), tones=("bad",))).rows
    (('Who?', '▲ 61% / 5%'),)
    """
    from unveil.report.blocks import Side, TableBlock

    left: Side = "left"
    if len(answers.columns) <= MOST_ACROSS:
        found = [
            (row.question, *(f"{SHAPES[each.mark]} {each.brief}".rstrip() for each in row.answers))
            for row in answers.rows
        ]
        # Only what decides: 80 columns have no room for what else must be weighed.
        verdicts = [(label, *(text.partition(";")[0] for text in texts)) for label, texts in answers.ends[:1]]
        marks = ", ".join(f"{shape} {mark}" for mark, shape in SHAPES.items())
        return TableBlock(
            caption="",
            columns=("", *answers.columns),
            rows=(*verdicts, *found),
            align=(left,) * (len(answers.columns) + 1),
            note=f"{marks}{f'; {answers.brief_note}' if answers.brief_note else ''}",
        )
    labels = ("", "Proved", *(label for label, _ in answers.ends[1:]))
    return TableBlock(
        caption="",
        columns=labels,
        rows=tuple(
            (column, _proved(answers, at), *(texts[at] for _, texts in answers.ends[1:]))
            for at, column in enumerate(answers.columns)
        ),
        align=(left,) * len(labels),
    )


def whole_table(answers: Answers) -> "TableBlock":
    """Return the answers with a row for each question and thing, as a spreadsheet wants them.

    >>> row = AnswerRow(question="Who?", answers=(AnswerCell(mark="proved", value="61%", beside="chance 0.1%"),))
    >>> whole_table(Answers(caption="C", columns=("a",), rows=(row,), tones=("bad",), ends=(("Lost", ("5%",)),))).rows
    (('Who?', 'a', 'proved', '61%', 'chance 0.1%', ''), ('Lost', 'a', '', '5%', '', ''))
    """
    from unveil.report.blocks import Side, TableBlock

    left: Side = "left"
    found = [
        (row.question, column, each.mark, each.value, each.beside, each.by)
        for row in answers.rows
        for column, each in zip(answers.columns, row.answers, strict=True)
    ]
    ends = [
        (label, column, "", text, "", "")
        for label, texts in answers.ends
        for column, text in zip(answers.columns, texts, strict=True)
    ]
    heads = ("Question", "Of", "Mark", "Figure", "Beside", "By")
    return TableBlock(caption=answers.caption, columns=heads, rows=(*found, *ends), align=(left,) * len(heads))


def _proved(answers: Answers, at: int) -> str:
    """Return the questions that are proved of one thing, in a few words."""
    proved = [row.question.rstrip("?").lower() for row in answers.rows if row.answers[at].mark == "proved"]
    return "; ".join(proved) or "nothing"

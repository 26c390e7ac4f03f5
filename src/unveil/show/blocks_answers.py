"""Several answers to the same questions side by side: a column for each thing that is asked about, a row a question."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from unveil.show.blocks import Table, Tone

#: What is known after a question was looked into; always said in words, by a shape and by a colour.
Mark = Literal["proved", "not proved", "not tested"]
SHAPES = MappingProxyType({"proved": "▲", "not proved": "○", "not tested": "–"})
#: A terminal of 80 columns has room for so many columns of figures.
MOST_ACROSS = 3


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What was found on one question about one thing."""

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
    answers: tuple[Answered, ...]


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


def brief_table(answers: Answers) -> "Table":
    """Return the answers as a table for a terminal: a column for each thing, or where there are many a row for each."""
    from unveil.show.blocks import Side, Table

    left: Side = "left"
    if len(answers.columns) <= MOST_ACROSS:
        found = [
            (row.question, *(f"{each.mark} {each.brief}".rstrip() for each in row.answers)) for row in answers.rows
        ]
        ends = [(label, *texts) for label, texts in answers.ends]
        rows = [*ends[:1], *found, *ends[1:]]
        return Table(
            caption=answers.caption,
            columns=("", *answers.columns),
            rows=tuple(rows),
            align=(left,) * (len(answers.columns) + 1),
            note=answers.brief_note,
        )
    labels = ("", "Proved", *(label for label, _ in answers.ends[1:]))
    return Table(
        caption=answers.caption,
        columns=labels,
        rows=tuple(
            (column, _proved(answers, at), *(texts[at] for _, texts in answers.ends[1:]))
            for at, column in enumerate(answers.columns)
        ),
        align=(left,) * len(labels),
    )


def _proved(answers: Answers, at: int) -> str:
    """Return the questions that are proved of one thing, in a few words."""
    proved = [row.question.rstrip("?").lower() for row in answers.rows if row.answers[at].mark == "proved"]
    return "; ".join(proved) or "nothing"

"""Tables as LaTeX: nothing in a cell is a command, columns line up, and long tables are cut."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.report.blocks import TableBlock
from unveil.report.latex import document, escape, table

SMALL = TableBlock(caption="A & B", columns=("name", "value"), rows=(("x_1", "50%"),), align=("left", "right"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("50% of $1 & #2", r"50\% of \$1 \& \#2"),
        ("a_b^c~d", r"a\_b\textasciicircum{}c\textasciitilde{}d"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("0.1–0.2 ± 3 × 4", r"0.1\textendash{}0.2 $\pm$ 3 $\times$ 4"),
        ("--limit", "-{}-limit"),
        ("a\nb", "a?b"),
        ("", ""),
    ],
)
def test_every_text_is_shown_as_it_is(text: str, shown: str) -> None:
    assert escape(text) == shown


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=20))
def test_no_letter_keeps_its_meaning(text: str) -> None:
    made = escape(text)
    assert "\n" not in made
    # What is left of commands of our own is nothing that LaTeX gives a meaning to.
    bare = re.sub(r"\\[a-z]+\{(2?)\}|\\[{}$&#%_]|\$\\?[a-z-]+\$|-\{\}-", "", made.replace(r"\textsuperscript{2}", ""))
    assert not set(bare) & set("\\{}$&#%_^")


def test_a_table_has_as_many_cells_in_each_row_as_columns() -> None:
    text = table(SMALL, label="tab:x")
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 2
    assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {2}
    assert r"\begin{tabular}{lr}" in text
    assert r"\caption{A \& B}" in text
    assert r"\label{tab:x}" in text
    assert "label" not in table(SMALL)


def test_sentences_are_wrapped_and_notes_stand_below() -> None:
    prose = TableBlock(
        caption="C", columns=("a", "b"), rows=(("x", "long"),), align=("left", "left"), prose=True, note="a note: 5%"
    )
    text = table(prose)
    assert r"\begin{tabular}{lp{6.5cm}}" in text
    assert text.index(r"\end{tabular}") < text.index(r"a note: 5\%") < text.index(r"\end{table}")


def test_a_long_table_is_cut_into_several_with_labels_of_their_own() -> None:
    long = TableBlock(
        caption="C", columns=("n",), rows=tuple((str(n),) for n in range(100)), align=("right",), note="once"
    )
    text = document([("tab:long", long), ("tab:small", SMALL)], comment=("made\nhere",))
    assert text.startswith("% made�here\n")
    assert re.findall(r"\\label\{(.*?)\}", text) == ["tab:long", "tab:long-2", "tab:long-3", "tab:small"]
    assert text.count("(continued)") == 2
    assert text.count("once") == 1
    assert len(re.findall(r"^\d+ \\\\$", text, re.MULTILINE)) == 100
    empty = TableBlock(caption="C", columns=("n",), rows=(), align=("right",))
    assert document([("tab:empty", empty)]).count(r"\begin{table}") == 1

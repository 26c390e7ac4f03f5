import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from tests.questions.unlinkability.example import SCRIPT, attacking_names, conservative, large
from unveil.report.blocks import (
    RISK_LEVELS,
    Chart,
    LevelStrip,
    NextStep,
    Number,
    Page,
    Playground,
    Section,
    Series,
    TableBlock,
)
from unveil.report.page import DECISIONS, METHODS, MOST_NOTES, MOST_ROWS, data_of, embedded, label_of, render
from unveil.report.terminal import opening

VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """Reads a page as a browser would: the open elements, the attributes of each, and the text in each."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every element of this kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    def text_of(self, tag: str) -> list[str]:
        """Return the texts directly inside elements of this kind."""
        return [text for name, text in self.texts if name == tag]


def small(**changes: object) -> Page:
    given = {"title": "T", "question": "Q", "headline": "H", "tone": "bad", "sections": ()}
    return Page(**(given | changes))  # type: ignore[arg-type]


def with_blocks(*blocks: Chart | TableBlock | Number | Playground) -> Page:
    return small(sections=(Section(heading="S", lead="L", blocks=blocks),))


def hashes(html: str, tag: str) -> str:
    found: list[str] = re.findall(rf"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in found)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def policy_of(html: str) -> dict[str, str]:
    content = next(m["content"] for m in Reader(html).all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    return dict(part.strip().split(" ", 1) for part in content.split(";"))


def test_every_element_is_closed_and_every_name_is_one_of_a_kind() -> None:
    reader = Reader(conservative().html())
    assert reader.open == []
    names = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(names) == len(set(names))
    wanted = {
        name
        for _, attributes in reader.elements
        for key in ("aria-labelledby", "aria-describedby", "for")
        for name in attributes.get(key, "").split()
    }
    wanted |= {a["href"][1:] for a in reader.all("a")}
    assert wanted <= set(names)


def test_the_policy_allows_exactly_the_style_and_the_script_inside() -> None:
    html = conservative().html()
    policy = policy_of(html)
    for directive, tag, number in (("style-src", "style", 1), ("script-src", "script", 2)):
        assert policy[directive] == hashes(html, tag)
        assert policy[directive].count("sha256-") == number
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["img-src"] == "data:"


def test_a_page_without_a_playground_has_the_script_of_all_pages_only() -> None:
    html = render(small())
    assert html.count("<script") == 1
    assert policy_of(html)["script-src"] == hashes(html, "script")


def test_nothing_needs_the_policy_to_be_weaker() -> None:
    reader = Reader(conservative().html())
    for tag, attributes in reader.elements:
        assert not [key for key in attributes if key == "style" or key.startswith("on")], tag
    for attribute in ("src", "href", "action", "xlink:href"):
        targets = [attributes[attribute] for _, attributes in reader.elements if attribute in attributes]
        assert all(target.startswith(("#", "data:,")) for target in targets)


def test_names_from_the_data_are_shown_and_not_run() -> None:
    html = attacking_names().html()
    reader = Reader(html)
    shown = reader.text_of("bdi")
    assert SCRIPT in shown
    assert '"><img src=x onerror=alert(1)>' in shown
    assert reader.all("img") == []
    # The script of all pages and that of the question, the data of the subjects and of the playground.
    assert len(reader.all("script")) == 4
    assert not set(html) & {"\x00", "\u202e"}


def test_data_for_the_script_cannot_end_the_script() -> None:
    bad = {"name": "</script><!--\u2028\u2029&"}
    text = str(embedded(bad))
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == bad


def test_the_same_page_gives_the_same_bytes() -> None:
    assert conservative().html() == conservative().html()


def test_a_page_stays_small_whatever_the_input() -> None:
    example = large()
    assert example.result.overall.linked.size > 3000
    html = example.html(notes=["<" * 10_000] * 10_000, show_names=True)
    assert len(html.encode()) < 1_000_000
    data = data_of(html)[-1]
    assert max(len(curve[0]) for curve in data["linked"] + data["mixed"]) == 200
    assert f"{10_000 - MOST_NOTES} more are in the JSON output." in html


def test_a_long_table_is_cut_and_says_so() -> None:
    rows = tuple((f"row {k}", "x" * 500) for k in range(5000))
    table = TableBlock(caption="C", columns=("a", "b"), rows=rows, align=("left", "right"))
    html = render(with_blocks(table))
    assert html.count("<tr>") == MOST_ROWS + 1
    assert "The first 100 of 5,000 rows are shown." in html
    assert "x" * 100 not in html


def test_a_table_can_be_read_by_ear_and_scrolled_by_keyboard() -> None:
    table = TableBlock(caption="C", columns=("a", "b"), rows=(("1", "2"),), align=("left", "right"), note="N")
    reader = Reader(render(with_blocks(table)))
    region = next(d for d in reader.all("div") if d.get("role") == "region")
    assert region["tabindex"] == "0"
    heading, caption = region["aria-labelledby"].split()
    assert heading in {h["id"] for h in reader.all("h2")}
    assert caption in {c["id"] for c in reader.all("caption")}
    assert [th["scope"] for th in reader.all("th")] == ["col", "col", "row"]
    assert reader.text_of("caption") == ["C"]


def test_headings_follow_one_another() -> None:
    reader = Reader(conservative().html(notes=("one",)))
    levels = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_landmarks_and_language_are_there() -> None:
    html = conservative().html()
    reader = Reader(html)
    assert html.startswith('<!doctype html>\n<html lang="en">')
    assert [len(reader.all(tag)) for tag in ("header", "main", "footer", "nav")] == [1, 1, 1, 1]
    assert all(section["aria-labelledby"] for section in reader.all("section"))
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in reader.all("meta")


def test_every_picture_has_a_name_and_a_description() -> None:
    reader = Reader(conservative().html())
    pictures = [svg for svg in reader.all("svg") if svg.get("role") == "img"]
    assert len(pictures) == 7
    titles = {title["id"] for title in reader.all("title") if "id" in title}
    described = {desc["id"] for desc in reader.all("desc")}
    for picture in pictures:
        title, description = picture["aria-labelledby"].split()
        assert title in titles
        assert description in described
    assert len(reader.all("figcaption")) == 7


def test_sliders_are_hidden_until_the_script_runs() -> None:
    reader = Reader(conservative().html())
    assert next(d for d in reader.all("div") if d.get("class") == "controls").get("hidden") is not None
    sliders = [i for i in reader.all("input") if i["type"] == "range"]
    assert [(s["data-slider"], s["max"], s["value"]) for s in sliders] == [("alpha", "22", "11"), ("beta", "100", "80")]
    assert [s["aria-valuetext"] for s in sliders] == ["0.50", "80%"]
    assert any(p.get("aria-live") == "polite" for p in reader.all("p"))


@pytest.mark.parametrize("decision", DECISIONS)
def test_the_decision_is_stated_in_words(decision: str) -> None:
    html = render(small(strip=LevelStrip(decision=decision, threshold="threshold 9% (EMA)")))
    assert DECISIONS[decision] in Reader(html).text_of("strong")
    assert "threshold 9% (EMA)" in html
    # Without a level there is no scale of levels.
    assert 'class="levels"' not in html
    assert label_of(small(strip=LevelStrip(decision=decision))) == (
        "Result" if decision == "none" else DECISIONS[decision]
    )


@pytest.mark.parametrize("level", [*RISK_LEVELS, "inconclusive"])
@pytest.mark.parametrize("at_least", [False, True])
def test_one_level_of_the_strip_is_the_current_one(level: str, at_least: bool) -> None:
    page = small(strip=LevelStrip(level=level, at_least=at_least))
    reader = Reader(render(page))
    levels = [each for each in reader.all("li") if each.get("class", "").startswith("level ")]
    assert [each["class"] for each in levels] == [f"level {each}" for each in (*RISK_LEVELS, "inconclusive")]
    assert [each["class"] for each in levels if each.get("aria-current") == "true"] == [f"level {level}"]
    said = f"{'at least ' if at_least else ''}{level.replace('_', ' ')}"
    assert said in reader.text_of("li")
    assert sum("at least" in text for text in reader.text_of("li")) == at_least
    assert label_of(page) == level.replace("_", " ").capitalize()


def test_limits_stand_on_the_first_screen() -> None:
    limits = TableBlock(caption="Limits", columns=("a", "b"), rows=(("<i>x", "2"),), align=("left", "right"))
    html = render(small(strip=LevelStrip(decision="fail", limits=limits)))
    first = html.partition('<div class="rest">')[0]
    assert ">Limits</caption>" in first
    assert "&lt;i&gt;x" in first


def test_a_next_step_names_its_option_in_a_terminal_only() -> None:
    page = small(next_steps=(NextStep("State the type.", option="--release-type <b>"), "Wait."))
    html = render(page)
    assert html.count("<li>State the type.</li>") == 1
    assert "--release-type" not in html
    assert [each for each in opening(page) if isinstance(each, str)] == [
        "→ State the type (--release-type <b>).", "→ Wait.",
    ]  # fmt: skip


def test_seed_version_and_notes_are_shown() -> None:
    html = render(
        small(seed=12, version="9.9", notes=("12 items were <dropped>.",), method=("M.",), limitations=("L.",))
    )
    assert re.search(r"unveil 9\.9, seed 12\.", html)
    assert "12 items were &lt;dropped&gt;." in html
    assert f">{METHODS}</h2>" in html
    assert Reader(html).text_of("h3") == ["Methods", "Limitations", "Notes on the input"]
    assert "seed" not in render(small()).partition("</style>")[2].partition("<script>")[0]


def test_numbers_stand_side_by_side_with_their_reference() -> None:
    one = Number(label="Risk", value="1%", meaning="Little.", reference="2%")
    html = render(with_blocks(one, one))
    assert html.count('<dl class="numbers">') == 1
    assert html.count("Random guessing: 2%") == 2


def test_a_legend_is_there_where_there_is_more_than_one_line() -> None:
    line = Series(name="linked", x=np.array([0.0]), y=np.array([1.0]), style="first")
    chart = Chart(title="T", x_label="x", y_label="y", series=(line,))
    both = Chart(title="T", x_label="x", y_label="y", series=(line, line))
    assert 'class="legend"' not in render(with_blocks(chart))
    assert render(with_blocks(both)).count("<li><svg") == 2


def test_what_no_section_can_show_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot show a str"):
        render(with_blocks("text"))  # type: ignore[arg-type]


def test_an_option_stays_in_one_piece_and_what_stands_around_it_is_escaped() -> None:
    html = render(small(next_steps=("Say --seed-pairs 10 & <b>--x-</b>, a--b or -- c.",)))
    said = re.search(r"<li>(Say .*?)</li>", html)
    assert said is not None
    one, other = (f'<span class="option">{option}</span>' for option in ("--seed-pairs", "--x"))
    assert said[1] == f"Say {one} 10 &amp; &lt;b&gt;{other}-&lt;/b&gt;, a--b or -- c."

"""Every page as HTML: escaped, nothing inline, every control labelled, every reference to something that is there."""

from collections import Counter
from dataclasses import dataclass
from dataclasses import field as made
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from unveil.attacks import ATTACKS
from unveil.metrics import METRICS
from unveil.protections import PROTECTIONS
from unveil.questions import QUESTIONS
from unveil.questions import question as asked_for
from unveil.web import pages
from unveil.web.pages import settings_of

ROOT = "/Xy-_0"
HOSTILE = "<img src=x onerror=alert(1)>\"'{{ 7*7 }}</script>=cmd|' /C calc'!A0"


@dataclass(frozen=True, kw_only=True)
class File:
    id: str
    name: str
    size: int = 1000


@dataclass(frozen=True, kw_only=True)
class Job:
    id: str = "ab12"
    question: str = "audit"
    state: str = "finished"
    headline: str = ""
    tone: str = ""
    label: str = ""
    error: str = ""
    field: str = ""
    files: dict[str, Any] = made(default_factory=dict)
    settings: dict[str, Any] = made(default_factory=dict)
    outputs: tuple[str, ...] = ()
    seconds: float = 3.0


def jobs() -> list[Job]:
    column = {"name": HOSTILE, "role": "known", "suggested": "known", "kind": "number", "guessed": "category"}
    named = Job(
        headline=HOSTILE,
        tone="bad",
        label=HOSTILE,
        files={"released": [File(id="2", name=HOSTILE)], "original": File(id="1", name=HOSTILE)},
        settings={
            "columns": [column],
            "scenarios": [{"name": HOSTILE.replace("=", ""), "columns": [HOSTILE]}],
            "release_type": ["masked"],
            "review": HOSTILE,
        },
    )
    failed = Job(question="study", state="failed", error=HOSTILE, field="folder", settings={"folder": f"/{HOSTILE}"})
    return [
        named,
        failed,
        Job(state="waiting", settings={"sample": True}),
        Job(state="running", settings={"sample": True}, question="graph"),
        Job(state="cancelled", settings={"sample": True}, question="grades"),
        Job(state="finished", settings={"sample": True}, tone="nonsense", question="study", seconds=0.1),
    ]


def every_page() -> dict[str, str]:
    made = {f"question {name}": pages.question(asked_for(name), root=ROOT) for name in QUESTIONS}
    made |= {f"job {number} {job.state}": pages.job(job, root=ROOT) for number, job in enumerate(jobs())}
    made |= {f"again {job.question}": pages.question(asked_for(job.question), job, root=ROOT) for job in jobs()[:2]}
    return {
        **made,
        "home": pages.home(root=ROOT),
        "home with jobs": pages.home(jobs(), [File(id="1", name=HOSTILE)], root=ROOT),
        "list": pages.listing(root=ROOT),
        "error": pages.error(404, HOSTILE, root=ROOT),
    }


EVERY = every_page()


class Reader(HTMLParser):
    """Collects the elements of a page, those inside templates apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[tuple[str, dict[str, str]]] = []
        self.parents: list[list[tuple[str, dict[str, str]]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        self.parents.append(list(self.open))
        if tag not in {"meta", "link", "input", "img", "br"}:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1][0] == tag, f"</{tag}> closes <{self.open[-1][0]}>"
        self.open.pop()


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_inline_and_nothing_comes_from_elsewhere(name: str) -> None:
    read = Reader(EVERY[name])
    assert read.open == []
    for tag, attributes in read.elements:
        assert tag not in {"style", "img", "object", "embed", "base", "b"}
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
        if tag == "script":
            ours = attributes.get("src") in (f"{ROOT}/assets/web.js", f"{ROOT}/assets/form.js")
            assert ours or attributes.get("type") == "application/json"
        # All of our pages lie below the path that other servers do not know.
        for key in ("src", "href", "action", "data-remove", "data-cancel"):
            assert attributes.get(key, "#").startswith((f"{ROOT}/", "#", "data:,"))


@pytest.mark.parametrize("name", EVERY)
def test_ids_are_given_once_and_references_lead_somewhere(name: str) -> None:
    elements = Reader(EVERY[name]).elements
    ids = Counter(attributes["id"] for _, attributes in elements if "id" in attributes)
    assert not [each for each, times in ids.items() if times > 1]
    for _, attributes in elements:
        for key in ("for", "aria-describedby", "aria-labelledby"):
            for target in attributes.get(key, "").split():
                assert target in ids
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids


@pytest.mark.parametrize("name", EVERY)
def test_every_control_has_a_name_and_every_page_its_landmarks(name: str) -> None:
    read = Reader(EVERY[name])
    labelled = {attributes["for"] for tag, attributes in read.elements if tag == "label" and "for" in attributes}
    for (tag, attributes), parents in zip(read.elements, read.parents, strict=True):
        inside = {parent for parent, _ in parents}
        # Selects in the two templates of the table of columns get their name from the script.
        by_script = any(each.get("id") in {"role", "kind"} for parent, each in parents if parent == "template")
        if tag in {"input", "select", "textarea"} and not by_script:
            assert attributes.get("id") in labelled or "label" in inside or "aria-label" in attributes
        if tag == "fieldset":
            assert "tabindex" not in attributes or attributes["tabindex"] == "-1"
    tags = Counter(tag for tag, _ in read.elements)
    assert (tags["main"], tags["h1"], tags["header"], tags["footer"]) == (1, 1, 1, 1)
    assert ("html", {"lang": "en", "data-root": ROOT}) in read.elements
    levels = [int(tag[1]) for tag, _ in read.elements if tag in {"h1", "h2", "h3"}]
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", EVERY)
def test_hostile_texts_are_escaped_and_templates_do_not_read_them(name: str) -> None:
    text = EVERY[name]
    assert "<img" not in text
    assert "{{" not in text.replace("{{ 7*7 }}", "")
    assert text.count("</script>") == text.count("<script")


def test_every_question_says_that_nothing_leaves_the_machine_and_has_its_example() -> None:
    for form in map(asked_for, QUESTIONS):
        page = pages.question(form)
        assert "No data leaves this computer." in page
        assert f'data-sample="{form.name}"' in page
        assert page.count('type="submit"') == 1


def test_the_list_has_every_metric_attack_and_protection() -> None:
    text = pages.listing()
    for name in (*METRICS, *ATTACKS, *PROTECTIONS):
        assert f"<h3>{name}</h3>" in text
    assert text.count("data-words=") == len(METRICS) + len(ATTACKS) + len(PROTECTIONS)


def test_attacks_and_protections_are_offered_with_their_settings() -> None:
    page = pages.question(asked_for("graph"))
    for listed in (*ATTACKS.values(), *PROTECTIONS.values()):
        assert (f'data-thing="{listed.name}"' in page) == (listed.on == "graph")
    assert [each["name"] for each in settings_of("k-degree")] == ["k", "attempts", "edges"]
    assert 'data-setting="k" value="5"' in page


def test_a_job_shows_its_answer_what_was_asked_and_the_command() -> None:
    page = pages.job(jobs()[0])
    assert 'class="answer short bad"' in page
    frame = '<iframe class="report" title="The report" src="/jobs/ab12/report" sandbox="allow-scripts allow-downloads">'
    assert frame in page
    assert "/jobs/ab12/report?download=1" in page
    assert "Original data, one row per person" in page
    assert "audit.toml" in page  # the kind of a column was changed, which the command line takes from a file
    assert 'role="progressbar"' not in page
    waiting = pages.job(jobs()[2])
    assert 'role="progressbar"' in waiting
    assert 'aria-live="polite"' in waiting
    assert 'data-cancel="/jobs/ab12"' in waiting
    assert "<iframe" not in waiting


def test_a_protected_table_can_be_protected_further_from_its_answer() -> None:
    link = 'href="/protect?again=ab12&amp;next=1"'
    assert link in pages.job(Job(question="protect", settings={"sample": True}))
    assert "next=1" not in pages.job(jobs()[0])


def test_asking_again_hands_over_what_was_asked() -> None:
    page = pages.question(asked_for("audit"), jobs()[0])
    assert '<script type="application/json" id="again">' in page
    assert '"id":"1"' in page
    assert "\\u003cimg" in page


def test_the_files_that_pages_load() -> None:
    assert set(pages.ASSETS) == {"page.css", "web.css", "web.js", "form.js"}
    assert all(pages.asset(name) for name in pages.ASSETS)
    with pytest.raises(KeyError):
        pages.asset("../pages.py")
    for name in ("web.js", "form.js"):
        script = pages.asset(name).decode()
        assert script.startswith('"use strict";')
        assert script.count("\n") < 400
        assert not any(
            word in script for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
        )
        assert "http" not in script.replace("XMLHttpRequest", "").lower()
    assert "url(" not in pages.asset("web.css").decode()


def test_files_that_are_kept_can_be_seen_and_removed() -> None:
    page = pages.home([], [File(id="ab", name=HOSTILE, size=1_500_000), File(id="cd", name="b.csv", size=0)])
    assert 'data-remove="/files/ab"' in page
    assert "1.5 MB" in page
    assert "0.0 kB" in page
    assert "Your files" not in pages.home()


def test_the_example_is_not_called_by_a_folder_that_was_typed_before() -> None:
    page = pages.job(Job(question="study", state="running", settings={"sample": True, "folder": "/some/where"}))
    assert "/some/where" not in page
    assert "built-in example" in page


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("the file is empty. Give another", "The file is empty. Give another."),
        ("k of k-degree must be 2.", "k of k-degree must be 2."),
        ("'/no' is no folder. Why?", "'/no' is no folder. Why?"),
    ],
)
def test_a_sentence_that_stands_alone_looks_like_one(sentence: str, shown: str) -> None:
    page = pages.error(404, sentence)
    assert f"<p>{escape(shown)}</p>" in page.replace("&#39;", "&#x27;")
    assert "<h1>Page not found</h1>" in page

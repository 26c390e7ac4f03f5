"""What every answer can do, whatever the question was."""

import html
import inspect
import json
import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unveil
from tests.questions.link.planted import panel
from unveil.errors import InputError
from unveil.questions.columns.answer import columns
from unveil.questions.result import Result
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.report.blocks import TableBlock


def answer() -> Result[PartitionFindings]:
    return unveil.unlinkability(guess=["x", "x", "y", "y"], truth=["Alice", "Alice", "Bob", "Alice"])


def test_a_notebook_shows_the_whole_page_in_a_frame_of_its_own() -> None:
    found = answer()
    shown = found._repr_html_()
    inside = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts allow-downloads" width="100%" height="\d+"></iframe>', shown
    )
    assert inside is not None
    assert html.unescape(inside[1]) == found.to_html()


def test_the_short_form_is_the_headline() -> None:
    found = answer()
    assert repr(found) == f"<Result: {found.page().headline}>"
    assert len(repr(found)) < 300


def test_limits_and_seed_are_in_json_and_on_the_page() -> None:
    found = answer()
    limits = [{"quantity": "breached_share", "limit": 0.1, "value": 0.5, "exceeded": True}]
    told = json.loads(found.to_json(limits=limits, seed=7))
    assert (next(iter(told)), told["limits"], told["seed"]) == ("schema", limits, 7)
    strip = found.page(limits=limits).strip
    assert strip is not None
    assert (strip.decision, strip.limits is not None) == ("fail", True)
    assert found.page().strip is None


def test_limits_make_a_decision() -> None:
    ask = partial(unveil.unlinkability, guess=["x", "x", "y", "y"], truth=["Alice", "Alice", "Bob", "Alice"])
    assert (ask().decision, ask().passed, ask().level) == ("none", None, None)
    share = ask().quantities["breached_share"].value
    kept, exceeded = (ask(limits={"breached_share": share + more}) for more in (0.01, -0.01))
    assert (kept.decision, kept.passed, exceeded.decision, exceeded.passed) == ("pass", True, "fail", False)
    assert exceeded.to_dict()["limits"][0]["exceeded"] is True
    strip = exceeded.page().strip
    assert strip is not None
    assert strip.decision == "fail"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"breached_shares": 0.1}, "Did you mean 'breached_share'?"),
        ({"breached_share": "0.1"}, "not a number"),
        ({"breached_share": float("nan")}, "not a number"),
        ([("breached_share", 0.1)], "not a mapping"),
    ],
)
def test_limits_that_make_no_sense_are_refused_before_anything_is_computed(limits: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        unveil.unlinkability(guess=[], truth=None, limits=limits)


def test_tables_come_back_in_the_library_that_was_passed_in(tmp_path: Path) -> None:
    rows = {"age": [30, 41, 52], "town": ["a", "b", "a"]}
    from_pandas, from_polars = (unveil.columns(library.DataFrame(rows)) for library in (pd, pl))
    assert (type(from_pandas.summary()), type(from_polars.summary())) == (pd.DataFrame, pl.DataFrame)
    assert from_pandas.to_pandas().to_dict("records") == from_polars.to_polars().to_dicts()
    path = tmp_path / "report.html"
    assert from_polars.to_html(path) == path.read_text(encoding="utf-8")
    assert str(from_polars).startswith(from_polars.headline)
    assert json.loads(from_polars.to_json(tmp_path / "report.json")) == from_polars.to_dict()


PEOPLE = {"age": [20 + 7 * row % 41 for row in range(40)], "pay": [11 * row % 97 for row in range(40)]}
RING = ([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 5])

#: A small case of each question that draws random numbers, and writes no release.
ASKED: dict[str, Callable[..., Result[Any]]] = {
    "audit": partial(unveil.audit, PEOPLE, PEOPLE, attacks=["linkability"], neighbors=1, targets=9),
    "reidentify": partial(unveil.reidentify, PEOPLE, method="additive-noise", attacks=["record-linkage"]),
    "matching": partial(unveil.matching, [[1, 1, 0], [1, 1, 1], [0, 1, 1]], [0, 1, 2]),
    "graph": partial(unveil.graph, RING, "switch:share=0.5", seed_pairs=2),
    "unlinkability": partial(unveil.unlinkability, ["x", "x", "y", "y"], ["Ann", "Ann", "Bea", "Ann"]),
    "link": partial(unveil.link, *panel(25), person="id", draws=200),
}


@pytest.mark.parametrize("question", ASKED)
def test_without_a_source_of_randomness_the_seed_is_0_and_stated(question: str) -> None:
    ask = ASKED[question]
    plain, seeded = ask(), ask(rng=np.random.default_rng(0))
    assert plain.to_json() == seeded.to_json(seed=0)
    assert plain.to_html() == seeded.to_html(seed=0) != seeded.to_html()
    assert json.loads(seeded.to_json())["seed"] is None
    assert json.loads(plain.to_json(seed=7))["seed"] == 7


FIRST_SCREENS: dict[str, Callable[..., Result[Any]]] = {
    **{question: ask for question, ask in ASKED.items() if not question.startswith("audit")},
    "protect_graph": partial(unveil.protect_graph, RING, "switch:share=0.5"),
    "attack_metrics": partial(unveil.attack_metrics, [[0.75, 0.25], [0.5, 0.5]], [0, 0]),
    "columns": partial(columns, pl.DataFrame(PEOPLE)),
}


@pytest.mark.parametrize("question", FIRST_SCREENS)
def test_the_first_screen_has_the_finding_in_one_sentence_what_to_do_and_a_picture(question: str) -> None:
    page = FIRST_SCREENS[question]().page()
    # One sentence with a number in it, and no other one behind it.
    assert re.search(r"\d", page.headline), page.headline
    assert page.headline.endswith("."), page.headline
    assert not re.search(r"[.!?] [A-Z\d]", page.headline), page.headline
    assert len(page.headline) <= 250
    assert 1 <= len(page.next_steps) <= 3
    assert len(page.explanation) <= 3
    assert 1 <= len(page.picture) <= 2, "one chart, and one table below it"
    assert not isinstance(page.picture[0], TableBlock)
    shown = {id(block) for section in page.sections for block in section.blocks}
    assert not shown & {id(block) for block in page.picture}
    titles = [getattr(block, "title", None) for section in page.sections for block in section.blocks]
    assert getattr(page.picture[0], "title", "") not in titles
    told = [step for step in page.next_steps if not step.endswith(".")]
    assert told == []


def test_what_writes_a_release_has_a_secret_seed() -> None:
    first, second = (unveil.protect_graph((range(99), range(1, 100)), "id-removal") for _ in range(2))
    assert first.findings.release.truth.tolist() != second.findings.release.truth.tolist()
    assert first.seed is None
    assert json.loads(first.to_json())["seed"] is None
    assert "seed" not in first.to_html().lower()


def test_every_question_can_be_asked_without_a_source_of_randomness() -> None:
    modules = [
        import_module(f"unveil.questions.{info.name}.answer")
        for info in iter_modules(unveil.questions.__path__)
        if info.ispkg
    ]
    signatures = {
        name: inspect.signature(thing)
        for module in modules
        for name, thing in vars(module).items()
        if inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_")
    }
    questions = {name: each.parameters for name, each in signatures.items() if "Result" in str(each.return_annotation)}
    drawing = {name: parameters["rng"].default for name, parameters in questions.items() if "rng" in parameters}
    assert {name.partition("_")[0] for name in drawing} >= {"audit", "graph", "grade", "protect"}
    assert set(drawing.values()) == {None}

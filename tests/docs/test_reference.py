"""Nothing public is missing from the reference, and each page of it is as the code is now."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import unveil
from docs.make_reference import PAGES
from unveil.attacks import ATTACKS
from unveil.cli import COMMANDS, common
from unveil.cli.help import RENAMED
from unveil.metrics import METRICS
from unveil.protections import PROTECTIONS
from unveil.questions import QUESTIONS, question, schema, schema_names
from unveil.report.profiles import PROFILES

DOCS = Path(__file__).parents[2] / "docs"
GLOSSARY = DOCS / "glossary.toml"


def page(name: str) -> str:
    """Return the text of a page of the guide."""
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_is_up_to_date(name: str) -> None:
    assert PAGES[name]() == page(name), "run: python docs/make_reference.py"


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("reference/metrics.md", METRICS),
        ("reference/attacks.md", ATTACKS),
        ("reference/protections.md", PROTECTIONS),
    ],
    ids=["metrics", "attacks", "protections"],
)
def test_everything_listed_has_an_entry(where: str, names: Any) -> None:
    text = page(where)
    assert [name for name in names if f"# `{name}`\n" not in text] == []


def test_every_profile_has_a_row() -> None:
    text = page("understand/threshold.md")
    assert [name for name in PROFILES if f"\n| `{name}` |" not in text] == []


def section(text: str, heading: str) -> str:
    """Return a section of a page."""
    return text.partition(f"{heading}\n")[2].partition("\n#")[0]


def test_every_question_has_all_its_settings() -> None:
    text = page("reference/commands.md")
    common = section(text, "## Options of several commands")
    for name, home in QUESTIONS.items():
        part = section(text, f"## `unveil {home.command}`")
        assert part, home.command
        told = question(name)
        shown = [each for each in told.on("command line") if each.option and each.name != told.sample_of]
        lines = [line.partition("`")[2].partition("`")[0].split(" ")[0] for line in (part + common).splitlines()]
        assert [each.option for each in shown if each.is_shown and each.option not in lines] == []
        keys = [(each.table, key) for each in shown if each.table for key in each.entries or (each.key,)]
        assert [key for table, key in keys if f"`{key}`" not in section(text, f"### {table}")] == []
        assert [table for table, _ in keys if home.command not in section(text, f"### {table}")] == []


def test_every_command_is_told() -> None:
    text = page("reference/commands.md")
    assert [name for name in COMMANDS if not re.search(rf"^## `unveil {name}( \w+)?`$", text, re.MULTILINE)] == []


def test_every_renamed_command_and_option_is_told() -> None:
    text = page("reference/names.md")
    assert [old for old, new in RENAMED.items() if f"| `{old}` | `{new}` |" not in text] == []
    renamed = [each for name in QUESTIONS for each in question(name).settings if each.alias]
    assert len(renamed) > 30
    told = {(each.alias, each.key if each.place == "config" else each.option) for each in renamed}
    assert [pair for pair in told if "`{}` → `{}`".format(*pair) not in text] == []


def test_the_glossary_defines_each_term_once() -> None:
    terms = [name for section in tomllib.loads(GLOSSARY.read_text(encoding="utf-8")).values() for name in section]
    assert len(terms) > 90
    assert len(terms) == len(set(terms))


def fields(node: Any, inside: str = "") -> set[tuple[str, str]]:
    """Return every field of a schema with the words that it has."""
    if isinstance(node, list):
        return {found for each in node for found in fields(each)}
    if not isinstance(node, dict):
        return set()
    own = {(name, each["description"]) for name, each in node.get("properties", {}).items() if inside != "properties"}
    return own | {found for key, each in node.items() for found in fields(each, key)}


@pytest.mark.parametrize("name", schema_names())
def test_every_field_of_json_has_a_row(name: str) -> None:
    rows = page(f"reference/json/{name}.md").splitlines()
    found = {
        (row.split("`")[1].rpartition(".")[2].rstrip("?"), row.split(" | ")[-1][:-2]) for row in rows if "| `" in row
    }
    assert {(field, words.replace("|", "\\|")) for field, words in fields(schema(name))} <= found


def test_every_exit_code_is_told() -> None:
    codes = {value for name, value in vars(common).items() if name.isupper() and type(value) is int} | {0}
    assert codes == set(common.EXIT_CODES)
    assert [code for code in codes if f"\n| {code} | " not in page("reference/exit-codes.md")] == []


def test_every_public_name_is_told() -> None:
    assert [name for name in unveil.__all__ if f"`unveil.{name}`" not in page("reference/python/index.md")] == []
    parts = [name for name in unveil.__all__ if hasattr(getattr(unveil, name), "__all__")]
    assert len(parts) >= 7
    for part in parts:
        own = page(f"reference/python/{part}.md")
        assert [name for name in getattr(unveil, part).__all__ if f"| `{name}` |" not in own] == [], part
        assert own.startswith(f"# `unveil.{part}`\n")

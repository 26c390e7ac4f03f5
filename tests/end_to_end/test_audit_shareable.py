"""What leaves the house: no cell of anybody who is rare, no folder, no small count, in any edition or output."""

import html
import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.end_to_end.commands import MARKER, Command

COMMAND = Command("audit")
ask = COMMAND.ask
FOLDER = "geheimnis-7731"
#: Odd enough not to stand anywhere by accident.
ODD = (73219.5, 88417.25, 60613.75)
RARE_TOWNS = ("Zzyzx-Zephyrine", "Ölüdeniz-Zephyrine", 'Q\'ueens "Zephyrine"')
COMMON_TOWNS = ("Ulmbach", "Bonnheim", "Kielau")


def people(rows: int, seed: int) -> pl.DataFrame:
    """Return people of whom most are like many others and some are like nobody, in every kind of column."""
    rng = np.random.default_rng(seed)
    day = datetime(1950, 1, 1)
    born = [day + timedelta(days=int(each)) for each in rng.integers(0, 18_000, rows)]
    town = rng.choice(COMMON_TOWNS, rows).astype(object)
    town[:3] = RARE_TOWNS
    income = rng.integers(20, 60, rows) * 1000 + 137.25
    income[3:6] = ODD
    job = rng.choice(["clerk", "nurse"], rows).astype(object)
    job[6] = f"lion-tamer-{MARKER}"
    word = rng.choice(["flu", "cough"], rows).astype(object)
    word[7] = f"a long and singular story about {MARKER} and the lighthouse keeper"
    return pl.DataFrame(
        {
            "name": [f"{MARKER} {seed} {row}" for row in range(rows)],
            "mail": [f"{MARKER}{seed}x{row}@example.org" for row in range(rows)],
            "born": born,
            "town": town.tolist(),
            "income": income,
            "sex": rng.choice(["f", "m"], rows),
            "job": job.tolist(),
            "ill": word.tolist(),
            "children": [*rng.integers(0, 3, rows).tolist()[:-1], 41973],
            "member": rng.random(rows) < 0.5,
        }
    ).with_columns(pl.col("born").dt.strftime("%Y-%m-%d"))


ORIGINAL, CONTROL = people(90, 1), people(70, 2)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work beside a folder that nobody must hear of, with an original, a release that gives all away, and others."""
    monkeypatch.chdir(tmp_path)
    inner = tmp_path / FOLDER
    inner.mkdir()
    ORIGINAL.write_csv(inner / "people.csv")
    ORIGINAL.sample(fraction=1.0, shuffle=True, seed=1).write_csv(inner / "masked.csv")
    CONTROL.write_csv(inner / "others.csv")
    return tmp_path


FILES = (f"{FOLDER}/people.csv", f"{FOLDER}/masked.csv", "--control", f"{FOLDER}/others.csv")


def rare_values() -> Iterator[str]:
    """Yield every cell of the original that fewer than 11 people share, as texts may show it."""
    for column in ORIGINAL.get_columns():
        counts = column.value_counts()
        for value in counts.filter(pl.col("count") < 11)[column.name].to_list():
            yield str(value)
            if isinstance(value, float):
                yield from (f"{value:,}", f"{value:g}", f"{value:.0f}")
            elif isinstance(value, int):
                yield f"{value:,}"


def texts(page: str) -> str:
    """Return what a page shows, its attributes included, as plain text."""
    return html.unescape(page)


def assert_no_cell(text: str) -> None:
    """Find no rare cell; numbers and short texts, which stand in others by accident, only where they stand alone."""
    plain = texts(text)
    assert MARKER not in plain
    words = set(re.findall(r"[\w.,@'’-]+", plain))
    words |= {word.strip(".,'") for word in words}
    for value in rare_values():
        if len(value) < 5 and value.isdigit():
            continue  # so small a number stands on every page
        is_number = set(value) <= set("0123456789.,")
        assert value not in (words if is_number or len(value) < 5 else plain), value


class Balanced(HTMLParser):
    """Reads a page and complains where an element is closed that was not opened."""

    EMPTY = frozenset({"meta", "link", "br", "hr", "img", "input", "path", "line", "rect", "circle", "use"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def assert_whole(page: str) -> None:
    reader = Balanced()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert len(page.encode()) < 1_000_000


ROLES = ("--id", "name,mail", "--sensitive", "ill", "--by", "town", "--kind", "masked", "--targets", "40")
MORE = ("--guesses", "60", "--profile", "cell-11", "--seed", "3", "--technique", "town=as it was")


def test_no_output_holds_a_cell_of_anybody_who_is_rare(folder: Path) -> None:
    arguments = (*FILES, *ROLES, *MORE, "--html", f"{FOLDER}/inside.html", "--shareable", "shared.html")
    text = ask(*arguments)
    machine = ask(*arguments, "--json")
    assert (text.exit_code, machine.exit_code) == (3, 3)
    inside, shared = ((folder / path).read_text() for path in (f"{FOLDER}/inside.html", "shared.html"))
    for output in (shared, inside, text.stdout, text.stderr, machine.stdout, machine.stderr):
        assert_no_cell(output)
    assert_whole(inside)
    assert_whole(shared)
    assert FOLDER in inside
    assert FOLDER not in shared
    assert str(folder) not in shared
    assert "Redacted" in shared
    # What is said of groups is about groups of many.
    assert any(town in shared for town in COMMON_TOWNS)
    groups = [each["groups"] for each in json.loads(machine.stdout)["releases"][0]["attacks"] if each["groups"]]
    assert groups
    assert all(group["people"] >= 11 for each in groups for group in each["groups"])


def test_the_search_would_find_a_cell_if_there_were_one(folder: Path) -> None:
    assert (
        ask(*FILES, *ROLES, "--attacks", "copies", "--html", "shown.html", "--show-records", "--quiet").exit_code == 0
    )
    with pytest.raises(AssertionError):
        assert_no_cell((folder / "shown.html").read_text())
    for value in ("Zzyzx-Zephyrine", "73,219.5", "41973"):
        with pytest.raises(AssertionError):
            assert_no_cell(f"<p>{html.escape(value)}</p>")


def test_records_of_the_internal_edition_are_not_in_the_other(folder: Path) -> None:
    pages = ("--html", "inside.html", "--shareable", "shared.html")
    assert ask(*FILES, *ROLES, "--attacks", "copies", "--show-records", "--quiet", *pages).exit_code == 0
    with pytest.raises(AssertionError):
        assert_no_cell((folder / "inside.html").read_text())
    assert_no_cell((folder / "shared.html").read_text())


@pytest.mark.parametrize("by", ["income", "born", "children", "name", "member", "job"])
def test_groups_by_any_column_show_nobody(by: str, folder: Path) -> None:
    arguments = (
        *FILES,
        "--id",
        "mail",
        "--by",
        by,
        "--attacks",
        "inference",
        "--targets",
        "60",
        "--shareable",
        "s.html",
    )
    run = ask(*arguments, "--json")
    assert run.exit_code == 0, run.output
    assert_no_cell(run.stdout)
    assert_no_cell((folder / "s.html").read_text())


def test_folders_stay_inside_wherever_they_stand(folder: Path) -> None:
    deep = folder / FOLDER / "tief-7732"
    deep.mkdir()
    ORIGINAL.head(50).write_csv(deep / "masked.csv")
    first = ask(*FILES, "--attacks", "copies", "--json")
    (deep / "before.json").write_text(first.stdout)
    (deep / "audit.toml").write_text('missing = ["Zephyrine?"]\n')
    run = ask(
        f"{FOLDER}/people.csv", f"{FOLDER}/masked.csv", str(deep / "masked.csv"), f"--control={FOLDER}/others.csv",
        "--config", f"{FOLDER}/tief-7732/audit.toml", "--compare", f"{FOLDER}/tief-7732/before.json",
        "--attacks", "linkability,copies,disclosure,utility", "--targets", "20", "--missing", MARKER,
        "--shareable", f"{FOLDER}/s.html", "--id", "name,mail",
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    page = (folder / FOLDER / "s.html").read_text()
    assert_no_cell(page)
    for part in (FOLDER, "tief-7732", str(folder)):
        assert part not in texts(page)


def test_small_counts_of_people_are_not_shared(folder: Path) -> None:
    """Three people are released as they are, and four have no job: how many that are is for those inside."""
    kept = pl.concat([ORIGINAL.head(3), CONTROL.tail(67)])
    gaps = pl.Series([None] * 4 + ORIGINAL["job"].to_list()[4:])
    ORIGINAL.with_columns(job=gaps).write_csv("people.csv")
    kept.with_columns(job=pl.Series([*kept["job"].to_list()[:2], None, *kept["job"].to_list()[3:]])).write_csv("r.csv")
    arguments = (
        "people.csv", "r.csv", "--id", "name,mail", "--attacks", "copies,attribute_disclosure,disclosure",
        "--sensitive", "job", "--targets", "60",
    )  # fmt: skip
    (folder / "before.json").write_text(ask(*arguments, "--json").stdout)
    assert ask(*arguments, "--compare", "before.json", "--html", "i.html", "--shareable", "s.html").exit_code == 0
    inside, shared = (re.sub(r"<[^>]+>", " ", (folder / f"{each}.html").read_text()) for each in "is")
    small = re.compile(r"(?<!than )\b([1-9]|10) (?:of \d+ )?(?:people|persons?|targets|rows)\b")
    hits = re.compile(r"(?<!than )(?<![\d.,])([1-9]|10) of \d+\b(?!,)")
    assert small.search(inside)
    for counted in (small, hits):
        assert [each[0] for each in counted.finditer(shared)] == []
    assert re.search(r"rows copied\s+same\s+\d", inside)
    assert re.search(r"rows copied\s+same\s+\d", shared) is None


def test_a_table_of_few_people_does_not_say_how_few(folder: Path) -> None:
    ORIGINAL.head(8).write_csv("few.csv")
    assert ask("few.csv", FILES[1], "--attacks", "copies,disclosure", "--shareable", "s.html", "--quiet").exit_code == 0
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", (folder / "s.html").read_text()))
    assert re.findall(r"\b8 (?:people|rows)", plain) == []


def test_names_that_look_like_a_pattern_stay_names(folder: Path) -> None:
    (folder / "a{}b.csv").write_bytes((folder / FILES[1]).read_bytes())
    arguments = (FILES[0], "a{}b.csv", "--attacks", "copies", "--html", "i.html", "--shareable", "s.html", "--quiet")
    assert ask(*arguments).exit_code == 0
    for page in ("i.html", "s.html"):
        plain = texts((folder / page).read_text())
        assert re.search(r"the release 'a\{ ?\}b.csv' \(.+?\) of 90 people in", plain)

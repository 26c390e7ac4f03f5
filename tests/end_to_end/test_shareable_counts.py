"""The pages that may be passed on are tables of counts with hidden cells: our own attack on such tables attacks them.

A reader knows how the pages are made: "fewer than 11" is 1 to 10 as zeros are said, "more than 93%" is all but so few,
a percentage is rounded, the groups of a table are everybody, and so on. What follows must be no number that was hidden.
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unveil
from tests.oracles.leaks import Page, Table
from unveil.data.counts.tabulate import tabulate, with_small_hidden
from unveil.questions.audit.answer import audit
from unveil.questions.tables.findings import TablesFindings

MINIMUM = 11
PEOPLE = 240
#: A cell of the system of a page: the codes of its two variables, and what the page says of it.
Cell = tuple[str, str, str]


def attacked(cells: list[Cell], minimum: int, **settings: Any) -> unveil.Result[TablesFindings]:
    """Return what follows from what a page says, ``hidden`` being a number that it does not say at all."""
    frame = pl.DataFrame(cells, schema=["group", "outcome", "count"], orient="row")
    return unveil.tables(frame, min_cell=minimum, suppressed={"hidden": (0, None)}, **settings)


def found_out(cells: list[Cell], minimum: int, **settings: Any) -> list[str]:
    """Return the numbers that a page hides and that follow from it, and small ones that it does not even list."""
    answer = attacked(cells, minimum, **settings)
    assert answer.findings.is_finished
    assert answer.findings.is_whole
    withheld = {cell[:2] for cell in cells if cell[2] == "hidden"}
    return [
        f"{row['group']}, {row['outcome']}: {row['low']}"
        for row in answer.to_polars().iter_rows(named=True)
        if row["low"] == row["high"] and ((row["group"], row["outcome"]) in withheld or 0 < row["low"] < minimum)
    ]


# --- the shareable edition of the audit ---


def people(rng: np.random.Generator, number: int) -> pl.DataFrame:
    """Return people of towns of unequal size; some are like nobody else."""
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, number),
            "town": rng.choice(["Ulmbach", "Bonnheim", "Kielau", "Zell"], number, p=[0.5, 0.3, 0.12, 0.08]),
            "sex": rng.choice(["f", "m"], number),
            "illness": rng.choice(["influenza", "gout", "lupus"], number, p=[0.6, 0.3, 0.1]),
        }
    )


def audited(folder: Path, seed: int) -> str:
    """Return the shareable edition of a release in which some ages are coarse, so that few of a town are found."""
    rng = np.random.default_rng([27, seed])
    original = people(rng, PEOPLE)
    coarse = pl.Series(rng.random(PEOPLE) < (0.15, 0.85, 0.5, 0.4)[seed])
    released = original.with_columns(age=pl.when(coarse).then(pl.col("age") // 20 * 20).otherwise("age"))
    original.write_csv(folder / "people.csv")
    released.sample(fraction=1.0, shuffle=True, seed=seed).write_csv(folder / "masked.csv")
    answer = audit(
        folder / "people.csv", [folder / "masked.csv"], release_type="masked", quasi_identifiers=["age", "town", "sex"],
        sensitive=["illness"], group_by="town", attacks=["attribute_disclosure", "disclosure", "copies"], targets=None,
        rng=rng,
    )  # fmt: skip
    return answer.to_html(redacted=True, seed=seed)


def said(text: str, of: int) -> str:
    """Return what a share of so many people says of how many they are, as a cell of a table of counts."""
    if match := re.match(r"(less|more) than \d+(?:\.\d+)?%", text):
        return f"1-{MINIMUM - 1}" if match[1] == "less" else f"{of - MINIMUM + 1}-{of - 1}"
    shares = re.findall(r"(\d+(?:\.(\d+))?)%", text.split(" (")[0])
    if not shares:
        return "hidden"
    ends = []
    for (share, digits), sign in zip((shares[0], shares[-1]), (-1, 1), strict=True):
        half = 0.0 if share in ("0", "100") else 0.5 * 10.0 ** -len(digits)
        ends.append((float(share) + sign * half) / 100 * of)
    low, high = math.ceil(ends[0] - 1e-9), math.floor(ends[1] + 1e-9)
    # Hits are expected ones where guesses are tied, and need not be whole.
    low, high = (low, high) if low <= high else (high, low)
    return str(low) if low == high else f"{low}-{high}"


def groups_of(table: Table, hits: str = "") -> list[Cell]:
    """Return a table of groups as counts: people of each, and those whose secret was guessed; ``hits`` are of all."""
    at = table.column("Attack success")
    assert at is not None
    cells: list[Cell] = []
    for row in table.body:
        _, tried = (int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", row[1]))
        is_all = row[0] == "everybody"
        told = hits if is_all and hits.isdigit() else said(row[at], tried)
        name = "Total" if is_all else row[0]
        cells += [(name, "Total", str(tried)), (name, "hit", told), (name, "miss", f"0-{tried}")]
    return cells


def classes_of(table: Table, rows: int, unique: str = "") -> list[Cell]:
    """Return the classes of rows that look alike as counts: how many are unique, in a class of 1 or 2, and so on."""
    cells: list[Cell] = []
    sizes = [int(name.removeprefix("Class below ")) if name != "Sample unique" else 2 for name in table.head[4:]]
    for row in table.body:
        cells.append((row[0], "1 or more", str(rows)))
        for size, text in zip(sizes, row[4:], strict=True):
            cells.append((row[0], f"1-{size - 1}", unique if size == 2 and unique else said(text, rows)))
    return cells


def systems_of(page: str, rows: int) -> list[list[Cell]]:
    """Return everything on a page that is a table of counts, with what other tables of the page say of its totals."""
    seen = Page(page)
    attack = next(table for table in seen.tables if table.caption.startswith("Attribute inference"))
    hits = said(attack.body[0][attack.head.index("Attack success")], rows)
    classes = next(table for table in seen.tables if table.column("Class below 3") is not None)
    # Three columns are known, so whoever is unique is unique by one, two or three of them.
    special = next(table for table in seen.tables if table.caption.startswith("Special uniques")).body[0][1:4]
    unique = str(sum(map(int, special))) if all(text.isdigit() for text in special) else ""
    groups = [table for table in seen.tables if table.column("People (attacked)") is not None]
    assert groups
    return [*(groups_of(table, hits) for table in groups), classes_of(classes, rows, unique)]


@pytest.mark.unwatched
def test_no_hidden_number_of_an_audit_follows_from_the_others(tmp_path: Path) -> None:
    hidden, shown = 0, 0
    for seed in range(4):
        for cells in systems_of(audited(tmp_path, seed), PEOPLE):
            hits = [text for group, outcome, text in cells if outcome == "hit" and group != "Total"]
            hidden, shown = hidden + hits.count("hidden"), shown + len(hits) - hits.count("hidden")
            assert found_out(cells, MINIMUM) == []
    assert hidden, "an audit that hides nothing tries nothing"
    assert shown, "neither does one that hides all"


def test_what_one_more_figure_would_give_away_is_found() -> None:
    head = ["Group", "People (attacked)", "Excess", "Attack success"]
    body = [["f", "60 (60)", "", "50.0%"], ["m", "40 (40)", "", "–"], ["everybody", "100 (100)", "", "34.0%"]]
    assert found_out(groups_of(Table(rows=[head, *body])), MINIMUM) == ["m, hit: 4"]
    classes = Table(
        rows=[["Release", "", "", "", "Sample unique", "Class below 3"], ["r", "", "", "", "50.0%", "53.0%"]]
    )
    assert found_out(classes_of(classes, 100), MINIMUM) == ["Total, 2: 3", "r, 2: 3"]
    assert found_out(classes_of(classes, 100, "49"), MINIMUM) == ["Total, 2: 4", "r, 2: 4"]


# --- the page of tables that may be passed on ---

#: So many pages are attacked for each minimum.
PAGES = 8


def published(seed: int) -> list[pl.DataFrame]:
    """Return two tables of the same people with small counts hidden: they share totals, and no hidden count."""
    rng = np.random.default_rng([28, seed])
    number = int(rng.choice([60, 120, 400]))
    sizes = {"ward": int(rng.integers(2, 9)), "sex": 2, "origin": int(rng.integers(2, 5))}
    crowd = pl.DataFrame(
        {
            name: rng.choice([f"{name}{at}" for at in range(codes)], number, p=_falling(codes, rng.uniform(0.3, 0.9)))
            for name, codes in sizes.items()
        }
    )
    tables = [tabulate(crowd, ["ward", other]) for other in ("sex", "origin")]
    least = int(rng.choice([2, 4, 6]))
    inner = [pl.all_horizontal(pl.col(name) != "Total" for name in table.columns[:2]) for table in tables]
    hidden = [with_small_hidden(table, least) for table in tables]
    # Totals are shown, so that no hidden count is in both tables.
    return [
        full.with_columns(count=pl.when(is_inner).then(some["count"]).otherwise(full["count"].cast(pl.String)))
        for full, some, is_inner in zip(tables, hidden, inner, strict=True)
    ]


def _falling(codes: int, by: float) -> "np.ndarray[Any, np.dtype[np.float64]]":
    weights: np.ndarray[Any, np.dtype[np.float64]] = np.power(by, np.arange(codes, dtype=np.float64))
    return np.asarray(weights / weights.sum(), np.float64)


def numbers_of(page: str) -> dict[str, str]:
    """Return the numbers of a page by their labels, without what stands in brackets."""
    table = next(table for table in Page(page).tables if table.caption == "Cells")
    return {label.partition(" (")[0]: text for label, text in table.body}


def figures_of(page: str) -> list[Cell]:
    """Return what a page says about counts as a table of counts itself: how many of each table are of which kind.

    Counts that stand in no table are told of where they are small and worked out.
    """
    seen, numbers = Page(page), numbers_of(page)
    table = next(table for table in seen.tables if table.caption == "Cells by table")
    listed = numbers["Suppressed"].replace("not shown", "hidden")
    cells: list[Cell] = [("listed", "Total", listed), ("listed", "worked", numbers["Recovered exactly"])]
    cells += [("listed", "narrow", numbers.get("Approximate", "hidden")), ("none", "small", "hidden")]
    cells += [("Total", "small", numbers["Small cells revealed"])]
    cells += [("none", kind, "0") for kind in ("large", "narrow", "wide")]
    kinds = {"Suppressed": "Total", "Recovered": "worked", "Small": "small"}
    for row in table.body:
        told = {kinds[name]: text for name, text in zip(table.head, row, strict=True) if name in kinds}
        cells += [(row[0], kind, told.get(kind, "hidden")) for kind in kinds.values()]
        cells += [(row[0], kind, "0+") for kind in ("large", "narrow", "wide")]
    return cells


@pytest.mark.parametrize("minimum", [2, 3, 5])
def test_no_hidden_number_of_the_page_of_tables_follows_from_the_others(tmp_path: Path, minimum: int) -> None:
    hierarchies = {"outcome": tmp_path / "kinds.csv", "group": tmp_path / "tables.csv"}
    hierarchies["outcome"].write_text("child,parent\nsmall,worked\nlarge,worked\n")
    few = 0
    for seed in range(PAGES):
        names = ["a", "b"][: 1 + seed % 2]
        hierarchies["group"].write_text("\n".join(["child,parent", *(f"{name},listed" for name in names)]) + "\n")
        page = unveil.tables(published(seed)[: len(names)], names=names, min_cell=minimum).to_html(redacted=True)
        told = {(group, outcome): text for group, outcome, text in figures_of(page)}
        few += sum("fewer than" in text for text in told.values())
        frame = attacked(figures_of(page), minimum, hierarchies=hierarchies).to_polars()
        for row in frame.filter(pl.col("low") == pl.col("high")).iter_rows(named=True):
            text = told.get((row["group"], row["outcome"]), "")
            assert "fewer" not in text, (seed, row, told)
            assert text != "hidden" or row["low"] not in range(1, minimum), (seed, row, told)
        # A mean over all hidden counts would say how many are worked out, where it is known what the others are.
        assert "uncertainty" not in page
    assert few

"""The shareable edition of random small audits, searched by a program that wants to undo it.

Ten audits are searched by default; ``UNVEIL_AUDITS=200`` searches so many.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.leaks import interval, leaks
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.answer import audit_files
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.report_context import ReportContext
from unveil.report.figures import json_of
from unveil.report.limits import check_limits

AUDITS = int(os.environ.get("UNVEIL_AUDITS", "10"))
FOLDER = "geheimnis-7731"
COLUMNS = ("age", "town", "sex", "illness", "income", "home")
KEY = b"k" * 32
MINIMUM = 11
Rows = list[list[str]]


def people(rng: np.random.Generator, number: int, empty: float) -> Rows:
    """Return people of whom some are like nobody else, and some lack a value."""
    towns = rng.choice(["Ulmbach", "Bonnheim", "Kielau", "Zzyzx-Zephyrine"], number, p=[0.5, 0.35, 0.12, 0.03])
    ills = rng.choice(["influenza", "gout-of-toe", "lupus-x"], number, p=[0.6, 0.37, 0.03])
    incomes = [str(income) for income in rng.choice([31250, 42750, 53125, *range(61007, 61047)], number)]
    rows = [
        [str(age), town, sex, ill, income, f"house{row // 3}"]
        for row, (age, town, sex, ill, income) in enumerate(
            zip(rng.integers(18, 80, number), towns, rng.choice(["f", "m"], number), ills, incomes, strict=True)
        )
    ]
    for row in rows:
        for place in (3, 4):
            row[place] = "" if rng.random() < empty else row[place]
    return rows


def masked(rng: np.random.Generator, rows: Rows) -> Rows:
    """Return a release of the people: some coarser, some swapped, perhaps a few left out, in another order."""
    made = [row.copy() for row in rows]
    coarse, swapped = rng.random(2)
    for row in made:
        row[0] = str(int(row[0]) // 20 * 20) if rng.random() < coarse else row[0]
        row[1] = str(rng.choice(["Ulmbach", "Bonnheim"])) if rng.random() < swapped / 2 else row[1]
    made = made[: len(made) - int(rng.choice([0, 0, 3, 12] if len(made) > 30 else [0, 3]))]
    return [made[place] for place in rng.permutation(len(made))]


def write(path: Path, rows: Rows) -> Path:
    """Write a table with its header."""
    path.write_text("\n".join(",".join(row) for row in [list(COLUMNS), *rows]) + "\n", encoding="utf-8")
    return path


def audited(folder: Path, seed: int) -> tuple[str, list[Path], Rows, Audit]:
    """Return the shareable edition of a random audit, with its files and people."""
    rng = np.random.default_rng([20, seed])
    number, empty = int(rng.choice([14, 25, 40, 90, 160])), float(rng.choice([0.0, 0.04, 0.97]))
    original = people(rng, number, empty)
    files = [write(folder / "people.csv", original), write(folder / "masked.csv", masked(rng, original))]
    released = [files[1]]
    if rng.random() < 0.3:
        released.append(write(folder / "other.csv", masked(rng, original)))
    control = write(folder / "strangers.csv", people(rng, int(rng.choice([number, 60])), empty))
    has_control = rng.random() < 0.8
    known: dict[str, Any] = {"known": ["age", "town", "sex"]} if rng.random() < 0.5 else {}
    answer = audit_files(
        files[0],
        released,
        control if has_control else None,
        kind="masked",
        sensitive=["illness"] if empty < 0.5 else [],
        by=str(rng.choice(["town", "sex"])),
        household="home",
        population_size=int(rng.choice([1_000, 5_000])),
        guesses=60,
        suggest=2 if seed % 4 == 0 else 0,
        suggest_for=["inference.attack_rate"],
        rng=rng,
        **known,
    )
    limits = check_limits(answer.quantities, (("inference.attack_rate", 0.1), ("disclosure.k_anonymity", 3.0)))
    context = ReportContext(
        original=files[0], released=tuple(released), profile=str(rng.choice(["cell-5", "cell-11"])), digest_key=KEY
    )
    page = answer.to_html(edition="shareable", limits=[json_of(each) for each in limits], context=context, seed=seed)
    return page, [files[0], *released, control], original, answer.findings


def audited_way(folder: Path, seed: int) -> tuple[str, list[Path], Rows, Audit]:
    """Return the shareable edition of a random audit of a generator, perhaps beside a release that exists."""
    rng = np.random.default_rng([24, seed])
    original = people(rng, int(rng.choice([45, 90, 160])), 0.02)
    files = [write(folder / "people.csv", original), write(folder / "masked.csv", masked(rng, original))]
    released = files[1:] if seed % 2 else []
    plans = ({"folds": 2}, {"runs": 2, "hold_out": 0.45}, {"canaries": "5:unusual", "hold_out": 0.45})
    plan: dict[str, Any] = plans[seed % 3]
    answer = audit_files(
        files[0],
        released,
        generator=str(rng.choice(["shuffle", "gaussian-copula", "mondrian:k=3"])),
        sensitive=["illness"],
        by="town",
        guesses=60,
        epsilon=1,
        rng=rng,
        **plan,
    )
    context = ReportContext(original=files[0], released=tuple(released), digest_key=KEY)
    return answer.to_html(edition="shareable", context=context, seed=seed), files, original, answer.findings


def rare_cells(rows: Rows) -> list[str]:
    """Return the cells that fewer people share than may be shown, where they are odd enough to be searched for."""
    cells = Counter(cell for row in rows for cell in row)
    return [cell for cell, times in cells.items() if times < MINIMUM and len(cell) > 4]


def rates(findings: Any) -> Iterator[Rate]:
    """Yield every rate of an audit, however deep."""
    if isinstance(findings, Rate):
        yield findings
    elif is_dataclass(findings):
        for each in fields(findings):
            yield from rates(getattr(findings, each.name))
    elif isinstance(findings, tuple):
        for each in findings:
            yield from rates(each)


@pytest.mark.unwatched
@pytest.mark.parametrize(
    ("make", "seed"),
    [*((audited, seed) for seed in range(AUDITS)), *((audited_way, seed) for seed in range(AUDITS // 3))],
)
def test_nothing_about_a_few_people_can_be_read_off_or_computed(
    tmp_path: Path, make: Callable[[Path, int], tuple[str, list[Path], Rows, Audit]], seed: int
) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    page, files, original, findings = make(folder, seed)
    found = leaks(
        page,
        minimum=MINIMUM,
        cells=rare_cells(original),
        folders=[FOLDER, str(tmp_path)],
        files=[file.read_bytes() for file in files],
        truths={(n * rate.value, n) for rate in rates(findings) for n in (rate.tries, rate.worth) if n},
    )
    assert found == []


def test_the_search_finds_what_it_looks_for() -> None:
    low, high = interval(3, 500)
    sown = {
        f"<p>500 rows. It is 0.6% ({low:.1%} to {high:.1%}).</p>": "hits [3.0] of [500]",
        f"<p>500 rows. It is 100% (at least {interval(3, 3)[0]:.1%}).</p>": "of [3]",
        "<p>Hits: 496 of 500.</p>": "hits '496 of 500'",
        "<p>7 people are alone.</p>": "count '7 people'",
        '<p>500 rows.</p><svg><text class="value start">0.6%</text></svg>': "drawn 0.6%",
        f"<p>{'ab' * 32}</p>": "no keyed digest",
        "<table><tr><th>Group</th><th>People (attacked)</th><th>In the data</th></tr>"
        "<tr><td>a</td><td>100 (100)</td><td>50.0%</td></tr><tr><td>b</td><td>20 (20)</td><td>–</td></tr>"
        "<tr><td>everybody</td><td>120 (120)</td><td>45.0%</td></tr></table>": "4.0 are left for ['b']",
        "<p>500 rows</p><table><tr><th>Release</th><th>Unique</th><th>Below 3</th></tr>"
        "<tr><td>r</td><td>10.0%</td><td>10.8%</td></tr></table>": "a few between 10.0% and 10.8%",
        "<p title='Zzyzx'>x</p>": "cell 'Zzyzx'",
    }
    for page, leak in sown.items():
        assert any(leak in each for each in leaks(page, cells=["Zzyzx"])), leak
    assert leaks("<p>500 rows. It is less than 2.2% (at most 3.9%), 0 of 500, fewer than 11 of 500.</p>") == []

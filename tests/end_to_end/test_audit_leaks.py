"""The shareable edition of random small audits, searched by a program that wants to undo it.

Ten audits are searched by default; ``UNVEIL_AUDITS=200`` searches so many.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.leaks import decision_leaks, interval, leaks
from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.answer import audit
from unveil.questions.audit.findings import Audit
from unveil.questions.audit.redaction import shared
from unveil.questions.audit.report_context import ReportContext
from unveil.report.figures import json_of
from unveil.report.machine import compact
from unveil.report.suppressed_number import SuppressedNumber

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
    known: dict[str, Any] = {"quasi_identifiers": ["age", "town", "sex"]} if rng.random() < 0.5 else {}
    thresholds: tuple[dict[str, Any], ...] = (
        {},
        {"threshold": 0.09},
        {"profile": str(rng.choice(["cell-5", "cell-11"]))},
        {},
    )
    answer = audit(
        files[0],
        released,
        control if has_control else None,
        release_type="masked",
        sensitive=["illness"] if empty < 0.5 else [],
        group_by=str(rng.choice(["town", "sex"])),
        household="home",
        population_size=int(rng.choice([1_000, 5_000])),
        predicates=60,
        suggest=2 if seed % 4 == 0 else 0,
        suggest_for=["inference"],
        **thresholds[seed % 4],
        rng=rng,
        **known,
    )
    if seed % 4 == 3:
        answer = answer.with_limits({"disclosure.k_anonymity": 3.0} | ({"inference": 0.1} if has_control else {}))
    context = ReportContext(
        original=files[0],
        released=tuple(released),
        digest_key=KEY,
    )
    page = answer.to_html(redacted=True, report=context, seed=seed)
    return page, [files[0], *released, control], original, answer.findings


def audited_way(folder: Path, seed: int) -> tuple[str, list[Path], Rows, Audit]:
    """Return the shareable edition of a random audit of a generator, perhaps beside a release that exists."""
    rng = np.random.default_rng([24, seed])
    original = people(rng, int(rng.choice([45, 90, 160])), 0.02)
    files = [write(folder / "people.csv", original), write(folder / "masked.csv", masked(rng, original))]
    released = files[1:] if seed % 2 else []
    plans = ({"folds": 2}, {"runs": 2, "holdout": 0.45}, {"canaries": "5:unusual", "holdout": 0.45})
    plan: dict[str, Any] = plans[seed % 3]
    answer = audit(
        files[0],
        released,
        generator=str(rng.choice(["shuffle", "gaussian-copula", "mondrian:k=3"])),
        sensitive=["illness"],
        group_by="town",
        predicates=60,
        epsilon=1,
        rng=rng,
        **plan,
    )
    context = ReportContext(original=files[0], released=tuple(released), digest_key=KEY)
    return answer.to_html(redacted=True, report=context, seed=seed), files, original, answer.findings


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


def told(content: Any) -> Any:
    """Return plain data without the numbers that are given by bounds, which follow from totals."""
    if isinstance(content, dict):
        return {name: told(each) for name, each in content.items()}
    if isinstance(content, list | tuple):
        return [told(each) for each in content]
    return None if isinstance(content, SuppressedNumber) else content


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
    decision = json.loads(compact(told(json_of(shared(findings).decision))))
    assert (found, decision_leaks(decision, minimum=MINIMUM)) == ([], [])


ROWS = "<p>90 rows of original data; 60 rows in the control group."
BAR = '<svg><rect class="risk-bar" x="0" width="{:.2f}%"/></svg>'


def risk_row(plot: str, data: str = "") -> str:
    return f'<table><tr role="row"{data}><th>Linkability</th><td role="cell" class="plot">{plot}</td></tr></table>'


def test_the_search_finds_what_it_looks_for() -> None:
    low, high = interval(3, 500)
    sown = {
        f"<p>500 rows. It is 0.6% ({low:.1%} to {high:.1%}).</p>": "hits [3.0] of [500]",
        f"<p>500 rows. It is 100% (at least {interval(3, 3)[0]:.1%}).</p>": "of [3]",
        "<p>Hits: 496 of 500.</p>": "hits '496 of 500'",
        "<p>7 people are alone.</p>": "count '7 people'",
        '<p>500 rows.</p><svg><text class="value start">0.6%</text></svg>': "drawn 0.6%",
        f"<p>{'ab' * 32}</p>": "no keyed digest",
        "<table><tr><th>Group</th><th>People (attacked)</th><th>Attack success</th></tr>"
        "<tr><td>a</td><td>100 (100)</td><td>50.0%</td></tr><tr><td>b</td><td>20 (20)</td><td>–</td></tr>"
        "<tr><td>everybody</td><td>120 (120)</td><td>45.0%</td></tr></table>": "4.0 are left for ['b']",
        "<p>500 rows</p><table><tr><th>Release</th><th>Sample unique</th><th>Class below 3</th></tr>"
        "<tr><td>r</td><td>10.0%</td><td>10.8%</td></tr></table>": "a few between 10.0% and 10.8%",
        "<p title='Zzyzx'>x</p>": "cell 'Zzyzx'",
        "<p>500 rows</p><table><tr><th>Attacker</th><th>Attack success</th><th>Baseline</th>"
        "<th>Excess (at least, at most)</th></tr><tr><td>a</td><td>50%</td><td>not shown</td><td>49 (40, 60)</td></tr>"
        "</table>": "the excess of 'a' gives 1.0%",
        f"<p>500 rows</p>{risk_row(BAR.format(1.2))}": "1.20% is drawn",
        risk_row(f"not shown{BAR.format(30)}"): "of what is not shown",
        risk_row("not shown", ' data-low="0.1234"'): 'data-low="0.1234" of what is not shown',
        f"{ROWS} 85 people with a record released as an exact copy.</p>": "all but 5 are copied",
        f"{ROWS} 40 people with a record released as an exact copy; 9 expected by chance.</p>": (
            "6.0 copied of the control group"
        ),
    }
    for page, leak in sown.items():
        assert any(leak in each for each in leaks(page, cells=["Zzyzx"])), leak
    withheld = risk_row("not shown", ' data-low="nan"')
    assert leaks(f"<p>500 rows</p>{risk_row(BAR.format(30))}{withheld}") == []
    assert leaks("<p>500 rows. It is less than 2.2% (at most 3.9%), 0 of 500, fewer than 11 of 500.</p>") == []


def decided(**changes: Any) -> dict[str, Any]:
    """Return a decision, as JSON, on a release of which nothing about a few is given, with some changes."""
    effect = {
        "attack": "linkability", "attacker": None, "sensitive": None, "attack_rate": 0.3, "baseline": 0.2,
        "attempts": 100, "control_attempts": 100, "excess": {"value": 0.1, "low": 0.0, "high": 0.2},
        "uncorrected": None, "people_needed": None, "auc": None, "p_adjusted": 0.1,
    }  # fmt: skip
    individuals: dict[str, Any] = {
        "unmistakable": 0, "copies_seen": 40, "copies_expected": 20, "rare_copies": 20, "rare_copies_expected": None,
        "flagged": 0, "smallest_class": None, "people_in_classes_below": {}, "groups": [],
    }  # fmt: skip
    effect |= {name: value for name, value in changes.items() if name in effect}
    individuals |= {name: value for name, value in changes.items() if name in individuals}
    release = {"effects": [effect], "risks": [{"worst": effect}], "worst_excess": effect, "individuals": individuals}
    texts = {"headline": changes.get("headline", ""), "subline": changes.get("subline", ""), "next": []}
    highest = changes.get("highest", effect["excess"]["high"])  # type: ignore[index]
    return {"people": 100, "control_people": 100, "releases": [{**release, "highest": highest}], **texts}


@pytest.mark.parametrize(
    ("changes", "leak"),
    [
        ({"attack_rate": 0.05}, "5.0 of 100"),
        ({"baseline": 0.97}, "97.0 of 100"),
        ({"attack_rate": None, "p_adjusted": None, "excess": {"value": -0.15, "low": None, "high": 0.1}}, "5.0 of 100"),
        ({"uncorrected": 0.75}, "95.0 of 100"),
        ({"attempts": 97}, "3 not attacked"),
        ({"attack_rate": None}, "a number of a hidden effect"),
        ({"highest": 0.3}, "that of a hidden effect"),
        ({"copies_seen": 95}, "5 people between 95 and 100"),
        ({"unmistakable": 35}, "5 people between 35 and 40"),
        ({"copies_expected": 4}, "4.0 of the control group"),
        ({"flagged": 3}, "3 people between 0 and 3"),
        ({"people_in_classes_below": {"3": 20, "11": 28}}, "8 people between 20 and 28"),
        ({"smallest_class": 2}, "a class of 2"),
        ({"groups": [{"group": "g", "people": 25, "attack": "linkability", "excess": {"value": 1}}]}, "5.0 outside"),
        ({"groups": [{"group": "g", "people": 7, "attack": "linkability", "excess": {"value": None}}]}, "group of 7"),
        ({"headline": "Fail: 40 people's records are released unchanged, 6 expected."}, "6.0 copied of the control"),
        ({"subline": "linkability: 30%, control 4.0%; excess 26 points"}, "4.0% of any of [100]"),
    ],
)
def test_the_search_of_a_decision_finds_what_it_looks_for(changes: dict[str, Any], leak: str) -> None:
    assert decision_leaks(decided()) == []
    assert any(leak in each for each in decision_leaks(decided(**changes)))

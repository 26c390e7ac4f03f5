"""The command's JSON under new names and another order of rows: the same figures, drawn ones included."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from unveil.questions.unlinkability.answer import unlinkability

TRUTH, GUESS, OTHER = "AAAABBBBCCCDDEF", "pqrspqrpqrspqrs", "ppqqrrppqqrrsss"


def written(path: Path, labels: str, names: dict[str, str], order: list[int]) -> Path:
    path.write_text("item,cluster\n" + "".join(f"item {k:02},{names[labels[k]]}\n" for k in order))
    return path


def answered(folder: Path, names: dict[str, str], *, seed: int | None, **settings: Any) -> dict[str, Any]:
    """Return the JSON of files with these names, with their rows shuffled by this seed."""
    order = list(range(len(TRUTH)))
    shuffled = [order if seed is None else random.Random(seed + k).sample(order, len(order)) for k in range(3)]  # noqa: S311
    folder.mkdir()
    paths = [
        written(folder / f"{k}.csv", labels, names, rows)
        for k, (labels, rows) in enumerate(zip((TRUTH, GUESS, OTHER), shuffled, strict=True))
    ]
    guesses = [(path, None) for path in paths[1:]] if settings.pop("several") else [(paths[1], None)]
    found: dict[str, Any] = json.loads(unlinkability(guesses, paths[0], **settings).to_json())
    old = {new: name for name, new in names.items()}
    found["per_subject"].sort(key=lambda row: old[row["subject"]])
    return found


def assert_same(one: Any, other: Any, where: str = "") -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one.keys() - ({"subject"} if isinstance(one.get("subject"), str) else set()):
            assert_same(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for k, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{k}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), where
    else:
        assert one == other, where


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {"mixing": "others"},
        {"mixing": "even", "merge_order": "cheapest", "baseline": "sizes"},
        {"mixing": "items", "merge_order": "any"},
    ],
)
def test_new_names_and_another_order_of_rows_change_no_figure(
    tmp_path: Path, settings: dict[str, Any], several: bool
) -> None:
    old = sorted({*TRUTH, *GUESS, *OTHER})
    same = answered(tmp_path / "old", dict(zip(old, old, strict=True)), seed=None, several=several, **settings)
    for trial in range(3):
        new = [f"n{k:02}" for k in range(len(old))]
        random.Random(trial).shuffle(new)  # noqa: S311 - only new names
        names = dict(zip(old, new, strict=True))
        found = answered(tmp_path / str(trial), names, seed=trial, several=several, **settings)
        assert_same(same, found)
        assert found["subject"]["subject"] == names[same["subject"]["subject"]]

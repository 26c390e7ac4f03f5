"""Protections as they are written: by name with settings, or a user's own class."""

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest

from unveil._specification import from_text
from unveil.errors import InputError
from unveil.protections import (
    PROTECTIONS,
    GaussianCopula,
    RankSwapping,
    Shuffle,
    TableProtection,
    graph_protection_from,
    protection_from,
    protection_text,
)


@dataclass(frozen=True, kw_only=True)
class Everything:
    """A class with a setting of every kind."""

    needed: int
    real: float = 0.5
    exact: Fraction = Fraction(1, 2)
    switch: bool = False
    word: str = "a"
    choice: Literal["one", "two", 3] = "one"
    words: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    either: int | Literal["all"] | None = 7
    anything: Any = None

    def run(self) -> None:
        """Do nothing."""


def read(text: str) -> Any:
    return from_text(text, {"every-thing": Everything}, what="attack", method="run", aka={"all-of-it": "every-thing"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shuffle", Shuffle()),
        ("shuffle:", Shuffle()),
        (" rank-swapping ", RankSwapping()),
        ("rank-swapping:share=0.1", RankSwapping(share=0.1)),
        ("rank-swapping:share=1/4", RankSwapping(share=0.25)),
        ("rank-swapping:columns=age", RankSwapping(columns=("age",))),
        ("rank-swapping:columns=age,income,share=0.1", RankSwapping(columns=("age", "income"), share=0.1)),
        ("rank-swapping:share=0.1,columns=age, town size", RankSwapping(columns=("age", "town size"), share=0.1)),
        ('rank-swapping:"columns=town, county",age', RankSwapping(columns=("town, county", "age"))),
        ("rank-swapping:columns=none", RankSwapping()),
        ("gaussian-copula:rows=10", GaussianCopula(rows=10)),
        ("gaussian-copula:rows=none", GaussianCopula()),
        ("unveil.protections.table.shuffle:Shuffle", Shuffle()),
        ("unveil.protections:RankSwapping:share=0.2", RankSwapping(share=0.2)),
    ],
)
def test_what_is_written_is_what_is_made(text: str, expected: TableProtection) -> None:
    assert protection_from(text) == expected


@pytest.mark.parametrize("name", PROTECTIONS)
def test_every_protection_is_made_by_its_name_and_by_its_shown_settings(name: str) -> None:
    shown = ",".join(PROTECTIONS[name].settings)
    read = protection_from if PROTECTIONS[name].on == "table" else graph_protection_from
    assert read(name) == read(f"{name}:{shown}") == PROTECTIONS[name].make()
    assert protection_text(read(f"{name}:{shown}")) == name


def test_a_protection_of_the_other_kind_of_data_is_refused() -> None:
    with pytest.raises(InputError, match="the protection 'id-removal' is for a graph, not for a table"):
        protection_from("id-removal")
    with pytest.raises(InputError, match="the protection 'shuffle' is for a table, not for a graph"):
        graph_protection_from("shuffle")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("real=2", {"real": 2.0}),
        ("real=1e-3", {"real": 0.001}),
        ("exact=2/3", {"exact": Fraction(2, 3)}),
        ("switch=yes", {"switch": True}),
        ("switch=false", {"switch": False}),
        ("word=none", {"word": "none"}),
        ("word=a=b", {"word": "a=b"}),
        ("choice=two", {"choice": "two"}),
        ("choice=3", {"choice": 3}),
        ("words=a,b,c", {"words": ("a", "b", "c")}),
        ("numbers=1,2.5", {"numbers": (1.0, 2.5)}),
        ("either=all", {"either": "all"}),
        ("either=5", {"either": 5}),
        ("either=none", {"either": None}),
        ("anything=3", {"anything": 3}),
        ("anything=0.5", {"anything": 0.5}),
        ("anything=yes", {"anything": True}),
        ("anything=none", {"anything": None}),
        ("anything=x,1", {"anything": ("x", 1)}),
    ],
)
def test_values_have_the_type_of_their_setting(written: str, expected: dict[str, Any]) -> None:
    made = read(f"every-thing:needed=1,{written}")
    assert made == Everything(needed=1, **expected)
    ((key, value),) = expected.items()
    assert type(getattr(made, key)) is type(value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rank-swaping", ["there is no protection 'rank-swaping'", "Did you mean 'rank-swapping'?"]),
        ("rank-swaping:share=0.1", ["Did you mean 'rank-swapping'?"]),
        ("copula", ["here it is called 'gaussian-copula'"]),
        ("nothing-like-it", ["Choose from additive-noise, correlated-noise, gaussian-copula", "package.module:Class"]),
        ("", ["there is no protection ''", "Choose from"]),
        ("rank-swapping:shares=0.1", ["no setting 'shares'", "Did you mean 'share'?"]),
        ("gaussian-copula:quick=yes", ["no setting 'quick'", "It has rows."]),
        ("shuffle:quick=yes", ["It has none."]),
        ("rank-swapping:share", ["key=value"]),
        ("rank-swapping:share=0.1,share=0.2", ["'share' twice"]),
        ("rank-swapping:share=much", ["share of rank-swapping must be a number, but is 'much'"]),
        ("rank-swapping:share=0.1,0.2", ["must be a number"]),
        ("rank-swapping:share=1/0", ["must be a number"]),
        ("rank-swapping:share=", ["'share' of rank-swapping has an empty value", "share=none", "leave it out"]),
        ("rank-swapping:p=", ["'p' of rank-swapping has an empty value"]),
        ("rank-swapping:columns=", ["'columns' of rank-swapping has an empty value"]),
        ("rank-swapping:columns=age,,p=10", ["'columns' of rank-swapping has an empty value"]),
        ("rank-swapping:p= ,columns=age", ["'p' of rank-swapping has an empty value"]),
        ("rank-swapping:share=2", ["at most 1"]),
        ("gaussian-copula:rows=1.5", ["rows of gaussian-copula must be a whole number"]),
        ('rank-swapping:"columns=age', ["quote that is not closed"]),
        ("no.such.module:Mine", ["'no.such.module' of your protection cannot be imported", "PYTHONPATH"]),
        ("unveil.protections:Shufle", ["has no class 'Shufle'", "Did you mean 'Shuffle'?"]),
        ("unveil.errors:InputError", ["must be a class with the method 'apply'"]),
        ("unveil.protections:protection", ["must be a class with the method 'apply'"]),
    ],
)
def test_a_slip_is_named_and_the_nearest_suggested(text: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        protection_from(text)
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("every-thing", "every-thing needs the setting 'needed'. Write it as every-thing:needed=VALUE"),
        ("every-thing:needed=1,word=", "'word' of every-thing has an empty value"),
        ("every-thing:needed=1,anything=", "'anything' of every-thing has an empty value"),
        ("every-thing:needed=1,choice=four", "must be one of one, two, 3"),
        ("every-thing:needed=1,switch=perhaps", "must be yes or no"),
        ("every-thing:needed=1,numbers=1,x", "values with commas"),
        ("every-thing:needed=1,either=some", "must be a whole number or one of all"),
        ("all-of-it", "here it is called 'every-thing'"),
    ],
)
def test_the_same_rules_serve_attacks(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        read(text)


def test_a_users_class_needs_no_registration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_protections.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from nowhere import Unknown\n"
        "class Mine:\n"
        "    def __init__(self, strength: 'Unknown' = 1):\n        self.strength = strength\n"
        "    def apply(self, original, *, rng):\n        return original\n",
        encoding="utf-8",
    )
    (tmp_path / "my_broken.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    made: Any = protection_from("my_protections:Mine:strength=3")
    assert (type(made).__name__, made.strength) == ("Mine", 3)
    with pytest.raises(InputError, match="ZeroDivisionError"):
        protection_from("my_broken:Mine")
    assert "my_broken" not in sys.modules
    assert "my_protections:Mine" not in PROTECTIONS

"""What must be said before any figure stands above the headline, on every door, and holds no cell of the data."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from tests.approved.sentences import Approved
from tests.questions.audit.example import CONTROL, FOREIGN, ORIGINAL, ask
from unveil.cli import main
from unveil.errors import InputError

QUICK = ["attribute_disclosure"]


def cautions(released: pl.DataFrame, **settings: Any) -> list[str]:
    answer = ask(ORIGINAL, released, CONTROL, attacks=QUICK, **settings)
    told = list(answer.page().cautions)
    assert json.loads(answer.to_json())["cautions"] == told
    html = answer.to_html()
    # The heading comes last: nobody reads a figure first.
    assert all(html.index(each[:30].replace("'", "&#39;")) < html.index("<h1>") for each in told)
    return told


def test_nothing_is_said_of_a_release_like_the_original() -> None:
    assert cautions(FOREIGN) == []


def test_recoded_labels_and_another_unit_are_said_first(approved: Approved) -> None:
    recoded = ORIGINAL.with_columns(
        pl.col("region").replace_strict({"north": "R1", "south": "R2", "east": "R3"}), (pl.col("income") * 12.0)
    )
    first, second = cautions(recoded)
    assert first.startswith("No released value of 'region' of release occurs in the original. ")
    approved(second)
    assert "(× 12)" in second


def test_some_foreign_values_are_a_note_with_their_share_that_does_not_leave_the_house() -> None:
    some = FOREIGN.with_columns(
        pl.when(pl.int_range(pl.len()) < 10).then(pl.lit("west")).otherwise("region").alias("region")
    )
    answer = ask(ORIGINAL, some, CONTROL, attacks=QUICK)
    note = "10% of the released values of 'region' of release do not occur in the original"
    assert answer.page().cautions == ()
    assert any(each.startswith(note) for each in answer.page().notes)
    assert "do not occur" not in answer.to_html(redacted=True)


def test_a_column_that_is_nearly_called_the_same_is_asked_about_and_can_be_renamed(approved: Approved) -> None:
    misnamed = FOREIGN.rename({"income": "incom"})
    (told,) = cautions(misnamed)
    approved(told)
    assert cautions(misnamed, rename={"incom": "income"}) == []
    with pytest.raises(InputError, match="Unknown column 'incme' with a new name"):
        cautions(misnamed, rename={"incme": "income"})


def test_guessed_kinds_are_loud_and_can_be_refused(tmp_path: Path, approved: Approved) -> None:
    coded = [
        frame.with_columns(pl.Series("q7", [at % 4 + 1 for at in range(frame.height)])) for frame in (ORIGINAL, FOREIGN)
    ]
    paths = [str(tmp_path / name) for name in ("people.csv", "released.csv")]
    for frame, path in zip(coded, paths, strict=True):
        frame.write_csv(path)
    command = ["audit", *paths, "--attacks", "attribute_disclosure"]
    run = CliRunner().invoke(main, command)
    assert run.stdout.startswith("The types of 1 of 5 columns ('q7') are uncertain")
    refused = CliRunner().invoke(main, [*command, "--strict-kinds"])
    assert (refused.exit_code, refused.stdout) == (2, "")
    approved(refused.stderr)
    for told in (["--kinds", "q7=category"], ["--kinds", "q7=1<2<3<4"]):
        run = CliRunner().invoke(main, [*command, "--strict-kinds", *told])
        assert (run.exit_code, run.stderr) == (0, "")
        assert "are uncertain guesses" not in run.stdout
    settings = tmp_path / "audit.toml"
    settings.write_text('strict_kinds = true\n[kinds]\nq7 = "ordered"\n[markers]\nq7 = {"4" = "not applicable"}\n')
    run = CliRunner().invoke(main, [*command, "--config", str(settings), "--json"])
    assert run.exit_code == 0, run.stderr
    column = json.loads(run.stdout)["original"]["columns"][-1]
    assert (column["type"], column["confidence"]) == ("ordered", "given")
    assert column["markers"] == [{"text": "4", "class": "not applicable", "cells": 30}]


def test_markers_are_shown_inside_the_house_only() -> None:
    unusual = ORIGINAL.with_columns(
        pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("zzyx")).otherwise(pl.col("age")).alias("age")
    )
    answer = ask(unusual, unusual, attacks=QUICK)
    assert "zzyx" in answer.to_html()
    assert "zzyx" not in answer.to_html(redacted=True)

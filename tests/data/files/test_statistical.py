"""Files of SPSS, Stata and SAS are the table that was written, with the labels and missing values that they declare."""

import gzip
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyreadstat
import pytest

from tests.data.refusals import MARKER, refusal
from unveil.data.files.read import read_file, read_table
from unveil.data.files.settings import FileSettings
from unveil.data.files.source import open_source
from unveil.data.files.statistical import FileLabels
from unveil.data.table import Table

PEOPLE = pl.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "size": [1.75, 1.8, 1.65, 2.0],
        "town": ["Köln", "Ulm", "", "Bonn"],
        "born": [date(1980, 1, 2), date(1990, 3, 4), date(1970, 5, 6), date(1960, 7, 8)],
    }
)
LABELS: dict[str, dict[Any, str]] = {"sex": {1: "male", 2: "female", 9: "refused"}}


def sav(frame: pl.DataFrame, path: Path, *, compress: bool = False) -> None:
    pyreadstat.write_sav(
        frame,
        str(path),
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9, {"lo": 20, "hi": 29}]},
        variable_measure={"sex": "nominal", "size": "scale"},
        row_compress=compress,
    )


def dta(frame: pl.DataFrame, path: Path, version: int = 15) -> None:
    pyreadstat.write_dta(frame, str(path), variable_value_labels=LABELS, version=version)


def xpt(frame: pl.DataFrame, path: Path, version: Literal[5, 8] = 8) -> None:
    pyreadstat.write_xport(frame, str(path), file_format_version=version)


WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "a.sav": sav,
    "b.sav": lambda frame, path: sav(frame, path, compress=True),
    "a.dta": dta,
    "old.dta": lambda frame, path: dta(frame, path, 10),
    "a.xpt": xpt,
    "old.xpt": lambda frame, path: xpt(frame, path, 5),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_the_table_that_was_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](PEOPLE, path)
    # Old files of Stata do not say their encoding.
    found = read_file(path, FileSettings(encoding="utf-8" if name == "old.dta" else "detect"))
    assert found.frame["sex"].to_list() == [1, 2, 9, None]
    assert found.frame["sex"].dtype == pl.Int64
    assert found.frame["size"].to_list() == [1.75, 1.8, 1.65, 2.0]
    assert found.frame["town"].to_list() == ["Köln", "Ulm", None, "Bonn"]
    assert found.frame["born"].cast(pl.Date).to_list() == PEOPLE["born"].to_list()
    assert found.labels.labels == ({} if name.endswith("xpt") else LABELS)
    path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
    if name != "old.dta":  # known by its ending too
        assert read_file(path.with_suffix(".gz")).frame.equals(found.frame)
    assert read_table(path, {"who": "town", "number": "sex"}).rows()[1] == ("Ulm", "2")
    assert Table.read(path, header="no", separator=";").column_names == ("sex", "size", "town", "born")


def test_what_spss_declares_is_handed_over_and_its_missing_values_are_missing(tmp_path: Path) -> None:
    sav(PEOPLE, tmp_path / "a.sav")
    assert read_file(tmp_path / "a.sav").labels == FileLabels(
        labels=LABELS, measures={"sex": "nominal", "size": "scale"}, missing={"sex": ((9, 9), (20, 29))}
    )
    table = Table.read(tmp_path / "a.sav")
    assert table.frame["sex"].to_list() == ["1", "2", None, None]
    assert (table.column("sex").kind, table.column("sex").confidence) == ("category", "labels")
    assert table.notes == ()


def test_letters_of_stata_stand_for_missing_values(tmp_path: Path) -> None:
    frame = pl.DataFrame({"grade": pl.Series([1, 2, "a", "b", None], dtype=pl.Object), "x": [0.5, 1.5, 2.5, 3.5, 4.5]})
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"), missing_user_values={"grade": ["a", "b"]})
    found = read_file(tmp_path / "a.dta")
    assert found.frame["grade"].to_list() == ["1", "2", ".a", ".b", None]
    assert found.labels.missing == {"grade": ((".a", ".a"), (".b", ".b"))}
    table = Table.read(tmp_path / "a.dta")
    assert table.frame["grade"].to_list() == [1, 2, None, None, None]
    assert table.column("grade").kind == "number"


@pytest.mark.parametrize("name", ["a.sav", "a.dta", "a.xpt"])
def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path, name: str) -> None:
    WRITERS[name](PEOPLE.with_columns(pl.lit(MARKER).alias("town")), tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for length in {*range(60, len(whole) - 1, len(whole) // 20), len(whole) - 1}:
        if name != "a.xpt" or length % 80:  # a transport file does not say how many lines of 80 signs it has
            (tmp_path / name).write_bytes(whole[:length])
            assert "cut short or damaged" in refusal(lambda: read_file(tmp_path / name))


def test_an_old_stata_file_needs_its_ending_and_sas_is_known_by_its_bytes(tmp_path: Path) -> None:
    dta(PEOPLE, tmp_path / "a.dta", 10)
    assert open_source(tmp_path / "a.dta").kind == "dta"
    (tmp_path / "nettle.csv").write_text("nettle,town\n1,Ulm\n2,Ulm\n", encoding="utf-8")
    assert open_source(tmp_path / "nettle.csv").kind == "csv"
    magic = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    (tmp_path / "a.bin").write_bytes(magic + MARKER.encode() * 99)
    assert "the SAS file" in refusal(lambda: read_file(tmp_path / "a.bin"))


#: Formats of dates and times in each program.
DATES = {
    "a.sav": (pyreadstat.write_sav, ("DATE11", "ADATE10", "DATETIME20", "TIME8")),
    "a.dta": (pyreadstat.write_dta, ("%td", "%tc")),
    "a.xpt": (pyreadstat.write_xport, ("DATE9", "DATETIME20", "TIME8")),
}


@pytest.mark.parametrize("far", [7.3e23, -7.3e23, 7.3e18])
@pytest.mark.parametrize(("name", "written"), [(name, each) for name in DATES for each in DATES[name][1]])
def test_a_date_that_no_calendar_holds_is_refused_with_its_place(
    tmp_path: Path, name: str, written: str, far: float, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = pl.DataFrame({"age": [20.0, 30.0, 40.0], "born": [9e3, 9.5e3, far], "town": [MARKER] * 3})
    DATES[name][0](frame, str(tmp_path / name), variable_format={"born": written})  # type: ignore[operator]
    for read in (read_file, Table.read, lambda path: read_table(path, {"who": "born"})):
        said = refusal(lambda read=read: read(tmp_path / name))  # type: ignore[misc]
        assert "column 'born' of '" in said
        assert f"{name}' must hold dates and times that lie less than 250,000 years away" in said
        assert "row 3" in said
        assert "e23" not in said
    assert read_table(tmp_path / name, {"who": "town"}).height == 3
    assert capfd.readouterr() == ("", "")


def test_a_date_far_away_that_polars_can_still_hold_is_refused_with_its_place(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20.0, 30.0, 40.0], "born": [1e10, 7.3e13, 7.4e13]})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_format={"born": "DATE11"})
    assert "must hold dates and times that lie less than 250,000 years away, but does not in row 2" in refusal(
        lambda: Table.read(tmp_path / "a.sav")
    )


def test_whatever_a_library_stops_at_is_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sav(PEOPLE, tmp_path / "a.sav")

    def stop(*_: object, **__: object) -> None:
        raise TypeError(MARKER)  # as narwhals does where a damaged file has a column without a name

    monkeypatch.setattr(pyreadstat, "read_sav", stop)
    assert "cut short or damaged" in refusal(lambda: read_file(tmp_path / "a.sav"))

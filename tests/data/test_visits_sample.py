"""The sample of visits is what its script generates."""

from pathlib import Path

import pytest

from tools import make_sample_visits
from unveil.data import samples


def test_the_script_writes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_sample_visits, "FILE", tmp_path / "visits.csv")
    make_sample_visits.main()
    assert capsys.readouterr().out == "visits.csv: 4496 trips, 125903 characters\n"
    assert (tmp_path / "visits.csv").read_bytes() == samples.path("visits.csv").read_bytes()

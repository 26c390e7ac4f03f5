"""``unveil warm-up`` compiles what is listed, and says where it is kept."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from unveil._kernels import _warm_up
from unveil.cli import main

ALL = _warm_up.listed_loops()


def test_it_says_how_much_was_compiled_and_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "unveil.protections.graph.graph_anon:_limit"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_warm_up, "listed_loops", lambda: {name: ALL[name]})
    done = CliRunner().invoke(main, ["warm-up", "--cores", "1"])
    assert done.exit_code == 0, done.output
    assert "1 loop is ready, 1 of them compiled now" in done.output
    assert f"The compiled code is in {tmp_path}" in done.output
    assert list(tmp_path.rglob("*.nbc"))

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from unveil import columns
from unveil.cli import main
from unveil.errors import InputError
from unveil.report import pdf


def browser_that(folder: Path, what: str) -> str:
    """Return a program that stands for a browser and runs the shell commands."""
    program = folder / "browser"
    program.write_text(f"#!/bin/sh\n{what}\n")
    program.chmod(0o755)
    return str(program)


def test_a_report_is_printed(browser: object, tmp_path: Path) -> None:
    target = tmp_path / "columns.pdf"
    columns({"age": [31, 45, 62], "town": ["Ulm", "Bonn", "Kiel"]}).to_pdf(target)
    content = target.read_bytes()
    assert content.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) >= 1
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_browser_gets_one_local_page_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        f'for each; do echo "$each" >> {tmp_path}/arguments; done\n'
        f'for each; do case $each in --print-to-pdf=*) cp {tmp_path}/arguments "${{each#--print-to-pdf=}}";; esac; done'
    )
    monkeypatch.setenv("UNVEIL_CHROMIUM", browser_that(tmp_path, script))
    arguments = pdf.pdf_of("<p>fine</p>").decode().splitlines()
    addresses = [each for each in arguments if not each.startswith("--")]
    assert len(addresses) == 1
    assert addresses[0].startswith("file:///")
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in arguments
    assert ("--no-sandbox" in arguments) == (os.geteuid() == 0)


def test_without_a_browser_nothing_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNVEIL_CHROMIUM", str(tmp_path / "none"))
    done = CliRunner().invoke(main, ["columns", "--sample", "--pdf", str(tmp_path / "a.pdf")])
    assert done.exit_code == 2
    assert "No PDF: Chromium, Chrome, or Edge was not found" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", ["exit 1", "sleep 60"])
def test_a_browser_that_does_not_print_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setenv("UNVEIL_CHROMIUM", browser_that(tmp_path, f"exec {what}" if "sleep" in what else what))
    monkeypatch.setattr(pdf, "PATIENCE", 0.5)
    with pytest.raises(InputError, match=r"^No PDF: browser did not print the report\. Open the HTML report"):
        pdf.pdf_of("<p>fine</p>")

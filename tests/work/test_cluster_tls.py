"""A Dask cluster that is reached by TLS with certificates of its own, from both commands, on this machine."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.questions.audit.example import write_files
from tests.studies.small import files, small_study
from tests.work.test_cluster import ROOT, process
from unveil.studies import run_study

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class SafeCluster(NamedTuple):
    """The address of a scheduler, and the variables by which Dask finds the certificates of a client."""

    address: str
    client: dict[str, str]


def certificates(folder: Path) -> dict[str, str]:
    """Make an authority and a certificate in a folder, as docs/how-to/scale.md says, and return where each file is."""
    folder.mkdir()
    made = {name: str(folder / f"{name}.pem") for name in ("ca", "ca-key", "node", "node-key", "request")}
    for words in (
        ("req", "-x509", *_KEY, "-days", "2", "-subj", "/CN=a", "-keyout", made["ca-key"], "-out", made["ca"]),
        ("req", *_KEY, "-subj", "/CN=node", "-keyout", made["node-key"], "-out", made["request"]),
        (
            *("x509", "-req", "-in", made["request"], "-CA", made["ca"], "-CAkey", made["ca-key"], "-CAcreateserial"),
            *("-days", "2", "-out", made["node"]),
        ),
    ):
        subprocess.run(["openssl", *words], check=True, capture_output=True, stdin=subprocess.DEVNULL, cwd=folder)
    return made


def of_client(made: dict[str, str]) -> dict[str, str]:
    """Return the variables that a client needs."""
    told = {"CA_FILE": made["ca"], "CLIENT__CERT": made["node"], "CLIENT__KEY": made["node-key"]}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": path for name, path in told.items()}


@pytest.fixture(scope="module")
def safe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SafeCluster]:
    folder = tmp_path_factory.mktemp("tls")
    made, told = certificates(folder / "own"), folder / "scheduler.json"
    tls = ("--tls-ca-file", made["ca"], "--tls-cert", made["node"], "--tls-key", made["node-key"])
    place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))
    scheduler = process("dask_scheduler", "--protocol", "tls", *place, *tls)
    deadline = time.monotonic() + 120
    while not (told.exists() and told.read_text()):
        assert time.monotonic() < deadline, "the scheduler did not start"
        time.sleep(0.05)
    address = json.loads(told.read_text())["address"]
    few = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", "--death-timeout", "60")
    worker = process("dask_worker", address, *few, *tls)
    yield SafeCluster(address, of_client(made))
    for each in (worker, scheduler):
        each.kill()
        each.wait()


def unveil(folder: Path, *words: str, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Return what the command gives in this folder."""
    return subprocess.run(
        [sys.executable, "-m", "unveil", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_study_is_run_by_tls(safe: SafeCluster, tmp_path: Path) -> None:
    assert safe.address.startswith("tls://")
    study = small_study(tmp_path)
    (tmp_path / "study.toml").write_text(study.to_toml())
    run_study(study, tmp_path / "clean", workers=0)
    words = ("study", "run", "study.toml", "--out", "out", "--cluster", safe.address)
    done = unveil(tmp_path, *words, env=safe.client)
    assert done.returncode == 0, done.stderr
    assert "without encryption" not in done.stderr
    assert files(tmp_path / "out") == files(tmp_path / "clean")


def test_an_audit_is_computed_by_tls(safe: SafeCluster, tmp_path: Path) -> None:
    home = write_files(tmp_path / "files")
    words = ("audit", "original.csv", "masked.csv", "--control", "control.csv", "--attacks", "copies", "--json")
    alone = unveil(home, *words, env={})
    assert alone.returncode == 0, alone.stderr
    done = unveil(home, *words, "--cluster", safe.address, env=safe.client)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr


_ELSE = "cannot be reached (CommClosedError). Check the address and that 'dask scheduler' runs there"
_NONE = "needs certificates, but Dask's settings (distributed.comm.tls) name none that can be read. Name them"
WITHOUT = {
    "no certificates": _NONE,
    "no such file": _NONE,
    "another authority": "'dask scheduler' runs there, with certificates of the same authority as yours",
    "no TLS": _ELSE,
}


@pytest.mark.parametrize("how", WITHOUT)
def test_clients_without_a_certificate_are_kept_out(how: str, safe: SafeCluster, tmp_path: Path) -> None:
    home = write_files(tmp_path / "files")
    env = of_client(certificates(tmp_path / "other")) if how in ("another authority", "no such file") else {}
    if how == "no such file":
        shutil.rmtree(tmp_path / "other")
    address = safe.address.replace("tls:", "tcp:") if how == "no TLS" else safe.address
    done = unveil(home, "audit", "original.csv", "masked.csv", "--attacks", "copies", "--cluster", address, env=env)
    assert done.returncode == 2
    assert done.stderr.startswith(f"unveil: the cluster '{address}' ")
    assert WITHOUT[how] in done.stderr
    assert done.stderr.count("\n") == 1

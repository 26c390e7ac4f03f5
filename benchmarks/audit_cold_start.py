"""What the first audit on a machine costs: CPU seconds with nothing compiled, and with compiled code on disk.

``python -m benchmarks.audit_cold_start 300 1000`` audits generated tables of so many rows and 15 mixed columns with a
control group, in fresh processes on one thread: into an empty folder (cold) and with what that left (warm). With
``UNVEIL_DATA`` it audits the Adult data too. Both answers must be equal, byte for byte.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.audit_scale import write_tables

_ADULT = ("train.csv.gz", "syn_ctgan.csv.gz", "control.csv.gz")


def spent(folder: str, original: Path, released: Path, control: Path) -> tuple[float, str]:
    """Return CPU seconds and the answer of an audit in a process of its own."""
    program = "from unveil.cli import main; main()"
    words = ["audit", str(original), str(released), "--control", str(control), "--json", "--run", "threads=1"]
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=False,
    )
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, done.stdout


def show(name: str, files: tuple[Path, Path, Path]) -> None:
    """Print a line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        (cold, first), (warm, again) = (spent(folder, *files) for _ in range(2))
    if not first or first != again:
        sys.exit(f"The two audits of {name} must give the same answer, but do not. Run one of them by hand")
    print(f"| {name} | {cold:.1f} | {warm:.1f} | {cold - warm:.1f} |", flush=True)


def main() -> None:
    """Print a table."""
    print("| audit | cold, CPU s | warm, CPU s | more |\n|---|---:|---:|---:|")
    for rows in map(int, sys.argv[1:] or ["300", "1000"]):
        with tempfile.TemporaryDirectory() as folder:
            write_tables(rows, Path(folder))
            names = ("original", "released", "control")
            original, released, control = (Path(folder, f"{name}.parquet") for name in names)
            show(f"{rows:,} rows", (original, released, control))
    if data := os.environ.get("UNVEIL_DATA"):
        original, released, control = (Path(data, "adult", name) for name in _ADULT)
        show("Adult", (original, released, control))


if __name__ == "__main__":
    main()

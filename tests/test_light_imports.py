"""Starting is light: what a command does not need, it does not load. Seen through sys.modules, never by a clock."""

import json
import subprocess
import sys

import pytest

HEAVY = {"numba", "scipy", "polars", "narwhals", "pandas", "matplotlib", "jinja2", "rich", "numpy", "pyarrow"}

#: What of `unveil.questions` the partition question may load: its own folder, and what all answers share.
OWN = {"unlinkability", "result", "request", "settings", "values"}

HELP = "from unveil.cli import main; main(['--help'], prog_name='unveil', standalone_mode={})"


def loaded_by(statement: str) -> set[str]:
    """Return the top-level names of all modules that a fresh Python holds after ``statement``."""
    program = "\n".join(
        [
            "import json, sys",
            "try:",
            f"    {statement}",
            "except SystemExit as end:",
            "    if end.code: raise",
            "print('\\n' + json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "statement",
    [
        "import unveil",
        "import unveil; unveil.__version__; dir(unveil); unveil.InputError",
        "import unveil.anonymeter; dir(unveil.anonymeter)",
        HELP.format(True),
        HELP.format(False),
        "from unveil.cli import main; main(['--version'])",
    ],
)
def test_starting_loads_nothing_heavy(statement: str) -> None:
    modules = loaded_by(statement)
    assert "unveil" in modules
    assert modules & HEAVY == set()


def test_a_question_loads_what_it_needs_and_no_other_question() -> None:
    program = (
        "import json, sys\nfrom unveil.cli import main\ntry:\n    main(['unlinkability', '--sample', '--quiet'])\n"
        "except SystemExit:\n    pass\nprint(json.dumps([name for name in sys.modules if name.startswith('unveil.')]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    others = {name for name in loaded if name.startswith("unveil.questions.") and name.split(".")[2] not in OWN}
    assert others == set()
    assert not any(
        name.startswith(("unveil.attacks", "unveil.protections", "unveil.studies", "unveil.web")) for name in loaded
    )
    # Most of them are the listing of metrics and what it stands on.
    assert 50 < len(loaded) <= 190


def test_a_heavy_import_is_seen() -> None:
    assert "numpy" in loaded_by("import unveil; unveil.Partition")

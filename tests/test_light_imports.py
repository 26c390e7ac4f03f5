"""Starting is light: what a command does not need, it does not load. Seen through sys.modules, never by a clock."""

import json
import subprocess
import sys

import pytest

HEAVY = {"numba", "scipy", "polars", "narwhals", "pandas", "matplotlib", "jinja2", "rich", "numpy", "pyarrow"}

#: What of `unveil.questions` the partition question may load: its own folder, and what all answers share.
OWN = {"unlinkability", "answer", "request", "settings", "values"}

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
        "import json, sys\nfrom unveil.cli import main\ntry:\n    main(['partition', '--sample', '--quiet'])\n"
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


@pytest.mark.parametrize(("options", "expected"), [((), False), (("--compatibility", "anonymeter"), True)])
def test_an_audit_loads_the_emulation_of_another_tool_only_where_it_is_asked_for(
    options: tuple[str, ...], expected: bool
) -> None:
    call = ["audit", "--attacks", "linkability", "--targets", "5", "--link", "age:income", "--quiet", *options]
    program = (
        f"import sys\nfrom unveil.cli import main\ntry:\n    main({call!r})\nexcept SystemExit as end:\n"
        "    assert not end.code\n"
        "print(any(name.startswith('unveil.') and 'anonymeter' in name for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(expected)


EMULATION = """
import json, sys
import numpy as np
from unveil.attacks import ATTACKS, Linkability
from unveil.data.samples import audit_sample
from unveil.data.table.release import Knowledge
from unveil.metrics import METRICS, risk
people, control = audit_sample()
attack = Linkability(first=("age",), second=("news",), targets=9)
risk(attack.run(released=people, knowledge=Knowledge(people, control), rng=np.random.default_rng(1)))
list(METRICS)
seen = [[name for name in sys.modules if "anonymeter" in name]]
list(ATTACKS)
print(json.dumps([*seen, [name for name in sys.modules if "anonymeter" in name]]))
"""


def test_what_emulates_another_package_is_loaded_by_those_who_ask_for_it() -> None:
    done = subprocess.run([sys.executable, "-c", EMULATION], capture_output=True, text=True, check=True)
    before, after = json.loads(done.stdout)
    assert before == []
    assert "unveil.attacks.anonymeter.linkability" in after
    assert "unveil.metrics.trials.anonymeter" not in after


def test_a_heavy_import_is_seen() -> None:
    assert "numpy" in loaded_by("import unveil; unveil.Partition")

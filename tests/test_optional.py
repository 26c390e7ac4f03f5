import subprocess
import sys
from pathlib import Path

import pytest

from unveil._optional import need
from unveil.errors import MissingExtraError, UnveilError


def test_an_installed_library_is_returned() -> None:
    assert need("fractions", extra="web").Fraction(1, 2) * 2 == 1


def test_a_missing_library_names_the_extra_that_brings_it() -> None:
    with pytest.raises(MissingExtraError, match=r"'no_such_library'.*pip install 'unveil\[cluster\]'") as caught:
        need("no_such_library", extra="cluster")
    assert isinstance(caught.value, UnveilError)
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


PLAIN = "import sys\nsys.modules['matplotlib'] = None\nsys.argv[0] = 'unveil'\n"
MISSING = "this needs the library 'matplotlib', which is not installed. Install it with: pip install 'unveil[plot]'"


def without_matplotlib(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PLAIN + program, *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "plot",
    [
        "unveil.unlinkability(guess='aab', truth='xxy').plot()",
        "unveil.graph(unveil.data.samples.graph(), 'switch:share=0.05', 'KL').plot()",
        "import unveil.report.draw.heat",
    ],
)
def test_pictures_name_the_extra_in_one_sentence(plot: str) -> None:
    program = (
        f"import unveil, unveil.data.samples\ntry:\n    {plot}\nexcept unveil.errors.MissingExtraError as error:\n"
    )
    done = without_matplotlib(f"{program}    print(error)")
    assert (done.stdout.strip(), done.stderr) == (MISSING, "")


def test_a_command_answers_without_pictures_and_refuses_them_before_it_writes(tmp_path: Path) -> None:
    page, figures = tmp_path / "page.html", tmp_path / "figures"
    call = "from unveil.__main__ import main\nmain()"
    done = without_matplotlib(call, "unlinkability", "--sample", "--html", str(page), "--figures", str(figures))
    assert done.returncode == 2
    assert MISSING[1:] in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert without_matplotlib(call, "unlinkability", "--sample", "--html", str(page)).returncode == 0
    assert "<svg" in page.read_text(encoding="utf-8")

"""Who waits long for the compiler hears of it, once; nobody else does."""

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from unveil._kernels import _compile_timer
from unveil._kernels._compile import kernel
_compile_timer.PATIENCE_SECONDS = {patience}
if {asked}:
    _compile_timer.tell_by(print)
for step in (1, 2):
    fast = kernel(cost=10**9)(lambda values, step=step: values[0] + step)
    fast(np.arange(3))
"""


@pytest.mark.parametrize(("patience", "asked", "said"), [(0.0, True, 1), (600.0, True, 0), (0.0, False, 0)])
def test_a_long_wait_is_said_once_to_who_asked(patience: float, asked: bool, said: int) -> None:
    program = PROGRAM.format(patience=patience, asked=asked)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count("Compiling (first run only") == said

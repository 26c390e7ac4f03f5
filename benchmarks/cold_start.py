"""What the first call costs where nothing was ever compiled: CPU seconds of the compiler, loop by loop.

``python -m benchmarks.cold_start`` compiles every listed loop into an empty folder in one process, slowest first
in the table; what several share counts for the first of them.
``python -m benchmarks.cold_start --times`` asks some questions in fresh processes instead, with an empty folder (cold)
and with the folder that the first left (warm).
"""

import argparse
import os
import subprocess
import sys
import tempfile

from unveil._kernels._warm_up import listed_loops, warm_up

#: What is asked, by name: each begins in a process of its own.
QUESTIONS = {
    "partitions of 50,000 items, all measures": """
import numpy as np
from unveil.guesses import Partition
from unveil.metrics import partition_distances, unlinkability
rng = np.random.default_rng(0)
truth = rng.integers(0, 10_000, 50_000)
guess = np.where(rng.random(50_000) < 0.1, rng.integers(0, 10_000, 50_000), truth)
subjects, clusters = Partition.from_labels(truth), Partition.from_labels(guess)
work = lambda: (unlinkability(clusters, subjects), partition_distances(clusters, subjects))
""",
    "all marginals of a dense matrix, n = 20": """
import numpy as np
from unveil._kernels.matching import solve
matrix = np.random.default_rng(0).random((20, 20))
work = lambda: solve(matrix, np.arange(20), rng=np.random.default_rng(1), distribution=False)
""",
    "candidates, 300 x 300, all metrics": """
import numpy as np
from unveil.guesses import Candidates
from unveil.metrics import all_metrics
matrix = np.random.default_rng(0).random((300, 300))
guess = Candidates.from_matrix(matrix / matrix.sum(axis=1, keepdims=True))
work = lambda: all_metrics(guess, np.arange(300))
""",
    "unveil protect-graph --example": """
from unveil.cli import main
work = lambda: main(["anonymize", "--sample", "--quiet"], standalone_mode=False)
""",
    "unveil unlinkability --example": """
from unveil.cli import main
work = lambda: main(["partition", "--sample", "--quiet"], standalone_mode=False)
""",
}
_TIMED = """
import sys, time
before = time.process_time()
work()
print(time.process_time() - before, "numba" in sys.modules)
"""


def loops() -> None:
    """Print how long each loop takes to compile, alone, in a folder that was empty."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        done = sorted(warm_up(list(listed_loops()), 1), key=lambda each: -each.seconds)
    print("| loop | CPU seconds of compiling |\n|---|---:|")
    for each in done:
        print(f"| {each.name.removeprefix('unveil.')} | {each.seconds:.2f} |")
    print(f"\n{len(done)} loops, {sum(each.seconds for each in done):.1f} s; above 0.8 s:", end=" ")
    print(sum(each.seconds > 0.8 for each in done))


def times() -> None:
    """Print what questions take in a fresh process, cold and warm; importing unveil aside."""
    print("| case | cold, CPU s | warm, CPU s | meets the compiler |\n|---|---:|---:|---|")
    for name, program in QUESTIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            spent = []
            for _ in ("cold", "warm"):
                done = subprocess.run(
                    [sys.executable, "-c", program + _TIMED],
                    env={**os.environ, "NUMBA_CACHE_DIR": folder},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                seconds, compiler = done.stdout.split()[-2:]
                spent.append(float(seconds))
        print(f"| {name} | {spent[0]:.2f} | {spent[1]:.2f} | {'yes' if compiler == 'True' else 'no'} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", action="store_true")
    times() if parser.parse_args().times else loops()

"""Run the benchmarks beside their peers and print tables for docs/research/benchmarks.md; ``make bench`` calls this."""

import argparse
import os
import platform

# One thread each: CPU times are compared, and idle threads of a numeric library would count too.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

from benchmarks import (
    candidates,
    closest_record,
    compatibility,
    grades,
    graph_attacks,
    graph_protections,
    inference,
    linkability,
    linkers,
    masses,
    membership,
    partitions,
    permanents,
    singling_out,
)
from benchmarks.timing import as_markdown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=lambda text: int(float(text)), nargs="+", default=[10**4, 10**5, 10**6, 10**7])
    sizes = parser.parse_args().sizes
    print(f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores\n")
    print(as_markdown(list(linkability.rows())), "\n")
    linkability.growth([10**4, 10**5, 10**6])
    for table in (singling_out, inference, closest_record):
        print(as_markdown(list(table.rows())), "\n")
    closest_record.hardest()
    membership.report()
    print()
    for table in (permanents, masses, compatibility, linkers):
        print(as_markdown(list(table.rows())), "\n")
    permanents.growth([6, 8, 10, 11])
    linkers.intersection([10**4, 10**5])
    graph_protections.outcomes()
    graph_attacks.outcomes()
    print(as_markdown(list(grades.rows())), "\n")
    print(f"memory beyond the values that are graded: {grades.extra_memory():,} MB\n")
    print(as_markdown(list(candidates.rows())), "\n")
    print(as_markdown(list(partitions.rows(sizes))), "\n")
    print("| case | extra memory, MB |\n|---|---:|")
    for name in partitions.DATA:
        print(f"| {name}, {max(sizes):,} items | {partitions.extra_memory(max(sizes), name):,} |")


if __name__ == "__main__":
    main()

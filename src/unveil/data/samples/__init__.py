"""Small example files inside the package."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import InputError

if TYPE_CHECKING:
    from unveil.data.graph import Graph
    from unveil.data.table import Table
    from unveil.data.table.kinds import Kind, Role

# Who belongs to the control must not depend on what they answered: the draw knows the number of rows only.
_CONTROL_ROWS = 244
_SPLIT_SEED = 1996


def path(name: str) -> Path:
    """Return where the example file of this name is, such as ``partition_truth.csv``.

    ``partition_truth.csv``, ``partition_guess_careful.csv`` and ``partition_guess_bold.csv`` are the 24 items of four
    subjects in Section 4 of the paper on adversarial partitions, and its two attackers: one who would rather miss an
    item than include a wrong one, and one who would rather include.

    ``candidates_guess.csv`` and ``candidates_truth.csv`` are made up by a rule: record k is person 7k mod 31, and the
    adversary considers persons 7k + 5i mod 31 (0 is person 31), the truth (i = 0) and five others. It is sure and right
    about records 1 to 8, sure and wrong about 9 to 11, leans to the truth for 12 to 16 and away from it for 17 to 19,
    has two most likely candidates for 20 and 21 and four for 22 and 23, does not consider the truth of 24, takes the
    decoy 25 for a person, and does not attempt 26 to 30.

    ``anes96.csv`` holds 944 people of the American National Election Study of 1996; its source and columns are in
    ``README.md`` beside it, and :func:`audit_sample` has it as tables.

    ``matching_ranges.csv``, ``matching_transactions.csv`` and ``matching_truth.csv`` are the hospital unit of Fig. 2.2
    of the thesis on matchings, ``matching_matrix.csv`` is Q of its Fig. 3.4 (1/50 for Tuberculosis and y, where 1/20 is
    printed) and ``matching_dataflow.csv`` the network of Fig. 3.1.

    ``generated_graph.csv`` holds the edges of a made-up graph, which ``README.md`` describes and :func:`graph` reads.

    >>> path("partition_truth.csv").name
    'partition_truth.csv'
    """
    folder = Path(str(files(__name__)))
    have = sorted(entry.name for entry in folder.glob("*.csv"))
    if name not in have:
        raise InputError(f"there is no example file {name!r}; there are {', '.join(have)}. Name one of these")
    return folder / name


def audit_sample() -> "tuple[Table, Table]":
    """Return the sample as two tables: 700 released people and 244 controls.

    They come from the 1996 American National Election Study: age, education, household income, size of the town, news
    on television, party, three placements on a scale from left to right, and the expected vote. Politics is sensitive,
    and all other columns can be known to an attacker. Who is in which table was drawn once, whatever the answers.

    >>> original, control = audit_sample()
    >>> original.rows, control.rows, original.column_names[:4]
    (700, 244, ('age', 'education', 'income', 'town_size'))
    """
    import numpy as np

    from unveil.data.table import Table

    scales = ("education", "income", "party", "self_left_right", "clinton_left_right", "dole_left_right")
    kinds: dict[str, Kind] = {"age": "number", "town_size": "number", "news": "number", "vote": "category"}
    kinds |= dict.fromkeys(scales, "ordered")
    politics = ("party", "self_left_right", "clinton_left_right", "dole_left_right", "vote")
    roles: dict[str, Role] = dict.fromkeys(politics, "sensitive")
    roles |= dict.fromkeys(("age", "education", "income", "town_size", "news"), "known")
    people = Table.read(path("anes96.csv"), kinds=kinds, roles=roles)
    lot = np.random.default_rng(_SPLIT_SEED).permutation(people.rows)
    control, original = np.sort(lot[:_CONTROL_ROWS]), np.sort(lot[_CONTROL_ROWS:])
    return replace(people.take(original), name="original"), replace(people.take(control), name="control")


def graph() -> "Graph":
    """Return the sample graph, which is random and holds no real people.

    It has what graphs of acquaintances have: a few nodes with many edges and many with few, triangles, communities,
    and nodes without an edge. Nodes are known by their numbers, which tell nothing about them.

    >>> sample = graph()
    >>> sample, sample.name, int(sample.degrees.max()), int((sample.degrees == 0).sum())
    (Graph(1000 nodes, 4622 edges), 'generated graph', 100, 20)
    """
    from unveil.data.graph.read import read_graph

    return read_graph(path("generated_graph.csv"), name="generated graph")

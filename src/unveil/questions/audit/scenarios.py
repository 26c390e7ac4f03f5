"""Attack scenarios: columns known to an attacker, given or random."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from unveil.errors import InputError
from unveil.questions.audit.children.findings import PEOPLE
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.values import cells

#: How many random splits are measured where nobody names an adversary.
RANDOM_SPLITS = 10
#: An attack takes time for each column, so that a very wide table gets fewer tries: this many columns in all of them.
MOST_COLUMNS = 5_000
FEWEST_TRIES = 3
_GIVEN = "given by the user, without a reason"

#: Two groups of columns that are known apart.
Split = tuple[tuple[str, ...], tuple[str, ...]]


def read_scenario(text: str) -> AttackScenario:
    """Return the scenario of ``name=column,column``, linked to the rest.

    A name with a comma in it is put in double quotes.

    >>> read_scenario("neighbour=age,sex").first
    ('age', 'sex')
    """
    name, equals, written = text.partition("=")
    columns = cells(written)
    if not equals or not name.strip() or not columns:
        raise InputError(f"The scenario {text!r} is not NAME=COLUMN,COLUMN. Write neighbor=age,sex")
    return AttackScenario(name=name.strip(), first=columns, reason=_GIVEN)


def read_link(text: str) -> AttackScenario:
    """Return the scenario of ``A,B:C,D``: two sources of columns.

    >>> link = read_link("age,sex:income")
    >>> link.first, link.second
    (('age', 'sex'), ('income',))
    """
    first, colon, second = text.partition(":")
    groups = cells(first), cells(second)
    if not colon or not all(groups):
        raise InputError(
            f"The column split {text!r} is not COLUMN,COLUMN:COLUMN. Write, for example, age,sex:income,vote"
        )
    return AttackScenario(
        name=f"{', '.join(groups[0])} | {', '.join(groups[1])}", first=groups[0], second=groups[1], reason=_GIVEN
    )


def read_scenarios(given: Any) -> tuple[AttackScenario, ...]:
    """Return scenarios from texts, scenarios, or a mapping.

    In a mapping a pair of lists stands for two groups.

    >>> [each.second for each in read_scenarios({"neighbour": ["age", "sex"], "shop": (["age"], ["income"])})]
    [(), ('income',)]
    """
    if isinstance(given, Mapping):
        return tuple(_from_columns(str(name), columns) for name, columns in given.items())
    if isinstance(given, (str, AttackScenario)):
        given = [given]
    read = []
    for each in given:
        if isinstance(each, AttackScenario):
            read.append(each if each.reason else replace(each, reason=_GIVEN))
        elif isinstance(each, str):
            read.append(read_link(each) if ":" in each and "=" not in each else read_scenario(each))
        else:
            raise InputError(
                "a scenario must be a text such as 'neighbour=age,sex' or a Scenario, but is a "
                f"{type(each).__name__}. Write it as a text"
            )
    repeated = [each.name for at, each in enumerate(read) if each.name in {other.name for other in read[:at]}]
    if repeated:
        raise InputError(f"scenarios must have different names, but two are called {repeated[0]!r}. Rename one")
    return tuple(read)


def _from_columns(name: str, columns: Any) -> AttackScenario:
    if isinstance(columns, str):
        columns = cells(columns)
    if len(columns) == 2 and not any(isinstance(group, str) for group in columns):
        return AttackScenario(name=name, first=tuple(columns[0]), second=tuple(columns[1]), reason=_GIVEN)
    return AttackScenario(name=name, first=tuple(columns), reason=_GIVEN)


def settle(
    scenario: AttackScenario,
    known: Sequence[str],
    *,
    columns: Collection[str],
    left_out: Mapping[str, str],
    links: bool = True,
) -> AttackScenario:
    """Return the scenario with its second group; refuse unusable columns.

    Parameters
    ----------
    known
        The columns that an adversary may know; those the scenario does not name become the second group.
    columns
        All columns that the tables share.
    left_out
        Columns that are not known, and why (identifier, sensitive, ignored).
    links
        Whether the two groups are to be linked, so that there must be a second one.
    """
    from unveil.errors import did_you_mean

    where = f"scenario {scenario.name!r}"
    for group in (scenario.first, scenario.second):
        for name in group:
            if name not in columns:
                hint = did_you_mean(name, columns) or " Name a column that the original and the release share."
                raise InputError(f"Column {name!r} of {where} is not in the tables.{hint}")
            if name in left_out:
                raise InputError(
                    f"Column {name!r} of {where} is {left_out[name]}, which an attacker does not know. "
                    "Leave it out of the scenario, or change its role"
                )
    both = [name for name in scenario.first if name in scenario.second]
    if both:
        raise InputError(
            f"Column {both[0]!r} is in both groups of {where}, so every record would match itself. Keep it in one group"
        )
    for group in (scenario.first, scenario.second):
        if len(set(group)) < len(group):
            twice = next(name for name in group if group.count(name) > 1)
            raise InputError(f"Column {twice!r} is listed twice in {where}. List it once")
    second = scenario.second or tuple(name for name in known if name not in scenario.first)
    if links and not second:
        raise InputError(
            f"{where[:1].upper()}{where[1:]} has all columns, so none is left to link to. Leave a column out of it, or "
            "give two groups, as in A,B:C,D"
        )
    return replace(scenario, second=second)


def table_scenarios(
    tables: Sequence[str], known: Sequence[str], *, rng: np.random.Generator
) -> tuple[AttackScenario, ...]:
    """Return one scenario for each two tables of people, which may be known from two sources, and random splits.

    Summaries of a child table begin with its name; the other columns are those of the people table. A table without a
    known column makes none, and where no two have one there is no scenario.

    >>> rng = np.random.default_rng(1)
    >>> [each.name for each in table_scenarios(["visits"], ["age", "visits: number of rows"], rng=rng)]
    ['people | visits']
    >>> table_scenarios(["visits"], ["visits: number of rows", "visits: mean cost"], rng=rng)
    ()
    """
    of = {table: tuple(name for name in known if name.startswith(f"{table}: ")) for table in tables}
    inner = {name for own in of.values() for name in own}
    every = {PEOPLE: tuple(name for name in known if name not in inner), **of}
    pairs = combinations([table for table, columns in every.items() if columns], 2)
    found = tuple(
        AttackScenario(
            name=f"{one} | {other}",
            first=every[one],
            second=every[other],
            reason="each table may be known from another source",
            origin="tables",
        )
        for one, other in pairs
    )
    if not found:
        return ()
    taken = {frozenset((each.first, each.second)) for each in found}
    splits = random_splits(known, at_most=affordable(RANDOM_SPLITS, len(known)), rng=rng)
    others = [split for split in splits if frozenset(split) not in taken][: max(RANDOM_SPLITS - len(found), 0)]
    return found + tuple(
        AttackScenario(
            name=f"column split {number}",
            first=first,
            second=second,
            reason=f"one of {len(others)} column splits, drawn before the attack",
            origin="random",
        )
        for number, (first, second) in enumerate(others, start=1)
    )


def without(scenario: AttackScenario, columns: Collection[str]) -> AttackScenario | None:
    """Return the scenario without these columns; None where nothing is left.

    >>> without(AttackScenario(name="x", first=("age", "sex")), ["sex"]).first
    ('age',)
    >>> without(AttackScenario(name="x", first=("age",)), ["age"])
    """
    first, second = (
        tuple(name for name in group if name not in columns) for group in (scenario.first, scenario.second)
    )
    return replace(scenario, first=first, second=second) if first and bool(second) == bool(scenario.second) else None


def affordable(tries: int, columns: int) -> int:
    """Return the number of random splits for this many columns.

    >>> affordable(100, 15), affordable(100, 500), affordable(100, 10_000)
    (100, 10, 3)
    """
    return max(min(tries, MOST_COLUMNS // max(columns, 1)), min(tries, FEWEST_TRIES))


def random_splits(
    columns: Sequence[str], *, at_most: int = RANDOM_SPLITS, rng: np.random.Generator
) -> tuple[Split, ...]:
    """Return distinct random column splits; all where there are few.

    The first column is always in the first group: which group is called first makes no difference.

    >>> len(random_splits("abc", rng=np.random.default_rng(0))), len(random_splits("a", rng=np.random.default_rng(0)))
    (3, 0)
    """
    names = tuple(columns)
    ways = 2 ** (len(names) - 1) - 1 if len(names) > 1 else 0
    if ways <= at_most:
        rest = names[1:]
        chosen: Iterable[tuple[str, ...]] = (
            others for size in range(1, len(names)) for others in combinations(rest, size)
        )
        return tuple((tuple(name for name in names if name not in second), second) for second in chosen)
    found: dict[bytes, Split] = {}
    while len(found) < at_most:
        in_second = np.append(False, rng.random(len(names) - 1) < 0.5)
        if in_second.any():
            groups = [tuple(n for n, other in zip(names, in_second, strict=True) if other == side) for side in (0, 1)]
            found.setdefault(in_second.tobytes(), (groups[0], groups[1]))
    return tuple(found.values())

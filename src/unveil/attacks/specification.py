"""Attacks as text, on the command line and in files."""

from collections.abc import Collection
from typing import Any, Protocol

import numpy as np

from unveil._registry import InputKind
from unveil._specification import from_text, to_text, understood
from unveil.attacks._listing import ATTACKS, Leaves
from unveil.data.counts.knowledge import CountKnowledge
from unveil.data.counts.system import CountSystem
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.data.table import Table
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates


class TableAttack(Protocol):
    """Interface of table attacks: settings and a method that returns a guess.

    Whatever it does, this holds, and ``tests/attacks/table/test_every_attack.py`` sees to it:

    * Settings that cannot be are refused when it is made, tables that lack a column when it is run, and so is an attack
      without the control that its decorator says it needs: with an `InputError` of one line that shows no cell. The
      missing library of an extra is a `MissingExtraError`.
    * Nothing that was passed is changed, and no randomness is used but that of ``rng``: the same state of it gives the
      same guess.
    * The guess is of the kind that the decorator says it ``leaves``. `Trials` have no value of a control that was not
      passed; in `Candidates` and `Beliefs` the targets are released rows and the candidates rows of the records.
    * Each target has a distribution over its candidates. One that the attack gave up on has no candidate and counts
      as not attempted, never as wrong.
    * Ties are broken at random or shared out evenly: with the rows of any table in another order the values are the
      same, unless the decorator says that the attack uses the order.
    """

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Any:
        """Return the attacker's guess."""


class GraphAttack(Protocol):
    """Interface of graph attacks: a method that returns candidates per node.

    Whatever it does, this holds, and ``tests/attacks/graph/test_every_graph_attack.py`` sees to it:

    * An auxiliary graph without edges, and seed pairs that are none or name nodes that are not there, are refused with
      an `InputError` of one line; that there are none is fine where the decorator says that it does without. A release
      without edges is attacked: an empty result is an answer.
    * Nothing that was passed is changed, and no randomness is used but that of ``rng``: the same state of it gives the
      same guess.
    * Every released node is a target. A seed, and a node that the attack gave up on, is not attempted and has no
      candidate; any other has a distribution over auxiliary nodes that are in no seed pair, and the one it was mapped
      to is among them. No two nodes are mapped to the same one.
    * Ties are broken at random: against a graph that has nothing to do with the release, it is correct as often as
      chance. More seed pairs and a larger overlap help.
    """

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return the attacker's guess."""


class CountsAttack(Protocol):
    """Interface of attacks on frequency tables: intervals or records.

    Whatever it does, this holds, and ``tests/attacks/counts/test_every_count_attack.py`` sees to it:

    * Nothing that was passed is changed, and no randomness is used but that of ``rng``: the same state of it gives the
      same guess.
    * It is never wrong by more than it says: a range holds the true count of its cell whenever the knowledge is
      correct,
      also where the work did not suffice, and a record that is said to be certain exists.
    * Work is counted in steps, never in seconds.
    """

    def run(self, *, released: CountSystem, knowledge: CountKnowledge, rng: np.random.Generator) -> Any:
        """Return the attacker's guess."""


def attack_from(text: str, *, leaves: Collection[Leaves] | None = None) -> TableAttack:
    """Return the attack on tables that ``text`` describes: ``name:key=value,key=value``, or ``package.module:Class``.

    The names are those of ``unveil list attacks``; :func:`unveil._specification.from_text` has the details. With
    ``leaves``, only those of them that leave one of these guesses; of a user's class that is seen when it is run.

    >>> attack_from("record-linkage:neighbours=3,columns=age,income")
    RecordLinkage(columns=('age', 'income'), neighbours=3, targets=None)
    >>> attack_from("record-linkage", leaves=["Trials"])
    Traceback (most recent call last):
    unveil.errors.InputError: the attack 'record-linkage' returns Candidates, but this needs Trials. Choose from ...
    """
    made: TableAttack = _attack(text, "table", leaves)
    return made


def graph_attack_from(text: str) -> GraphAttack:
    """Return the graph attack that ``text`` describes, as :func:`attack_from`."""
    made: GraphAttack = _attack(text, "graph", None)
    return made


def _attack(text: str, on: InputKind, leaves: Collection[Leaves] | None) -> Any:
    fitting = [each for each in ATTACKS.values() if each.on == on and (leaves is None or each.leaves in leaves)]
    choice = f"Choose from {', '.join(each.name for each in fitting)}"
    name = text.strip().partition(":")[0]
    if name in ATTACKS and ATTACKS[name].on != on:
        raise InputError(f"the attack {name!r} is on a {ATTACKS[name].on}, not on a {on}. {choice}")
    if name in ATTACKS and leaves is not None and ATTACKS[name].leaves not in leaves:
        raise InputError(
            f"the attack {name!r} returns {ATTACKS[name].leaves}, but this needs {' or '.join(leaves)}. {choice}"
        )
    known, aka = understood(fitting)
    return from_text(text, known, aka=aka, what="attack", method="run")


def attack_text(attack: object) -> str:
    """Return the text of an attack: its name and changed settings.

    What cannot be written, such as a mechanism, is left out.

    >>> from unveil.attacks import RecordLinkage
    >>> attack_text(RecordLinkage(columns=("age", "income"), neighbours=3))
    'record-linkage:columns=age,income,neighbours=3'
    >>> attack_text(RecordLinkage())
    'record-linkage'
    """
    return to_text(attack, ATTACKS.values())

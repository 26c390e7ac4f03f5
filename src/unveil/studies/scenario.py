"""One scenario of a study: data, protection, attack, and attacker strength."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

DataKind = Literal["graph", "table", "release"]

_LETTERS = 60
_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class ExistingRelease:
    """The settings of a study for a release that already exists.

    Attributes
    ----------
    original, original_name
        The file of the people it was made from, and how results call them.
    dictionary
        The file that tells the kinds of the original's columns; empty where they are to be found out.
    control
        Who was not in the data: a file, "rest" for the people of the original whose rows are not released (which is
        for releases that are a part of the original), or empty for nobody.
    made
        How it was made, "masked" or "synthetic"; empty where that is not told.
    labels
        What else is told of it, such as its technique: names and texts, on which no number depends.
    """

    original: str
    original_name: str
    dictionary: str = ""
    control: str = ""
    made: str = ""
    labels: tuple[tuple[str, str], ...] = ()

    def label(self, name: str) -> str:
        """Return the label under this name, or ""."""
        return dict(self.labels).get(name, "")


@dataclass(frozen=True)
class DataSet:
    """Data that a study protects and attacks.

    Attributes
    ----------
    name
        How results call it.
    kind
        "graph" or "table", which the study protects, or "release", which was made already.
    source
        A file, ``sample:generated-graph`` or ``sample:anes96``. ``$NAME`` and ``${NAME}`` stand for variables of the
        environment, which may differ from machine to machine.
    known
        Of a table, the columns that an attacker can know; empty for those that are taken to be known.
    digest
        The hash of the bytes of the file, once a run has looked at it; empty before. What a worker reads must have it.
    undirected, unweighted
        Of a graph, whether directions and weights of its edges may be dropped; else a file that has them is refused.
    type
        What sort of data it is, such as "communication"; empty where that is not told. A label for grades, on which no
        number of the study depends.
    given
        Of a release, what it was made from and what else is told of it.
    """

    name: str
    kind: DataKind
    source: str
    known: tuple[str, ...] = ()
    digest: str = ""
    type: str = ""
    undirected: bool = False
    unweighted: bool = False
    given: ExistingRelease | None = None


@dataclass(frozen=True)
class Scenario:
    """Cell of the study grid, replicated and stored in one file.

    Attributes
    ----------
    data, protect, attack
        The data, and the protection and the attack as they are written.
    axis, level
        What makes the attacker stronger, and how much of it there is.
    fixed
        The levels of the other axes, which stay the same.
    stamp
        What else its results depend on (seed, replications, metrics, version of the package), as a hash.
    same_as
        The scenario of an earlier axis with an attacker of the same strength, if the study has one: it has the same
        numbers, and both are computed at once.

    Examples
    --------
    >>> scenario = Scenario(DataSet("mail", "graph", "mail.txt"), "id-removal", "NS", "seed_pairs", 5.0)
    >>> scenario.key
    'mail | id-removal | NS | seed_pairs=5'
    """

    data: DataSet
    protect: str
    attack: str
    axis: str
    level: float
    fixed: tuple[tuple[str, float], ...] = ()
    stamp: str = ""
    same_as: "Scenario | None" = None

    @property
    def drawn(self) -> "Scenario":
        """Scenario that seeds the randomness: itself or an earlier equal one."""
        return self if self.same_as is None else self.same_as

    @property
    def key(self) -> str:
        """Unique text key of the scenario within its study."""
        return " | ".join([self.data.name, self.protect, self.attack, self.strength])

    @property
    def strength(self) -> str:
        """Attacker strength as text: the varying axis, then fixed ones."""
        return " | ".join(f"{name}={number_text(value)}" for name, value in ((self.axis, self.level), *self.fixed))

    @property
    def levels(self) -> dict[str, float]:
        """The level of each axis by name."""
        return {**dict(self.fixed), self.axis: self.level}

    @property
    def file_name(self) -> str:
        """Result file name: readable letters and a hash."""
        words = (self.data.name, self.protect, self.attack, self.axis, number_text(self.level))
        return f"{slug(*words)}-{short_hash(self.key, self.stamp)}.result"


def rng(seed: int, *parts: str | int) -> np.random.Generator:
    """Return a random stream that depends only on the seed and parts.

    It is the same on every machine, whichever worker asks and however often.

    >>> rng(1, "release", "mail", 0).integers(100, size=3), rng(1, "release", "mail", 1).integers(100, size=3)
    (array([56, 99, 80]), array([32, 91, 70]))
    """
    return np.random.default_rng(int(hashlib.sha256(json.dumps([seed, *parts]).encode()).hexdigest(), 16))


def number_text(value: float) -> str:
    """Return a level as it is written: whole numbers without a point.

    >>> number_text(5.0), number_text(0.85)
    ('5', '0.85')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def slug(*words: str) -> str:
    """Return words as the readable part of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(words)).strip("-.")[:_LETTERS].strip("-.")


def short_hash(*parts: str) -> str:
    """Return a short hash that distinguishes the files of a study."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]

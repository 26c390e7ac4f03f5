"""The settings of an audit that are about its generator: who is held out, how often it runs, what is planted."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from unveil.errors import InputError, share
from unveil.questions.settings import Settings, setting

if TYPE_CHECKING:
    from unveil.metrics.epsilon.bound import Adjacency
    from unveil.metrics.epsilon.claim import Claim

CanaryKind = Literal["people", "unusual"]
#: The share of the people who are held out unless told.
HOLD_OUT = 0.2
#: Nothing can be compared with fewer people than that.
FEWEST_HELD_OUT = 20


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """How many canaries are planted in each run, each by a coin: people who were held out, or unusual rows."""

    number: int
    kind: CanaryKind = "people"

    @classmethod
    def read(cls, value: "int | str | Canaries | None") -> "Canaries | None":
        """Return canaries as they are written: a number, and what they are if they are not people.

        >>> Canaries.read("200:unusual")
        Canaries(number=200, kind='unusual')
        """
        if value is None or isinstance(value, cls):
            return value
        number, _, kind = str(value).partition(":")
        kinds = get_args(CanaryKind)
        if not number.strip().isdigit() or not int(number) or (kind or "people") not in kinds:
            raise InputError(
                f"canaries must be a number of at least 1, perhaps with a colon and {' or '.join(kinds)}, but are "
                f"{value!r}. Write it as in 200 or 200:unusual"
            )
        return cls(number=int(number), kind=kind or "people")  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class GeneratorSettings(Settings):
    """What makes releases, how it is run, and the differential privacy that is claimed for it."""

    generator: Any = setting(
        None,
        "Audit the way of making releases: what makes one",
        "A command with {in} and {out} in it, such as 'python synth.py {in} {out}', which is run without a shell "
        "({seed} may stand in it too); a protection of 'unveil list protections', such as gaussian-copula; or "
        "package.module:function from a frame and a source of randomness to a frame. Some people are held out by lot, "
        "it makes a release of the others, and those held out are the control. A RELEASED that is named too is audited "
        "beside it.",
        only="command line",
        metavar="COMMAND",
        kind="text",
        objects=True,
    )
    hold_out: float | None = setting(
        None,
        "The share of people who are held out of every run",
        "A fifth unless told.",
        least=0,
        most=1,
        only="command line",
    )
    folds: int | None = setting(
        None, "Hold everybody out once: in so many parts, one after the other", least=2, only="command line"
    )
    runs: int = setting(
        1,
        "How often the generator is run, with each fold",
        "Several runs show how much releases of one generator differ.",
        least=1,
        only="command line",
    )
    canaries: "Canaries | None" = setting(
        None,
        "Plant so many canaries by coins in every run, and bound epsilon by how well the coins are guessed",
        "People who are held out, or unusual rows put together from values of the table.",
        only="command line",
        metavar="N[:unusual]",
        kind="text",
        objects=True,
    )
    epsilon: float | None = setting(
        None,
        "The epsilon of differential privacy that is claimed",
        "The audit says whether it is contradicted; it never confirms one.",
        only="command line",
    )
    delta: float = setting(0, "The delta that is claimed with it", least=0, most=1, only="command line")
    adjacency: str = setting(
        "add-remove",
        "What the epsilon is about",
        kind="choice",
        choices=lambda: (
            ("add-remove", "adding or removing one person"),
            ("replace", "replacing one person by another"),
        ),
        only="command line",
    )
    made: Path | None = setting(
        None,
        "Keep in the folder DIR what the generator makes",
        "The same command then goes on where it was interrupted. Without it nothing is kept.",
        only="command line",
        metavar="DIR",
        kind="text",
        objects=True,
    )
    time_limit: float | None = setting(
        3600, "How many seconds a run of a command may take", least=0, only="command line"
    )
    memory_limit: float | None = setting(
        None,
        "How much memory each process of a command may have",
        "In GB, where the system can see to it.",
        least=0,
        metavar="GB",
        only="command line",
    )
    output_limit: float | None = setting(
        None,
        "How large each file may be that a command writes",
        "In GB; unless given, 20 times as large as the file of people, and 1 GB at least.",
        least=0,
        metavar="GB",
        only="command line",
    )
    env: Any = setting(
        (),
        "Give a command the variable NAME, with the value it has here",
        "Several are given by several options. A command has only the variables that programs need to run, such "
        "as PATH and HOME, and these. No report, log or file holds their values.",
        metavar="NAME",
        only="command line",
        kind="texts",
        objects=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        read: dict[str, Any] = {
            "canaries": Canaries.read(self.canaries or None),
            "made": None if self.made is None else Path(self.made),
        }
        if self.generator or isinstance(self.env, Mapping):
            from unveil.protections.generators.environment import variables_from

            # Values are hidden wherever settings are shown.
            read["env"] = variables_from(self.env)
        for name, value in read.items():
            object.__setattr__(self, name, value)
        if self.hold_out is not None and self.folds is not None:
            raise InputError("people are held out by hold_out or by folds, not by both. Leave out one of them")
        if self.hold_out is not None:
            share(self.hold_out, "hold_out", zero=False, one=False)
        if self.canaries is not None and self.folds is not None:
            raise InputError(
                "canaries are drawn from people who are never given to the generator but by a coin, and with folds "
                "everybody is. Leave out folds, or audit twice"
            )

    @cached_property
    def claim(self) -> "Claim | None":
        """The epsilon that is claimed for the release."""
        from unveil.metrics.epsilon.claim import Claim

        if self.epsilon is None:
            return None
        return Claim(epsilon=self.epsilon, delta=self.delta, adjacency=cast("Adjacency", self.adjacency))

    @property
    def share_held_out(self) -> float:
        """Which share of the people is held out in each run."""
        if self.folds is not None:
            return 1 / self.folds
        return HOLD_OUT if self.hold_out is None else self.hold_out

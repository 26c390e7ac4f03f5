"""How a generator is audited: who is held out, how often it is run, and what is planted; checked."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from unveil.errors import InputError, share, whole_number
from unveil.protections.generators.environment import SecretVariables

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
class GeneratorSettings:
    """What is told of a generator and of its runs.

    Attributes
    ----------
    generator
        A command with ``{in}`` and ``{out}``, a protection as it is written, ``package.module:function``, or a function
        of a frame and a source of randomness that returns a frame.
    hold_out
        The share of people who are held out in all runs; None where folds are asked for, and for a fifth.
    folds
        In how many parts everybody is divided, each held out in turn; None holds out one part alone.
    runs
        How often the generator is run, of each fold.
    canaries
        What is planted by coins in each run.
    made
        The folder that keeps what the generator makes, so that an audit that was interrupted goes on; None keeps none.
    time_limit, memory_limit, output_limit
        How many seconds a run of a command may take, how many GB each of its processes may have, and how many GB each
        file that it writes (None: 20 times the file of people, and 1 GB at least).
    env
        Variables that a command is given, beyond those that programs need to run.
    workers, cluster
        How many processes of this machine run the generator at once; or the address of a Dask cluster.
    """

    generator: Any
    hold_out: float | None = None
    folds: int | None = None
    runs: int = 1
    canaries: Canaries | None = None
    made: Path | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    output_limit: float | None = None
    env: SecretVariables = field(default_factory=SecretVariables, repr=False)
    workers: int = 1
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.hold_out is not None and self.folds is not None:
            raise InputError("people are held out by hold_out or by folds, not by both. Leave out one of them")
        if self.hold_out is not None:
            share(self.hold_out, "hold_out", zero=False, one=False)
        if self.folds is not None:
            whole_number(self.folds, "folds", at_least=2)
        whole_number(self.runs, "runs")
        whole_number(self.workers, "workers", at_least=0)
        if self.canaries is not None and self.folds is not None:
            raise InputError(
                "canaries are drawn from people who are never given to the generator but by a coin, and with folds "
                "everybody is. Leave out folds, or audit twice"
            )

    @property
    def share_held_out(self) -> float:
        """Which share of the people is held out in each run."""
        if self.folds is not None:
            return 1 / self.folds
        return HOLD_OUT if self.hold_out is None else self.hold_out

"""Settings of a generator's audit: held-out records, runs, canaries, claimed ε."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from unveil.errors import InputError, share
from unveil.questions.settings import Settings, setting

if TYPE_CHECKING:
    from unveil.metrics.epsilon.bound import Adjacency
    from unveil.metrics.epsilon.claim import Claim

CanaryKind = Literal["people", "unusual"]
#: The names of the kinds that a user writes; those of earlier versions are accepted.
_CANARY_KINDS: Mapping[str, CanaryKind] = {
    "": "people",
    "people": "people",
    "outliers": "unusual",
    "unusual": "unusual",
}
#: What the report calls the way of making releases, among releases.
WAY = "the generator"
#: The share of held-out people by default.
HOLD_OUT = 0.2
#: Nothing can be compared with fewer people than that.
FEWEST_HELD_OUT = 20


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """Canaries of each run, each inserted at random: held-out people, or outliers."""

    number: int
    kind: CanaryKind = "people"

    @classmethod
    def read(cls, value: "int | str | Canaries | None") -> "Canaries | None":
        """Return canaries as they are written: a number, and their kind.

        >>> Canaries.read("200:outliers")
        Canaries(number=200, kind='unusual')
        """
        if value is None or isinstance(value, cls):
            return value
        number, _, kind = str(value).partition(":")
        if not number.strip().isdigit() or not int(number) or kind not in _CANARY_KINDS:
            raise InputError(
                f"canaries cannot be {value!r}. Write a number, or a number with :outliers, such as 200:outliers"
            )
        return cls(number=int(number), kind=_CANARY_KINDS[kind])


@dataclass(frozen=True, kw_only=True)
class GeneratorSettings(Settings):
    """The generator of releases, its runs, and its claimed differential privacy."""

    generator: Any = setting(
        None,
        "Audit a generator: a command or a function",
        "A command with {in} and {out}, such as 'python synth.py {in} {out}'; it runs without a shell, and {seed} is "
        "optional. Or a protection of 'unveil list protections', such as gaussian-copula. Or package.module:function, "
        "from a frame and a random generator to a frame. People held out at random are the control group. The "
        "generator makes a release of the rest.",
        only="command line",
        metavar="COMMAND",
        kind="text",
        objects=True,
        group="Generator",
    )
    holdout: float | None = setting(
        None,
        "Share held out (default: 0.2)",
        least=0,
        most=1,
        only="command line",
        alias="--hold-out",
        metavar="SHARE",
        group="Generator",
    )
    folds: int | None = setting(
        None,
        "Cross-validation folds",
        "Each person is held out in one fold.",
        least=2,
        only="command line",
        group="Generator",
    )
    runs: int = setting(
        1,
        "Runs, or runs per fold",
        "Each of several runs is given a random half of the people, unless the share held out, folds, or canaries are "
        "stated. The runs without a person are sibling releases for this person: they calibrate membership scores.",
        least=1,
        only="command line",
        group="Generator",
    )
    canaries: "Canaries | None" = setting(
        None,
        "Insert N canaries and bound ε from below",
        "Canaries are held-out people or, with N:outliers, rare rows made from values of the table. Each is inserted "
        "at random.",
        only="command line",
        metavar="N[:outliers]",
        kind="text",
        objects=True,
        group="Privacy audit",
    )
    epsilon: float | None = setting(
        None,
        "Claimed ε to test",
        "An audit can refute a claimed ε, never confirm it.",
        only="command line",
        group="Privacy audit",
    )
    delta: float = setting(0, "Claimed δ", least=0, most=1, only="command line", group="Privacy audit")
    adjacency: str = setting(
        "add-remove",
        "Neighboring data sets",
        help="add-remove or replace",
        kind="choice",
        choices=lambda: (
            ("add-remove", "neighboring data sets differ by one added or removed person"),
            ("replace", "neighboring data sets differ by one replaced person"),
        ),
        only="command line",
        group="Privacy audit",
    )
    keep_runs: Path | None = setting(
        None,
        "Keep the generated releases, and resume from them",
        only="command line",
        alias="--made",
        metavar="DIR",
        kind="text",
        objects=True,
        group="Generator",
    )
    time_limit: float | None = setting(
        3600, "Seconds that a run of a command may take", least=0, only="command line", place="run"
    )
    memory_limit: float | None = setting(
        None,
        "Memory of each process of a command, in GB",
        "Where the system can limit it.",
        least=0,
        metavar="GB",
        only="command line",
        place="run",
    )
    output_limit: float | None = setting(
        None,
        "Size of each file that a command writes, in GB",
        "Default: 20 times the size of the input file, and at least 1 GB.",
        least=0,
        metavar="GB",
        only="command line",
        place="run",
    )
    env: Any = setting(
        (),
        "Environment variable for the generator",
        "A command has only the variables that programs need to run, such as PATH and HOME, and these. No report, log "
        "or file shows their values.",
        metavar="NAME",
        only="command line",
        kind="texts",
        objects=True,
        group="Generator",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        read: dict[str, Any] = {
            "canaries": Canaries.read(self.canaries or None),
            "keep_runs": None if self.keep_runs is None else Path(self.keep_runs),
        }
        if self.generator or isinstance(self.env, Mapping):
            from unveil.protections.generators.environment import variables_from

            # Values are hidden wherever settings are shown.
            read["env"] = variables_from(self.env)
        for name, value in read.items():
            object.__setattr__(self, name, value)
        if self.holdout is not None and self.folds is not None:
            raise InputError("holdout and folds exclude each other. Set one of them")
        if self.holdout is not None:
            share(self.holdout, "holdout", zero=False, one=False)
        if self.canaries is not None and self.folds is not None:
            raise InputError(
                "canaries and folds exclude each other: with folds the generator sees every person. Audit twice"
            )

    @cached_property
    def claim(self) -> "Claim | None":
        """The epsilon that is claimed for the release."""
        from unveil.metrics.epsilon.claim import Claim

        if self.epsilon is None:
            return None
        return Claim(epsilon=self.epsilon, delta=self.delta, adjacency=cast("Adjacency", self.adjacency))

    @property
    def folds_of_round(self) -> int:
        """Into how many parts each round divides the people; 1 where the same part is held out of all runs.

        Several runs are given random halves, unless it is stated who is held out.
        """
        if self.folds is not None:
            return self.folds
        return 2 if self.runs > 1 and self.holdout is None and self.canaries is None else 1

    @property
    def all_runs(self) -> int:
        """How often the generator runs."""
        return (self.folds or 1) * self.runs

    @property
    def rounds(self) -> int:
        """How often the people are divided."""
        return -(-self.all_runs // self.folds_of_round) if self.folds_of_round > 1 else 1

    @property
    def share_held_out(self) -> float:
        """Which share of the people is held out in each run."""
        if self.folds_of_round > 1:
            return 1 / self.folds_of_round
        return HOLD_OUT if self.holdout is None else self.holdout

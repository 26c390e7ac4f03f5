"""Declaration of an audit attack: function, names, chart, and limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from unveil.questions.audit.findings import AttackFinding

if TYPE_CHECKING:
    import numpy as np

    from unveil.questions.audit.attack_results import AttackResult
    from unveil.questions.audit.findings import AttackScenario
    from unveil.questions.audit.inputs import PreparedRelease
    from unveil.questions.audit.people import TargetSample
    from unveil.questions.audit.settings import AuditSettings
    from unveil.report.progress import Progress

#: The questions of the Article 29 Working Party in its opinion 216 on anonymisation, as the sheet to sign names them.
Question = Literal["singling_out", "linkability", "inference"]
#: What an attacker may want, in the order of the report.
AttackerGoal = Literal["who", "together", "secret", "member", "copied"]
GOALS: tuple[AttackerGoal, ...] = get_args(AttackerGoal)


@dataclass(frozen=True, kw_only=True)
class AttackedRelease:
    """Input of an attack: release, people, settings, and random generator."""

    #: The name of the attack, for its findings.
    attack: str
    prepared: "PreparedRelease"
    drawn: "TargetSample"
    #: How many people of each table are attacked; None is everybody.
    targets: int | None
    settings: "AuditSettings"
    #: The adversaries that were named, each with its second group of columns spelt out; the settings have them as told.
    settled: "tuple[AttackScenario, ...]"
    rng: "np.random.Generator"
    progress: "Progress"


@dataclass(frozen=True, kw_only=True)
class AuditAttack:
    """One attack of an audit, with the facts that callers ask for.

    Modules that attack or measure are imported inside ``run``: pages use the words without them.
    """

    #: As it is written in commands, limits and JSON; also the name of its file.
    name: str
    #: The name of its effect in decisions and limits; its own unless given.
    effect_name: str = ""
    #: What others call it: whoever asks for one of these is told its name.
    also_called: tuple[str, ...] = ()
    run: "Callable[[AttackedRelease], tuple[AttackResult, ...]]"
    #: What its first finding owes to each column, looked at once that is known; none where nobody asks.
    weigh: Callable[[AttackedRelease, AttackFinding], AttackFinding] | None = None

    # Words

    title: str
    #: How it is measured, for Methods; empty where another attack states it.
    about: str = ""

    # Facts

    #: Which question of the overview it answers; none where it only illustrates.
    asks: AttackerGoal | None = None
    #: Which of the three questions of opinion 216 it answers; those are asked of the original itself too.
    answers: Question | None = None
    #: Whether people outside the data can be put through it too, and whether it cannot even be tried without them.
    controlled: bool = True
    needs_control: bool = False
    #: Whether it is about releases whose rows stem from one person each.
    needs_masked: bool = False
    #: Whether it compares child tables, which most releases do not have.
    needs_children: bool = False
    #: Whether its adversary links what two sources hold, so that nobody may hold all columns from one.
    two_sources: bool = False
    #: Whether it guesses sensitive columns, in which there must then be something to guess.
    guesses_sensitive: bool = False
    #: Whether some of its figures are learned from some people and measured on others.
    learns: bool = False
    #: Whether it must start first: it takes long, and threads share little of it.
    starts_first: bool = False
    #: Whether it may hold many numbers for each row while it runs, so that from disk nothing is computed beside it.
    takes_memory: bool = False
    #: Whether there is a blind guess to compare with.
    has_chance: bool = True
    #: Whether each try is about one person, so that groups of people have rates of their own.
    per_person: bool = True
    #: Whether the number of tries is one of people, so that it says how many were left out.
    tries_are_people: bool = True
    #: Figures that take the place of rates, with what each means; less of them is worse.
    distances: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def effect(self) -> str:
        """The name of its effect in decisions and limits."""
        return self.effect_name or self.name

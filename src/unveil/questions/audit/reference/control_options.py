"""What an owner without a control group may have, the command for it, and what the report can then state.

The table is declared once: help, terminal, report, web app and Python show it.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

#: What stands for file names that are not known.
ORIGINAL, RELEASED = "ORIGINAL", "RELEASED"
LEAD = "What do you have? Use the first line that applies."


@dataclass(frozen=True, kw_only=True)
class ControlOption:
    """One way to make the question answerable: what it takes, its settings, and what the report can then state."""

    have: str
    states: str
    #: The settings of the audit with the placeholder of each value.
    settings: tuple[tuple[str, str], ...] = ()
    #: Whether unveil makes the release itself.
    makes_release: bool = False
    #: The command in place of an audit, with {original}.
    command: tuple[str, ...] = field(default=())

    def arguments(self, original: str, released: str) -> tuple[str, ...]:
        """Return the command line, with the owner's file names."""
        if self.command:
            return tuple(original if each == ORIGINAL else each for each in self.command)
        options = (part for name, value in self.settings for part in (_option(name), value))
        return ("unveil", "audit", original, *(() if self.makes_release else (released,)), *options)

    def text(self, original: str, released: str) -> str:
        """Return the command line as a shell reads it; placeholders stay readable."""
        return " ".join(shlex.quote(each) for each in self.arguments(original, released))

    def call(self) -> str:
        """Return the call in Python."""
        if self.command:
            return f"unveil.split({ORIGINAL.lower()}, share=0.2)"
        given = [ORIGINAL.lower(), *(() if self.makes_release else (RELEASED.lower(),))]
        keywords = (f"{name}={value if value.isdigit() else repr(value)}" for name, value in self.settings)
        return f"unveil.audit({', '.join([*given, *keywords])})"


#: So many runs of a generator are worth making (docs/research/siblings-measured.md).
RUNS_WORTH = 8
_SIBLINGS = ("sibling", "DIR")
CONTROL_OPTIONS: tuple[ControlOption, ...] = (
    ControlOption(
        have="People held out at random before the release was made",
        settings=(("control", "FILE"),),
        states="level and decision on this release",
    ),
    ControlOption(
        have="A register or larger file of the same population, with an identifier",
        settings=(("population", "FILE"), ("identifiers", "COLUMN")),
        states="the same, if the check finds the same population",
    ),
    ControlOption(
        have="People who came after the data were collected",
        settings=(("control", "FILE"),),
        states="the same, if the check finds the same population",
    ),
    ControlOption(
        have="The program that makes the release",
        settings=(("generator", "COMMAND"), ("runs", str(RUNS_WORTH))),
        states="level and decision on the generator, not on one release",
        makes_release=True,
    ),
    ControlOption(
        have="Three or more other releases of the generator, and the people of each",
        settings=(_SIBLINGS, ("sibling_people", "DIR")),
        states="a test of the generator; these people are the control group for this release",
    ),
    ControlOption(
        have="22 or more other releases of the generator",
        settings=(_SIBLINGS,),
        states="a level of this release; fail or inconclusive, never a pass",
    ),
    ControlOption(
        have="1 to 21 other releases of the generator",
        settings=(_SIBLINGS,),
        states="a description without a test",
    ),
    ControlOption(
        have="A register of the population without an identifier",
        settings=(("population", "FILE"), ("population_is", "register")),
        states="journalist, marketer and presence risk; no level",
    ),
    ControlOption(
        have="None of these",
        command=("unveil", "split", ORIGINAL, "--share", "0.2"),
        states="make the release again from four fifths of the people, then use the first line",
    ),
)


def _option(name: str) -> str:
    return "--id" if name == "identifiers" else f"--{name.replace('_', '-')}"


def option_lines(files: Sequence[str] = ()) -> Iterator[str]:
    r"""Yield the options as text, with the owner's original and release where they are known.

    >>> print("\n".join(list(option_lines(["people.csv"]))[:4]))
    What do you have? Use the first line that applies.
    <BLANKLINE>
    People held out at random before the release was made
      unveil audit people.csv RELEASED --control FILE
    """
    original, released = (*files[:2], *(ORIGINAL, RELEASED)[len(files[:2]) :])
    yield LEAD
    for each in CONTROL_OPTIONS:
        yield ""
        yield each.have
        yield f"  {each.text(original, released)}"
        yield f"  → {each.states}"

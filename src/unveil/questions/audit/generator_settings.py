"""What can be asked about a way of making releases: the settings of an audit that are about its generator."""

from unveil.questions.request import Request
from unveil.questions.settings import Setting

GENERATOR = (
    Setting(
        name="generator",
        label="Audit the way of making releases: what makes one",
        kind="text",
        only="command line",
        metavar="COMMAND",
        words="A command with {in} and {out} in it, such as 'python synth.py {in} {out}', which is run without a shell "
        "({seed} may stand in it too); a protection of 'unveil list protections', such as gaussian-copula; or "
        "package.module:function from a frame and a source of randomness to a frame. Some people are held out by lot, "
        "it makes a release of the others, and those held out are the control. A RELEASED that is named too is audited "
        "beside it.",
    ),
    Setting(
        name="hold_out",
        label="The share of people who are held out of every run",
        kind="number",
        whole=False,
        least=0,
        most=1,
        only="command line",
        words="A fifth unless told.",
    ),
    Setting(
        name="folds",
        label="Hold everybody out once: in so many parts, one after the other",
        kind="number",
        least=2,
        only="command line",
    ),
    Setting(
        name="runs",
        label="How often the generator is run, with each fold",
        kind="number",
        default=1,
        least=1,
        only="command line",
        words="Several runs show how much releases of one generator differ.",
    ),
    Setting(
        name="canaries",
        label="Plant so many canaries by coins in every run, and bound epsilon by how well the coins are guessed",
        kind="text",
        only="command line",
        metavar="N[:unusual]",
        words="People who are held out, or unusual rows put together from values of the table.",
    ),
    Setting(
        name="epsilon",
        label="The epsilon of differential privacy that is claimed",
        kind="number",
        whole=False,
        only="command line",
        words="The audit says whether it is contradicted; it never confirms one.",
    ),
    Setting(
        name="delta",
        label="The delta that is claimed with it",
        kind="number",
        whole=False,
        least=0,
        most=1,
        default=0,
        only="command line",
    ),
    Setting(
        name="adjacency",
        label="What the epsilon is about",
        kind="choice",
        choices=lambda: (
            ("add-remove", "adding or removing one person"),
            ("replace", "replacing one person by another"),
        ),
        default="add-remove",
        only="command line",
    ),
    Setting(
        name="made",
        label="Keep in the folder DIR what the generator makes",
        kind="text",
        only="command line",
        metavar="DIR",
        words="The same command then goes on where it was interrupted. Without it nothing is kept.",
    ),
    Setting(
        name="time_limit",
        label="How many seconds a run of a command may take",
        kind="number",
        whole=False,
        least=0,
        default=3600,
        only="command line",
    ),
    Setting(
        name="memory_limit",
        label="How much memory each process of a command may have",
        kind="number",
        whole=False,
        least=0,
        metavar="GB",
        only="command line",
        words="In GB, where the system can see to it.",
    ),
    Setting(
        name="output_limit",
        label="How large each file may be that a command writes",
        kind="number",
        whole=False,
        least=0,
        metavar="GB",
        only="command line",
        words="In GB; unless given, 20 times as large as the file of people, and 1 GB at least.",
    ),
    Setting(
        name="env",
        label="Give a command the variable NAME, with the value it has here",
        kind="texts",
        default=(),
        metavar="NAME",
        only="command line",
        words="Several are given by several options. A command has only the variables that programs need to run, such "
        "as PATH and HOME, and these. No report, log or file holds their values.",
    ),
)

_ONLY_WITH_GENERATOR = ("hold_out", "folds", "runs", "canaries", "made", "env")


def wrong_with_generator(request: Request) -> tuple[str, str] | None:
    """Return what cannot be said together with a generator, or only with one."""
    said = [name for name in _ONLY_WITH_GENERATOR if name in request.explicit]
    if not request.values["generator"]:
        if not said:
            return None
        return said[0], f"{{{said[0]}}} says how a generator is run. Name it with {{generator}}, or leave this out"
    if request.path("control") is not None:
        return "control", "{control} is made by holding people out of {generator}. Leave out either"
    if request.values["suggest"]:
        return "suggest", "{suggest} changes a release, and {generator} makes a new one. Leave out either"
    if "resume" in request.explicit:
        return "resume", "{resume} keeps what is found in tables, and {made} what {generator} makes. Name {made}"
    if "memory" in request.explicit:
        return (
            "memory",
            "{memory} is about tables that are there, and {generator} makes others. Leave out either",
        )
    if {"hold_out", "folds"} <= set(said):
        return "folds", "{folds} holds out everybody once, and {hold_out} some people always. Leave out either"
    if {"canaries", "folds"} <= set(said):
        return "folds", "{canaries} are drawn from people whom {folds} would give to the generator. Leave out either"
    return None

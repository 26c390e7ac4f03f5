"""What can be said of how an audit is run: on what, with how much memory, and what is kept; no number depends on it."""

from unveil.questions.settings import Setting

RUNNING = (
    Setting(
        name="threads",
        label="How many threads of this machine the audit takes",
        kind="number",
        words="One per processor unless given. No number depends on it.",
        least=1,
        only="command line",
    ),
    Setting(
        name="workers",
        label="How many processes of this machine compute parts of the audit, or run the generator, at once",
        kind="number",
        words="Each reads all tables, and takes one thread unless threads are told. No number depends on it.",
        default=1,
        least=0,
        only="command line",
    ),
    Setting(
        name="cluster",
        label="The address of a Dask cluster that computes the parts of the audit, or runs the generator",
        kind="text",
        words="Its workers must see the files under the same paths. No number depends on it.",
        only="command line",
        metavar="ADDRESS",
    ),
    Setting(
        name="resume",
        label="Keep in the folder DIR what is computed, and go on from there",
        kind="text",
        words="The same command goes on where it was stopped. What lies there is data about people.",
        only="command line",
        metavar="DIR",
    ),
    Setting(
        name="memory",
        label="How much memory the audit may take",
        kind="size",
        words=(
            "Such as 4GB, of a cluster each worker; 70% of what is free unless given. Tables that would take more in "
            "memory are worked on from disk (in the folder of TMPDIR), part by part, with the same numbers; what would "
            "take more even then is refused, and an audit that takes more nevertheless ends."
        ),
        only="command line",
    ),
)

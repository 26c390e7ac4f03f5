"""Run the command line, as ``unveil`` or ``python -m unveil``.

Nothing is imported before :func:`main` runs, so that Ctrl-C ends the command in the same way while it still loads.
"""

import os


def main() -> None:
    """Run the command line and exit; interrupted, say so and exit with 130."""
    try:
        from unveil.cli import main as command

        command()
    except KeyboardInterrupt:
        # Not sys.exit: half-loaded libraries would be torn down, some with a traceback.
        os.write(2, b"unveil: stopped\n")
        os._exit(130)


if __name__ == "__main__":
    main()

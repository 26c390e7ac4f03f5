"""``unveil schema``: JSON Schema of a result."""

import click

from unveil.questions import QUESTIONS, schema_names, schema_text


@click.command("schema")
@click.argument("question", required=False, metavar="[COMMAND]")
def schema(question: str | None) -> None:
    """Print the JSON Schema of a command's result; list the names without one.

    \b
    Try:  unveil schema audit > unveil.audit.v3.json
          unveil schema unveil.audit/4
    """  # noqa: D301  (click needs the control character itself)
    if question is None:
        click.echo("\n".join(f"{name:<24}{whole}" for name, whole in schema_names().items()))
        return
    # A command may have the answer of another one, as protect has, or be called otherwise, as grade-metrics is.
    home = next((each for each in QUESTIONS.values() if each.command == question), None)
    name = question if home is None or question in schema_names() else home.schema
    click.echo(schema_text(name), nl=False)

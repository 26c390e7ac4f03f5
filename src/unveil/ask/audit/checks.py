"""What can be wrong with the columns that an audit is told about, said before anything long is computed."""

from unveil.ask.audit.settings import Asked
from unveil.data.release import Release
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.measure._population_models import checked_weights


def refuse_constant(table: Table, asked: Asked) -> None:
    """Refuse a sensitive column that is the same for everybody: nothing can be learned, and nothing be measured."""
    if not {"inference", "attribute_disclosure"} & set(asked.parts):
        return
    for column in table.columns:
        if column.role == "sensitive" and table.frame.get_column(column.name).drop_nulls().n_unique() < 2:
            raise InputError(
                f"the sensitive column {column.name!r} of the {table.name} must hold at least two different values, "
                "but does not, so that nobody can learn anything from it. Name another column (--sensitive)"
            )


def check_weights(release: Release, asked: Asked) -> None:
    """Say what is wrong with the columns of weights and households, before anything long is computed."""
    if "disclosure" not in asked.parts:
        return
    for what, name in (("weight", asked.weight), ("household", asked.household)):
        if name is not None and name not in release.released.column_names:
            raise InputError(
                f"the {what} column {name!r} must be in the original and in the release {release.name!r}, but one "
                "of them lacks it. Name a column that both have, or leave it out"
            )
    for table in (release.original, release.released):
        checked_weights(table, asked.weight)

"""The sections of the report on unlinkability."""

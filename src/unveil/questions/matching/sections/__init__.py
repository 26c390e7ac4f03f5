"""The sections of the report on matching attacks."""

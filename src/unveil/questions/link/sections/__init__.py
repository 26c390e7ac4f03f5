"""The sections of the report on linked records, one file each."""

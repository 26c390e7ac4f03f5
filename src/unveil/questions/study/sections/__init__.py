"""The sections of the report on a study, one file each."""

"""The sections of the report on a study of given releases, one file each."""

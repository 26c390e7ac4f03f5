"""The sections of the report on the reliability of metrics, one file each."""

"""The sections of the report on the metrics of an attack."""

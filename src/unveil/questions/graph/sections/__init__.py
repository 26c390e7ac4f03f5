"""The sections of the report on an attacked graph, one file each."""

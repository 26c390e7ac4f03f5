"""Build the sections of the report of an audit, one topic in each file."""

"""Open, read, and write files."""

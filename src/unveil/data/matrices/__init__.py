"""Square matrices and matching knowledge, read from files."""

"""Detection of direct identifiers."""

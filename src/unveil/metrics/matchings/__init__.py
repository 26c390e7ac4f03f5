"""Resolved pseudonyms: metrics of a matching attack."""

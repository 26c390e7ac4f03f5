"""Attacks that link the records of a person across pseudonyms."""

"""Validity of guesses with sets under a masking method."""

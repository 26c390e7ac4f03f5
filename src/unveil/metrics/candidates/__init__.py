"""Metrics of candidates and their probabilities per target."""

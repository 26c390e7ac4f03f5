"""Reliability of privacy metrics."""

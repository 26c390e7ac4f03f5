"""Membership scores: counts, agreement, DCR, and combinations."""

"""Scores of how much people look like members of the data: counts, agreement, nearness, and their combination."""

"""Feasibility intervals of integer cells under linear sums."""

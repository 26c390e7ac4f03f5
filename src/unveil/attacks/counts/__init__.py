"""Attacks on published frequency tables: sums, differences, and integer programs."""

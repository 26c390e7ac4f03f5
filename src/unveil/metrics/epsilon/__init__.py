"""Empirical lower bounds on the epsilon of a generator, from canaries."""

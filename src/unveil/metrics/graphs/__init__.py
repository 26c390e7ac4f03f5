"""Properties of a graph, and their preservation in its release."""

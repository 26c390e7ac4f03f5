"""What a graph is like, and what its release keeps of it."""

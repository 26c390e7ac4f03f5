"""Released cells of several values: distances and weights."""

"""Tables of counts as whole-number unknowns that add up: arrays of cells, sums between them, and ranges of each."""

"""The arithmetic of a verdict: draws of labels, step-down p-values, trees of columns, two tables compared."""

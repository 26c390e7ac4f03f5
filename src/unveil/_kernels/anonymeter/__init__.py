"""The order in which anonymeter 1.1.0 finds rows, ties included."""

"""Tables of two labellings."""

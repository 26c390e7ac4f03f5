"""Simple undirected graphs as arrays: CSR, or sorted edge keys."""

"""Simple undirected graphs as arrays: ``start`` and ``neighbour`` (CSR), or one sorted key per edge."""

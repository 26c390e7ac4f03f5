"""Privacy metrics of an attack's candidates."""

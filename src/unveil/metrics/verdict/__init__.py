"""How one verdict is reached from all figures of an audit."""

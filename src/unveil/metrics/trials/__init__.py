"""How often an attack succeeds, for all people and for groups of them."""

"""How many entries are cracked by a guess about who is who."""

"""How large the epsilon of a generator is at least, from coins that decided who was in and guesses of them."""

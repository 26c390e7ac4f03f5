"""Arrays in, arrays out: fast code that knows no class of unveil and hides no randomness."""

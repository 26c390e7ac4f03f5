"""The attacks exactly as anonymeter 1.1.0 makes them, for those who compare; nothing else loads them."""

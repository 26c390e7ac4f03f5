"""The same pictures as matplotlib axes."""

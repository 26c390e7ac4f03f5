"""One folder per question: its settings, what is read and run for it, what was found, and how it is said and shown."""

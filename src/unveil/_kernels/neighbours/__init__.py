"""The nearest rows by exact distances, with all ties."""

"""Kernels for the decision on a release."""

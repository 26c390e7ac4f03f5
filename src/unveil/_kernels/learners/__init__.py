"""Learners of classes from small whole numbers: boosted trees and a forest, the same numbers on every machine."""

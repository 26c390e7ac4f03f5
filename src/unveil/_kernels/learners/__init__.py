"""Learners of classes from small whole numbers: boosted trees and a forest, on one thread each."""

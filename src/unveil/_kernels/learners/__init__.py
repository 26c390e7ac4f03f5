"""Single-threaded classifiers on small integers: boosted trees and a forest."""
